"""Worker of discussions: writes and reads them in the home, in the order asked for, on the disk's thread."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol, assert_never

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import SlopError, StorageError
from core.kernel.figures import midnight
from core.kernel.language import as_sentences, tr
from core.kernel.queue import queued
from core.kernel.secrets import scrubbed_line
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion, is_partial
from core.kernel.values.messages import Message, Role
from core.kernel.values.records import Record
from core.kernel.values.updates import OperationDone, OperationFailed, Report, WorkerReported
from core.kernel.values.usage import Payment
from core.services.spending.limits import call_key, payments_of
from core.services.spending.spending_messages import (
    CountUsage,
    PaymentsSeen,
    SpendingEvent,
    SpentCounted,
    UsageCounted,
)
from core.talk.discussion import discussion_meta, discussion_store, log, trash
from core.talk.discussion.catalog import Catalog
from core.talk.discussion.catalog_entries import EntryKeys
from core.talk.discussion.discussion_export import ExportPlace, check_place, look_at
from core.talk.discussion.discussion_messages import (
    AddToQueue,
    AppendRecords,
    CreateOnDisk,
    DiscardDiscussion,
    DiscussionChangedOutside,
    DiscussionCreated,
    DiscussionEvent,
    DiscussionLoaded,
    DiscussionRestored,
    DiscussionTrashed,
    DiscussionVanished,
    DiskEffect,
    EmptyTrash,
    ExportDiscussion,
    ExportUsage,
    IndexDiscussion,
    ListEffect,
    LoadSummaries,
    LookAtDiscussions,
    LookForChanges,
    MetaWritten,
    PromptGone,
    PromptToken,
    QueueWritten,
    ReadDiscussion,
    RecordsAppended,
    RemoveFromQueue,
    RentToken,
    ReplyToken,
    ResultToken,
    SearchDiscussions,
    SearchFound,
    StartToken,
    SummariesChanged,
    SummariesLoaded,
    TrashListed,
    TrashOnDisk,
    UndoDelete,
    UpkeepToken,
    WriteDraft,
    WriteFailed,
    WriteMeta,
)
from core.talk.discussion.discussion_meta import has_draft
from core.talk.discussion.discussion_store import CallsLocks, Seen, calls_held
from core.talk.discussion.log import all_paid_since, paid_since
from core.talk.discussion.open_calls import calls_of, goes_on, results_of
from core.talk.discussion.reply_journal import has_journal

logger = logging.getLogger(__name__)

Emit = Callable[[DiscussionEvent | SpendingEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class OpenJournals(Protocol):
    """The reply journals that are open."""

    def drop(self, discussion_id: str, call_id: str) -> None:
        """The reply is in the log: its journal may go."""
        ...


class OpenReserves(Protocol):
    """The reserves of calls under way that other programs see."""

    def settle(self, key: str, payments: Mapping[str, Payment]) -> None:
        """A call's cost is in the log: it reserves no more."""
        ...


class OwedRents(Protocol):
    """Rents that were settled: owed until their records stand in a log."""

    def rent_written(self, discussion_id: str, record_id: str) -> None:
        """One stands in the log."""
        ...

    def rent_unwritten(self, record_id: str) -> None:
        """The disk refused it: it is to be told again."""
        ...


