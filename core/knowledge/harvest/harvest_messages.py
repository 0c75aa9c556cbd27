"""Messages of the harvest: commands, runs as effects, and their events."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.kernel.values.harvest import (
    Artifact,
    BatchReport,
    HarvestBatch,
    HarvestLook,
    HarvestPreview,
    HarvestReport,
    HarvestUse,
    Review,
    UndoReport,
)
from core.kernel.values.knowledge import (
    Category,
    DraftKind,
    DraftReport,
    Item,
    MergeProposal,
    MergeReport,
    RemovalQuestion,
)
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import AfterHarvest, KnowledgeSettings
from core.kernel.values.updates import FILLED
from core.kernel.values.usage import OfferedCommand

NOTICE = "harvest"
"""Id of the notice of the harvest."""


class LookForHarvest(msgspec.Struct, frozen=True):
    """Look at the conversations, the ledger and the applies; changes nothing on disk.

    Of this and the other commands that begin a run the outcome comes when the run has ended, or was not begun.
    """

    command_id: str = ""


class PreviewHarvest(OfferedCommand, frozen=True):
    """Have the model read conversations and propose items. `paths`: of artifacts, empty for all candidates.

    `is_dream`: an autonomous discussion asks; nothing of it is written without the person, in any mode. `over_limit`: the
    person's yes to a run past the day's limit, or one that this cannot hold.
    """

    paths: tuple[str, ...] = ()
    command_id: str = ""
    is_dream: bool = False
    over_limit: bool = False


class TickHarvestItems(msgspec.Struct, frozen=True):
    """Take proposed items into the choice, or out of it."""

    item_ids: tuple[str, ...]
    is_ticked: bool


class EditHarvestItem(msgspec.Struct, frozen=True):
    """Give a proposed item other words. `head`, `body`: as in `HarvestItem`."""

    item_id: str
    head: str
    body: str = ""


class ReplaceKnownItem(msgspec.Struct, frozen=True):
    """Let a proposed item replace the known item that it contradicts, or keep both."""

    item_id: str
    is_replacing: bool


class MoveHarvestItem(msgspec.Struct, frozen=True):
    """Give a proposed item another category."""

    item_id: str
    category: Category


class DiscardPreview(msgspec.Struct, frozen=True):
    """Forget what was proposed. The paid replies stay on disk: another preview costs nothing anew."""


class ApplyHarvest(msgspec.Struct, frozen=True):
    """Write what is ticked, prove it, reclaim the previewed conversations and prune the empty ones.

    `paths`: without a preview, the candidates that are to be reclaimed unharvested; empty otherwise. `is_agreed`: as in
    `UndoHarvest`, of known items that are struck through. `after`: an `AfterHarvest`, empty: as the settings say.
    """

    paths: tuple[str, ...] = ()
    is_agreed: bool = False
    after: str = ""
    command_id: str = ""


class CancelHarvest(msgspec.Struct, frozen=True):
    """Stop the harvest after what is being written. `why`: empty where the person asked for it."""

    why: Annotated[str, FILLED] = ""


class UndoHarvest(OfferedCommand, frozen=True):
    """Take an apply back. `apply_id`: empty for the newest that is not undone.

    `is_agreed`: the person has seen what goes where that is much of a category; without it they are asked.
    """

    apply_id: str = ""
    is_agreed: bool = False
    command_id: str = ""


class LeaveRemoval(msgspec.Struct, frozen=True):
    """Leave what would have been taken out: the question is answered with a no."""


class ProposeMerge(OfferedCommand, frozen=True):
    """Have the model propose a shorter file of a category. Nothing is written. `over_limit`: as of `PreviewHarvest`."""

    category: Category
    command_id: str = ""
    over_limit: bool = False


class TickMergeGroups(msgspec.Struct, frozen=True):
    """Take proposed merges into the choice, or out of it."""

    group_ids: tuple[str, ...]
    is_ticked: bool


class EditMergeGroup(msgspec.Struct, frozen=True):
    """Give a merged item other words. `text`: one line, of a playbook with its name."""

    group_id: str
    text: str


class DiscardMerge(msgspec.Struct, frozen=True):
    """Forget what was proposed: every item stays as it is."""


class ApplyMerge(msgspec.Struct, frozen=True):
    """Write the ticked merges; the file as it was is kept. `is_agreed`: as in `UndoHarvest`."""

    is_agreed: bool = False
    command_id: str = ""


class GraduatePlaybook(msgspec.Struct, frozen=True):
    """Make a draft of a playbook, which nothing reads or runs until the person renames it."""

    item: Item
    kind: DraftKind = DraftKind.PROMPT
    command_id: str = ""


class BatchHarvest(OfferedCommand, frozen=True):
    """Collect the batches that have ended, and submit what has no reply yet as new ones.

    Args:
        paths: of artifacts, empty for all candidates; submits: False to collect alone.
        over_limit: the person's yes to a batch that goes past the day's limit.
        previews: what is answered by then is previewed at once, which costs nothing further.
    """

    paths: tuple[str, ...] = ()
    submits: bool = True
    over_limit: bool = False
    previews: bool = False
    command_id: str = ""


class CancelBatches(msgspec.Struct, frozen=True):
    """Stop open batches. What is answered by now is kept and billed, and nothing stays at the provider.

    Args:
        tags: of batches, empty for all that are open.
    """

    tags: tuple[str, ...] = ()
    command_id: str = ""


class LeaveBatch(msgspec.Struct, frozen=True):
    """Leave unsent what would go past the day's limit: the question is answered with a no."""


