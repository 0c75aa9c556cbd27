"""Looks after batches in the state: what they are told as, and which previews they lead to. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from core.harvest.batch_words import ended_sentence
from core.harvest.messages import PreviewHarvest
from core.values.batches import BatchReport, HarvestBatch
from core.values.harvest import ArtifactClass, HarvestState
from core.values.state import AppState, Level
from core.values.updates import notify

NOTICE = "batches"
"""Id of the notice of batches."""


def with_batches(state: AppState, batches: tuple[HarvestBatch, ...]) -> AppState:
    """The state with these as the open batches."""
    look = replace(state.harvest.look, batches=batches)
    return replace(state, harvest=replace(state.harvest, look=look))


def batched(
    state: AppState, before: HarvestState, report: BatchReport
) -> tuple[AppState, PreviewHarvest | None]:
    """Take in a look after the batches, and say what ended.

    Args:
        before: the harvest while the look was under way. What it found by itself stays told until somebody asks.

    Returns:
        The state, and the preview of what is answered now, None where nothing is or another preview is open.
    """
    closed = tuple(one for one in report.batches if not one.is_open)
    state = with_batches(state, tuple(one for one in report.batches if one.is_open))
    told = _joined(before, report)
    state = replace(
        state,
        harvest=replace(
            state.harvest,
            batched=told,
            problem=report.stopped or state.harvest.problem,
            is_unasked=before.is_quiet,
        ),
    )
    follow = _preview(state, closed)
    if closed and not all(one.is_unwanted for one in closed):
        offered = follow if before.is_quiet else None
        label = "Preview what came" if offered is not None else ""
        state = notify(state, NOTICE, Level.INFO, ended_sentence(closed), action=offered, action_label=label)
    elif report.said:
        state = notify(state, NOTICE, Level.INFO, " ".join(report.said))
    return state, follow


def _joined(before: HarvestState, report: BatchReport) -> BatchReport:
    """The report with what the program's own looks told before, and nobody asked about since."""
    earlier = before.batched if before.is_quiet or before.is_unasked else None
    if earlier is None:
        return report
    closed = tuple(one for one in earlier.batches if not one.is_open)
    if not closed:
        return report
    return replace(
        report,
        batches=(*report.batches, *closed),
        problems=tuple(dict.fromkeys((*earlier.problems, *report.problems))),
        said=tuple(dict.fromkeys((*earlier.said, *report.said))),
    )


def _preview(state: AppState, closed: tuple[HarvestBatch, ...]) -> PreviewHarvest | None:
    harvest = state.harvest
    if harvest.preview is not None:
        return None
    sent = {item.sha256 for batch in closed for item in batch.items}
    answered = tuple(
        one.facts.path
        for one in harvest.look.artifacts
        if one.kind is ArtifactClass.HARVEST and one.facts.sha256 in sent & harvest.look.kept
    )
    return PreviewHarvest(answered) if answered else None
