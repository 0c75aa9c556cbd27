"""An import from end to end: read, decide, and where it is no dry run have the discussions on disk."""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, assert_never

import msgspec

from core.imports.import_plan import (
    ID_BYTES,
    ID_START,
    Held,
    ImportPlan,
    NewDiscussion,
    plan_import,
    whole,
    words_of,
)
from core.imports.import_sources import (
    PIPE,
    FileBegun,
    ImportMemory,
    Marks,
    Origin,
    OtherFile,
    Unchanged,
    conversations,
    known_places,
    mark_of,
    told_again,
)
from core.imports.imports_messages import (
    CancelImport,
    ImportEffect,
    ImportEnded,
    ImportEvent,
    ImportProgressed,
    LookForSessions,
    RunImport,
)
from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, LaterDisk, append_file, reported
from core.kernel.errors import SlopError
from core.kernel.ids import is_id
from core.kernel.language import as_sentences, tr
from core.kernel.language import words_of as words_of_error
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.queue import at_once, queued
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.imports import (
    MAX_NAMES,
    MAX_ROWS,
    ImportFault,
    ImportReport,
    ImportRow,
    KnownPlace,
    Offered,
    Transcript,
)
from core.kernel.values.messages import TextPart
from core.kernel.values.records import MessageRecord, Record
from core.talk.discussion import discussion_store, log, trash

MAX_FAULTS = 200
"""Faults that a report lists."""

MAX_REMEMBERED = 20
"""Faults of a file with which it need not be read again while it stays as it is."""

UNTICKED = tr("you left this conversation out")

MAX_STAGED, MAX_STAGED_CHARS = 64, 16_000_000
"""Discussions, and characters of them, that wait for the medium together."""

Progress = Callable[[int, str], None]
"""Told how many conversations were looked at, and the one in work. Raises to end the import."""


Offer = Callable[[Offered], bool]
"""Has something wait as a proposal. Returns whether it is new there. Raises SlopError where no more can wait."""


class ImportRequest(msgspec.Struct, frozen=True):
    """An import that a person asked for.

    Args:
        paths: of files and folders, `-` for the standard input; now: of the marks.
        provider, model: what the new discussions go on with; is_dry: nothing is written.
        without: conversations that the person unticked, by the discussion that each would become.
        is_followed: nobody asked for this one; what was deleted since an import before is not made again.
        places: of known programs, of which the report names those that were read.
    """

    home: Path
    paths: tuple[str, ...]
    now: datetime
    provider: str
    model: str
    is_dry: bool = True
    disk: Disk = OS_DISK
    without: frozenset[str] = frozenset()
    is_followed: bool = False
    places: tuple[KnownPlace, ...] = ()


def run_import(
    request: ImportRequest,
    *,
    pipe: BinaryIO | None = None,
    on_progress: Progress = lambda _count, _name: None,
    on_written: Callable[[str], None] = lambda _discussion_id: None,
    offer: Offer = lambda _offered: False,
) -> ImportReport:
    """Read what is named, and have what is new of it as discussions. A second time adds nothing.

    Args:
        offer: given what stands beside the conversations, each piece once, at the end; no import takes it by itself.
        on_written: told of each discussion that was made or has grown.

    Returns:
        The report. What cannot be read or written is in it, and the rest goes on; a full disk ends the import.
    """
    work = _Work(request, on_written)
    stopped = ""
    try:
        for number, found in enumerate(conversations(request.paths, pipe, work.known)):
            match found:
                case FileBegun():
                    work.begin(found)
                case Unchanged():
                    on_progress(number, found.path.name)
                    work.pass_unchanged(found)
                case OtherFile() | ImportFault():
                    work.pass_over(found)
                case _:
                    on_progress(number, found[1].title or found[0].name)
                    work.take(*found)
        work.end_file()
    except SlopError as error:
        stopped = words_of_error(error)
    try:
        work.finish(offer)
    except SlopError as error:
        stopped = stopped or words_of_error(error)
    return work.report(stopped)


