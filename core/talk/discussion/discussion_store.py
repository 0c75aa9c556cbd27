"""A discussion as a whole on disk: made at once, loaded with its repairs, branched; when this program last saw it."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import (
    OS_DISK,
    Appended,
    Disk,
    HeldLock,
    append_file,
    discussion_lock,
    make_dirs,
    remove_leftovers,
    reported,
    sync_dir,
    take_lock,
)
from core.kernel.errors import LockedError, StorageError
from core.kernel.language import tr
from core.kernel.opener import oddities
from core.kernel.values.discussion import DiscussionMeta, OpenDiscussion, QueuedPrompt
from core.kernel.values.messages import AttachmentPart, files_of
from core.kernel.values.records import EditRecord, MessageRecord, Record
from core.talk.discussion import attachments, discussion_meta, log, log_codec, log_content, reply_journal
from core.talk.discussion.open_calls import LeftCalls, left_calls, open_calls_of
from core.talk.discussion.reply_journal import paid_for, unlogged

# Last sightings of each discussion on disk by this program: the changes of another program stand out.


class _Marks(msgspec.Struct, frozen=True):
    log_bytes: int
    meta: tuple[int, int, int]


class Seen:
    """Sizes of logs and marks of metas by discussion. One thread; O(1) for each question.

    Args:
        home: the person's data.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._marks: dict[str, _Marks] = {}

    def look(self, discussion_id: str) -> bool:
        """Remember how it stands now. Whether that differs from what was seen last; True for one never seen."""
        now = _Marks(_log_bytes(self._home, discussion_id), _meta_marks(self._home, discussion_id))
        before = self._marks.get(discussion_id)
        self._marks[discussion_id] = now
        return now != before

    def knows(self, discussion_id: str) -> bool:
        """True if it was seen; one that was not may have come out of the trash."""
        return discussion_id in self._marks

    def wrote_meta(self, discussion_id: str) -> None:
        """This program wrote the meta."""
        if known := self._marks.get(discussion_id):
            self._marks[discussion_id] = replace(known, meta=_meta_marks(self._home, discussion_id))

    def appended(self, discussion_id: str, went: Appended) -> bool:
        """This program appended to the log. Whether another program had appended before, unseen."""
        known = self._marks.get(discussion_id)
        if known is None:
            return False
        self._marks[discussion_id] = replace(known, log_bytes=went.size_bytes)
        return went.offset > known.log_bytes + went.was_torn

    def forget(self, discussion_id: str) -> None:
        """It is not there any more."""
        self._marks.pop(discussion_id, None)


def _log_bytes(home: Path, discussion_id: str) -> int:
    try:
        return paths.log_file(home, discussion_id).stat().st_size
    except OSError:
        return 0


def _meta_marks(home: Path, discussion_id: str) -> tuple[int, int, int]:
    try:
        status = paths.meta_file(home, discussion_id).stat()
    except OSError:
        return 0, 0, 0
    return status.st_size, status.st_mtime_ns, status.st_ino


# Lock of a discussion's tool calls: held while a program has calls without results there, so that no other
# takes them for left behind.

LOOK_WAIT_S = 0.5
"""Wait for the lock: another program that reads the discussion has it for a moment."""


