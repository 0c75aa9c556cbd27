"""Notes in files of JSON of note programs: each known by its ending or first bytes, each note as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from core.kernel.codecs import from_json
from core.kernel.patterns import late

HEAD_BYTES = 4096
"""First bytes of a file that tell an export: the programs write what tells it before any words of a person."""


class ExportedNote(msgspec.Struct, frozen=True):
    """A note of an export.

    Args:
        day: ISO 8601, empty where nobody says; about: further lines on it (`Place: …`); text: Markdown.
    """

    title: str
    day: str
    tags: tuple[str, ...]
    about: tuple[str, ...]
    text: str

    def markdown(self) -> str:
        """The note with a head of its own."""
        tags = ", ".join(self.tags)
        lines = (
            f"# {self.title}" if self.title else "",
            f"Created: {self.day}" if self.day else "",
            f"Tags: {tags}" if tags else "",
            *self.about,
        )
        return "\n\n".join(filter(None, ("\n".join(filter(None, lines)), self.text.strip()))) + "\n"


def export_text(data: bytes, ending: str) -> str:
    """All notes of an export. Raises as `exported_notes`."""
    return "\n\n".join(one.markdown() for one in exported_notes(data, ending))


def is_note_export(head: bytes) -> bool:
    """True for the first bytes of an export that `exported_notes` reads."""
    return _reader_of(head) is not None


def exported_notes(data: bytes, ending: str = "json") -> tuple[ExportedNote, ...]:
    """Notes of an export, in its order.

    Args:
        ending: of the file's name, in small letters; one of `json` may be any export.

    Raises:
        ValueError: it is none, or has another shape than its program writes.
    """
    reader = _BY_ENDING.get(ending) or _reader_of(data[:HEAD_BYTES])
    if reader is None:
        raise ValueError(data[:20])
    try:
        return tuple(reader(data))
    except (msgspec.DecodeError, ArithmeticError, RecursionError) as fault:
        raise ValueError(str(fault)) from fault


# Google Keep, as Takeout gives it: a file of JSON for each note, and beside it a page with the same words.
# Source: exports in public repositories, and Obsidian's importer (read 2026-11-30).


class _Label(msgspec.Struct, frozen=True):
    name: str = ""


class _Item(msgspec.Struct, frozen=True, rename="camel"):
    text: str = ""
    is_checked: bool = False


class _KeepNote(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    is_trashed: bool
    is_archived: bool
    title: str = ""
    text_content: str = ""
    list_content: tuple[_Item, ...] = ()
    labels: tuple[_Label, ...] = ()
    created_timestamp_usec: int = 0
    user_edited_timestamp_usec: int = 0


def is_keep_note(head: bytes) -> bool:
    """True for the first bytes of a note of Google Keep."""
    return (
        head.lstrip()[:1] == b"{"
        and all(
            re.search(rb'"%s"\s*:\s*(?:true|false)' % name, head)
            for name in (b"isTrashed", b"isPinned", b"isArchived")
        )
        and re.search(rb'"color"\s*:\s*"[A-Z]+"', head) is not None
    )


def _keep(data: bytes) -> Iterator[ExportedNote]:
    note = from_json(data, _KeepNote)
    made_us = note.created_timestamp_usec or note.user_edited_timestamp_usec
    day = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=made_us)
    boxes = (
        f"- [{'x' if one.is_checked else ' '}] {' '.join(one.text.split())}" for one in note.list_content
    )
    yield ExportedNote(
        title=_line(note.title),
        day=day.date().isoformat() if made_us else "",
        tags=tuple(one.name for one in note.labels if one.name),
        about=("Archived",) * note.is_archived + ("In the trash",) * note.is_trashed,
        text="\n\n".join(filter(None, (note.text_content, "\n".join(boxes)))),
    )


# Day One: a journal is one file with all its entries. Source: its own sample of an import, and exports in
# public repositories (read 2026-11-30).


class _Place(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    user_label: str = ""
    place_name: str = ""
    locality_name: str = ""
    country: str = ""


class _JournalEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    creation_date: str
    time_zone: str = ""
    text: str = ""
    rich_text: str = ""
    tags: tuple[str, ...] = ()
    location: _Place = _Place()


class _Journal(msgspec.Struct, frozen=True):
    entries: tuple[_JournalEntry, ...]


_JOURNAL = late(rb'\s*\{\s*"metadata"\s*:\s*\{\s*"version"\s*:\s*"[\d.]+"\s*\}\s*,\s*"entries"\s*:\s*\[\s*\{')
_PICTURE = late(r"!\[[^\]\n]*\]\(dayone-moment:[^)\n]*\)")
_TITLE = late(r"\s*#{1,6} +(\S.*)\n?")


def _day_one(data: bytes) -> Iterator[ExportedNote]:
    for entry in from_json(data, _Journal).entries:
        place = entry.location
        names = (place.user_label, place.place_name, place.locality_name, place.country)
        told = ", ".join(dict.fromkeys(filter(None, map(_line, names))))
        text = _PICTURE.sub("", entry.text or _rich(entry.rich_text))
        day, title = _local_day(entry), _TITLE.match(text)
        yield ExportedNote(
            title=_line(title[1]) if title is not None else day,
            day=day,
            tags=entry.tags,
            about=(f"Place: {told}",) if told else (),
            text=text[title.end() :] if title is not None else text,
        )


def _local_day(entry: _JournalEntry) -> str:
    """Day of an entry where it was written, in UTC where nobody knows its zone."""
    at = datetime.fromisoformat(entry.creation_date)
    if at.tzinfo is None:
        return at.date().isoformat()
    try:
        return at.astimezone(ZoneInfo(entry.time_zone or "UTC")).date().isoformat()
    except (LookupError, ValueError, OSError):
        return at.date().isoformat()


def _rich(text: str) -> str:
    """Words of an entry that has them as rich text alone."""
    told: Any = from_json(text, Any) if text else {}
    pieces = told.get("contents") if isinstance(told, dict) else None
    found = (one.get("text") for one in pieces or () if isinstance(one, dict))
    return "".join(one for one in found if isinstance(one, str))


# Obsidian's canvas, a notebook of Jupyter, and a graph of Roam. Source: jsoncanvas.org 1.0, nbformat 4.5, and exports of Roam
# in public repositories (read 2026-11-30).


class _Card(msgspec.Struct, frozen=True):
    text: str = ""
    label: str = ""
    file: str = ""
    url: str = ""


class _Canvas(msgspec.Struct, frozen=True):
    nodes: tuple[_Card, ...] = ()


def _canvas(data: bytes) -> Iterator[ExportedNote]:
    for card in from_json(data, _Canvas).nodes:
        if told := card.text or card.label or card.file or card.url:
            yield ExportedNote(title="", day="", tags=(), about=(), text=told)


class _Cell(msgspec.Struct, frozen=True):
    cell_type: str
    source: str | tuple[str, ...] = ""


class _Notebook(msgspec.Struct, frozen=True):
    cells: tuple[_Cell, ...]


def _notebook(data: bytes) -> Iterator[ExportedNote]:
    """Cells of a Jupyter notebook as notes: text and code, without outputs."""
    for cell in from_json(data, _Notebook).cells:
        text = "".join(cell.source)
        shown = f"```\n{text}\n```" if cell.cell_type == "code" and text else text
        yield ExportedNote(title="", day="", tags=(), about=(), text=shown)


class _RoamBlock(msgspec.Struct, frozen=True):
    string: str = ""
    title: str = ""
    children: tuple[_RoamBlock, ...] = ()


_ROAM = late(
    rb'\s*\[\s*\{(?=[^{]*"title"\s*:)[^{]*"(?:children"\s*:\s*\[\s*\{[^{}]*"string"|(?:create|edit)-time"\s*:\s*\d)'
)


def _roam(data: bytes) -> Iterator[ExportedNote]:
    for page in from_json(data, tuple[_RoamBlock, ...]):
        text = "\n".join(_blocks(page.children, ""))
        yield ExportedNote(title=_line(page.title), day="", tags=(), about=(), text=text)


def _blocks(blocks: tuple[_RoamBlock, ...], indent: str) -> Iterator[str]:
    for block in blocks:
        yield f"{indent}- {_line(block.string)}"
        yield from _blocks(block.children, f"{indent}  ")


def _line(text: str) -> str:
    return " ".join(text.split())


_EXPORTS: tuple[tuple[Callable[[bytes], object], Callable[[bytes], Iterator[ExportedNote]]], ...] = (
    (is_keep_note, _keep),
    (_JOURNAL.match, _day_one),
    (_ROAM.match, _roam),
)
"""Test of the first bytes of each export, and its reader."""
_BY_ENDING = {"canvas": _canvas, "ipynb": _notebook}
"""Readers of files whose keys come in any order: the ending tells them."""


def _reader_of(head: bytes) -> Callable[[bytes], Iterator[ExportedNote]] | None:
    return next((reader for tells, reader in _EXPORTS if tells(head)), None)
