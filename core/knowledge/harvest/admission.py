"""Beginnings of the harvest's runs: which conversations each takes, and what keeps it from being begun."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from core.kernel.frame import size_bytes
from core.kernel.language import tr
from core.kernel.tokens import estimate_tokens
from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    HarvestPhase,
    HarvestPreview,
    HarvestState,
    HarvestUse,
)
from core.kernel.values.knowledge import Category, Item, MergeProposal, RemovalQuestion
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState, Cause, CommandOutcome, Level
from core.kernel.values.updates import Result, conclude, notify
from core.kernel.values.usage import Usage
from core.knowledge.harvest.batch_step import is_due, waiting
from core.knowledge.harvest.harvest_messages import (
    HARVEST_PROMPT,
    MERGE_PROMPT,
    NOTICE,
    ApplyHarvest,
    ApplyMerge,
    ApplyPreview,
    AskForMerge,
    BatchHarvest,
    CancelBatches,
    DiscardMerge,
    DistilConversations,
    EditMergeGroup,
    GraduatePlaybook,
    HarvestRun,
    LookForHarvest,
    MergeCommand,
    PreviewHarvest,
    ProposeMerge,
    RunBatches,
    RunCommand,
    ScanConversations,
    TickMergeGroups,
    UndoApply,
    UndoHarvest,
    WithdrawBatches,
    WriteMerge,
    WritePlaybookDraft,
)
from core.knowledge.harvest.modes import (
    OUTPUT_TOKENS_EST,
    PROMPT_BYTES,
    RECALL_ONLY,
    RECALL_REMEDY,
    automatic_part,
    harvest_reader,
    is_recall_only,
    piece_bytes_for,
)
from core.knowledge.harvest.preview import folded
from core.knowledge.merges import NO_PLAYBOOK, NOTHING, lost_words, may_merge
from core.knowledge.parts import REMEDY, removal_sentence
from core.services.settings.settings_rules import profile_of
from core.services.spending.limits import limit_reached
from core.services.spending.pricing import cost

IN_BATCHES = tr("These conversations are in a batch at the provider. Reading them now costs you twice.")
IN_BATCHES_REMEDY = tr("Collect the batch, or cancel it first.")


def run(state: AppState, command: RunCommand) -> Result:
    """Begin a run. While one is under way, another is not begun."""
    if is_recall_only(state.config.settings.knowledge) and _writes(state, command):
        return _declined(state, command, Cause.NOT_NOW, RECALL_ONLY, RECALL_REMEDY), ()
    if state.harvest.is_working and not state.harvest.is_busy:
        return replace(state, harvest=replace(state.harvest, held=command, command_id=command.command_id)), ()
    if state.harvest.is_busy:
        text = tr("A harvest is still running ({phase}). Wait until it ends.", phase=state.harvest.phase)
        return _declined(state, command, Cause.NOT_NOW, text), ()
    match command:
        case LookForHarvest():
            return _begin(state, command, HarvestPhase.LOOKING, ScanConversations(_harvest_run(state)))
        case PreviewHarvest():
            return _preview(state, command)
        case ApplyHarvest():
            return _apply(state, command)
        case UndoHarvest():
            undo = UndoApply(run=_harvest_run(state), apply_id=command.apply_id, is_agreed=command.is_agreed)
            return _begin(state, command, HarvestPhase.UNDOING, undo)
        case BatchHarvest():
            return _batch(state, command)
        case ProposeMerge() | ApplyMerge() | GraduatePlaybook():
            return _rewrite(state, command)
        case CancelBatches():
            return _cancel_batches(state, command)


def _rewrite(state: AppState, command: MergeRun) -> Result:
    try:
        phase, effect = begin(state, command, _harvest_run(state))
    except Declined as no:
        if no.is_past_limit and isinstance(command, ProposeMerge):
            return _asked_past_limit(state, command, no.text, no.remedy), ()
        if no.question is None:
            return _declined(state, command, no.cause, no.text, no.remedy), ()
        return _asking(state, command, no.question)
    harvest = replace(state.harvest, merged=None, drafted=None)
    if phase is HarvestPhase.MERGING:
        harvest = replace(harvest, merge=None, undone=None, run_use=HarvestUse())
    state = replace(state, harvest=harvest)
    return _begin(state, command, phase, effect)


def _asking(state: AppState, command: RunCommand, question: RemovalQuestion) -> Result:
    """Nothing is begun before the person has seen what goes."""
    told = CommandOutcome(
        command_id=command.command_id, problem=question.sentence, remedy=REMEDY, cause=Cause.NEEDS_YES
    )
    return replace(conclude(state, told), harvest=replace(state.harvest, question=question)), ()


def _writes(state: AppState, command: RunCommand) -> bool:
    """True if a command reads a conversation for knowledge, or writes what was found. Reclaiming unread is neither."""
    has_found = state.harvest.preview is not None and bool(state.harvest.preview.sources)
    reads = isinstance(command, PreviewHarvest | ProposeMerge | ApplyMerge)
    reads = reads or (isinstance(command, BatchHarvest) and command.submits)
    return reads or (isinstance(command, ApplyHarvest) and has_found)


def _declined(state: AppState, command: RunCommand, cause: Cause, text: str, detail: str = "") -> AppState:
    """No run is begun: say why, and tell whoever waits for it."""
    state = conclude(
        state, CommandOutcome(command_id=command.command_id, problem=text, remedy=detail, cause=cause)
    )
    return notify(state, NOTICE, Level.WARNING if detail else Level.INFO, text, detail)


def _asked_past_limit(
    state: AppState, command: PreviewHarvest | ProposeMerge, text: str, why: str
) -> AppState:
    """No run is begun past a limit, or one that cannot hold: the notice offers the same with the person's yes."""
    state = conclude(
        state, CommandOutcome(command_id=command.command_id, problem=text, remedy=why, cause=Cause.NOT_NOW)
    )
    agreed = None if getattr(command, "is_dream", False) else replace(command, over_limit=True, command_id="")
    label = "" if agreed is None else tr("Read anyway")
    return notify(state, NOTICE, Level.WARNING, text, why, action=agreed, action_label=label)


