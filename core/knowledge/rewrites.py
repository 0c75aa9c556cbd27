"""Merges and drafts on disk: each one transaction of the same apply, with its undo, recovery and history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import SlopError, StorageError
from core.kernel.values.facts import ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, DraftKind, DraftReport, Item, MergeGroup, MergeReport
from core.knowledge import merges
from core.knowledge.apply import begin_apply, finish_apply
from core.knowledge.categories import find_item, parse_file
from core.knowledge.evidence.evidence_rows import EVENTS_FILE, item_hash, row_text
from core.knowledge.file_writer import read_bytes
from core.knowledge.hunks import check_removal
from core.knowledge.ledger import timestamp
from core.knowledge.merges import NO_PLAYBOOK, becomes, draft_name, draft_text, merge_hunks, merged_item
from core.knowledge.part_writer import keep_version
from core.knowledge.parts import DraftPlan, PartPlan, PatchPlan, RowPlan

MERGE_BY, DRAFT_BY = "a merge of knowledge", "a draft from a playbook"


class MergeRequest(msgspec.Struct, frozen=True):
    """Merge that a person chose.

    Args:
        category: of the items; file: below the knowledge directory; groups: those that are wanted.
        now: UTC; seed: fresh randomness, for the id; is_agreed: the list was seen, where it is much of a category.
    """

    home: Path
    category: Category
    file: str
    groups: tuple[MergeGroup, ...]
    now: datetime
    seed: str
    is_agreed: bool = False
    disk: Disk = OS_DISK


def apply_merge(request: MergeRequest) -> MergeReport:
    """Write a merge: the file as it was is kept beside, items stand on what those before them stood on.

    Raises:
        RemovalError: it takes much out, and nobody has agreed. MergeRefusedError: something would vanish.
        StorageError: nothing of it was written. LockedError: a harvest runs. ConfigError: the ledger does not parse.
    """
    home, name, disk = request.home, request.file, request.disk
    with begin_apply(home, request.now, seed=request.seed, by=MERGE_BY, disk=disk) as apply:
        data = read_bytes(paths.knowledge_dir(home) / name)
        gone = tuple(item for group in request.groups for item in group.items)
        merged, known = len(request.groups), parse_file(name, data).items
        check_removal(gone, known, is_agreed=request.is_agreed, merged=merged)
        hunks = merge_hunks(name, data, request.groups)
        version = keep_version(home, name, apply.id, data, disk=disk)
        facts = apply.facts.merge(request.groups, timestamp(request.now)[:10])
        told = (one for group in request.groups for one in _events(group, apply.id, request.now, facts.ids))
        rows = tuple(dict.fromkeys(map(row_text, told)))
        parts: list[PartPlan] = [
            PatchPlan(name, hunks),
            *facts.parts,
            RowPlan(name=EVENTS_FILE, rows=rows, stays=True),
        ]
        apply.rewrite(name, parts)
        finish_apply(apply, makes_digest=False)
    return MergeReport(
        apply_id=apply.id,
        category=request.category,
        file=name,
        items=len(gone),
        merged=len(request.groups),
        version=str(version),
    )


def make_draft(
    home: Path, item: Item, kind: DraftKind, now: datetime, seed: str, *, disk: Disk = OS_DISK
) -> DraftReport:
    """Write a draft of a playbook, which stays where it is. Never over a file that is there.

    Raises:
        StorageError: it does not stand there any more, or the draft was not written. LockedError, ConfigError: as
            `apply_merge`.
    """
    directory = paths.knowledge_dir(home)
    if item.category is not Category.PLAYBOOKS:
        raise SlopError(NO_PLAYBOOK, remedy="Choose one of playbooks.md")
    with begin_apply(home, now, seed=seed, by=DRAFT_BY, disk=disk) as apply:
        found = find_item(parse_file(item.file, read_bytes(directory / item.file)), item)
        if found is None:
            raise StorageError(
                f"{item.file} has changed: this playbook is not there any more as it was shown",
                remedy="Look at it again",
                where=str(directory / item.file),
            )
        name = draft_name(found, kind, draft_names(home))
        apply.rewrite(item.file, [DraftPlan(name, draft_text(found, kind, name))])
        finish_apply(apply, makes_digest=False)
    return DraftReport(apply_id=apply.id, path=str(directory / name), becomes=becomes(name))


def draft_names(home: Path) -> frozenset[str]:
    """Names of drafts, below the knowledge directory; what a write that was cut short left is none."""
    folder = paths.knowledge_dir(home) / merges.FOLDER
    names = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
    return frozenset(f"{merges.FOLDER}/{name}" for name in names if not name.endswith(".tmp"))


def _events(group: MergeGroup, apply_id: str, now: datetime, facts: Mapping[str, str]) -> Iterator[ItemEvent]:
    """Events of a merge: what each item said, then the one that stands on all that they stood on."""
    item, at = merged_item(group), timestamp(now)
    names = tuple(dict.fromkeys(item_hash(one.category, one.text) for one in group.items))
    merged = item_hash(item.category, item.text)
    kind, category = ItemEventKind.MERGED, item.category.value
    for one in group.items:
        name = item_hash(one.category, one.text)
        if name != merged:
            yield ItemEvent(kind=kind, at=at, item=name, category=category, text=one.text, apply=apply_id)
    was = tuple(name for name in names if name != merged)
    yield ItemEvent(
        kind=kind,
        at=at,
        item=merged,
        category=category,
        text=item.text,
        was=was,
        apply=apply_id,
        reason=group.reason,
        fact=facts.get(merged, ""),
    )
