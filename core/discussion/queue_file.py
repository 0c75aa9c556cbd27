"""`queue.json` of a discussion: prompts that wait for their turn. Each leaves it once, whoever sends or takes it."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from core.base import paths
from core.base.decoders import from_json
from core.base.disk import OS_DISK, Appended, Disk, append_file, reported, write_file
from core.base.errors import StorageError
from core.base.locks import discussion_lock
from core.base.opener import BOOK_BYTES, open_file, read_file
from core.discussion import log_codec
from core.values.discussion import QueuedPrompt
from core.values.records import MessageRecord, Record

VERSION = 1
_Prompts = tuple[QueuedPrompt, ...]


class QueueRead(msgspec.Struct, frozen=True):
    """A queue as far as it could be read; `problem` says what could not, empty when all is well."""

    prompts: tuple[QueuedPrompt, ...] = ()
    problem: str = ""


class _QueueContent(msgspec.Struct, frozen=True):
    """The file: the version of its form, and the prompts in order."""

    v: int
    prompts: tuple[QueuedPrompt, ...]


def read(home: Path, discussion_id: str) -> QueueRead:
    """Read the prompts that wait, in order. Never fails: what cannot be read is named, and the file is left alone."""
    return _read(paths.discussion_dir(home, discussion_id) / paths.QUEUE_FILE)


def add(
    home: Path, discussion_id: str, prompt: QueuedPrompt, *, disk: Disk = OS_DISK
) -> tuple[QueuedPrompt, ...]:
    """Keep a prompt behind those that wait.

    Returns:
        The queue as it stands on disk.

    Raises:
        StorageError: it was not kept. LockedError: another process kept the discussion's lock.
    """
    return _change(home, discussion_id, lambda before: (*before, prompt), disk)


def remove(
    home: Path, discussion_id: str, prompt_id: str, *, disk: Disk = OS_DISK
) -> tuple[QueuedPrompt, ...]:
    """Take a prompt out; one that is not there changes nothing.

    Returns:
        The queue as it stands on disk.

    Raises:
        StorageError, LockedError: it still waits.
    """
    return _change(home, discussion_id, lambda before: _without(before, prompt_id), disk)


def send(
    home: Path, discussion_id: str, records: tuple[Record, ...], prompt_id: str, *, disk: Disk = OS_DISK
) -> Appended | None:
    """Append a queued prompt's records to the log and take it out of the queue, in one hold of the lock.

    A kill between the two leaves it in both: the log counts, here and when the discussion is loaded.

    Returns:
        Where the records went; None where the prompt is not in the queue any more, or was sent already.

    Raises:
        StorageError, LockedError: nothing was appended, and the prompt still waits.
    """
    directory = paths.discussion_dir(home, discussion_id)
    with discussion_lock(directory):
        before = _writable(directory, disk)
        rest = _without(before, prompt_id)
        is_sent = _is_logged(directory / paths.LOG_FILE, prompt_id)
        appended = None
        if rest != before and not is_sent:
            data = b"".join(map(log_codec.encode, records))
            appended = append_file(directory / paths.LOG_FILE, data, disk=disk)
        if rest != before:
            with suppress(StorageError):
                _write(directory, rest, disk)
    return appended


def _change(home: Path, discussion_id: str, change: Callable[[_Prompts], _Prompts], disk: Disk) -> _Prompts:
    """Change the queue in one hold of the lock, and return it as it stands on disk."""
    directory = paths.discussion_dir(home, discussion_id)
    with discussion_lock(directory):
        before = _writable(directory, disk)
        prompts = change(before)
        if prompts != before:
            _write(directory, prompts, disk)
    return prompts


def _without(prompts: _Prompts, prompt_id: str) -> _Prompts:
    return tuple(prompt for prompt in prompts if prompt.id != prompt_id)


def _read(path: Path) -> QueueRead:
    try:
        content = from_json(read_file(path, BOOK_BYTES), _QueueContent)
    except FileNotFoundError:
        return QueueRead()
    except (OSError, ValueError, RecursionError) as error:
        return QueueRead(problem=f"{paths.QUEUE_FILE} cannot be read, what waits in it is not shown: {error}")
    if content.v != VERSION:
        return QueueRead(problem=f"{paths.QUEUE_FILE} is of another version ({content.v}) and was left alone")
    return QueueRead(content.prompts)


def _writable(directory: Path, disk: Disk) -> tuple[QueuedPrompt, ...]:
    """The prompts, before others are written. A file that cannot be read is kept beside it."""
    path = directory / paths.QUEUE_FILE
    found = _read(path)
    if found.problem:
        with reported("keep a copy of", path):
            disk.replace(path, path.with_name(path.name + ".broken"))
    return found.prompts


def _write(directory: Path, prompts: tuple[QueuedPrompt, ...], disk: Disk) -> None:
    """Write the queue; an empty one leaves no file."""
    path = directory / paths.QUEUE_FILE
    if prompts:
        content = msgspec.to_builtins(_QueueContent(VERSION, prompts))
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
        write_file(path, text.encode("utf-8", "replace"), disk=disk)
        return
    with reported("remove", path):
        path.unlink(missing_ok=True)


def _is_logged(path: Path, message_id: str) -> bool:
    """True if a message with this id can be read in the log, as when it is loaded: half of its line, which a kill left,
    is none. No text can look like the id: quotes inside a JSON string are escaped.
    """
    mark = f'"id":{json.dumps(message_id)}'.encode()
    try:
        with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(mark)
            while at >= 0:
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
                record = log_codec.decode(data[data.rfind(b"\n", 0, at) + 1 : end], 0)
                if isinstance(record, MessageRecord) and record.id == message_id:
                    return True
                at = data.find(mark, end)
    except (OSError, ValueError):
        return False
    return False
