"""Prompt files, found by one rule: the person's own, then the project's, then the shipped; writes the person's own."""

from __future__ import annotations

from collections.abc import Iterator
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


def read_prompts(home: Path, project_root: Path, *, is_trusted: bool) -> dict[str, str]:
    """The text of every prompt by its name. Args as for `prompt_file`."""
    found = {}
    for name in prompt_names():
        texts = (_text(place) for place in _places(name, home, project_root, is_trusted=is_trusted))
        found[name] = next(text for text in texts if text is not None)
    return found


def prompt_sources(home: Path, project_root: Path, *, is_trusted: bool) -> dict[str, str]:
    """The file of every prompt that stands in for the shipped one, empty where none does. Args as for `prompt_file`."""
    found = {}
    for name in prompt_names():
        place = prompt_file(name, home, project_root, is_trusted=is_trusted)
        is_shipped = not isinstance(place, Path) or place == resources.files(_FOLDER) / name
        found[name] = "" if is_shipped else str(place)
    return found


def own_prompt(home: Path, name: str) -> str | None:
    """The person's own text of a prompt, None where there is none that can be read."""
    return _text(knowledge_dir(home) / _FOLDER / name)


def write_prompt(home: Path, name: str, text: str, base: str | None = None) -> None:
    """Write the person's own text of a prompt.

    Args:
        base: the text that the person began with; None writes over whatever stands there.

    Raises:
        ConfigError: no such prompt, a text that would not be read, or another text stands there by now.
        StorageError: it could not be written. Nothing was changed.
    """
    path, data = _own_path(home, name), text.encode("utf-8", "replace")
    if len(data) > MAX_PROMPT_BYTES:
        raise ConfigError(
            f"A prompt has at most {MAX_PROMPT_BYTES:,} bytes, not {len(data):,}", remedy="Shorten it"
        )
    _check_base(path, base, text)
    replace_file(path, data)


def remove_prompt(home: Path, name: str, base: str | None = None) -> None:
    """Remove the person's own text of a prompt; where there is none nothing happens. Raises as `write_prompt`."""
    path = _own_path(home, name)
    _check_base(path, base, None)
    with reported("remove", path):
        path.unlink(missing_ok=True)


def _own_path(home: Path, name: str) -> Path:
    if name not in prompt_names():
        raise ConfigError(
            f"The program has no prompt {name!r}", remedy=f"There are: {', '.join(prompt_names())}"
        )
    return knowledge_dir(home) / _FOLDER / name


def _check_base(path: Path, base: str | None, text: str | None) -> None:
    """Refuse to write over a person's save in an editor meanwhile."""
    now = _text(path)
    if now is not None and base is not None and now not in (base, text):
        raise ConfigError(
            "The prompt was changed in its file meanwhile",
            remedy="Look at what stands there now, then save again or take it",
            where=str(path),
        )


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
