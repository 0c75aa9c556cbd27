"""Files without the words that go, and recalled text that stays in a log emptied of them. Pure."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection
from typing import Any

import msgspec
from msgspec.structs import replace

from core.app.forgetting.words import PutBack, Words, forms, holds, is_of, moment
from core.kernel.codecs import canonical_json, decoder_of, read_json
from core.kernel.patterns import late
from core.kernel.values.facts import EvidenceRow, ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Item, Provenance
from core.knowledge.categories import joined, parse_file, with_items, with_tag, without_origins
from core.knowledge.evidence_rows import item_hash, row_text
from core.knowledge.facts.fact_checks import FactPlace
from core.knowledge.facts.fact_file import FactItem, loose_items
from core.knowledge.facts.fact_index import index_bytes, read_index
from core.knowledge.facts.fact_merge import short_text
from core.knowledge.facts.item_edit import Splice, changed_item, spliced
from core.knowledge.history_text import WITH_CONVERSATION
from core.knowledge.merges import draft_mark
from core.talk.caching.view import TAIL_KIND
from core.talk.discussion.cuts import RECALLED, TURN_KIND

# Files without the words that go: every other byte stays, a row that stays keeps its hashes. Pure.

Cut = tuple[bytes, int]
"""A file as it stays, and how many copies were taken out."""

_GONE = object()
_POINTER = "~~ (replaced "
"""Behind the words of an item that another replaced, before the first words of that one."""

_evidence = decoder_of(EvidenceRow)
_event = decoder_of(ItemEvent)


def items_without(name: str, data: bytes, words: Words) -> Cut:
    """A category file or notes without the items that go. Those said elsewhere too take that origin on.

    Args:
        name: below the knowledge directory.
    """
    others = {item: Provenance(source=source, date=day) for item, source, day in words.others}
    origins = {source for _, source, _ in words.others}
    changes: list[tuple[Item, str | None]] = []
    items = parse_file(name, data, most_chars=sys.maxsize).items
    standing = {item.text for item in items}
    for item in items:
        name_of_item = item_hash(item.category, item.text)
        if name_of_item in words.items:
            back = [one for one in words.put_back if one.merged == name_of_item and one.text not in standing]
            lines = [_line(one.text, _origins(one)) for one in back]
            changes.append((item, "\n".join(lines) if lines else None))
        elif name_of_item in others and item.provenance is not None and item.provenance.source not in origins:
            changes.append((item, _line(item.text, others[name_of_item])))
        elif item.provenance is not None and item.provenance.also and origins_of(item) & words.sources:
            left = without_origins(item.provenance, words.sources)
            changes.append((item, _line(item.text, left)))
        elif item.text.startswith("~~") and _holds(item.text.partition(_POINTER)[2], words):
            bare = f"{item.text.partition(_POINTER)[0]}~~"
            changes.append((item, _line(bare, item.provenance)))
    return with_items(data, changes), len(changes)


def origins_of(item: Item) -> frozenset[str]:
    """Names of the conversations that an item came from."""
    return (
        frozenset(one.source for one in item.provenance.all) if item.provenance is not None else frozenset()
    )


def evidence_without(data: bytes, words: Words) -> Cut:
    """`evidence.jsonl` without rows from the conversations, and about the items. Torn lines go too: nobody reads them."""

    def kept(line: bytes) -> bytes | None:
        row = _evidence.decode(line)
        return None if row.item in words.items or is_of(row, words) else line

    return _by_line(data, kept)


def events_without(data: bytes, words: Words, at: str) -> Cut:
    """`events.jsonl` with the texts gone; hashes, kinds and times stay, and each item's forgetting is told once.

    Args:
        at: ISO 8601 UTC, of the rows that tell it.
    """
    told: set[str] = set()
    reason = WITH_CONVERSATION if words.is_about_conversations else ""

    def kept(line: bytes) -> bytes | None:
        event = _event.decode(line)
        if event.kind is ItemEventKind.FORGOTTEN and event.reason in {"", reason}:
            told.add(event.item)
        bare = _bare(event, words)
        return line if bare == event else row_text(bare).encode()

    data, count = _by_line(data, kept)
    missing = sorted(words.items - told)
    rows = (
        row_text(ItemEvent(kind=ItemEventKind.FORGOTTEN, at=at, item=item, reason=reason)).encode() + b"\n"
        for item in missing
    )
    return data + b"".join(rows), count


def apply_without(data: bytes, words: Words) -> Cut:
    """The log of an apply without lines, parts and paths that go; its ids and hashes stay, so that it can be read."""
    marks = (draft_mark(item) for item in words.items)
    names = (*words.discussions, *words.paths, *words.hashes, *words.facts, *marks)
    if not holds(data, words) and not any(name.encode() in data for name in names):
        return data, 0

    def kept(line: bytes) -> bytes | None:
        row = read_json(line)
        if not isinstance(row, dict):
            return None
        before = json.dumps(row)
        if row.get("kind") == "items" and _is_mine(row, words):
            row |= {"source": "", "files": [], "parts": []}
            entry = row.get("entry")
            if isinstance(entry, dict):
                entry |= {"path": "", "items": {}}
                entry.pop("error", None)
        elif row.get("kind") == "items" and row.get("entry") is None and _is_cut_merge(row, words):
            row |= {"files": [], "parts": []}  # half a merge can be undone by nobody
        bare = _cleansed(row, words)
        if json.dumps(bare) == before:
            return line
        return json.dumps(bare, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")

    return _by_line(data, kept)


def batch_without(data: bytes, words: Words) -> Cut:
    """The file of a batch without the paths of conversations that go, by whatever name; ids and hashes stay."""

    def kept(line: bytes) -> bytes:
        row = read_json(line)
        bare = _cleansed(row, words)
        for item in bare.get("intent", {}).get("items", ()):
            if item.get("sha256") in words.hashes:
                item["path"] = ""
        return line if bare == row else json.dumps(bare, ensure_ascii=False).encode("utf-8", "replace")

    return _by_line(data, kept)


def _by_line(data: bytes, kept: Callable[[bytes], bytes | None]) -> Cut:
    lines, count = [], 0
    for line in data.split(b"\n"):
        if not line.strip(b" \t\r\0"):
            continue
        try:
            stays = kept(line)
        except (ValueError, TypeError, msgspec.MsgspecError, RecursionError):
            stays = None
        count += stays != line
        if stays is not None:
            lines.append(stays + b"\n")
    bare = b"".join(lines)
    return (bare, count) if count else (data if data.endswith(b"\n") or not data else data + b"\n", 0)


def _bare(event: ItemEvent, words: Words) -> ItemEvent:
    """An event as it stays: what it says of the words is gone."""
    if event.kind in {ItemEventKind.INJECTED, ItemEventKind.USED}:
        if event.discussion in words.discussions:
            return replace(event, discussion="", message="", model="")
        return event
    if event.apply and moment(event.at, event.source) in words.moments:
        shown = event.text if event.item not in words.items and not words.is_about_conversations else ""
        return replace(event, text=shown, source="", reason="", discussion="")
    is_about = (
        event.item in words.items or bool(words.items.intersection(event.was)) or event.fact in words.facts
    )
    if is_about and (event.item in words.items or event.fact in words.facts):
        is_told = event.kind is ItemEventKind.FORGOTTEN
        return event if is_told else replace(event, text="", reason="")
    if is_about:
        event = replace(event, reason="")
    text = "" if _holds(event.text, words) else event.text
    reason = "" if _holds(event.reason, words) else event.reason
    return replace(event, text=text, reason=reason)


def _is_mine(row: dict[str, Any], words: Words) -> bool:
    return row.get("sha256") in words.hashes or row.get("source") in words.paths


def _is_cut_merge(row: dict[str, Any], words: Words) -> bool:
    """True for a merge that holds the words: files and facts would part if the rest of it were taken back."""
    parts = row.get("parts", [])
    is_merge = any(isinstance(one, dict) and one.get("part") == "patch" for one in parts)
    return is_merge and _holds(json.dumps(parts, ensure_ascii=False), words)


def _cleansed(value: Any, words: Words) -> Any:
    """JSON without the words: of a list the parts that hold them go, of an object the text becomes empty."""
    if isinstance(value, str):
        return "" if _holds(value, words) else value
    if isinstance(value, list):
        return [kept for one in value if (kept := _part(one, words)) is not _GONE]
    if isinstance(value, dict):
        return {("" if _holds(key, words) else key): _cleansed(one, words) for key, one in value.items()}
    return value


def _part(value: Any, words: Words) -> Any:
    """A part of a list: a text, a line with its section, or a swap that holds the words goes whole."""
    if isinstance(value, str):
        return _GONE if _holds(value, words) else value
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return _GONE if any(_holds(one, words) for one in value) else value
    if isinstance(value, dict) and value.get("part") == "swap":
        return _GONE if _holds(json.dumps(value, ensure_ascii=False), words) else value
    if isinstance(value, dict) and value.get("part") == "draft":
        text = str(value.get("text", ""))
        is_of_it = any(draft_mark(item) in text for item in words.items)
        return _GONE if is_of_it or _holds(text, words) else value
    return _cleansed(value, words)


def _holds(text: str, words: Words) -> bool:
    """True if a text holds one of the words, is about one of the facts, or names one of the conversations."""
    if not text:
        return False
    if any(one in text for one in words.texts) or any(one in text for one in words.discussions):
        return True
    if any(path in text for path in words.paths) or any(fact and fact in text for fact in words.facts):
        return True
    data = text.encode("utf-8", "surrogateescape") if "\\" in text else b""
    return bool(data) and any(form in data for one in words.texts for form in forms(one))


def _origins(one: PutBack) -> Provenance | None:
    return joined(Provenance(source=source, date=day) for source, day in one.origins)


def _line(text: str, provenance: Provenance | None) -> str:
    return f"- {with_tag(text, provenance)}"


# Files of facts and their index without the facts that go, whatever state their front matter is in. Pure.


def facts_without(
    place: FactPlace, fact_ids: Collection[str], put_back: Collection[PutBack], data: bytes
) -> Cut:
    """A file without the items of these facts, found by their `id:` alone: a broken head keeps none of them.

    Facts that a merge took on or let expire say again what they said before, where that stands again.
    """
    text = data.decode("utf-8", "surrogateescape")
    said = {fact: one.text for one in put_back for fact in one.facts}
    count = 0
    changes: list[Splice] = []
    for item in loose_items(place, data).items:
        was = text[item.start : item.end]
        if item.id in fact_ids:
            now, count = "", count + 1
        else:
            now = _as_before(item, was, said.get(item.id))
        if now != was:
            changes.append((item.start, item.end, now))
    changed = spliced(text, changes).encode("utf-8", "surrogateescape")
    return (changed, count) if changed != data else (data, 0)


def index_without(fact_ids: Collection[str], data: bytes) -> Cut:
    """The index without the rows of these facts: a sync that remembers nothing would keep them."""
    index = read_index(data)
    rows = {key: row for key, row in index.rows.items() if key not in fact_ids}
    if len(rows) == len(index.rows):
        return data, 0
    return index_bytes(rows, index.last_updated), len(index.rows) - len(rows)


def _as_before(item: FactItem, was: str, said: str | None) -> str:
    if said is None or item.fact is None:
        return was
    whole = " ".join(said.split())
    return changed_item(was, replace(item.fact, text=short_text(whole, whole), expires=""))


# Text that was recalled for a message and stays in a log: emptied where it holds what is forgotten. Pure.

_RECALLED = late(rb'"retrieved":"[^"]|\\"retrieved\\":\\"(?!\\")')
"""In a record itself, or in the data of one that tells what a turn began with, or what stays behind its words."""

_CUT = b'"kind":"cut"'
_HEAD_CHARS = 100
"""Characters of a text's beginning by which it is found: what was recalled may have been cut."""