def _harvest_run(state: AppState) -> HarvestRun:
    """Settings of a run now: the person's settings, the model that reads, what is open."""
    settings = state.config.settings.knowledge
    provider, model = harvest_reader(state)
    open_ids = {
        state.discussions.selected_id,
        *(one.discussion_id for one in state.turns.calls.values()),
        *state.agent.turns,
    } - {""}
    template = state.config.prompts.get(HARVEST_PROMPT, "")
    profile = profile_of(state, provider, model)
    project = state.config.project
    return HarvestRun(
        settings=settings,
        open_ids=frozenset(open_ids),
        provider=provider,
        model=model,
        profile=profile,
        template=template,
        project_root=project.root,
        allowed_roots=project.allowed_roots,
    )


def _begin(
    state: AppState,
    command: RunCommand,
    phase: HarvestPhase,
    effect: ScanConversations
    | UndoApply
    | RunBatches
    | WithdrawBatches
    | AskForMerge
    | WriteMerge
    | WritePlaybookDraft,
) -> Result:
    made = effect.run
    begun = replace(
        state.harvest,
        question=None,
        phase=phase,
        command_id=command.command_id,
        problem="",
        remedy="",
        provider=made.provider,
        model=made.model,
        is_over_limit=getattr(command, "over_limit", False),
    )
    return replace(state, harvest=begun), (effect,)


