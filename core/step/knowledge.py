"""Knowledge in the state: when it is read anew, and what was read."""

from __future__ import annotations

from dataclasses import replace

from core.step.base import Result, dismiss, notify
from core.values.commands import (
    AddKnowledgeItem,
    AttachNotes,
    DeleteKnowledgeItem,
    EditKnowledgeItem,
    SetTaskDone,
)
from core.values.effects import ChangeKnowledge, Effect, ReadKnowledge
from core.values.events import KnowledgeRead
from core.values.state import AppState, Level


def read_again(state: AppState) -> tuple[Effect, ...]:
    """Read everything again: a watched file changed."""
    return (ReadKnowledge(state.settings.knowledge, _candidates(state)),)


def change(
    state: AppState,
    command: AddKnowledgeItem | EditKnowledgeItem | DeleteKnowledgeItem | SetTaskDone | AttachNotes,
) -> Result:
    """A person's change to what is known."""
    return state, (ChangeKnowledge(command, state.settings.knowledge, _candidates(state)),)


def knowledge_read(state: AppState, event: KnowledgeRead) -> Result:
    """What is known now. The same as before changes nothing."""
    found = event.knowledge
    if found == state.knowledge:
        return state, ()
    state = replace(state, knowledge=found)
    if not found.problems:
        return dismiss(state, "knowledge-files"), ()
    detail = "\n".join(found.problems[1:])
    return notify(state, "knowledge-files", Level.WARNING, found.problems[0], detail), ()


def knowledge_effects(before: AppState, after: AppState) -> tuple[Effect, ...]:
    """Read knowledge when settings are first known or switch it, and when files with notes may have moved."""
    if not after.settings_paths:
        return ()
    is_first = not before.settings_paths or before.settings.knowledge != after.settings.knowledge
    if is_first:
        return read_again(after)
    if before.files is after.files or not after.knowledge.notes:
        return ()
    return read_again(after) if _candidates(before) != _candidates(after) else ()


def _candidates(state: AppState) -> tuple[str, ...]:
    """Files that notes may belong to, wherever these were moved."""
    found = {f.absolute_path for items in state.files.values() for item in items for f in item.files}
    return tuple(sorted(found - {""}))