def nothing_new(home: Path, paths: Sequence[str], *, is_dry: bool) -> ImportReport | None:
    """The report of an import of files and folders in which nothing changed since the last one; None for all others.

    Writes nothing: to look is all that such an import does.
    """
    request = ImportRequest(
        home=home,
        paths=tuple(paths),
        now=datetime.now(UTC),
        provider="",
        model="",
        is_dry=is_dry,
        places=known_places(os.environ, Path.home()),
    )
    try:
        work = _Work(request, lambda _discussion_id: None)
        for found in conversations(request.paths, None, work.known):
            match found:
                case Unchanged():
                    work.pass_unchanged(found)
                case OtherFile() if not found.offered:
                    work.pass_over(found)
                case _:
                    return None
    except SlopError:
        return None
    return work.report("") if work.has_all() else None


class _Work:
    """An import under way, and what came of it so far."""

    def __init__(self, request: ImportRequest, on_written: Callable[[str], None]) -> None:
        self._request, self._on_written = request, on_written
        self._rows: list[ImportRow] = []
        self._faults: list[ImportFault] = []
        self._skipped: Counter[str] = Counter()
        self._files: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._gone = {item.discussion_id for item in trash.items(request.home)}
        self._there = _names(paths.discussions_dir(request.home))
        self._before, self._taken = imported_ids(request.home), set[str]()
        if request.is_followed:
            self._gone |= self._before - self._there
        self._batch = _Batch(request.disk, on_written)
        self._planned: dict[str, Packed | Held] = {}
        self._left_out = set[str]()
        self._other_names: list[str] = []
        self._knowledge_names: list[str] = []
        self._offered: dict[str, Offered] = {}
        self._is_undated = False
        self._by_letters: dict[str, str] | None = None
        self._memory = ImportMemory(request.home)
        self._reading: FileBegun | None = None
        self._read_ids: set[str] = set()
        self._read_count, self._is_whole = 0, True
        self._read_faults: list[ImportFault] = []

    def known(self, path: Path, marks: Marks) -> Unchanged | None:
        """A file that did not change since an import has read it, None for all others."""
        kept = self._memory.unchanged(path, marks, self._is_known)
        if kept is None:
            return None
        self._taken.update(kept.discussion_ids)
        return Unchanged(
            path=path, conversations=kept.conversations, faults=tuple(map(told_again, kept.faults))
        )

    def has_all(self) -> bool:
        """True where conversations were passed by, and all that is to be remembered of them is written."""
        return self._counts["count"] > 0 and self._taken <= self._before and not self._memory.is_changed

    def _is_known(self, discussion_id: str) -> bool:
        return discussion_id in self._there or (self._request.is_followed and discussion_id in self._gone)

    def begin(self, found: FileBegun) -> None:
        """A file is read from here on."""
        self.end_file()
        self._reading, self._is_whole = found, found.is_whole
        self._read_ids, self._read_count, self._read_faults = set(), 0, []

    def end_file(self) -> None:
        """A file was read to its end: where all of it is here now, the next import passes over it."""
        read, self._reading = self._reading, None
        is_told = len(self._read_faults) <= MAX_REMEMBERED and (self._read_count or self._read_faults)
        if read is not None and self._is_whole and is_told and not self._request.is_dry:
            self._memory.remember(
                read.path,
                read.marks,
                conversations=self._read_count,
                discussion_ids=tuple(sorted(self._read_ids)),
                faults=self._read_faults,
            )

    def pass_unchanged(self, found: Unchanged) -> None:
        """Count a file that did not change."""
        self.end_file()
        self._files.add(str(found.path))
        self._counts.update({"count": found.conversations, "unchanged": found.conversations})
        for fault in found.faults:
            self.pass_over(fault)

    def pass_over(self, found: OtherFile | ImportFault) -> None:
        """Count what holds no conversation, and keep what is wrong."""
        if isinstance(found, OtherFile):
            self._counts["other_files"] += not found.is_knowledge
            names = self._knowledge_names if found.is_knowledge else self._other_names
            if len(names) < MAX_NAMES:
                names.append(found.name)
            self._note_offered(found.offered)
        else:
            self._counts["faults"] += 1
            if self._reading is not None and found.file.startswith(str(self._reading.path)):
                self._read_faults.append(found)  # of what stands in it, so that it is the same the next time
            else:
                self._is_whole = False
            if len(self._faults) < MAX_FAULTS:
                self._faults.append(found)

    def _note_offered(self, offered: Iterable[Offered]) -> None:
        """Keep what no import has offered before; a person who refused it is not asked again."""
        for one in () if self._request.is_followed else offered:
            if (key := _offer_key(one)) not in self._before:
                self._offered.setdefault(key, one)

    def take(self, origin: Origin, transcript: Transcript) -> None:
        """Decide what becomes of one conversation, and have it on disk unless nothing is to be written."""
        self._files.add(f"{origin.path}\0{origin.member}")
        if transcript.at is None and not any(one.at is not None for one in transcript.messages):
            transcript = msgspec.structs.replace(transcript, at=self._request.now, is_undated=True)
        self._is_undated = transcript.is_undated
        self._note_offered(transcript.offered)
        plan = plan_import(origin.kind, transcript, self._held, self._request.now, origin.name)
        self._expect(plan)
        wanted = plan.discussion_id
        if wanted in self._request.without and (not plan.why or wanted in self._left_out):
            self._left_out.add(wanted)
            plan = msgspec.structs.replace(plan, made=(), grown=(), why=UNTICKED)
            self._is_whole = False
        self._read_count += 1
        ids = {
            plan.discussion_id,
            *(one.discussion_id for one in plan.made),
            *(one.discussion_id for one in plan.grown),
        }
        self._read_ids.update(ids - {""})
        if plan.why != UNTICKED:
            self._taken.update(ids - {""})
        self._count(origin, transcript, plan)
        for made in plan.made:
            self._counts["made"] += 1
            if not self._request.is_dry:
                self._make(made)
        for grown in plan.grown:
            self._counts["grown"] += 1
            if not self._request.is_dry:
                self._batch.finish()  # what it adds to may be of this run
                log.append(self._request.home, grown.discussion_id, grown.records, disk=self._request.disk)
                self._on_written(grown.discussion_id)

    def report(self, stopped: str) -> ImportReport:
        """Say what was found and done."""
        counts, is_dry = self._counts, self._request.is_dry
        return ImportReport(
            is_dry=is_dry,
            rows=tuple(self._rows),
            faults=tuple(self._faults),
            count=counts["count"],
            new_count=counts["new_count"],
            files=len(self._files),
            other_files=counts["other_files"],
            made=counts["made"],
            grown=counts["grown"],
            added=0 if is_dry else counts["messages"],
            new_messages=counts["messages"],
            unchanged=counts["unchanged"],
            skipped=dict(sorted(self._skipped.items())),
            stopped=stopped,
            other_names=tuple(self._other_names),
            knowledge_names=tuple(self._knowledge_names),
            offered=len(self._offered) if is_dry else counts["offered"],
            not_offered=counts["not_offered"],
            places=reached(self._request.places, self._request.paths) if counts["count"] else (),
        )

    def _count(self, origin: Origin, transcript: Transcript, plan: ImportPlan) -> None:
        new = sum(one.new for one in plan.made) + sum(one.new for one in plan.grown)
        self._skipped.update(plan.skipped)
        self._counts.update({"count": 1, "messages": new, "new_count": int(not plan.why)})
        if len(self._rows) < MAX_ROWS:
            path = f"{origin.path}, {origin.member}" if origin.member else origin.path
            self._rows.append(
                ImportRow(
                    path=path,
                    kind=origin.kind,
                    title=plan.title,
                    at=transcript.at,
                    messages=plan.messages,
                    new=new,
                    branches=plan.branches,
                    discussion_id=plan.discussion_id,
                    why=plan.why,
                    skipped=plan.skipped,
                )
            )

    def _expect(self, plan: ImportPlan) -> None:
        """Have what follows planned as in the dry run, in which nothing was left out: its rows were ticked by id."""
        for made in plan.made:
            self._planned[made.discussion_id] = pack(_held_by(made.discussion_id, made.records))
        for grown in plan.grown:
            before = self._held(grown.discussion_id)
            more = _held_by(grown.discussion_id, grown.records)
            self._planned[grown.discussion_id] = pack(more if before is None else _joined(before, more))

    def _held(self, discussion_id: str) -> Held | None:
        """A discussion that is here, in the trash, or was made a moment ago."""
        if (planned := self._planned.get(discussion_id)) is not None:
            return planned if isinstance(planned, Held) else unpack(discussion_id, planned)
        if self._is_undated and discussion_id not in self._there and discussion_id not in self._gone:
            return self._undated(discussion_id)
        if discussion_id not in self._there:
            return Held(discussion_id=discussion_id, is_gone=True) if discussion_id in self._gone else None
        return _held_by(discussion_id, log.read(self._request.home, discussion_id).records)

    def _undated(self, discussion_id: str) -> Held | None:
        """The discussion of a conversation whose date is its file's: another date, but the same letters."""
        if self._by_letters is None:
            known = (*self._gone, *self._there)
            self._by_letters = {name.rpartition("-")[2]: name for name in known if is_id(name)}
        for found in self._planned:
            self._by_letters.setdefault(found.rpartition("-")[2], found)
        known_as = self._by_letters.get(discussion_id.rpartition("-")[2])
        return None if known_as is None else self._held(known_as)

    def _make(self, made: NewDiscussion) -> None:
        request = self._request
        meta = DiscussionMeta(
            id=made.discussion_id,
            name=made.name,
            created_at=made.at or request.now,
            provider=request.provider,
            model=request.model,
            parent_id=made.parent_id,
            branch_message_id=made.branch_message_id,
        )
        size = sum(
            len(p.text)
            for r in made.records
            if isinstance(r, MessageRecord)
            for p in r.parts
            if isinstance(p, TextPart)
        )
        self._batch.add(
            lambda disk: discussion_store.stage(request.home, meta, made.records, disk=disk), size
        )

    def finish(self, offer: Offer) -> None:
        """Have all that was made among the home's discussions, and remember what was read. Raises StorageError."""
        self._batch.finish()
        if not self._request.is_dry:
            self._offer_all(offer)
            note_imported(self._request.home, self._taken - self._before)
            self._memory.save()

    def _offer_all(self, offer: Offer) -> None:
        """Offer each piece once; where no more can wait, the rest comes with the next import."""
        for number, (key, one) in enumerate(self._offered.items()):
            try:
                self._counts["offered"] += offer(one)
            except SlopError:
                self._counts["not_offered"] = len(self._offered) - number
                return
            self._taken.add(key)


