"""The receipt of a forgetting, and the words before it, for a person and for programs."""

from __future__ import annotations

from collections.abc import Mapping

from core.base.figures import count
from core.forgetting.places import CANNOT, place
from core.values.forgetting import ForgetReceipt

WARNING = "It cannot be undone: what is forgotten comes back from nowhere."
"""Said before every forgetting."""

_NO_NAMES: Mapping[str, str] = {}


def receipt_text(receipt: ForgetReceipt, names: Mapping[str, str] = _NO_NAMES) -> str:
    """The receipt as text. `names`: of discussions that are still there, by id."""
    lines = [f"{headline(receipt)}", "", "Removed, and how it was checked:"]
    for row in receipt.places:
        said = f"may be left: {row.problem}" if row.problem else row.checked
        lines.append(f"  {place(row.place).label}: {row.removed:,}; {said}")
    if receipt.holders:
        lines += ["", "Conversations that may still hold it:"]
        lines += [f"  {one}  {names.get(one, '')}".rstrip() for one in receipt.holders]
    lines += ["", "Cannot be reached from here:", *(f"  {one}" for one in CANNOT)]
    return "\n".join(lines) + "\n"


def headline(receipt: ForgetReceipt) -> str:
    """One sentence on what was forgotten."""
    if receipt.item:
        more = f" and {count(receipt.facts, 'fact')}" if receipt.facts else ""
        return f"Forgotten: an item{more}."
    said = f"Forgotten: {count(len(receipt.discussion_ids), 'conversation')}, {count(receipt.items, 'item')}"
    stay = f"; {count(receipt.kept_items, 'item')} also said elsewhere stayed" if receipt.kept_items else ""
    facts = f", {count(receipt.facts, 'fact')}" if receipt.facts else ""
    return f"{said}{facts}{stay}."


def receipt_data(receipt: ForgetReceipt) -> dict[str, object]:
    """The receipt as plain data, every field named."""
    return {
        "id": receipt.id,
        "at": receipt.at,
        "discussion_ids": list(receipt.discussion_ids),
        "item": receipt.item,
        "items": receipt.items,
        "facts": receipt.facts,
        "kept_items": receipt.kept_items,
        "places": [
            {
                "place": row.place,
                "label": place(row.place).label,
                "removed": row.removed,
                "checked": row.checked,
                "problem": row.problem,
            }
            for row in receipt.places
        ],
        "holders": list(receipt.holders),
        "cannot": list(CANNOT),
    }
