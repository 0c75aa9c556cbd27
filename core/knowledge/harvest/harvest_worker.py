"""The harvest in the background, one run at a time: look, preview, apply, undo; stopped on request."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import assert_never

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import SlopError, StorageError
from core.kernel.ids import time_of_id
from core.kernel.language import as_sentences, tr
from core.kernel.opener import read_file
from core.kernel.queue import at_once, queued
from core.kernel.values.harvest import ApplyKind, ApplySummary, Artifact, ArtifactClass, HarvestLook, Review
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus, RemovalQuestion
from core.kernel.values.updates import Report
from core.kernel.values.usage import Usage
from core.knowledge.apply import DRAFT_BY, MERGE_BY, MergeRequest, apply_merge, make_draft
from core.knowledge.apply_log import ApplyRecord
from core.knowledge.categories import source_name, split_tag
from core.knowledge.file_writer import harvest_lock
from core.knowledge.harvest.batch_prompts import not_asked
from core.knowledge.harvest.batch_run import (
    BatchRun,
    BatchServices,
    batches_now,
    look_after_batches,
    withdraw_batches,
)
from core.knowledge.harvest.distillation import HarvestCancelledError, ProviderGenerate
from core.knowledge.harvest.harvest_messages import (
    ApplyPreview,
    AskForMerge,
    BatchesFound,
    CancelHarvest,
    DistilConversations,
    FindBatches,
    HarvestCalling,
    HarvestEnded,
    HarvestEvent,
    HarvestFailed,
    HarvestLooked,
    HarvestPaid,
    HarvestProgressed,
    HarvestProposed,
    HarvestReported,
    HarvestRun,
    LetHarvestCall,
    RunBatches,
    RunEffect,
    ScanConversations,
    UndoApply,
    WithdrawBatches,
    WriteMerge,
    WritePlaybookDraft,
)
from core.knowledge.harvest.harvest_run import (
    ApplyRequest,
    RunPurse,
    apply,
    distiller,
    items_of_preview,
    look,
    preview,
    scan_request,
)
from core.knowledge.harvest.harvest_scan import Progress, ScanRequest, no_progress
from core.knowledge.harvest.merge_reply import drop_merge_replies, merge_schema, propose_merge
from core.knowledge.harvest.modes import piece_bytes_for
from core.knowledge.harvest.preview import conversation_mark, marks_of, without_marks
from core.knowledge.harvest.replies import kept_conversations, load_review
from core.knowledge.harvest.sources import HarvestStoppedError, ReadMessages
from core.knowledge.harvest.transcript_sources import unread_messages
from core.knowledge.ledger import HarvestLedger
from core.knowledge.parts import RemovalError
from core.knowledge.recovery import list_applies, undo_apply
from core.services.providers.batches import batches_of
from core.services.providers.protocol import CancelToken, Provider
from core.services.spending.harvest_costs import Payments
from core.talk.discussion import trash

# A look at everything that a harvest is about: conversations, costs, the ledger, the applies, and where
# items came from.


def look_at_all(
    request: ScanRequest,
    provider: str,
    model: str,
    piece_bytes: int,
    on_progress: Progress = no_progress,
) -> HarvestLook:
    """Look; changes nothing on disk.

    Args:
        provider, model: whose prices the estimate has; piece_bytes: what one call to it reads at most.

    Raises:
        ConfigError: the ledger does not parse. StorageError: it, the applies or the trash cannot be read.
        Whatever `on_progress` raises.
    """
    ledger = HarvestLedger(request.home)
    seen = look(request, provider, model, piece_bytes=piece_bytes, ledger=ledger, on_progress=on_progress)
    applies = tuple(list_applies(request.home))
    entries = tuple(ledger.entries())
    return HarvestLook(
        artifacts=seen.artifacts,
        estimate=seen.estimate,
        ledger=entries,
        applies=tuple(map(summary_of, applies)),
        sources=sources_of(request.home, seen.artifacts, applies),
        review=_open_review(request.home, entries),
        batches=batches_now(request.home).batches,
    )


def summary_of(record: ApplyRecord) -> ApplySummary:
    """An apply for a list."""
    steps = [step for step in record.steps if not step.is_dropped]
    kind = _KINDS.get(record.by, ApplyKind.HARVEST)
    sources = tuple(dict.fromkeys(step.source for step in steps if step.source))
    talks = steps if kind is ApplyKind.HARVEST else []
    return ApplySummary(
        id=record.id,
        at=record.at,
        undone_at=record.undone_at,
        conversations=len(talks),
        items=record.item_count,
        reclaimed=len(record.reclaimed),
        kind=kind,
        sources=sources,
        forgotten=sum(not step.source for step in talks),
    )


_KINDS = {MERGE_BY: ApplyKind.MERGE, DRAFT_BY: ApplyKind.DRAFT}


def sources_of(home: Path, artifacts: Iterable[Artifact], applies: Sequence[ApplyRecord]) -> dict[str, str]:
    """The discussion that each name in provenance stands for, of those in the list and in the trash.

    The applies know it for certain, the newest first; else it is found by the name that it would be given now.
    """
    here = [(one.facts.name, one.facts.id) for one in artifacts if one.facts.id]
    binned = list(_in_trash(home))
    there = {discussion_id for _, discussion_id in (*here, *binned)}
    found: dict[str, str] = {}
    for name, discussion_id in _of_applies(home, applies):
        if discussion_id in there:
            found.setdefault(name, discussion_id)
    for name, discussion_id in (*here, *binned):
        found.setdefault(name, discussion_id)
    return found


def _open_review(home: Path, entries: Iterable[HarvestLedgerEntry]) -> Review:
    """The reviews that were begun, without those of conversations that were harvested after all."""
    review = load_review(home)
    if not review:
        return review
    done = (one for one in entries if one.status is LedgerStatus.HARVESTED and one.allows_reclaim)
    return without_marks(review, frozenset(conversation_mark(one.sha256) for one in done))


def _in_trash(home: Path) -> Iterator[tuple[str, str]]:
    for item in trash.items(home):
        created = time_of_id(item.discussion_id) or item.deleted_at
        yield source_name(created, item.name), item.discussion_id


def _of_applies(home: Path, applies: Iterable[ApplyRecord]) -> Iterator[tuple[str, str]]:
    root = paths.discussions_dir(home)
    for step in (step for record in applies for step in record.steps):
        folder = Path("" if step.entry is None else step.entry.path).parent
        if folder.parent != root:
            continue
        tags = {tag for plan in step.files for line in plan.lines if (tag := split_tag(line.text)[1])}
        yield from ((tag.source, folder.name) for tag in sorted(tags, key=lambda tag: tag.source))


# The harvest in the background, one run at a time: look, preview, apply, undo; stopped from another thread
# at once.

Emit = Callable[[HarvestEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

log = logging.getLogger(__name__)

BY = "a window's harvest"
"""Name under which others are told who holds the lock."""

HOLD_S, REST_S = 0.002, 0.0002
"""Seconds that this thread works at a stretch, and seconds for which it then yields the interpreter."""

STOPPED = tr("You stopped the run.")
ENDING = tr("The program is ending.")


class HarvestServices(msgspec.Struct, frozen=True):
    """Services of the program to a harvest.

    Args:
        client: a provider's client, raises ProviderError where there is none.
        price: of a call in US dollars, None where unknown.
        read: gives what is to be distilled of a conversation, best in another process.
        set_batches: shares what the open batches are expected to cost with other programs, by tag.
    """

    client: Callable[[str], Provider]
    price: Callable[[str, str, Usage], float | None]
    read: ReadMessages = unread_messages
    set_batches: Callable[[Mapping[str, float]], object] = lambda _expected: None


@dataclass(slots=True)
class _LiveRun:
    """One run: what its calls used so far, whether and why it is to end early, and the word that its next call may go."""

    payments: Payments
    token: CancelToken = field(default_factory=CancelToken)
    why: str = ""
    word: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.token.on_cancel(self.word.set)

    def stop(self, why: str) -> None:
        self.why = self.why or why
        self.token.cancel()

    def check(self) -> None:
        if self.token.is_cancelled:
            raise HarvestCancelledError(self.why)


class _Pace:
    """Lets other threads have the interpreter every few milliseconds: a window draws while thousands are read."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def step(self) -> None:
        if time.monotonic() - self._since > HOLD_S:
            time.sleep(REST_S)
            self._since = time.monotonic()


