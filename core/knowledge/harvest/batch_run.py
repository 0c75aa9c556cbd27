"""Batches from end to end: adopt what a crash left, collect what has ended, submit what is missing.

Nothing is applied here: a reply that is collected is a kept reply, and the apply finds it as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import ProviderError, SlopError
from core.kernel.figures import count
from core.kernel.language import as_sentences, capital, spliced, tr
from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    BatchItem,
    BatchReport,
    BatchState,
    HarvestBatch,
    HarvestUse,
)
from core.knowledge.file_writer import harvest_lock
from core.knowledge.harvest.batch_prompts import (
    BatchFiles,
    Collector,
    WantedPrompt,
    expected_cost,
    wanted_prompts,
)
from core.knowledge.harvest.batch_step import (
    MOST_SHORT_LOOKS,
    BatchChange,
    batch_name,
    closing_state,
    overdue_reason,
    overdue_sentence,
    reserved,
    sent_sentence,
    short_sentence,
    stopped_sentence,
    unread,
)
from core.knowledge.harvest.distillation import request_for
from core.knowledge.harvest.harvest_scan import Progress, ScanRequest, no_progress
from core.knowledge.harvest.sources import LEAST_FREE_BYTES, Distiller, HarvestStoppedError
from core.knowledge.ledger import hash_source, timestamp
from core.services.providers.batches import AnswerKind, Batches, BatchRequest, BatchStatus, was_refused
from core.services.spending.harvest_costs import Payments
from core.talk.discussion.discussion_meta import read_meta

ARRIVES_WITHIN = timedelta(minutes=10)
"""A submission without an answer that the provider does not list after this long never arrived."""

LOOKS_BACK = timedelta(days=1)
"""Before the intent, for clocks that differ."""

LATE_BY = timedelta(days=1)
"""After the time at which a provider ends a batch by its own rule. One that is not called ended by then is given up."""

KEPT_FOR = timedelta(days=30)
"""Files of closed batches; longer than a provider keeps one."""


class BatchServices(msgspec.Struct, frozen=True):
    """Services of the program to a run of batches.

    Args:
        service: a provider's batch service, raises ProviderError where it has none.
        payments: books what was used; seed: fresh randomness, hexadecimal.
        let_go: told what a batch is expected to cost; gives the reason why it is not to be sent, empty where it is.
        on_open: told what the open batches are expected to cost, by tag, whenever that changes.
        on_paid: told what an answer came to.
    """

    service: Callable[[str], Batches]
    payments: Payments
    seed: Callable[[], str]
    let_go: Callable[[float], str]
    on_open: Callable[[Mapping[str, float]], object] = lambda _open: None
    on_paid: Callable[[HarvestUse], object] = lambda _use: None


class BatchRun:
    """One look after the batches of a home. The caller holds the harvest's lock.

    Args:
        clock: UTC.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        services: BatchServices,
        *,
        disk: Disk = OS_DISK,
    ) -> None:
        self._home, self._clock, self._services, self._disk = home, clock, services, disk
        self._knowledge = paths.knowledge_dir(home)
        self._files = BatchFiles(home, disk)
        self._closed: list[HarvestBatch] = []
        self._problems: list[str] = []
        self._sources: dict[str, str] = {}
        self._said: list[str] = []
        self._sent: list[HarvestBatch] = []
        self._stopped = ""

    def collect(self) -> None:
        """Adopt what was submitted without an answer, and keep the replies of what has ended.

        A provider that cannot be reached is a problem in the report; the others are still asked.

        Raises:
            StorageError: a file cannot be read, or a paid reply cannot be kept; nothing is lost by trying again.
        """
        for batch in self._files.batches():
            self._looked_after(batch)
        self._tell_open()

    def withdraw(self, tags: Collection[str] | None = None) -> None:
        """Stop open batches: what is answered by now is kept, the rest is not read, and nothing stays at the provider.

        Args:
            tags: which; None for those that are unwanted already. One that cannot be stopped now is unwanted, and the
                next look after the batches stops it.

        Raises:
            StorageError: as for `collect`.
        """
        for batch in self._files.batches():
            if batch.is_cleaned or not (batch.is_unwanted if tags is None else batch.tag in tags):
                continue
            asked = (
                batch
                if batch.is_unwanted or not batch.is_open
                else self._note(batch, batch.state, is_unwanted=True)
            )
            self._looked_after(asked)
        self._tell_open()

    def withdraw_unwanted(self) -> str:
        """Withdraw what is unwanted. Returns why one of them is left at its provider, empty where none is."""
        self.withdraw()
        left = [one for one in self._files.batches() if one.is_unwanted and not one.is_cleaned]
        if not left:
            return ""
        why = as_sentences(*dict.fromkeys(self._problems)) or tr(
            "The program is stopping {batch}", batch=self._name(left[0])
        )
        return tr(
            "{problem}. The next check of the batches (`harvest --batch --apply`) deletes the sent text.",
            problem=why,
        )

    def submit(
        self,
        asker: Distiller,
        request: ScanRequest,
        artifacts: Iterable[Artifact],
        on_progress: Progress = no_progress,
    ) -> None:
        """Send what has no reply yet of these conversations, in as many batches as the provider wants it in.

        Conversations of open batches wait for these. A provider that refuses, or has no batches, is in the report.

        Raises:
            StorageError, HarvestStoppedError: nothing was sent.
        """
        try:
            self._submit(asker, request, artifacts, on_progress)
        except ProviderError as error:
            self._stopped = as_sentences(error.what, error.remedy)
        finally:
            self._tell_open()

    def _submit(
        self, asker: Distiller, request: ScanRequest, artifacts: Iterable[Artifact], on_progress: Progress
    ) -> None:
        service = self._services.service(asker.provider)
        chosen = [one.facts for one in artifacts if one.kind is ArtifactClass.HARVEST]
        chunk: list[WantedPrompt] = []
        size = 0
        found = wanted_prompts(
            asker,
            request,
            chosen,
            self._files.batches(),
            unread(self._closed),
            self._problems.append,
            on_progress,
        )
        for wanted in found:
            length = len(wanted.prompt.encode("utf-8", "replace"))
            if chunk and (len(chunk) >= service.most_requests or size + length > service.most_bytes):
                if not self._send(service, asker, chunk):
                    return
                chunk, size = [], 0
            chunk.append(wanted)
            size += length
        if chunk:
            self._send(service, asker, chunk)

    def report(self) -> BatchReport:
        """The batches now: the open ones, and what this run closed."""
        still = tuple(one for one in self._files.batches() if one.is_open)
        return BatchReport(
            batches=(*still, *self._closed),
            submitted=sum(len(one.items) for one in self._sent),
            problems=tuple(dict.fromkeys(self._problems)),
            stopped=self._stopped,
            said=(*self._said, *((sent_sentence(self._sent),) if self._sent else ())),
        )

    def _looked_after(self, batch: HarvestBatch) -> None:
        try:
            self._look_after(batch)
        except ProviderError as error:
            self._problems.append(
                as_sentences(spliced("{}: {}", self._name(batch), error.what), error.remedy)
            )

    def _look_after(self, batch: HarvestBatch) -> None:
        if not batch.is_open:
            self._tidy(batch)
            return
        service = self._services.service(batch.provider)
        if batch.state is BatchState.INTENDED:
            batch = self._adopted(service, batch)
        if batch.state in {BatchState.SUBMITTED, BatchState.ENDED}:
            self._follow(service, batch)

    def _tidy(self, batch: HarvestBatch) -> None:
        """Leave nothing of a closed batch at the provider, and its file only for a time."""
        if not batch.is_cleaned:
            self._clean(self._services.service(batch.provider), batch)
        elif datetime.fromisoformat(batch.at) < self._clock() - KEPT_FOR:
            self._files.remove(batch)

    def _adopted(self, service: Batches, batch: HarvestBatch) -> HarvestBatch:
        """Find a submission that nobody knows the answer of. It is never sent again before that is known."""
        since = datetime.fromisoformat(batch.at)
        known = frozenset(one.name for one in self._files.batches() if one.name)
        found = service.find(batch.tag, len(batch.items), since - LOOKS_BACK, known)
        if found.name:
            return self._note(batch, BatchState.SUBMITTED, name=found.name)
        if not found.is_unsure and self._clock() - since > ARRIVES_WITHIN:
            return self._close(
                service, batch, BatchState.CANCELLED, reason=tr("the batch never arrived at the provider")
            )
        self._problems.append(
            tr(
                "{batch}: the provider has not confirmed yet that the batch arrived; the program does not send the batch twice",
                batch=self._name(batch),
            )
        )
        return batch

    def _follow(self, service: Batches, batch: HarvestBatch) -> None:
        status = service.status(batch.name)
        asked = timestamp(self._clock())
        if status is not None:
            batch = self._note(batch, batch.state, asked_at=asked, worked_off=status.worked_off)
        if status is None or status.is_gone:
            why = (
                tr("the provider no longer knows the batch")
                if status is None
                else tr("the provider no longer keeps the answers of the batch")
            )
            self._problems.append(
                tr(
                    "{batch}: {why}. Its conversations stay, and you can harvest them again",
                    batch=self._name(batch),
                    why=why,
                )
            )
            self._close(service, batch, BatchState.VANISHED, reason=why)
        elif status.reason:
            self._problems.append(
                tr(
                    "{batch}: the batch failed: {reason}. Its conversations stay, and you can harvest them again",
                    batch=self._name(batch),
                    reason=status.reason,
                )
            )
            self._close(service, batch, BatchState.CANCELLED, reason=status.reason)
        elif status.is_ended:
            if batch.state is BatchState.SUBMITTED:
                batch = self._note(batch, BatchState.ENDED)
            self._take_answers(service, batch, status)
        elif self._clock() - datetime.fromisoformat(batch.at) > service.ends_within + LATE_BY:
            self._give_up(service, batch, status)
        elif not batch.is_cancelling and (
            batch.is_unwanted or not any(self._is_there(item) for item in batch.items)
        ):
            service.cancel(batch.name)
            self._follow(service, self._note(batch, BatchState.SUBMITTED, is_cancelling=True))

    def _give_up(self, service: Batches, batch: HarvestBatch, status: BatchStatus) -> None:
        """Close a batch that its provider should have ended by its own rule, whatever it says: what it has is read."""
        why = overdue_reason(service.ends_within)
        self._problems.append(overdue_sentence(batch, why, self._clock()))
        with suppress(ProviderError):  # that it stays stored there is said where it is deleted
            service.cancel(batch.name)
        ended = self._note(batch, BatchState.ENDED, reason=why)
        self._take_answers(service, ended, replace(status, is_expired=True))

    def _take_answers(self, service: Batches, batch: HarvestBatch, status: BatchStatus) -> None:
        """Keep the replies and book what they cost. What the provider counts and did not hand over is read again, until
        the person gives it up: before, nothing is deleted there and nothing submitted anew.
        """
        collector = Collector(
            self._home, self._disk, self._services.payments, self._is_there, self._services.on_paid
        )
        reading = collector.read(batch, service.answers(batch.name), status)
        progress = {name: getattr(reading, name) for name in ("answered", "forgotten", "taken", "paid_usd")}
        looks = batch.short_looks + bool(reading.missing)
        if reading.missing and not (batch.is_unwanted and looks >= MOST_SHORT_LOOKS):
            batch = self._note(
                batch,
                BatchState.ENDED,
                short_looks=looks,
                faults=(*batch.faults, *reading.billed_faults()),
                **progress,
            )
            self._problems.append(short_sentence(batch, reading.missing, self._clock()))
            return
        if not batch.is_unwanted:
            self._problems += reading.problems(batch, self._title)
        if gone := reading.forgotten - batch.forgotten:
            self._problems.append(
                tr(
                    "{batch}: the program dropped {replies}, because their conversations changed or are gone",
                    batch=self._name(batch),
                    replies=count(gone, tr("reply"), tr("replies")),
                )
            )
        state = closing_state(
            batch,
            answered=reading.answered + reading.forgotten,
            is_expired=status.is_expired or bool(reading.fates[AnswerKind.EXPIRED]),
        )
        self._close(service, batch, state, faults=(*batch.faults, *reading.faults), **progress)

    def _title(self, path: str) -> str:
        """Name of a conversation for the person."""
        folder = Path(path).parent
        is_ours = folder.parent == paths.discussions_dir(self._home)
        return read_meta(self._home, folder.name).meta.name if is_ours else Path(path).name

    def _name(self, batch: HarvestBatch) -> str:
        return capital(batch_name(batch, self._clock()))

    def _send(self, service: Batches, asker: Distiller, chunk: list[WantedPrompt]) -> bool:
        """Send one batch: the intent is on the medium before it goes out. Returns whether another may follow."""
        if asker.free_bytes(self._knowledge) < LEAST_FREE_BYTES:
            raise HarvestStoppedError(
                tr("The disk is nearly full. No batch was sent, because its replies would be lost"),
                remedy=tr("Free some space and try again"),
                where=str(self._knowledge),
            )
        estimate = expected_cost(asker, chunk, self._services.payments.price)
        self._stopped = self._services.let_go(estimate or 0.0)
        if self._stopped:
            return False
        tag = f"manual-slop-{self._services.seed()}"
        items = tuple(
            BatchItem(
                custom_id=f"{tag}-{number}",
                sha256=one.facts.sha256,
                path=one.facts.path,
                key=one.key,
                has_schema=one.has_schema,
                input_tokens_est=one.tokens_est,
                told=one.told,
            )
            for number, one in enumerate(chunk)
        )
        batch = HarvestBatch(
            tag=tag,
            provider=asker.provider,
            model=asker.model,
            at=timestamp(self._clock()),
            items=items,
            estimate_usd=estimate,
        )
        self._files.intend(batch)
        self._tell_open()
        sent = [
            BatchRequest(
                item.custom_id,
                request_for(one.prompt, asker.provider, asker.model, has_schema=one.has_schema),
            )
            for item, one in zip(items, chunk, strict=True)
        ]
        try:
            status = service.submit(tag, sent)
        except ProviderError as error:
            if was_refused(error):
                self._close(service, batch, BatchState.CANCELLED, reason=error.what)
                self._tell_open()
            raise
        self._sent.append(self._note(batch, BatchState.SUBMITTED, name=status.name))
        return True

    def _is_there(self, item: BatchItem) -> bool:
        """True while the conversation is as it was when it was sent."""
        if item.path not in self._sources:
            try:
                self._sources[item.path] = hash_source(Path(item.path)).sha256
            except SlopError:
                self._sources[item.path] = ""
        return self._sources[item.path] == item.sha256

    def _note(self, batch: HarvestBatch, state: BatchState, **progress: Any) -> HarvestBatch:
        """Write a change. `progress`: fields of `BatchProgress`."""
        return self._files.note(batch, BatchChange(at=timestamp(self._clock()), state=state, **progress))

    def _close(
        self, service: Batches, batch: HarvestBatch, state: BatchState, **progress: Any
    ) -> HarvestBatch:
        """Write how it closed, and have the provider forget it. What it cost is booked before."""
        batch = self._note(batch, state, **progress)
        self._closed.append(batch)
        if batch.is_unwanted:
            self._said.append(stopped_sentence(batch, self._clock()))
        try:
            self._clean(service, batch)
        except ProviderError as error:
            self._problems.append(
                tr(
                    "{batch}: the provider still stores the sent text ({reason}); the next check deletes it",
                    batch=self._name(batch),
                    reason=error.what,
                )
            )
        return batch

    def _clean(self, service: Batches, batch: HarvestBatch) -> None:
        service.clean(batch.tag, batch.name)
        change = BatchChange(at=timestamp(self._clock()), state=batch.state, is_cleaned=True)
        self._files.note(batch, change)

    def _tell_open(self) -> None:
        self._services.on_open(reserved(self._files.batches()))


