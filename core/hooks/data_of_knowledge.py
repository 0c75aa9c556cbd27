"""What is known and the harvest as plain data, cut to pages: `shapes_of_knowledge.py` describes every field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from core.hooks.data import Data, time_data
from core.hooks.shapes_of_knowledge import DEFAULT_LIMIT
from core.knowledge.digest import digest_file
from core.knowledge.files import note_name
from core.knowledge_text.harvest_report import artifact_data
from core.knowledge_text.ledger_text import entry_data
from core.values.harvest import (
    ArtifactClass,
    HarvestFailure,
    HarvestPreview,
    HarvestReport,
    HarvestState,
    ProposedItem,
    UndoReport,
)
from core.values.knowledge import CategoryFile, KnowledgeState, NoteFile, item_data
from core.values.usage import usage_data

T = TypeVar("T")

FEW = 20
"""Items of each note file where notes are listed; the query's `file` gives all of one."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which rows of each list: `limit` of them from `offset` on."""

    limit: int = DEFAULT_LIMIT
    offset: int = 0

    def of(self, rows: Sequence[T]) -> Sequence[T]:
        """The rows of a list that are on it."""
        return rows[self.offset : self.offset + self.limit]


def page_data(rows: Sequence[T], page: Page, data: Callable[[T], Any]) -> Data:
    """A part of a list, with how many there are in all."""
    return {"total": len(rows), "rows": [data(row) for row in page.of(rows)]}


def knowledge_data(home: str, known: KnowledgeState, page: Page, file: str) -> Data | None:
    """What is known. `file`: only this one, empty for all. None where there is no such file."""
    categories = [one for one in known.categories if file in {"", one.name}]
    notes = [one for one in known.notes if file in {"", note_name(one.file_id)}]
    if file and not categories and not notes:
        return None
    few = page if file else Page(FEW)
    listed = Page() if file else page
    return {
        "switch": known.switch.value,
        "is_on": known.is_on,
        "digest": digest_data(home, known),
        "categories": [_category_data(one, page) for one in categories],
        "notes": page_data(notes, listed, lambda note: _note_data(note, few)),
        "problems": list(known.problems),
    }


def digest_data(home: str, known: KnowledgeState) -> Data:
    """The digest as it is injected while knowledge is on."""
    return {
        "switch": known.switch.value,
        "is_on": known.is_on,
        "path": str(digest_file(Path(home))),
        "size_bytes": known.digest_bytes,
        "text": known.digest,
    }


def _category_data(file: CategoryFile, page: Page) -> Data:
    items = [item_data(item) for item in page.of(file.items)]
    return {"file": file.name, "problem": file.problem, "total": len(file.items), "items": items}


def _note_data(note: NoteFile, page: Page) -> Data:
    return {
        "file": note_name(note.file_id),
        "file_id": note.file_id,
        "heading": note.heading,
        "path": note.path,
        "status": note.status.value,
        "proposal": note.proposal,
        "problem": note.problem,
        "total": len(note.items),
        "items": [item_data(item) for item in page.of(note.items)],
    }


def harvest_data(harvest: HarvestState, page: Page) -> Data:
    """The harvest as it is now."""
    look, estimate, use = harvest.look, harvest.look.estimate, harvest.use
    return {
        "phase": harvest.phase.value,
        "is_cancelling": harvest.is_cancelling,
        "progress": {"done": harvest.done, "total": harvest.total, "doing": harvest.doing},
        "provider": harvest.provider,
        "model": harvest.model,
        "looked_at": time_data(harvest.looked_at),
        "artifacts": {
            **page_data(look.artifacts, page, artifact_data),
            "classes": _counts((one.kind.value for one in look.artifacts), ArtifactClass),
        },
        "estimate": {
            "candidate_bytes": estimate.candidate_bytes,
            "prune_bytes": estimate.prune_bytes,
            "new_bytes": estimate.new_bytes,
            "input_tokens_est": estimate.input_tokens_est,
            "output_tokens_est": estimate.output_tokens_est,
            "cost_usd_est": estimate.cost_usd,
        },
        "preview": None if harvest.preview is None else _preview_data(harvest.preview, page),
        "ledger": {
            **page_data(look.ledger, page, entry_data),
            "statuses": _counts(one.status.value for one in look.ledger),
        },
        "applies": page_data(
            look.applies,
            page,
            lambda one: {
                "id": one.id,
                "at": one.at,
                "undone_at": one.undone_at,
                "conversations": one.conversations,
                "items": one.items,
                "reclaimed": one.reclaimed,
            },
        ),
        "report": None if harvest.report is None else _report_data(harvest.report, page),
        "undone": None if harvest.undone is None else _undo_data(harvest.undone, page),
        "problem": harvest.problem,
        "use": {"calls": use.calls, "usage": usage_data(use.usage), "cost_usd": use.cost_usd},
    }


def _counts(values: Iterable[str], names: Iterable[str] = ()) -> Data:
    """How often each occurs; those named are there also where they never do."""
    found = Counter(values)
    return {**{str(name): 0 for name in names}, **found}


def _preview_data(preview: HarvestPreview, page: Page) -> Data:
    return {
        "conversations": len(preview.sources),
        "items": {
            **page_data(preview.items, page, _proposed_data),
            "ticked": sum(one.is_ticked for one in preview.items),
        },
        "failures": page_data(preview.failures, page, _failure_data),
        "dropped_rows": preview.dropped,
    }


def _proposed_data(proposed: ProposedItem) -> Data:
    return {
        "id": proposed.id,
        "category": proposed.item.category.value,
        "head": proposed.item.head,
        "body": proposed.item.body,
        "source": proposed.source,
        "artifact_path": proposed.artifact_path,
        "near": list(proposed.near),
        "is_known": proposed.is_known,
        "is_ticked": proposed.is_ticked,
        "is_edited": proposed.is_edited,
    }


def _failure_data(failure: HarvestFailure) -> Data:
    return {"name": failure.name, "path": failure.path, "sha256": failure.sha256, "reason": failure.reason}


def _report_data(report: HarvestReport, page: Page) -> Data:
    return {
        "reclaimed_bytes": report.reclaimed_bytes,
        "reclaimed": page_data(report.reclaimed, page, str),
        "items": dict(report.items),
        "known_items": report.known,
        "dropped_rows": report.dropped,
        "failures": page_data(report.failures, page, _failure_data),
        "digest": report.digest_path,
        "ledger": report.ledger_path,
        "stopped": report.stopped,
    }


def _undo_data(undone: UndoReport, page: Page) -> Data:
    return {
        "apply_id": undone.apply_id,
        "removed": undone.removed,
        "left": page_data(undone.left, page, str),
        "restored": page_data(undone.restored, page, str),
        "problems": page_data(undone.problems, page, str),
    }
