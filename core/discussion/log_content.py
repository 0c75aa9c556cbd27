"""Content of a log while its records are taken in, one after the other: what is seen, and what was put aside."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec.structs import replace

from core.discussion import told_turns
from core.discussion.cuts import read_calls, read_cut, read_line
from core.values.discussion import OpenDiscussion, ReplyVersions, unanswered_id
from core.values.messages import Entry, Mark, Message, Role
from core.values.records import (
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
from core.values.usage import Usage, add_usage

Change = EditRecord | DeleteRecord | RestoreRecord | UsageRecord


def message_of(record: MessageRecord) -> Message:
    """Message that a record tells of, as it was said. Which reply it is a version of, the log around it decides."""
    return Message(
        record.id,
        record.at,
        record.role,
        record.parts,
        record.status,
        record.provider,
        record.model,
        is_autonomous=record.is_autonomous,
    )


class FoldedLog:
    """A discussion while records are added.

    Another version of a reply takes the place of the chosen one and of all that followed it up to the person's next
    message. Where the person has written on behind the reply, a version that arrives is put aside.
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
                self._append(Mark(record.id, record.at, record.kind, record.text, self._last_message_id()))
            case RequestRecord():
                self._last_request, self._sent_through = record, self._last_message_id()
                self._note_retrieved(record)
            case ViewRecord(kind=told_turns.TURN_KIND):
                self._told = told_turns.read_turn(record, self._told)
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
        """The discussion as a value again."""
        failed_id = self._unanswered_id()
        entries, before = tuple(self._entries), self._discussion.entries
        is_same = entries == before
        entries = before if is_same else entries  # who follows their changes asks by identity
        return replace(
            self._discussion,
            entries=entries,
            places=self._discussion.places.moved(entries, self._places, is_same=is_same),
            versions=self._versions,
            last_request=self._last_request,
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
        """Id of the first version of the reply that a record is another version of, empty where it is none."""
        target = self._known(record.version_of) if record.version_of else None
        if target is None or Role.USER in {target.role, record.role}:
            return ""
        return self._away.get(target.id) or target.version_of or target.id

    def _add_version(self, first: str, message: Message) -> None:
        known = self._versions.get(first) or ReplyVersions((first,), first, {})
        known = replace(known, ids=(*known.ids, message.id))
        position = self._find(known.chosen_id)
        if position is not None and self._run_end(position) == len(self._entries):
            self._show(first, known, position, message.id, (message,))
        else:
            self._versions[first] = replace(known, aside={**known.aside, message.id: (message,)})
            self._away[message.id] = first

    def _choose(self, target_id: str) -> None:
        first = self._away.get(target_id, "")
        known = self._versions.get(first)
        position = self._find(known.chosen_id) if known is not None else None
        if known is not None and position is not None and target_id in known.aside:
            self._show(first, known, position, target_id, known.aside[target_id])

    def _show(
        self, first: str, known: ReplyVersions, position: int, version_id: str, run: tuple[Entry, ...]
    ) -> None:
        """Put a version where the chosen one stands, and that one aside."""
        end = self._run_end(position)
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

    def _run_end(self, position: int) -> int:
        """Place of the person's next message, or the end."""
        for at in range(position + 1, len(self._entries)):
            entry = self._entries[at]
            if isinstance(entry, Message) and entry.role is Role.USER and not entry.is_deleted:
                return at
        return len(self._entries)

    def _change(self, target_id: str, record: Change) -> None:
        position = self._find(target_id)
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

    def _find(self, entry_id: str) -> int | None:
        return self._places.get(entry_id)

    def _known(self, message_id: str) -> Message | None:
        """A message, among the entries or put aside."""
        position = self._find(message_id)
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
        return next((message.id for message in self._messages_backwards()), "")

    def _unanswered_id(self) -> str:
        return unanswered_id(self._entries)

    def _messages_backwards(self) -> Iterator[Message]:
        return (entry for entry in reversed(self._entries) if isinstance(entry, Message))


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
            return replace(message, usage=_joined(message.usage, record.usage))


def _joined(old: Usage | None, new: Usage) -> Usage:
    return new if old is None else add_usage(old, new)


def _is_same(known: Message, message: Message) -> bool:
    """True if a record came twice: after a retried append, or a file merged by a sync program."""
    if (known.at, known.role) != (message.at, message.role):
        return False
    return known.is_edited or (known.parts, known.status) == (message.parts, message.status)