class _Batch:
    """Discussions that are brought to the medium together: to wait for each takes most of an import's time."""

    def __init__(self, disk: Disk, on_written: Callable[[str], None]) -> None:
        self._disk, self._on_written = LaterDisk(disk), on_written
        self._staged: list[discussion_store.Staged] = []
        self._chars = 0

    def add(self, stage: Callable[[Disk], discussion_store.Staged], chars: int) -> None:
        """Write a discussion beside the others; it counts after `finish`."""
        self._staged.append(stage(self._disk))
        self._chars += chars
        if len(self._staged) >= MAX_STAGED or self._chars >= MAX_STAGED_CHARS:
            self.finish()

    def finish(self) -> None:
        """Bring all of them to the medium, then make each one of the home's.

        Raises:
            StorageError: those that are not yet are dropped; an import of the same files makes them again.
        """
        staged, self._staged, self._chars = self._staged, [], 0
        if not staged:
            return
        place = staged[0].directory.parent
        claimed = 0
        try:
            with reported("write", place):
                self._disk.settle()
            for one in staged:
                discussion_store.claim(one, disk=self._disk)
                claimed += 1
                self._on_written(one.directory.name)
        finally:
            for one in staged[claimed:]:
                discussion_store.drop(one)
            with reported("write", place):
                self._disk.settle()