class DiscussionHandler:
    """Carries out the disk worker's effects of discussions.

    Args:
        root: the home; clock: UTC; emit: the controller's inbox; journals: of the replies under way.
        reserves: shared with other programs, None where nobody calls; calls: locks of tool calls, likewise; rents: that
            are owed, likewise; was_read: set when the first discussion was read, or could not be.
    """

    def __init__(
        self,
        root: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        journals: OpenJournals,
        reserves: OpenReserves | None = None,
        calls: CallsLocks | None = None,
        rents: OwedRents | None = None,
        was_read: threading.Event | None = None,
    ) -> None:
        self._was_read = was_read or threading.Event()
        self._rents = rents
        self._calls = calls or CallsLocks(root)
        self._root = root
        self._clock = clock
        self._emit = emit
        self._journals = journals
        self._reserves = reserves
        self._seen = Seen(root)
        self._held_elsewhere: set[str] = set()

    def handle(self, effect: DiskEffect) -> None:
        """Carry out one effect. Raises StorageError for what has no event of its own."""
        match effect:
            case AppendRecords():
                self._append(effect)
            case AddToQueue():
                queue = discussion_meta.add(self._root, effect.discussion_id, effect.prompt)
                self._emit(
                    QueueWritten(
                        discussion_id=effect.discussion_id,
                        queue=queue,
                        added=effect.prompt,
                        command_id=effect.command_id,
                    )
                )
            case RemoveFromQueue():
                discussion_meta.write_draft(self._root, effect.discussion_id, effect.draft)
                queue = discussion_meta.remove(self._root, effect.discussion_id, effect.prompt_id)
                self._emit(QueueWritten(discussion_id=effect.discussion_id, queue=queue))
            case CreateOnDisk(meta):
                if meta.branch_message_id:
                    discussion_store.branch(self._root, meta.parent_id, meta.branch_message_id, meta)
                else:
                    discussion_store.create(self._root, meta)
                self._created(meta)
            case ReadDiscussion():
                try:
                    self._read(effect)
                finally:
                    self._was_read.set()
            case WriteMeta():
                discussion_meta.write_meta(self._root, effect.meta)
                self._seen.wrote_meta(effect.meta.id)
                self._emit(MetaWritten(effect.meta.id))
            case LookAtDiscussions():
                self._look_at(effect.discussion_ids)
            case WriteDraft():
                if (self._root / "discussions" / effect.discussion_id).is_dir():
                    discussion_meta.write_draft(self._root, effect.discussion_id, effect.draft)
            case TrashOnDisk():
                item = trash.delete(self._root, effect.discussion_id, self._clock(), effect.why)
                self._seen.forget(effect.discussion_id)
                self._emit(DiscussionTrashed(replace(item, name=effect.name)))
            case DiscardDiscussion():
                discussion_store.discard(self._root, effect.discussion_id)
                self._seen.forget(effect.discussion_id)
                self._emit(DiscussionVanished(effect.discussion_id))
            case UndoDelete():
                self._restore(effect.discussion_id)
            case ExportDiscussion():
                self._export(effect)
            case ExportUsage():
                self._export_usage(effect)
            case _:
                assert_never(effect)

    def _read(self, effect: ReadDiscussion) -> None:
        self._book_left(effect.task_ids)
        loaded = self._load(effect.discussion_id)
        row = summarise(loaded.meta, loaded.discussion)
        self._emit(DiscussionLoaded(loaded.discussion, row))
        if loaded.discussion.repaired:
            self._tell_payments(effect.discussion_id)

    def _append(self, effect: AppendRecords) -> None:
        self._note_calls(effect)
        try:
            if effect.queued_id:
                went = discussion_meta.send(
                    self._root, effect.discussion_id, effect.records, effect.queued_id
                )
            else:
                went = log.append(self._root, effect.discussion_id, effect.records)
        except SlopError as error:
            detail = as_sentences(error.remedy, error.where)
            self._refused(effect)
            self._emit(
                WriteFailed(
                    discussion_id=effect.discussion_id,
                    token=effect.token,
                    text=error.what,
                    detail=detail,
                    records=effect.records,
                )
            )
            return
        except Exception as error:  # the edge of a write: the turn that waits for it must hear of it
            logger.exception("records of %s could not be written", effect.discussion_id)
            self._refused(effect)
            text = tr(
                "The program failed to write ({error_kind}): {error}",
                error_kind=type(error).__name__,
                error=error,
            )
            self._emit(
                WriteFailed(
                    discussion_id=effect.discussion_id,
                    token=effect.token,
                    text=text,
                    detail=tr("See the log file."),
                    records=effect.records,
                )
            )
            return
        if went is None:
            queue = discussion_meta.read(self._root, effect.discussion_id).prompts
            call_id = effect.token.call_id if isinstance(effect.token, PromptToken) else ""
            self._emit(PromptGone(discussion_id=effect.discussion_id, call_id=call_id, queue=queue))
            return
        told = RecordsAppended(discussion_id=effect.discussion_id, records=effect.records, token=effect.token)
        if goes_on(
            effect.token, effect.records
        ):  # its calls begin; whatever they write comes here, behind the journal's end
            self._emit(told)
            if isinstance(effect.token, ReplyToken):
                self._journals.drop(effect.discussion_id, effect.token.call_id)
        else:
            self._let_go(effect)
            self._emit(told)
        if self._seen.appended(effect.discussion_id, went):
            self._tell_changed(effect.discussion_id)

    def _refused(self, effect: AppendRecords) -> None:
        if isinstance(effect.token, RentToken) and self._rents is not None:
            self._rents.rent_unwritten(effect.token.record_id)

    def _let_go(self, effect: AppendRecords) -> None:
        """Let go of what stood for records that are in the log now."""
        match effect.token:
            case ReplyToken(call_id):
                self._journals.drop(effect.discussion_id, call_id)
                self._settle(call_key(call_id), effect.records)
            case ResultToken():
                self._calls.answered(effect.discussion_id, results_of(effect.records))
            case UpkeepToken(key):
                self._settle(key, effect.records)
            case RentToken(record_id) if self._rents is not None:
                self._rents.rent_written(effect.discussion_id, record_id)
            case _:
                pass

    def _note_calls(self, effect: AppendRecords) -> None:
        """No other program may take calls for left behind that this one is about to begin."""
        match effect.token:
            case ReplyToken():
                self._calls.asked(effect.discussion_id, calls_of(effect.records))
            case StartToken():
                self._calls.asked(effect.discussion_id, frozenset({effect.token.call_id}))
            case _:
                pass

    def _settle(self, key: str, records: Sequence[Record]) -> None:
        if self._reserves is not None:
            self._reserves.settle(key, payments_of(records))

    def _load(self, discussion_id: str) -> discussion_store.LoadedDiscussion:
        self._seen.look(discussion_id)
        loaded = discussion_store.load(self._root, discussion_id, self._clock())
        self._held_elsewhere.discard(discussion_id)
        if not loaded.discussion.held_calls:
            return loaded
        if self._calls.is_ours(discussion_id):
            return replace(loaded, discussion=replace(loaded.discussion, held_calls=()))
        self._held_elsewhere.add(discussion_id)
        return loaded

    def _was_let_go(self, discussion_id: str) -> bool:
        """True if another program had calls there, and has ended: nothing on disk tells of a kill."""
        if discussion_id not in self._held_elsewhere:
            return False
        with calls_held(self._root, discussion_id) as is_free:
            return is_free

    def _book_left(self, task_ids: Iterable[str]) -> None:
        """Put calls that a killed program left in tasks into their logs, so that they count before more is spent."""
        for task_id in task_ids:
            if not has_journal(paths.discussion_dir(self._root, task_id)):
                continue
            with suppress(SlopError):
                loaded = self._load(task_id)
                self._emit(SummariesChanged((summarise(loaded.meta, loaded.discussion),)))
                if loaded.discussion.repaired:
                    self._tell_payments(task_id)

    def _look_at(self, discussion_ids: Iterable[str]) -> None:
        """Tell what another program did to discussions, if anything; the trash once, however many came or went."""
        has_moved = False
        for discussion_id in discussion_ids:
            if not (self._root / "discussions" / discussion_id).is_dir():
                has_moved = True
                self._seen.forget(discussion_id)
                self._emit(DiscussionVanished(discussion_id))
            else:
                has_moved = has_moved or not self._seen.knows(discussion_id)
                if self._seen.look(discussion_id) or self._was_let_go(discussion_id):
                    self._tell_changed(discussion_id)
        if has_moved:
            self._emit(TrashListed(tuple(reversed(trash.items(self._root)))))

    def _tell_changed(self, discussion_id: str) -> None:
        loaded = self._load(discussion_id)
        summary = summarise(loaded.meta, loaded.discussion)
        self._tell_payments(discussion_id)
        self._emit(DiscussionChangedOutside(summary, loaded.discussion))

    def _tell_payments(self, discussion_id: str) -> None:
        """Report what another program paid, or what a reply cost that a killed one was receiving; counts
        towards the day.
        """
        with suppress(SlopError):
            log_file = paths.log_file(self._root, discussion_id)
            if paid := paid_since(log_file, midnight(self._clock())):
                self._emit(PaymentsSeen(paid))

    def _created(self, new: DiscussionMeta) -> None:
        loaded = self._load(new.id)
        self._emit(
            DiscussionCreated(summary=summarise(loaded.meta, loaded.discussion), discussion=loaded.discussion)
        )

    def _restore(self, discussion_id: str) -> None:
        back = trash.restore(self._root, discussion_id)
        loaded = self._load(back)
        self._emit(DiscussionRestored(summarise(loaded.meta, loaded.discussion)))

    def _export(self, effect: ExportDiscussion) -> None:
        from core.talk.discussion.discussion_export import export_json, export_markdown
        from core.talk.discussion.discussion_page import export_page

        place = self._place(effect)
        loaded = discussion_store.load(self._root, effect.discussion_id, self._clock())
        render = {"json": export_json, "page": export_page}.get(effect.form, export_markdown)
        _write_export(place, render(loaded.meta, loaded.discussion))
        self._emit(
            OperationDone(
                subject="export",
                text=tr("Exported {name!r}.", name=loaded.meta.name),
                detail=str(place.target),
            )
        )

    def _export_usage(self, effect: ExportUsage) -> None:
        place = self._place(effect)
        _write_export(place, effect.table)
        self._emit(
            OperationDone(
                subject="export", text=tr("The usage table is saved to a file."), detail=str(place.target)
            )
        )

    def _place(self, effect: ExportDiscussion | ExportUsage) -> ExportPlace:
        """The place that an export goes to. Raises StorageError: it may not go there."""
        ours = (self._root, paths.config_dir(), *map(Path, filter(None, effect.kept)))
        place = look_at(effect.path, ours)
        check_place(place, replaces=effect.replaces)
        return place


