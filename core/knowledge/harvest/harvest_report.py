"""The report of a harvest, as text in the form of the contract and as plain data. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from core.kernel.figures import count, first_of, money, size, tokens_est
from core.kernel.frame import one_line
from core.kernel.language import spliced, tr
from core.kernel.values.harvest import (
    ApplyKind,
    ApplySummary,
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    BatchReport,
    HarvestBatch,
    HarvestEstimate,
    HarvestReport,
    UndoReport,
)
from core.knowledge.harvest.batch_step import price_words
from core.services.spending.pricing import batch_price, direct_price

NAME_CHARS = 100


def report_text(report: HarvestReport) -> str:
    """The report for a person."""
    return "".join(f"{line}\n" for line in _lines(report))


def report_data(report: HarvestReport) -> dict[str, Any]:
    """The report for a program. Unknown costs and prices are None."""
    estimate = report.estimate
    return {
        "artifacts": {kind.value: count for kind, count in _counts(report).items()},
        "estimate": {
            "candidate_bytes": estimate.candidate_bytes,
            "prune_bytes": estimate.prune_bytes,
            "new_bytes": estimate.new_bytes,
            "input_tokens_est": estimate.input_tokens_est,
            "output_tokens_est": estimate.output_tokens_est,
            "cost_usd_est": estimate.cost_usd,
        },
        "is_dry": report.is_dry,
        "conversations": [artifact_data(artifact) for artifact in report.artifacts],
        "reclaimed_bytes": report.reclaimed_bytes,
        "items": dict(report.items),
        "known_items": report.known,
        "dropped_rows": report.dropped,
        "unfound_quotes": report.unfound,
        "forgotten_items": report.forgotten,
        "contradicted_items_kept": report.beside,
        "struck_items": report.struck,
        "held_fact_files": list(report.held_files),
        "failures": [
            {"name": f.name, "path": f.path, "sha256": f.sha256, "reason": f.reason} for f in report.failures
        ],
        "digest": report.digest_path,
        "ledger": report.ledger_path,
        "stopped": report.stopped,
    }


def _lines(report: HarvestReport) -> Iterator[str]:
    counts = _counts(report)
    yield "artifacts: " + ", ".join(f"{kind.value}:{count}" for kind, count in counts.items())
    yield _estimate_line(report.estimate)
    if report.is_dry:
        yield "dry run; pass --apply to harvest and reclaim"
    yield from _kept(report)
    if report.is_dry:
        return
    yield ""
    yield f"reclaimed: {size(report.reclaimed_bytes, 'report')}"
    yield "harvested items: " + ", ".join(f"{name}:{count}" for name, count in report.items)
    left_out = (
        (tr("known items struck through, because new ones replace them"), report.struck),
        (tr("items not written, because knowledge has exactly that already"), report.known),
        (tr("items not written, because you forgot them"), report.forgotten),
        (tr("rows of the model's replies left out, because they were malformed"), report.dropped),
        (
            tr("known items kept beside contradicting new ones: removing so many needs your approval"),
            report.beside,
        ),
        (tr("quotes left out, because the conversations do not contain them"), report.unfound),
    )
    yield from (spliced("{}: {}", said, number) for said, number in left_out if number)
    if report.held_files:
        names = ", ".join(report.held_files)
        yield tr(
            "structured facts not written yet: their file cannot be read (see `knowledge validate`): {files}",
            files=names,
        )
    yield f"digest: {report.digest_path or 'none, memory is off'}"
    yield f"ledger: {report.ledger_path}"


def batch_text(estimate: HarvestEstimate, report: BatchReport) -> str:
    """The batches as they stand, and the price of the candidates both ways, for a person."""
    lines = [
        tr(
            "in a batch: {cost_usd}, directly: {cost_usd2}",
            cost_usd=money(batch_price(estimate.cost_usd), "report"),
            cost_usd2=money(estimate.cost_usd, "report"),
        )
    ]
    return "".join(f"{line}\n" for line in (*lines, *batch_lines(report)))


def batch_lines(report: BatchReport) -> Iterator[str]:
    """The batches as they stand, and what stood against them."""
    yield from map(_batch_line, report.batches)
    yield from (f"batches: {one_line(line, 400)}" for line in (*report.said, *report.problems))
    if report.stopped:
        yield tr("not submitted: {stopped}", stopped=one_line(report.stopped, 300))


def _batch_line(batch: HarvestBatch) -> str:
    state = "cancelling" if batch.is_open and batch.is_cancelling else batch.state.value
    why = f" ({one_line(batch.reason, 200)})" if batch.reason else ""
    replies = f", {count(batch.answered, tr('reply'), tr('replies'))} kept" if not batch.is_open else ""
    return (
        f"batch {batch.name or batch.tag}: {state}{why}, {count(len(batch.items), tr('request'), tr('requests'))}{replies}, "
        f"{batch.provider} {batch.model}, {price_words(batch)}"
    )


def batch_data(estimate: HarvestEstimate, report: BatchReport) -> dict[str, Any]:
    """The same for a program. Unknown prices are None."""
    return {
        "direct_cost_usd_est": estimate.cost_usd,
        "batch_cost_usd_est": batch_price(estimate.cost_usd),
        "batches": [batch_row(one) for one in report.batches],
        "submitted_requests": report.submitted,
        "problems": list(report.problems),
        "stopped": report.stopped,
    }


def batch_row(batch: HarvestBatch) -> dict[str, Any]:
    """One batch as plain data, as the CLI prints it and the Hook API answers with it."""
    return {
        "tag": batch.tag,
        "name": batch.name,
        "provider": batch.provider,
        "model": batch.model,
        "state": batch.state.value,
        "is_cancelling": batch.is_cancelling,
        "at": batch.at,
        "requests": len(batch.items),
        "answered": batch.answered,
        "forgotten": batch.forgotten,
        "failed": len(batch.faults),
        "cost_usd_est": batch.estimate_usd,
        "direct_cost_usd_est": direct_price(batch.estimate_usd),
        "paid_usd": batch.paid_usd,
        "reason": batch.reason,
    }


def _counts(report: HarvestReport) -> dict[ArtifactClass, int]:
    """In the order of the report, which names what is kept last."""
    order = (
        ArtifactClass.LIVE,
        ArtifactClass.USER_KEPT,
        ArtifactClass.PRUNE,
        ArtifactClass.HARVEST,
        ArtifactClass.KEEP,
    )
    return {kind: sum(a.kind is kind for a in report.artifacts) for kind in order}


def _estimate_line(estimate: HarvestEstimate) -> str:
    tokens, price = tokens_est(estimate.input_tokens_est, "report"), money(estimate.cost_usd, "report")
    return (
        f"harvest candidates: {size(estimate.candidate_bytes, 'report')} ({tokens} input tokens, {price}), "
        f"prune candidates: {size(estimate.prune_bytes, 'report')}"
    )


def _kept(report: HarvestReport) -> Iterator[str]:
    for artifact in report.artifacts:
        if artifact.kind is ArtifactClass.KEEP:
            yield f"kept ({one_line(artifact.why, 200)}): {one_line(_shown_name(artifact.facts), NAME_CHARS)}"
    for failure in report.failures:
        yield f"kept ({one_line(failure.reason, 300)}): {one_line(failure.name, NAME_CHARS)}"
    if report.stopped:
        yield tr("stopped: {stopped}", stopped=one_line(report.stopped, 300))


def artifact_data(artifact: Artifact) -> dict[str, Any]:
    """A conversation that was looked at as plain data, as the CLI prints it and the Hook API answers with it."""
    facts = artifact.facts
    return {
        "class": artifact.kind.value,
        "why": artifact.why,
        "kind": facts.kind.value,
        "id": facts.id,
        "name": facts.name,
        "title": facts.title,
        "path": facts.path,
        "size_bytes": facts.size_bytes,
        "new_bytes": facts.new_bytes,
        "sha256": facts.sha256,
        "updated_at": facts.updated_at.isoformat(),
        "ledger_status": facts.known_status,
    }


def _shown_name(facts: ArtifactFacts) -> str:
    """A discussion by its name, another program's file as the person finds it: three may be called LICENSE."""
    return facts.name if facts.id else "/".join(PurePath(facts.path).parts[-2:])


