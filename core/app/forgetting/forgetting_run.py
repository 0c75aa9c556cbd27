"""A forgetting from end to end: gathered, noted, taken out place by place (logs of what was recalled, too), checked, told."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.agent.journal_text import without_discussions
from core.app.forgetting import forgetting_places as places
from core.app.forgetting import leftovers
from core.app.forgetting.census import gather, item_files, look
from core.app.forgetting.forgetting_messages import (
    ForgetEnded,
    ForgetLooked,
    ForgettingEffect,
    ForgettingEvent,
    RunForget,
    RunForgetLook,
)
from core.app.forgetting.leftovers import (
    NO_SERVICES,
    ForgetServices,
    Intent,
    drop_leftovers,
    drop_place,
    drop_taken,
    empty_logs,
    words_left,
)
from core.app.forgetting.redaction import (
    Cut,
    apply_without,
    batch_without,
    events_without,
    evidence_without,
    facts_without,
    index_without,
    items_without,
    without_recalled,
)
from core.app.forgetting.words import Words, holds
from core.kernel import paths
from core.kernel.disk import (
    OS_DISK,
    Disk,
    discussion_lock,
    make_dirs,
    remove_file,
    remove_tree,
    reported,
    sync_dir,
    take_lock,
    write_file,
)
from core.kernel.errors import LockedError, SlopError, StorageError
from core.kernel.figures import midnight
from core.kernel.ids import make_id
from core.kernel.language import as_sentences, tr
from core.kernel.opener import read_file
from core.kernel.queue import queued
from core.kernel.values.harvest import BatchItem
from core.kernel.values.knowledge import ForgetReceipt, ForgetTarget, PlaceReport
from core.kernel.values.usage import Usage
from core.knowledge import apply_log
from core.knowledge.apply import draft_names
from core.knowledge.categories import NOTES_FOLDER
from core.knowledge.evidence_rows import EVENTS_FILE, EVIDENCE_FILE, item_hash, short_hash
from core.knowledge.fact_store import sync_facts
from core.knowledge.facts.fact_checks import INDEX_FILE
from core.knowledge.facts.fact_checks import place_of as fact_place
from core.knowledge.facts.fact_files import read_files
from core.knowledge.file_writer import change_file, harvest_lock, read_bytes, withdrawing, write_lock
from core.knowledge.harvest.batch_prompts import FOLDER, BatchFiles
from core.knowledge.harvest.batch_step import BatchChange
from core.knowledge.harvest.merge_reply import KEPT_MARK
from core.knowledge.harvest.preview import conversation_mark, without_marks
from core.knowledge.harvest.replies import KeptReplies, keep_review, kept_conversations, load_review
from core.knowledge.knowledge_reader import archive_names, digest_file, digest_versions, regenerate_digest
from core.knowledge.ledger import HarvestLedger, timestamp
from core.knowledge.mcp_server.proposal_worker import drop_saying
from core.knowledge.merges import draft_mark
from core.knowledge.part_writer import version_names
from core.retrieval.index_run import ServerDebt, erase_in_index, pay, tell_server
from core.services.spending.harvest_costs import HarvestCall, harvest_payments, note_spent
from core.talk.discussion import trash
from core.talk.discussion.catalog_file import wipe_catalog
from core.talk.discussion.discussion_store import staged_for
from core.talk.discussion.log import left_since, paid_since

# Logs of other conversations without what was recalled in them, and the ledger that knows them by their
# bytes.


def cut_recalled(home: Path, words: Words, *, disk: Disk) -> tuple[str, ...]:
    """Empty what was recalled in logs, in the list and in the trash, where it is of what goes.

    Returns:
        The discussions in which there was any.

    Raises:
        StorageError: a log is as it was. LockedError: another program writes to it.
    """
    live = paths.discussions_dir(home)
    folders = [(path.name, path) for path in sorted(live.glob("*")) if path.is_dir()]
    binned = [(one.discussion_id, Path(one.path)) for one in trash.items(home)]
    ledger = HarvestLedger(home, disk=disk)
    found = []
    for (discussion_id, folder), is_live in (
        *((one, True) for one in folders),
        *((one, False) for one in binned),
    ):
        if _cut(folder, words) is None:
            continue
        with discussion_lock(folder) if is_live else nullcontext():
            cut = _cut(folder, words)
            if cut is not None:
                names = {str(folder / paths.LOG_FILE), str(paths.log_file(home, discussion_id))}
                _tell(ledger, names, *cut)
                write_file(folder / paths.LOG_FILE, cut[1], disk=disk)
                found.append(discussion_id)
    if found:
        ledger.fold()
    return tuple(found)


def _cut(folder: Path, words: Words) -> tuple[bytes, bytes] | None:
    """A log as it is and as it is to be, None where nothing is to go."""
    try:
        before = read_file(folder / paths.LOG_FILE, None)
    except OSError:
        return None
    after = without_recalled(before, words)
    return None if after == before else (before, after)


def _tell(ledger: HarvestLedger, names: Collection[str], before: bytes, after: bytes) -> None:
    """Have the ledger know a log by its new bytes, so that it counts as read still."""
    for entry in list(ledger.entries()):
        size = entry.size_bytes
        if entry.path in names and hashlib.sha256(before[:size]).hexdigest() == entry.sha256:
            ledger.add(replace(entry, sha256=hashlib.sha256(after[:size]).hexdigest()))


# A forgetting from end to end: gathered, noted on disk, taken out place by place, checked, and told in a
# receipt.


class ForgetRequest(msgspec.Struct, frozen=True):
    """A forgetting that a person confirmed.

    Args:
        now: UTC; seed: fresh randomness, for the id; providers: of the conversations, by id.
        server: address of the index on a server, empty for none.
    """

    home: Path
    target: ForgetTarget
    now: datetime
    seed: str
    providers: tuple[tuple[str, str], ...] = ()
    services: ForgetServices = NO_SERVICES
    server: str = ""
    disk: Disk = OS_DISK


def forget(request: ForgetRequest) -> ForgetReceipt:
    """Forget what is named. What was interrupted before is finished first.

    Raises:
        StorageError: there is no such thing, or it could not be noted; nothing was forgotten. Once it is noted, a
            failure is a place with a problem, or is raised and gone on with at the next start.
        LockedError: a harvest runs, or an answer is arriving in the conversation.
    """
    home, disk = request.home, request.disk
    resume(home, request.now, request.services, disk=disk)
    with harvest_lock(home, "forgetting", disk=disk):
        words, holders = gather(home, request.target)
        name = make_id(request.now, request.seed)
        intent = Intent(
            id=name,
            target=request.target,
            words=words,
            providers=request.providers,
            holders=holders,
            server=request.server,
        )
        leftovers.keep(home, intent, disk=disk)
        return _Forgetting(home, intent, request.now, request.services, disk).run()


def resume(
    home: Path, now: datetime, services: ForgetServices = NO_SERVICES, *, disk: Disk = OS_DISK
) -> tuple[ForgetReceipt, ...]:
    """Finish what a crash interrupted, and tell servers what they could not be told.

    Raises:
        StorageError, LockedError: some of it is still open; ask again.
    """
    pay(home, disk=disk)
    if not leftovers.is_waiting(home):
        return ()
    with harvest_lock(home, "forgetting", disk=disk):
        return tuple(_Forgetting(home, one, now, services, disk).run() for one in leftovers.waiting(home))


class _Forgetting:
    """A forgetting under way. Each step may be done again."""

    def __init__(
        self, home: Path, intent: Intent, now: datetime, services: ForgetServices, disk: Disk
    ) -> None:
        self._home, self._intent, self._words, self._disk = home, intent, intent.words, disk
        self._now, self._at, self._services = now, timestamp(now), services
        self._directory = paths.knowledge_dir(home)
        self._removed: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        self._checked: dict[str, str] = {}
        self._recalls: tuple[str, ...] = ()

    def run(self) -> ForgetReceipt:
        """Go through every place. Holds no lock of one write when it is asked."""
        self._ask_providers()
        self._drop_conversations()
        with withdrawing(self._home, disk=self._disk):  # who recalls something meanwhile asks again behind it
            self._cleanse_knowledge()
            self._cleanse_recalled()
            self._cleanse_journal()
            self._count("taken", drop_taken(self._home, self._words, disk=self._disk))
            self._erase_in_index()
        self._tell_server()
        self._withdraw_batches()
        self._drop_derived()
        self._check()
        intent, words = self._intent, self._words
        receipt = ForgetReceipt(
            id=intent.id,
            at=self._at,
            discussion_ids=intent.target.discussion_ids,
            item=""
            if intent.target.category is None
            else item_hash(intent.target.category, intent.target.text),
            items=words.removed_items,
            facts=words.removed_facts,
            kept_items=len(words.others),
            places=tuple(self._told(place) for place in places.PLACES if not place.is_wordless),
            holders=tuple(dict.fromkeys((*intent.holders, *self._recalls))),
            recalls=self._recalls,
            blended=words.blended,
        )
        leftovers.close(self._home, receipt, disk=self._disk)
        return receipt

    def _told(self, place: places.Place) -> PlaceReport:
        problem = self._problems.get(place.id, "")
        words, count = self._words, self._removed.get(place.id, 0)
        count = {"items": words.removed_items, "facts": words.removed_facts, "window": 1}.get(place.id, count)
        said = (
            ""
            if place.id == "server" and not self._intent.server
            else self._checked.get(place.id, place.checked)
        )
        return PlaceReport(place=place.id, removed=count, checked="" if problem else said, problem=problem)

    def _count(self, place_id: str, count: int) -> None:
        self._removed[place_id] = self._removed.get(place_id, 0) + count

    def _ask_providers(self) -> None:
        for discussion_id, provider in self._intent.providers:
            try:
                problem = self._services.ask_provider(discussion_id, provider)
            except SlopError as error:
                problem = str(error)
            self._count("provider", 1)
            if problem:
                self._problems["provider"] = tr(
                    "{provider} did not delete everything: {problem}", provider=provider, problem=problem
                )

    def _drop_conversations(self) -> None:
        for discussion_id in self._intent.target.discussion_ids:
            self._drop_scratch(discussion_id)
            self._keep_costs(discussion_id)
            directory = paths.discussion_dir(self._home, discussion_id)
            aside = leftovers.intents_folder(self._home) / f"{self._intent.id}.{discussion_id}"
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
            for staged in staged_for(self._home, discussion_id):
                self._drop_tree("leftovers", staged)

    def _drop_scratch(self, discussion_id: str) -> None:
        """End what it left running: it would go on writing words that are to go."""
        try:
            self._count("scratch", int(self._services.drop_scratch(discussion_id)))
        except OSError as error:
            self._problems["scratch"] = tr(
                "the folder stays until Manual Slop ends and deletes it: {error}", error=error
            )

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
                usage = Usage(cost_usd=payment.usd, is_estimate=payment.is_estimate)
                call = HarvestCall(at=self._now, provider="", model="", usage=usage)
                note_spent(self._home, call, payment_id=key, disk=self._disk)

    def _drop_tree(self, place_id: str, path: Path, *, counts: bool = True) -> None:
        if not path.exists():
            return
        remove_tree(path, disk=self._disk)
        if path.exists():
            raise StorageError(
                tr("The program could not delete this file or folder"),
                remedy=tr("Close every program that uses this file or folder"),
                where=str(path),
            )
        sync_dir(path.parent, self._disk)
        self._count(place_id, int(counts))

    def _cleanse_knowledge(self) -> None:
        words = self._words
        for name in item_files(self._home):
            self._cut("items", name, partial(_items_cut, name, words))
            self._remove_where_bare(name)
        for place_id, names in (
            ("versions", version_names(self._home)),
            ("archive", archive_names(self._home)),
        ):
            for name, of in names:
                self._cut(place_id, name, partial(_items_cut, of, words))
        self._drop_drafts()
        self._drop_digests()
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
        self._count("proposals", drop_saying(self._home, lambda said: holds(said, words), disk=self._disk))
        knowledge = self._directory
        for sha256 in words.hashes.intersection(kept_conversations(knowledge)):
            KeptReplies(knowledge, sha256, disk=self._disk).drop_all()
            self._count("replies", 1)
        for name in kept_conversations(knowledge):
            if name.startswith(KEPT_MARK):  # to merges: they say items again, in any words
                KeptReplies(knowledge, name, disk=self._disk).drop_all()
                self._count("replies", 1)
        derived = (paths.facts_file(self._home), "fact-table"), (digest_file(self._home), "digest")
        before = [read_bytes(path) for path, _ in derived]
        sync_facts(self._home, self._now, ours=None, disk=self._disk)
        regenerate_digest(self._home, may_create=False, keeps=False, disk=self._disk)
        for (path, place_id), data in zip(derived, before, strict=True):
            self._count(place_id, int(bool(data) and data != read_bytes(path)))

    def _cut(
        self,
        place_id: str,
        name: str,
        cut: Callable[[bytes], Cut],
        *,
        may_make: bool = False,
        counts: bool = True,
    ) -> None:
        path = self._directory / name
        if not may_make and not path.exists():
            return
        removed: list[int] = []

        def change(data: bytes) -> bytes:
            rest, count = cut(data)
            removed.append(count)
            return rest

        with write_lock(self._home, disk=self._disk):
            change_file(path, change, disk=self._disk)
        self._count(place_id, removed[-1] if counts else 0)

    def _remove_where_bare(self, name: str) -> None:
        """Notes that hold nothing any more but their head are no notes."""
        path = self._directory / name
        if not name.startswith(f"{NOTES_FOLDER}/") or not path.exists():
            return
        lines = [line for line in read_bytes(path).split(b"\n") if line.strip()]
        if self._words.items and all(line.startswith((b"# ", b"<!-- sha256:")) for line in lines):
            remove_file(path, disk=self._disk)

    def _drop_drafts(self) -> None:
        """Remove drafts of playbooks that go, and those that hold the words."""
        marks = [draft_mark(item).encode() for item in self._words.items]
        for name in sorted(draft_names(self._home)):
            path = self._directory / name
            data = read_bytes(path)
            if holds(data, self._words) or any(mark in data for mark in marks):
                remove_file(path, disk=self._disk)
                self._count("drafts", 1)

    def _drop_digests(self) -> None:
        """Remove kept texts of the digest that hold the words."""
        for path in digest_versions(self._home):
            if holds(read_bytes(path), self._words):
                remove_file(path, disk=self._disk)
                self._count("versions", 1)

    def _drop_facts(self) -> None:
        """Take facts out of their files and the index: a sync that remembers nothing would bring back what it has."""
        words = self._words
        marks = [
            key.encode() for key in sorted({*words.facts, *(f for one in words.put_back for f in one.facts)})
        ]
        for name in read_files(self._home).files:
            place = fact_place(name)
            data = read_bytes(self._directory / name)
            if place is not None and any(mark in data for mark in marks):
                self._cut("facts", name, partial(facts_without, place, words.facts, words.put_back))
        if words.facts:
            self._cut("facts", INDEX_FILE, partial(index_without, words.facts))

    def _cleanse_recalled(self) -> None:
        """Empty what was recalled for messages of other conversations: it stays in a log where it is sent again."""
        self._recalls = cut_recalled(self._home, self._words, disk=self._disk)
        self._count("recalled", len(self._recalls))

    def _cleanse_journal(self) -> None:
        """Take the entries of the conversations out of the agent's journal."""
        path = self._home / paths.JOURNAL_FILE
        if not self._words.discussions or not path.exists():
            return
        removed: list[int] = []

        def change(data: bytes) -> bytes:
            text, count = without_discussions(
                data.decode("utf-8", "surrogateescape"), self._words.discussions
            )
            removed.append(count)
            return text.encode("utf-8", "surrogateescape") if count else data

        with write_lock(self._home, disk=self._disk):
            change_file(path, change, disk=self._disk)
        self._count("journal", removed[-1])

    def _erase_in_index(self) -> None:
        """Take out of the index what is gone from the files, or have it made anew. It is no failure that none is there."""
        try:
            count, is_whole = erase_in_index(self._home, self._intent.target.discussion_ids)
        except OSError as error:
            self._problems["index"] = tr("the program could not delete the index: {error}", error=error)
            return
        self._count("index", count)
        if is_whole:
            self._checked["index"] = tr(
                "the program deleted the whole index and builds it anew from the rest"
            )

    def _tell_server(self) -> None:
        intent = self._intent
        if not intent.server:
            return
        debt = ServerDebt(id=intent.id, url=intent.server, discussion_ids=intent.target.discussion_ids)
        try:
            count, why = tell_server(self._home, debt, disk=self._disk)
        except SlopError as error:
            count, why = 0, str(error)
        self._count("server", count)
        if why:
            self._problems["server"] = tr(
                "{why}. The program deletes the words on the index server when it answers again",
                why=why,
            )

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

    def _withdraw_batches(self) -> None:
        """Stop the open batches that hold a conversation, for the provider has its words, and forget its path here."""
        files = BatchFiles(self._home, self._disk)
        asked = 0
        for batch in files.batches():
            if not any(self._is_sent(one) for one in batch.items):
                continue
            if not batch.is_cleaned and not batch.is_unwanted:
                files.note(batch, BatchChange(at=self._at, state=batch.state, is_unwanted=True))
            self._cut(
                "batches",
                f"{FOLDER}/{batch.tag}.jsonl",
                lambda data: batch_without(data, self._words),
                counts=False,
            )
            asked += not batch.is_cleaned
        self._count("batches", asked)
        if asked:
            try:
                problem = self._services.withdraw_batches()
            except SlopError as error:
                problem = str(error)
            if problem:
                self._problems["batches"] = problem

    def _is_sent(self, item: BatchItem) -> bool:
        """True for a request of a conversation that goes, and for one that tells an item that goes."""
        words = self._words
        names = {short_hash(one) for one in words.items}
        return item.sha256 in words.hashes or item.path in words.paths or not names.isdisjoint(item.told)

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
        """Empty what is made anew by itself, and remove what a crash left anywhere."""
        self._tried("catalog", lambda: wipe_catalog(paths.catalog_file(self._home)))
        for place in places.PLACES:
            if place.is_derived:
                self._tried(place.id, partial(drop_place, self._home, place, self._disk))
        self._tried("diagnostics", lambda: empty_logs(paths.log_dir()))
        self._tried("leftovers", lambda: drop_leftovers(self._home, self._disk))

    def _tried(self, place_id: str, work: Callable[[], int]) -> None:
        try:
            self._count(place_id, int(work()))
        except (SlopError, OSError) as error:
            self._problems[place_id] = str(error)

    def _check(self) -> None:
        """Look at what stands now: no words in any file of knowledge or cache, no folder of a conversation."""
        binned = {item.discussion_id for item in trash.items(self._home)}
        for discussion_id in self._intent.target.discussion_ids:
            if discussion_id in binned:
                self._problems["trash"] = tr(
                    "The discussion {discussion_id} was in the trash again when the program had forgotten it",
                    discussion_id=discussion_id,
                )
            if paths.discussion_dir(self._home, discussion_id).exists():
                self._problems["discussions"] = tr(
                    "The discussion {discussion_id} was there again when the program had forgotten it",
                    discussion_id=discussion_id,
                )
        for place_id, why in words_left(self._home, self._words).items():
            self._problems.setdefault(place_id, why)


