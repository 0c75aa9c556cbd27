"""A look at everything that a harvest is about: conversations, costs, the ledger, the applies, and where items came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.kernel import paths
from core.kernel.ids import time_of_id
from core.kernel.values.harvest import ApplyKind, ApplySummary, Artifact, HarvestLook, Review
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.knowledge.apply_log import ApplyRecord
from core.knowledge.categories import source_name, split_tag
from core.knowledge.harvest.batch_run import batches_now
from core.knowledge.harvest.harvest_run import look
from core.knowledge.harvest.harvest_scan import Progress, ScanRequest, no_progress
from core.knowledge.harvest.preview import conversation_mark, without_marks
from core.knowledge.harvest.replies import load_review
from core.knowledge.ledger import HarvestLedger
from core.knowledge.recovery import list_applies
from core.knowledge.rewrites import DRAFT_BY, MERGE_BY
from core.talk.discussion import trash


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
