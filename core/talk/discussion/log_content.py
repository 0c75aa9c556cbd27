"""Content of a log while its records are taken in, one after the other: what is seen, and what was put aside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

from msgspec.structs import replace

from core.kernel.values.discussion import OpenDiscussion, ReplyVersions, SentBreak, unanswered_id
from core.kernel.values.messages import Entry, Mark, Message, Role
from core.kernel.values.records import (
    ChooseRecord,
    DeleteRecord,
    EditRecord,
    MarkRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    StartRecord,
    UsageRecord,
    ViewRecord,
)
from core.kernel.values.usage import add_usage
from core.talk.discussion import cuts
from core.talk.discussion.cuts import has_content, read_calls, read_cut, read_line

MOST_BREAKS = 5
"""Requests that parted from the one before them, of which a discussion tells why."""

Change = EditRecord | DeleteRecord | RestoreRecord | UsageRecord


def message_of(record: MessageRecord) -> Message:
    """Message that a record tells of, as it was said. Which reply it is a version of, the log around it decides."""
    return Message(
        id=record.id,
        at=record.at,
        role=record.role,
        parts=record.parts,
        status=record.status,
        provider=record.provider,
        model=record.model,
        is_autonomous=record.is_autonomous,
        asks_rest=record.asks_rest,
    )


class FoldedLog:
    """A discussion while records are added.

    Another version of a reply takes the place of the chosen one and of all that followed it up to the person's next
    message. Where the person has written on behind the reply, a version that arrives is put aside. Another version of a
    person's message takes the place of the chosen one and of all that followed it to the end.
    """

    def __init__(self, discussion: OpenDiscussion) -> None:
        self._discussion = discussion
        self._entries: list[Entry] = list(discussion.entries)
        self._places = discussion.places.take(discussion.entries)
        self._versions = dict(discussion.versions)
        self._away = {
            entry.id: first
            for first, versions in self._versions.items()
            for run in versions.aside.values()
            for entry in run
            if isinstance(entry, Message)
        }
        self._count = discussion.record_count
        self._last_request, self._sent_through = discussion.last_request, discussion.sent_through
        self._breaks = discussion.breaks
        self._usage, self._upkeep = discussion.usage, discussion.upkeep
        self._retrieved = discussion.retrieved
        self._cut, self._lines, self._gone = discussion.cut, discussion.lines, discussion.gone_calls
        self._told = discussion.told_turn
        self._starts: dict[str, datetime] = {}

    def add(self, record: Record) -> None:
        """Take in the next record."""
        self._count += 1
        match record:
            case MessageRecord():
                self._add_message(record)
            case ChooseRecord():
                self._choose(record.target_id)
            case MarkRecord():
                self._append(
                    Mark(
                        id=record.id,
                        at=record.at,
                        kind=record.kind,
                        text=record.text,
                        after_id=self._last_message_id(),
                    )
                )
            case RequestRecord():
                self._last_request, self._sent_through = record, self._last_message_id()
                self._note_retrieved(record)
                if record.broken:
                    told = SentBreak(
                        request_id=record.id, at=record.at, model=record.model, text=record.broken
                    )
                    self._breaks = (*self._breaks, told)[-MOST_BREAKS:]
            case ViewRecord(kind=cuts.TURN_KIND):
                self._told = cuts.read_turn(record, self._told)
            case ViewRecord():
                if (cut := read_cut(record)) is not None:
                    self._cut, self._retrieved = cut, {}  # all turns are sent anew: without it
                if gone := read_calls(record):
                    self._gone = self._gone | gone
                if (line := read_line(record)) is not None:
                    known = self._lines.get(line.message_id, ())
                    self._lines = {**self._lines, line.message_id: (*known, line)}
            case StartRecord():
                self._starts[record.call_id] = record.at
            case UsageRecord():
                if not record.is_inherited:
                    self._usage = add_usage(self._usage, record.usage)
                    self._upkeep = self._upkeep.with_call(record.kind, record.usage)
                self._change(record.message_id, record)
            case EditRecord() | DeleteRecord() | RestoreRecord():
                self._change(record.target_id, record)

    def close(self) -> OpenDiscussion:
        """Return the discussion as an immutable value."""
        failed_id = unanswered_id(self._entries)
        entries, before = tuple(self._entries), self._discussion.entries
        is_same = entries == before
        entries = before if is_same else entries  # who follows their changes asks by identity
        return replace(
            self._discussion,
            entries=entries,
            places=self._discussion.places.moved(entries, self._places, is_same=is_same),
            versions=self._versions,
            last_request=self._last_request,
            breaks=self._breaks,
            sent_through=self._sent_through,
            retrieved=self._retrieved,
            cut=self._cut,
            lines=self._lines,
            gone_calls=self._gone,
            told_turn=self._told,
            starts={**self._discussion.starts, **self._starts} if self._starts else self._discussion.starts,
            record_count=self._count,
            usage=self._usage,
            upkeep=self._upkeep,
            failed_message_id=failed_id,
            failure=self._discussion.failure if failed_id else None,
        )

    def _note_retrieved(self, record: RequestRecord) -> None:
        """Take in what stays behind a message: that of its last request, which may have had none."""
        if record.retrieved:
            self._retrieved = {**self._retrieved, record.message_id: record.retrieved}
        elif record.message_id in self._retrieved:
            self._retrieved = {k: v for k, v in self._retrieved.items() if k != record.message_id}

    def _add_message(self, record: MessageRecord) -> None:
        message = message_of(record)
        known = self._known(record.id)
        if known is not None and _is_same(known, message):
            return
        if known is not None:
            message = replace(message, id=self._free_id(record.id))
        first = self._first_version(record)
        if first:
            self._add_version(first, replace(message, version_of=first))
        else:
            self._append(message)

    def _first_version(self, record: MessageRecord) -> str:
        """Id of the first version of what a record is another version of, empty for a record of its own."""
        target = self._known(record.version_of) if record.version_of else None
        is_prompt = record.role is Role.USER
        if target is None and record.version_of and not is_prompt:
            target = self._standing_reply()
        if target is None or (target.role is Role.USER) is not is_prompt:
            return ""
        away = self._away.get(target.id, "")
        is_of_reply = away and not is_prompt and not self._is_prompt(away)
        return away if is_of_reply else target.version_of or target.id

    def _standing_reply(self) -> Message | None:
        """The reply at the end: of several that were asked for at once, the one that the others are versions of never came."""
        last = self._entries[-1] if self._entries else None
        if isinstance(last, Message) and last.role is Role.ASSISTANT and not last.is_deleted:
            return last
        return None

    def _is_prompt(self, first: str) -> bool:
        """True if versions are of a person's message."""
        known = self._known(first)
        return known is not None and known.role is Role.USER

    def _add_version(self, first: str, message: Message) -> None:
        known = self._versions.get(first) or ReplyVersions(ids=(first,), chosen_id=first, aside={})
        known = replace(known, ids=(*known.ids, message.id))
        position = self._places.get(known.chosen_id)
        if position is not None and self._version_end(position) == len(self._entries):
            self._show(first, known, position, message.id, (message,))
        else:
            self._versions[first] = replace(known, aside={**known.aside, message.id: (message,)})
            self._away[message.id] = first

    def _choose(self, target_id: str) -> None:
        first = self._away.get(target_id, "")
        known = self._versions.get(first)
        position = self._places.get(known.chosen_id) if known is not None else None
        if known is not None and position is not None and target_id in known.aside:
            self._show(first, known, position, target_id, known.aside[target_id])

    def _show(
        self, first: str, known: ReplyVersions, position: int, version_id: str, run: tuple[Entry, ...]
    ) -> None:
        """Put a version where the chosen one stands, and that one aside."""
        end = self._version_end(position)
        old = tuple(self._entries[position:end])
        self._entries[position:end] = run
        aside = {name: other for name, other in known.aside.items() if name != version_id}
        self._versions[first] = replace(known, chosen_id=version_id, aside={**aside, known.chosen_id: old})
        self._away.update({entry.id: first for entry in old if isinstance(entry, Message)})
        for entry in run:
            self._away.pop(entry.id, None)
        for entry in old:
            self._places.pop(entry.id, None)
        for at in range(position, len(self._entries)):
            if isinstance(entry := self._entries[at], Message):
                self._places[entry.id] = at

    def _version_end(self, position: int) -> int:
        """End of what a version has with it: of a reply the person's next message, of a person's message the end of all."""
        head = self._entries[position]
        if isinstance(head, Message) and head.role is Role.USER:
            return len(self._entries)
        return self._run_end(position)

    def _run_end(self, position: int) -> int:
        """Place of the person's next message, or the end."""
        for at in range(position + 1, len(self._entries)):
            entry = self._entries[at]
            if isinstance(entry, Message) and entry.role is Role.USER and not entry.is_deleted:
                return at
        return len(self._entries)

    def _change(self, target_id: str, record: Change) -> None:
        position = self._places.get(target_id)
        if position is not None:
            entry = self._entries[position]
            assert isinstance(entry, Message)
            self._entries[position] = _changed(entry, record)
        elif first := self._away.get(target_id):
            known = self._versions[first]
            aside = {
                name: tuple(
                    _changed(entry, record) if isinstance(entry, Message) and entry.id == target_id else entry
                    for entry in run
                )
                for name, run in known.aside.items()
            }
            self._versions[first] = replace(known, aside=aside)

    def _append(self, entry: Entry) -> None:
        if isinstance(entry, Message):
            self._places[entry.id] = len(self._entries)
        self._entries.append(entry)

    def _known(self, message_id: str) -> Message | None:
        """A message, among the entries or put aside."""
        position = self._places.get(message_id)
        if position is not None:
            entry = self._entries[position]
            return entry if isinstance(entry, Message) else None
        first = self._away.get(message_id)
        if first is None:
            return None
        runs = self._versions[first].aside.values()
        aside = (entry for run in runs for entry in run if isinstance(entry, Message))
        return next((message for message in aside if message.id == message_id), None)

    def _free_id(self, wanted: str) -> str:
        number = 2
        while self._known(f"{wanted}~{number}") is not None:
            number += 1
        return f"{wanted}~{number}"

    def _last_message_id(self) -> str:
        return next((entry.id for entry in reversed(self._entries) if isinstance(entry, Message)), "")


