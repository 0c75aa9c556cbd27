"""The harvest as values: found conversations, their classes, a model's proposals, and a person's choices."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from core.kernel.values.facts import Quote
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import (
    Category,
    DraftReport,
    HarvestLedgerEntry,
    MergeProposal,
    MergeReport,
    RemovalQuestion,
    Replacement,
)
from core.kernel.values.usage import OfferedCommand, Usage, add_usage

# Harvests that a provider's batch service works off, as values.


class BatchState(StrEnum):
    """State of a batch. The first three are open: they hold money back, and their conversations wait."""

    INTENDED = "intended"
    SUBMITTED = "submitted"
    ENDED = "ended"
    COLLECTED = "collected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    VANISHED = "vanished"


class BatchItem(msgspec.Struct, frozen=True):
    """One request of a batch. No word of the conversation is kept with it.

    Args:
        custom_id: its name at the provider; sha256, path: of the conversation as it was when it was sent.
        key: of the reply among the kept ones; has_schema: the request held the reply's schema.
        input_tokens_est: of the prompt; told: short names of the known items that it tells.
    """

    custom_id: str
    sha256: str
    path: str
    key: str
    has_schema: bool = True
    input_tokens_est: int = 0
    told: tuple[str, ...] = ()


class BatchFault(msgspec.Struct, frozen=True):
    """A request that the provider answered with an error. `is_refused`: the request itself was found wrong."""

    key: str
    reason: str
    is_refused: bool = False


class BatchProgress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Progress of a batch: how far it is now, or after a change.

    Args:
        name: the provider's, empty until it is known.
        is_cancelling: the provider was asked to stop it; reason: why it ended otherwise than well.
        is_unwanted: it is to be stopped: a person said so, or forgot a conversation of it.
        answered: replies that were kept; forgotten: replies of conversations that changed or are gone.
        is_cleaned: nothing of it is left at the provider.
        asked_at: when the provider was last asked about it, ISO 8601 UTC, empty before; worked_off: requests that it was
            done with then, as it says.
        taken: numbers of the items whose answers were read and booked, refusals too; paid_usd: what those cost.
        short_looks: how often its results were read and some of what the provider counts was missing.
    """

    state: BatchState = BatchState.INTENDED
    name: str = ""
    is_cancelling: bool = False
    is_unwanted: bool = False
    reason: str = ""
    answered: int = 0
    forgotten: int = 0
    faults: tuple[BatchFault, ...] = ()
    is_cleaned: bool = False
    asked_at: str = ""
    worked_off: int = 0
    taken: tuple[int, ...] = ()
    paid_usd: float = 0.0
    short_looks: int = 0


