"""Places that are followed: where known programs keep their sessions, and which of those a person said yes to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from core.imports.import_sources import walked
from core.kernel import paths
from core.kernel.disk import append_file
from core.kernel.opener import read_file

KEY = "imports.follow"
"""The setting that holds a person's yes to each place: it binds the place, whatever its program is called."""

MAX_BYTES = 100_000_000


class KnownPlace(msgspec.Struct, frozen=True):
    """Place in which a program keeps its sessions: a folder, or one file. `name`: as on the command line; `label`: for a person."""

    name: str
    label: str
    path: str


def known_places(environ: Mapping[str, str], user: Path) -> tuple[KnownPlace, ...]:
    """Places of the programs that are known, there or not. `user`: the person's own folder."""
    from platformdirs import user_config_path

    def of(variable: str, otherwise: Path) -> Path:
        return Path(environ.get(variable) or otherwise).expanduser().absolute()

    data = of("XDG_DATA_HOME", user / ".local" / "share")
    llm = of("LLM_USER_PATH", user_config_path("io.datasette.llm", appauthor=False, roaming=True))
    found = (
        ("claude-code", "Claude Code", of("CLAUDE_CONFIG_DIR", user / ".claude") / "projects"),
        ("codex", "Codex CLI", of("CODEX_HOME", user / ".codex") / "sessions"),
        ("gemini", "Gemini CLI", of("GEMINI_CLI_HOME", user) / ".gemini" / "tmp"),
        ("opencode", "OpenCode", data / "opencode" / "opencode.db"),
        ("llm", "llm", llm / "logs.db"),
    )
    return tuple(KnownPlace(name=name, label=label, path=str(path)) for name, label, path in found)


def with_place(followed: Iterable[str], path: str) -> tuple[str, ...]:
    """The list with this place at its end."""
    return (*without_place(followed, path), path)


def without_place(followed: Iterable[str], path: str) -> tuple[str, ...]:
    """The list without this place, however it is written there."""
    return tuple(one for one in followed if whole(one) != whole(path))


def whole(path: str) -> str:
    """A place as the program goes there: `~` spelled out."""
    return str(Path(path).expanduser().absolute())


def mark_of(places: Iterable[str]) -> str:
    """Mark of all files at these places, of their names, sizes and dates: the same as long as nothing came, grew or went."""
    digest = hashlib.sha256()
    for place in places:
        for path, about in walked(Path(place)):
            digest.update(os.fsencode(path) + f"\0{about.st_size}\0{about.st_mtime_ns}\0".encode())
    return digest.hexdigest()


# Discussions that imports made, by their ids alone: what a person deleted or forgot is not taken again by itself.


def imported_ids(home: Path) -> frozenset[str]:
    """Every discussion that an import made or found here, whether it is here now or not."""
    try:
        lines = read_file(paths.imported_file(home), MAX_BYTES).decode("ascii", "replace").split()
    except FileNotFoundError:
        return frozenset()
    return frozenset(lines)


def note_imported(home: Path, ids: Iterable[str]) -> None:
    """Add to them. Raises StorageError."""
    if lines := "".join(f"{one}\n" for one in sorted(ids)):
        append_file(paths.imported_file(home), lines.encode())
