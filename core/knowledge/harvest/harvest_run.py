"""A harvest from end to end: set up from its settings, look, preview, and apply in the order that loses nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, remove_tree
from core.kernel.errors import SlopError
from core.kernel.frame import size_bytes
from core.kernel.language import tr
from core.kernel.secrets import scrubbed_line
from core.kernel.tokens import estimate_tokens
from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    HarvestFailure,
    HarvestPreview,
    HarvestReport,
    HarvestUse,
)
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, Item, LedgerStatus, NewItem
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import AfterHarvest
from core.kernel.values.usage import Usage
from core.knowledge.apply import Apply, begin_apply, finish_apply
from core.knowledge.harvest.distillation import (
    Generate,
    HarvestCancelledError,
    NoMoneyError,
    Related,
    nothing_known,
)
from core.knowledge.harvest.harvest_messages import HarvestRun
from core.knowledge.harvest.harvest_scan import Progress, ScanRequest, look_again, no_progress, scan
from core.knowledge.harvest.modes import (
    OUTPUT_TOKENS_EST,
    SUMMARIZE_THRESHOLD_BYTES,
    estimate,
    fate_of,
    is_small_model,
    piece_bytes_for,
)
from core.knowledge.harvest.preview import chosen, failed, propose, rejected, seen_again
from core.knowledge.harvest.replies import KeptReplies, kept_conversations
from core.knowledge.harvest.sources import Distiller, FolderDomains, HarvestStoppedError, ReadMessages
from core.knowledge.harvest.transcript_sources import talk_marks, unread_messages
from core.knowledge.knowledge_reader import digest_file, is_digest, read_categories
from core.knowledge.ledger import HarvestLedger, hash_source, timestamp
from core.knowledge.memory_log import linked_logs
from core.knowledge.merges import Known, known_items
from core.knowledge.note_files import read_notes
from core.knowledge.parts import removal_sentence
from core.services.providers.http import CallSpent
from core.services.spending.estimates import booked, with_lost
from core.services.spending.harvest_costs import Payments

# A harvest from end to end: look, preview, and apply in the order that loses nothing.


class Found(msgspec.Struct, frozen=True):
    """Items of one conversation that are to be written.

    Args:
        dropped: malformed rows, unfound: quotes that stand nowhere, forgotten: items that a person forgot; all were
            left out.
        rejected: what the person left out; seen: what is known already, and confirmed where it still is.
        beside: items that would have replaced known ones, had a person said yes.
    """

    items: tuple[NewItem, ...]
    dropped: int = 0
    unfound: int = 0
    rejected: tuple[NewItem, ...] = ()
    seen: tuple[NewItem, ...] = ()
    forgotten: int = 0
    beside: int = 0


ItemsOf = Callable[[ArtifactFacts, bytes], Found]
"""Gives the items of a conversation. Raises SlopError: it is kept, and the run goes on."""


OnItems = Callable[[str, tuple[NewItem, ...]], None]
"""Told of the items of a conversation, by its name."""


class ApplyRequest(msgspec.Struct, frozen=True):
    """A harvest that a person asked to apply.

    Args:
        artifacts: from a scan; what is neither to be harvested nor pruned is left alone.
        items_of: None to reclaim without harvesting.
        seed: fresh randomness for the apply's id; by: how others are told who holds the lock.
        makes_digest: False where nobody asked for it: memory that is off stays off.
        after: what happens to a conversation that was read; one that is given up unread goes to the trash.
    """

    scan: ScanRequest
    artifacts: tuple[Artifact, ...]
    items_of: ItemsOf | None
    seed: str
    by: str = "manual-slop harvest"
    disk: Disk = OS_DISK
    makes_digest: bool = True
    after: AfterHarvest = AfterHarvest.TRASH


def look(
    request: ScanRequest,
    provider: str,
    model: str,
    *,
    harvests: bool = True,
    piece_bytes: int = SUMMARIZE_THRESHOLD_BYTES,
    ledger: HarvestLedger | None = None,
    on_progress: Progress = no_progress,
) -> HarvestReport:
    """The dry run: every conversation with its class, and what harvesting would cost. Changes nothing on disk.

    Args:
        ledger: of the request's home, where it was read before.

    Raises:
        ConfigError: the ledger does not parse. StorageError: it cannot be read.
    """
    artifacts = scan(request, ledger or HarvestLedger(request.home), on_progress)
    costs = estimate(artifacts, provider, model, request.now, piece_bytes=piece_bytes, harvests=harvests)
    return HarvestReport(artifacts=artifacts, estimate=costs)


def preview(
    request: ScanRequest,
    artifacts: Iterable[Artifact],
    distiller: Distiller,
    on_progress: Progress = no_progress,
) -> Iterator[HarvestPreview]:
    """Ask the model about the candidates, one after another. Keeps the paid replies, writes nothing else.

    While memory is off the model is told nothing of what is known.

    Yields:
        For each conversation, as soon as it is read, the part that it adds: what it gave, or why it failed.

    Raises:
        HarvestStoppedError: a reply could not be kept. HarvestCancelledError: the person stopped it.
        ConfigError, StorageError: the knowledge or the ledger cannot be read.
    """
    ledger = HarvestLedger(request.home)
    ledger.load()
    known, related = known_now(request.home)
    candidates = [one.facts for one in artifacts if one.kind is ArtifactClass.HARVEST]
    for number, facts in enumerate(candidates):
        on_progress(number, len(candidates), facts.title or facts.name)
        try:
            now, data = look_again(facts, ledger)
            if now.known_status:
                yield HarvestPreview(sources=(now,))
            else:
                found = distiller.distil(now, data, related)
                yield propose(
                    HarvestPreview(), now, found, known, ticks=not is_small_model(distiller.provider)
                )
        except (HarvestStoppedError, HarvestCancelledError):
            raise
        except SlopError as error:
            yield failed(HarvestPreview(), facts, _reason(error))
    on_progress(len(candidates), len(candidates), "")


def known_now(home: Path) -> tuple[Known, Related]:
    """All knowledge, and the part that a model reads: nothing while memory is off.

    Raises:
        StorageError: the knowledge cannot be read.
    """
    stored = [file.items for file in read_categories(home)]
    noted = [note.items for note in read_notes(home)]
    every = [item for items in (*stored, *noted) for item in items]
    known = known_items(every, linked_logs(home, every, may_write=False))
    return known, known.related if is_digest(digest_file(home)) else nothing_known


def items_by_asking(
    distiller: Distiller, now: datetime, on_items: OnItems = lambda _facts, _items: None
) -> ItemsOf:
    """Items as the model gives them, all of them: a preview in which everything stays as it was proposed.

    Nobody is asked, so no more known items are replaced than may go without a question; what would replace another
    stands beside it.

    Args:
        now: the day in provenance; on_items: told of a conversation's items before they are written.
    """
    read: list[tuple[Known, Related]] = []
    gone: list[Item] = []

    def items(facts: ArtifactFacts, data: bytes) -> Found:
        if not read:
            read.append(known_now(distiller.knowledge.parent))
        known, related = read[0]
        found = distiller.distil(facts, data, related)
        part = propose(HarvestPreview(), facts, found, known)
        wanted, seen = chosen(part, facts, now), seen_again(part, facts, now)
        new = tuple(_within_guard(one, gone, known.items) for one in wanted)
        on_items(facts.name, (*new, *seen))
        beside = sum(one.replaces != two.replaces for one, two in zip(wanted, new, strict=True))
        return Found(
            items=new,
            dropped=found.dropped,
            unfound=found.unfound,
            seen=seen,
            forgotten=part.forgotten,
            beside=beside,
        )

    return items


def _within_guard(item: NewItem, gone: list[Item], known: Iterable[Item]) -> NewItem:
    """The item; it replaces none where that would take out too much unasked. `gone`: replaced so far, added to."""
    if item.replaces is None:
        return item
    standing = (one for one in known if one.first_line)
    if removal_sentence([*gone, item.replaces.item], standing):
        return replace(item, replaces=None)
    gone.append(item.replaces.item)
    return item


def items_of_preview(reviewed: HarvestPreview, now: datetime) -> ItemsOf:
    """Items as the person left them in a preview. A conversation that was not previewed as it is now fails."""

    def items(facts: ArtifactFacts, _data: bytes) -> Found:
        if not any((one.path, one.sha256) == (facts.path, facts.sha256) for one in reviewed.sources):
            why = next((one.reason for one in reviewed.failures if one.path == facts.path), "")
            raise SlopError(why or tr("the conversation changed since the preview, or was not in it"))
        return Found(
            items=chosen(reviewed, facts, now),
            rejected=rejected(reviewed, facts, now),
            seen=seen_again(reviewed, facts, now),
        )

    return items


def apply(request: ApplyRequest, on_progress: Progress = no_progress) -> HarvestReport:
    """Append, prove in the ledger, reclaim, one conversation after another; the digest last.

    A conversation that fails is kept and the run goes on; a disk that cannot take knowledge ends the run. Both are
    in the report.

    Raises:
        LockedError: another harvest runs. ConfigError: the ledger does not parse. StorageError: it could not begin.
    """
    scanned = request.scan
    with begin_apply(
        scanned.home, scanned.now, seed=request.seed, by=request.by, disk=request.disk
    ) as transaction:
        run = _Run(request=request, transaction=transaction)
        run.forget_proven()
        run.work(on_progress)
        return run.report()


@dataclass(slots=True)
class _Run:
    """An apply under way, and what came of it so far."""

    request: ApplyRequest
    transaction: Apply
    counts: Counter[str] = field(default_factory=Counter)
    known: int = 0
    dropped: int = 0
    unfound: int = 0
    forgotten: int = 0
    beside: int = 0
    struck: int = 0
    conversations: int = 0
    reclaimed_bytes: int = 0
    reclaimed: list[str] = field(default_factory=list)
    failures: list[HarvestFailure] = field(default_factory=list)
    stopped: str = ""
    domains: FolderDomains = field(init=False)

    def __post_init__(self) -> None:
        self.domains = FolderDomains(self.request.scan.home)

    def forget_proven(self) -> None:
        """Replies of conversations whose items were proven just before a crash are of no use any more."""
        for sha256 in kept_conversations(self._knowledge):
            if self.transaction.ledger.may_reclaim(sha256):
                self._forget(sha256)

    def work(self, on_progress: Progress) -> None:
        """Go through the conversations; ends early where nothing more can be put on disk."""
        listed = self.request.artifacts
        try:
            for number, artifact in enumerate(listed):
                on_progress(number, len(listed), artifact.facts.title or artifact.facts.name)
                self._take(artifact)
            on_progress(len(listed), len(listed), "")
        except (HarvestStoppedError, HarvestCancelledError) as error:
            self.stopped = _reason(error)

    def report(self) -> HarvestReport:
        """End the apply and report its work."""
        home = self.request.scan.home
        try:
            finish_apply(self.transaction, makes_digest=self.request.makes_digest)
        except SlopError as error:
            self.stopped = self.stopped or _reason(error)
        return HarvestReport(
            artifacts=self.request.artifacts,
            is_dry=False,
            reclaimed_bytes=self.reclaimed_bytes,
            reclaimed=tuple(self.reclaimed),
            items=tuple((category.value, self.counts[category.value]) for category in Category),
            known=self.known,
            dropped=self.dropped,
            unfound=self.unfound,
            forgotten=self.forgotten,
            beside=self.beside,
            struck=self.struck,
            held_files=tuple(sorted(self.transaction.held_files)),
            failures=tuple(self.failures),
            digest_path=str(digest_file(home)) if is_digest(digest_file(home)) else "",
            ledger_path=str(self.transaction.ledger.path),
            stopped=self.stopped,
        )

    def _take(self, artifact: Artifact) -> None:
        facts = artifact.facts
        match artifact.kind:
            case ArtifactClass.HARVEST:
                self._harvest(facts)
            case ArtifactClass.PRUNE:
                self._guarded(facts, lambda: self._prune(facts))
            case ArtifactClass.KEEP if facts.id and not facts.problem and not facts.is_empty:
                self._guarded(facts, lambda: self._note_too_large(facts))
            case _:
                pass

    def _harvest(self, scanned: ArtifactFacts) -> None:
        """One conversation: its items, its proof, then the trash. What fails before the proof keeps it."""
        looked: list[tuple[ArtifactFacts, bytes]] = []
        if not self._guarded(scanned, lambda: looked.append(look_again(scanned, self.transaction.ledger))):
            return
        facts, data = looked[0]
        if self.request.scan.classified(facts).kind is not ArtifactClass.HARVEST:
            return  # somebody went on with it since the scan
        if not facts.known_status and not self._prove(facts, data):
            return
        self._forget(facts.sha256)
        if facts.is_ours:
            self._guarded(facts, lambda: self._settle(facts))

    def _settle(self, facts: ArtifactFacts) -> None:
        """Do with a conversation that is proven what the person chose."""
        is_given_up = self.request.items_of is None
        match AfterHarvest.TRASH if is_given_up else fate_of(self.request.after, facts):
            case AfterHarvest.KEEP:
                self.transaction.keep(facts.sha256)
            case AfterHarvest.TRASH | AfterHarvest.TRASH_ALL:
                self._reclaim(facts)
            case AfterHarvest.LEAVE:
                pass

    def _prove(self, facts: ArtifactFacts, data: bytes) -> bool:
        """Have the ledger say that the conversation may go. Returns whether it does."""
        if self.request.items_of is None:
            return self._guarded(facts, lambda: self._record(facts, LedgerStatus.DELETED_UNHARVESTED))
        try:
            found = self.request.items_of(facts, data)
        except HarvestCancelledError:
            raise
        except SlopError as error:
            self._fail(facts, error)
            self._note_failure(facts, error)
            if isinstance(error, HarvestStoppedError):
                raise
            return False
        self._append(facts, found, talk_marks(facts.kind, data))
        return True

    def _append(self, facts: ArtifactFacts, found: Found, talks: tuple[str, ...]) -> None:
        """Write the items. Where knowledge cannot be written, no other conversation's can: the run ends."""
        try:
            entry = replace(self._entry(facts, LedgerStatus.HARVESTED), domains=self.domains.of(facts.folder))
            plan = self.transaction.append(
                found.items, entry, rejected=found.rejected, seen=found.seen, talks=talks
            )
        except SlopError as error:
            self._fail(facts, error)
            self._note_failure(facts, error)
            raise HarvestStoppedError(error.what, remedy=error.remedy, where=error.where) from error
        self.counts.update(plan.counts)
        self.known += len(plan.known)
        self.struck += plan.struck
        self.dropped += found.dropped
        self.unfound += found.unfound
        self.forgotten += found.forgotten
        self.beside += found.beside

    def _note_failure(self, facts: ArtifactFacts, error: SlopError) -> None:
        """Say in the ledger that it failed, where that can be said, unless the proof got there after all."""
        with suppress(SlopError):
            if not self.transaction.ledger.may_reclaim(facts.sha256):
                self._record(facts, LedgerStatus.HARVEST_FAILED, _reason(error))

    def _reclaim(self, facts: ArtifactFacts) -> None:
        self.transaction.reclaim(facts.id, facts.sha256, self.request.scan.now)
        self._count_reclaimed(facts)

    def _prune(self, facts: ArtifactFacts) -> None:
        """Prune what holds no conversation: the ledger names it first; a folder of ours goes to the trash."""
        if facts.id:
            now, _ = look_again(facts, self.transaction.ledger)
            if not now.is_empty:
                return
        path = Path(facts.path).parent if facts.id else Path(facts.path)
        entry = self._entry(facts, LedgerStatus.PRUNED)
        entry = replace(entry, sha256=f"path:{path}", path=str(path), deleted=True)
        if facts.kind is TranscriptKind.TEMPORARY:
            self.transaction.record(entry)
            remove_tree(path, disk=self.request.disk)
        else:
            self.transaction.prune(facts.id, entry, self.request.scan.now)
        self._count_reclaimed(facts)

    def _count_reclaimed(self, facts: ArtifactFacts) -> None:
        self.reclaimed_bytes += facts.size_bytes
        if facts.id:
            self.reclaimed.append(facts.id)

    def _note_too_large(self, facts: ArtifactFacts) -> None:
        source = hash_source(Path(facts.path))
        if self.transaction.ledger.get(source.sha256) is None:
            known = replace(facts, sha256=source.sha256, size_bytes=source.size_bytes)
            self._record(known, LedgerStatus.TOO_LARGE)

    def _record(self, facts: ArtifactFacts, status: LedgerStatus, error: str = "") -> None:
        self.transaction.record(self._entry(facts, status, error))

    def _entry(self, facts: ArtifactFacts, status: LedgerStatus, error: str = "") -> HarvestLedgerEntry:
        self.conversations += (
            1  # of one run each comes after the one before it: time is counted in conversations
        )
        at = timestamp(self.request.scan.now + timedelta(microseconds=self.conversations))
        return HarvestLedgerEntry(
            sha256=facts.sha256,
            path=facts.path,
            status=status,
            at=at,
            size_bytes=facts.size_bytes,
            error=error,
        )

    def _guarded(self, facts: ArtifactFacts, act: Callable[[], None]) -> bool:
        """Do something that may fail for one conversation alone. Returns whether it went through."""
        try:
            act()
        except SlopError as error:
            self._fail(facts, error)
            return False
        return True

    def _fail(self, facts: ArtifactFacts, error: SlopError) -> None:
        self.failures.append(
            HarvestFailure(name=facts.name, path=facts.path, sha256=facts.sha256, reason=_reason(error))
        )

    def _forget(self, sha256: str) -> None:
        KeptReplies(self._knowledge, sha256, disk=self.request.disk).drop_all()

    @property
    def _knowledge(self) -> Path:
        return paths.knowledge_dir(self.request.scan.home)


