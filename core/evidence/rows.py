"""LogRows of the two logs, `evidence.jsonl` and `events.jsonl`: written on one line, read past torn ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from core.base.decoders import decoder_of
from core.base.text import clean
from core.evidence.quotes import quote_hash
from core.values.evidence import EvidenceRow, ItemEvent, Quote

EVIDENCE_FILE, EVENTS_FILE = "evidence.jsonl", "events.jsonl"
"""Names below the knowledge directory."""

T = TypeVar("T")

_evidence = decoder_of(EvidenceRow)
_event = decoder_of(ItemEvent)
_encode = msgspec.json.Encoder(order="sorted").encode


class Conversation(msgspec.Struct, frozen=True):
    """Conversation that an apply read, its words cleaned. `at`: when (ISO 8601 UTC); the rest as in `EvidenceRow`."""

    at: str
    source: str
    path: str
    sha256: str
    discussion: str = ""
    talks: tuple[str, ...] = ()


class LogRows(msgspec.Struct, frozen=True):
    """All that can be read of both logs, oldest first. `torn`: lines that could not be read."""

    evidence: tuple[EvidenceRow, ...] = ()
    events: tuple[ItemEvent, ...] = ()
    torn: int = 0


def evidence_of(item: str, quote: Quote, said: Conversation, fact: str = "") -> EvidenceRow:
    """Evidence of one item. `item`: hash; `fact`: id of its structured fact, empty where there is none."""
    return EvidenceRow(
        item,
        said.at,
        said.source,
        said.path,
        said.sha256,
        said.discussion,
        fact,
        tuple(clean(turn) for turn in quote.turns),
        quote.text,
        quote_hash(quote.text),
        said.talks,
        quote.is_unfound,
    )


def row_text(row: EvidenceRow | ItemEvent) -> str:
    """A row without line end, the same for the same content."""
    return _encode(row).decode()


def read_rows(evidence: bytes, events: bytes) -> LogRows:
    """Read both logs. Total: a line that is torn, or no row, is passed over and counted. O(n)."""
    kept, torn = _decoded(evidence, _evidence.decode)
    happened, lost = _decoded(events, _event.decode)
    is_whole = [not row.quote or quote_hash(row.quote) == row.quote_sha256 for row in kept]
    sound = tuple(row for row, is_sound in zip(kept, is_whole, strict=True) if is_sound)
    return LogRows(sound, tuple(happened), torn + lost + len(kept) - len(sound))


def requoted(before: bytes, after: bytes) -> bytes:
    """`evidence.jsonl` after its words were cleaned: quotes that were sound and changed are sound again.

    Args:
        before, after: the whole file, line for line.
    """
    lines = [
        _requoted(old, new) if old != new else new
        for old, new in zip(before.split(b"\n"), after.split(b"\n"), strict=True)
    ]
    return b"\n".join(lines)


def _requoted(before: bytes, after: bytes) -> bytes:
    try:
        old, new = _evidence.decode(before), _evidence.decode(after)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return after
    if old.quote_sha256 != quote_hash(old.quote):
        return after
    return row_text(replace(new, quote_sha256=quote_hash(new.quote))).encode()


def _decoded(data: bytes, decode: Callable[[bytes], T]) -> tuple[list[T], int]:
    found: list[T] = []
    torn = 0
    for line in _lines(data):
        try:
            found.append(decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            torn += 1
    return found, torn


def _lines(data: bytes) -> Iterable[bytes]:
    return (line for line in data.split(b"\n") if line.strip(b" \t\r\0"))
