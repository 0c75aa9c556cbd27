"""Messages of proposals: a person's answers, the file as it is read, and what is carried out."""

from __future__ import annotations

import msgspec

from core.kernel.values.knowledge import Category, Proposal, ProposalsState

NOTICE = "proposed-items"
"""Subject of the notices of this room."""


class AcceptProposal(msgspec.Struct, frozen=True):
    """Write a proposed item into knowledge, as it was shown or in other words. A person's alone.

    Args:
        text: the whole item's words, of a playbook without its name; empty as proposed.
        category: another one than proposed, None for that; name: of a playbook, empty as proposed.
    """

    proposal_id: str
    text: str = ""
    category: Category | None = None
    name: str = ""
    command_id: str = ""


class RefuseProposals(msgspec.Struct, frozen=True):
    """Forget proposals; nothing of them is kept."""

    proposal_ids: tuple[str, ...]
    command_id: str = ""


class ReadProposals(msgspec.Struct, frozen=True):
    """Read the waiting proposals; report `ProposalsRead`."""


class WriteProposed(msgspec.Struct, frozen=True):
    """Write an item, then drop its proposal; report `ProposalsRead`. `proposal`: in the words that are written.

    One that says exactly this already is not written twice: so an end in between is made good by another yes.
    """

    proposal: Proposal
    command_id: str = ""


class ProposalsRead(msgspec.Struct, frozen=True):
    """The file of proposals was read."""

    found: ProposalsState


McpServerCommand = AcceptProposal | RefuseProposals
"""Commands that a front end may give this room."""

McpServerEvent = ProposalsRead
"""Events of this room."""

McpServerEffect = ReadProposals | WriteProposed | RefuseProposals
"""The proposals worker's: one thread, the latest reading wins."""
