"""View of a log: records folded into the discussion that a person sees and the turns a model sees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from core.discussion.cuts import has_content
from core.discussion.log_content import FoldedLog
from core.values.discussion import OpenDiscussion
from core.values.messages import Message, Role
from core.values.records import (
    ChooseRecord,
    DeleteRecord,
    EditRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    UsageRecord,
)


def fold(discussion_id: str, records: Iterable[Record]) -> OpenDiscussion:
    """Read a whole log.

    Args:
        discussion_id: goes into the result; records: in the log's order, any number.

    Returns:
        What `apply` gives record by record, in one pass: O(n).
    """
    content = FoldedLog(OpenDiscussion(discussion_id))
    for record in records:
        content.add(record)
    return content.close()


def apply(discussion: OpenDiscussion, record: Record) -> OpenDiscussion:
    """Add one record that was appended to the log. Total: a target that is not there changes nothing.

    `failed_message_id` names a last message of the user that has no reply: its send failed, or is still under way;
    the caller knows which. `failure` is cleared once a reply is there.
    """
    content = FoldedLog(discussion)
    content.add(record)
    return content.close()


def model_view(discussion: OpenDiscussion) -> tuple[Message, ...]:
    """The messages of a discussion, in order: not deleted, with something in them to send; also those that left a model's view.

    What arrived of an interrupted reply counts; reasoning alone is nothing to send.
    """
    return tuple(filter(has_content, discussion.messages))


def branch_records(records: Sequence[Record], message_id: str) -> tuple[Record, ...] | None:
    """The records that a branch's log starts with.

    Args:
        records: the parent's log; message_id: the last message that the branch shall hold, one that the person sees.

    Returns:
        Everything up to that message, and what was later said of those messages (edits, deletions, usage, versions,
        which one was chosen), so that the branch starts as the person sees the parent now. What was paid is marked as
        inherited: it counts in the parent alone. Later versions of its last
        reply are left out where one of them would be seen instead. None where no such message is in the log.
    """
    end = next(
        (i for i, r in enumerate(records) if isinstance(r, MessageRecord) and r.id == message_id), None
    )
    if end is None:
        return None
    end = _before_later_turns(records, end)
    whole = _branch(records, end, frozenset())
    if _ends_with(whole, message_id):
        return whole
    return _branch(records, end, _last_reply(records[: end + 1]), but=message_id)


def _branch(
    records: Sequence[Record], end: int, closed: Collection[str], but: str = ""
) -> tuple[Record, ...]:
    """Records up to a place, and later ones about their messages.

    Args:
        closed: messages of which no later version comes along, `but` one.
    """
    begin = records[: end + 1]
    kept = {record.id for record in begin if isinstance(record, (MessageRecord, RequestRecord))}
    later: list[Record] = []
    for record in records[end + 1 :]:
        target = _target(record)
        if target not in kept:
            continue
        if isinstance(record, MessageRecord):
            if target in closed and record.id != but:
                continue
            kept.add(record.id)
        later.append(record)
    return tuple(
        replace(record, is_inherited=True) if isinstance(record, UsageRecord) else record
        for record in (*begin, *later)
    )


def _ends_with(records: Sequence[Record], message_id: str) -> bool:
    entries = fold("", records).entries
    last = next((entry for entry in reversed(entries) if isinstance(entry, Message)), None)
    return last is not None and last.id == message_id


def _before_later_turns(records: Sequence[Record], end: int) -> int:
    """Place of a branch point; of a version that came after the person had written on, that of the first version."""
    places: dict[str, int] = {}
    for place, record in enumerate(records[: end + 1]):
        if isinstance(record, MessageRecord):
            places.setdefault(record.id, place)
    at, record = end, records[end]
    while isinstance(record, MessageRecord) and places.get(record.version_of, at) < at:
        at = places[record.version_of]
        record = records[at]
    return at if any(_is_prompt(record) for record in records[at + 1 : end]) else end


def _last_reply(records: Sequence[Record]) -> set[str]:
    """Ids of what was said after the person's last message."""
    start = max((i for i, record in enumerate(records) if _is_prompt(record)), default=-1)
    return {record.id for record in records[start + 1 :] if isinstance(record, MessageRecord)}


def _is_prompt(record: Record) -> bool:
    return isinstance(record, MessageRecord) and record.role is Role.USER


def _target(record: Record) -> str:
    match record:
        case EditRecord() | DeleteRecord() | RestoreRecord() | ChooseRecord():
            return record.target_id
        case UsageRecord():
            return record.message_id
        case MessageRecord():
            return record.version_of
        case _:
            return ""
