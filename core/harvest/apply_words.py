"""Words for the applies of a home: which work each was, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from core.base.figures import count
from core.values.harvest import ApplyKind, ApplySummary, UndoReport


def apply_title(one: ApplySummary, names: Sequence[str]) -> str:
    """Title of an apply: its kind, and what it was made of.

    Args:
        names: of its `sources`, in order, as the person knows them.
    """
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    first = f"{names[0]}{more}" if names else ""
    match one.kind:
        case ApplyKind.MERGE:
            return f"Merge of {first or 'what was forgotten since'}"
        case ApplyKind.DRAFT:
            return "Draft of a playbook"
        case _ if first:
            return f"Harvest of {first}"
        case _ if one.forgotten:
            return "Harvest of what was forgotten since"
        case _:
            return "Removed without harvest" if one.reclaimed and not one.items else "Harvest"


def apply_line(one: ApplySummary) -> str:
    """Figures of an apply: `12 items · 3 conversations · 3 in the trash`; empty for work that has none."""
    if one.kind is not ApplyKind.HARVEST:
        return ""
    parts = (
        count(one.items, "item"),
        count(one.conversations, "conversation"),
        f"{one.forgotten:,} forgotten since" if one.forgotten else "",
        f"{one.reclaimed:,} in the trash" if one.reclaimed and not one.undone_at else "",
    )
    return " · ".join(filter(None, parts))


def merge_undone_words(undone: UndoReport | None, applies: Sequence[ApplySummary]) -> str:
    """Sentence after a merge was taken back; empty where the last undo was of something else, or there was none."""
    if undone is None:
        return ""
    found = next((one for one in applies if one.id == undone.apply_id), None)
    if found is None or found.kind is not ApplyKind.MERGE:
        return ""
    said = f"{apply_title(found, found.sources)} was taken back"
    if undone.left:
        changed = count(len(undone.left), "line")
        return f"{said}, but for {changed} that you changed since."
    return f"{said}: every item stands as it was."