def _preview(state: AppState, command: PreviewHarvest) -> Result:
    asked = _candidates(state, command.paths)
    chosen = tuple(one for one in asked if one.facts.sha256 not in waiting(state.harvest.look.batches))
    if asked and not chosen:
        return _declined(state, command, Cause.NOT_NOW, IN_BATCHES, IN_BATCHES_REMEDY), ()
    if not chosen:
        return _declined(state, command, Cause.NOTHING, tr("There is nothing to harvest.")), ()
    is_free = all(one.facts.sha256 in state.harvest.look.kept for one in chosen)
    made = _harvest_run(state)
    why = "" if is_free or command.over_limit else limit_reached(state, model=(made.provider, made.model))
    if why:
        return _asked_past_limit(state, command, tr("The harvest did not start."), why), ()
    begun = replace(
        state.harvest,
        phase=HarvestPhase.PREVIEWING,
        command_id=command.command_id,
        total=len(chosen),
        preview=HarvestPreview(),
        review=folded(state.harvest.review, state.harvest.preview),
        report=None,
        undone=None,
        run_use=HarvestUse(),
        problem="",
        remedy="",
        provider=made.provider,
        model=made.model,
        is_dream=command.is_dream,
        is_over_limit=command.over_limit,
    )
    return replace(state, harvest=begun), (DistilConversations(made, chosen),)


def _batch(state: AppState, command: BatchHarvest) -> Result:
    chosen = _candidates(state, command.paths) if command.submits else ()
    made = _harvest_run(state)
    if command.submits and not chosen:
        return _declined(state, command, Cause.NOTHING, tr("No conversation is ready for a batch.")), ()
    if command.submits and made.provider == ProviderKind.EMBEDDED:
        text = tr("The built-in model has no batches.")
        remedy = tr("Choose a model of Anthropic, OpenAI or Gemini for the harvest.")
        return _declined(state, command, Cause.NOT_NOW, text, remedy), ()
    effect = RunBatches(run=made, artifacts=chosen, over_limit=command.over_limit, previews=command.previews)
    begun, effects = _begin(state, command, HarvestPhase.BATCHING, effect)
    agreed = replace(command, over_limit=True, command_id="") if command.submits else None
    asking = replace(begun.harvest, batch=agreed, is_past_limit=False, batches_asked_at=state.now)
    return replace(begun, harvest=asking), effects


def look_after_batches(state: AppState) -> Result:
    """Begin the program's own look after open batches where one is due: it submits nothing, and nobody waits for it."""
    harvest, program = state.harvest, state.program
    is_free = not (harvest.is_working or program.is_home_read_only or program.is_closing or program.holder)
    if not is_free or state.now is None or not state.config.providers:
        return state, ()
    if not is_due(harvest.look.batches, harvest.batches_asked_at, state.now):
        return state, ()
    begun = replace(harvest, phase=HarvestPhase.BATCHING, is_quiet=True, batches_asked_at=state.now)
    return replace(state, harvest=begun), (RunBatches(run=_harvest_run(state), artifacts=(), is_quiet=True),)


def _cancel_batches(state: AppState, command: CancelBatches) -> Result:
    known = {one.tag for one in state.harvest.look.batches}
    if not known or not known.issuperset(command.tags):
        text = tr("No batch is open.") if not known else tr("There is no such open batch.")
        return _declined(state, command, Cause.NOTHING, text), ()
    effect = WithdrawBatches(_harvest_run(state), command.tags)
    return _begin(state, command, HarvestPhase.BATCHING, effect)


