"""Reserves of all programs on a home, in one file: written and read when a call is about to go out."""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import assert_never

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import from_json, to_json
from core.kernel.disk import HeldLock, make_dirs, take_lock, write_passing
from core.kernel.errors import SlopError, StorageError
from core.kernel.figures import midnight
from core.kernel.language import tr
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.queue import queued
from core.kernel.values.updates import Report
from core.kernel.values.usage import Payment, SpentElsewhere, UsageKind
from core.services.spending.limits import shared_key, upkeep_key
from core.services.spending.spending_messages import (
    ClaimReserve,
    LookAtReserves,
    PaidElsewhere,
    ReserveClaimed,
    SettleReserve,
    SpendingEffect,
    SpendingEvent,
    TakeCutUpkeep,
    UpkeepCut,
)

LONGEST = timedelta(hours=1)
"""A call that is under way for longer reserves no more: its program does not tell of it."""

LOCK_WAIT_S = 2.0
NOTHING: Mapping[str, Mapping[str, Payment]] = {}
_UPKEEP = {UsageKind.KEEPALIVE.value, UsageKind.PREWARM.value, UsageKind.COMPACTION.value}
"""Kinds of calls that no journal of a reply tells of: pings, prewarms and summaries."""

log = logging.getLogger(__name__)


class ReserveRow(msgspec.Struct, frozen=True):
    """Expected cost of a call under way.

    Args:
        program: names the process, whose lock tells whether it lives.
        is_out: a ping, a prewarm or a summary that may have left: it is billed, whatever becomes of the program.
    """

    program: str
    usd: float
    at: datetime
    discussion_id: str = ""
    is_out: bool = False


class PaidRow(msgspec.Struct, frozen=True):
    """Payment of a program today: another one may have added up the logs before it."""

    program: str
    usd: float
    at: datetime
    is_estimate: bool = False


class ReserveBook(msgspec.Struct, frozen=True):
    """Content of the file: reserves by call, payments by the id of their record in the log.

    `batches`: expected cost of each batch that a provider works off, by its tag: no program need live for it.
    """

    reserves: dict[str, ReserveRow] = msgspec.field(default_factory=dict)
    paid: dict[str, PaidRow] = msgspec.field(default_factory=dict)
    batches: dict[str, float] = msgspec.field(default_factory=dict)


