"""Our own discussions and exports, read as all others are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.kernel.decoders import read_json
from core.kernel.errors import StorageError
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import Message
from core.kernel.values.records import Record
from core.talk.discussion import discussion_export, log_codec, log_content
from core.talk.discussion.log_codec import ForeignLine
from core.talk.transcripts.text import Buffer, lines


def read_log(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The discussion of a log, as its model sees it: chosen versions, edited words. A torn line is passed over."""
    try:
        yield _transcript("", log_content.model_view(log_content.fold("", _records(buffer))))
    except ValueError as error:
        yield Unread(place="the file", why=str(error))


def read_export(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The discussion of an export."""
    try:
        header, entries = discussion_export.parse_export(bytes(buffer[:]).decode("utf-8-sig"))
    except (StorageError, ValueError) as error:
        yield Unread(
            place="the file", why=error.what if isinstance(error, StorageError) else "it is not UTF-8 text"
        )
        return
    said = (entry for entry in entries if isinstance(entry, Message) and not entry.is_deleted)
    yield _transcript(header.name, said)


def _transcript(title: str, said: Iterable[Message]) -> Transcript:
    messages: list[TranscriptMessage] = []
    for one in said:
        parent = messages[-1].id if messages else ""
        role = "system" if one.is_autonomous else one.role.value
        messages.append(
            TranscriptMessage(
                id=one.id, role=role, parts=one.parts, parent=parent, at=one.at, model=one.model
            )
        )
    first = messages[0] if messages else None
    return Transcript(
        id=first.id if first is not None else "",
        messages=tuple(messages),
        title=title,
        at=first.at if first is not None else None,
        current=messages[-1].id if messages else "",
    )


def _records(buffer: Buffer) -> Iterator[Record]:
    for number, line in enumerate(lines(buffer), 1):
        if line.strip(b" \t\r\0"):
            record = log_codec.decode(line, number)
            if not isinstance(record, ForeignLine):
                yield record
            elif _is_whole(line):  # not torn: whole, and not ours to understand
                raise ValueError(f"line {number} cannot be read: {record.reason}")


def _is_whole(line: bytes) -> bool:
    try:
        read_json(line)
    except (ValueError, RecursionError):
        return False
    return True
