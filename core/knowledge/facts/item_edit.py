"""Changes to a file of facts: one item replaced, added or taken out, and no other byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.kernel.values.facts import Fact, FactCategory
from core.knowledge.facts.fact_checks import FactPlace, fact_of, heading_of, id_parts, new_file, plain
from core.knowledge.facts.fact_file import FactFile, FactItem, headings, parse_file
from core.knowledge.facts.yaml_forms import (
    INDENT,
    item_text,
    number,
    optional_fields,
    quoted,
    read_item,
    read_yaml,
)

FIELDS = (
    "id", "fact", "category", "domain", "confidence", "tags", "source_count", "first_seen", "last_confirmed",
    "expires", "related",
)  # fmt: skip
_VALUE = (
    r"(\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\n]|'')*+'|\[[^\]#\n\"']*\]|[^#\s\[{\"'|>&!*\n](?:[^\n#]|(?<!\s)#)*?)"
)


Splice = tuple[int, int, str]
"""Start and end of a part of a text, and what stands in its place."""


def spliced(text: str, changes: Iterable[Splice]) -> str:
    """A text with other words in the place of some parts of it, which do not overlap; in any order. O(n)."""
    made, at = [], 0
    for start, end, now in sorted(changes):
        made += [text[at:start], now]
        at = end
    return "".join([*made, text[at:]])


def removed(file: FactFile, item: FactItem) -> str:
    """The file's text without an item."""
    return file.text[: item.start] + file.text[item.end :]


def added(file: FactFile, fact: Fact, written: str = "") -> str:
    """The file's text with a new item at the end of its section, which is made where it is missing.

    Args:
        written: the item as a person wrote it, empty for the program's own form.
    """
    end = line_end(file.text)
    text = file.text if file.text.endswith("\n") else file.text + end
    heading = heading_of(file.place, fact.category)
    item = written or item_text(fact).replace("\n", end)
    found = list(headings(text, file.items))
    at = len(text)
    if heading:
        mine = [n for n, (title, _, _) in enumerate(found) if title.casefold() == heading.casefold()]
        if not mine:
            return f"{text}{end}## {heading}{end}{end}{item}"
        if mine[-1] + 1 < len(found):
            at = found[mine[-1] + 1][1]
    words = len(text[:at].rstrip())
    at = min(at, text.find("\n", words) + 1 or len(text))
    is_behind_item = any(one.end == at for one in file.items)
    return text[:at] + ("" if is_behind_item else end) + item + text[at:]


def changed_item(item: str, fact: Fact) -> str:
    """An item's text with the fields of another fact; fields that do not differ, unknown ones and comments as they are."""
    own = read_item(item, 0)
    if own is not None and own[1] == len(item):
        return item_text(fact)
    end = line_end(item)
    row = _row(item)
    if row is None:
        return item_text(fact).replace("\n", end)
    before, _ = fact_of(row, _place_fields(fact))
    changed = item if before is None else _with_fields(item, before, fact)
    if _says(changed, row, fact):
        return changed
    unknown = {key: value for key, value in row.items() if key not in FIELDS}
    return (item_text(fact) + _dumped(unknown)).replace("\n", end)


def with_category(item: str, fact_id: str) -> str:
    """An item that left its category to its file, with the one that its id names; any other as it is."""
    parts, row = id_parts(fact_id), _row(item)
    if parts is None or row is None or "category" in row:
        return item
    return _with_lines(item, {"category": parts[1].value})