class CallsLocks:
    """Locks that this program holds, by discussion. Thread-safe; written by the disk worker, let go at the end."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._held: dict[str, HeldLock] = {}
        self._open: dict[str, set[str]] = {}

    def asked(self, discussion_id: str, call_ids: frozenset[str]) -> None:
        """Calls are about to stand in the log, or begin. Where the lock cannot be had they go on without."""
        if not call_ids:
            return
        with self._lock:
            self._open.setdefault(discussion_id, set()).update(call_ids)
            if discussion_id in self._held:
                return
            directory = paths.discussion_dir(self._home, discussion_id)
            with suppress(StorageError):
                lock = take_lock(directory / paths.TOOLS_LOCK_FILE, wait_s=LOOK_WAIT_S)
                if lock is not None:
                    self._held[discussion_id] = lock

    def answered(self, discussion_id: str, call_ids: frozenset[str]) -> None:
        """Note that results of calls are in the log. After the last result, release the lock."""
        with self._lock:
            open_calls = self._open.get(discussion_id)
            if open_calls is None:
                return
            open_calls -= call_ids
            if not open_calls:
                self._release(discussion_id)

    def is_ours(self, discussion_id: str) -> bool:
        """True while this program has calls without results there."""
        with self._lock:
            return discussion_id in self._open

    def release_all(self) -> None:
        """Let go of all: the program ends, or the calls are another start's matter."""
        with self._lock:
            for discussion_id in tuple(self._open):
                self._release(discussion_id)

    def _release(self, discussion_id: str) -> None:
        self._open.pop(discussion_id, None)
        lock = self._held.pop(discussion_id, None)
        if lock is not None:
            lock.release()


@contextmanager
def calls_held(home: Path, discussion_id: str) -> Iterator[bool]:
    """Hold off who would begin calls; False where a live program has some. A home that cannot be written has none."""
    try:
        lock = take_lock(paths.discussion_dir(home, discussion_id) / paths.TOOLS_LOCK_FILE)
    except StorageError:
        yield True
        return
    if lock is None:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


# A discussion as a whole on disk: made at once, loaded with its repairs, branched.

LEFT_BEHIND = tr("The program ended before it sent this message.")
"""Reason of a queue that is read from disk to wait for the person: a start never spends money by itself."""
ENDED_AT_WORK = tr(
    "The program ended while tools were at work. It marked their calls as interrupted and does not run them again"
)


_PASSED_OVER = (
    *(paths.CACHE_FILE, paths.DRAFT_FILE, paths.DRAFT_ATTACHMENTS_FILE, paths.REPLY_FILE),
    *(paths.LOCK_FILE, paths.REPLY_LOCK_FILE, paths.LEFTOVERS_LOCK_FILE, paths.TOOLS_LOCK_FILE),
)
"""Names of files without which a discussion is read all the same. Log, meta and queue speak for themselves."""


_STAGED = ".new-"
"""Start of the name of a folder in which a discussion is written before it counts."""


class LoadedDiscussion(msgspec.Struct, frozen=True):
    """A discussion read from disk. What was repaired is in `discussion.repaired`."""

    meta: DiscussionMeta
    discussion: OpenDiscussion


def create(
    home: Path,
    new: DiscussionMeta,
    records: Iterable[Record] = (),
    *,
    attachments_of: str = "",
    disk: Disk = OS_DISK,
) -> None:
    """Make a discussion; it appears whole or not at all.

    Args:
        new: its id must be free; records: what its log starts with (a branch).
        attachments_of: the discussion whose attachments the records name, empty for none.

    Raises:
        StorageError: it was not made.
    """
    staged = stage(home, new, records, attachments_of=attachments_of, disk=disk)
    try:
        claim(staged, disk=disk)
    except BaseException:
        drop(staged)
        raise


class Staged(msgspec.Struct, frozen=True):
    """A discussion that is whole on disk, and not yet one of the home's."""

    directory: Path
    staging: Path


def stage(
    home: Path,
    new: DiscussionMeta,
    records: Iterable[Record] = (),
    *,
    attachments_of: str = "",
    disk: Disk = OS_DISK,
) -> Staged:
    """Write a discussion beside the others, to be claimed. Args and Raises as for `create`."""
    directory = paths.discussion_dir(home, new.id)
    first = tuple(records)
    make_dirs(directory.parent, disk=disk)
    staging = _staging(directory)
    make_dirs(staging, disk=disk)
    try:
        _fill(staging, new, first, disk)
        if attachments_of:
            source = paths.attachments_dir(home, attachments_of)
            attachments.copy_between(source, staging / "attachments", attachments_in(first), disk=disk)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return Staged(directory, staging)


