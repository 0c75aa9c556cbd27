"""Known items that new ones replace: struck through where they stand, so that an undo can bring them back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.base import paths
from core.evidence.strikes import struck
from core.knowledge.categories import find_item, parse_file
from core.knowledge.file_writer import read_bytes
from core.knowledge.parts import SwapPlan
from core.knowledge.provenance import with_tag
from core.values.knowledge import Item, Placed


def swaps_of(home: Path, placed: Iterable[Placed], day: str) -> dict[Placed, SwapPlan]:
    """The lines that are struck through, by the new item that replaces each; an item is replaced once.

    Args:
        day: `YYYY-MM-DD`, of the pointer.

    Raises:
        StorageError: a file cannot be read.
    """
    found: dict[Placed, SwapPlan] = {}
    for one in placed:
        known = one.raw.replaces
        if known is None or not one.is_new:
            continue
        before = _lines(home, known.item)
        if before and before not in {swap.before for swap in found.values()}:
            after = f"- {with_tag(struck(known.item.text, one.item.text, day), known.item.provenance)}"
            found[one] = SwapPlan(known.item.file, before, after)
    return found


def _lines(home: Path, wanted: Item) -> str:
    """An item's lines as they stand now, empty where it is gone or is no text."""
    data = read_bytes(paths.knowledge_dir(home) / wanted.file)
    item = find_item(parse_file(wanted.file, data), wanted)
    if item is None:
        return ""
    lines = data.split(b"\n")[item.first_line - 1 : item.last_line]
    try:
        return "\n".join(line.removesuffix(b"\r").decode() for line in lines).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return ""