def _changed(message: Message, record: Change) -> Message:
    match record:
        case EditRecord():
            is_other = record.parts != message.parts
            return replace(message, parts=record.parts, is_edited=True) if is_other else message
        case DeleteRecord():
            return replace(message, is_deleted=True)
        case RestoreRecord():
            return replace(message, is_deleted=False)
        case UsageRecord():
            usage = record.usage if message.usage is None else add_usage(message.usage, record.usage)
            return replace(message, usage=usage)


def _is_same(known: Message, message: Message) -> bool:
    """True if a record came twice: after a retried append, or a file merged by a sync program."""
    if (known.at, known.role) != (message.at, message.role):
        return False
    return known.is_edited or (known.parts, known.status) == (message.parts, message.status)


# View of a log: records folded into the discussion that a person sees and the turns a model sees.


def fold(discussion_id: str, records: Iterable[Record]) -> OpenDiscussion:
    """Read a whole log.

    Args:
        discussion_id: goes into the result; records: in the log's order, any number.

    Returns:
        What `apply` gives record by record, in one pass: O(n).
    """
    content = FoldedLog(OpenDiscussion(id=discussion_id))
    for record in records:
        content.add(record)
    return content.close()


def apply(discussion: OpenDiscussion, record: Record) -> OpenDiscussion:
    """Add one record that was appended to the log. Raises nothing: a target that is not there changes nothing.

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
        Everything up to that message, and what was later said of those messages (edits, deletions, usage, versions of
        replies, which one was chosen), so that the branch starts as the person sees the parent now. What was paid is marked as
        inherited: it counts in the parent alone. None where no such message is in the log.
    """
    end = next(
        (i for i, r in enumerate(records) if isinstance(r, MessageRecord) and r.id == message_id), None
    )
    if end is None:
        return None
    end = _before_later_turns(records, end)
    return _as_seen(_branch(records, end), fold("", records).entries)


