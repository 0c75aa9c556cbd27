"""One apply as a transaction: items in, ledger, reclaim, digest; merges and drafts the same way; finished after a crash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import SlopError, StorageError
from core.kernel.frame import clean
from core.kernel.ids import make_id, time_of_id
from core.kernel.language import tr
from core.kernel.values.facts import ItemEvent, ItemEventKind
from core.kernel.values.knowledge import (
    Category,
    DraftKind,
    DraftReport,
    HarvestLedgerEntry,
    Item,
    LedgerStatus,
    MergeGroup,
    MergeReport,
    NewItem,
    NoteFile,
)
from core.kernel.values.state import TrashItem
from core.knowledge import apply_log, merges
from core.knowledge.apply_log import AppendPlan, FilePlan, plan_append
from core.knowledge.categories import CATEGORY_NAMES, find_item, lines_out, parse_file
from core.knowledge.evidence_parts import evidence_parts
from core.knowledge.evidence_rows import EVENTS_FILE, Conversation, item_hash, row_text
from core.knowledge.fact_store import FactShelf, sync_facts
from core.knowledge.file_writer import change_file, cut_end, harvest_lock, has_line, read_bytes, write_lock
from core.knowledge.knowledge_reader import (
    DigestResult,
    digest_file,
    is_digest,
    read_categories,
    regenerate_digest,
)
from core.knowledge.ledger import HarvestLedger, hash_source, timestamp
from core.knowledge.memory_log import read_logs
from core.knowledge.merges import (
    NO_PLAYBOOK,
    Known,
    becomes,
    draft_name,
    draft_text,
    known_items,
    merge_hunks,
    merged_item,
)
from core.knowledge.note_files import move_notes, read_notes
from core.knowledge.part_writer import at_once, keep_version, swaps_of, take_part_back, write_parts
from core.knowledge.parts import DraftPlan, PartPlan, PatchPlan, RowPlan, SwapPlan, check_removal, unwritten
from core.knowledge.recovery import ensure_plan, recover
from core.talk.discussion import trash

# One apply as a transaction: items in, ledger, reclaim, digest; finished after a crash, never doubled.


@dataclass(slots=True)
class Apply:
    """An apply under way; made by `begin_apply`, which holds the harvest's lock for it."""

    home: Path
    id: str
    ledger: HarvestLedger
    known: Known
    notes: tuple[NoteFile, ...]
    facts: FactShelf
    disk: Disk = field(default=OS_DISK, repr=False)
    is_open: bool = False
    """A conversation's items are on disk and not proven: the next start finishes it."""
    held_files: dict[str, None] = field(default_factory=dict)
    """Files of facts that could not be read: the facts of these items wait for that."""

    def append(
        self,
        items: Iterable[NewItem],
        entry: HarvestLedgerEntry,
        *,
        rejected: Iterable[NewItem] = (),
        seen: Iterable[NewItem] = (),
        talks: tuple[str, ...] = (),
    ) -> AppendPlan:
        """Write the items of one conversation and prove it in the ledger.

        Args:
            items: raw; exact duplicates of what is known are left out.
            entry: of the conversation, status `harvested`; its counts are filled in.
            rejected: what the person left out; seen: what was known before, confirmed where it still is.
            talks: marks of the conversations in it, by which it is the same whatever it is read as.

        Returns:
            What was written and what was known already.

        Raises:
            StorageError: nothing of it is in the files, or all of it is and the next start proves it.
        """
        plan = plan_append(items, self.known, self.notes, seen)
        entry = replace(entry, items=plan.counts)
        parts = self._parts(plan, tuple(rejected), entry, talks)
        row = apply_log.step_row(entry.path, entry, plan.files, parts)
        apply_log.write(self.home, self.id, row, disk=self.disk)
        self._write_files(plan.files, parts)
        self.is_open = True
        self.ledger.add(entry)
        apply_log.write(self.home, self.id, {"kind": "written"}, disk=self.disk)
        self.is_open = False
        self.known.add(plan.items)
        swaps = (part for part in parts if isinstance(part, SwapPlan))
        return replace(plan, struck=sum(one.name in CATEGORY_NAMES for one in swaps))

    def rewrite(self, source: str, parts: Iterable[PartPlan]) -> None:
        """Write parts that came of no conversation, all of them or none: a merge, a draft.

        Args:
            source: the file that they were made of.

        Raises:
            StorageError: nothing of them is in the files, or all of them are.
        """
        chosen = tuple(parts)
        apply_log.write(self.home, self.id, apply_log.step_row(source, None, (), chosen), disk=self.disk)
        self._write_files((), chosen)
        self.is_open = True
        apply_log.write(self.home, self.id, {"kind": "written"}, disk=self.disk)
        self.is_open = False

    def record(self, entry: HarvestLedgerEntry) -> None:
        """Put an outcome without items into the ledger (failed, too large, deleted unharvested).

        Raises:
            StorageError: it was not recorded.
        """
        self.ledger.add(entry)

    def reclaim(self, discussion_id: str, sha256: str, now: datetime) -> TrashItem:
        """Move a conversation to the trash, if the ledger on disk proves that its bytes may go.

        Raises:
            StorageError: the ledger does not prove it, the conversation changed since, or it could not be moved.
            LockedError: somebody writes to it.
        """
        self._check_gate(discussion_id, sha256)
        entry = self.ledger.get(sha256)
        is_harvested = entry is not None and entry.status is LedgerStatus.HARVESTED
        why = "harvested" if is_harvested else "reclaimed without harvest"
        moved = self._to_trash(discussion_id, sha256, now, why)
        if entry is not None:
            self.ledger.add(replace(entry, deleted=True))
        return moved

    def keep(self, sha256: str) -> None:
        """Mark a conversation as read and kept: no harvest lists it again until it grows.

        Raises:
            StorageError: it is not recorded as harvested, or the mark could not be written.
        """
        entry = self.ledger.get(sha256)
        if entry is None or not entry.allows_reclaim:
            raise StorageError(
                tr("The harvest ledger has no harvest of this conversation"),
                remedy=tr("Harvest the conversation again"),
            )
        if not entry.kept:
            self.ledger.add(replace(entry, kept=True))

    def prune(self, discussion_id: str, entry: HarvestLedgerEntry, now: datetime) -> TrashItem:
        """Move an empty conversation to the trash, after the ledger names it.

        Args:
            entry: status `pruned`.

        Raises:
            StorageError: it was not recorded, or could not be moved. LockedError: somebody writes to it.
        """
        self.ledger.add(entry)
        return self._to_trash(discussion_id, entry.sha256, now, "empty")

    def _to_trash(self, discussion_id: str, key: str, now: datetime, why: str) -> TrashItem:
        """Move it, so that an undo brings it back. `key`: of its entry in the ledger."""
        row = {"kind": "reclaimed", "discussion_id": discussion_id, "sha256": key}
        apply_log.write(self.home, self.id, row, disk=self.disk)
        return trash.delete(self.home, discussion_id, now, why, disk=self.disk)

    def _check_gate(self, discussion_id: str, sha256: str) -> None:
        log = paths.log_file(self.home, discussion_id)
        if not self.ledger.may_reclaim(sha256):
            raise StorageError(
                tr("The harvest ledger has no harvest of {discussion_id}", discussion_id=discussion_id),
                remedy=tr("The program keeps the conversation"),
                where=str(log),
            )
        if hash_source(log).sha256 != sha256:
            raise StorageError(
                tr("{discussion_id} has grown since its harvest", discussion_id=discussion_id),
                remedy=tr("The program keeps the conversation; harvest it again"),
                where=str(log),
            )

    def _parts(
        self,
        plan: AppendPlan,
        rejected: tuple[NewItem, ...],
        entry: HarvestLedgerEntry,
        talks: tuple[str, ...],
    ) -> tuple[PartPlan, ...]:
        """Parts that go with the lines of one conversation into other files, decided once it is known what is new."""
        raws = [one.raw for one in plan.placed] + list(rejected)
        source = next((raw.provenance.source for raw in raws if raw.provenance is not None), "")
        folder = Path(entry.path).parent
        is_ours = folder.parent == paths.discussions_dir(self.home)
        discussion = folder.name if is_ours else ""
        said = Conversation(
            at=entry.at,
            source=clean(source),
            path=clean(entry.path),
            sha256=entry.sha256,
            discussion=discussion,
            talks=talks,
        )
        swaps = swaps_of(self.home, plan.placed, entry.at[:10])
        replaced = [one.raw.replaces.item for one in swaps if one.raw.replaces is not None]
        facts = self.facts.plan(plan.placed, entry, discussion, replaced, talks)
        self.held_files.update(dict.fromkeys(facts.broken))
        events = evidence_parts(plan.placed, rejected, said, self.id, frozenset(swaps), facts.ids, facts.held)
        return (*swaps.values(), *facts.parts, *events)

    def _write_files(self, files: tuple[FilePlan, ...], parts: tuple[PartPlan, ...]) -> None:
        done: list[FilePlan] = []
        added: list[PartPlan] = []
        try:
            with write_lock(self.home, disk=self.disk):
                for plan in files:
                    done.append(plan)
                    ensure_plan(self.home, plan, disk=self.disk)
                for group in at_once(parts):
                    added.extend(group)
                    write_parts(self.home, group, disk=self.disk)
        except SlopError:
            with suppress(SlopError), write_lock(self.home, disk=self.disk):
                for part in reversed(added):
                    take_part_back(self.home, unwritten(part), disk=self.disk)
                for plan in reversed(done):
                    _take_back(self.home, plan, self.disk)
                apply_log.write(self.home, self.id, {"kind": "dropped"}, disk=self.disk)
            raise


