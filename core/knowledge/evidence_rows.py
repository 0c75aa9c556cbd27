"""LogRows of the two logs, `evidence.jsonl` and `events.jsonl`: written on one line, read past torn ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import decoder_of, json_encoder
from core.kernel.frame import clean, flat
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.secrets import scrub
from core.kernel.values.facts import EvidenceRow, ItemEvent, Quote
from core.kernel.values.knowledge import Category

# Items that another has replaced: struck through in their file, with a dated pointer, and known no more.

POINTER_CHARS = 80
"""Characters of the new item's words in the pointer."""

_STRUCK = late(r"~~(.+)~~(?: \(replaced \d{4}-\d{2}-\d{2}: .*\))?", re.DOTALL)


def is_struck(text: str) -> bool:
    """True if an item's words are struck through as a whole, by a harvest or by hand."""
    return text.startswith("~~") and _STRUCK.fullmatch(text.rstrip()) is not None


def struck(text: str, by: str, day: str) -> str:
    """The words of an item once another has replaced it, on one line.

    Args:
        text: without provenance; by: words of the new item; day: `YYYY-MM-DD`.
    """
    words = " ".join(by.split())
    pointer = words if len(words) <= POINTER_CHARS else words[: POINTER_CHARS - 1].rstrip() + "…"
    return f"~~{' '.join(text.split()).replace('~~', '~')}~~ (replaced {day}: {pointer})"


def unstruck(text: str) -> str:
    """The words of an item before it was struck through."""
    found = _STRUCK.fullmatch(text.rstrip()) if text.startswith("~~") else None
    return text if found is None else found[1]


# Quotes: found in the words that a model was shown, or dropped and counted.

QUOTE_LEFT_OUT = tr(
    "The program left out the model's quote: the conversation does not contain that quote. The program sends this item to no model until you edit the item."
)
MAX_QUOTE_CHARS = 300
"""Most characters that a quoted span has."""


@lru_cache(maxsize=32_768)
def item_hash(category: Category | str, text: str) -> str:
    """Name of an item in evidence and events: the sha256 (hex) of its category and its words, blanks normalised.

    One that was struck through since has the name that it had before.
    """
    words = f"{Category(category).value}\n{' '.join(unstruck(text).split())}"
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()


def short_name(category: Category | str, text: str) -> str:
    """Name of an item that a model may say: `k` and eight hex digits, the same while its words are."""
    return short_hash(item_hash(category, text))


def short_hash(item: str) -> str:
    """The short name of an item by its hash."""
    return f"k{item[:8]}"


def quote_hash(text: str) -> str:
    """The sha256 (hex) of a quote, empty for none."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""


def found_quote(claimed: Quote, shown: Mapping[str, Sequence[tuple[str, str]]]) -> Quote | None:
    """A quote that a model named, as far as it is true.

    Args:
        claimed: its `turns` by the short ids that the model saw.
        shown: real id and scrubbed text of the messages behind each short id.

    Returns:
        The quote by real ids, cut to `MAX_QUOTE_CHARS`; empty where nothing was claimed; None where the words do not
        stand in the message that was named.
    """
    text = scrub(flat(claimed.text))
    if not text:
        return Quote(turns=tuple(shown[turn][0][0] for turn in claimed.turns if shown.get(turn)))
    said = (one for turn in claimed.turns for one in shown.get(turn, ()))
    holders = tuple(name for name, words in said if holds(words, text))
    return Quote(turns=holders, text=text[:MAX_QUOTE_CHARS].rstrip()) if holders else None


def holds(text: str, quote: str) -> bool:
    """True if a text has these words, blanks normalised. O(n)."""
    return bool(quote) and flat(quote) in flat(text)


EVIDENCE_FILE, EVENTS_FILE = "evidence.jsonl", "events.jsonl"
"""Names below the knowledge directory."""

T = TypeVar("T")

_evidence = decoder_of(EvidenceRow)
_event = decoder_of(ItemEvent)
_encode = json_encoder("sorted").encode


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
        item=item,
        at=said.at,
        source=said.source,
        path=said.path,
        sha256=said.sha256,
        discussion=said.discussion,
        fact=fact,
        turns=tuple(clean(turn) for turn in quote.turns),
        quote=quote.text,
        quote_sha256=quote_hash(quote.text),
        talks=said.talks,
        is_unfound=quote.is_unfound,
    )


def row_text(row: EvidenceRow | ItemEvent) -> str:
    """A row without line end, the same for the same content."""
    return _encode(row).decode()


def read_rows(evidence: bytes, events: bytes) -> LogRows:
    """Read both logs. Raises nothing: a line that is torn, or no row, is passed over and counted. O(n)."""
    kept, torn = _decoded(evidence, _evidence.decode)
    happened, lost = _decoded(events, _event.decode)
    is_whole = [not row.quote or quote_hash(row.quote) == row.quote_sha256 for row in kept]
    sound = tuple(row for row, is_sound in zip(kept, is_whole, strict=True) if is_sound)
    return LogRows(evidence=sound, events=tuple(happened), torn=torn + lost + len(kept) - len(sound))


_UNFOUND = b'"is_unfound":true'


def unquoted(evidence: bytes) -> frozenset[str]:
    """Hashes of the items, and ids of the facts, whose model quoted words that nobody said, and that nothing else bears out.

    One that a person edits has another hash, and is the person's own. Evidence that was kept before quotes were looked for does
    not tell: its items count as they did.
    """
    if _UNFOUND not in evidence:
        return frozenset()
    left, borne = set[str](), set[str]()
    for row in read_rows(evidence, b"").evidence:
        (left if row.is_unfound else borne).update(filter(None, (row.item, row.fact)))
    return frozenset(left - borne)


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