def _nobody(prompt: str, provider: str, model: str) -> str:  # noqa: ARG001
    raise AssertionError("a look asks no model")


def _question(effect: RunEffect, error: RemovalError) -> RemovalQuestion:
    asked = effect.apply_id if isinstance(effect, UndoApply) else ""
    is_merge = isinstance(effect, WriteMerge)
    return RemovalQuestion(
        sentence=error.what, items=error.items, is_undo=not is_merge, apply_id=asked, is_merge=is_merge
    )


class HarvestHandler:
    """Carries out the harvest worker's effects.

    Args:
        home: the person's data; clock: UTC; emit: the inbox; is_read_only: the home cannot be written.
        seed: fresh randomness, for the ids of applies.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        services: HarvestServices,
        *,
        is_read_only: bool = False,
        seed: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._home = home
        self._clock = clock
        self._emit = emit
        self._services = services
        self._is_read_only = is_read_only
        self._seed = seed
        self._closing = threading.Event()
        self._current = self._made()

    def prepare(self) -> None:
        """A run is about to be queued: from now on it can be stopped. On the controller's thread."""
        self._current = self._made()
        if self._closing.is_set():
            self._current.stop(ENDING)

    def _made(self) -> _LiveRun:
        return _LiveRun(payments=Payments(self._home, self._services.price, self._clock))

    def cancel(self, why: str = "") -> None:
        """Stop the run that is queued or under way; what is being written is finished. Thread-safe."""
        self._current.stop(why or STOPPED)

    def let_go(self) -> None:
        """Let the run make the call that waited for its money to be reserved. Thread-safe."""
        self._current.word.set()

    def close(self) -> None:
        """The program ends: stop the run, and every one that may still come. Thread-safe."""
        self._closing.set()
        self._current.stop(ENDING)

    def handle(self, effect: RunEffect) -> None:
        """Carry out one effect. Each ends with an event of its own, also where it fails."""
        run = self._current
        try:
            self._carry_out(effect, run)
        except HarvestCancelledError:
            self._emit(HarvestEnded(run.why))
        except RemovalError as error:
            self._emit(HarvestReported(result=_question(effect, error)))
        except SlopError as error:
            detail = as_sentences(error.remedy, error.where)
            self._emit(HarvestFailed(error.what, detail))
        except Exception as error:  # the run is over, and is told so; the queue tells the rest
            self._emit(HarvestFailed(tr("The harvest failed: {error}", error=error), tr("See the log file.")))
            raise

    def _carry_out(self, effect: RunEffect, run: _LiveRun) -> None:
        match effect:
            case ScanConversations():
                self._emit(HarvestLooked(self._look(effect.run, self._progress(run.check))))
            case DistilConversations():
                self._distil(effect, run)
            case ApplyPreview():
                self._apply(effect, run)
            case RunBatches():
                self._batch(effect, run)
            case FindBatches():
                self._emit(BatchesFound(batches_now(self._home).batches))
            case WithdrawBatches():
                self._check_writable()
                services = self._batch_services(run)
                stopped = withdraw_batches(self._home, self._clock, services, effect.tags, by=BY)
                self._emit(HarvestReported(result=stopped, look=self._look_after(effect.run)))
            case UndoApply():
                self._check_writable()
                report = undo_apply(self._home, self._clock(), effect.apply_id, is_agreed=effect.is_agreed)
                self._emit(HarvestReported(result=report, look=self._look_after(effect.run)))
            case AskForMerge():
                self._ask_for_merge(effect, run)
            case WriteMerge():
                self._write_merge(effect)
            case WritePlaybookDraft():
                self._check_writable()
                made = make_draft(self._home, effect.item, effect.kind, self._clock(), self._seed())
                self._emit(HarvestReported(result=made, look=self._look_after(effect.run)))
            case _:
                assert_never(effect)

    def _ask_for_merge(self, effect: AskForMerge, run: _LiveRun) -> None:
        self._check_writable()
        made = effect.run
        self._services.client(made.provider)
        generate = ProviderGenerate(self._services.client, run.token, self._purse(run), schema=merge_schema)
        with harvest_lock(self._home, BY):
            found = propose_merge(self._home, made, effect.category, effect.template, generate)
        self._emit(HarvestReported(result=found))

    def _write_merge(self, effect: WriteMerge) -> None:
        self._check_writable()
        merge = effect.proposal
        asked = MergeRequest(
            home=self._home,
            category=merge.category,
            file=merge.file,
            groups=merge.ticked,
            now=self._clock(),
            seed=self._seed(),
            is_agreed=effect.is_agreed,
        )
        report = apply_merge(asked)
        drop_merge_replies(self._home, merge.category)
        self._emit(HarvestReported(result=report, look=self._look_after(effect.run)))

    def _purse(self, run: _LiveRun) -> RunPurse:
        return RunPurse(
            run.payments,
            lambda usd: self._is_let_go(run, usd),
            on_paid=lambda use: self._emit(HarvestPaid(use)),
        )

    def _distil(self, effect: DistilConversations, run: _LiveRun) -> None:
        self._check_writable()
        made = effect.run
        self._services.client(made.provider)
        problem = ""
        generate = ProviderGenerate(self._services.client, run.token, self._purse(run))
        with harvest_lock(self._home, BY):
            asker = distiller(self._home, made, generate, made.profile, self._services.read)
            request = scan_request(self._home, made, self._clock())
            try:
                for part in preview(request, effect.artifacts, asker, self._progress(run.check)):
                    self._emit(HarvestProposed(part))
            except HarvestCancelledError:
                problem = run.why
            except HarvestStoppedError as error:
                problem = as_sentences(error.what, error.remedy)
        self._emit(HarvestEnded(problem))

    def _batch(self, effect: RunBatches, run: _LiveRun) -> None:
        self._check_writable()
        made = effect.run
        services = self._batch_services(run, over_limit=effect.over_limit)
        asker = distiller(self._home, made, not_asked, made.profile, self._services.read)
        request = scan_request(self._home, made, self._clock())
        try:
            report = look_after_batches(
                self._home,
                self._clock,
                services,
                asker,
                request,
                effect.artifacts,
                self._progress(run.check),
                submits=bool(effect.artifacts),
                by=BY,
            )
        except HarvestCancelledError:
            report = replace(batches_now(self._home), stopped=run.why)
        is_same = effect.is_quiet and all(one.is_open for one in report.batches)
        self._emit(
            HarvestReported(
                result=report, look=None if is_same else self._look_after(made), previews=effect.previews
            )
        )

    def _batch_services(self, run: _LiveRun, *, over_limit: bool = False) -> BatchServices:
        client = self._services.client
        return BatchServices(
            service=lambda name: batches_of(client(name), name),
            payments=run.payments,
            seed=self._seed,
            let_go=lambda usd: "" if over_limit else self._is_let_go(run, usd),
            on_open=self._services.set_batches,
            on_paid=lambda use: self._emit(HarvestPaid(use)),
        )

    def withdraw_unwanted(self) -> str:
        """Stop the batches that a forgetting left unwanted, and delete them at the provider. Thread-safe.

        The caller holds the harvest's lock.

        Returns:
            Why one is left there, empty where none is.

        Raises:
            StorageError: a file cannot be read, or a paid reply not kept.
        """
        run = BatchRun(self._home, self._clock, self._batch_services(self._made()))
        return run.withdraw_unwanted()

    def _is_let_go(self, run: _LiveRun, usd: float) -> str:
        """Wait for the step's word on a call. Returns why it is not to be made, empty where it is."""
        run.word.clear()
        if not run.token.is_cancelled:
            self._emit(HarvestCalling(usd))
            run.word.wait()
        return run.why if run.token.is_cancelled else ""

    def _apply(self, effect: ApplyPreview, run: _LiveRun) -> None:
        self._check_writable()
        now = self._clock()
        items_of = None if effect.preview is None else items_of_preview(effect.preview, now)
        request = scan_request(self._home, effect.run, now)
        asked = ApplyRequest(
            scan=request,
            artifacts=effect.artifacts,
            items_of=items_of,
            seed=self._seed(),
            by=BY,
            makes_digest=effect.makes_digest,
            after=effect.after,
        )
        report = apply(asked, self._progress(run.check))
        self._emit(HarvestReported(result=report, look=self._look_after(effect.run)))

    def _look(self, run: HarvestRun, on_progress: Progress) -> HarvestLook:
        request = scan_request(self._home, run, self._clock())
        found = look_at_all(request, run.provider, run.model, piece_bytes_for(run.profile), on_progress)
        replied = frozenset(kept_conversations(paths.knowledge_dir(self._home)))
        if not found.review and not replied:
            return found
        return replace(found, kept=self._kept(run, found, replied, on_progress))

    def _kept(
        self, run: HarvestRun, found: HarvestLook, replied: frozenset[str], on_progress: Progress
    ) -> frozenset[str]:
        """The conversations whose replies are all kept, after a review that was begun or a batch: reading asks nobody."""
        marks, kept = marks_of(found.review), set()
        for facts in (one.facts for one in found.artifacts if one.kind is ArtifactClass.HARVEST):
            if facts.sha256 not in replied and conversation_mark(facts.sha256) not in marks:
                continue
            on_progress(0, 0, "")
            try:
                asker = distiller(self._home, run, _nobody, run.profile, self._services.read)
                if asker.has_kept(facts, read_file(facts.path, None)):
                    kept.add(facts.sha256)
            except (SlopError, OSError) as error:
                log.warning("whether its replies are kept cannot be said: %s: %s", facts.path, error)
        return frozenset(kept)

    def _look_after(self, run: HarvestRun) -> HarvestLook | None:
        """Look at the disk once more, None where that cannot be said or nobody will see it: the run counts
        all the same.
        """

        def check() -> None:
            if self._closing.is_set():
                raise HarvestCancelledError(ENDING)

        try:
            return self._look(run, self._progress(check))
        except SlopError as error:
            log.warning("no look after a harvest: %s", error)
            return None

    def _progress(self, check: Callable[[], None]) -> Progress:
        """Tells the controller: every conversation that has a name, else a hundred times at most."""
        pace = _Pace()

        def told(done: int, total: int, doing: str) -> None:
            pace.step()
            if done < total or not total:
                check()
            if doing or (total and (done == total or done % max(1, total // 100) == 0)):
                self._emit(HarvestProgressed(done=done, total=total, doing=doing))

        return told

    def _check_writable(self) -> None:
        if self._is_read_only:
            raise StorageError(
                tr("The program cannot harvest: this data folder is read-only"),
                remedy=tr("Make the data folder writable and start again"),
                where=str(self._home),
            )


WORK = queued("harvest", RunEffect)
STOP_WORK = at_once("harvest stop", CancelHarvest)
LET_WORK = at_once("harvest call", LetHarvestCall)