@contextmanager
def begin_apply(
    home: Path, now: datetime, *, seed: str, by: str = "manual-slop harvest", disk: Disk = OS_DISK
) -> Iterator[Apply]:
    """Begin an apply that a person started: finish what a crash interrupted, then hold the lock to the end.

    The caller ends it with `finish_apply` when it went through; an apply that is left early stands all the same.

    Args:
        seed: fresh randomness, for the id; by: how others are told who holds the lock.

    Raises:
        LockedError: another harvest runs; says which. ConfigError: the ledger does not parse.
        StorageError: the knowledge cannot be read or written.
    """
    with harvest_lock(home, by, disk=disk):
        ledger = HarvestLedger(home, disk=disk)
        ledger.load()
        recovered = recover(home, ledger, now, disk=disk)
        move_notes(home, read_notes(home), disk=disk)
        notes = read_notes(home)
        files = read_categories(home)
        items = [f.items for f in files] + [note.items for note in notes]
        apply_id = _next_id(home, now, seed)
        begun = {"kind": "begun", "at": timestamp(now), "by": by, "on": is_digest(digest_file(home)), "v": 1}
        apply_log.write(home, apply_id, begun, disk=disk)
        recovered.close(home, disk=disk)
        with suppress(
            StorageError
        ):  # a disk that takes nothing is met again, and reported, by what is written
            sync_facts(home, now, disk=disk)
        rows = read_logs(home)
        known = known_items(chain.from_iterable(items), rows)
        yield Apply(
            home=home,
            id=apply_id,
            ledger=ledger,
            known=known,
            notes=notes,
            facts=FactShelf(home, rows),
            disk=disk,
        )


