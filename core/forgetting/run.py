"""A forgetting from end to end: gathered, noted on disk, taken out place by place, checked, and told in a receipt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.base import paths
from core.base.diagnostics import LOG_NAME
from core.base.disk import OS_DISK, Disk, make_dirs, remove_file, remove_tree, reported, sync_dir
from core.base.errors import LockedError, SlopError, StorageError
from core.base.ids import make_id
from core.base.locks import discussion_lock, take_lock
from core.base.opener import open_descriptor, read_file
from core.discussion import trash
from core.discussion.catalog_file import wipe_catalog
from core.discussion.meta import read_meta
from core.discussion.payments import left_since, paid_since
from core.evidence.files import read_logs
from core.evidence.quotes import item_hash
from core.evidence.rows import EVENTS_FILE, EVIDENCE_FILE
from core.facts.fact_file import parse_file as parse_facts
from core.facts.files import read_files
from core.facts.places import place_of as fact_place
from core.facts.write_back import without_fact
from core.forgetting import intent as store
from core.forgetting import places
from core.forgetting.intent import Intent
from core.forgetting.redaction import Cut, apply_without, events_without, evidence_without, items_without
from core.forgetting.words import (
    AppliedStep,
    Conversation,
    Memory,
    Words,
    holds,
    words_of_conversations,
    words_of_item,
)
from core.harvest.replies import KeptReplies, kept_conversations
from core.harvest.review import conversation_mark, without_marks
from core.harvest.review_file import keep_review, load_review
from core.knowledge import apply_log
from core.knowledge.categories import CATEGORY_NAMES, NOTES_FOLDER, parse_file
from core.knowledge.digest import regenerate_digest
from core.knowledge.fact_store import sync_facts
from core.knowledge.file_writer import change_file, read_bytes
from core.knowledge.ledger import HarvestLedger, timestamp
from core.knowledge.locks import harvest_lock, write_lock
from core.knowledge.parts import BlockPlan
from core.knowledge.provenance import source_name
from core.knowledge.withdrawals import withdrawing
from core.spending.harvest_costs import harvest_payments, note_spent
from core.spending.limits import midnight
from core.values.evidence import ItemEventKind
from core.values.forgetting import ForgetReceipt, ForgetTarget, PlaceReport

AskProvider = Callable[[str, str], str]
"""Has a provider delete what it stores of a discussion (id, provider). Returns why it did not, empty where it did."""

_FACT = "- id: "
"""Start of a fact's item, as the program writes it."""


class ForgetRequest(msgspec.Struct, frozen=True):
    """A forgetting that a person confirmed.

    Args:
        now: UTC; seed: fresh randomness, for the id; providers: of the conversations, by id; ask_provider: see there.
    """

    home: Path
    target: ForgetTarget
    now: datetime
    seed: str
    providers: tuple[tuple[str, str], ...] = ()
    ask_provider: AskProvider = lambda _discussion_id, _provider: ""
    disk: Disk = OS_DISK


def forget(request: ForgetRequest) -> ForgetReceipt:
    """Forget what is named. What was interrupted before is finished first.

    Raises:
        StorageError: there is no such thing, or it could not be noted; nothing was forgotten. Once it is noted, a
            failure is a place with a problem, or is raised and gone on with at the next start.
        LockedError: a harvest runs, or an answer is arriving in the conversation.
    """
    home, disk = request.home, request.disk
    resume(home, request.now, request.ask_provider, disk=disk)
    with harvest_lock(home, "forgetting", disk=disk):
        intent = _gathered(request)
        store.keep(home, intent, disk=disk)
        return _Work(home, intent, request.now, request.ask_provider, disk).run()


def resume(
    home: Path, now: datetime, ask_provider: AskProvider, *, disk: Disk = OS_DISK
) -> tuple[ForgetReceipt, ...]:
    """Finish what a crash interrupted.

    Raises:
        StorageError, LockedError: some of it is still open; ask again.
    """
    if not store.is_waiting(home):
        return ()
    with harvest_lock(home, "forgetting", disk=disk):
        return tuple(_Work(home, one, now, ask_provider, disk).run() for one in store.waiting(home))