def without_recalled(data: bytes, words: Words) -> bytes:
    """A log without the texts that were recalled in it, where one of them is of what goes; as long as before.

    All of them go then: the model sees this discussion anew in any case, and what one of them says another may.
    """
    data = _without_told(data, words)
    if _RECALLED.search(data) is None:
        return data
    lines = data.split(b"\n")
    found = [(at, *told) for at, line in enumerate(lines) if (told := _recalling(line)) is not None]
    if not any(_is_of(text, words) for _, text, _ in found):
        return data
    for at, _, bare in found:
        lines[at] = _as_long(canonical_json(bare).encode("utf-8", "surrogatepass"), len(lines[at]))
    return b"\n".join(lines)


def _without_told(data: bytes, words: Words) -> bytes:
    """A log whose cuts tell nothing of the journal where entries of conversations that go stand in it."""
    if _CUT not in data:
        return data
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        row = _cut_of(line) if _CUT in line else None
        told = read_json(row["data_json"]) if row is not None else {}
        if row is not None and not set(words.discussions).isdisjoint(told.get("sources", ())):
            bare = canonical_json(told | {"journal": "", "sources": []})
            lines[at] = _as_long(
                canonical_json(row | {"data_json": bare}).encode("utf-8", "surrogatepass"), len(line)
            )
    return b"\n".join(lines)


