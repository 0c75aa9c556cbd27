"""Proposals of other programs as values: items that wait for a person's yes before anything is known."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from core.values.knowledge import Category


class Proposal(msgspec.Struct, frozen=True):
    """An item that a client of our server proposed. Nothing of it is known before a person takes it.

    Args:
        id: unique among those that wait; text, detail, name: as of `NewItem`, cleaned, bounded and without secrets.
        source: how the client names itself; at: when it was proposed, ISO 8601 UTC.
    """

    id: str
    category: Category
    text: str
    detail: str = ""
    name: str = ""
    source: str = ""
    at: str = ""


class ProposalsState(msgspec.Struct, frozen=True):
    """Proposals that wait, oldest first, as the disk tells.

    Args:
        near: known items that say nearly the same, by the proposal's id; problem: why they cannot be read, else empty.
    """

    waiting: tuple[Proposal, ...] = ()
    near: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    problem: str = ""