def _as_seen(copied: tuple[Record, ...], shown: tuple[Entry, ...]) -> tuple[Record, ...]:
    """The records of a branch, with choices behind them where it would show other versions than the parent does.

    A choice that changed nothing there, for its thread was put aside, may change something here.
    """
    wanted = [entry for entry in shown if isinstance(entry, Message)]
    for _ in range(len(wanted)):
        made = [entry for entry in fold("", copied).entries if isinstance(entry, Message)]
        other = next((a for a, b in zip(wanted, made, strict=False) if a.id != b.id), None)
        if other is None:
            break
        copied = (*copied, ChooseRecord(id=f"{other.id}/seen", at=other.at, target_id=other.id))
    return copied


def _branch(records: Sequence[Record], end: int) -> tuple[Record, ...]:
    """Records up to a place, and later ones about their messages; of versions those of replies alone."""
    begin = records[: end + 1]
    kept = {record.id for record in begin if isinstance(record, (MessageRecord, RequestRecord))}
    later: list[Record] = []
    for record in records[end + 1 :]:
        if _target(record) not in kept or _is_prompt(record):
            continue
        if isinstance(record, MessageRecord):
            kept.add(record.id)
        later.append(record)
    return tuple(
        replace(record, is_inherited=True) if isinstance(record, UsageRecord) else record
        for record in (*begin, *later)
    )