def _apply(state: AppState, command: ApplyHarvest) -> Result:
    """With a preview what was previewed, else what the person gives up unharvested; the empty ones with either.

    What a model failed at is among the first: the ledger says why it is kept.
    """
    harvest = state.harvest
    seen = harvest.preview or HarvestPreview()
    previewed = {one.path for one in seen.sources}
    wanted = previewed | {one.path for one in seen.failures} if previewed else set(command.paths)
    chosen = tuple(
        one
        for one in harvest.look.artifacts
        if one.kind is ArtifactClass.PRUNE or (one.kind is ArtifactClass.HARVEST and one.facts.path in wanted)
    )
    if not chosen:
        return _declined(state, command, Cause.NOTHING, tr("There is nothing to apply.")), ()
    if not command.is_agreed and previewed and (question := _question(state, seen)) is not None:
        return _asking(state, command, replace(question, after=command.after))
    begun = replace(
        harvest,
        question=None,
        phase=HarvestPhase.APPLYING,
        command_id=command.command_id,
        total=len(chosen),
        report=None,
        undone=None,
        problem="",
        remedy="",
    )
    preview = harvest.preview if previewed else None
    return replace(state, harvest=begun), (
        ApplyPreview(
            run=_harvest_run(state),
            artifacts=chosen,
            preview=preview,
            after=state.config.settings.knowledge.fate_of_harvested(command.after),
        ),
    )


def _question(state: AppState, preview: HarvestPreview) -> RemovalQuestion | None:
    """The question before an apply that strikes much of a category through."""
    replaced = {
        one.replaces.item for one in preview.items if one.is_ticked and one.is_replacing and one.replaces
    }
    gone = tuple(sorted(replaced, key=lambda item: (item.file, item.first_line)))
    known = [item for file in state.knowledge.categories for item in file.items]
    sentence = removal_sentence(gone, known)
    return RemovalQuestion(sentence=sentence, items=gone) if sentence else None


def write_automatic(state: AppState) -> Result:
    """Write what the mode lets be written without being asked; the rest waits. Turns memory on for nobody.

    Of a dream nothing is written: that waits for the person whatever the mode.
    """
    harvest = state.harvest
    if harvest.preview is None or harvest.is_dream or state.program.is_home_read_only:
        return state, ()
    chosen, rest = automatic_part(harvest.preview, state.config.settings.knowledge, harvest.provider)
    paths = {one.path for one in chosen.sources}
    artifacts = tuple(
        one for one in harvest.look.artifacts if one.kind is ArtifactClass.HARVEST and one.facts.path in paths
    )
    if not artifacts:
        return state, ()
    begun = replace(
        harvest,
        phase=HarvestPhase.APPLYING,
        total=len(artifacts),
        is_automatic=True,
        preview=rest if rest.sources or rest.failures else None,
    )
    return replace(state, harvest=begun), (
        ApplyPreview(
            run=_harvest_run(state),
            artifacts=artifacts,
            preview=chosen,
            makes_digest=False,
            after=state.config.settings.knowledge.fate_of_harvested(),
        ),
    )


def _candidates(state: AppState, paths: tuple[str, ...]) -> tuple[Artifact, ...]:
    wanted = frozenset(paths)
    return tuple(
        one
        for one in state.harvest.look.artifacts
        if one.kind is ArtifactClass.HARVEST and (not wanted or one.facts.path in wanted)
    )


# Merges and drafts in the state: begun, reviewed, written. One run of the harvest each.


MergeRun = ProposeMerge | ApplyMerge | GraduatePlaybook
"""Commands that begin a run of this module."""


class Declined(Exception):  # noqa: N818 - no failure: the answer to a command that begins nothing
    """Nothing is begun. `cause`, `text`, `remedy`: why; `question`: what is to be answered first; `is_past_limit`: a limit
    stands against it, and a yes begins it.
    """

    def __init__(
        self,
        cause: Cause,
        text: str,
        remedy: str = "",
        question: RemovalQuestion | None = None,
        *,
        is_past_limit: bool = False,
    ) -> None:
        super().__init__(text)
        self.is_past_limit = is_past_limit
        self.cause, self.text, self.remedy, self.question = cause, text, remedy, question