class WriteReview(msgspec.Struct, frozen=True):
    """Keep what the person made of previews: `review` of earlier ones, and of the one that is shown, if any.

    A later one replaces those that still wait. Nothing to keep: no file is left.
    """

    review: Review
    preview: HarvestPreview | None = None


HARVEST_PROMPT = "harvest-conversation.md"
"""Name of the prompt that tells the model how to read a conversation."""

MERGE_PROMPT = "merge-knowledge.md"
"""Name of the prompt that tells the model how to merge."""


class FindBatches(msgspec.Struct, frozen=True):
    """Look which batches are open, as the disk tells; report `BatchesFound`. Asks no provider."""


class BatchesFound(msgspec.Struct, frozen=True):
    """The open batches, at the start."""

    batches: tuple[HarvestBatch, ...]


# harvest worker: one thread; each reports `HarvestProgressed` on its way and ends with one event of its own
class HarvestRun(msgspec.Struct, frozen=True):
    """Settings of every run of the harvest.

    Args:
        open_ids: discussions that are open or answering; provider, model: which reads; profile: what is known of it.
        template: the text of `HARVEST_PROMPT` that counts: what the model is told to do.
        project_root: the opened project's root, below which relative paths are looked for; empty for none.
        allowed_roots: further folders whose files notes may be about.
    """

    settings: KnowledgeSettings
    open_ids: frozenset[str]
    provider: str
    model: str
    profile: ModelProfile
    template: str = ""
    project_root: str = ""
    allowed_roots: tuple[str, ...] = ()


class ScanConversations(msgspec.Struct, frozen=True):
    """Look at every conversation, the ledger and the applies; report `HarvestLooked`."""

    run: HarvestRun


class DistilConversations(msgspec.Struct, frozen=True):
    """Ask the model about these; report `HarvestProposed` for each, then `HarvestEnded`."""

    run: HarvestRun
    artifacts: tuple[Artifact, ...]


class ApplyPreview(msgspec.Struct, frozen=True):
    """Append, prove, reclaim; report `HarvestReported`.

    `preview` None: reclaim without harvesting. `makes_digest`: the person started it, so that it turns memory on.
    """

    run: HarvestRun
    artifacts: tuple[Artifact, ...]
    preview: HarvestPreview | None
    makes_digest: bool = True
    after: AfterHarvest = AfterHarvest.TRASH


class UndoApply(msgspec.Struct, frozen=True):
    """Take an apply back; report `HarvestReported`."""

    run: HarvestRun
    apply_id: str = ""
    is_agreed: bool = False


class RunBatches(msgspec.Struct, frozen=True):
    """Collect, then submit what these lack; report `HarvestReported`. `artifacts`: none to collect alone.

    `over_limit`: no batch waits for the word to go; `previews`: is told again at the end; `is_quiet`: nobody asked for it,
    and nothing is looked at besides unless a batch has closed.
    """

    run: HarvestRun
    artifacts: tuple[Artifact, ...]
    over_limit: bool = False
    previews: bool = False
    is_quiet: bool = False