def _reason(error: SlopError) -> str:
    """Reason of a failure and its place, without the remedy, on one line."""
    return scrubbed_line(error.what, 300)


# Parts of a run of the harvest, from its settings: one place for the window and the command line.


def scan_request(home: Path, run: HarvestRun, now: datetime) -> ScanRequest:
    """Request for the look at the disk.

    Args:
        now: UTC.
    """
    return ScanRequest(
        home=home,
        now=now,
        sources=tuple(Path(name).expanduser().absolute() for name in run.settings.harvest_sources),
        open_ids=run.open_ids,
        live_for=timedelta(days=run.settings.live_days),
        max_bytes=run.settings.max_source_bytes,
    )


def distiller(
    home: Path,
    run: HarvestRun,
    generate: Generate,
    profile: ModelProfile,
    read: ReadMessages = unread_messages,
) -> Distiller:
    """Distiller that asks the model of a run.

    Args:
        profile: what is known of that model; read: gives what is to be distilled of a conversation.
    """
    return Distiller(
        generate=generate,
        provider=run.provider,
        model=run.model,
        template=run.template.strip(),
        piece_bytes=piece_bytes_for(profile),
        knowledge=paths.knowledge_dir(home),
        read=read,
        root=run.project_root,
        allowed_roots=run.allowed_roots,
    )


