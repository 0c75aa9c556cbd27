"""Wording of an item, safe for its file: one line that opens no heading, closes no block, forges no tag."""

from __future__ import annotations

import re

from core.base.frame import without_blocks
from core.base.text import clean
from core.knowledge.provenance import with_tag
from core.values.knowledge import Category, NewItem

MAX_ITEM_CHARS = 10_000
"""A longer value is no item any more; it is cut with an ellipsis."""

_BREAKS = re.compile(
    r"(?<![ \t])[ \t]*+[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+[ \t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*"
)
_FORGED = re.compile(r"\[(?=\s*from\s*:)", re.IGNORECASE)
_OPENING = re.compile(r"(?:[-+*>]|#{1,6}|-{3,}|={3,})(?=\s|$)|>|`{3}|~{3}")
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s+(?:[-+*>#]|`{3}|~{3}))")


def safe_value(text: str) -> str:
    """A value on one line, at most `MAX_ITEM_CHARS`, that means nothing to Markdown, the digest or the parser."""
    flat = _BREAKS.sub(" ", clean(text[: MAX_ITEM_CHARS * 2])).strip()
    if len(flat) > MAX_ITEM_CHARS:
        flat = flat[: MAX_ITEM_CHARS - 1].rstrip() + "…"
    flat = without_blocks(_FORGED.sub("(", flat)).replace("<!--", "<! --")
    if _OPENING.match(flat):
        return f"\\{flat}"
    return _NUMBERED.sub(r"\1\\\2", flat, count=1) if _NUMBERED.match(flat) else flat


def item_body(item: NewItem) -> str:
    """Words of the item on its line, without dash and provenance; empty where it says nothing."""
    text, detail, name = safe_value(item.text), safe_value(item.detail), safe_value(item.name)
    whole = " — ".join(part for part in (text, detail) if part)
    if item.category is Category.PLAYBOOKS:
        title = re.sub(r"\*{2,}", "*", name).strip("* ")
        return f"**{title}**: {whole}" if title and whole else ""
    return whole


def item_line(item: NewItem) -> str:
    """The item's line without line end (`- statement [from: …]`), empty where it says nothing."""
    return line_of(item_body(item), item)


def line_of(body: str, item: NewItem) -> str:
    """The line of a body that was made safe before."""
    if not body:
        return ""
    return f"- {with_tag(body, item.provenance)}"
