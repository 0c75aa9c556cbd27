"""Words that a harvest reads of a conversation, from any program: those of the path that the person saw last."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

from msgspec.structs import replace

from core.kernel.frame import clean, flat
from core.kernel.language import spliced, tr
from core.kernel.values.harvest import HarvestItem
from core.kernel.values.imports import Transcript, TranscriptKind
from core.kernel.values.knowledge import Category
from core.knowledge.harvest.transcript import (
    Said,
    is_answer_of_tools,
    prepared,
    said_parts,
    since,
    tool_shares,
    with_short_ids,
)
from core.talk.transcripts import transcript_reader
from core.talk.transcripts.transcript_reader import SHAPE_BYTES, seen_last

_LINES = {TranscriptKind.CLAUDE_CODE, TranscriptKind.AIDER}
"""Kinds that are read as far as they are sound: what is being written ends in the middle of a line."""

_BY_LINES = {
    kind.value
    for kind in (
        *(TranscriptKind.DISCUSSION, TranscriptKind.CLAUDE_CODE, TranscriptKind.CODEX),
        *(TranscriptKind.AIDER, TranscriptKind.SPECSTORY, TranscriptKind.PLAIN),
    )
}
"""Kinds whose first lines are a conversation by themselves."""

SHARE_BYTES = 128 * 1024
"""Bytes of a conversation that are read to tell how much of it a model is sent."""

_TAG_BYTES = 27
"""Bytes of the tags around a message, about."""

_ROLES = {"user", "assistant", "tool"}


def messages_of(kind: TranscriptKind, data: bytes) -> tuple[Said, ...]:
    """The messages of a conversation.

    Raises:
        ValueError: the file is not of that kind, or cannot be read as a whole.
    """
    if kind in {TranscriptKind.TEMPORARY, TranscriptKind.UNKNOWN}:
        raise ValueError(tr("this is not a conversation that the program can read"))
    found: list[Said] = []
    is_read = False
    for one in transcript_reader.read_transcripts(kind, data):
        if isinstance(one, Transcript):
            is_read = True
            found += _said(kind, one)
        elif kind not in _LINES:
            raise ValueError(spliced("{}: {}", one.place, one.why) if one.place else one.why)
    if not is_read and kind is not TranscriptKind.AIDER:
        raise ValueError(tr("the conversation has no messages"))
    return tuple(found)


def unread_messages(kind: TranscriptKind, data: bytes, new_bytes: int) -> tuple[Said, ...]:
    """The messages that were not harvested yet, as they may leave the home: no secrets, no recalled memory.

    A megabyte in one message takes a second of regular expressions, in which no other thread runs: a window has it
    done in the worker process.

    Args:
        new_bytes: how many at the end of `data` were not harvested before.

    Raises:
        ValueError: the file is not of that kind, or cannot be read as a whole.
    """
    messages = messages_of(kind, data)
    if new_bytes < len(data):
        messages = since(messages, _earlier(kind, data[: len(data) - new_bytes]))
    return prepared(messages)


def sent_share(kind: TranscriptKind, data: bytes) -> float:
    """The part of a conversation's bytes that a model is sent, by its first ones; 1 where nobody can tell cheaply."""
    head = data[:SHARE_BYTES]
    if len(data) > SHARE_BYTES:
        head = head[: head.rfind(b"\n") + 1] if kind.value in _BY_LINES else b""
    try:
        said = with_short_ids(messages_of(kind, head)) if head else ()
    except ValueError:
        said = ()
    size = sum(len(one.text.encode("utf-8", "replace")) + _TAG_BYTES for one in said)
    return min(1.0, size / len(head)) if size else 1.0


def talk_marks(kind: TranscriptKind, data: bytes) -> tuple[str, ...]:
    """Marks of the conversations in a file, the same whatever program keeps them and however far they went.

    Each is the sha256 (hex) of the first question and its first answer, blanks normalised; one without an answer has
    none. A file that cannot be read has none.
    """
    if kind in {TranscriptKind.TEMPORARY, TranscriptKind.UNKNOWN}:
        return ()
    marks: dict[str, None] = {}
    try:
        for one in transcript_reader.read_transcripts(kind, data):
            said = list(_said(kind, one)) if isinstance(one, Transcript) else []
            asked = next((n for n, message in enumerate(said) if message.role == "user"), len(said))
            answer = next((message for message in said[asked:] if message.role == "assistant"), None)
            if answer is not None:
                words = f"{flat(clean(said[asked].text))}\n{flat(clean(answer.text))}"
                marks[hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()] = None
    except ValueError:
        pass
    return tuple(marks)


