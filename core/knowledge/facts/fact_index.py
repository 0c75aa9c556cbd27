"""`index.json` as text: a row a line, sorted by id, so that a change of one fact is a change of one line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from core.kernel.codecs import decoder_of, from_json, json_encoder
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.facts import GLOBAL, Fact, FactProblem, IndexedFact
from core.knowledge.facts.fact_checks import FORMAT_VERSION, INDEX_FILE, FactPlace, flaws_of

_HEAD = late(rb'\{"version":1,"last_updated":"([^"\\\n]*)","total_facts":([0-9]+),"facts":\[\n')
_TAIL = b"]}\n"
_ROW = b'{"id":"'
_encode = json_encoder().encode
_row_of = decoder_of(IndexedFact).decode


class IndexText(msgspec.Struct, frozen=True):
    """An index as it was read.

    Args:
        rows: encoded, by id; last_updated: ISO 8601; problems: what could not be read of it.
    """

    rows: Mapping[str, bytes]
    last_updated: str = ""
    problems: tuple[FactProblem, ...] = ()


class _ForeignIndex(msgspec.Struct):
    """An index that somebody else wrote."""

    facts: list[msgspec.Raw]
    version: int = FORMAT_VERSION
    last_updated: str = ""


def row_bytes(fact: IndexedFact) -> bytes:
    """A fact as its line in the index."""
    return _encode(fact)


def read_row(row: bytes) -> IndexedFact:
    """A fact from a line that this program wrote. Raises msgspec.DecodeError for any other."""
    return _row_of(row)


def index_bytes(rows: Mapping[str, bytes], last_updated: str) -> bytes:
    """Encode the index file of facts. The same rows and time give the same bytes."""
    head = (
        f'{{"version":{FORMAT_VERSION},"last_updated":"{last_updated}","total_facts":{len(rows)},"facts":[\n'
    )
    body = b",\n".join([rows[key] for key in sorted(rows)])
    return head.encode() + body + (b"\n" if rows else b"") + _TAIL


def read_index(data: bytes) -> IndexText:
    """Read an index. One in this program's form is split by its lines, O(n) in C, its rows as they stand; any other
    as `checked_index`. Raises nothing.
    """
    return _own(data) or checked_index(data)


def total_facts(data: bytes) -> int:
    """Facts of an index that this program wrote, 0 for any other. O(1)."""
    match = _HEAD.match(data)
    return 0 if match is None else int(match[2])


def _own(data: bytes) -> IndexText | None:
    match = _HEAD.match(data)
    if match is None or not data.endswith(_TAIL):
        return None
    lines = data[match.end() : -len(_TAIL)].split(b"\n")
    lines.pop()
    rows = {}
    for line in lines:
        end = line.find(b'"', len(_ROW))
        if not line.startswith(_ROW) or end < 0:
            return None
        rows[line[len(_ROW) : end].decode("ascii", "replace")] = line.removesuffix(b",")
    if len(rows) != int(match[2]) or len(lines) != len(rows):
        return None
    return IndexText(rows=rows, last_updated=match[1].decode("utf-8", "replace"))


def checked_index(data: bytes) -> IndexText:
    """Read an index that somebody else may have changed: row by row, and a row that breaks a rule is passed over. Raises nothing."""
    if not data.strip():
        return IndexText(rows={})
    try:
        whole = from_json(data, _ForeignIndex)
    except (msgspec.DecodeError, ValueError) as error:
        said = tr(
            "the program rebuilt the index file from the YAML files, because it was unreadable: {error}",
            error=error,
        )
        return IndexText(
            rows={}, problems=(FactProblem(file=INDEX_FILE, line=1, text=said, is_warning=True),)
        )
    rows: dict[str, bytes] = {}
    problems = []
    for number, raw in enumerate(whole.facts):
        try:
            fact = _row_of(raw)
        except (msgspec.DecodeError, ValueError) as error:
            problems.append(_passed(number, str(error)))
            continue
        flaws = flaws_of(fact, FactPlace(name=INDEX_FILE, domain=fact.domain))
        if flaws or fact.id in rows:
            problems.append(
                _passed(number, flaws[0][1] if flaws else tr("the id {id} occurs twice", id=fact.id))
            )
        else:
            rows[fact.id] = _encode(fact)
    return IndexText(rows=rows, last_updated=whole.last_updated, problems=tuple(problems))


def _passed(number: int, why: str) -> FactProblem:
    said = tr(
        "the program skipped fact {number} of the index: {why}; this fact now comes from its YAML file",
        number=number + 1,
        why=why,
    )
    return FactProblem(file=INDEX_FILE, line=1, text=said, is_warning=True)


def facts_of(rows: Iterable[bytes]) -> tuple[IndexedFact, ...]:
    """Facts of rows, sorted by id. Rows of no fact are left out."""
    found = []
    for row in rows:
        try:
            found.append(_row_of(row))
        except (msgspec.DecodeError, ValueError):
            continue
    return tuple(sorted(found, key=lambda fact: fact.id))


def next_expiry(rows: Mapping[str, bytes], day: str) -> str:
    """The first day among the coming ones on which a fact expires, empty where none does."""
    days = []
    for row in rows.values():
        at = row.find(b'"expires":"')
        if at >= 0:
            days.append(row[at + 11 : at + 21].decode("ascii", "replace"))
    return min((one for one in days if one >= day), default="")


# Past of the facts, as ledger and logs tell it: when each was confirmed, what was harvested, which numbers
# were given.

_DAY_END = "T99"
"""Behind any time of a day: what was confirmed on a day counts as confirmed by all of its harvests."""


class Reword(msgspec.Struct, frozen=True):
    """New words of a fact, for its item was edited. `was`: those that they take the place of, and no others."""

    was: frozenset[str]
    now: str


class HeldFact(msgspec.Struct, frozen=True):
    """A fact that could not be written when its item was, for its file could not be read.

    Args:
        series: `domain:category`; item: hash of its item; at: when it was said, ISO 8601 UTC.
    """

    series: str
    item: str
    text: str
    at: str
    by_person: bool = False
    is_decision: bool = False


class Past(msgspec.Struct, frozen=True):
    """The past as values. Times are ISO 8601 UTC, as the ledger writes them.

    Args:
        told: the last time that an event or evidence confirmed a fact, by id.
        harvests: times of harvested conversations by domain, sorted; all_harvests: of every domain.
        highest: the highest number that was given, by `domain:category`.
        withdrawn: facts whose items stand in no category file any more; None where that cannot be told now.
        forgotten: facts that a person forgot; rewords: words that facts take on, by id; held: facts to be made up for.
    """

    told: Mapping[str, str] = msgspec.field(default_factory=dict)
    harvests: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    all_harvests: tuple[str, ...] = ()
    highest: Mapping[str, int] = msgspec.field(default_factory=dict)
    withdrawn: frozenset[str] | None = frozenset()
    forgotten: frozenset[str] = frozenset()
    rewords: Mapping[str, Reword] = msgspec.field(default_factory=dict)
    held: tuple[HeldFact, ...] = ()


class FactNewsKind(StrEnum):
    """Kinds of what a sync found that ledger and logs did not know."""

    ADDED = "added by hand"
    EDITED = "edited by hand"
    REMOVED = "removed by hand"
    OVERRULED = "the index had changed too, and the file won"
    WITHDRAWN = "its item stands in no category file any more"
    RETURNED = "its item stands in its file again"
    MADE_UP = "written now that its file can be read again"


class FactNews(msgspec.Struct, frozen=True):
    """Something that a sync found.

    Args:
        text: what the fact says; of what was overruled, what the index had said; item: hash, of what was made up for.
        was: what a fact said before it was edited or removed by hand.
    """

    kind: FactNewsKind
    fact_id: str
    text: str = ""
    item: str = ""
    was: str = ""


def harvests_since(fact: Fact, past: Past) -> int:
    """Harvested conversations of a fact's domain since it was confirmed last; of `global` every one counts. O(log n)."""
    day = fact.last_confirmed or fact.first_seen
    at = past.told.get(fact.id, "")
    if day > at[:10]:
        at = day + _DAY_END
    if not at:
        return 0
    times = past.all_harvests if fact.domain == GLOBAL else past.harvests.get(fact.domain, ())
    return len(times) - bisect_right(times, at)


def raised(highest: Mapping[str, int], ids: Iterable[str]) -> dict[str, int]:
    """The highest numbers with those of further ids. What is no id is passed over."""
    found = dict(highest)
    for fact_id in ids:
        series, _, digits = fact_id.rpartition(":")
        if digits.isascii() and digits.isdigit() and len(digits) <= 9:
            found[series] = max(found.get(series, 0), int(digits))
    return found


def next_id(highest: Mapping[str, int], series: str) -> str:
    """The next id of a `domain:category`: numbers are never given twice."""
    return f"{series}:{highest.get(series, 0) + 1:03d}"
