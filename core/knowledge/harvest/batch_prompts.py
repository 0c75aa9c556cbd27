"""Prompts for batches: what a conversation still lacks a reply to, and which need no asking any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, append_file, make_dirs, remove_file, reported
from core.kernel.errors import SlopError
from core.kernel.figures import count
from core.kernel.language import as_sentences, joined, tr
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.tokens import estimate_tokens
from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    BatchFault,
    BatchItem,
    HarvestBatch,
    HarvestUse,
)
from core.kernel.values.provider import StopKind
from core.kernel.values.usage import Usage
from core.knowledge.harvest.batch_step import (
    MOST_FAULTS,
    BatchChange,
    change_row,
    changed,
    fault_sentence,
    faults_of,
    folded,
    intent_row,
    names_words,
    owner,
    waiting,
)
from core.knowledge.harvest.distillation import HarvestError, told_names, without_known
from core.knowledge.harvest.harvest_run import known_now
from core.knowledge.harvest.harvest_scan import Progress, ScanRequest, look_again, no_progress
from core.knowledge.harvest.modes import OUTPUT_TOKENS_EST
from core.knowledge.harvest.replies import KeptReplies, reply_key
from core.knowledge.harvest.sources import Distiller
from core.knowledge.ledger import HarvestLedger
from core.services.providers.batches import AnswerKind, BatchAnswer, BatchStatus
from core.services.spending.estimates import booked
from core.services.spending.harvest_costs import Payments
from core.services.spending.pricing import batch_price


class WantedPrompt(msgspec.Struct, frozen=True):
    """A prompt that has no reply yet. `told`: short names of the known items that it tells."""

    facts: ArtifactFacts
    prompt: str
    key: str
    has_schema: bool
    told: tuple[str, ...] = ()

    @property
    def tokens_est(self) -> int:
        """Tokens of the prompt, estimated."""
        return estimate_tokens(len(self.prompt.encode("utf-8", "replace")))


def wanted_prompt(
    asker: Distiller, facts: ArtifactFacts, prompt: str, faults: Mapping[str, tuple[BatchFault, ...]]
) -> WantedPrompt:
    """A prompt to send; without the reply's schema where the provider refused it with that."""
    key = reply_key(without_known(prompt), asker.provider, asker.model)
    is_refused = any(fault.is_refused for fault in faults.get(key, ()))
    return WantedPrompt(
        facts=facts, prompt=prompt, key=key, has_schema=not is_refused, told=told_names(prompt)
    )


def wanted_prompts(
    asker: Distiller,
    request: ScanRequest,
    chosen: Sequence[ArtifactFacts],
    batches: Sequence[HarvestBatch],
    busy: Iterable[str],
    on_problem: Callable[[str], object],
    on_progress: Progress = no_progress,
) -> Iterator[WantedPrompt]:
    """Prompts to send, conversation by conversation; those that wait, failed or changed are left out.

    Args:
        batches: all there are; busy: conversations (sha256) that wait besides; on_problem: told a sentence.

    Raises:
        StorageError, HarvestStoppedError: nothing more can be read.
    """
    _, related = known_now(request.home)
    taken = {*waiting(batches), *busy}
    faults, ledger = faults_of(batches), HarvestLedger(request.home)
    for number, scanned in enumerate(chosen):
        on_progress(number, len(chosen), scanned.title or scanned.name)
        try:
            facts, data = look_again(scanned, ledger)
            is_candidate = request.classified(facts).kind is ArtifactClass.HARVEST
            if not is_candidate or facts.known_status or facts.sha256 in taken:
                continue
            taken.add(facts.sha256)
            prompts = asker.missing(facts, data, related)
        except HarvestError:
            continue  # the apply says why, and has its replies asked anew
        except SlopError as error:
            on_problem(joined(": ", (scanned.name, error.what)))
            continue
        wanted = [wanted_prompt(asker, facts, prompt, faults) for prompt in prompts]
        given_up = [one for one in wanted if len(faults.get(one.key, ())) >= MOST_FAULTS]
        if given_up:
            why = faults[given_up[0].key][-1].reason
            on_problem(
                tr(
                    "{conversation}: two batches answered with an error ({why}); harvest it without a batch",
                    conversation=facts.name,
                    why=why,
                )
            )
            continue
        yield from wanted
    on_progress(len(chosen), len(chosen), "")


