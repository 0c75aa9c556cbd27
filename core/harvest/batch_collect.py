"""Answers of an ended batch, kept and booked as they are read, and how much of what the provider has was missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from core.base import paths
from core.base.disk import Disk
from core.base.tokens import estimate_tokens
from core.harvest.batch_answers import RowTally, answers_that_count, missing_rows
from core.harvest.batch_words import fault_sentence, lost_sentence
from core.harvest.replies import KeptReplies
from core.providers.batches import AnswerKind, BatchAnswer, BatchStatus
from core.spending.estimates import booked
from core.spending.harvest_costs import Payments
from core.values.batches import BatchFault, BatchItem, HarvestBatch
from core.values.harvest import HarvestUse
from core.values.provider import StopKind
from core.values.usage import Usage


class BatchReading(msgspec.Struct, frozen=True):
    """Outcome of one reading of a batch's results, with what earlier ones took.

    Args:
        answered, forgotten, taken, paid_usd: as in `BatchProgress`; faults: of this reading; failed: their items' numbers.
        fates: numbers of the items that expired or were cancelled.
        missing: answers that the provider counts and that were not there whole.
    """

    answered: int
    forgotten: int
    taken: tuple[int, ...]
    paid_usd: float
    faults: tuple[BatchFault, ...]
    failed: tuple[int, ...]
    fates: Mapping[AnswerKind, tuple[int, ...]]
    missing: int

    def billed_faults(self) -> tuple[BatchFault, ...]:
        """Faults of requests that were billed: no later reading meets them anew."""
        pairs = zip(self.failed, self.faults, strict=True)
        return tuple(fault for number, fault in pairs if number in self.taken)

    def problems(self, batch: HarvestBatch, name_of: Callable[[str], str]) -> Iterator[str]:
        """Sentences about what was not answered, by the names of conversations."""

        def names(numbers: Iterable[int]) -> list[str]:
            return [name_of(batch.items[number].path) for number in numbers]

        for kind, word in ((AnswerKind.EXPIRED, "expired"), (AnswerKind.CANCELLED, "cancelled")):
            if lost := self.fates[kind]:
                yield lost_sentence(word, len(lost), names(lost))
        silent = set(range(len(batch.items))).difference(self.taken, self.failed, *self.fates.values())
        if silent:
            yield lost_sentence("left without an answer", len(silent), names(sorted(silent)))
        for reason in dict.fromkeys(fault.reason for fault in self.faults):
            numbers = [n for n, one in zip(self.failed, self.faults, strict=True) if one.reason == reason]
            yield fault_sentence(reason, names(numbers))


class Collector:
    """Reads the results of batches. A reply is on the medium before the next row is read.

    Args:
        is_there: true while a conversation is as it was when it was sent; on_paid: told what an answer came to.
    """

    def __init__(
        self,
        home: Path,
        disk: Disk,
        payments: Payments,
        is_there: Callable[[BatchItem], bool],
        on_paid: Callable[[HarvestUse], object],
    ) -> None:
        self._knowledge, self._disk = paths.knowledge_dir(home), disk
        self._payments, self._is_there, self._on_paid = payments, is_there, on_paid

    def read(self, batch: HarvestBatch, answers: Iterable[BatchAnswer], status: BatchStatus) -> BatchReading:
        """Keep the replies that no earlier reading took, and book what they cost.

        Raises:
            StorageError: a paid reply cannot be kept. ProviderError: the results cannot be read on.
        """
        tally = RowTally()
        answered, forgotten, paid = batch.answered, batch.forgotten, batch.paid_usd
        taken = set(batch.taken)
        faults, failed = list[BatchFault](), list[int]()
        fates: dict[AnswerKind, list[int]] = {AnswerKind.EXPIRED: [], AnswerKind.CANCELLED: []}
        for index, answer in answers_that_count(batch, answers, tally):
            item = batch.items[index]
            if index in batch.taken:
                continue
            if answer.is_billed:
                paid += self._pay(batch, item, answer)
                taken.add(index)
            if answer.kind is AnswerKind.ERRORED or answer.stop in {StopKind.REFUSED, StopKind.BROKEN}:
                faults.append(BatchFault(item.key, answer.reason, answer.is_refused))
                failed.append(index)
            elif answer.kind is not AnswerKind.ANSWERED:
                fates[answer.kind].append(index)
            elif self._is_there(item):
                self._keep(batch, item, answer.text)
                answered += 1
            else:
                forgotten += 1
        return BatchReading(
            answered,
            forgotten,
            tuple(sorted(taken)),
            paid,
            tuple(faults),
            tuple(failed),
            {kind: tuple(numbers) for kind, numbers in fates.items()},
            missing_rows(batch, tally, status),
        )

    def _keep(self, batch: HarvestBatch, item: BatchItem, text: str) -> None:
        kept = KeptReplies(self._knowledge, item.sha256, disk=self._disk)
        with kept.place_of(item.key, batch.provider, batch.model) as place:
            place.keep(text)

    def _pay(self, batch: HarvestBatch, item: BatchItem, answer: BatchAnswer) -> float:
        """Book an answer. Its id is the request's: read twice, it counts once. Returns its price, 0 where unknown."""
        usage = booked(
            answer.usage,
            Usage(input_tokens=item.input_tokens_est),
            estimate_tokens(len(answer.text.encode("utf-8", "replace"))),
            lambda used: self._payments.price(batch.provider, batch.model, used),
            is_whole=True,
        )
        use = self._payments.batched(batch.provider, batch.model, usage, item.custom_id)
        self._on_paid(use)
        return use.cost_usd or 0.0
