"""Modes of the memory: who may write, and what is written without being asked."""

from __future__ import annotations

from msgspec.structs import replace

from core.harvest.reader import is_small_model
from core.values.harvest import HarvestPreview, ProposedItem
from core.values.settings import KnowledgeSettings, MemoryMode
from core.values.state import AppState
from core.values.updates import dismiss

NOTICE = "harvest"
"""Id of the notice of the harvest."""

RECALL_ONLY = "Memory is set to recall only: no conversation is read for it, and nothing is written"
RECALL_REMEDY = "Choose another mode in the settings of the harvest (`ai_settings.knowledge.mode`)"
NOTHING_AUTOMATIC = "No category is ticked: nothing is written without being asked."


def is_recall_only(settings: KnowledgeSettings) -> bool:
    """True if no harvest may read a conversation or write what it found. A person still writes by hand."""
    return settings.mode == MemoryMode.RECALL


def writes_nothing_itself(settings: KnowledgeSettings) -> bool:
    """True if the automatic mode is chosen for no category, so that it is as if each write were confirmed."""
    return settings.mode == MemoryMode.AUTOMATIC and not settings.automatic_categories


def without_old_notice(before: AppState, after: AppState) -> AppState:
    """The state without the notice of recall only, once another mode is chosen: it does not hold any more."""
    was, now = before.config.settings.knowledge, after.config.settings.knowledge
    if was is now:
        return after
    is_told = any((one.id, one.text) == (NOTICE, RECALL_ONLY) for one in after.program.notices)
    return dismiss(after, NOTICE) if is_told and is_recall_only(was) and not is_recall_only(now) else after


def automatic_part(
    preview: HarvestPreview, settings: KnowledgeSettings, provider: str
) -> tuple[HarvestPreview, HarvestPreview]:
    """The part of a preview that is written without being asked, and the rest, which waits for the person.

    A conversation is written as a whole, for it counts as read then: one in which something waits, waits. What
    replaces a known item waits, and so does all that the person has touched or the built-in small model said.
    """
    is_on = settings.mode == MemoryMode.AUTOMATIC and not is_small_model(provider)
    ticked = frozenset(settings.automatic_categories)
    waiting = {one.artifact_path for one in preview.items if not is_on or _waits(one, ticked)}
    found = {one.artifact_path for one in preview.items if not one.is_known}
    chosen = {one.path for one in preview.sources if one.path in found} - waiting if is_on else set()
    return _of(preview, chosen, is_in=True), _of(preview, chosen, is_in=False)


def _waits(one: ProposedItem, ticked: frozenset[str]) -> bool:
    if one.is_known:
        return False
    is_touched = one.is_edited or one.is_tick_changed
    return (
        one.item.category.value not in ticked
        or one.replaces is not None
        or bool(one.deleted_on)
        or bool(one.near or one.near_here)
        or is_touched
    )


def _of(preview: HarvestPreview, paths: set[str], *, is_in: bool) -> HarvestPreview:
    sources = tuple(one for one in preview.sources if (one.path in paths) is is_in)
    items = tuple(one for one in preview.items if (one.artifact_path in paths) is is_in)
    part = replace(preview, sources=sources, items=items)
    return replace(part, failures=()) if is_in else part