def line_end(text: str) -> str:
    """The line end that a text uses, by its first line."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def written_fields(fact: Fact) -> dict[str, str]:
    """Each field of a fact as YAML."""
    return {
        "id": fact.id,
        "fact": quoted(fact.text),
        "category": fact.category.value,
        "domain": plain(fact.domain),
        "confidence": number(fact.confidence),
        **optional_fields(fact),
    }


def _with_fields(item: str, before: Fact, fact: Fact) -> str:
    """Change the lines of those fields that differ; add those that are new at the end."""
    old, new = written_fields(before), written_fields(fact)
    return _with_lines(item, {key: new.get(key) for key in FIELDS if old.get(key) != new.get(key)})


def _with_lines(item: str, values: Mapping[str, str | None]) -> str:
    """An item with these fields as YAML, without those that are None."""
    end = line_end(item)
    lines = [line.removesuffix("\r") for line in item.removesuffix("\n").split("\n")]
    indent = len(lines[0]) - len(lines[0][1:].lstrip())
    for key, value in values.items():
        lines = _with_field(lines, indent, key, value)
    return end.join(lines) + end


def _with_field(lines: list[str], indent: int, key: str, value: str | None) -> list[str]:
    start = re.compile(rf"(?:-{' ' * (indent - 1)}|{' ' * indent})[\"']?{key}[\"']?[ \t]*:(?=\s|$)")
    at = next((n for n, line in enumerate(lines) if start.match(line)), None)
    if at is None:
        return lines if value is None else [*lines, f"{' ' * indent}{key}: {value}"]
    last = at + 1
    while last < len(lines) and _continues(lines[last], indent):
        last += 1
    if value is None:
        return lines if at == 0 else [*lines[:at], *lines[last:]]
    named = start.match(lines[at])
    assert named is not None
    rest = re.fullmatch(rf"[ \t]+{_VALUE}([ \t]+#.*)?[ \t]*", lines[at][named.end() :])
    comment = rest[2] or "" if rest is not None and last == at + 1 else ""
    return [*lines[:at], f"{named[0]} {value}{comment}", *lines[last:]]


def _continues(line: str, indent: int) -> bool:
    """True if a line belongs to the field above it: it is blank, deeper, or an item of its list."""
    depth = len(line) - len(line.lstrip())
    return not line.strip() or depth > indent or (depth == indent and line.lstrip().startswith("- "))


def _says(item: str, row: Mapping[Any, Any], fact: Fact) -> bool:
    """True if an item says this fact, and of unknown fields the same as before."""
    now = _row(item)
    if now is None or fact_of(now, _place_fields(fact))[0] != fact:
        return False
    return {k: v for k, v in now.items() if k not in FIELDS} == {
        k: v for k, v in row.items() if k not in FIELDS
    }


def _place_fields(fact: Fact) -> Mapping[str, str]:
    """Domain and category that an item may leave to its file: a fact has them of its id, so that no change moves them."""
    return {"domain": fact.domain, "category": fact.category.value}


def _row(item: str) -> Mapping[Any, Any] | None:
    read = read_yaml(item)
    if not isinstance(read, list) or len(read) != 1 or not isinstance(read[0], Mapping):
        return None
    return read[0]


def _dumped(row: Mapping[Any, Any]) -> str:
    """Fields that this program does not know, as they follow its own."""
    import yaml

    if not row:
        return ""
    text = str(yaml.safe_dump(dict(row), allow_unicode=True, sort_keys=False, width=10_000))
    return "".join(f"{INDENT}{line}\n" for line in text.splitlines())


# Facts written into the text of their file: an item that is there is replaced, one that is not is added.


def with_facts(place: FactPlace, data: bytes, facts: Sequence[Fact], day: str) -> bytes:
    """Have these facts in a file; items that say so already, and every other byte, stay as they are.

    Args:
        data: the whole file, empty where there is none; day: ISO 8601, for a new one.

    Returns:
        The new content; `data` itself where the file cannot be read.
    """
    file = parse_file(place, data or new_file(place, day).encode())
    if file.is_broken:
        return data
    wanted = {fact.id: fact for fact in facts}
    changes: list[Splice] = []
    for item in reversed(file.items):
        fact = wanted.pop(item.id, None)
        if fact is not None and item.fact != fact:
            was = file.text[item.start : item.end]
            changes.append((item.start, item.end, changed_item(was, fact)))
    text = spliced(file.text, changes)
    by_category: dict[FactCategory, list[Fact]] = {}
    for fact in wanted.values():
        by_category.setdefault(fact.category, []).append(fact)
    for several in by_category.values():
        written = "".join(map(item_text, several)).replace("\n", line_end(text))
        text = added(parse_file(place, text.encode()), several[0], written)
    return text.encode() if text != file.text or not data or facts else data


def with_item_text(file: FactFile, fact_id: str, item: str, at: int) -> str | None:
    """The file's text with an item as it was written, where it stood, else at the end of its section.

    Args:
        item: its text with every comment; at: offset in characters.

    Returns:
        None where that is no such fact, or not one alone.
    """
    fact = _fact_in(file, fact_id, item)
    if fact is None:
        item = with_category(item, fact_id)
        fact = _fact_in(file, fact_id, item)
    if fact is None:
        return None
    for text in (file.text[:at] + item + file.text[at:], added(file, fact, item)):
        made = parse_file(file.place, text.encode())
        is_there = any(one.fact == fact for one in made.items)
        if is_there and len(made.items) == len(file.items) + 1 and len(made.problems) <= len(file.problems):
            return text
    return None


def _fact_in(file: FactFile, fact_id: str, item: str) -> Fact | None:
    """The fact of an item as it would be read in a file."""
    alone = parse_file(file.place, (file.text[: file.head_end] + item).encode())
    return next((one.fact for one in alone.items if one.id == fact_id and one.fact is not None), None)
