"""Records that reached the disk, and those that did not: applied to state only once they are durable."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import tr
from core.kernel.secrets import scrubbed_line
from core.kernel.structures import with_entry, without
from core.kernel.values.discussion import DiscussionSummary, OpenDiscussion, is_partial
from core.kernel.values.messages import AttachmentPart, Message, Part, Role, Status, TextPart
from core.kernel.values.records import (
    ChooseRecord,
    DeleteRecord,
    EditRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    UsageRecord,
    ViewRecord,
)
from core.kernel.values.state import AppState, CommandOutcome, Level, PendingWrite
from core.kernel.values.updates import (
    Result,
    conclude,
    decline,
    dismiss,
    is_busy,
    notify,
    with_open,
    with_summary,
)
from core.kernel.values.usage import add_usage
from core.services.spending.limits import add_spent
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    ChooseVersion,
    DeleteMessage,
    EditMessage,
    IndexDiscussion,
    RecordsAppended,
    ReplyToken,
    RestoreMessage,
    ResultToken,
    WriteFailed,
    WriteToken,
)
from core.talk.discussion.log_content import apply

PARTED = "call-parted"
"""Notice: a message of tools was to be edited or deleted."""

RETRY_WRITE_AFTER = timedelta(seconds=5)


def appended(state: AppState, given: Stamp, event: RecordsAppended) -> Result:
    """Records are durable: apply them. What waited for them goes on in the room that asked."""
    opened = state.discussions.open.get(event.discussion_id)
    if opened is not None:
        state = with_open(state, _applied(opened, event.records))
    state = _update_summary(add_spent(state, event.records), given, event)
    is_listed = any(not isinstance(one, RequestRecord | ViewRecord) for one in event.records)
    # What only tells of a request is in no list and no search: the reply's records bring the index past it.
    return _write_succeeded(state, event.token), (IndexDiscussion(event.discussion_id),) if is_listed else ()


def _applied(opened: OpenDiscussion, records: tuple[Record, ...]) -> OpenDiscussion:
    """Apply records; a failure that the person has not answered yet stays, also after a part of a reply."""
    failure, failed_id = opened.failure, opened.failed_message_id
    for record in records:
        opened = apply(opened, record)
        if isinstance(record, ChooseRecord) and record.target_id == opened.asked_version:
            opened = replace(opened, asked_version="")
    said = {record.id for record in records}
    if any(prompt.id in said for prompt in opened.queue):
        opened = replace(opened, queue=tuple(prompt for prompt in opened.queue if prompt.id not in said))
    return opened if failure is None else replace(opened, failure=failure, failed_message_id=failed_id)


def _update_summary(state: AppState, given: Stamp, event: RecordsAppended) -> AppState:
    summary = state.discussions.summaries.get(event.discussion_id)
    if summary is None:
        return state
    for record in event.records:
        summary = _summarise(summary, record)
    opened = state.discussions.open.get(event.discussion_id)
    if opened is not None and any(isinstance(record, ChooseRecord) for record in event.records):
        summary = replace(summary, turns=_turns(opened), preview=_preview(opened))
    if opened is not None:
        summary = replace(
            summary, is_unanswered=bool(opened.unanswered_id), is_partial=is_partial(opened.entries)
        )
    if event.records and all(isinstance(one, UsageRecord) and one.is_upkeep for one in event.records):
        return with_summary(state, replace(summary, upkept_at=given.at))
    return with_summary(state, replace(summary, updated_at=given.at))


def _summarise(summary: DiscussionSummary, record: Record) -> DiscussionSummary:
    """Add one record to a row's figures."""
    if isinstance(record, UsageRecord) and not record.is_inherited:
        upkeep = summary.upkeep.with_call(record.kind, record.usage)
        return replace(summary, usage=add_usage(summary.usage, record.usage), upkeep=upkeep)
    if isinstance(record, MessageRecord):
        text = "\n".join(part.text for part in record.parts if isinstance(part, TextPart))
        turns = summary.turns + (record.role is Role.USER)
        preview = scrubbed_line(text, 160) or summary.preview
        return replace(
            summary,
            turns=turns,
            preview=preview,
            is_unanswered=record.role is Role.USER,
            is_partial=record.role is Role.ASSISTANT and record.status is Status.PARTIAL,
        )
    return summary


def _turns(opened: OpenDiscussion) -> int:
    return sum(message.role is Role.USER for message in opened.messages)


def _preview(opened: OpenDiscussion) -> str:
    return next((text for m in reversed(opened.messages) if (text := scrubbed_line(m.text, 160))), "")


def _write_succeeded(state: AppState, token: WriteToken | None) -> AppState:
    if isinstance(token, ReplyToken | ResultToken) and token.call_id in state.discussions.pending:
        state = replace(
            state,
            discussions=replace(state.discussions, pending=without(state.discussions.pending, token.call_id)),
        )
    return dismiss(dismiss(state, "disk"), "quit") if not state.discussions.pending else state