class HarvestBatch(BatchProgress, frozen=True):
    """A batch as its file tells of it.

    Args:
        tag: ours, sent along with it.
        at: when it was intended, ISO 8601 UTC; estimate_usd: expected cost, None where the price is unknown.
    """

    tag: str
    provider: str
    model: str
    at: str
    items: tuple[BatchItem, ...]
    estimate_usd: float | None = None

    @property
    def is_open(self) -> bool:
        """True until its result is known."""
        return self.state in {BatchState.INTENDED, BatchState.SUBMITTED, BatchState.ENDED}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Paths of the conversations that lack a reply, each once, in their order."""
        taken, failed = set(self.taken), {fault.key for fault in self.faults}
        lacking = (one for n, one in enumerate(self.items) if n not in taken or one.key in failed)
        return tuple(dict.fromkeys(item.path for item in lacking))


class BatchReport(msgspec.Struct, frozen=True):
    """Report of a look after the batches.

    Args:
        batches: the open ones, and those that this run closed; submitted: requests that were sent in this run.
        problems: sentences; stopped: why no more was submitted, empty where nothing stood against it.
        said: sentences about what ended as it should.
    """

    batches: tuple[HarvestBatch, ...] = ()
    submitted: int = 0
    problems: tuple[str, ...] = ()
    stopped: str = ""
    said: tuple[str, ...] = ()


class ArtifactClass(StrEnum):
    """Fate in a harvest: the first that matches, in this order."""

    LIVE = "live"
    USER_KEPT = "user-kept"
    PRUNE = "prune"
    KEEP = "keep"
    HARVEST = "harvest"


class ArtifactFacts(msgspec.Struct, frozen=True):
    """Facts of one conversation from a look at the disk.

    Args:
        id: of the discussion, empty for what is no discussion of this home; path: of the conversation's file.
        name: as provenance names it (`2026-11-20-tides`); title: as the person sees it.
        size_bytes: of the file; sha256: of its raw bytes (hex), empty where it was not read.
        updated_at: the newest of its file times, UTC; is_empty: nothing was said in it.
        is_open: in the window, or a reply is arriving; is_pinned: by the person; has_draft: unsent words.
        is_restored: the person took it back out of the trash after its harvest.
        is_kept: the person keeps it after its harvest.
        known_status: what the ledger says of the content, empty for nothing that counts.
        new_bytes: what a harvest would read: less than `size_bytes` where its head was harvested before.
        sent_share: of these, the part that a model is sent, estimated; the rest is the file's own form.
        problem: why it cannot be read, empty when all is well.
        folder: root of the project that a discussion of ours was begun in, empty where nobody noted it.
        origin: of a discussion that an import made and nobody went on with, in a sentence.
    """

    id: str
    path: str
    name: str
    kind: TranscriptKind
    size_bytes: int
    updated_at: datetime
    title: str = ""
    sha256: str = ""
    is_empty: bool = False
    is_open: bool = False
    is_pinned: bool = False
    has_draft: bool = False
    is_restored: bool = False
    is_kept: bool = False
    known_status: str = ""
    new_bytes: int = 0
    sent_share: float = 1.0
    problem: str = ""
    folder: str = ""
    origin: str = ""

    @property
    def sent_bytes(self) -> int:
        """Bytes of the words that a model would be sent, estimated."""
        return round(self.new_bytes * self.sent_share)

    @property
    def is_ours(self) -> bool:
        """True if the conversation is in this home, so that the program may move it to the trash."""
        return bool(self.id) or self.kind is TranscriptKind.TEMPORARY


class Artifact(msgspec.Struct, frozen=True):
    """A conversation with its class. `why`: a short phrase, as the report says it."""

    facts: ArtifactFacts
    kind: ArtifactClass
    why: str = ""


class HarvestEstimate(msgspec.Struct, frozen=True):
    """Estimate of a harvest.

    Args:
        new_bytes: what a model would read; calls: in how many requests, each of at most `piece_bytes`.
        cost_usd: None where the price is unknown.
    """

    candidate_bytes: int = 0
    prune_bytes: int = 0
    new_bytes: int = 0
    input_tokens_est: int = 0
    output_tokens_est: int = 0
    cost_usd: float | None = None
    calls: int = 0
    piece_bytes: int = 0

    def calls_for(self, new_bytes: int) -> int:
        """Requests that a conversation takes. `new_bytes`: of it, >= 0."""
        return -(-new_bytes // self.piece_bytes) if self.piece_bytes else 0


class HarvestItem(msgspec.Struct, frozen=True):
    """One thing that a model found worth keeping, cleaned and without secrets.

    Args:
        head: the statement; a playbook's name; a file note's absolute path.
        body: the detail, may be empty; a playbook's steps; the note.
        kind: of a fact that a model calls `pitfall` or `tool-quirk`, else empty.
        quote: what it stands on: as the model named it, and from the preview on as it was found.
        replaces: short id of the known item that it replaces, as the model was shown it; reason: why, in a sentence.
        is_outside: of a note on a file that no folder of the conversation or project holds: it is bound to no file.
    """

    category: Category
    head: str
    body: str = ""
    quote: Quote = Quote()
    replaces: str = ""
    reason: str = ""
    kind: str = ""
    is_outside: bool = False


class ProposedItem(msgspec.Struct, frozen=True):
    """An item of the preview.

    Args:
        id: unique in the preview; source: of the conversation in provenance; artifact_path: where it lies.
        near: lines already known that say nearly the same; is_known: exactly this is known, it is not written again.
        near_here: items of the same preview that do; is_repeated: what is known exactly is such an item, not yet written.
        is_ticked: whether the person wants it; is_edited: the person changed its words.
        was_ticked: whether what is new was ticked beforehand when it was proposed; what is known never is.
        proposed: what stood there before the person changed it, None where nothing was.
        replaces: the known item that it contradicts or replaces; is_replacing: whether the person wants that.
        deleted_on: the day, `YYYY-MM-DD`, on which the person deleted what says this; empty where they did not.
    """

    id: str
    item: HarvestItem
    source: str
    artifact_path: str
    sha256: str
    near: tuple[str, ...] = ()
    is_known: bool = False
    is_ticked: bool = True
    is_edited: bool = False
    proposed: HarvestItem | None = None
    was_ticked: bool = True
    replaces: Replacement | None = None
    is_replacing: bool = True
    near_here: tuple[str, ...] = ()
    is_repeated: bool = False
    deleted_on: str = ""

    @property
    def is_tick_changed(self) -> bool:
        """True if the person has ticked or unticked it."""
        return self.is_ticked != (self.was_ticked and not self.is_known)


class ReviewChoice(msgspec.Struct, frozen=True):
    """Choice of a person on one proposed item. None: as it was proposed."""

    is_ticked: bool | None = None
    item: HarvestItem | None = None
    is_replacing: bool | None = None


Review = Mapping[str, ReviewChoice]
"""Review of previews by the item's id and a mark of what was proposed (`harvest_review.choice_key`)."""