def _gathered(request: ForgetRequest) -> Intent:
    """Everything that the work needs to know, read while it is all there."""
    home, target = request.home, request.target
    memory = _memory(home)
    holders: tuple[str, ...] = ()
    if target.category is not None:
        words = words_of_item(target.category, target.text, memory)
        if not any(item_hash(i.category, i.text) in words.items for f in memory.files for i in f.items):
            raise StorageError(
                "This item is not there any more as it was shown",
                remedy="Look at it again",
                where=target.file,
            )
        holders = tuple(_holders(home, words))
    else:
        conversations = [_conversation(home, one) for one in target.discussion_ids]
        words = words_of_conversations(conversations, memory)
        gone = frozenset(target.discussion_ids)
        took = (e for e in memory.rows.events if e.kind is ItemEventKind.INJECTED)
        told = [e.discussion for e in took if words.items.intersection(e.items)]
        kin = [one for one, parent in _family(home) if parent in gone]
        kin += [read_meta(home, one).meta.parent_id for one in gone if _is_there(home, one)]
        holders = tuple(
            dict.fromkeys(one for one in (*kin, *told) if one and one not in gone and _is_there(home, one))
        )
    return Intent(make_id(request.now, request.seed), target, words, request.providers, holders)


def _memory(home: Path) -> Memory:
    ledger = HarvestLedger(home)
    facts = []
    for name, stored in read_files(home).files.items():
        place = fact_place(name)
        if place is not None and not stored.problem:
            facts += [(fact.id, fact.text) for fact in parse_facts(place, stored.data).facts]
    return Memory(
        [parse_file(name, read_bytes(paths.knowledge_dir(home) / name)) for name in _item_files(home)],
        read_logs(home),
        [step for one in apply_log.apply_ids(home) for step in _steps(apply_log.read(home, one))],
        list(ledger.entries()),
        facts,
    )


def _steps(record: apply_log.ApplyRecord) -> Iterator[AppliedStep]:
    for step in record.steps:
        lines = ((plan.name, line.section, line.text) for plan in step.files for line in plan.lines)
        blocks = (block for part in step.parts if isinstance(part, BlockPlan) for block in part.blocks)
        heads = (block.partition("\n")[0] for block in blocks)
        facts = (head.removeprefix(_FACT).strip() for head in heads if head.startswith(_FACT))
        yield AppliedStep(step.entry.path, step.entry.sha256, step.entry.at, tuple(lines), tuple(facts))


def _item_files(home: Path) -> list[str]:
    notes = sorted(path.name for path in (paths.knowledge_dir(home) / NOTES_FOLDER).glob("*.md"))
    return [*CATEGORY_NAMES, *(f"{NOTES_FOLDER}/{name}" for name in notes)]


def _conversation(home: Path, discussion_id: str) -> Conversation:
    """A conversation in the list or in the trash.

    Raises:
        StorageError: it is in neither.
    """
    directory = paths.discussion_dir(home, discussion_id)
    binned = [Path(item.path) for item in trash.items(home) if item.discussion_id == discussion_id]
    folders = [one for one in (directory, *binned) if one.is_dir()]
    if not folders:
        raise StorageError(
            f"There is no discussion {discussion_id!r}", remedy="See `manual-slop discussions`"
        )
    logs = [paths.log_file(home, discussion_id), *(one / paths.LOG_FILE for one in folders)]
    hashes = dict.fromkeys(one for path in logs for one in _prefix_hashes(path))
    name = ""
    if directory.is_dir():
        meta = read_meta(home, discussion_id).meta
        name = source_name(meta.created_at, meta.name)
    return Conversation(discussion_id, tuple(dict.fromkeys(map(str, logs))), tuple(hashes), name)


