"""Our own discussions and exports, read as all others are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from core.kernel.codecs import read_json
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import (
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import Record
from core.talk.discussion import discussion_export, log_codec, log_content
from core.talk.discussion.log_codec import ForeignLine
from core.talk.transcripts.text import Buffer, content_id, decoded, lines, moment


def read_log(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The discussion of a log, as its model sees it: chosen versions, edited words. A torn line is passed over."""
    try:
        yield _transcript("", log_content.model_view(log_content.fold("", _records(buffer))))
    except ValueError as error:
        yield Unread(place="", why=str(error))


def read_export(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The discussion of an export, as JSON or as Markdown."""
    text = decoded(bytes(buffer[:]))
    if is_markdown(text):
        yield _of_markdown(text)
        return
    try:
        header, entries = discussion_export.parse_export(text)
    except StorageError as error:
        yield Unread(place="", why=error.what)
        return
    said = (entry for entry in entries if isinstance(entry, Message) and not entry.is_deleted)
    yield _transcript(header.name, said)


# An export to read: Markdown, each message under a head that says who speaks, and a line that says when.

_TOP = late(r"# ([^\n]{1,2000})\n\n- Started: (\d{4}-\d{2}-\d{2} \d{2}:\d{2}) UTC\n")


def _span(name: str) -> str:
    """Code in a line, whose fence is longer than every run of backticks in it."""
    return rf"(?P<_{name}>`+) ?(?P<{name}>[^\n]*?) ?(?P=_{name})(?!`)"


_HEAD = late(
    rf"## (?P<who>You|Reply|Tool|Task|Autonomous turn|Program)(?: from {_span('model')})?\n\n"
    r"\*(?P<at>\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}) UTC[^\n*]{0,200}\*\n"
)
_FENCE = late(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_USAGE = late(r"\n\*[^\n*]*(?:tokens in|tokens out|usage not reported)[^\n*]*\*\s*\Z")
_MARKED = late(r"^\*[^\n]{1,2000}: [^\n]*\* \(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC\)$", re.MULTILINE)
_PIECE = late(
    rf"^(?:Tool call {_span('tool')} \({_span('call')}\)"
    rf"|Tool (?P<end>result|error|call refused|call interrupted) \({_span('answered')}\)):"
    r"\n\n(?P<fence>`{3,})\n(?P<text>.*?)\n(?P=fence)$"
    rf"|^- Attachment: {_span('file')} \((?P<media>[^\s,()]+), (?P<size>[\d,]+) bytes?, sha256 [0-9a-f]*\)$"
    r"|^> \*\*Reasoning\*\*\n>\n(?P<thought>(?:>[^\n]*(?:\n|\Z))+)",
    re.MULTILINE | re.DOTALL,
)
_ROLES = {"You": "user", "Reply": "assistant", "Tool": "tool"}
_ESCAPED = late(r"\\([\\`*_\[\]<>#|~])")


def is_markdown(text: str) -> bool:
    """True for the Markdown that `discussion_export` writes."""
    return _TOP.match(text) is not None


def _of_markdown(text: str) -> Transcript:
    top = _TOP.match(text)
    assert top is not None
    heads: list[re.Match[str]] = []
    for head in _HEAD.finditer(text):
        if not heads or not _is_fenced(text, heads[-1].end(), head.start()):
            heads.append(head)
    messages: list[TranscriptMessage] = []
    for head, after in zip_longest(heads, heads[1:]):
        said = _USAGE.sub("\n", text[head.end() : after.start() if after is not None else len(text)])
        parts = tuple(_pieces(_MARKED.sub("", said)))
        number = len(messages) + 1
        messages.append(
            TranscriptMessage(
                id=f"#{number}",
                role=_ROLES.get(head["who"], "system"),
                parts=parts,
                parent=f"#{number - 1}" if number > 1 else "",
                at=moment(head["at"]),
                model=(head["model"] or "").partition("/")[2],
            )
        )
    at = moment(f"{top[2]}:00")
    return Transcript(
        id=content_id(messages, at),
        messages=tuple(messages),
        title=_ESCAPED.sub(r"\1", top[1]),
        at=at,
        current=messages[-1].id if messages else "",
    )


def _is_fenced(text: str, start: int, place: int) -> bool:
    """True within a code fence. `start`: outside of one, as the end of each head is: a message closes its own."""
    fence = ""
    for found in _FENCE.finditer(text, start, place):
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return bool(fence)


def _pieces(said: str) -> Iterator[Part]:
    at = 0
    for found in _PIECE.finditer(said):
        yield from _words(said[at : found.start()])
        at = found.end()
        if found["tool"] is not None:
            yield ToolCallPart(call_id=found["call"], name=found["tool"], arguments_json=found["text"])
        elif found["end"] is not None:
            yield ToolResultPart(
                call_id=found["answered"], text=found["text"], is_error=found["end"] != "result"
            )
        elif found["file"] is not None:
            size = int(found["size"].replace(",", ""))
            yield AttachmentPart(sha256="", media_type=found["media"], name=found["file"], size_bytes=size)
        else:
            lines_said = found["thought"].rstrip("\n").split("\n")
            yield ReasoningPart("\n".join(line[1:].removeprefix(" ") for line in lines_said))
    yield from _words(said[at:])


def _words(text: str) -> Iterator[Part]:
    if words := text.strip("\n").rstrip():
        yield TextPart(words)


def _transcript(title: str, said: Iterable[Message]) -> Transcript:
    messages: list[TranscriptMessage] = []
    for one in said:
        parent = messages[-1].id if messages else ""
        role = "system" if one.is_of_program else one.role.value
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
                raise ValueError(
                    tr("line {number} cannot be read: {reason}", number=number, reason=record.reason)
                )


def _is_whole(line: bytes) -> bool:
    try:
        read_json(line)
    except (ValueError, RecursionError):
        return False
    return True
