"""Proposals in the state and on disk: shown as they come, taken by a person alone in the words that were shown."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.app_messages import Input
from core.app.dispatch import step
from core.kernel.errors import SlopError
from core.kernel.values.knowledge import Category, Proposal, ProposalsState, Provenance
from core.kernel.values.state import AppState
from core.kernel.values.updates import PathsChanged, Watched, outcome_of
from core.knowledge.knowledge_reader import read_categories
from core.knowledge.mcp_server.proposal_messages import (
    NOTICE,
    AcceptProposal,
    McpServerEffect,
    McpServerEvent,
    ProposalsRead,
    ReadProposals,
    RefuseProposals,
    WriteProposed,
)
from core.knowledge.mcp_server.proposal_step import HANDLERS
from core.knowledge.mcp_server.proposal_worker import (
    ProposalHandler,
    add_proposal,
    drop_saying,
    load_proposals,
    proposals_file,
)

ONE = Proposal(
    "p1", Category.FACTS, "High tide is at nine.", "Seen.", source="Claude Code", at="2026-11-23T12:00:00Z"
)
TWO = Proposal(
    "p2", Category.PLAYBOOKS, "1. Look. 2. Go.", name="Tides", source="Cursor", at="2026-11-23T12:01:00Z"
)


def shown(*waiting: Proposal) -> AppState:
    return HANDLERS(AppState(), ProposalsRead(ProposalsState(waiting)))[0]


def notices(state: AppState) -> list[str]:
    return [one.text for one in state.program.notices if one.id == NOTICE]


def handled(home: Path, effect: McpServerEffect) -> list[McpServerEvent]:
    events: list[McpServerEvent] = []
    ProposalHandler(home, events.append).handle(effect)
    return events


def lines(home: Path) -> list[tuple[str, Provenance | None]]:
    return [(item.text, item.provenance) for file in read_categories(home) for item in file.items]


def test_a_changed_file_is_read_and_what_is_new_is_said_once() -> None:
    changed = Input(datetime(2026, 11, 1, tzinfo=UTC), "changed", PathsChanged(Watched.PROPOSALS))
    assert ReadProposals() in step(AppState(), changed)[1]
    state = shown(ONE)
    assert notices(state) == ["Claude Code proposes an item for knowledge."]
    state = HANDLERS(state, ProposalsRead(ProposalsState((ONE, TWO))))[0]
    assert notices(state) == ["2 proposals for knowledge wait for you, the newest from Cursor."]
    assert notices(HANDLERS(state, ProposalsRead(ProposalsState()))[0]) == []
    assert notices(HANDLERS(state, ProposalsRead(ProposalsState(problem="Broken.")))[0]) == ["Broken."]


def test_a_yes_counts_for_the_words_that_were_shown_and_for_the_person_s_own() -> None:
    state = shown(ONE, TWO)

    assert HANDLERS(state, AcceptProposal("p1"))[1] == (WriteProposed(ONE),)
    own = replace(ONE, text="At ten.", detail="", category=Category.DECISIONS)
    assert HANDLERS(state, AcceptProposal("p1", " At ten. ", Category.DECISIONS))[1] == (WriteProposed(own),)
    assert HANDLERS(state, AcceptProposal("p2", name="Sea"))[1] == (WriteProposed(replace(TWO, name="Sea")),)


@pytest.mark.parametrize(
    "asked",
    [AcceptProposal("p9", command_id="w"), AcceptProposal("p1", category=Category.FILES, command_id="w")],
)
def test_a_yes_to_nothing_is_told_to_who_waits(asked: AcceptProposal) -> None:
    state, effects = HANDLERS(shown(ONE), asked)
    outcome = outcome_of(state, "w")

    assert effects == ()
    assert outcome is not None
    assert outcome.problem


def test_a_no_drops_what_is_there() -> None:
    assert HANDLERS(shown(ONE, TWO), RefuseProposals(("p1", "p9")))[1] == (RefuseProposals(("p1",)),)
    assert HANDLERS(shown(), RefuseProposals(("p1",)))[1] == ()


def test_a_taken_proposal_stands_in_its_file_once_with_who_proposed_it(isolated_home: Path) -> None:
    home = isolated_home
    for one in (ONE, TWO):
        add_proposal(home, one)

    read = handled(home, WriteProposed(ONE))
    assert read == [ProposalsRead(ProposalsState((TWO,)))]
    add_proposal(home, ONE)  # the program ended before the proposal was dropped
    assert handled(home, WriteProposed(ONE)) == read
    handled(home, WriteProposed(TWO))

    assert lines(home) == [
        ("High tide is at nine. — Seen.", Provenance("Claude Code", "2026-11-23")),
        ("**Tides**: 1. Look. 2. Go.", Provenance("Cursor", "2026-11-23")),
    ]
    assert not proposals_file(home).exists()


def test_words_that_say_nothing_are_not_written_and_the_proposal_stays(isolated_home: Path) -> None:
    add_proposal(isolated_home, TWO)
    with pytest.raises(SlopError, match="has no text"):
        ProposalHandler(isolated_home, lambda _event: None).handle(WriteProposed(replace(TWO, name="**")))

    assert load_proposals(isolated_home) == (TWO,)
    assert lines(isolated_home) == []


def test_known_items_like_it_are_told_beside_a_proposal(isolated_home: Path) -> None:
    handled(isolated_home, WriteProposed(replace(ONE, text="High tide is at nine sharp.", detail="")))
    add_proposal(isolated_home, replace(ONE, detail=""))
    add_proposal(isolated_home, TWO)
    (read,) = handled(isolated_home, ReadProposals())

    assert isinstance(read, ProposalsRead)
    assert read.found.near == {"p1": ("High tide is at nine sharp.",)}


def test_a_broken_file_is_told_and_keeps_nobody_from_a_no(isolated_home: Path) -> None:
    proposals_file(isolated_home).parent.mkdir(parents=True)
    proposals_file(isolated_home).write_bytes(b"{")
    (read,) = handled(isolated_home, ReadProposals())

    assert isinstance(read, ProposalsRead)
    assert "cannot read the file with proposals of other programs" in read.found.problem


def test_what_is_to_be_forgotten_is_proposed_no_more(isolated_home: Path) -> None:
    for one in (ONE, TWO):
        add_proposal(isolated_home, one)

    assert drop_saying(isolated_home, lambda said: b"High tide" in said) == 1
    assert load_proposals(isolated_home) == (TWO,)