def working_folder(kind: TranscriptKind, data: bytes) -> str:
    """Folder that another program's conversation says it worked in, empty where it does not. Reads its first lines."""
    if kind is not TranscriptKind.CLAUDE_CODE:
        return ""
    found = transcript_reader.read_transcripts(TranscriptKind.CLAUDE_CODE, data[:SHAPE_BYTES])
    folders = (one.folder for one in found if isinstance(one, Transcript))
    return next(filter(None, folders), "")


def _said(kind: TranscriptKind, transcript: Transcript) -> Iterator[Said]:
    """Words of a conversation. Sessions of Claude Code are read in their order, helpers included: nothing is undone in them."""
    is_whole = kind is TranscriptKind.CLAUDE_CODE
    messages = tuple(transcript.messages if is_whole else seen_last(transcript))
    for one, share in zip(messages, tool_shares(one.parts for one in messages), strict=True):
        text = said_parts(one.parts, share)
        if text.strip() and one.role in _ROLES and (is_whole or not one.is_aside):
            yield Said(role="tool" if is_answer_of_tools(one.parts) else one.role, text=text, id=one.id)


def _earlier(kind: TranscriptKind, head: bytes) -> tuple[Said, ...]:
    try:
        return messages_of(kind, head)
    except ValueError:
        return ()


# Paths that a model names in notes on files: found below the folders that a conversation was about.


def with_found_paths(
    items: Iterable[HarvestItem],
    folders: Iterable[str],
    user: str,
    exists: Callable[[str], bool] = os.path.exists,
) -> tuple[HarvestItem, ...]:
    """Items whose notes name absolute paths, as far as there are such files; the others are as they were.

    A model names any path, and a conversation from elsewhere has it do so: a file outside of these folders is never
    looked at, so that its note is bound to no file.

    Args:
        folders: absolute; that of the conversation first; user: the person's own folder, for `~`.
    """
    places = tuple(folder for folder in folders if os.path.isabs(folder) and not _is_broad(folder, user))
    return tuple(
        _found(item, places, user, exists) if item.category is Category.FILES else item for item in items
    )


def _found(
    item: HarvestItem, places: tuple[str, ...], user: str, exists: Callable[[str], bool]
) -> HarvestItem:
    path = found_path(item.head, places, user, exists)
    return replace(item, head=path, is_outside=os.path.isabs(path) and not is_inside(path, places))


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """True if a file lies in one of these folders, links followed."""
    real = os.path.realpath(path)
    return any(real.startswith(os.path.realpath(folder).rstrip(os.sep) + os.sep) for folder in folders)


def _is_broad(folder: str, user: str) -> bool:
    """True for a folder that holds the person's own one, or is it: what lies in it belongs to no project."""
    real = os.path.realpath(folder).rstrip(os.sep) + os.sep
    return (os.path.realpath(user).rstrip(os.sep) + os.sep).startswith(real)


def found_path(path: str, folders: Iterable[str], user: str, exists: Callable[[str], bool]) -> str:
    """The absolute path of a file as it was named, or the name where there is none. What climbs (`..`) is not looked for."""
    if is_plain_path(path) or climbs(path):
        return path
    if path.startswith(("~/", "~\\")):
        return os.path.join(user, path[2:])
    found = (os.path.normpath(os.path.join(folder, path)) for folder in folders)
    return next((place for place in found if path and exists(place)), path)


def is_plain_path(path: str) -> bool:
    """True if a path is absolute on some platform and climbs nowhere."""
    windows = PureWindowsPath(path)
    if climbs(path):
        return False
    return PurePosixPath(path).is_absolute() or (windows.is_absolute() and not path.startswith("\\\\"))


def climbs(path: str) -> bool:
    """True if a path leads up again somewhere (`..`)."""
    return ".." in PureWindowsPath(path).parts or ".." in PurePosixPath(path).parts


def working_folders(path: Path, folder: str, root: str) -> tuple[str, ...]:
    """Folders that relative paths of a conversation are looked for in, in that order.

    Args:
        path: of the conversation's file; folder: that it says it worked in, empty where it does not.
        root: the opened project's.
    """
    beside = [str(parent.parent) for parent in path.parents if parent.name == ".specstory"]
    return tuple(dict.fromkeys(filter(None, (folder, *beside, root))))