def begin(
    state: AppState, command: MergeRun, made: HarvestRun
) -> tuple[HarvestPhase, AskForMerge | WriteMerge | WritePlaybookDraft]:
    """Decide what a command begins.

    Raises:
        Declined: it begins nothing.
    """
    match command:
        case ProposeMerge(category):
            return HarvestPhase.MERGING, _ask(state, category, made, over_limit=command.over_limit)
        case ApplyMerge(is_agreed):
            return HarvestPhase.APPLYING, _write(state, made, is_agreed=is_agreed)
        case GraduatePlaybook(item, kind):
            if item.category is not Category.PLAYBOOKS:
                raise Declined(Cause.NOTHING, NO_PLAYBOOK)
            return HarvestPhase.APPLYING, WritePlaybookDraft(run=made, item=item, kind=kind)
        case _:
            assert_never(command)


def _ask(state: AppState, category: Category, made: HarvestRun, *, over_limit: bool) -> AskForMerge:
    if len(may_merge(_items(state), category)) < 2:
        raise Declined(Cause.NOTHING, NOTHING)
    why = "" if over_limit else limit_reached(state, model=(made.provider, made.model))
    if why:
        raise Declined(
            Cause.NOT_NOW, tr("The program did not ask a model to merge the items."), why, is_past_limit=True
        )
    return AskForMerge(run=made, category=category, template=state.config.prompts.get(MERGE_PROMPT, ""))


def _write(state: AppState, made: HarvestRun, *, is_agreed: bool) -> WriteMerge:
    merge = state.harvest.merge
    if merge is None or not merge.ticked:
        raise Declined(Cause.NOTHING, tr("There is no merge to write."))
    gone = tuple(item for group in merge.ticked for item in group.items)
    sentence = "" if is_agreed else removal_sentence(gone, _items(state), merged=len(merge.ticked))
    if sentence:
        question = RemovalQuestion(sentence=sentence, items=gone, is_merge=True)
        raise Declined(Cause.NEEDS_YES, sentence, question=question)
    return WriteMerge(run=made, proposal=merge, is_agreed=is_agreed)


def reviewed(harvest: HarvestState, command: MergeCommand) -> HarvestState:
    """The harvest after a person's choice in a merge. While it is being written nothing is changed."""
    merge = harvest.merge
    if merge is None or harvest.phase is HarvestPhase.APPLYING:
        return harvest
    match command:
        case TickMergeGroups(ids, is_ticked):
            wanted = frozenset(ids)
            groups = (replace(one, is_ticked=is_ticked) if one.id in wanted else one for one in merge.groups)
            return replace(harvest, merge=replace(merge, groups=tuple(groups)))
        case EditMergeGroup():
            return replace(harvest, merge=_edited(merge, command))
        case DiscardMerge():
            asks = harvest.question is not None and harvest.question.is_merge
            return replace(harvest, merge=None, question=None if asks else harvest.question)
        case _:
            assert_never(command)


def _edited(merge: MergeProposal, command: EditMergeGroup) -> MergeProposal:
    text = " ".join(command.text.split())
    if not text:
        return merge
    groups = (
        replace(one, text=text, is_edited=True, is_ticked=True, lost=lost_words(one.items, text))
        if one.id == command.group_id
        else one
        for one in merge.groups
    )
    return replace(merge, groups=tuple(groups))


def _items(state: AppState) -> list[Item]:
    return [item for file in state.knowledge.categories for item in file.items]


# The price of asking for a merge, before anybody is asked. Pure.

LINE_BYTES = 8
"""Bytes of an item's id and of what stands around it."""


def merge_cost(state: AppState, category: Category) -> float | None:
    """Estimate of one call that reads a category's items, in US dollars; None where the price is unknown. O(items)."""
    provider, model = harvest_reader(state)
    known = [item for file in state.knowledge.categories for item in file.items]
    size = sum(size_bytes(item.text) + LINE_BYTES for item in may_merge(known, category))
    read = min(size, piece_bytes_for(profile_of(state, provider, model)))
    used = Usage(input_tokens=estimate_tokens(read + PROMPT_BYTES), output_tokens=OUTPUT_TOKENS_EST)
    return None if state.now is None else cost(provider, model, used, state.now)