def claim(staged: Staged, *, disk: Disk = OS_DISK) -> None:
    """Make a staged discussion one of the home's. Raises StorageError: its id is taken, or it could not be."""
    with reported("make", staged.directory):
        _claim(staged.staging, staged.directory, disk)


def discard(home: Path, discussion_id: str) -> None:
    """Remove an empty discussion, completely or not at all.

    Raises:
        StorageError: something was said in it, or it could not be removed; it is where it was.
        LockedError: another process is writing to it.
    """
    directory = paths.discussion_dir(home, discussion_id)
    with discussion_lock(directory), reported("remove", directory):
        words = (paths.LOG_FILE, paths.REPLY_FILE, paths.QUEUE_FILE, paths.DRAFT_FILE)
        if any(_holds_bytes(directory / name) for name in words):
            raise StorageError(tr("The discussion stays, because it has messages"), where=str(directory))
        gone = _staging(directory)
        OS_DISK.replace(directory, gone)
    shutil.rmtree(gone, ignore_errors=True)


def staged_for(home: Path, discussion_id: str) -> tuple[Path, ...]:
    """Folders in which a discussion was written that was never claimed: a program ended there."""
    directory = paths.discussion_dir(home, discussion_id)
    return tuple(sorted(directory.parent.glob(f"{_staged_as(directory)}*.tmp")))


def discussion_of(name: str) -> str:
    """Id of the discussion that a folder among them is, or was to become."""
    return name.removeprefix(_STAGED).partition(".")[0] if name.startswith(_STAGED) else name


def drop(staged: Staged) -> None:
    """Remove what was staged and is not claimed."""
    shutil.rmtree(staged.staging, ignore_errors=True)


def load(home: Path, discussion_id: str, now: datetime, *, disk: Disk = OS_DISK) -> LoadedDiscussion:
    """Read a discussion, and set right what a crash left: a torn line, a reply that was arriving.

    Args:
        now: UTC, only to tell old temporary files from live ones.

    Raises:
        StorageError: there is no such discussion, or its log cannot be read. Where repairs cannot be written (a
            read-only home, a full disk) the discussion is shown as repaired all the same.
    """
    directory = paths.discussion_dir(home, discussion_id)
    with reported(tr("open the discussion"), directory):
        directory.stat()
    remove_leftovers(directory, now)
    content = log.read(home, discussion_id)
    content, notes = _with_leftovers(home, discussion_id, content, disk)
    content, left, held = _with_left_calls(home, discussion_id, content, now, disk)
    waiting = discussion_meta.read(home, discussion_id)
    queue = _unsent(waiting.prompts, content.records)
    repaired = (
        *(
            *content.repairs,
            *log.foreign_sentences(content),
            *notes,
            *((ENDED_AT_WORK,) if left.results else ()),
            *filter(None, (waiting.problem,)),
        ),
        *oddities(directory, _PASSED_OVER),
    )
    discussion = replace(
        log_content.fold(discussion_id, content.records),
        draft=discussion_meta.read_draft(home, discussion_id),
        repaired=repaired,
        attachments_dir=str(paths.attachments_dir(home, discussion_id)),
        queue=queue,
        queue_hold=LEFT_BEHIND if queue else "",
        left_calls=left.asked,
        held_calls=held,
    )
    read = discussion_meta.read_meta(home, discussion_id)
    return LoadedDiscussion(meta=read.meta, discussion=discussion)


def branch(home: Path, parent_id: str, message_id: str, new: DiscussionMeta) -> None:
    """Copy a discussion up to a message into a new one. The parent is only read.

    Args:
        message_id: the last message that it holds; new: names the parent and the branch point.

    Raises:
        StorageError: the message is not in the parent's log, or the branch could not be made.
    """
    records = log_content.branch_records(log.read(home, parent_id).records, message_id)
    if records is None:
        raise StorageError(
            tr("The discussion has no message {message_id!r}", message_id=message_id),
            remedy=tr("Open the discussion again and branch from a message that it shows"),
            where=str(paths.log_file(home, parent_id)),
        )
    create(home, new, records, attachments_of=parent_id)