# The money of one harvest: what the call under way is expected to cost, whether it may, and what calls came
# to.


class RunPurse:
    """A `Purse`. No call begins that was not let go; the one that reaches a limit is still read.

    Args:
        payments: adds up what the run's calls cost.
        let_go: told what a call is expected to cost in US dollars, before it is made; gives the reason why it is not
            to be made, empty where it is. May wait.
        on_paid: told what it came to.
    """

    def __init__(
        self,
        payments: Payments,
        let_go: Callable[[float], str],
        *,
        on_paid: Callable[[HarvestUse], object] = lambda _use: None,
    ) -> None:
        self._payments = payments
        self._let_go, self._on_paid = let_go, on_paid

    def begin(self, provider: str, model: str, prompt: str) -> None:
        """As `Purse.begin`."""
        expected = Usage(input_tokens=_tokens(prompt), output_tokens=OUTPUT_TOKENS_EST)
        if why := self._let_go(self._payments.price(provider, model, expected) or 0.0):
            raise NoMoneyError(why)

    def spent(self, provider: str, model: str, prompt: str, spent: CallSpent) -> None:
        """As `Purse.spent`. A call that a provider may not bill does not count."""

        def price(used: Usage) -> float | None:
            return self._payments.price(provider, model, used)

        sent, usage = Usage(input_tokens=_tokens(prompt)), spent.reported
        if spent.is_billed:
            length = sum(map(_tokens, spent.texts))
            usage = booked(usage, sent, length, price, is_whole=spent.is_whole)
        usage = with_lost(usage, sent, spent.lost, price)
        is_call = spent.is_billed or spent.lost > 0
        self._on_paid(self._payments(provider, model, usage) if is_call else HarvestUse())


def _tokens(text: str) -> int:
    return estimate_tokens(size_bytes(text))
