"""Proposals in the state: what waits for a person, and what follows from a yes or a no. Nothing else ever takes one."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from core.mcp_server.messages import (
    AcceptProposal,
    DropProposals,
    McpServerCommand,
    McpServerEvent,
    ProposalsRead,
    ProposalsTouched,
    ReadProposals,
    RefuseProposals,
    WriteProposed,
)
from core.values.knowledge import Category
from core.values.outcomes import CommandOutcome
from core.values.proposals import Proposal, ProposalsState
from core.values.state import AppState, Level
from core.values.updates import Result, conclude, dismiss, notify

NOTICE = "proposed-items"

_GONE = "This proposal is not there any more"


def command(state: AppState, asked: McpServerCommand) -> Result:
    """Decide what follows from a person's answer."""
    match asked:
        case AcceptProposal():
            return _accepted(state, asked)
        case RefuseProposals(ids):
            known = tuple(one.id for one in state.proposals.waiting if one.id in ids)
            return (state, (DropProposals(known),)) if known else (state, ())
        case _:
            assert_never(asked)


def event(state: AppState, happened: McpServerEvent) -> Result:
    """Decide what follows from an event."""
    match happened:
        case ProposalsTouched():
            return state, (ReadProposals(),)
        case ProposalsRead(found):
            return _read(state, found), ()
        case _:
            assert_never(happened)


def _accepted(state: AppState, asked: AcceptProposal) -> Result:
    """The yes counts for the words that were shown: what another program makes of the file meanwhile changes nothing."""
    shown = next((one for one in state.proposals.waiting if one.id == asked.proposal_id), None)
    problem = _GONE if shown is None else ""
    if asked.category is Category.FILES:
        problem = "Notes on files come from a harvest"
    if shown is None or problem:
        said = CommandOutcome(asked.command_id, problem=problem, remedy="Look at the list again")
        return conclude(state, said) if asked.command_id else state, ()
    return state, (WriteProposed(_chosen(shown, asked)),)


def _chosen(shown: Proposal, asked: AcceptProposal) -> Proposal:
    """The proposal in the words and the category that the person left."""
    text = asked.text.strip()
    words = replace(shown, text=text, detail="") if text else shown
    return replace(words, category=asked.category or shown.category, name=asked.name.strip() or shown.name)


def _read(state: AppState, found: ProposalsState) -> AppState:
    if found == state.proposals:
        return state
    before = {one.id for one in state.proposals.waiting}
    state = replace(state, proposals=found)
    if found.problem:
        return notify(state, NOTICE, Level.WARNING, found.problem, is_standing=True)
    if not found.waiting:
        return dismiss(state, NOTICE)
    if all(one.id in before for one in found.waiting):
        return state
    newest = found.waiting[-1]
    count = len(found.waiting)
    text = f"{newest.source} proposes an item for knowledge."
    if count > 1:
        text = f"{count:,} proposals for knowledge wait for you, the newest from {newest.source}."
    return notify(state, NOTICE, Level.INFO, text, "Nothing of it is known before you add it.")
