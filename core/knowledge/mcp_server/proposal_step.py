"""Proposals in the state: what waits for a person, and what follows from a yes or a no. Nothing else ever takes one."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import from_json, to_json
from core.kernel.frame import clean, flat, without_blocks
from core.kernel.language import tr
from core.kernel.secrets import scrub, scrubbed_line
from core.kernel.values.knowledge import Category, NewItem, Proposal, ProposalsState
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import Handlers, Result, conclude, dismiss, notify, on
from core.knowledge.categories import item_body
from core.knowledge.evidence_rows import item_hash
from core.knowledge.mcp_server.proposal_messages import (
    NOTICE,
    AcceptProposal,
    ProposalsRead,
    RefuseProposals,
    WriteProposed,
)

_GONE = tr("This proposal no longer exists")


def _refuse_proposals(state: AppState, asked: RefuseProposals) -> Result:
    known = tuple(one.id for one in state.proposals.waiting if one.id in asked.proposal_ids)
    return (state, (RefuseProposals(known),)) if known else (state, ())


def _accepted(state: AppState, asked: AcceptProposal) -> Result:
    """The yes counts for the words that were shown: what another program makes of the file meanwhile changes nothing."""
    shown = next((one for one in state.proposals.waiting if one.id == asked.proposal_id), None)
    problem = _GONE if shown is None else ""
    if asked.category is Category.FILES:
        problem = tr("Only a harvest writes notes on files")
    if shown is None or problem:
        said = CommandOutcome(
            command_id=asked.command_id, problem=problem, remedy=tr("Look at the list again")
        )
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
    text = tr("{source} proposes an item for knowledge.", source=newest.source)
    if count > 1:
        text = tr(
            "{count:,} proposals for knowledge wait for you, the newest from {source}.",
            count=count,
            source=newest.source,
        )
    return notify(
        state,
        NOTICE,
        Level.INFO,
        text,
        tr("The program adds a proposal to knowledge only after you accept the proposal."),
    )


# Text of proposals: how one is made safe to keep and show, and the form of their file. Pure.

MOST_WAITING = 200
"""Proposals that wait at once; a client that goes on is told to wait for the person."""

MAX_TEXT_CHARS, MAX_DETAIL_CHARS, MAX_NAME_CHARS, MAX_SOURCE_CHARS = 2_000, 4_000, 200, 60

FORMAT = 1


class _Book(msgspec.Struct, frozen=True):
    """The file: its format, and who waits in it."""

    v: int = FORMAT
    waiting: tuple[Proposal, ...] = ()


def safe_words(text: str) -> str:
    """A client's words on one line, without control characters, secrets, or an end of a block of ours."""
    return flat(scrub(without_blocks(clean(text))))


def safe_source(name: str) -> str:
    """A client's name in a form that is safe in provenance; a default if the client gave none."""
    return scrubbed_line(flat(name), MAX_SOURCE_CHARS) or "a program over MCP"


def new_item(proposal: Proposal) -> NewItem:
    """The item that a proposal would become, without where it came from."""
    return NewItem(category=proposal.category, text=proposal.text, detail=proposal.detail, name=proposal.name)


def words_of(proposal: Proposal) -> str:
    """The item's text as it would stand in its file."""
    return item_body(new_item(proposal))


def key_of(proposal: Proposal) -> str:
    """Name of the item that it would become: the same for the same words, whoever proposes them."""
    return item_hash(proposal.category, words_of(proposal))


def book_text(waiting: Iterable[Proposal]) -> bytes:
    """The file of those that wait, JSON, the same bytes for the same proposals."""
    return to_json(_Book(waiting=tuple(waiting)), order="sorted") + b"\n"


def read_book(data: bytes) -> tuple[Proposal, ...]:
    """Those that wait. Whoever wrote the file: words are made safe again, and no more are read than may wait.

    Raises:
        ValueError: it is no such file.
    """
    book = from_json(data, _Book)
    return tuple(_safe(one) for one in book.waiting[:MOST_WAITING] if one.category is not Category.FILES)


def _safe(one: Proposal) -> Proposal:
    return Proposal(
        id=one.id[:64],
        category=one.category,
        text=safe_words(one.text)[:MAX_TEXT_CHARS],
        detail=safe_words(one.detail)[:MAX_DETAIL_CHARS],
        name=safe_words(one.name)[:MAX_NAME_CHARS],
        source=safe_source(one.source),
        at=flat(one.at)[:32],
    )


HANDLERS = Handlers(
    on(AcceptProposal, _accepted),
    on(RefuseProposals, _refuse_proposals),
    on(ProposalsRead, lambda state, happened: (_read(state, happened.found), ())),
)
"""Each message of this room, with the function that decides what follows from it."""
