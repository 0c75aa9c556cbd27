"""Finds prompt files by one rule: the person's own, then the project's, then those that come with the program."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from core.base.paths import knowledge_dir
from core.base.text import clean

MAX_PROMPT_BYTES = 200_000
"""A longer file is no prompt, and the next in line counts."""

_FOLDER = "prompts"


def prompt_names() -> tuple[str, ...]:
    """Names of the prompts that come with the program (`role.md`), sorted."""
    files = resources.files(_FOLDER).iterdir()
    return tuple(sorted(file.name for file in files if file.name.endswith(".md")))


def read_prompts(home: Path, project_root: Path, *, is_trusted: bool) -> dict[str, str]:
    """The text of every prompt by its name. Args as for `prompt_file`."""
    found = {}
    for name in prompt_names():
        texts = (_text(place) for place in _places(name, home, project_root, is_trusted=is_trusted))
        found[name] = next(text for text in texts if text is not None)
    return found


def prompt_file(name: str, home: Path, project_root: Path, *, is_trusted: bool) -> Traversable:
    """Path that a prompt is read from.

    Args:
        name: of a prompt that comes with the program; home: the person's home directory.
        project_root: its `prompts/` counts only when `is_trusted`.

    Returns:
        `<home>/knowledge/prompts/<name>` where that can be read as text, else the project's, else our own.
    """
    places = _places(name, home, project_root, is_trusted=is_trusted)
    return next(place for place in places if _text(place) is not None)


def _places(name: str, home: Path, project_root: Path, *, is_trusted: bool) -> Iterator[Traversable]:
    yield knowledge_dir(home) / _FOLDER / name
    if is_trusted:
        yield project_root / _FOLDER / name
    yield resources.files(_FOLDER) / name


def _text(place: Traversable) -> str | None:
    """The text of a prompt file; None where there is none to be had."""
    try:
        if not place.is_file():
            return None
        with place.open("rb") as file:
            data = file.read(MAX_PROMPT_BYTES + 1)
        return None if len(data) > MAX_PROMPT_BYTES else clean(data.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return None
