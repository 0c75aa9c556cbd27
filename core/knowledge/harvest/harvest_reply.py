"""A model's answer to a harvest: the schema that it is asked for, and the strict reader of the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import read_json
from core.kernel.frame import flat
from core.kernel.patterns import late
from core.kernel.secrets import scrub
from core.kernel.values.facts import FactCategory, Quote
from core.kernel.values.harvest import HarvestItem
from core.kernel.values.knowledge import Category, NewItem, Provenance
from core.knowledge.facts.fact_merge import NAMED_KINDS

ITEM_CATEGORIES = tuple(category.value for category in Category)
"""The seven arrays of a reply, in the order of the report."""

MAX_REPLY_CHARS = 2_000_000
"""A longer reply is no answer to what was asked."""

MAX_VALUE_CHARS = 2_000
"""A longer statement, name, path or note is no single sentence: its row is dropped."""

MAX_STEPS_CHARS = 8_000

MAX_ITEMS = 500
"""Items that one reply may give. Further ones are dropped and counted."""

SMALL_ITEMS, SMALL_CHARS = 2, 160
"""Items of each category and characters of each text in a bounded reply: a model that fills all of it still ends in time."""

_KEYS = {Category.PLAYBOOKS: ("name", "steps"), Category.FILES: ("path", "note")}
QUOTE_KEYS = ("message", "quote")
"""Optional keys of every item: the id of the message that supports it, and words of that message."""

REPLACE_KEYS = ("reason", "replaces")
"""Optional keys of every item: why a known item does not hold any more, and its id; the reason comes first."""

MAX_ID_CHARS = 40

KIND_KEY = "kind"
"""Optional key of a fact: the kind of structured fact."""

_STATEMENT = ("statement", "detail")
_FENCE = late(
    r"""\A\s*(`{3,}|~{3,})(?:[^\n`{]*(?=\{\s*["}])|[^\n`]*\n)(.*[^\s`~])\s*\1[`~]*\s*\Z""", re.DOTALL
)


class Reply(msgspec.Struct, frozen=True):
    """Content of a reply.

    Args:
        dropped: rows that were malformed, too long, or too many; unfound: quotes that stand nowhere in what was shown.
    """

    items: tuple[HarvestItem, ...]
    dropped: int = 0
    unfound: int = 0


class _Twice:
    """Stands for an object in which a key came twice: which one was meant cannot be told."""


def category_keys(category: Category) -> tuple[str, str]:
    """The names of a category's two fields: what must be there, and what goes with it."""
    return _KEYS.get(category, _STATEMENT)


def read_reply(text: str) -> Reply:
    """Read a model's reply.

    Args:
        text: one JSON object, with at most one code fence around it.

    Returns:
        Its items, cleaned, in the order of `Category`. A category that is missing or no list is empty; a
        malformed row is dropped and counted.

    Raises:
        ValueError: it is not one JSON object; the text says why.
    """
    data = reply_object(text)
    items: list[HarvestItem] = []
    dropped = 0
    for category in Category:
        rows = data.get(category)
        for row in rows if isinstance(rows, list) else ():
            item = _item(category, row) if len(items) < MAX_ITEMS else None
            if item is None:
                dropped += 1
            else:
                items.append(item)
    return Reply(items=tuple(items), dropped=dropped)


def by_category(items: Iterable[HarvestItem]) -> dict[str, list[dict[str, str]]]:
    """Items as the reply has them: seven lists of objects, without what they stand on."""
    found: dict[str, list[dict[str, str]]] = {category: [] for category in ITEM_CATEGORIES}
    for item in items:
        first, second = category_keys(item.category)
        found[item.category].append({first: item.head, second: item.body})
    return found


def new_item(item: HarvestItem, provenance: Provenance) -> NewItem:
    """An item as the store takes it."""
    if item.category in _KEYS:
        return NewItem(
            category=item.category,
            text=item.body,
            name=item.head,
            provenance=provenance,
            quote=item.quote,
            is_outside=item.is_outside,
        )
    return NewItem(
        category=item.category,
        text=item.head,
        detail=item.body,
        provenance=provenance,
        quote=item.quote,
        fact_category=item.kind if item.category is Category.FACTS else "",
    )


def reply_schema(*, is_small: bool = False) -> str:
    """The JSON Schema of a reply, canonical: closed objects in which every property is required.

    Args:
        is_small: bounds lists and texts, for a model that would go on until its room is used up, and asks for no
            quotes. Only where the provider turns a schema into a grammar: the vendors refuse bounds.

    Source: OpenAI "Structured model outputs" and Anthropic "Structured outputs", supported schemas (read 2026-11-20):
        every property required, `additionalProperties` false, no `maxLength`, no `maxItems`.
    """
    text = {"type": "string", **({"maxLength": SMALL_CHARS} if is_small else {})}
    bound = {"maxItems": SMALL_ITEMS} if is_small else {}
    quoted = () if is_small else (*QUOTE_KEYS, *REPLACE_KEYS)
    properties = {
        category.value: {
            "type": "array",
            "items": closed(dict.fromkeys((*category_keys(category), *quoted), text)),
            **bound,
        }
        for category in Category
    }
    if not is_small:
        fields = (*category_keys(Category.FACTS), *quoted)
        kind = {"type": "string", "enum": [FactCategory.FACT.value, *sorted(NAMED_KINDS)]}
        properties[Category.FACTS]["items"] = closed({**dict.fromkeys(fields, text), KIND_KEY: kind})
    return json.dumps(closed(properties), sort_keys=True, separators=(",", ":"))


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object that has these properties, all of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def reply_object(text: str) -> dict[str, Any]:
    """The one JSON object of a reply, a code fence around it taken off. Raises ValueError with the reason for any other text."""
    if len(text) > MAX_REPLY_CHARS:
        raise ValueError(f"the reply has {len(text):,} characters")
    fenced = _FENCE.match(text)
    try:
        data = read_json(
            fenced[2] if fenced else text.strip().removeprefix("\ufeff"),
            object_pairs_hook=_pairs,
            parse_constant=_refuse,
        )
    except ValueError as error:
        raise ValueError(f"not valid JSON: {error}") from error
    if isinstance(data, _Twice):
        raise ValueError("a key comes twice in the object")  # noqa: TRY004 - one kind of error for every fault
    if not isinstance(data, dict):
        raise ValueError(f"not a JSON object but {type(data).__name__}")  # noqa: TRY004
    return data


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Twice:
    data = dict(pairs)
    return data if len(data) == len(pairs) else _Twice()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _item(category: Category, row: Any) -> HarvestItem | None:
    if not isinstance(row, dict):
        return None
    first, second = category_keys(category)
    head, body = row.get(first), row.get(second, "")
    if not isinstance(head, str) or not isinstance(body, str):
        return None
    body_limit = MAX_STEPS_CHARS if category is Category.PLAYBOOKS else MAX_VALUE_CHARS
    if len(head) > MAX_VALUE_CHARS or len(body) > body_limit:
        return None
    said = head if category is Category.FILES else scrub(head)
    kind = row.get(KIND_KEY) if category is Category.FACTS else ""
    named = kind if isinstance(kind, str) and kind in NAMED_KINDS else ""
    quote, (replaces, reason) = _claimed(row), _replaced(row)
    made = cleaned(
        HarvestItem(
            category=category,
            head=said,
            body=scrub(body),
            quote=quote,
            replaces=replaces,
            reason=reason,
            kind=named,
        )
    )
    return made if is_whole(made) else None


def _replaced(row: dict[str, Any]) -> tuple[str, str]:
    """Id of the known item that a row replaces, and the reason; both empty unless both are there."""
    reason, name = (row.get(key, "") for key in REPLACE_KEYS)
    if not isinstance(reason, str) or not isinstance(name, str) or len(reason) > MAX_VALUE_CHARS:
        return "", ""
    words = scrub(flat(reason))
    return (name.strip()[:MAX_ID_CHARS], words) if name.strip() and words else ("", "")


def _claimed(row: dict[str, Any]) -> Quote:
    """Message and quote that a row names; anything but two short texts counts as no quote."""
    turn, text = (row.get(key, "") for key in QUOTE_KEYS)
    if not isinstance(turn, str) or not isinstance(text, str) or len(turn) + len(text) > MAX_VALUE_CHARS:
        return Quote()
    return Quote(turns=(turn.strip(),) if turn.strip() else (), text=text)


def cleaned(item: HarvestItem) -> HarvestItem:
    """The item on one line, without secrets and without characters that change how text looks. Idempotent."""
    head = item.head if item.category is Category.FILES else scrub(flat(item.head))
    return replace(item, head=flat(head), body=scrub(flat(item.body)))


def is_whole(item: HarvestItem) -> bool:
    """True if an item says something: playbooks need steps, notes a path and text."""
    match item.category:
        case Category.PLAYBOOKS | Category.FILES:
            return bool(item.head and item.body)
        case _:
            return any(char.isalnum() for char in item.head)