def _items_cut(name: str, words: Words, data: bytes) -> Cut:
    return items_without(name, data, words)


def _check_quiet(directory: Path) -> None:
    lock = take_lock(directory / paths.REPLY_LOCK_FILE)
    if lock is None:
        raise LockedError(
            tr("A reply is still arriving in this conversation"),
            remedy=tr("Stop the reply, then forget the conversation"),
            where=str(directory),
        )
    lock.release()


# Forgetting in the background, one at a time; each ends with an event of its own, also where it fails.

Emit = Callable[[ForgettingEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class ForgetHandler:
    """Carries out the forgetting worker's effects.

    Args:
        clock: UTC; services: what is asked of providers.
        alone: holds the home for itself: another program on it would write back what it has in memory.
        settled: waits until what was to be written before is written.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        services: ForgetServices,
        alone: Callable[[], AbstractContextManager[object]],
        settled: Callable[[], object],
    ) -> None:
        self._home, self._clock, self._emit = home, clock, emit
        self._services, self._alone, self._settled = services, alone, settled

    def handle(self, effect: ForgettingEffect) -> None:
        """Carry out one effect."""
        if isinstance(effect, RunForgetLook):
            self._emit(ForgetLooked(look(self._home, effect.target), effect.command_id))
            return
        is_resumed = effect.target is None
        try:
            with self._alone():
                self._settled()
                self._carry_out(effect)
        except SlopError as error:
            detail = as_sentences(error.remedy, error.where)
            self._emit(ForgetEnded(receipt=None, problem=error.what, remedy=detail, is_resumed=is_resumed))
        except Exception as error:  # it is over, and is told so; the queue tells the rest
            why = tr("The program could not forget everything: {error}", error=error)
            self._emit(
                ForgetEnded(
                    receipt=None,
                    problem=why,
                    remedy=tr("The program finishes forgetting when you start it again."),
                    is_resumed=is_resumed,
                )
            )
            raise

    def _carry_out(self, effect: RunForget) -> None:
        now = self._clock()
        if effect.target is None:
            for receipt in resume(self._home, now, self._services):
                self._emit(ForgetEnded(receipt=receipt, is_resumed=True))
            return
        request = ForgetRequest(
            home=self._home,
            target=effect.target,
            now=now,
            seed=secrets.token_hex(8),
            providers=effect.providers,
            services=self._services,
            server=effect.server,
        )
        self._emit(ForgetEnded(receipt=forget(request)))


WORK = queued("forget", ForgettingEffect)
