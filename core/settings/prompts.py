"""Prompt files, found by one rule: the person's own, then the project's, then the shipped; writes the person's own."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from core.base.disk import reported
from core.base.errors import ConfigError
from core.base.opener import read_start
from core.base.paths import knowledge_dir
from core.base.text import clean
from core.settings.small_file import replace_file

MAX_PROMPT_BYTES = 200_000
"""A longer file is no prompt, and the next in line counts."""

_FOLDER = "prompts"


def prompt_names() -> tuple[str, ...]:
    """Names of the prompts that come with the program (`role.md`), sorted."""
    files = resources.files(_FOLDER).iterdir()
    return tuple(sorted(file.name for file in files if file.name.endswith(".md")))


def project_prompts(root: Path) -> dict[str, str]:
    """Texts of a project's own prompt files (`prompts/<name>`) by name, those left out that say what the shipped say."""
    found = {}
    for name in prompt_names():
        text = _text(root / _FOLDER / name)
        if text is not None and text != _text(_shipped(name)):
            found[name] = text
    return found


def read_prompts(home: Path, of_project: Mapping[str, str]) -> dict[str, str]:
    """The text of every prompt by its name: the person's own, else the project's, else the shipped.

    Args:
        of_project: texts of the project's that count (`Project.prompts`).
    """
    found = {}
    for name in prompt_names():
        own = own_prompt(home, name)
        found[name] = of_project.get(name, _text(_shipped(name)) or "") if own is None else own
    return found


def prompt_sources(home: Path, root: Path, of_project: Collection[str]) -> dict[str, str]:
    """The file of every prompt that stands in for the shipped one, empty where none does.

    Args:
        of_project: names of the project's prompts that count.
    """
    found = {}
    for name in prompt_names():
        place = prompt_file(name, home, root, of_project)
        found[name] = "" if place == _shipped(name) else str(place)
    return found


def own_prompt(home: Path, name: str) -> str | None:
    """The person's own text of a prompt, None where there is none that can be read."""
    return _text(knowledge_dir(home) / _FOLDER / name)


def own_prompt_path(home: Path, name: str) -> Path:
    """Path of the person's own text of a prompt, there or not. Raises ConfigError: the program has no such prompt."""
    if name not in prompt_names():
        raise ConfigError(
            f"The program has no prompt {name!r}", remedy=f"There are: {', '.join(prompt_names())}"
        )
    return knowledge_dir(home) / _FOLDER / name


def make_own_prompt(home: Path, name: str, of_project: Mapping[str, str]) -> Path:
    """Make the person's own copy of a prompt, of what counts now, where they have none.

    Args:
        of_project: texts of the project's that count (`Project.prompts`).

    Returns:
        Its path.

    Raises:
        ConfigError: no such prompt, or what stands there is none. StorageError: it could not be written.
    """
    path = own_prompt_path(home, name)
    if own_prompt(home, name) is None:
        write_prompt(home, name, read_prompts(home, of_project)[name])
    return path


def write_prompt(home: Path, name: str, text: str, base: str | None = None) -> None:
    """Write the person's own text of a prompt.

    Args:
        base: the text that the person began with; None writes over whatever text stands there.

    Raises:
        ConfigError: no such prompt, a text that would not be read, or something else stands there by now: another
            text than `base`, or what cannot be read as one.
        StorageError: it could not be written. Nothing was changed.
    """
    path, data = own_prompt_path(home, name), text.encode("utf-8", "replace")
    if len(data) > MAX_PROMPT_BYTES:
        raise ConfigError(
            f"A prompt has at most {MAX_PROMPT_BYTES:,} bytes, not {len(data):,}", remedy="Shorten it"
        )
    _check_base(path, base, text)
    replace_file(path, data)


def remove_prompt(home: Path, name: str, base: str | None = None) -> None:
    """Remove the person's own text of a prompt; where there is none nothing happens. Raises as `write_prompt`."""
    path = own_prompt_path(home, name)
    _check_base(path, base, None)
    with reported("remove", path):
        path.unlink(missing_ok=True)


def _check_base(path: Path, base: str | None, text: str | None) -> None:
    """Refuse to write over a person's save in an editor meanwhile, and over what nobody here could read."""
    now = _text(path)
    if now is None and os.path.lexists(path):
        raise ConfigError(
            "What stands in place of the prompt cannot be read as one",
            remedy=f"Make it a text in UTF-8 of at most {MAX_PROMPT_BYTES:,} bytes, or move it away",
            where=str(path),
        )
    if now is not None and base is not None and now not in (base, text):
        raise ConfigError(
            "The prompt was changed in its file meanwhile",
            remedy="Look at what stands there now, then save again or take it",
            where=str(path),
        )


def prompt_file(name: str, home: Path, root: Path, of_project: Collection[str]) -> Traversable:
    """Path that a prompt is read from.

    Args:
        name: of a prompt that comes with the program; home: the person's home directory; root: of the project.
        of_project: names of the project's prompts that count.

    Returns:
        `<home>/knowledge/prompts/<name>` where that can be read as text, else the project's, else our own.
    """
    if own_prompt(home, name) is not None:
        return knowledge_dir(home) / _FOLDER / name
    return root / _FOLDER / name if name in of_project else _shipped(name)


def _shipped(name: str) -> Traversable:
    return resources.files(_FOLDER) / name


def read_place(place: Traversable) -> bytes:
    """The bytes of a prompt file, at most one over `MAX_PROMPT_BYTES`. Raises OSError."""
    if isinstance(place, Path):
        return read_start(place, MAX_PROMPT_BYTES + 1)
    return place.read_bytes()


def _text(place: Traversable) -> str | None:
    """The text of a prompt file; None where there is none to be had."""
    try:
        if not place.is_file():
            return None
        data = read_place(place)
        return None if len(data) > MAX_PROMPT_BYTES else clean(data.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return None