def _offer_key(one: Offered) -> str:
    """Name of an offered piece among what was imported: no word of it can be read from that."""
    return f"offered-{sha256(one.text.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _names(folder: Path) -> frozenset[str]:
    """Names in a folder, none where there is no folder."""
    try:
        return frozenset(entry.name for entry in os.scandir(folder))
    except FileNotFoundError:
        return frozenset()


def _held_by(discussion_id: str, records: Sequence[Record]) -> Held:
    said = [one for one in records if isinstance(one, MessageRecord)]
    return Held(
        discussion_id=discussion_id,
        message_ids=tuple(one.id for one in said),
        words=tuple(words_of(one) for one in said),
    )


class Packed(msgspec.Struct, frozen=True):
    """A discussion that this run makes, in 20 bytes a message: a run may make millions of them, and looks few up."""

    ids: bytes
    words: array[int]


def pack(held: Held) -> Packed | Held:
    """The discussion packed, or as it is where a message has an id of another form."""
    ids = held.message_ids
    if not all(map(_IMPORTED_ID.fullmatch, ids)):
        return held
    packed = bytes.fromhex("".join(one.removeprefix(ID_START) for one in ids))
    return Packed(ids=packed, words=array("q", held.words))


_IMPORTED_ID = late(rf"{ID_START}[0-9a-f]{{{2 * ID_BYTES}}}")