class HarvestFailure(msgspec.Struct, frozen=True):
    """A conversation that could not be harvested, and is kept."""

    name: str
    path: str
    sha256: str
    reason: str


class HarvestPreview(msgspec.Struct, frozen=True):
    """Preview of a harvest, for a person to edit and untick. Nothing of it is in the knowledge yet.

    Args:
        sources: the conversations that were read, also those in which nothing was found.
        dropped: malformed rows of the model's replies; calls: replies that were paid for in this run.
        unfound: quotes that stand nowhere in what the model was shown, and were left out; forgotten: items that a
            person forgot, and that are not shown again.
    """

    sources: tuple[ArtifactFacts, ...] = ()
    items: tuple[ProposedItem, ...] = ()
    failures: tuple[HarvestFailure, ...] = ()
    dropped: int = 0
    calls: int = 0
    unfound: int = 0
    forgotten: int = 0


class HarvestReport(msgspec.Struct, frozen=True):
    """Report of a run: its finds and its work.

    Args:
        artifacts: every conversation with its class; is_dry: nothing was changed.
        items: written, by category; known: not written because exactly that was known already.
        dropped: malformed rows; unfound: quotes that stand nowhere in what the model was shown; forgotten: items that a
            person forgot, left out; beside: items that stand beside the known ones that they contradict, unasked.
        held_files: of structured facts, that could not be read: the facts of these items wait for that.
        struck: known items that were struck through, for new ones replace them.
        reclaimed_bytes: moved to the trash; reclaimed: ids of the discussions among it.
        failures: kept, with the reason.
        digest_path, ledger_path: empty in a dry run, the digest's where there is none; stopped: why the run ended early, empty where it did not.
    """

    artifacts: tuple[Artifact, ...] = ()
    estimate: HarvestEstimate = msgspec.field(default_factory=HarvestEstimate)
    is_dry: bool = True
    reclaimed_bytes: int = 0
    items: tuple[tuple[str, int], ...] = ()
    known: int = 0
    dropped: int = 0
    failures: tuple[HarvestFailure, ...] = ()
    digest_path: str = ""
    ledger_path: str = ""
    stopped: str = ""
    reclaimed: tuple[str, ...] = ()
    unfound: int = 0
    forgotten: int = 0
    beside: int = 0
    held_files: tuple[str, ...] = ()
    struck: int = 0

    @property
    def is_failed(self) -> bool:
        """True if anything failed: then the exit code is 1."""
        return bool(self.failures or self.stopped)


class UndoReport(msgspec.Struct, frozen=True):
    """Report of an undo.

    Args:
        removed: how many lines were taken out; left: `file: line` of those that a person changed since.
        restored: ids of discussions that are back; problems: what could not be taken back, in sentences.
    """

    apply_id: str
    removed: int
    left: tuple[str, ...]
    restored: tuple[str, ...]
    problems: tuple[str, ...] = ()


class ApplyKind(StrEnum):
    """Kind of work of an apply."""

    HARVEST = "harvest"
    MERGE = "merge"
    DRAFT = "draft"


class ApplySummary(msgspec.Struct, frozen=True):
    """One apply, for a list to undo from.

    Args:
        id: sorts by time; undone_at: ISO 8601 UTC, empty while it stands.
        conversations: how many were harvested; items: lines written; reclaimed: conversations moved to the trash.
        kind: of work that it was; sources: paths of those conversations, or names of the files that were merged or that
            a draft was made of; forgotten: conversations that were forgotten since, of which no path is left.
    """

    id: str
    at: str
    undone_at: str = ""
    conversations: int = 0
    items: int = 0
    reclaimed: int = 0
    kind: ApplyKind = ApplyKind.HARVEST
    sources: tuple[str, ...] = ()
    forgotten: int = 0