def _before_later_turns(records: Sequence[Record], end: int) -> int:
    """Place of a branch point; of a version that came after the person had written on, that of the first version."""
    places: dict[str, int] = {}
    for place, record in enumerate(records[: end + 1]):
        if isinstance(record, MessageRecord):
            places.setdefault(record.id, place)
    at, record = end, records[end]
    if _is_prompt(record):
        return end
    while isinstance(record, MessageRecord) and places.get(record.version_of, at) < at:
        at = places[record.version_of]
        record = records[at]
    return at if any(_is_prompt(record) for record in records[at + 1 : end]) else end


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


# Places of a query's words in a text: where they stand together, the best place of all. Pure.

_MOST = 20_000
"""Occurrences that are looked at in one text."""


def together(text: str, words: Sequence[str]) -> tuple[int, int] | None:
    """The run of text in which the words stand closest together, in whatever order and case.

    Args:
        text: searched as it is; words: each is found as the start of a word. Those that are not there do not count.

    Returns:
        Start and end of the run in characters: of the shortest, of those the one with most whole words, of those the
        first. Words that begin no word are looked for anywhere. None where none of them is there.
    """
    known = sorted({word.casefold() for word in words if word}, key=len, reverse=True)
    if not known:
        return None
    anywhere = "|".join(map(re.escape, known))
    for pattern in (rf"(?<!\w)(?:{anywhere})", anywhere):
        found = list(islice(re.finditer(pattern, text, re.IGNORECASE), _MOST))
        if found:
            return _closest(text, found)
    return None


def _closest(text: str, found: Sequence[re.Match[str]]) -> tuple[int, int]:
    names = [one.group().casefold() for one in found]
    missing, counts = len(set(names)), dict.fromkeys(names, 0)
    best, low = (len(text) + 1, 0, 0, 0), 0
    for high, one in enumerate(found):
        missing -= not counts[names[high]]
        counts[names[high]] += 1
        while not missing and counts[names[low]] > 1:
            counts[names[low]] -= 1
            low += 1
        if not missing:
            start, end = found[low].start(), one.end()
            parts = sum(not _is_whole(text, match) for match in found[low : high + 1][:_WHOLE])
            best = min(best, (end - start, parts, start, end))
    return best[2], best[3]


_WHOLE = 50
"""Words of a run that are asked whether they are whole."""


def _is_whole(text: str, match: re.Match[str]) -> bool:
    return not text[match.end() : match.end() + 1].isalnum()
