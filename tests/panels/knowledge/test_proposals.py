"""Proposals of other programs in the Knowledge panel: shown as they come, edited, taken and refused."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.knowledge import Category, Proposal, ProposalsState
from core.kernel.values.state import Level
from core.kernel.values.updates import notify
from core.knowledge.mcp_server.proposal_messages import NOTICE, AcceptProposal, RefuseProposals
from panels.knowledge.knowledge_room import KnowledgeView
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import open_panel, words_of
from tests.panels.screen import Screen

ONE = Proposal(
    "p1", Category.FACTS, "High tide is at nine.", "Seen.", source="Claude Code", at="2026-11-23T12:00:00Z"
)
TWO = Proposal(
    "p2", Category.PLAYBOOKS, "1. Look. 2. Go.", name="Tides", source="Cursor", at="2026-11-23T12:01:00Z"
)


def screen(*waiting: Proposal, tab: str = "proposed", **near: tuple[str, ...]) -> Screen:
    return open_panel(replace(ks.some(), proposals=ProposalsState(waiting, near)), tab=tab)


def test_the_tab_comes_with_the_first_proposal_and_counts_them() -> None:
    shown = screen(tab="items")
    assert not shown.ui.shows("Proposed (")
    shown.show(replace(ks.some(), proposals=ProposalsState((ONE, TWO))))
    shown.ui.click("Proposed (2)")

    words = " ".join(words_of(shown))
    for part in (
        "High tide is at nine. — Seen.",
        "Claude Code, 2026-11-23",
        "Tides",
        "1. Look. 2. Go.",
        "playbook",
    ):
        assert part in words


def test_the_notice_leads_to_them_and_is_not_shown_beside_them() -> None:
    shown = screen(ONE, tab="items")
    shown.show(notify(shown.state, NOTICE, Level.INFO, "Claude Code proposes an item for knowledge."))
    shown.ui.click("Show")

    assert shown.view.of(KnowledgeView).tab == "proposed"
    assert shown.ui.shows("High tide is at nine. — Seen.")
    assert not shown.ui.shows("proposes an item")


def test_a_proposal_is_taken_as_it_is_or_in_the_person_s_words_once() -> None:
    shown = screen(ONE)
    shown.ui.click("Add")
    assert shown.asked == [AcceptProposal("p1")]
    assert not shown.ui.find("Add").is_enabled, "it is on its way"

    shown = screen(ONE)
    shown.ui.click("Edit the proposed text")
    shown.ui.type("Text of the item", "High tide is at ten.")
    shown.ui.click("Add")
    assert shown.asked == [AcceptProposal("p1", "High tide is at ten.")]


def test_one_rule_of_keys_holds_for_words_of_a_proposal_and_none_sends_a_message() -> None:
    for key, sent in (("Escape", []), ("Ctrl+Enter", [AcceptProposal("p1", "High tide is at ten.")])):
        shown = screen(ONE)
        shown.ui.click("Edit the proposed text")
        shown.ui.type("Text of the item", "High tide is at ten.")
        shown.ui.press(key)
        assert shown.asked == sent


def test_refusing_takes_one_or_all() -> None:
    shown = screen(ONE, TWO)
    shown.ui.click("Refuse", within="High tide is at nine. — Seen.")
    shown.ui.click("Refuse all")

    assert shown.asked == [RefuseProposals(("p1",)), RefuseProposals(("p1", "p2"))]


def test_what_is_nearly_known_is_said_beside_it() -> None:
    assert "•  High tide is about nine." in words_of(screen(ONE, p1=("High tide is about nine.",)))
