"""The arriving reply, written to disk as it comes, so that a paid text survives a kill."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec

from core.kernel import paths
from core.kernel.codecs import builtins_of, from_builtins, from_json
from core.kernel.disk import LOCK_WAIT_S, OS_DISK, Disk, reported, storage_error, take_lock
from core.kernel.errors import LockedError, StorageError
from core.kernel.ids import make_id
from core.kernel.language import tr
from core.kernel.o200k import count_tokens
from core.kernel.opener import OddFileError, open_file
from core.kernel.patterns import late
from core.kernel.tokens import scaled
from core.kernel.values.messages import Part, ReasoningPart, Role, Status, TextPart, ToolCallPart
from core.kernel.values.records import MessageRecord, Record, UsageRecord
from core.kernel.values.usage import Usage
from core.services.spending.estimates import booked, reply_texts, with_lost
from core.services.spending.pricing import cost

log = logging.getLogger(__name__)

_MOST_LOST, _MOST_FACTOR = 10, 10.0
"""More than any call has; a file that says more is not believed."""

_SURROGATES = late("[\ud800-\udfff]")


class ReplyHead(msgspec.Struct, frozen=True):
    """Head of a reply, known before it arrives: the id of its record, when it was asked for, and of whom.

    Args:
        version_of: the reply that it is another version of, empty for a first one.
        call_id: of the call that asks; expected: the input as it is expected to be billed, None where nobody knows.
        factor: the model's tokens over o200k's in a reply.
    """

    reply_id: str
    at: datetime
    provider: str
    model: str
    call_id: str = ""
    expected: Usage | None = None
    factor: float = 1.0
    version_of: str = ""


class LeftoverReply(msgspec.Struct, frozen=True):
    """A journal that a killed process left behind. `parts` is what had arrived, may be empty.

    Args:
        reported: what the provider had said of its usage by then.
        is_out: the provider had the request; lost: attempts before it whose answers never came.
    """

    head: ReplyHead
    parts: tuple[Part, ...]
    path: Path
    reported: Usage = Usage()
    is_out: bool = False
    lost: int = 0

    @property
    def record(self) -> MessageRecord:
        """The message that the journal becomes."""
        head = self.head
        return MessageRecord(
            id=head.reply_id,
            at=head.at,
            role=Role.ASSISTANT,
            parts=self.parts,
            status=Status.INTERRUPTED,
            provider=head.provider,
            model=head.model,
            version_of=head.version_of,
        )


class ReplyJournal:
    """The journal of one reply, from before its request goes out until the reply is in the log.

    It holds the discussion's reply lock from its beginning on. Where it cannot be begun nothing may be sent: nobody
    could book it. A disk that refuses later does not stop a paid stream: that is logged once, then the journal is
    silent. The call's thread writes; the disk worker's ends it when the reply is logged.

    Every line goes to the operating system at once (a stream may pause for minutes after it), but is not synced to
    the medium: a killed program loses nothing, a power cut some seconds, and no call waits for a sync but that of
    the person's words before it.

    Args:
        head: makes the head when the journal begins; opening: hears of the journal before it takes the lock.
        take: takes the discussion's reply lock. name: of its file; one that may have others beside it has its own.
    """

    def __init__(
        self,
        home: Path,
        discussion_id: str,
        head: Callable[[], ReplyHead],
        *,
        opening: Callable[[ReplyJournal], None] = lambda _journal: None,
        take: Callable[[Path], Lock | None] = take_lock,
        name: str = paths.REPLY_FILE,
        disk: Disk = OS_DISK,
    ) -> None:
        self.discussion_id = discussion_id
        self._directory = paths.discussion_dir(home, discussion_id)
        self._head, self._opening, self._disk = head, opening, disk
        self._path, self._take = self._directory / name, take
        self._fd = -1
        self._lock: Lock | None = None
        self._is_silent = False

    @property
    def is_beside(self) -> bool:
        """True where others of a comparison may arrive at the same time."""
        return self._path.name != paths.REPLY_FILE

    def add_text(self, text: str) -> None:
        """Keep more of the reply's text."""
        self._add({"t": text})

    def add_reasoning(self, text: str, vendor_json: str = "") -> None:
        """Keep more of the reasoning; `vendor_json` ends its block."""
        self._add({"r": text, "j": vendor_json} if vendor_json else {"r": text})

    def add_call(self, part: ToolCallPart) -> None:
        """Keep a call that is whole. Of one that a kill cuts short nothing is kept: its arguments say nothing."""
        self._add({"c": [part.call_id, part.name, part.arguments_json]})

    def add_usage(self, usage: Usage) -> None:
        """Keep what the provider says of its usage; the last word counts."""
        self._add({"u": builtins_of(usage)})

    def note_attempt(self, *, is_out: bool, lost: int) -> None:
        """Note that the request goes out again, or that the provider does not have it any more.

        Args:
            lost: attempts so far whose answers never came.
        """
        self._add(_attempt(is_out=is_out, lost=lost))

    def finish(self) -> None:
        """Remove the journal: the reply's record is in the log, or nothing of it shall be kept."""
        try:
            if self._lock is not None:
                with reported("remove", self._path):
                    self._path.unlink(missing_ok=True)
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the journal and leave it for the next load: its record could not be written to the log."""
        self._is_silent = True
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _add(self, delta: dict[str, Any]) -> None:
        if self._is_silent or self._fd < 0:
            return
        try:
            self._write(delta)
        except StorageError as error:
            self._is_silent = True
            log.warning("reply journal failed: %s", error)

    def begin(self) -> None:
        """Note that the request is about to go out: take the lock and write the head. An older leftover is set aside, not
        overwritten.

        Raises:
            LockedError: another process is receiving a reply in this discussion.
            StorageError: it cannot be noted.
        """
        self._opening(self)
        with _leftovers_held(self._directory):
            self._lock = self._take(self._directory / paths.REPLY_LOCK_FILE)
        if self._lock is None:
            raise LockedError(
                tr("Another window or command is receiving a reply in this discussion"),
                remedy=tr("Wait until the reply is done, or stop it there"),
                where=str(self._directory),
            )
        try:
            with reported("write", self._path):
                _set_aside(self._path, self._disk)
                self._fd = self._disk.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        except BaseException:
            self.close()
            raise
        try:
            self._write(_head_data(self._head()), _attempt(is_out=True, lost=0))
        except BaseException:
            self.finish()
            raise

    def _write(self, *data: dict[str, Any]) -> None:
        pending = b"".join(map(_line, data))
        try:
            while pending:
                pending = pending[self._disk.write(self._fd, pending) :]
        except OSError as error:
            raise storage_error("write", self._path, error) from error


@contextmanager
def leftovers(home: Path, discussion_id: str) -> Iterator[tuple[LeftoverReply, ...]]:
    """Replies whose process died, oldest first; nobody can begin or take over one inside the block.

    Yields nothing while a live process journals in this discussion. A journal without a readable head holds
    nothing that could be told apart and is passed over.

    Raises:
        LockedError: another process or thread held them off for `LOCK_WAIT_S`.
        StorageError: a journal is there and cannot be read.
    """
    directory = paths.discussion_dir(home, discussion_id)
    if not _found(directory):
        yield ()
        return
    with _leftovers_held(directory):
        found = () if _is_live(directory) else _found(directory)
        left = [one for one in map(_read, found) if one is not None]
        ids = {one.head.reply_id for one in left}
        yield tuple(sorted(left, key=lambda one: one.head.version_of in ids))  # a reply, then its versions


def discard(left: Iterable[LeftoverReply]) -> None:
    """Remove journals whose records are in the log.

    Raises:
        StorageError: one could not be removed.
    """
    for reply in left:
        with reported("remove", reply.path):
            reply.path.unlink(missing_ok=True)


def has_journal(directory: Path) -> bool:
    """True if a reply is arriving in a discussion's folder, or was when its program ended."""
    return bool(_found(directory))