class HarvestUse(msgspec.Struct, frozen=True):
    """Usage of a harvest's model calls. `cost_usd` None: the price is unknown; `payment_id`: of one call."""

    calls: int = 0
    usage: Usage = msgspec.field(default_factory=Usage)
    cost_usd: float | None = None
    payment_id: str = ""

    def __add__(self, other: HarvestUse) -> HarvestUse:
        """Both together; a price that is unknown in one is unknown in the sum."""
        costs = [one.cost_usd for one in (self, other) if one.calls]
        known = [cost for cost in costs if cost is not None]
        total = sum(known) if costs and len(known) == len(costs) else None
        return HarvestUse(
            calls=self.calls + other.calls, usage=add_usage(self.usage, other.usage), cost_usd=total
        )


class HarvestLook(msgspec.Struct, frozen=True):
    """Look at the disk: the dry run, the ledger, and the applies so far, newest first.

    Args:
        sources: id of the discussion that an item came from, by the source's name in provenance.
        review: what the disk keeps of reviews that were begun; kept: hashes of the conversations that cost nothing to
            preview, because every reply is kept; batches: the open ones.
    """

    artifacts: tuple[Artifact, ...] = ()
    estimate: HarvestEstimate = msgspec.field(default_factory=HarvestEstimate)
    ledger: tuple[HarvestLedgerEntry, ...] = ()
    applies: tuple[ApplySummary, ...] = ()
    sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    review: Review = msgspec.field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    batches: tuple[HarvestBatch, ...] = ()


class HarvestPhase(StrEnum):
    """Phase of the harvest worker."""

    IDLE = "idle"
    LOOKING = "looking"
    PREVIEWING = "previewing"
    APPLYING = "applying"
    UNDOING = "undoing"
    BATCHING = "batching"
    MERGING = "merging"


class HarvestState(msgspec.Struct, frozen=True):
    """The harvest as a front end may read it.

    Args:
        done, total: conversations of the phase; doing: the name of the one in work.
        looked_at: when `look` was made, None before; provider, model: which reads, and whose prices the estimate has.
        preview: what was proposed, as the person left it; None before and after.
        review: what the person made of earlier previews and did not apply or discard.
        report: of the last apply; undone: of the last undo; batched: of the last look after the batches; problem: why the last run ended early, empty where not;
            remedy: what to do about it, may be empty.
        use: what this program's harvests used, of all runs; run_use: of the last preview or proposed merge alone.
        command_id: of the command that began the run under way, empty where nobody waits for it.
        is_automatic: the apply under way is nobody's wish but the mode's; `preview` is what waits for the person.
        question: before the last command, which would take out much; it was not carried out.
        merge: the merge that was proposed, as the person left it; merged: of the last one that was written; drafted: the
            last draft of a playbook.
        batch: the last submission of batches, as it goes with the person's yes; is_past_limit: it waits for that, for a
            batch would go past the day's limit.
        is_quiet: the run under way is the program's own look after open batches; held: a command that waits for its end.
        is_unasked: `batched` is of the program's own looks.
        batches_asked_at: when this program last looked after open batches, None before.
        is_over_limit: the person said yes to the run under way past the day's limit.
        is_dream: the last preview was an autonomous discussion's: nothing of it is written without the person.
    """

    phase: HarvestPhase = HarvestPhase.IDLE
    command_id: str = ""
    done: int = 0
    total: int = 0
    doing: str = ""
    is_cancelling: bool = False
    provider: str = ""
    model: str = ""
    looked_at: datetime | None = None
    look: HarvestLook = msgspec.field(default_factory=HarvestLook)
    preview: HarvestPreview | None = None
    review: Review = msgspec.field(default_factory=dict)
    report: HarvestReport | None = None
    undone: UndoReport | None = None
    batched: BatchReport | None = None
    problem: str = ""
    remedy: str = ""
    use: HarvestUse = msgspec.field(default_factory=HarvestUse)
    is_automatic: bool = False
    question: RemovalQuestion | None = None
    merge: MergeProposal | None = None
    merged: MergeReport | None = None
    drafted: DraftReport | None = None
    batch: OfferedCommand | None = None
    is_past_limit: bool = False
    is_quiet: bool = False
    held: Any = None
    is_unasked: bool = False
    batches_asked_at: datetime | None = None
    run_use: HarvestUse = msgspec.field(default_factory=HarvestUse)
    is_over_limit: bool = False
    is_dream: bool = False

    @property
    def is_busy(self) -> bool:
        """True if a run is under way that keeps others out. Of the program's own look after batches nobody need know:
        what is asked for meanwhile is begun after it.
        """
        return self.is_working and not (self.is_quiet and self.held is None)

    @property
    def is_working(self) -> bool:
        """True if the worker has a run, also one that nobody asked for."""
        return self.phase is not HarvestPhase.IDLE