def _write_export(place: ExportPlace, text: str) -> None:
    from core.kernel.disk import create_file, write_file

    write = write_file if place.is_there else create_file
    write(place.target, text.encode("utf-8", "replace"))


def summarise(found: DiscussionMeta, discussion: OpenDiscussion) -> DiscussionSummary:
    """The row of the list that a loaded discussion gives."""
    messages = discussion.messages
    last: Message | None = messages[-1] if messages else None
    return DiscussionSummary(
        meta=found,
        updated_at=last.at if last is not None else found.created_at,
        turns=sum(1 for m in messages if m.role is Role.USER),
        usage=discussion.usage,
        upkeep=discussion.upkeep,
        preview=scrubbed_line(last.text, 160) if last is not None else "",
        is_unanswered=bool(discussion.unanswered_id),
        is_partial=is_partial(discussion.entries),
    )


def supersedes(newer: DiskEffect, older: DiskEffect) -> bool:
    """A draft or meta makes an earlier one of the same discussion needless."""
    if isinstance(newer, WriteMeta) and isinstance(older, WriteMeta):
        return newer.meta.id == older.meta.id
    if isinstance(newer, WriteDraft) and isinstance(older, WriteDraft):
        return newer.discussion_id == older.discussion_id
    return False


def keeps(effect: DiskEffect) -> bool:
    """True if an effect is written again until it is on disk: it says how things stand, whenever that is."""
    return isinstance(effect, WriteDraft | WriteMeta)