def _found(directory: Path) -> tuple[Path, ...]:
    """Those set aside first, by their number, then the one that was written last."""
    aside = sorted(directory.glob("reply.*.part"), key=lambda path: (len(path.name), path.name))
    last = directory / paths.REPLY_FILE
    return (*aside, last) if last.exists() else tuple(aside)


@contextmanager
def _leftovers_held(directory: Path) -> Iterator[None]:
    """Hold off whoever would begin a journal here or read leftovers.

    The reply lock alone cannot do it: a reader that held it would look like a live journal to every other reader.
    A home that cannot be written has neither.

    Raises:
        LockedError: another process or thread held it for `LOCK_WAIT_S`.
    """
    try:
        lock = take_lock(directory / paths.LEFTOVERS_LOCK_FILE, wait_s=LOCK_WAIT_S)
    except StorageError:
        yield
        return
    if lock is None:
        raise LockedError(
            tr("Another window or command is taking over an interrupted reply in this discussion"),
            remedy=tr("Wait a moment and try again"),
            where=str(directory),
        )
    try:
        yield
    finally:
        lock.release()


def _is_live(directory: Path) -> bool:
    """True where a live process journals. A home that cannot be written has no live journal."""
    try:
        lock = take_lock(directory / paths.REPLY_LOCK_FILE)
    except StorageError:
        return False
    if lock is None:
        return True
    lock.release()
    return False