def _prefix_hashes(path: Path) -> Iterator[str]:
    """The sha256 of a log and of each of its leading runs of lines: it was harvested as long as it was then."""
    try:
        data = read_file(path, None)
    except OSError:
        return
    whole = hashlib.sha256()
    for line in data.splitlines(keepends=True):
        whole.update(line)
        yield whole.hexdigest()


def _family(home: Path) -> Iterator[tuple[str, str]]:
    """Discussions that began as a branch, with their parents."""
    with suppress(OSError):
        for path in paths.discussions_dir(home).iterdir():
            if paths.is_directory_name(path.name) and path.is_dir():
                parent = read_meta(home, path.name).meta.parent_id
                if parent:
                    yield path.name, parent


def _is_there(home: Path, discussion_id: str) -> bool:
    return paths.is_directory_name(discussion_id) and paths.discussion_dir(home, discussion_id).is_dir()


def _holders(home: Path, words: Words) -> Iterator[str]:
    """Discussions whose log holds an item's words, in the list and in the trash."""
    folders = [(path.name, path) for path in sorted(paths.discussions_dir(home).glob("*")) if path.is_dir()]
    folders += [(item.discussion_id, Path(item.path)) for item in trash.items(home)]
    for discussion_id, path in folders:
        with suppress(OSError):
            if holds(read_file(path / paths.LOG_FILE, None), words):
                yield discussion_id


