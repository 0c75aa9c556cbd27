"""The receipt of a forgetting, and the words before it, for a person and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.app.forgetting.forgetting_places import CANNOT, READ_AGAIN, place
from core.kernel.figures import count
from core.kernel.values.forgetting import ForgetPreview, ForgetReceipt, PlaceReport

WARNING = "It cannot be undone: nothing brings back what is forgotten."
"""Said before every forgetting."""

DELETE_SAYS = "Delete takes an item out of what the model is told; Undo brings it back, and a harvest may find it again."
FORGET_SAYS = (
    "Forget takes every copy out of this program, history and quotes too, and no harvest proposes it again."
)
"""The difference between the two, a sentence each."""

_NO_NAMES: Mapping[str, str] = {}


def receipt_text(receipt: ForgetReceipt, names: Mapping[str, str] = _NO_NAMES) -> str:
    """The receipt as text. `names`: of discussions that are still there, in the trash too, by id."""
    lines = [headline(receipt), "", *(f"  {line}" for line, _ in found_lines(receipt))]
    if bare := nothing_found(receipt):
        lines += ["", bare]
    if receipt.holders:
        lines += ["", HOLDERS, *(f"  {one}  {names.get(one, '')}".rstrip() for one in receipt.holders)]
    lines += ["", CANNOT_SAYS, *(f"  {one}" for one in CANNOT)]
    return "\n".join(lines) + "\n"


HOLDERS = "Conversations that still hold words of it, each with a Forget of its own:"
CANNOT_SAYS = "Out of reach of this program:"


def found_lines(receipt: ForgetReceipt) -> list[tuple[str, bool]]:
    """Lines on what was found and done, each with whether something may be left there. What is said of many is said once."""
    rows = [(row, place(row.place)) for row in receipt.places]
    lines = [
        (_place_line(row), bool(row.problem))
        for row, its in rows
        if row.problem or (row.removed and its.counted[0])
    ]
    whole = [its.label for row, its in rows if row.removed and not row.problem and not its.counted[0]]
    if whole:
        lines.append((f"Emptied, or made anew without it: {', '.join(whole)}", False))
    if any(row.removed and row.checked == READ_AGAIN for row, _ in rows):
        lines.append(("What stays of knowledge was read again: none of the words stand there", False))
    return lines


def _place_line(row: PlaceReport) -> str:
    where = place(row.place)
    one, many = where.counted
    said = (
        count(row.removed, one, many)
        if one and row.removed
        else f"{where.label[:1].upper()}{where.label[1:]}"
    )
    more = row.problem or ("" if row.checked == READ_AGAIN else row.checked)
    return f"{said}: {more}" if more else said


def nothing_found(receipt: ForgetReceipt) -> str:
    """Places in which there was nothing of it, in one line; empty where there is none."""
    bare = [
        place(row.place).label
        for row in receipt.places
        if not row.removed and not row.problem and row.checked
    ]
    return f"Looked through, nothing of it found: {', '.join(bare)}." if bare else ""


def preview_text(preview: ForgetPreview) -> str:
    """Sentence on what goes, before it does."""
    is_item = preview.target.category is not None
    branches = len(preview.target.discussion_ids) - 1
    figures = (
        (0 if is_item else preview.items, "item", "items"),
        (preview.facts, "structured fact", "structured facts"),
        (branches, "branch", "branches"),
    )
    goes = [count(number, one, many) for number, one, many in figures if number > 0]
    total = sum(number for number, _, _ in figures if number > 0)
    verb = "goes" if total == 1 else "go"
    said = f"With it {verb} {_listed(goes)}." if goes else "Nothing else goes with it."
    kept = preview.kept_items
    stay = f" {count(kept, 'item')} said elsewhere too {'stays' if kept == 1 else 'stay'}." if kept else ""
    return said + stay


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def headline(receipt: ForgetReceipt) -> str:
    """One sentence on what was forgotten."""
    if receipt.item:
        more = f" and {count(receipt.facts, 'fact')}" if receipt.facts else ""
        return f"Forgotten: an item{more}."
    said = f"Forgotten: {count(len(receipt.discussion_ids), 'conversation')}, {count(receipt.items, 'item')}"
    stay = f"; {count(receipt.kept_items, 'item')} also said elsewhere stayed" if receipt.kept_items else ""
    facts = f", {count(receipt.facts, 'fact')}" if receipt.facts else ""
    mixed = (
        f"; {count(receipt.blended, 'merged item')} with words of it and of others stayed, look at "
        f"{'it' if receipt.blended == 1 else 'them'}"
        if receipt.blended
        else ""
    )
    return f"{said}{facts}{stay}{mixed}."


def receipt_data(receipt: ForgetReceipt, names: Mapping[str, str] = _NO_NAMES) -> dict[str, object]:
    """The receipt as plain data, every field named. `names`: as of `receipt_text`."""
    return {
        "id": receipt.id,
        "at": receipt.at,
        "discussion_ids": list(receipt.discussion_ids),
        "item": receipt.item,
        "items": receipt.items,
        "facts": receipt.facts,
        "kept_items": receipt.kept_items,
        "blended": receipt.blended,
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
        "holder_names": {one: names.get(one, "") for one in receipt.holders},
        "recalls": list(receipt.recalls),
        "cannot": list(CANNOT),
    }