def _set_aside(path: Path, disk: Disk) -> None:
    if not os.path.lexists(path):
        return
    number = 1
    while (aside := path.with_name(f"reply.{number}.part")).exists():
        number += 1
    disk.replace(path, aside)


def _head_data(head: ReplyHead) -> dict[str, Any]:
    data = {
        "v": 1,
        "id": head.reply_id,
        "at": head.at.isoformat(),
        "provider": head.provider,
        "model": head.model,
        "call": head.call_id,
        "expected": None if head.expected is None else builtins_of(head.expected),
        "factor": head.factor,
    }
    return {**data, "version_of": head.version_of} if head.version_of else data


def _attempt(*, is_out: bool, lost: int) -> dict[str, Any]:
    return {"out": is_out, "lost": lost}


def _line(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text).encode()


def _read(path: Path) -> LeftoverReply | None:
    """Read a journal line by line: it may be as long as a reply that never ended."""
    head: ReplyHead | None = None
    parts, usage, last = _Parts(), Usage(), dict[str, Any]()
    with reported("read", path):
        try:
            stream = open_file(path)
        except (OddFileError, IsADirectoryError):
            return None  # whoever loads the discussion says so
        with stream:
            for line in stream:
                value = _value(line)
                if not isinstance(value, dict):
                    continue
                if head is None:
                    if (head := _head(value)) is None:
                        return None
                    continue
                parts.add(value)
                if "u" in value and (said := _usage(value["u"])) is not None:
                    usage = said
                if "out" in value:
                    last = value
    if head is None:
        return None
    lost = last.get("lost")
    return LeftoverReply(
        head=head,
        parts=parts.joined(),
        path=path,
        reported=usage,
        is_out=last.get("out") is True,
        lost=min(lost, _MOST_LOST) if isinstance(lost, int) and lost > 0 else 0,
    )


def _value(line: bytes) -> Any:
    try:
        return from_json(line, Any)
    except (ValueError, RecursionError):
        return None  # the torn end, or nothing