class _Work:
    """A forgetting under way. Each step may be done again."""

    def __init__(
        self, home: Path, intent: Intent, now: datetime, ask_provider: AskProvider, disk: Disk
    ) -> None:
        self._home, self._intent, self._words, self._disk = home, intent, intent.words, disk
        self._now, self._at, self._ask = now, timestamp(now), ask_provider
        self._directory = paths.knowledge_dir(home)
        self._removed: dict[str, int] = {}
        self._problems: dict[str, str] = {}

    def run(self) -> ForgetReceipt:
        """Go through every place. Holds no lock of one write when it is asked."""
        self._ask_providers()
        self._drop_conversations()
        with withdrawing(self._home, disk=self._disk):
            self._cleanse_knowledge()
        self._drop_derived()
        self._check()
        intent, words = self._intent, self._words
        receipt = ForgetReceipt(
            intent.id,
            self._at,
            intent.target.discussion_ids,
            "" if intent.target.category is None else item_hash(intent.target.category, intent.target.text),
            words.removed_items,
            len(words.facts),
            len(words.others),
            tuple(self._told(place) for place in places.PLACES if not place.is_wordless),
            intent.holders,
        )
        store.close(self._home, receipt, disk=self._disk)
        return receipt

    def _told(self, place: places.Place) -> PlaceReport:
        problem = self._problems.get(place.id, "")
        return PlaceReport(
            place.id, self._removed.get(place.id, 0), "" if problem else place.checked, problem
        )

    def _count(self, place_id: str, count: int) -> None:
        self._removed[place_id] = self._removed.get(place_id, 0) + count

    def _ask_providers(self) -> None:
        for discussion_id, provider in self._intent.providers:
            try:
                problem = self._ask(discussion_id, provider)
            except SlopError as error:
                problem = str(error)
            self._count("provider", 1)
            if problem:
                self._problems["provider"] = f"{provider} was asked and did not delete all: {problem}"

    def _drop_conversations(self) -> None:
        for discussion_id in self._intent.target.discussion_ids:
            self._keep_costs(discussion_id)
            directory = paths.discussion_dir(self._home, discussion_id)
            aside = store.folder(self._home) / f"{self._intent.id}.{discussion_id}"
            if directory.is_dir():
                _check_quiet(directory)
                with discussion_lock(directory):
                    pass  # what was being written is written
                with reported("forget", directory):
                    self._disk.replace(directory, aside)
                    sync_dir(directory.parent, self._disk)
                self._count("discussions", 1)
            for item in trash.items(self._home):
                if item.discussion_id == discussion_id:
                    self._drop_tree("trash", Path(item.path))
            self._drop_tree("discussions", aside, counts=False)

    def _keep_costs(self, discussion_id: str) -> None:
        """Have what it cost today count towards today's limit still."""
        start = midnight(self._now)
        noted = harvest_payments(self._home, start)
        live = paths.log_file(self._home, discussion_id)
        binned = (item for item in trash.items(self._home) if item.discussion_id == discussion_id)
        paid = left_since(self._home, live, start) if live.exists() else {}
        for path in (live, *(Path(item.path) / paths.LOG_FILE for item in binned)):
            paid |= paid_since(path, start) if path.exists() else {}
        for key, payment in paid.items():
            if key not in noted:
                note_spent(self._home, self._now, "", "", payment, payment_id=key, disk=self._disk)

    def _drop_tree(self, place_id: str, path: Path, *, counts: bool = True) -> None:
        if not path.exists():
            return
        remove_tree(path, disk=self._disk)
        if path.exists():
            raise StorageError(
                "What is to be forgotten could not be removed", remedy="Close what uses it", where=str(path)
            )
        sync_dir(path.parent, self._disk)
        self._count(place_id, int(counts))

    def _cleanse_knowledge(self) -> None:
        words = self._words
        for name in _item_files(self._home):
            self._cut("items", name, partial(_items_cut, name, words))
            self._remove_where_bare(name)
        self._drop_facts()
        self._cut(EVIDENCE_FILE.partition(".")[0], EVIDENCE_FILE, lambda data: evidence_without(data, words))
        make_dirs(self._directory, disk=self._disk)
        if words.items or (self._directory / EVENTS_FILE).exists():
            self._cut(
                "events", EVENTS_FILE, lambda data: events_without(data, words, self._at), may_make=True
            )
        for apply_id in apply_log.apply_ids(self._home):
            self._cut(
                "applies", f"{apply_log.FOLDER}/{apply_id}.jsonl", lambda data: apply_without(data, words)
            )
        self._cleanse_ledger()
        self._cleanse_review()
        knowledge = self._directory
        for sha256 in words.hashes.intersection(kept_conversations(knowledge)):
            KeptReplies(knowledge, sha256, disk=self._disk).drop_all()
            self._count("replies", 1)
        sync_facts(self._home, self._now, ours=None, disk=self._disk)
        regenerate_digest(self._home, may_create=False, disk=self._disk)

    def _cut(self, place_id: str, name: str, cut: Callable[[bytes], Cut], *, may_make: bool = False) -> None:
        path = self._directory / name
        if not may_make and not path.exists():
            return
        counts: list[int] = []

        def change(data: bytes) -> bytes:
            rest, count = cut(data)
            counts.append(count)
            return rest

        with write_lock(self._home, disk=self._disk):
            change_file(path, change, disk=self._disk)
        self._count(place_id, counts[-1])

    def _remove_where_bare(self, name: str) -> None:
        """Notes that hold nothing any more but their head are no notes."""
        path = self._directory / name
        if not name.startswith(f"{NOTES_FOLDER}/") or not path.exists():
            return
        lines = [line for line in read_bytes(path).split(b"\n") if line.strip()]
        if self._words.items and all(line.startswith((b"# ", b"<!-- sha256:")) for line in lines):
            remove_file(path, disk=self._disk)

    def _drop_facts(self) -> None:
        for name in read_files(self._home).files:
            place = fact_place(name)
            assert place is not None

            def cut(data: bytes, place: object = place) -> Cut:
                count = 0
                for fact_id in sorted(self._words.facts):
                    if fact_id.encode() in data:
                        rest = without_fact(place, data, fact_id)  # type: ignore[arg-type]
                        data, count = rest, count + (rest != data)
                return data, count

            if any(fact_id.encode() in read_bytes(self._directory / name) for fact_id in self._words.facts):
                self._cut("facts", name, cut)

    def _cleanse_ledger(self) -> None:
        ledger = HarvestLedger(self._home, disk=self._disk)
        mine = [
            entry
            for entry in ledger.entries()
            if (entry.sha256 in self._words.hashes or entry.path in self._words.paths)
            and (entry.path or entry.error)
        ]
        for entry in mine:
            ledger.add(replace(entry, path="", error=""))
        if mine or ledger.journal.exists():
            ledger.fold()
        self._count("ledger", len(mine))

    def _cleanse_review(self) -> None:
        before = load_review(self._home)
        marks = frozenset(conversation_mark(one) for one in self._words.hashes)
        after = {
            key: choice
            for key, choice in without_marks(before, marks).items()
            if choice.item is None
            or not holds(f"{choice.item.head}\n{choice.item.body}".encode(), self._words)
        }
        if after != before:
            keep_review(self._home, after, disk=self._disk)
            self._count("review", len(before) - len(after))

    def _drop_derived(self) -> None:
        """What is made anew by itself, and what a crash left anywhere."""
        self._tried("catalog", lambda: wipe_catalog(paths.catalog_file(self._home)))
        self._tried("prefixes", lambda: _drop_files(paths.cache_dir() / "embedded-prefixes", self._disk))
        self._tried("diagnostics", lambda: _empty_logs(paths.log_dir()))
        self._tried("leftovers", lambda: _drop_leftovers(self._home, self._disk))

    def _tried(self, place_id: str, work: Callable[[], int]) -> None:
        try:
            self._count(place_id, int(work()))
        except (SlopError, OSError) as error:
            self._problems[place_id] = str(error)

    def _check(self) -> None:
        """Look at what stands now: no words in any file of knowledge or cache, no folder of a conversation."""
        for root, folder in ((places.Root.HOME, self._directory), (places.Root.CACHE, paths.cache_dir())):
            base = self._home if root is places.Root.HOME else folder
            for path in _files(folder):
                place = places.place_of(root, path.relative_to(base).as_posix())
                if place is None or place.is_wordless or not self._is_ours(root, path):
                    continue
                with suppress(OSError):
                    if holds(read_file(path, None), self._words):
                        self._problems.setdefault(
                            place.id, f"words of it stand in {path.name} still, in another's text"
                        )

    def _is_ours(self, root: places.Root, path: Path) -> bool:
        """True for a file of this home: the folder of caches is of all homes."""
        if root is places.Root.HOME:
            return True
        mark = paths.catalog_file(self._home).stem.partition("-")[2]
        return mark in path.name


