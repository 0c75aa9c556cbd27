"""Knowledge in the state: when it is read anew, and what was read."""

from __future__ import annotations

from typing import get_args

from msgspec.structs import replace

from core.kernel.language import joined, tr
from core.kernel.secrets import scrubbed_line
from core.kernel.values.messages import Role
from core.kernel.values.records import MessageRecord
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import Handlers, Result, carry_out, dismiss, follow_effects, notify, on
from core.knowledge.knowledge_messages import (
    FACT_DELETED,
    ITEM_DELETED,
    ChangeKnowledge,
    CountMemoryUse,
    DeleteDigest,
    EvidenceRead,
    ExplainFact,
    ExplainItem,
    FollowDigest,
    KnowledgeChange,
    KnowledgeDeleted,
    KnowledgeEffect,
    KnowledgeRead,
    ListSeenItems,
    NoteInjection,
    NoteUse,
    ReadKnowledge,
    RegenerateDigest,
    RestoreFact,
    RestoreItem,
)
from core.talk.discussion.discussion_messages import RecordsAppended, ReplyToken
from core.talk.discussion.log_content import message_of
from core.talk.turn.turn_messages import KnowledgeSent


def _evidence_read(state: AppState, happened: EvidenceRead) -> Result:
    known = state.evidence
    if happened.seen is not None:
        known = replace(known, seen=happened.seen, seen_in=happened.seen_in)
    known = replace(known, shown=happened.shown or known.shown, use=happened.use or known.use)
    return replace(state, evidence=known), ()


def _offered(state: AppState, happened: KnowledgeDeleted) -> Result:
    """Offer what was deleted back: an item and a fact each have a notice, so that neither hides the other's."""
    notice = FACT_DELETED if isinstance(happened.undo, RestoreFact) else ITEM_DELETED
    said = tr("Deleted: {text}", text=scrubbed_line(happened.text, 100))
    return notify(state, notice, Level.INFO, said, action=happened.undo, action_label=tr("Undo")), ()


def sent(state: AppState, happened: KnowledgeSent) -> tuple[KnowledgeEffect, ...]:
    """Keep what a request held, where the home can be written."""
    if state.program.is_home_read_only or state.now is None:
        return ()
    where, message_id = happened.discussion_id, happened.message_id
    return (
        NoteInjection(
            discussion_id=where, message_id=message_id, model=happened.model, text=happened.text, at=state.now
        ),
    )


def replied(state: AppState, written: RecordsAppended) -> tuple[KnowledgeEffect, ...]:
    """Keep what a reply used of what went with its request, once it is on disk and where the home can be written."""
    opened = state.discussions.open.get(written.discussion_id)
    if opened is None or state.program.is_home_read_only or state.now is None:
        return ()
    if not isinstance(written.token, ReplyToken):
        return ()
    columns = opened.comparison.replies if opened.comparison is not None else ()
    if any(one.call_id == written.token.call_id and not one.asked.has_memory for one in columns):
        return ()  # it tells nothing of what memory is good for
    message = next((message_of(one) for one in written.records if isinstance(one, MessageRecord)), None)
    if message is None or message.role is not Role.ASSISTANT:
        return ()
    asked = next((one for one in reversed(opened.messages) if one.role is Role.USER), None)
    recall = next((one for one in state.context.sent_recall if asked and one.message_id == asked.id), None)
    return (
        NoteUse(
            discussion_id=written.discussion_id,
            message_id=message.id,
            model=message.model,
            asked=asked.text if asked is not None else "",
            reply=message.text,
            at=state.now,
            recall_tokens=recall.tokens_est if recall is not None else 0,
        ),
    )


def read_again(state: AppState) -> tuple[KnowledgeEffect, ...]:
    """Read everything again: a watched file changed."""
    return (ReadKnowledge(state.config.settings.knowledge, _candidates(state)),)


def change(state: AppState, command: KnowledgeChange) -> Result:
    """A person's change to what is known. Files that notes may have moved to matter where items or notes change."""
    if isinstance(command, RestoreFact | RestoreItem):
        state = dismiss(state, FACT_DELETED if isinstance(command, RestoreFact) else ITEM_DELETED)
    return state, (
        ChangeKnowledge(
            change=command,
            settings=state.config.settings.knowledge,
            candidates=() if isinstance(command, RegenerateDigest | DeleteDigest) else _candidates(state),
        ),
    )


def knowledge_read(state: AppState, event: KnowledgeRead) -> Result:
    """Take in the knowledge that was read. The same as before changes nothing."""
    found = event.knowledge
    if found == state.knowledge:
        return state, ()
    state = replace(state, knowledge=found)
    if not found.problems:
        return dismiss(state, "knowledge-files"), ()
    detail = joined("\n", found.problems[1:])
    return notify(state, "knowledge-files", Level.WARNING, found.problems[0], detail, is_standing=True), ()


def knowledge_effects(before: AppState, after: AppState) -> tuple[KnowledgeEffect, ...]:
    """Read knowledge when settings are first known or switch it, and when files with notes may have moved."""
    if not after.config.settings_paths:
        return ()
    is_first = (
        not before.config.settings_paths
        or before.config.settings.knowledge != after.config.settings.knowledge
    )
    if is_first:
        return read_again(after)
    if before.context.files is after.context.files or not after.knowledge.notes:
        return ()
    return read_again(after) if _candidates(before) != _candidates(after) else ()


def _candidates(state: AppState) -> tuple[str, ...]:
    """Files that notes may belong to, wherever these were moved."""
    found = {f.absolute_path for items in state.context.files.values() for item in items for f in item.files}
    return tuple(sorted(found - {""}))


HANDLERS = Handlers(
    *(on(kind, change) for kind in get_args(KnowledgeChange)),
    on(FollowDigest, carry_out),
    on(ExplainItem, carry_out),
    on(ExplainFact, carry_out),
    on(ListSeenItems, carry_out),
    on(CountMemoryUse, carry_out),
    on(KnowledgeRead, knowledge_read),
    on(EvidenceRead, _evidence_read),
    on(KnowledgeDeleted, _offered),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = follow_effects("config context knowledge", knowledge_effects)