# Words for the applies of a home: which work each was, and what came of it. Pure.


def apply_title(one: ApplySummary, names: Sequence[str]) -> str:
    """Title of an apply: its kind, and what it was made of.

    Args:
        names: of its `sources`, in order, as the person knows them.
    """
    first = first_of(names, 1)
    match one.kind:
        case ApplyKind.MERGE:
            return tr("Merge of {value}", value=first or tr("items forgotten since"))
        case ApplyKind.DRAFT:
            return tr("Draft of a playbook")
        case _ if first:
            return tr("Harvest of {first}", first=first)
        case _ if one.forgotten:
            return tr("Harvest whose conversations you forgot since")
        case _:
            return tr("Removed without harvest") if one.reclaimed and not one.items else tr("Harvest")


def apply_line(one: ApplySummary) -> str:
    """Figures of an apply: `12 items · 3 conversations · 3 of these in the trash`; empty for work that has none."""
    if one.kind is not ApplyKind.HARVEST:
        return ""
    parts = (
        count(one.items, tr("item"), tr("items")),
        count(one.conversations, tr("conversation"), tr("conversations")),
        tr("{forgotten:,} forgotten since", forgotten=one.forgotten) if one.forgotten else "",
        tr("{reclaimed:,} of these in the trash", reclaimed=one.reclaimed)
        if one.reclaimed and not one.undone_at
        else "",
    )
    return " · ".join(filter(None, parts))


def merge_undone_words(undone: UndoReport | None, applies: Sequence[ApplySummary]) -> str:
    """Sentence after a merge was taken back; empty where the last undo was of something else, or there was none."""
    if undone is None:
        return ""
    found = next((one for one in applies if one.id == undone.apply_id), None)
    if found is None or found.kind is not ApplyKind.MERGE:
        return ""
    said = tr("{found} was undone", found=apply_title(found, found.sources))
    if undone.left:
        changed = count(len(undone.left), tr("line"), tr("lines"))
        return tr("{undone}, except for {changed} that you changed since.", undone=said, changed=changed)
    return tr("{undone}: every item is as it was before.", undone=said)