def write_failed(state: AppState, given: Stamp, event: WriteFailed) -> AppState:
    """Report a failed write. A paid reply is kept and written again until it is on disk."""
    state = notify(state, "disk", Level.ERROR, event.text, event.detail)
    if not isinstance(event.token, ReplyToken | ResultToken):
        return state
    retry_at = given.at + RETRY_WRITE_AFTER
    is_result = isinstance(event.token, ResultToken)
    write = PendingWrite(
        discussion_id=event.discussion_id,
        records=event.records,
        retry_at=retry_at,
        problem=event.text,
        remedy=event.detail,
        is_result=is_result,
    )
    return replace(
        state,
        discussions=replace(
            state.discussions, pending=with_entry(state.discussions.pending, event.token.call_id, write)
        ),
    )


def retry_pending(state: AppState, given: Stamp) -> Result:
    """Write again what is due; a clock that was set back does not put it off."""
    due = {
        call_id: write
        for call_id, write in state.discussions.pending.items()
        if not given.at < write.retry_at <= given.at + RETRY_WRITE_AFTER
    }
    if not due:
        return state, ()
    later = {name: replace(write, retry_at=given.at + RETRY_WRITE_AFTER) for name, write in due.items()}
    effects = tuple(
        AppendRecords(discussion_id=write.discussion_id, records=write.records, token=_token(call_id, write))
        for call_id, write in due.items()
    )
    return replace(
        state, discussions=replace(state.discussions, pending={**state.discussions.pending, **later})
    ), effects


def _token(call_id: str, write: PendingWrite) -> WriteToken:
    return ResultToken(call_id) if write.is_result else ReplyToken(call_id)


def edit_message(state: AppState, given: Stamp, command: EditMessage) -> Result:
    """Replace a message's text and take attachments off it; reasoning and tool parts stay.

    Like all that a person asks of a message it is written also where the state shows it already: what they asked
    before may not be on disk yet, and the last word counts. A log passes over what changes nothing.
    """
    message = _find(state.discussions.open.get(command.discussion_id), command.message_id)
    text = clean(command.text)
    if message is None:
        return state, ()
    if message.is_of_tools:
        return _refused(
            state,
            command.discussion_id,
            tr("You cannot edit a tool's result, or a reply that asked for one."),
        ), ()
    parts = with_text(message, text, command.detached)
    record = EditRecord(id=given.make_id(), at=given.at, target_id=message.id, parts=parts)
    return state, (AppendRecords(discussion_id=command.discussion_id, records=(record,)),)


def _refused(state: AppState, discussion_id: str, text: str) -> AppState:
    """Say why a message of tools stays: without its call no result may be sent, nor a call without its result."""
    detail = tr(
        "That would separate a call from its result. Branch from an earlier message, or forget the conversation."
    )
    return notify(state, PARTED, Level.WARNING, text, detail, discussion_id=discussion_id)


def with_text(message: Message, text: str, detached: tuple[str, ...] = ()) -> tuple[Part, ...]:
    """Parts of a message with other words and without the attachments of these digests; the other parts stay."""
    rest = tuple(part for part in message.parts if not _is_replaced(part, detached))
    return (TextPart(text), *rest) if text.strip() else rest


def _is_replaced(part: Part, detached: tuple[str, ...]) -> bool:
    if isinstance(part, AttachmentPart):
        return part.sha256 in detached or part.key in detached
    return isinstance(part, TextPart)


def delete_message(state: AppState, given: Stamp, command: DeleteMessage) -> Result:
    """Take a message out of the discussion; it stays in the log."""
    message = _find(state.discussions.open.get(command.discussion_id), command.message_id)
    if message is None:
        return state, ()
    if message.is_of_tools:
        return _refused(
            state,
            command.discussion_id,
            tr("You cannot delete a tool's result, or a reply that asked for one."),
        ), ()
    record = DeleteRecord(id=given.make_id(), at=given.at, target_id=message.id)
    return state, (AppendRecords(discussion_id=command.discussion_id, records=(record,)),)


def restore_message(state: AppState, given: Stamp, command: RestoreMessage) -> Result:
    """Put a deleted message back."""
    message = _find(state.discussions.open.get(command.discussion_id), command.message_id)
    if message is None:
        return state, ()
    record = RestoreRecord(id=given.make_id(), at=given.at, target_id=message.id)
    return state, (AppendRecords(discussion_id=command.discussion_id, records=(record,)),)


def choose_version(state: AppState, given: Stamp, command: ChooseVersion) -> Result:
    """Put another version of a reply, or of a message with all behind it, where the chosen one stands."""
    opened = state.discussions.open.get(command.discussion_id)
    chosen = "" if opened is None else opened.version_from(command.message_id, command.step)
    if opened is not None and opened.is_of_prompt(chosen) and is_busy(state, opened.id):
        text = tr("A reply is under way in this version. Wait or stop it, then choose another version.")
        return decline(state, command.command_id, f"version/{opened.id}", text), ()
    if opened is not None and chosen:
        record = ChooseRecord(id=given.make_id(), at=given.at, target_id=chosen)
        state = with_open(state, replace(opened, asked_version=chosen))
        return state, (AppendRecords(discussion_id=command.discussion_id, records=(record,)),)
    problem = tr("The discussion has no such version.")
    return conclude(state, CommandOutcome(command_id=command.command_id, problem=problem)), ()


def _find(opened: OpenDiscussion | None, message_id: str) -> Message | None:
    if opened is None:
        return None
    return next((e for e in opened.entries if isinstance(e, Message) and e.id == message_id), None)
