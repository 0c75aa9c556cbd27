"""The form in which the program writes an item, and a reader of that form alone: whatever differs is not read here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring

from core.base.json_text import read_json
from core.facts.places import plain
from core.values.facts import Fact, FactCategory

INDENT = "  "

_CATEGORIES: Mapping[str, FactCategory] = {category.value: category for category in FactCategory}
_CATEGORY = "|".join(_CATEGORIES)
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ID = rf"[a-z0-9][a-z0-9._-]{{0,99}}:(?:{_CATEGORY}):[0-9]{{3,9}}"
_CHAR = (
    r"[^\"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
    r"|\\(?:[\"\\bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})"
)
_TAG = r"[a-z][a-z0-9-]*+"
_ITEM = re.compile(
    rf"- id: ([a-z0-9][a-z0-9._-]{{0,99}}):({_CATEGORY}):([0-9]{{3,9}})\n"
    rf'  fact: "((?:{_CHAR})*+)"\n'
    rf"  category: ({_CATEGORY})\n"
    r'  domain: (?:"([a-z0-9._-]++)"|([a-z][a-z0-9._-]*+))\n'
    r"  confidence: ((?:0\.[0-9]{2}|1\.00))\n"
    rf"(?:  tags: \[({_TAG}(?:, {_TAG})*+)\]\n)?+"
    r"(?:  source_count: ([1-9][0-9]{0,8})\n)?+"
    rf"(?:  first_seen: ({_DAY})\n)?+"
    rf"(?:  last_confirmed: ({_DAY})\n)?+"
    rf"(?:  expires: ({_DAY})\n)?+"
    rf'(?:  related: \[("{_ID}"(?:, "{_ID}")*+)\]\n)?+'
    r"(?=\n*+(?:\S|\Z))"
)
_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
"""Tags and domains that YAML reads as a switch where they stand without quotes."""


def item_text(fact: Fact) -> str:
    """A fact as an item, with its last line end. Any fact may be written; optional fields stand where they are given."""
    rest = "".join([f"{INDENT}{key}: {value}\n" for key, value in optional_fields(fact).items()])
    return (
        f"- id: {fact.id}\n{INDENT}fact: {quoted(fact.text)}\n{INDENT}category: {fact.category.value}\n"
        f"{INDENT}domain: {plain(fact.domain)}\n{INDENT}confidence: {number(fact.confidence)}\n{rest}"
    )


def optional_fields(fact: Fact) -> dict[str, str]:
    """The fields of a fact that need not be given, as YAML, in their order; those that say nothing left out."""
    rows: dict[str, str] = {}
    if fact.tags:
        rows["tags"] = f"[{', '.join(map(plain, fact.tags))}]"
    if fact.source_count > 1 or fact.first_seen:
        rows["source_count"] = str(fact.source_count)
    if fact.first_seen:
        rows["first_seen"] = fact.first_seen
    if fact.last_confirmed:
        rows["last_confirmed"] = fact.last_confirmed
    if fact.expires:
        rows["expires"] = fact.expires
    if fact.related:
        rows["related"] = f"[{', '.join(map(quoted, fact.related))}]"
    return rows


@lru_cache(maxsize=1024)
def number(confidence: float) -> str:
    """A confidence as YAML: with two decimals, or as exactly as it was given."""
    text = f"{confidence:.2f}"
    return text if float(text) == confidence else format(Decimal(repr(confidence)), "f")


def quoted(text: str) -> str:
    """A text in double quotes, as JSON and YAML both read it; what YAML does not print is escaped."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", encode_basestring(text))


_UNPRINTED = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def read_item(text: str, start: int) -> tuple[Fact, int] | None:
    """Read the item that starts here, where it is exactly as `item_text` writes one.

    Args:
        text: of the whole file, LF line ends; start: of the item's dash, at the start of a line.

    Returns:
        The fact, its values not judged beyond their form, and where the item ends; None for any other form.
    """
    match = _ITEM.match(text, start)
    if match is None:
        return None
    (
        id_domain, id_category, sequence, said, category, quoted_domain, plain_domain, confidence,
        tags, source_count, first_seen, last_confirmed, expires, related,
    ) = match.groups()  # fmt: skip
    found_tags = tuple(tags.split(", ")) if tags else ()
    if plain_domain in _WORDS or not _WORDS.isdisjoint(found_tags):
        return None
    fact = Fact(
        f"{id_domain}:{id_category}:{sequence}",
        read_json(f'"{said}"') if "\\" in said else said,
        _CATEGORIES[category],
        quoted_domain or plain_domain,
        float(confidence),
        found_tags,
        int(source_count) if source_count else 1,
        first_seen or "",
        last_confirmed or "",
        expires or "",
        tuple(read_json(f"[{related}]")) if related else (),
    )
    return fact, match.end()
