"""Merging as values: items of a category that a model would make one of, as a person left the proposal."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.values.knowledge import Category, Item


class MergeGroup(msgspec.Struct, frozen=True):
    """Items that one is to take the place of.

    Args:
        id: unique in the proposal; items: as they stood when they were read, at least two, in file order.
        text: the one, as it will stand, without dash and provenance; reason: one sentence, why these are the same.
        lost: figures and names of the items that the one does not have: it is not ticked beforehand.
    """

    id: str
    items: tuple[Item, ...]
    text: str
    reason: str = ""
    is_ticked: bool = True
    is_edited: bool = False
    lost: tuple[str, ...] = ()


class MergeProposal(msgspec.Struct, frozen=True):
    """Proposal of a shorter category file. Nothing of it is written yet.

    Args:
        groups: in file order; provider, model: who proposed it; read: items that it was shown; total: of the category.
        dropped: groups of the reply that named an item that is not there, or twice, or said nothing, or nothing of an item of
            theirs.
        calls, cost_usd: of asking for it; the cost is None where the price is unknown.
    """

    category: Category
    file: str
    groups: tuple[MergeGroup, ...] = ()
    provider: str = ""
    model: str = ""
    read: int = 0
    total: int = 0
    dropped: int = 0
    calls: int = 0
    cost_usd: float | None = None

    @property
    def ticked(self) -> tuple[MergeGroup, ...]:
        """Groups that the person wants."""
        return tuple(group for group in self.groups if group.is_ticked)


class MergeReport(msgspec.Struct, frozen=True):
    """Report of a merge. `items` became `merged` ones; `version`: path of the file as it was before."""

    apply_id: str
    category: Category
    file: str
    items: int
    merged: int
    version: str


class DraftKind(StrEnum):
    """Kind of thing that a playbook becomes."""

    PROMPT = "prompt"
    TOOL = "tool"


class DraftReport(msgspec.Struct, frozen=True):
    """Report of a playbook that became a draft. `path`: of the draft; `becomes`: the name that makes it count."""

    apply_id: str
    path: str
    becomes: str