class AskForMerge(msgspec.Struct, frozen=True):
    """Ask the model which items of a category one may take the place of; report `HarvestReported`. `template`: what it is told."""

    run: HarvestRun
    category: Category
    template: str


class WriteMerge(msgspec.Struct, frozen=True):
    """Write the ticked groups; report `HarvestReported`."""

    run: HarvestRun
    proposal: MergeProposal
    is_agreed: bool = False


class WritePlaybookDraft(msgspec.Struct, frozen=True):
    """Write a draft of a playbook; report `HarvestReported`."""

    run: HarvestRun
    item: Item
    kind: DraftKind


class WithdrawBatches(msgspec.Struct, frozen=True):
    """Stop open batches; report `HarvestReported`. `tags`: empty for all."""

    run: HarvestRun
    tags: tuple[str, ...] = ()


class LetHarvestCall(msgspec.Struct, frozen=True):
    """There is money for the call that the run under way waits with."""


class HarvestProgressed(msgspec.Struct, frozen=True):
    """The run under way got on. `doing`: the conversation in work, empty between two."""

    done: int
    total: int
    doing: str = ""


class HarvestLooked(msgspec.Struct, frozen=True):
    """A look at the disk is done."""

    look: HarvestLook


class HarvestProposed(msgspec.Struct, frozen=True):
    """Proposals from one conversation, or why it could not be read: to be added to the preview."""

    part: HarvestPreview


class HarvestCalling(msgspec.Struct, frozen=True):
    """A model is to be asked, and the run waits for the word to. `cost_usd`: expected, 0 where it is not known."""

    cost_usd: float


class HarvestPaid(msgspec.Struct, frozen=True):
    """A call of the run is over, with what it used; nothing where it is not billed."""

    use: HarvestUse


class HarvestEnded(msgspec.Struct, frozen=True):
    """A preview ended. `problem`: why early, empty where it did not."""

    problem: str = ""


class HarvestReported(msgspec.Struct, frozen=True):
    """A run is over that changed files, or may change them once the person says so.

    Args:
        result: report of an apply, of batches, of an undo, of a merge or of a draft; a proposed merge; or the question that an
            undo must ask first: nothing was taken back.
        look: what is on disk now, None where that could not be looked at, or need not be.
        previews: of batches: the person wants to see what is answered.
    """

    result: (
        HarvestReport | BatchReport | UndoReport | MergeReport | DraftReport | MergeProposal | RemovalQuestion
    )
    look: HarvestLook | None = None
    previews: bool = False


class HarvestFailed(msgspec.Struct, frozen=True):
    """A run could not begin or go on: nothing more of it happens. `text`: what failed; `detail`: the remedy."""

    text: str
    detail: str = ""


RunCommand = (
    LookForHarvest
    | PreviewHarvest
    | ApplyHarvest
    | UndoHarvest
    | BatchHarvest
    | CancelBatches
    | ProposeMerge
    | ApplyMerge
    | GraduatePlaybook
)
"""Each begins a run, and its outcome comes with the run's end."""

ReviewCommand = TickHarvestItems | EditHarvestItem | MoveHarvestItem | ReplaceKnownItem | DiscardPreview
"""Each is a person's choice in a preview."""

MergeCommand = TickMergeGroups | EditMergeGroup | DiscardMerge
"""Each is a person's choice in a proposed merge."""

HarvestCommand = RunCommand | CancelHarvest | LeaveRemoval | LeaveBatch | ReviewCommand | MergeCommand
"""Commands that a front end may give this room."""

HarvestEvent = (
    HarvestProgressed
    | HarvestLooked
    | HarvestProposed
    | HarvestCalling
    | HarvestPaid
    | HarvestEnded
    | HarvestReported
    | BatchesFound
    | HarvestFailed
)
"""Events of this room."""

RunEffect = (
    ScanConversations
    | DistilConversations
    | ApplyPreview
    | UndoApply
    | RunBatches
    | FindBatches
    | WithdrawBatches
    | AskForMerge
    | WriteMerge
    | WritePlaybookDraft
)
"""The harvest worker's: one run at a time, on one thread."""

HarvestEffect = RunEffect | CancelHarvest | LetHarvestCall | WriteReview
"""`CancelHarvest` and `LetHarvestCall` reach a run from outside its thread; `WriteReview` is the disk worker's."""