def _head(data: dict[str, Any]) -> ReplyHead | None:
    try:
        at = datetime.fromisoformat(data["at"])
        moment = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
        return ReplyHead(
            reply_id=str(data["id"]),
            at=moment,
            provider=str(data["provider"]),
            model=str(data["model"]),
            call_id=str(data.get("call", "")),
            expected=_usage(data.get("expected")),
            factor=factor
            if isinstance(factor := data.get("factor"), float) and 0 < factor < _MOST_FACTOR
            else 1.0,
            version_of=str(data.get("version_of", "")),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _usage(data: object) -> Usage | None:
    """Usage as it was written; None for malformed data."""
    try:
        usage = from_builtins(data, Usage)
    except msgspec.ValidationError:
        return None
    return usage


class _Parts:
    """Deltas joined: text to text, reasoning to reasoning until its block ends. O(n) over all of them."""

    def __init__(self) -> None:
        self._done: list[Part] = []
        self._texts: list[str] = []
        self._thoughts: list[str] = []

    def add(self, delta: dict[str, Any]) -> None:
        """Take in a line of the journal."""
        match delta:
            case {"t": str(text)}:
                self._end_thoughts("")
                self._texts.append(text)
            case {"r": str(text), **rest}:
                self._end_texts()
                self._thoughts.append(text)
                if vendor_json := str(rest.get("j", "")):
                    self._end_thoughts(vendor_json)
            case {"c": [str(call_id), str(name), str(arguments)]}:
                self._end_texts()
                self._end_thoughts("")
                self._done.append(ToolCallPart(call_id=call_id, name=name, arguments_json=arguments))
            case _:
                pass

    def joined(self) -> tuple[Part, ...]:
        """Parts in order."""
        self._end_texts()
        self._end_thoughts("")
        return tuple(self._done)

    def _end_texts(self) -> None:
        if self._texts:
            self._done.append(TextPart("".join(self._texts)))
            self._texts = []

    def _end_thoughts(self, vendor_json: str) -> None:
        if self._thoughts:
            self._done.append(ReasoningPart("".join(self._thoughts), vendor_json))
            self._thoughts = []


# The reply journals that are open: written by the call's thread, dropped by the disk's when the reply is
# logged.


class Lock(Protocol):
    """A lock that is held."""

    def release(self) -> None:
        """Let go of it."""
        ...


class _SharedLock:
    """A discussion's reply lock, held until the last of this program's journals there lets go of it."""

    def __init__(self, held: Lock, key: str, locks: dict[str, _SharedLock], guard: threading.Lock) -> None:
        self._held, self._key, self._locks, self._guard = held, key, locks, guard
        self.holders = 1

    def release(self) -> None:
        with self._guard:
            self.holders -= 1
            if self.holders:
                return
            self._locks.pop(self._key, None)
        self._held.release()


class Journals:
    """Thread-safe: one open journal a discussion, or one for each reply of a comparison. The lock is held for a look, never
    while a disk is asked.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._open: dict[str, dict[str, ReplyJournal]] = {}
        self._locks: dict[str, _SharedLock] = {}

    def journal(
        self, discussion_id: str, call_id: str, head: Callable[[], ReplyHead], *, beside: str = ""
    ) -> ReplyJournal:
        """The journal of a reply that is asked for. It is among the open ones from its beginning on.

        Args:
            beside: the reply's id where others of a comparison may arrive at the same time, else empty.
        """
        return ReplyJournal(
            self._home,
            discussion_id,
            head,
            opening=lambda journal: self._opening(journal, call_id),
            take=lambda path: self._held(discussion_id, path),
            name=f"reply.{beside}.part" if beside else paths.REPLY_FILE,
        )

    def drop(self, discussion_id: str, call_id: str) -> None:
        """The reply is in the log: remove its journal."""
        journal = self._taken(discussion_id, call_id)
        if journal is not None:
            with suppress(StorageError):
                journal.finish()

    def release_all(self) -> None:
        """Leave every journal for the next load: the program ends."""
        with self._lock:
            journals = [journal for open_ in self._open.values() for journal in open_.values()]
            self._open.clear()
        for journal in journals:
            journal.close()

    def _opening(self, journal: ReplyJournal, call_id: str) -> None:
        """Leave earlier ones on disk for the next load: their replies could not be logged."""
        with self._lock:
            before = self._open.pop(journal.discussion_id, {})
            kept = {key: one for key, one in before.items() if journal.is_beside and one.is_beside}
            self._open[journal.discussion_id] = {**kept, call_id: journal}
        for key in before.keys() - kept.keys():
            before[key].close()

    def _held(self, discussion_id: str, path: Path) -> Lock | None:
        """The discussion's reply lock; whoever asks holds off all others who would begin a journal there."""
        with self._lock:
            shared = self._locks.get(discussion_id)
            if shared is not None:
                shared.holders += 1
                return shared
        held = take_lock(path)
        if held is None:
            return None
        with self._lock:
            shared = self._locks[discussion_id] = _SharedLock(held, discussion_id, self._locks, self._lock)
        return shared

    def _taken(self, discussion_id: str, call_id: str) -> ReplyJournal | None:
        with self._lock:
            open_ = self._open.get(discussion_id, {})
            journal = open_.pop(call_id, None)
            if not open_:
                self._open.pop(discussion_id, None)
        return journal


# Cost of a call whose program was killed under way: booked at what its journal says of it.


def unlogged(left: Sequence[LeftoverReply], records: Iterable[Record]) -> tuple[LeftoverReply, ...]:
    """Replies that a log does not hold: a program may be killed between the log's write and the journal's end.

    Args:
        records: of the discussion's log.
    """
    if not left:
        return ()
    known: set[str] = set()
    for record in records:
        if isinstance(record, MessageRecord):
            known.add(record.id)
        elif isinstance(record, UsageRecord):
            known.add(record.message_id)
    return tuple(reply for reply in left if known.isdisjoint({reply.head.reply_id, reply.head.call_id}))


def paid_for(left: LeftoverReply) -> tuple[UsageRecord, ...]:
    """The usage of a call that was under way, at its estimate; none where nothing had left, or no price is known.

    Input as it was expected unless the provider had said it, and the words that had come by the same count and factor
    as those of any reply.
    """
    head, expected = left.head, left.head.expected
    if expected is None:
        return ()

    def price(usage: Usage) -> float | None:
        return cost(head.provider, head.model, usage, head.at)

    usage = Usage()
    if left.is_out or left.parts:
        length = sum(map(count_tokens, reply_texts(left.parts)))
        usage = booked(left.reported, expected, scaled(length, head.factor), price, is_whole=False)
    usage = with_lost(usage, expected, left.lost, price)
    if not usage.is_estimate:
        return ()
    return (
        UsageRecord(
            id=make_id(head.at, f"{head.reply_id}/usage"),
            at=head.at,
            message_id=head.reply_id,
            usage=usage,
            paid_provider=head.provider,
            paid_model=head.model,
        ),
    )
