"""Texts that a project brings into the context: read whole, bounded, and only from where they may come."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from core.base.opener import OddFileError, read_start
from core.base.text import clean
from core.values.curation import NamedText
from core.values.settings import SettingsFault

MAX_CONTEXT_FILE_BYTES = 262_144
"""A context, persona, system prompt or identity file over this is refused, not cut."""


class ContextFile(msgspec.Struct, frozen=True):
    """A file to read for layers 4 to 6.

    Args:
        path: absolute; name: how the context calls it; inside: the folder that it may not leave by a link.
    """

    path: Path
    name: str
    inside: Path


def is_inside(path: Path, folders: tuple[Path, ...]) -> bool:
    """True if a path, links resolved, lies in one of the folders, links resolved."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def read_context_file(file: ContextFile, allowed_roots: tuple[Path, ...]) -> NamedText | SettingsFault:
    """Read a text for the context.

    Returns:
        The text, LF and clean, with its file; or what is wrong with it and the remedy.
    """
    if not is_inside(file.path, (file.inside, *allowed_roots)):
        return fault(
            file, "leads out of the project; name the folder in [project] allowed_roots of a trusted project"
        )
    try:
        raw = read_start(os.path.realpath(file.path), MAX_CONTEXT_FILE_BYTES + 1, follows_links=False)
    except FileNotFoundError:
        return fault(file, "does not exist; correct its name or remove it from the settings")
    except (OddFileError, IsADirectoryError):
        return fault(file, "is not a file")
    except OSError as error:
        return fault(file, f"cannot be read ({error.strerror}); check its permissions")
    if len(raw) > MAX_CONTEXT_FILE_BYTES:
        return fault(file, f"is over {MAX_CONTEXT_FILE_BYTES:,} bytes and is left out; shorten it")
    try:
        return NamedText(file.name, clean(raw.decode("utf-8-sig")), str(file.path))
    except UnicodeDecodeError:
        return fault(file, "is not UTF-8 and is left out; save it as UTF-8")


def fault(file: ContextFile, reason: str) -> SettingsFault:
    """Fault of a file by its name. `reason`: the end of the sentence."""
    return SettingsFault(str(file.path), None, f"{file.name} {reason}")