def _items_cut(name: str, words: Words, data: bytes) -> Cut:
    return items_without(name, data, words)


def _check_quiet(directory: Path) -> None:
    lock = take_lock(directory / paths.REPLY_LOCK_FILE)
    if lock is None:
        raise LockedError(
            "An answer is arriving in this conversation",
            remedy="Cancel it first, then forget",
            where=str(directory),
        )
    lock.release()


def _files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in sorted(names))


def _drop_files(folder: Path, disk: Disk) -> int:
    found: Sequence[Path] = list(folder.glob("*")) if folder.is_dir() else []
    for path in found:
        remove_file(path, disk=disk)
    return len(found)


def _empty_logs(folder: Path) -> int:
    """Empty the log in place, for others may have it open, and remove those that were turned over."""
    count = 0
    for path in sorted(folder.glob(f"{LOG_NAME}*")) if folder.is_dir() else []:
        if path.name == LOG_NAME:
            descriptor = open_descriptor(path, os.O_RDWR)
            try:
                os.ftruncate(descriptor, 0)
            finally:
                os.close(descriptor)
        else:
            path.unlink(missing_ok=True)
        count += 1
    return count


def _drop_leftovers(home: Path, disk: Disk) -> int:
    """Temporary files of writes that a crash cut short. Our own locks keep others from writing meanwhile."""
    count = 0
    for folder in (home, *(path for path in paths.knowledge_dir(home).glob("**") if path.is_dir())):
        for path in folder.glob(".*.tmp"):
            remove_file(path, disk=disk)
            count += 1
    return count