class SharedReserves:
    """Thread-safe. What cannot be read or written is logged: a limit then sees this program alone.

    Programs take turns: who writes its reserve later sees the ones before it, so that of two calls at once the second
    is judged with the first. A program holds a lock as long as it lives, so that a dead one's reserves end with it. Those
    of its pings, prewarms and summaries that had left, which no journal tells of, stand until the log tells of them: a live program
    takes them over, writes the record that was to be written, under the same id, and settles then.
    Nothing is synced to the medium: after a power cut no call is under way.

    Args:
        home: the person's; clock: UTC.
    """

    def __init__(self, home: Path, clock: Callable[[], datetime]) -> None:
        self._directory = home / paths.RESERVES_DIR
        self._clock = clock
        self._program = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._opening = threading.Lock()
        self._life: HeldLock | None = None
        self._claimed: set[str] = set()
        self._looked: tuple[dict[str, ReserveRow], dict[str, PaidRow], frozenset[str]] | None = None

    def claim(
        self,
        key: str,
        usd: float,
        discussion_id: str = "",
        *,
        settled: Mapping[str, Mapping[str, Payment]] = NOTHING,
    ) -> SpentElsewhere:
        """Reserve for a call that is about to go out.

        Args:
            key: names the call within this program; usd: its expected cost, 0 where no price is known.
            settled: payments for calls that are over, by the key of each: as `settle`, in the same write.

        Returns:
            What other programs reserved before it, and paid today.
        """
        now, seen = self._clock(), ReserveBook()
        with _logged(), self._changing(now) as book:
            for over, payments in settled.items():
                self._settle(book, over, payments, now)
            self._claimed.add(key)
            book.reserves[self._own(key)] = ReserveRow(
                program=self._program, usd=usd, at=now, discussion_id=discussion_id
            )
            seen = book
        reserves, paid = self._foreign(seen)
        foreign = sum(row.usd for row in reserves.values())
        return SpentElsewhere(foreign + sum(seen.batches.values()), _payments(paid))

    def changed_elsewhere(self) -> dict[str, Payment] | None:
        """Payments of other programs today, where one of them began, paid or ended something since the last look; else
        None. One thread asks.
        """
        start = midnight(self._clock())
        reserves, paid = self._foreign(self._read())
        paid = {name: row for name, row in paid.items() if row.at >= start and row.usd >= 0}
        looked = reserves, paid, self._programs()
        before, self._looked = self._looked, looked
        return None if looked == before else _payments(paid)

    def note_out(self, key: str) -> bool:
        """Note that a ping, a prewarm or a summary that reserved is about to leave.

        Returns:
            False where it reserves nothing: it must not leave.

        Raises:
            StorageError: it was not noted and must not leave, either.
        """
        with self._changing(self._clock()) as book:
            row = book.reserves.get(self._own(key))
            if row is not None:
                book.reserves[self._own(key)] = replace(row, is_out=True)
        return row is not None

    def drop(self, key: str) -> None:
        """A ping, a prewarm or a summary reserves no more, unless it may have left."""
        if key not in self._claimed:
            return
        with _logged(), self._changing(self._clock()) as book:
            row = book.reserves.get(self._own(key))
            if row is not None and not row.is_out:
                del book.reserves[self._own(key)]

    def cut_upkeep(self) -> tuple[UpkeepCut, ...]:
        """Take over pings, prewarms and summaries of programs that were killed while these were out: each is given to one program,
        and to the next where that one is killed before it settles. What else the dead reserved leaves the file.
        """
        cut: list[UpkeepCut] = []
        if not self._read().reserves:
            return ()
        with _logged(), self._changing(self._clock()) as book:
            for name, row in tuple(book.reserves.items()):
                kind = _upkeep_of(name)
                if kind is None or self._is_alive(row.program):
                    continue
                del book.reserves[name]
                if row.is_out and row.usd > 0:
                    key = name.partition("/")[2]
                    self._claimed.add(key)
                    book.reserves[self._own(key)] = replace(row, program=self._program)
                    cut.append(
                        UpkeepCut(
                            id=key.partition("/")[2],
                            kind=kind,
                            discussion_id=row.discussion_id,
                            usd=row.usd,
                            at=row.at,
                        )
                    )
        return tuple(cut)

    def set_batches(self, expected: Mapping[str, float]) -> None:
        """Reserve for the open batches, and for no other. In US dollars by tag; their files tell, this repeats it."""
        if not expected and not (self._directory / paths.RESERVES_FILE).exists():
            return
        with _logged(), self._changing(self._clock()) as book:
            book.batches.clear()
            book.batches.update(expected)

    def settle(self, key: str, payments: Mapping[str, Payment]) -> None:
        """A call's cost is in the log: it reserves no more. Nothing is done where nothing reserved and nothing was paid."""
        if key not in self._claimed and not payments:
            return
        now = self._clock()
        with _logged(), self._changing(now) as book:
            self._settle(book, key, payments, now)

    def _settle(self, book: ReserveBook, key: str, payments: Mapping[str, Payment], now: datetime) -> None:
        self._claimed.discard(key)
        book.reserves.pop(self._own(key), None)
        for name, payment in payments.items():
            book.paid[name] = PaidRow(
                program=self._program, usd=payment.usd, at=now, is_estimate=payment.is_estimate
            )

    def close(self) -> None:
        """The program ends, and with it what it reserved. A ping that is still out is cut off as by a kill."""
        if self._life is not None and any(
            row.program == self._program for row in self._read().reserves.values()
        ):
            with _logged(), self._changing(self._clock()) as book:
                for key, row in tuple(book.reserves.items()):
                    if row.program == self._program and not row.is_out:
                        del book.reserves[key]
        with self._opening:
            life, self._life = self._life, None
        if life is not None:
            with suppress(OSError):
                self._life_file(self._program).unlink()
            life.release()

    @contextmanager
    def _changing(self, now: datetime) -> Iterator[ReserveBook]:
        """The book without what has ended; written when the block ends."""
        self._live()
        lock = take_lock(self._directory / paths.LOCK_FILE, wait_s=LOCK_WAIT_S)
        if lock is None:
            raise StorageError(
                tr("Another program has locked the file of amounts reserved for running requests"),
                where=str(self._directory),
            )
        try:
            book = self._without_ended(self._read(), now)
            yield book
            self._write(book)
        finally:
            lock.release()

    def _live(self) -> None:
        """Hold this program's own lock, from its first call on."""
        with self._opening:
            if self._life is None:
                make_dirs(self._directory)
                self._life = take_lock(self._life_file(self._program))

    def _read(self) -> ReserveBook:
        file = self._directory / paths.RESERVES_FILE
        try:
            return from_json(read_file(file, BOOK_BYTES), ReserveBook)
        except FileNotFoundError:
            return ReserveBook()
        except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
            log.warning("reserves of other programs are not known: %s", error)
            return ReserveBook()

    def _write(self, book: ReserveBook) -> None:
        file = self._directory / paths.RESERVES_FILE
        write_passing(file, to_json(book, order="sorted"))

    def _without_ended(self, book: ReserveBook, now: datetime) -> ReserveBook:
        programs = {row.program for row in book.reserves.values()}
        alive = {program for program in programs if self._is_alive(program)}
        start = midnight(now)
        return ReserveBook(
            reserves={
                key: row
                for key, row in book.reserves.items()
                if row.usd >= 0
                and (row.is_out or (abs(now - row.at) < LONGEST if row.program in alive else _upkeep_of(key)))
            },
            paid={name: row for name, row in book.paid.items() if row.at >= start and row.usd >= 0},
            batches={tag: usd for tag, usd in book.batches.items() if usd >= 0},
        )

    def _is_alive(self, program: str) -> bool:
        """True while a program holds its lock. Of one that ended nothing is left."""
        if program == self._program:
            return True
        file = self._life_file(program)
        if not file.exists():
            return False
        lock = take_lock(file)
        if lock is None:
            return True
        with suppress(OSError):
            file.unlink()
        lock.release()
        return False

    def _foreign(self, book: ReserveBook) -> tuple[dict[str, ReserveRow], dict[str, PaidRow]]:
        """Reserves and payments of other programs."""
        reserves = {key: row for key, row in book.reserves.items() if row.program != self._program}
        return reserves, {name: row for name, row in book.paid.items() if row.program != self._program}

    def _programs(self) -> frozenset[str]:
        """Locks of the other programs that called something and have not ended."""
        names = {path.name for path in self._directory.glob("*.lock")}
        return frozenset(names - {paths.LOCK_FILE, self._life_file(self._program).name})

    def _own(self, key: str) -> str:
        """A call's key among those of all programs."""
        return f"{self._program}/{key}"

    def _life_file(self, program: str) -> Path:
        return self._directory / f"{Path(program).name}.lock"