def unpack(discussion_id: str, small: Packed) -> Held:
    """The discussion as it was before it was packed."""
    ids = (small.ids[at : at + ID_BYTES].hex() for at in range(0, len(small.ids), ID_BYTES))
    return Held(
        discussion_id=discussion_id,
        message_ids=tuple(f"{ID_START}{one}" for one in ids),
        words=tuple(small.words),
    )


def _joined(before: Held, more: Held) -> Held:
    ids = (*before.message_ids, *more.message_ids)
    return Held(discussion_id=before.discussion_id, message_ids=ids, words=(*before.words, *more.words))


# Imports in the background, one at a time; stopped from another thread between two conversations.

Emit = Callable[[ImportEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

TELL_S = 0.1
"""Seconds between two words on how far a run is."""

STOPPED = tr("You stopped the import")
ENDING = tr("The program is ending")


class ImportHandler:
    """Carries out the import worker's effects.

    Args:
        home: the person's data; clock: UTC; emit: the inbox.
        pipe: gives the standard input of a command, None for a program that serves others.
        offer: has what exports hold beside conversations wait as proposals.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        pipe: Callable[[], BinaryIO] | None = None,
        offers: Callable[[], Offer] = lambda: lambda _offered: False,
    ) -> None:
        self._home, self._clock, self._emit, self._pipe, self._offers = home, clock, emit, pipe, offers
        self._stop = threading.Event()
        self._why = ""
        self._is_closing = False
        self._told_at = 0.0
        self._looked = ""

    def prepare(self) -> None:
        """A run is about to be queued: from now on it can be stopped. On the controller's thread."""
        if not self._is_closing:
            self._stop.clear()

    def cancel(self) -> None:
        """Stop the run that is queued or under way. Thread-safe."""
        self._why = STOPPED
        self._stop.set()

    def close(self) -> None:
        """The program ends: stop the run, and every one that may still come. Thread-safe."""
        self._is_closing, self._why = True, ENDING
        self._stop.set()

    def handle(self, effect: ImportEffect) -> None:
        """Carry out one effect. A run ends with an event of its own, also where it fails."""
        match effect:
            case RunImport():
                self._run(effect)
            case LookForSessions():
                self._look(effect)
            case CancelImport():
                self.cancel()
            case _:
                assert_never(effect)

    def _run(self, effect: RunImport) -> None:
        grown: list[str] = []
        request = ImportRequest(
            home=self._home,
            paths=effect.paths,
            now=self._clock(),
            provider=effect.provider,
            model=effect.model,
            is_dry=effect.is_dry,
            without=effect.without,
            places=known_places(os.environ, Path.home()),
        )
        try:
            report = run_import(
                request,
                pipe=self._piped(effect.paths),
                on_progress=self._progressed,
                on_written=grown.append,
                offer=self._offers(),
            )
        except SlopError as error:
            detail = as_sentences(error.remedy, error.where)
            self._emit(ImportEnded(problem=error.what, remedy=detail))
        except Exception as error:  # the run is over, and is told so; the queue tells the rest
            self._emit(
                ImportEnded(
                    problem=tr("The import failed: {error}", error=error),
                    remedy=tr("See the log file."),
                )
            )
            raise
        else:
            self._emit(ImportEnded(report=report, written=tuple(grown)))

    def _look(self, effect: LookForSessions) -> None:
        """Take what is new at the places that are followed. Where nothing came, grew or went, no file is opened."""
        places = tuple(place for place in map(whole, effect.places) if Path(place).exists())
        grown: list[str] = []
        try:
            mark = mark_of(places)
            if mark == self._looked:
                self._emit(ImportEnded(is_followed=True))
                return
            request = ImportRequest(
                home=self._home,
                paths=places,
                now=self._clock(),
                provider=effect.provider,
                model=effect.model,
                is_dry=False,
                is_followed=True,
            )
            report = run_import(request, on_progress=self._going_on, on_written=grown.append)
        except (SlopError, OSError) as error:
            self._emit(
                ImportEnded(
                    is_followed=True, problem=words_of_error(error), remedy=getattr(error, "remedy", "")
                )
            )
        except Exception as error:  # as for a run
            self._emit(
                ImportEnded(
                    is_followed=True,
                    problem=tr("the check for new sessions failed: {error}", error=error),
                    remedy=tr("See the log file."),
                )
            )
            raise
        else:
            self._looked = "" if report.stopped else mark
            self._emit(ImportEnded(report=report, written=tuple(grown), is_followed=True))

    def _going_on(self, _count: int, _doing: str) -> None:
        if self._stop.is_set():
            raise SlopError(self._why)

    def _piped(self, paths: tuple[str, ...]) -> BinaryIO | None:
        if PIPE not in paths:
            return None
        if self._pipe is None:
            raise SlopError(tr("A window has no standard input"), remedy=tr("Name a file or a folder"))
        return self._pipe()

    def _progressed(self, count: int, doing: str) -> None:
        if self._stop.is_set():
            raise SlopError(self._why, remedy=tr("Import again: the program skips what is already here"))
        if time.monotonic() - self._told_at > TELL_S:
            self._told_at = time.monotonic()
            self._emit(ImportProgressed(count, doing))


def reached(known: Iterable[KnownPlace], read: Iterable[str]) -> tuple[KnownPlace, ...]:
    """Known places that one of the paths that were read lies in, or that lie in it."""
    paths_read = [Path(whole(one)) for one in read]

    def touches(place: Path) -> bool:
        return any(one.is_relative_to(place) or place.is_relative_to(one) for one in paths_read)

    return tuple(place for place in known if touches(Path(place.path)))


# Discussions that imports made, by their ids alone: what a person deleted or forgot is not taken again by itself.

_IDS_BYTES = 100_000_000


def imported_ids(home: Path) -> frozenset[str]:
    """Every discussion that an import made or found here, whether it is here now or not."""
    try:
        lines = read_file(paths.imported_file(home), _IDS_BYTES).decode("ascii", "replace").split()
    except FileNotFoundError:
        return frozenset()
    return frozenset(lines)


def note_imported(home: Path, ids: Iterable[str]) -> None:
    """Add to them. Raises StorageError."""
    if lines := "".join(f"{one}\n" for one in sorted(ids)):
        append_file(paths.imported_file(home), lines.encode())


WORK = queued("import", RunImport | LookForSessions)
STOP_WORK = at_once("import stop", CancelImport)