def _cut_of(line: bytes) -> dict[str, Any] | None:
    """Row of a cut of a model's view, None for any other line."""
    try:
        row = read_json(line)
        is_one = isinstance(row, dict) and row.get("type") == "view" and row.get("kind") == "cut"
        return row if is_one and isinstance(read_json(row["data_json"]), dict) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _recalling(line: bytes) -> tuple[str, dict[str, Any]] | None:
    """Text that a line's record holds as recalled, and the record without it; None where it holds none."""
    if _RECALLED.search(line) is None:
        return None
    try:
        row = read_json(line)
        if row["type"] == "request":
            text, bare = row[RECALLED], row | {RECALLED: ""}
        elif row["type"] == "view" and row["kind"] == TAIL_KIND:
            data = read_json(row["data_json"])
            text, bare = data[RECALLED], row | {"data_json": canonical_json(data | {RECALLED: ""})}
        elif row["type"] == "view" and row["kind"] == TURN_KIND:
            data = read_json(row["data_json"])
            text = data["told"][RECALLED]
            bare = row | {"data_json": canonical_json(data | {"told": data["told"] | {RECALLED: ""}})}
        else:
            return None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (text, bare) if isinstance(text, str) and text else None


def _as_long(line: bytes, length: int) -> bytes:
    """The line with blanks behind its brace: its last keys, by which it is read quickly, stay where they are."""
    return line[:1] + b" " * (length - len(line)) + line[1:]


def _is_of(text: str, words: Words) -> bool:
    if any(one in text for one in words.discussions):
        return True
    said = " ".join(text.split())
    heads = (" ".join(one.split())[:_HEAD_CHARS] for one in words.texts)
    return any(head in said for head in heads)