def _upkeep_of(key: str) -> UsageKind | None:
    """Kind of a call that nobody asked for, by the key of its reserve; None for all others'."""
    kind = key.split("/")[1] if "/" in key else ""
    return UsageKind(kind) if kind in _UPKEEP else None


def _payments(rows: Mapping[str, PaidRow]) -> dict[str, Payment]:
    return {name: Payment(row.usd, row.is_estimate) for name, row in rows.items()}


@contextmanager
def _logged() -> Iterator[None]:
    """Log what the disk refuses, and go on."""
    try:
        yield
    except SlopError as error:
        log.warning("reserves were not shared with other programs: %s", error)


# Worker of spending: tells other programs on this home of the calls under way, whoever asked for them.

Emit = Callable[[SpendingEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class SpendingHandler:
    """Carries out the spending worker's effects.

    Args:
        reserves: of all programs on the home; emit: the inbox.
        is_logged: whether a discussion's log holds the record of an id.
    """

    def __init__(self, reserves: SharedReserves, emit: Emit, is_logged: Callable[[str, str], bool]) -> None:
        self._reserves = reserves
        self._emit = emit
        self._is_logged = is_logged

    def handle(self, effect: SpendingEffect) -> None:
        """Carry out one effect."""
        match effect:
            case ClaimReserve():
                self._emit(
                    ReserveClaimed(
                        key=effect.key, reservation=effect.reservation, elsewhere=self._claimed(effect)
                    )
                )
            case SettleReserve(key, payments) if payments is not None:
                self._reserves.settle(key, payments)
            case SettleReserve(key):
                self._reserves.drop(key)
            case TakeCutUpkeep():
                self._take_cut()
            case LookAtReserves():
                if (paid := self._reserves.changed_elsewhere()) is not None:
                    self._emit(PaidElsewhere(paid))
            case _:
                assert_never(effect)

    def _take_cut(self) -> None:
        """Report what a kill cut off. What the log tells of was cut off after its record was written."""
        for cut in self._reserves.cut_upkeep():
            try:
                is_logged = self._is_logged(cut.discussion_id, cut.id)
            except SlopError as error:  # it waits for a start that can read it
                log.warning("whether a ping of %s is booked is not known: %s", cut.discussion_id, error)
                continue
            if is_logged:
                self._reserves.settle(upkeep_key(cut.kind, cut.id), {})
            else:
                self._emit(cut)

    def _claimed(self, effect: ClaimReserve) -> SpentElsewhere:
        """Claim it. A call waits for the answer: where that fails, a limit sees this program alone."""
        held = effect.reservation
        try:
            return self._reserves.claim(
                shared_key(effect.key, held), held.usd, held.discussion_id, settled=effect.settled
            )
        except Exception:  # the edge of the worker: what waits must not wait for ever
            log.exception("reserves were not shared with other programs")
            return SpentElsewhere()


def supersedes(newer: SpendingEffect, older: SpendingEffect) -> bool:
    """A later look at what other programs did makes an earlier one needless."""
    return isinstance(newer, LookAtReserves) and isinstance(older, LookAtReserves)


WORK = queued("spending", SpendingEffect, supersedes)
