"""View of a log: records folded into the discussion that a person sees and the turns a model sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from core.values.discussion import DiscussionMeta, OpenDiscussion
from core.values.messages import Entry, Mark, Message, ReasoningPart, Role, TextPart
from core.values.records import (
    DeleteRecord,
    EditRecord,
    MarkRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    UsageRecord,
    ViewRecord,
)
from core.values.usage import Usage, add_usage


def fold(discussion_id: str, records: Iterable[Record]) -> OpenDiscussion:
    """Read a whole log.

    Args:
        discussion_id: goes into the result; records: in the log's order, any number.

    Returns:
        What `apply` gives record by record, in one pass: O(n).
    """
    content = _LogContent(OpenDiscussion(discussion_id), {})
    for record in records:
        content.add(record)
    return content.close()


def apply(discussion: OpenDiscussion, record: Record) -> OpenDiscussion:
    """Add one record that was appended to the log. Total: a target that is not there changes nothing.

    `failed_message_id` names a last message of the user that has no reply: its send failed, or is still under way;
    the caller knows which. `failure` is cleared once a reply is there.
    """
    content = _LogContent(discussion, None)
    content.add(record)
    return content.close()


def model_view(discussion: OpenDiscussion) -> tuple[Message, ...]:
    """The messages that a model sees, in order: not deleted, with something in them to send.

    What arrived of an interrupted reply counts; reasoning alone is nothing to send.
    """
    return tuple(message for message in discussion.messages if _has_content(message))


def branch_records(records: Sequence[Record], message_id: str) -> tuple[Record, ...] | None:
    """The records that a branch's log starts with.

    Args:
        records: the parent's log; message_id: the last message that the branch shall hold.

    Returns:
        Everything up to that message, and what was later said of those messages (edits, deletions, usage), so that
        the branch starts as the person sees the parent now. None where no such message is in the log.
    """
    end = next(
        (i for i, r in enumerate(records) if isinstance(r, MessageRecord) and r.id == message_id), None
    )
    if end is None:
        return None
    kept = {record.id for record in records[: end + 1] if isinstance(record, (MessageRecord, RequestRecord))}
    later = (record for record in records[end + 1 :] if _target(record) in kept)
    return (*records[: end + 1], *later)


def branch_meta(parent: DiscussionMeta, message_id: str, new: DiscussionMeta) -> DiscussionMeta:
    """The meta of a branch: `new` with the parent's id and the branch point."""
    return replace(new, parent_id=parent.id, branch_message_id=message_id)


def _target(record: Record) -> str:
    match record:
        case EditRecord() | DeleteRecord() | RestoreRecord():
            return record.target_id
        case UsageRecord():
            return record.message_id
        case _:
            return ""


class _LogContent:
    """A discussion while records are added. `index` None: look entries up by walking back from the end."""

    def __init__(self, discussion: OpenDiscussion, index: dict[str, int] | None) -> None:
        self.discussion = discussion
        self.entries: list[Entry] = list(discussion.entries)
        self.index = index
        self.count = discussion.record_count
        self.last_request = discussion.last_request
        self.usage, self.upkeep = discussion.usage, discussion.upkeep

    def add(self, record: Record) -> None:
        """Take in the next record."""
        self.count += 1
        match record:
            case MessageRecord():
                self._add_message(record)
            case MarkRecord():
                self._append(Mark(record.id, record.at, record.kind, record.text, self._last_message_id()))
            case RequestRecord():
                self.last_request = record
            case ViewRecord():
                pass
            case UsageRecord():
                self.usage = add_usage(self.usage, record.usage)
                self.upkeep = self.upkeep.with_call(record.kind, record.usage)
                self._change(record)
            case EditRecord() | DeleteRecord() | RestoreRecord():
                self._change(record)

    def close(self) -> OpenDiscussion:
        """The discussion as a value again."""
        failed_id = self._unanswered_id()
        return replace(
            self.discussion,
            entries=tuple(self.entries),
            last_request=self.last_request,
            record_count=self.count,
            usage=self.usage,
            upkeep=self.upkeep,
            failed_message_id=failed_id,
            failure=self.discussion.failure if failed_id else None,
        )

    def _add_message(self, record: MessageRecord) -> None:
        message = Message(
            record.id, record.at, record.role, record.parts, record.status, record.provider, record.model
        )
        position = self._find(record.id)
        if position is None:
            self._append(message)
        elif not _is_same(self.entries[position], message):
            self._append(replace(message, id=self._free_id(record.id)))

    def _change(self, record: EditRecord | DeleteRecord | RestoreRecord | UsageRecord) -> None:
        position = self._find(_target(record))
        if position is None:
            return
        entry = self.entries[position]
        if isinstance(entry, Message):
            self.entries[position] = _changed(entry, record)

    def _append(self, entry: Entry) -> None:
        if self.index is not None and isinstance(entry, Message):
            self.index[entry.id] = len(self.entries)
        self.entries.append(entry)

    def _find(self, entry_id: str) -> int | None:
        if self.index is not None:
            return self.index.get(entry_id)
        for position in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[position]
            if entry.id == entry_id and isinstance(entry, Message):
                return position
        return None

    def _free_id(self, wanted: str) -> str:
        number = 2
        while self._find(f"{wanted}~{number}") is not None:
            number += 1
        return f"{wanted}~{number}"

    def _last_message_id(self) -> str:
        return next((message.id for message in self._messages_backwards()), "")

    def _unanswered_id(self) -> str:
        last = next((message for message in self._messages_backwards() if not message.is_deleted), None)
        return last.id if last is not None and last.role is Role.USER else ""

    def _messages_backwards(self) -> Iterator[Message]:
        return (entry for entry in reversed(self.entries) if isinstance(entry, Message))


def _changed(message: Message, record: EditRecord | DeleteRecord | RestoreRecord | UsageRecord) -> Message:
    match record:
        case EditRecord():
            return replace(message, parts=record.parts, is_edited=True)
        case DeleteRecord():
            return replace(message, is_deleted=True)
        case RestoreRecord():
            return replace(message, is_deleted=False)
        case UsageRecord():
            return replace(message, usage=_joined(message.usage, record.usage))


def _joined(old: Usage | None, new: Usage) -> Usage:
    return new if old is None else add_usage(old, new)


def _is_same(entry: Entry, message: Message) -> bool:
    """True if a record came twice: after a retried append, or a file merged by a sync program."""
    if not isinstance(entry, Message) or (entry.at, entry.role) != (message.at, message.role):
        return False
    return entry.is_edited or (entry.parts, entry.status) == (message.parts, message.status)


def _has_content(message: Message) -> bool:
    for part in message.parts:
        match part:
            case TextPart():
                if part.text.strip():
                    return True
            case ReasoningPart():
                continue
            case _:
                return True
    return False