def look_after_batches(
    home: Path,
    clock: Callable[[], datetime],
    services: BatchServices,
    asker: Distiller,
    request: ScanRequest,
    artifacts: Iterable[Artifact],
    on_progress: Progress = no_progress,
    *,
    submits: bool = True,
    by: str = "manual-slop harvest",
) -> BatchReport:
    """Collect, then submit what has no reply yet. What was submitted before a failure is in the report.

    Raises:
        LockedError: another harvest runs. StorageError: what was paid for could not be put on disk.
    """
    with harvest_lock(home, by):
        run = BatchRun(home, clock, services)
        run.collect()
        if submits:
            run.submit(asker, request, artifacts, on_progress)
        return run.report()


def withdraw_batches(
    home: Path,
    clock: Callable[[], datetime],
    services: BatchServices,
    tags: Collection[str],
    *,
    by: str = "manual-slop harvest cancel",
) -> BatchReport:
    """Stop open batches. `tags`: empty for all. What the provider has answered by now is kept.

    Raises:
        LockedError: another harvest runs. StorageError: a file cannot be read, or a paid reply not kept.
    """
    with harvest_lock(home, by):
        run = BatchRun(home, clock, services)
        run.withdraw(tags or {one.tag for one in batches_now(home).batches})
        return run.report()


def batches_now(home: Path) -> BatchReport:
    """The open batches as the disk tells of them. Asks nobody. Raises StorageError."""
    return BatchReport(batches=tuple(one for one in BatchFiles(home).batches() if one.is_open))
