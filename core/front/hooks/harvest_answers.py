"""Answers of the Hook API about the harvest: their types, and how they are filled from the state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from core.front.hooks.fields import Count, Counts, Data, Money, PageQuery, Rows, Time, UsageData, filled
from core.kernel.values.harvest import (
    ApplyKind,
    Artifact,
    ArtifactClass,
    BatchReport,
    BatchState,
    HarvestBatch,
    HarvestPhase,
    HarvestPreview,
    HarvestReport,
    HarvestState,
    ProposedItem,
    UndoReport,
)
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, LedgerStatus, RemovalQuestion
from core.knowledge.harvest.harvest_report import artifact_data, batch_row
from core.knowledge.ledger_text import entry_data


class ArtifactData(Data, frozen=True):
    """A conversation that was looked at."""

    class_: ArtifactClass = msgspec.field(name="class")
    why: str
    kind: TranscriptKind
    id: str
    name: str
    title: str
    path: str
    size_bytes: Count
    new_bytes: Count
    sha256: str
    updated_at: Time
    ledger_status: str


class ArtifactPage(Rows[ArtifactData], frozen=True):
    """Conversations, and how many of each class there are in all."""

    classes: Counts


class ReplacedData(Data, frozen=True):
    """The known item that a proposed one replaces, and why."""

    reason: str
    category: Category
    file: str
    text: str
    is_replacing: bool


class ProposedItemData(Data, frozen=True):
    """An item that the model proposed.

    `near`, `near_here`: what says nearly the same, known or in this preview; `is_repeated`: what is known exactly is such
    an item, not yet written; `is_unfound`: its quote stood nowhere in what was read, and was left out; `deleted_on`: the day
    on which the person deleted what says this, empty where they did not.
    """

    id: str
    category: Category
    head: str
    body: str
    quote: str
    turns: list[str]
    source: str
    artifact_path: str
    near: list[str]
    near_here: list[str]
    replaces: ReplacedData | None
    is_known: bool
    is_repeated: bool
    deleted_on: str
    is_unfound: bool
    is_ticked: bool
    is_edited: bool


class ProposedItemRows(Rows[ProposedItemData], frozen=True):
    """Proposed items, and how many of all are ticked."""

    ticked: Count


class HarvestFailureData(Data, frozen=True):
    """A conversation that could not be harvested."""

    name: str
    path: str
    sha256: str
    reason: str


class HarvestPreviewData(Data, frozen=True):
    """Preview of an apply."""

    conversations: Count
    items: ProposedItemRows
    failures: Rows[HarvestFailureData]
    dropped_rows: Count
    unfound_quotes: Count
    forgotten_items: Count


class HarvestReportData(Data, frozen=True):
    """Report of the last apply."""

    reclaimed_bytes: Count
    reclaimed: Rows[str]
    items: Counts
    known_items: Count
    dropped_rows: Count
    unfound_quotes: Count
    forgotten_items: Count
    contradicted_items_kept: Count
    struck_items: Count
    held_fact_files: list[str]
    failures: Rows[HarvestFailureData]
    digest: str
    ledger: str
    stopped: str


class UndoReportData(Data, frozen=True):
    """Report of the last undo."""

    apply_id: str
    removed: Count
    left: Rows[str]
    restored: Rows[str]
    problems: Rows[str]


class LedgerEntryData(Data, frozen=True):
    """Fate of a conversation."""

    sha256: str
    path: str
    status: LedgerStatus
    at: str
    deleted: bool
    bytes: Count
    items: Counts
    error: str
    undone_at: str
    domains: list[str]
    kept: bool


class LedgerEntryRows(Rows[LedgerEntryData], frozen=True):
    """Entries, and how many of each status there are in all."""

    statuses: Counts


class ApplyData(Data, frozen=True):
    """An apply of the past.

    `sources`: paths of the conversations, or names of the files that were merged or that a draft was made of; `forgotten`:
    conversations of which no path is left.
    """

    id: str
    at: str
    undone_at: str
    conversations: Count
    items: Count
    reclaimed: Count
    kind: ApplyKind
    sources: list[str]
    forgotten: Count


class ProgressData(Data, frozen=True):
    """Progress of the run."""

    done: Count
    total: Count
    doing: str


class EstimateData(Data, frozen=True):
    """Bytes and cost that a preview of all candidates would take."""

    candidate_bytes: Count
    prune_bytes: Count
    new_bytes: Count
    input_tokens_est: Count
    output_tokens_est: Count
    cost_usd_est: Money


class HarvestUseData(Data, frozen=True):
    """Tokens and money that the harvest has used."""

    calls: Count
    usage: UsageData
    cost_usd: Money


class RemovalItemData(Data, frozen=True):
    """An item that would go."""

    category: Category
    file: str
    text: str


class RemovalQuestionData(Data, frozen=True):
    """The question before the last command, which was not carried out: it would take much out of a category."""

    sentence: str
    items: Rows[RemovalItemData]
    is_undo: bool
    apply_id: str
    is_merge: bool


class BatchData(Data, frozen=True):
    """A batch that a provider works off, or that the last look after them closed.

    `direct_cost_usd_est`: of the same without a batch; `paid_usd`: for the answers that were taken.
    """

    tag: str
    name: str
    provider: str
    model: str
    state: BatchState
    is_cancelling: bool
    at: str
    requests: Count
    answered: Count
    forgotten: Count
    failed: Count
    cost_usd_est: Money
    direct_cost_usd_est: Money
    paid_usd: Money
    reason: str


class BatchReportData(Data, frozen=True):
    """The last look after the batches."""

    closed: Rows[BatchData]
    submitted_requests: Count
    problems: list[str]
    stopped: str


class HarvestData(Data, frozen=True):
    """The harvest as it is now."""

    phase: HarvestPhase
    is_cancelling: bool
    progress: ProgressData
    provider: str
    model: str
    looked_at: Time | None
    artifacts: ArtifactPage
    estimate: EstimateData
    preview: HarvestPreviewData | None
    ledger: LedgerEntryRows
    applies: Rows[ApplyData]
    report: HarvestReportData | None
    undone: UndoReportData | None
    batches: Rows[BatchData]
    batched: BatchReportData | None
    is_past_limit: bool
    problem: str
    question: RemovalQuestionData | None
    use: HarvestUseData

    @classmethod
    def of(cls, state: HarvestState, page: PageQuery) -> HarvestData:
        """The harvest as it is answered with, its lists cut to a page."""
        look, report, undone = state.look, state.report, state.undone
        return filled(
            cls,
            state,
            progress=filled(ProgressData, state),
            artifacts=ArtifactPage(
                total=len(look.artifacts),
                rows=[_artifact_data(one) for one in page.of(look.artifacts)],
                classes=_counts((one.kind.value for one in look.artifacts), ArtifactClass),
            ),
            estimate=filled(EstimateData, look.estimate, cost_usd_est=look.estimate.cost_usd),
            question=None if state.question is None else _question_data(state.question, page),
            preview=None if state.preview is None else _preview_data(state.preview, page),
            ledger=LedgerEntryRows(
                total=len(look.ledger),
                rows=[LedgerEntryData(**entry_data(one)) for one in page.of(look.ledger)],
                statuses=_counts(one.status.value for one in look.ledger),
            ),
            applies=page.cut(look.applies, ApplyData),
            report=None if report is None else _report_data(report, page),
            undone=None if undone is None else _undo_data(undone, page),
            batches=_batch_rows(look.batches, page),
            batched=None if state.batched is None else _batched_data(state.batched, page),
            use=filled(HarvestUseData, state.use, usage=UsageData.of(state.use.usage)),
        )


def _batch_rows(batches: Sequence[HarvestBatch], page: PageQuery) -> Rows[BatchData]:
    return Rows(len(batches), [_batch_data(one) for one in page.of(batches)])


def _batch_data(batch: HarvestBatch) -> BatchData:
    values = batch_row(batch)
    return BatchData(**{**values, "state": batch.state})


def _batched_data(report: BatchReport, page: PageQuery) -> BatchReportData:
    closed = tuple(one for one in report.batches if not one.is_open)
    return BatchReportData(
        closed=_batch_rows(closed, page),
        submitted_requests=report.submitted,
        problems=list(report.problems),
        stopped=report.stopped,
    )


def _artifact_data(artifact: Artifact) -> ArtifactData:
    values = artifact_data(artifact)
    return ArtifactData(class_=values.pop("class"), **values)


def _counts(values: Iterable[str], names: Iterable[str] = ()) -> Counts:
    """Number of each; those named are there also where they never occur."""
    return {**{str(name): 0 for name in names}, **Counter(values)}


def _preview_data(preview: HarvestPreview, page: PageQuery) -> HarvestPreviewData:
    items = preview.items
    return HarvestPreviewData(
        conversations=len(preview.sources),
        items=ProposedItemRows(
            total=len(items),
            rows=[_proposed_data(one) for one in page.of(items)],
            ticked=sum(one.is_ticked for one in items),
        ),
        failures=page.cut(preview.failures, HarvestFailureData),
        dropped_rows=preview.dropped,
        unfound_quotes=preview.unfound,
        forgotten_items=preview.forgotten,
    )


def _proposed_data(proposed: ProposedItem) -> ProposedItemData:
    item = proposed.item
    return filled(
        ProposedItemData,
        proposed,
        category=item.category,
        head=item.head,
        body=item.body,
        quote=item.quote.text,
        is_unfound=item.quote.is_unfound,
        replaces=_replaced_data(proposed),
        turns=list(item.quote.turns),
    )


def _replaced_data(proposed: ProposedItem) -> ReplacedData | None:
    known = proposed.replaces
    if known is None:
        return None
    item = known.item
    return ReplacedData(
        reason=known.reason,
        category=item.category,
        file=item.file,
        text=item.text,
        is_replacing=proposed.is_replacing,
    )


def _question_data(question: RemovalQuestion, page: PageQuery) -> RemovalQuestionData:
    return filled(RemovalQuestionData, question, items=page.cut(question.items, RemovalItemData))


def _report_data(report: HarvestReport, page: PageQuery) -> HarvestReportData:
    return filled(
        HarvestReportData,
        report,
        reclaimed=page.part(report.reclaimed),
        items=dict(report.items),
        known_items=report.known,
        dropped_rows=report.dropped,
        unfound_quotes=report.unfound,
        forgotten_items=report.forgotten,
        contradicted_items_kept=report.beside,
        struck_items=report.struck,
        held_fact_files=list(report.held_files),
        failures=page.cut(report.failures, HarvestFailureData),
        digest=report.digest_path,
        ledger=report.ledger_path,
    )


def _undo_data(undone: UndoReport, page: PageQuery) -> UndoReportData:
    return filled(
        UndoReportData,
        undone,
        left=page.part(undone.left),
        restored=page.part(undone.restored),
        problems=page.part(undone.problems),
    )
