"""What a request points at in knowledge and in the harvest: only what the window shows can be named."""

from __future__ import annotations

import os
from collections.abc import Iterable

from core.hooks.refusals import RefusedError, unknown
from core.values.harvest import ArtifactClass, HarvestPreview
from core.values.knowledge import Item
from core.values.state import AppState


def stored_item(state: AppState, file: str, first_line: int, text: str) -> Item:
    """The item that stands there and says this. Raises RefusedError (404)."""
    known = state.knowledge
    held = [one.items for one in known.categories] + [one.items for one in known.notes]
    for item in (item for items in held for item in items):
        if (item.first_line, item.file, item.text) == (first_line, file, text):
            return item
    raise unknown("such item in", file, "See GET /api/knowledge")


def check_candidates(state: AppState, paths: Iterable[str]) -> None:
    """Whether each is the path of a conversation that may be harvested. Raises RefusedError (404, 409)."""
    by_path = {one.facts.path: one for one in state.harvest.look.artifacts}
    for path in paths:
        found = by_path.get(path)
        if found is None:
            raise unknown("conversation", path, "See `artifacts` of GET /api/harvest")
        if found.kind is not ArtifactClass.HARVEST:
            why = f"{path[:80]!r} is not to be harvested: {found.kind.value}, {found.why}".removesuffix(", ")
            raise RefusedError(409, "no_candidate", why, "See `artifacts` of GET /api/harvest")


def check_proposed(preview: HarvestPreview | None, item_ids: Iterable[str]) -> None:
    """Whether each is the id of an item of the preview. Raises RefusedError (404)."""
    known = frozenset(one.id for one in preview.items) if preview is not None else frozenset()
    for item_id in item_ids:
        if item_id not in known:
            raise unknown("proposed item", item_id, "See `preview` of GET /api/harvest")


def check_apply(state: AppState, apply_id: str) -> None:
    """Whether an apply can be undone; empty: whether any can. Raises RefusedError (404, 409)."""
    applies = state.harvest.look.applies
    chosen = [one for one in applies if one.id == apply_id or (not apply_id and not one.undone_at)]
    if apply_id and not chosen:
        raise unknown("apply", apply_id, "See `applies` of GET /api/harvest")
    if not chosen or chosen[0].undone_at:
        raise RefusedError(409, "nothing_to_do", "There is nothing to undo", "See `applies`")


def check_notes(state: AppState, file_id: str, path: str) -> None:
    """Whether these notes are there, and the path is an absolute one. Raises RefusedError (404, 422)."""
    if all(note.file_id != file_id for note in state.knowledge.notes):
        raise unknown("notes", file_id, "See `notes` of GET /api/knowledge")
    if not os.path.isabs(path) or os.path.normpath(path) != path:
        raise RefusedError(422, "wrong_body", f"{path[:80]!r} is no absolute path", "Give it without dots")
