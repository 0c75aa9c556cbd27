"""Records that reached the disk, and those that did not: applied to state only once they are durable."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from core.log_view import apply
from core.step.base import Input, Result, dismiss, notify, with_open, with_summary
from core.step.replies import REPLY_MARK, reply_saved
from core.step.sending import find_call, prompt_saved
from core.text import clean, one_line
from core.values.commands import DeleteMessage, EditMessage, RestoreMessage
from core.values.discussion import DiscussionSummary, OpenDiscussion
from core.values.effects import AppendRecords, Effect, IndexDiscussion
from core.values.events import RecordsAppended, WriteFailed
from core.values.mapping import with_entry, without
from core.values.messages import Message, Role, TextPart
from core.values.records import DeleteRecord, EditRecord, MessageRecord, Record, RestoreRecord, UsageRecord
from core.values.state import AppState, Level, PendingWrite
from core.values.usage import add_usage

RETRY_WRITE_AFTER = timedelta(seconds=5)
DAY = timedelta(days=1)


def appended(state: AppState, given: Input, event: RecordsAppended) -> Result:
    """Records are durable: apply them, then let what waited for them go on."""
    opened = state.open.get(event.discussion_id)
    if opened is not None:
        state = with_open(state, _applied(opened, event.records))
    state = _update_summary(_add_spent(state, event.records), given, event)
    state = _write_succeeded(state, event.token)
    index: tuple[Effect, ...] = (IndexDiscussion(event.discussion_id),)
    if event.token.startswith(REPLY_MARK):
        call = find_call(state, event.token.removeprefix(REPLY_MARK))
        return (reply_saved(state, call) if call is not None else state), index
    call = find_call(state, event.token)
    if call is None:
        return state, index
    state, effects = prompt_saved(state, given, call, event.records)
    return state, (*effects, *index)


def _add_spent(state: AppState, records: tuple[Record, ...]) -> AppState:
    """Add what calls cost to the day's sum; unknown prices add nothing."""
    if state.spent_today_usd is None:
        return state
    cost = sum(r.usage.cost_usd or 0.0 for r in records if isinstance(r, UsageRecord))
    return replace(state, spent_today_usd=state.spent_today_usd + cost) if cost else state


def new_day(state: AppState) -> AppState:
    """Begin the day's sum anew past the person's midnight."""
    start, now = state.day_start, state.now
    if start is None or now is None or now < start + DAY:
        return state
    return replace(state, day_start=start + DAY * ((now - start) // DAY), spent_today_usd=0.0)


def _applied(opened: OpenDiscussion, records: tuple[Record, ...]) -> OpenDiscussion:
    """Apply records; a failure that the person has not answered yet stays, also after a part of a reply."""
    failure, failed_id = opened.failure, opened.failed_message_id
    for record in records:
        opened = apply(opened, record)
    return opened if failure is None else replace(opened, failure=failure, failed_message_id=failed_id)


def _update_summary(state: AppState, given: Input, event: RecordsAppended) -> AppState:
    summary = state.summaries.get(event.discussion_id)
    if summary is None:
        return state
    for record in event.records:
        summary = _summarise(summary, record)
    return with_summary(state, replace(summary, updated_at=given.at))


def _summarise(summary: DiscussionSummary, record: Record) -> DiscussionSummary:
    """Add one record to a row's figures."""
    if isinstance(record, UsageRecord):
        return replace(summary, usage=add_usage(summary.usage, record.usage))
    if isinstance(record, MessageRecord):
        text = "\n".join(part.text for part in record.parts if isinstance(part, TextPart))
        turns = summary.turns + (record.role is Role.USER)
        return replace(summary, turns=turns, preview=one_line(text, 160) or summary.preview)
    return summary


def _write_succeeded(state: AppState, token: str) -> AppState:
    if token in state.pending:
        state = replace(state, pending=without(state.pending, token))
    return dismiss(dismiss(state, "disk"), "quit") if not state.pending else state


def write_failed(state: AppState, given: Input, event: WriteFailed) -> Result:
    """Say it. A prompt stays in the composer; a paid reply is kept and written again until it is on disk."""
    state = notify(state, "disk", Level.ERROR, event.text, event.detail)
    if event.token.startswith(REPLY_MARK):
        write = PendingWrite(event.discussion_id, event.records, given.at + RETRY_WRITE_AFTER, True)
        return replace(state, pending=with_entry(state.pending, event.token, write)), ()
    call = find_call(state, event.token)
    if call is not None:
        state = replace(state, calls=without(state.calls, call.discussion_id))
    return state, ()


def retry_pending(state: AppState, given: Input) -> Result:
    """Write again what is due; a clock that was set back does not put it off."""
    due = {
        token: write
        for token, write in state.pending.items()
        if not given.at < write.retry_at <= given.at + RETRY_WRITE_AFTER
    }
    if not due:
        return state, ()
    later = {token: replace(write, retry_at=given.at + RETRY_WRITE_AFTER) for token, write in due.items()}
    effects = tuple(
        AppendRecords(write.discussion_id, write.records, token, write.drops_reply_journal)
        for token, write in due.items()
    )
    return replace(state, pending={**state.pending, **later}), effects


def edit_message(state: AppState, given: Input, command: EditMessage) -> Result:
    """Replace a message's text; attachments, reasoning and tool parts stay."""
    message = _find(state.open.get(command.discussion_id), command.message_id)
    text = clean(command.text)
    if message is None or text == message.text:
        return state, ()
    rest = tuple(part for part in message.parts if not isinstance(part, TextPart))
    parts = (TextPart(text), *rest) if text.strip() else rest
    record = EditRecord(given.make_id(), given.at, message.id, parts)
    return state, (AppendRecords(command.discussion_id, (record,)),)


def delete_message(state: AppState, given: Input, command: DeleteMessage) -> Result:
    """Take a message out of the discussion; it stays in the log."""
    message = _find(state.open.get(command.discussion_id), command.message_id)
    if message is None or message.is_deleted:
        return state, ()
    record = DeleteRecord(given.make_id(), given.at, message.id)
    return state, (AppendRecords(command.discussion_id, (record,)),)


def restore_message(state: AppState, given: Input, command: RestoreMessage) -> Result:
    """Put a deleted message back."""
    message = _find(state.open.get(command.discussion_id), command.message_id)
    if message is None or not message.is_deleted:
        return state, ()
    record = RestoreRecord(given.make_id(), given.at, message.id)
    return state, (AppendRecords(command.discussion_id, (record,)),)


def _find(opened: OpenDiscussion | None, message_id: str) -> Message | None:
    if opened is None:
        return None
    return next((e for e in opened.entries if isinstance(e, Message) and e.id == message_id), None)