def finish_apply(apply: Apply, *, makes_digest: bool = True) -> DigestResult:
    """End an apply: fold the ledger and make the digest, which turns layer 7 on; else renew it where it is on.

    One whose last conversation is written and not proven stays open, so that the next start proves it: read again,
    it would stand on the same words twice.

    Raises:
        StorageError: items and ledger are safe; the digest may be old.
    """
    apply.ledger.fold()
    sync_facts(apply.home, ours=apply.facts.given, disk=apply.disk)
    result = regenerate_digest(apply.home, may_create=makes_digest, disk=apply.disk)
    if not apply.is_open:
        apply_log.write(apply.home, apply.id, {"kind": "ended"}, disk=apply.disk)
    return result


def _next_id(home: Path, now: datetime, seed: str) -> str:
    """An id that sorts behind all others, whatever the clock says."""
    newest = next(iter(apply_log.apply_ids(home)), "")
    apply_id = make_id(now, seed)
    if apply_id > newest:
        return apply_id
    last = time_of_id(newest)
    return make_id((last or now) + timedelta(seconds=1), seed)


def _take_back(home: Path, plan: FilePlan, disk: Disk) -> None:
    """Have none of these lines in a file."""
    path = paths.knowledge_dir(home) / plan.name
    texts = [line.text for line in plan.lines]
    there = [line for line in plan.lines if path.exists() and has_line(read_bytes(path), line.text)]
    if not there or cut_end(path, there, disk=disk):
        return
    change_file(path, lambda data: lines_out(plan.name, data, texts)[0], disk=disk)


# Merges and drafts on disk: each one transaction of the same apply, with its undo, recovery and history.

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
        raise SlopError(NO_PLAYBOOK, remedy=tr("Choose an item of playbooks.md"))
    with begin_apply(home, now, seed=seed, by=DRAFT_BY, disk=disk) as apply:
        found = find_item(parse_file(item.file, read_bytes(directory / item.file)), item)
        if found is None:
            raise StorageError(
                tr("{file} has changed: this playbook is gone or different now", file=item.file),
                remedy=tr("Reload the item, then try again"),
                where=str(directory / item.file),
            )
        name = draft_name(found, kind, draft_names(home))
        apply.rewrite(item.file, [DraftPlan(name, draft_text(found, kind, name))])
        finish_apply(apply, makes_digest=False)
    return DraftReport(apply_id=apply.id, path=str(directory / name), becomes=becomes(name))


def draft_names(home: Path) -> frozenset[str]:
    """Names of drafts, below the knowledge directory, without the leftovers of a write that was cut short."""
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
