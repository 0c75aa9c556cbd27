"""The turn that a quote stands in, read where its conversation is now: the list, the trash, a file, or gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.base import paths
from core.base.errors import SlopError
from core.base.opener import read_file
from core.base.secrets import scrub
from core.base.text import clean, flat
from core.discussion import log, log_view, trash
from core.discussion.log_codec import ForeignLine
from core.discussion.meta import read_meta
from core.evidence.quotes import holds
from core.transcripts import reader
from core.values.evidence import EvidenceRow, TurnPlace, Witness
from core.values.messages import Part, TextPart, ToolCallPart, ToolResultPart
from core.values.records import Record
from core.values.state import TrashItem
from core.values.transcript import Transcript

SHOWN_CHARS = 4_000
"""Of a turn beside its quote."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Of a file of another program that is looked into for a turn."""


def witnesses(home: Path, rows: Iterable[EvidenceRow]) -> tuple[Witness, ...]:
    """The turns of these rows as they can be read now. Never fails: what cannot be read is gone."""
    try:
        binned = {item.discussion_id: item for item in reversed(trash.items(home))}
    except SlopError:
        binned = {}
    return tuple(_witness(home, row, binned) for row in rows)


def _witness(home: Path, row: EvidenceRow, binned: dict[str, TrashItem]) -> Witness:
    if not row.discussion:
        return _in_file(row)
    item = binned.get(row.discussion)
    try:
        if paths.log_file(home, row.discussion).exists():
            name = read_meta(home, row.discussion).meta.name
            return _read(row, TurnPlace.LIST, name, paths.log_file(home, row.discussion))
        if item is not None:
            return _read(row, TurnPlace.TRASH, item.name, Path(item.path) / paths.LOG_FILE)
    except SlopError:
        pass
    return Witness(row, TurnPlace.GONE, row.source)


def _in_file(row: EvidenceRow) -> Witness:
    """A turn in a conversation of another program, as far as its file can still be read."""
    name = Path(row.path).name
    try:
        data = read_file(row.path, MAX_FILE_BYTES)
    except FileNotFoundError:
        return Witness(row, TurnPlace.GONE, name)
    except OSError:
        return Witness(row, TurnPlace.FILE, name)
    wanted = frozenset(row.turns)
    try:
        read = reader.read_transcripts(reader.recognised(data), data)
        messages = [one for found in read if isinstance(found, Transcript) for one in found.messages]
    except ValueError:
        messages = []
    texts = [(one.role, _words(one.parts)) for one in messages if one.id in wanted]
    return _witnessed(row, TurnPlace.FILE, name, texts)


def _read(row: EvidenceRow, place: TurnPlace, name: str, path: Path) -> Witness:
    wanted = frozenset(row.turns)
    messages = (one for one in log_view.fold("", _records(path)).messages if one.id in wanted)
    return _witnessed(row, place, name, [(one.role.value, _words(one.parts)) for one in messages])


def _witnessed(row: EvidenceRow, place: TurnPlace, name: str, texts: Sequence[tuple[str, str]]) -> Witness:
    best = next((one for one in texts if holds(one[1], row.quote)), texts[0] if texts else ("", ""))
    is_there = holds(best[1], row.quote)
    return Witness(row, place, name, best[0], _around(best[1], row.quote if is_there else ""), is_there)


def _records(path: Path) -> Iterator[Record]:
    for line in log.scan(path, end=log.settled_size(path)):
        if not isinstance(line.content, ForeignLine):
            yield line.content


def _words(parts: Iterable[Part]) -> str:
    """Words of a message as its quote was scrubbed."""
    return scrub(clean("\n\n".join(filter(None, map(_part_text, parts)))))


def _part_text(part: Part) -> str:
    match part:
        case TextPart() | ToolResultPart():
            return part.text
        case ToolCallPart():
            return part.arguments_json
        case _:
            return ""


def _around(text: str, quote: str) -> str:
    """A turn, or of a long one the part around the quote."""
    if len(text) <= SHOWN_CHARS:
        return text.strip()
    words = flat(text)
    at = max(0, words.find(quote) - SHOWN_CHARS // 2) if quote else 0
    head = "…" if at else ""
    tail = "…" if at + SHOWN_CHARS < len(words) else ""
    return f"{head}{words[at : at + SHOWN_CHARS]}{tail}"
