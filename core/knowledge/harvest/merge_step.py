"""Merges and drafts in the state: begun, reviewed, written. One run of the harvest each."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from core.kernel.frame import size_bytes
from core.kernel.language import tr
from core.kernel.tokens import estimate_tokens
from core.kernel.values.harvest import HarvestPhase, HarvestState
from core.kernel.values.knowledge import Category, Item, MergeProposal, RemovalQuestion
from core.kernel.values.state import AppState, Cause
from core.kernel.values.usage import Usage
from core.knowledge.harvest.harvest_messages import (
    MERGE_PROMPT,
    ApplyMerge,
    AskForMerge,
    DiscardMerge,
    EditMergeGroup,
    GraduatePlaybook,
    HarvestRun,
    MergeCommand,
    ProposeMerge,
    TickMergeGroups,
    WriteMerge,
    WritePlaybookDraft,
)
from core.knowledge.harvest.modes import OUTPUT_TOKENS_EST, PROMPT_BYTES, harvest_reader, piece_bytes_for
from core.knowledge.merges import NO_PLAYBOOK, NOTHING, lost_words, may_merge
from core.knowledge.parts import removal_sentence
from core.services.settings.settings_rules import profile_of
from core.services.spending.limits import limit_reached
from core.services.spending.pricing import cost

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
