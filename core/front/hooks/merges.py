"""Merges and drafts over HTTP: a shorter file proposed, chosen of and written; a playbook made a draft."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.front.hooks.fields import MAX_CHOSEN, Count, Data, RefusedError
from core.front.hooks.harvest import AgreedBody, PastLimit, RunBody, begun, check_groups
from core.front.hooks.knowledge import ItemPlace, KnowledgeItemData, stored_item
from core.front.hooks.operation import Answer, Request, Resource, operation
from core.kernel.codecs import builtins_of, from_builtins
from core.kernel.language import tr
from core.kernel.values.harvest import HarvestPhase
from core.kernel.values.knowledge import Category, DraftKind, MergeProposal
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import (
    ApplyMerge,
    GraduatePlaybook,
    ProposeMerge,
    TickMergeGroups,
)
from core.knowledge.merges import merge_data


class MergeGroupData(Data, frozen=True):
    """Items that one would take the place of.

    `merged`: that one, with every origin of theirs; `lost`: figures and names of theirs that it does not have.
    """

    id: str
    reason: str
    text: str
    is_ticked: bool
    is_edited: bool
    lost: list[str]
    items: list[KnowledgeItemData]
    merged: KnowledgeItemData


class MergeProposalData(Data, frozen=True):
    """A proposed merge. `read`: items that the model was shown, of `total`; `dropped`: groups of its reply that do not hold.

    `calls`, `cost_usd`: of asking; a cost that nobody knows is null.
    """

    category: Category
    file: str
    provider: str
    model: str
    read: Count
    total: Count
    dropped: Count
    calls: Count
    cost_usd: float | None
    groups: list[MergeGroupData]


class MergeReportData(Data, frozen=True):
    """The last merge that was written. `version`: path of the file as it was before."""

    apply_id: str
    category: Category
    file: str
    items: Count
    merged: Count
    version: str


class DraftData(Data, frozen=True):
    """The last draft. `becomes`: the name that makes it count."""

    apply_id: str
    path: str
    becomes: str


class MergingData(Data, frozen=True):
    """Merges as they stand. `phase`: of the harvest, whose runs these are."""

    phase: HarvestPhase
    problem: str
    merge: MergeProposalData | None
    merged: MergeReportData | None
    drafted: DraftData | None

    @classmethod
    def of(cls, state: AppState) -> MergingData:
        """Merges as they are answered with."""
        own = state.harvest
        shown = None if own.merge is None else _merge_data(own.merge)
        merged = None if own.merged is None else from_builtins(builtins_of(own.merged), MergeReportData)
        drafted = None if own.drafted is None else from_builtins(builtins_of(own.drafted), DraftData)
        return cls(phase=own.phase, problem=own.problem, merge=shown, merged=merged, drafted=drafted)


class ProposeBody(RunBody, frozen=True):
    """The category to merge; not `files`, whose notes belong to their files."""

    category: Category
    over_limit: PastLimit = False


class ApplyMergeBody(AgreedBody, frozen=True):
    """The merges to write."""

    groups: Annotated[
        Literal["all"] | Annotated[tuple[str, ...], Meta(max_length=MAX_CHOSEN)] | msgspec.UnsetType,
        Meta(description="Ids of the groups to write, the others are unticked; or 'all'; as ticked without."),
    ] = msgspec.UNSET


class GraduateBody(RunBody, frozen=True):
    """The playbook, as `GET /api/knowledge` gives it, and what it becomes."""

    item: ItemPlace
    kind: DraftKind = DraftKind.PROMPT


async def get_merge(request: Request[None]) -> Answer:
    """The merge that was proposed, the last one that was written, and the last draft."""
    return Answer(data=MergingData.of(request.state))


async def propose_merge(request: Request[ProposeBody]) -> Answer:
    """Have the model propose a shorter file of a category. Nothing is written."""
    request.check_writable()
    return await _run(
        request, ProposeMerge(category=request.fields.category, over_limit=request.fields.over_limit)
    )


async def apply_merge(request: Request[ApplyMergeBody]) -> Answer:
    """Write the merges; the file as it was is kept, and `POST /api/harvest/undo` brings it back."""
    request.check_writable()
    merge, wanted = request.state.harvest.merge, request.fields.groups
    if merge is None:
        raise RefusedError(
            409,
            "no_merge",
            tr("There is no proposed merge to apply"),
            tr("Send POST /api/knowledge/merge first"),
        )
    if wanted is not msgspec.UNSET:
        every = tuple(group.id for group in merge.groups)
        chosen = every if wanted == "all" else wanted
        check_groups(merge, chosen)
        request.desk.front.send(TickMergeGroups(every, is_ticked=False))
        request.desk.front.send(TickMergeGroups(chosen, is_ticked=True))
    return await _run(request, ApplyMerge(request.fields.is_agreed))


async def graduate_playbook(request: Request[GraduateBody]) -> Answer:
    """Make a draft of a playbook: nothing reads or runs it until it is renamed."""
    request.check_writable()
    item = stored_item(request.state, request.fields.item)
    return await _run(request, GraduatePlaybook(item=item, kind=request.fields.kind))


async def _run(
    request: Request[ProposeBody] | Request[ApplyMergeBody] | Request[GraduateBody],
    command: ProposeMerge | ApplyMerge | GraduatePlaybook,
) -> Answer:
    async with request.desk.harvest_lock:
        run = await begun(request, command)
    waits = request.fields.wait
    state = await run.ended() if waits else request.state
    return Answer(data=MergingData.of(state), status=200 if waits else 202)


def _merge_data(merge: MergeProposal) -> MergeProposalData:
    return from_builtins(merge_data(merge), MergeProposalData)


_ALL = "/api/knowledge/merge"
_RUN = {200: MergingData, 202: MergingData}
_NOT_NOW = (
    "another run is going on, there is nothing to do, the merge needs a yes, or the data folder is read-only"
)

RESOURCE = Resource(
    operations=(
        operation("GET", _ALL, get_merge, {200: MergingData}),
        operation("POST", _ALL, propose_merge, _RUN, {409: _NOT_NOW}),
        operation(
            "POST",
            f"{_ALL}/apply",
            apply_merge,
            _RUN,
            {404: "no such merge", 409: _NOT_NOW},
            may_be_empty=True,
        ),
        operation(
            "POST", "/api/knowledge/graduate", graduate_playbook, _RUN, {404: "no such item", 409: _NOT_NOW}
        ),
    ),
)