def attachments_in(records: Sequence[Record]) -> tuple[AttachmentPart, ...]:
    """Every attachment that messages and edits name, each once."""
    named = (record.parts for record in records if isinstance(record, (MessageRecord, EditRecord)))
    return tuple(dict.fromkeys(files_of(chain.from_iterable(named))))


def _staging(directory: Path) -> Path:
    """A free name beside a discussion that no reader takes for one; a start removes what is left under it."""
    return directory.with_name(f"{_staged_as(directory)}{secrets.token_hex(4)}.tmp")


def _staged_as(directory: Path) -> str:
    return f"{_STAGED}{directory.name}."


def _holds_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _fill(staging: Path, new: DiscussionMeta, records: tuple[Record, ...], disk: Disk) -> None:
    discussion_meta.write_meta_in(staging, new, disk=disk)
    if records:
        data = b"".join(map(log_codec.encode, records))
        append_file(staging / paths.LOG_FILE, data, disk=disk)


def _claim(staging: Path, directory: Path, disk: Disk) -> None:
    """A rename onto a directory that holds something fails, so an id is never taken twice."""
    if directory.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    disk.replace(staging, directory)
    sync_dir(directory.parent, disk)


def _with_leftovers(
    home: Path, discussion_id: str, content: log.LogContent, disk: Disk
) -> tuple[log.LogContent, tuple[str, ...]]:
    """Put calls that a killed process had under way into the log: what had come of a reply, and what is booked.

    They are counted before they are held: counting takes a while, and another reader waits for the lock. The log is
    read again behind it: who held it before may have put them there.
    """
    with reply_journal.leftovers(home, discussion_id) as left:
        pass
    if not left:
        return content, ()
    counted = {reply: _as_records(reply) for reply in unlogged(left, content.records)}
    with reply_journal.leftovers(home, discussion_id) as left:
        content = log.read(home, discussion_id)
        back = {reply: counted.get(reply) or _as_records(reply) for reply in unlogged(left, content.records)}
        new = tuple(chain.from_iterable(back.values()))
        with suppress(StorageError, LockedError):
            if new:
                log.append(home, discussion_id, new, disk=disk)
            reply_journal.discard(left)
    notes = tuple(dict.fromkeys(_note(reply) for reply, records in back.items() if records))
    return (replace(content, records=(*content.records, *new)) if new else content), notes


def _with_left_calls(
    home: Path, discussion_id: str, content: log.LogContent, now: datetime, disk: Disk
) -> tuple[log.LogContent, LeftCalls, tuple[str, ...]]:
    """Write what became of tool calls that a killed program had begun; what it left; ids of those that a live one has."""
    if not left_calls(content.records, now).is_any:
        return content, LeftCalls(), ()
    with calls_held(home, discussion_id) as is_free:
        if not is_free:
            return content, LeftCalls(), open_calls_of(content.records)
        content = log.read(home, discussion_id)  # a live program may have written until it let go
        left = left_calls(content.records, now)
        with suppress(StorageError, LockedError):
            if left.results:
                log.append(home, discussion_id, left.results, disk=disk)
    return replace(content, records=(*content.records, *left.results)), left, ()


def _unsent(prompts: tuple[QueuedPrompt, ...], records: Sequence[Record]) -> tuple[QueuedPrompt, ...]:
    """Prompts that wait; one whose words are in the log was sent when the program ended."""
    if not prompts:
        return ()
    said = {record.id for record in records if isinstance(record, MessageRecord)}
    return tuple(prompt for prompt in prompts if prompt.id not in said)


def _note(reply: reply_journal.LeftoverReply) -> str:
    if reply.parts:
        return tr("The program ended while a reply was arriving; it kept and marked the received part")
    return tr("The program ended before a reply came; it counts the request at its estimate")


def _as_records(reply: reply_journal.LeftoverReply) -> tuple[Record, ...]:
    """Records that a call that was under way becomes in the log: the message, and what it is booked at."""
    return (*((reply.record,) if reply.parts else ()), *paid_for(reply))