def expected_cost(
    asker: Distiller, wanted: Iterable[WantedPrompt], price: Callable[[str, str, Usage], float | None]
) -> float | None:
    """Expected cost of these in a batch, in US dollars, None where the price is unknown."""
    usages = (Usage(input_tokens=one.tokens_est, output_tokens=OUTPUT_TOKENS_EST) for one in wanted)
    costs = [price(asker.provider, asker.model, usage) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    return batch_price(sum(known)) if len(known) == len(costs) else None


def not_asked(prompt: str, provider: str, model: str) -> str:  # noqa: ARG001
    """A `Generate` for what batches have answered: nobody is asked outside a batch. Raises SlopError."""
    raise SlopError(tr("a part of the conversation still has no batch reply"))


def answered_ones(asker: Distiller, home: Path, artifacts: Iterable[Artifact]) -> tuple[Artifact, ...]:
    """Conversations that an apply can take without asking anybody, and all that it asks nobody about.

    A conversation whose replies are malformed is among them: the apply says so, and has them asked anew.
    """
    ledger = HarvestLedger(home)
    return tuple(one for one in artifacts if _is_answered(asker, one, ledger))


def _is_answered(asker: Distiller, artifact: Artifact, ledger: HarvestLedger) -> bool:
    if artifact.kind is not ArtifactClass.HARVEST:
        return True
    try:
        facts, data = look_again(artifact.facts, ledger)
        return bool(facts.known_status) or asker.has_kept(facts, data)
    except SlopError:
        return True


# The files of batches, one each: `<home>/knowledge/batches/<tag>.jsonl`, every row on the medium before
# what follows.

FOLDER = "batches"


class BatchFiles:
    """The batches of a home. The caller holds the harvest's lock where it writes."""

    def __init__(self, home: Path, disk: Disk = OS_DISK) -> None:
        self._folder, self._disk = paths.knowledge_dir(home) / FOLDER, disk

    def batches(self) -> tuple[HarvestBatch, ...]:
        """All of them, oldest first; a file without an intent (its program ended there) stands for nothing.

        Raises:
            StorageError: one cannot be read.
        """
        found = []
        for path in sorted(self._folder.glob("*.jsonl")):
            with reported("read", path):
                batch = folded(read_file(path, BOOK_BYTES))
            if batch is not None and batch.tag == path.stem:
                found.append(batch)
        return tuple(sorted(found, key=lambda one: (one.at, one.tag)))

    def intend(self, batch: HarvestBatch) -> None:
        """Write the intent. On the medium once this returns. Raises StorageError."""
        make_dirs(self._folder, disk=self._disk)
        append_file(self._path(batch), intent_row(batch), disk=self._disk)

    def note(self, batch: HarvestBatch, change: BatchChange) -> HarvestBatch:
        """Write a change. Returns the batch after it. Raises StorageError."""
        append_file(self._path(batch), change_row(change), disk=self._disk)
        return changed(batch, change)

    def remove(self, batch: HarvestBatch) -> None:
        """Forget a closed batch. Raises StorageError."""
        remove_file(self._path(batch), disk=self._disk)

    def _path(self, batch: HarvestBatch) -> Path:
        return self._folder / f"{batch.tag}.jsonl"


# Answers of a batch that count, out of rows that come in any order, twice, torn, or for what nobody asked.
# Pure.


@dataclass(slots=True)
class RowTally:
    """RowTally of the rows of one reading.

    Args:
        rows, billed: numbers of the requests that have a row, and one that the provider bills; torn: rows that cannot be
            read.
    """

    rows: set[int] = field(default_factory=set)
    billed: set[int] = field(default_factory=set)
    torn: int = 0


def answers_that_count(
    batch: HarvestBatch, answers: Iterable[BatchAnswer], tally: RowTally
) -> Iterator[tuple[int, BatchAnswer]]:
    """One answer to each request of a batch, by the request's number: its first reply, before any other row of it.

    Replies come as they are read, all others behind them. Answers to what nobody asked are passed over.

    Args:
        tally: counts every row, as it is read.
    """
    replied: set[int] = set()
    without: dict[int, BatchAnswer] = {}
    for answer in answers:
        if answer.kind is AnswerKind.TORN:
            tally.torn += 1
            continue
        index = owner(answer.custom_id, batch)
        if index is None:
            continue
        tally.rows.add(index)
        if answer.is_billed:
            tally.billed.add(index)
        if index in replied:
            continue
        if answer.kind is AnswerKind.ANSWERED:
            replied.add(index)
            yield index, answer
        elif index not in without or (answer.is_billed and not without[index].is_billed):
            without[index] = answer
    yield from ((index, answer) for index, answer in without.items() if index not in replied)


def missing_rows(batch: HarvestBatch, tally: RowTally, status: BatchStatus) -> int:
    """Number of requests whose answers the provider has, by its own word, and did not hand over whole.

    A torn row may be anybody's: it counts while a request has none.
    """
    unread = len(batch.items) - len(tally.rows)
    unbilled = min(status.answered or 0, len(batch.items)) - len(tally.billed)
    return max(unbilled, unread if status.has_every_row else 0, min(unread, tally.torn), 0)


# Answers of an ended batch, kept and booked as they are read, and how much of what the provider has was
# missing.


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

        for kind in (AnswerKind.EXPIRED, AnswerKind.CANCELLED):
            if lost := self.fates[kind]:
                yield _lost_sentence(kind, len(lost), names(lost))
        silent = set(range(len(batch.items))).difference(self.taken, self.failed, *self.fates.values())
        if silent:
            yield _lost_sentence(None, len(silent), names(sorted(silent)))
        for reason in dict.fromkeys(fault.reason for fault in self.faults):
            numbers = [n for n, one in zip(self.failed, self.faults, strict=True) if one.reason == reason]
            yield fault_sentence(reason, names(numbers))


def _lost_sentence(kind: AnswerKind | None, number: int, names: Iterable[str]) -> str:
    """Sentence about requests that were not answered: `1 request expired: Tides. The conversations stay …`.

    Args:
        kind: how the provider ended them; None: it said nothing of them.
    """
    requests, named = count(number, tr("request"), tr("requests")), names_words(names)
    match kind:
        case AnswerKind.EXPIRED:
            ended = tr("{requests} expired: {named}", requests=requests, named=named)
        case AnswerKind.CANCELLED:
            ended = tr("{requests} cancelled: {named}", requests=requests, named=named)
        case _:
            ended = tr("{requests} without an answer: {named}", requests=requests, named=named)
    return as_sentences(
        ended, tr("The conversations stay. You can harvest them again, in a batch or directly.")
    )


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
                faults.append(BatchFault(key=item.key, reason=answer.reason, is_refused=answer.is_refused))
                failed.append(index)
            elif answer.kind is not AnswerKind.ANSWERED:
                fates[answer.kind].append(index)
            elif self._is_there(item):
                self._keep(batch, item, answer.text)
                answered += 1
            else:
                forgotten += 1
        return BatchReading(
            answered=answered,
            forgotten=forgotten,
            taken=tuple(sorted(taken)),
            paid_usd=paid,
            faults=tuple(faults),
            failed=tuple(failed),
            fates={kind: tuple(numbers) for kind, numbers in fates.items()},
            missing=missing_rows(batch, tally, status),
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
