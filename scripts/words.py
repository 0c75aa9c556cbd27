"""Catalogues of translations: takes the texts out of the sources, brings `assets/words` up to date, compiles it.

`python -m scripts.words` is `make words`. A room has a catalogue a language, `assets/words/de/core.talk.po`: each text of the
room in English with its translation, in gettext's form, which any editor of translations opens. The program reads
the compiled `assets/words/de/LC_MESSAGES/manual_slop.mo`.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from core.kernel.language import LANGUAGES

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "assets" / "words"
SOURCES = ("core", "panels", "gui")
_NO_TIME = datetime(2026, 1, 1, tzinfo=UTC)
"""In place of the time of a run, so that equal texts give equal bytes."""


def binary_of(tag: str) -> Path:
    """The compiled catalogue of a language, where gettext looks for it."""
    return WORDS / tag / "LC_MESSAGES" / "manual_slop.mo"


def sources(root: Path = ROOT) -> list[Path]:
    """The modules whose texts a person may see."""
    return sorted(path for source in SOURCES for path in (root / source).rglob("*.py"))


@cache
def tree_of(file: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(file.read_text("utf-8"))


@cache
def texts_of(root: Path = ROOT) -> dict[str, set[str]]:
    """By room (`core.talk`, `panels.caching`, `gui`), its texts: the literals that `tr` gets.

    Raises:
        ValueError: `tr` gets no literal; names the place.
    """
    found: dict[str, set[str]] = {}
    for file in sources(root):
        place = file.relative_to(root)
        for text in _texts(tree_of(file), place):
            found.setdefault(room_of(place), set()).add(text)
    return found


def room_of(place: Path) -> str:
    """The room of a source: `core/talk/turn/sending.py` is of `core.talk`."""
    return place.parts[0] if place.parts[0] == "gui" or len(place.parts) < 3 else ".".join(place.parts[:2])


def _texts(tree: ast.AST, place: Path) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "tr":
            text = _literal(node.args[0]) if len(node.args) == 1 else None
            if text is None:
                raise ValueError(f"{place}:{node.lineno}: tr() takes one text, written out")
            yield text


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def catalogue(tag: str, room: str) -> Catalog:
    """The catalogue of a room as it stands, empty where there is none."""
    file = WORDS / tag / f"{room}.po"
    if not file.exists():
        return Catalog(locale=tag)
    with file.open("rb") as stream:
        return read_po(stream, locale=tag)


def updated(tag: str, room: str, texts: set[str], known: dict[str, str]) -> Catalog:
    """A room's catalogue with these texts and no others. `known`: translations of other rooms and of before."""
    made = Catalog(locale=tag, header_comment=f"# {room} in {LANGUAGES[tag]}.", fuzzy=False)
    for text in sorted(texts):
        made.add(text, known.get(text, ""))
    return made


def compiled(tag: str) -> bytes:
    """All catalogues of a language as one file in gettext's binary form."""
    whole = Catalog(locale=tag, fuzzy=False, creation_date=_NO_TIME, revision_date=_NO_TIME)
    for file in sorted((WORDS / tag).glob("*.po")):
        for message in catalogue(tag, file.stem):
            if message.id and message.string:
                whole.add(message.id, message.string)
    stream = io.BytesIO()
    write_mo(stream, whole)
    return stream.getvalue()


def written(made: Catalog) -> bytes:
    """A catalogue as the text of a `.po` file, without times or places, so that equal texts give equal bytes."""
    stream = io.BytesIO()
    write_po(stream, made, width=0, omit_header=True, no_location=True, sort_output=True)
    header = f'{made.header_comment}\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    return header.encode() + stream.getvalue()


def known_of(tag: str) -> dict[str, str]:
    """All translations of a language that the catalogues hold."""
    return {
        str(message.id): str(message.string)
        for file in sorted((WORDS / tag).glob("*.po"))
        for message in catalogue(tag, file.stem)
        if message.id and message.string
    }


def main() -> int:
    """Bring every catalogue up to date. Returns 1 where translations are missing, which are printed."""
    rooms, missing = texts_of(), 0
    for tag in LANGUAGES.keys() - {"en"}:
        known = known_of(tag)
        folder = WORDS / tag
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.glob("*.po"):
            if file.stem not in rooms:
                file.unlink()
        for room, texts in rooms.items():
            (folder / f"{room}.po").write_bytes(written(updated(tag, room, texts, known)))
            for text in sorted(texts - known.keys()):
                missing += 1
                print(f"{tag} {room}: {text!r}", file=sys.stderr)
        binary_of(tag).parent.mkdir(exist_ok=True)
        binary_of(tag).write_bytes(compiled(tag))
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