# The list of discussions, the trash and search, on one thread, from the derived index.

SEARCH_LIMIT = 200
FIRST_READ_S = 0.5
"""Longest time for which the list leaves the interpreter to the reading of the discussion that a person looks at."""
PART_OF_LIST = 0.25
"""Share of all rows that new ones must be before they are told: each telling copies the list."""


class ListingHandler:
    """Carries out the listing worker's effects.

    Args:
        home: the person's data; is_read_only: whether the trash may be emptied; clock: UTC; emit: the inbox.
        was_read: as of `DiscussionHandler`, None where none is read.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        *,
        is_read_only: bool,
        was_read: threading.Event | None = None,
    ) -> None:
        self._was_read = was_read
        self._home = home
        self._clock = clock
        self._emit = emit
        self._is_read_only = is_read_only
        self._opened: Catalog | None = None
        self._listed: dict[str, EntryKeys] = {}

    def handle(self, effect: ListEffect) -> None:
        """Carry out one effect. Raises StorageError."""
        match effect:
            case LoadSummaries(first):
                self._list(first)
            case EmptyTrash():
                self._empty_trash(effect.trash_days)
            case LookForChanges():
                self._look_for_changes()
            case IndexDiscussion():
                self._catalog.update(effect.discussion_id)
            case SearchDiscussions():
                self._search(effect.query)
            case CountUsage():
                self._emit(UsageCounted(self._catalog.usage(effect.query), effect.command_id))
            case _:
                assert_never(effect)

    @property
    def _catalog(self) -> Catalog:
        """The index; opened on this thread, which alone uses it."""
        if self._opened is None:
            self._opened = Catalog(self._home, paths.catalog_file(self._home), now=self._clock)
        return self._opened

    def _list(self, first: str) -> None:
        """List what the index knew last at once, of all the one that a person looks at, then what the home says."""
        if first and (shown := self._catalog.family(first)):
            self._emit(SummariesLoaded(summaries=shown, is_complete=False))
            if self._was_read is not None:
                self._was_read.wait(FIRST_READ_S)
        rows = {row.meta.id: row for row in self._catalog.load_summaries()}
        self._report(rows, is_complete=False)
        gathered: list[DiscussionSummary] = []
        for found in self._catalog.refresh():
            rows |= {row.meta.id: row for row in found.summaries}
            gathered += found.summaries
            for gone in found.removed_ids:
                rows.pop(gone, None)
            if found.done < found.total:
                self._emit(
                    WorkerReported(
                        name="list",
                        status="busy",
                        detail=tr("Reading discussions"),
                        fraction=found.done / found.total,
                    )
                )
                if gathered and len(gathered) >= PART_OF_LIST * len(rows):
                    self._emit(SummariesLoaded(summaries=tuple(gathered), is_complete=False))
                    gathered.clear()
        self._listed = self._catalog.known()
        self._report(rows, is_complete=True)
        self._emit(WorkerReported(name="list", status="idle"))
        self._count_spent(rows)
        self._report_trash()

    def _look_for_changes(self) -> None:
        """Report the rows that changed since the last look. The index is shared: who changed one may have indexed it."""
        deque(self._catalog.refresh(), maxlen=0)
        before, self._listed = self._listed, self._catalog.known()
        changed = [key for key, marks in self._listed.items() if before.get(key) != marks]
        if changed:
            self._emit(SummariesChanged(self._catalog.rows(changed)))

    def _count_spent(self, rows: dict[str, DiscussionSummary]) -> None:
        """Add up what was paid since the person's midnight: in logs, also those deleted since, and by harvests."""
        start = midnight(self._clock())
        logs = [paths.log_file(self._home, key) for key, row in rows.items() if row.paid_at >= start]
        paid = all_paid_since(self._home, logs, start)
        self._emit(
            SpentCounted(
                day_start=start,
                usd=sum(one.usd for one in paid.values()),
                has_estimate=any(one.is_estimate for one in paid.values()),
                ids=frozenset(paid),
            )
        )

    def _report(self, rows: dict[str, DiscussionSummary], *, is_complete: bool) -> None:
        drafted = frozenset(key for key in rows if has_draft(self._home, key)) if is_complete else frozenset()
        self._emit(SummariesLoaded(summaries=tuple(rows.values()), is_complete=is_complete, drafted=drafted))

    def _empty_trash(self, trash_days: int) -> None:
        try:
            if not self._is_read_only:
                trash.expire(self._home, self._clock(), trash_days)
        except StorageError as error:  # it empties nothing for now, and nobody waits for that
            detail = as_sentences(error.remedy, error.where)
            self._emit(OperationFailed(subject="trash", text=error.what, detail=detail, is_standing=True))
        self._report_trash()

    def _report_trash(self) -> None:
        self._emit(TrashListed(tuple(reversed(trash.items(self._home)))))

    def _search(self, query: str) -> None:
        self._emit(SearchFound(self._catalog.search(query, SEARCH_LIMIT)))


def supersedes_list(newer: ListEffect, older: ListEffect) -> bool:
    """A later search makes an earlier one needless; so does a later look at the same discussion, or at all."""
    if isinstance(newer, IndexDiscussion) and isinstance(older, IndexDiscussion):
        return newer.discussion_id == older.discussion_id
    return isinstance(newer, SearchDiscussions | LookForChanges) and type(newer) is type(older)


LIST_WORK = queued("list", ListEffect, supersedes_list)
