"""The tab of proposals in the Knowledge panel: what other programs would have known, and the person's yes or no."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.knowledge import Category, Proposal, ProposalsState
from core.kernel.values.updates import is_under_way
from core.knowledge.mcp_server.proposal_messages import AcceptProposal, RefuseProposals
from panels.base.desk import READ_ONLY, Desk
from panels.base.ui import Ui
from panels.base.view import Same
from panels.knowledge.knowledge_room import KnowledgeView, ProposalWords

EDITOR_PX, CARD_PX, GAP_PX, LINE_PX, CHAR_PX = 96.0, 108.0, 8.0, 19.0, 7.2

KINDS = {
    Category.TASKS_OPEN: tr("open task"),
    Category.TASKS_DONE: tr("done task"),
    Category.QUESTIONS: tr("question"),
    Category.DECISIONS: tr("decision"),
    Category.FACTS: tr("fact"),
    Category.PLAYBOOKS: tr("playbook"),
}
"""Kinds of items that can be proposed, and how one of each is called."""


def has_proposals(desk: Desk) -> bool:
    """True if there is something to decide, or to mend."""
    return bool(desk.state.proposals.waiting or desk.state.proposals.problem)


def proposals_section(desk: Desk) -> None:
    """Draw the tab. O(visible). Sends AcceptProposal, RefuseProposals."""
    ui, proposals = desk.ui, desk.state.proposals
    if proposals.problem:
        with ui.row("problem"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", proposals.problem, tone="warn", style="small", wraps=True)
    waiting = proposals.waiting
    if not waiting:
        text = tr(
            "There are no proposals. A program that `manual-slop mcp` serves can propose items; they wait here for you."
        )
        ui.text("none", text, tone="muted", wraps=True)
        return
    with ui.row("head"):
        items = fmt.count(len(waiting), tr("item"), tr("items"))
        said = tr(
            "Other programs or imports proposed {items}. The program knows none of them before you add it.",
            items=items,
        )
        ui.text("what", said, tone="muted", style="small", width=0, wraps=True)
        is_writable = not desk.state.program.is_home_read_only
        if ui.button("refuse all", tr("Refuse all"), kind="ghost", is_small=True, is_enabled=is_writable):
            desk.send(RefuseProposals(tuple(one.id for one in waiting)))
    ui.virtual_list("proposals", ProposalRows(desk, proposals))


class ProposalRows(msgspec.Struct):
    """The proposals, for a virtual list."""

    desk: Desk
    proposals: ProposalsState

    @property
    def revision(self) -> Hashable:
        """The proposals themselves."""
        return Same(self.proposals)

    def __len__(self) -> int:
        return len(self.proposals.waiting)

    def key(self, index: int) -> Hashable:
        """A proposal's id."""
        return self.proposals.waiting[index].id

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the length of the words."""
        one = self.proposals.waiting[index]
        near = self.proposals.near.get(one.id, ())
        texts = [proposed_text(one), *near]
        return CARD_PX + LINE_PX * sum(1 + len(text) * CHAR_PX // max(80.0, width - 40) for text in texts)

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a proposal."""
        one = self.proposals.waiting[index]
        _card(self.desk, ui, one, self.proposals.near.get(one.id, ()))
        ui.gap(GAP_PX)


def proposed_text(one: Proposal) -> str:
    """Words that a proposal would be written in, of a playbook without its name."""
    return " — ".join(part for part in (one.text, one.detail) if part)


def _card(desk: Desk, ui: Ui, one: Proposal, near: tuple[str, ...]) -> None:
    own = desk.view.of(KnowledgeView)
    with ui.surface("card", "card", padding=(12, 8)), ui.group("lines", gap=5):
        with ui.row("top"):
            ui.badge("kind", KINDS.get(one.category, one.category.value), tone="accent")
            if one.name:
                ui.text("name", one.name, style="strong", width=0)
        if one.id in own.proposal_edits:
            _editor(desk, ui, one)
        else:
            ui.text("text", proposed_text(one), wraps=True)
        if near:
            ui.text("near title", tr("Similar items in knowledge:"), tone="warn", style="small", wraps=True)
        for index, line in enumerate(near):
            ui.text(("near", index), f"•  {line}", tone="muted", style="small", wraps=True)
        with ui.row("from", gap=4):
            ui.icon("icon", "plug", tone="faint")
            ui.text("words", f"{one.source}, {one.at[:10]}", tone="muted", style="small", width=0)
        with ui.row("foot", gap=4):
            ui.push()
            _buttons(desk, ui, one)


def _editor(desk: Desk, ui: Ui, one: Proposal) -> None:
    own = desk.view.of(KnowledgeView)
    text = own.proposal_edits[one.id]
    edited = ui.editor("words", text, hint=tr("Text of the item"), height=EDITOR_PX, is_focused=True)
    own.proposal_edits[one.id] = text if edited is None else edited.text
    if ui.is_focused("words"):
        own.typing = ProposalWords(one.id)
    ui.text("keys", tr("Ctrl+Enter adds, Escape cancels"), tone="faint", style="small")


def _buttons(desk: Desk, ui: Ui, one: Proposal) -> None:
    own = desk.view.of(KnowledgeView)
    why = READ_ONLY if desk.state.program.is_home_read_only else ""
    is_free = _is_free(desk, one.id)
    if one.id not in own.proposal_edits:
        tip = why or tr("Edit the proposed text")
        if ui.button("edit", "", icon="pen", kind="ghost", is_small=True, is_enabled=is_free, tip=tip):
            own.proposal_edits[one.id] = proposed_text(one)
    elif ui.button("cancel", tr("Cancel"), kind="ghost", is_small=True, tip=tr("Cancel (Escape)")):
        own.proposal_edits.pop(one.id)
    if ui.button(
        "refuse", tr("Refuse"), is_small=True, is_enabled=is_free, tip=why or tr("Drop this proposal")
    ):
        own.proposal_edits.pop(one.id, None)
        desk.send(RefuseProposals((one.id,)))
    can = is_free and bool(own.proposal_edits.get(one.id, proposed_text(one)).strip())
    tip = why or tr("Write this item into knowledge")
    if ui.button("add", tr("Add"), kind="primary", is_small=True, is_enabled=can, tip=tip):
        _add(desk, one)


def add_typed(desk: Desk, proposal_id: str) -> None:
    """Add a proposal in the words that are being typed, where they say something. Sends AcceptProposal."""
    text = desk.view.of(KnowledgeView).proposal_edits.get(proposal_id, "")
    for one in desk.state.proposals.waiting:
        if one.id == proposal_id and text.strip() and _is_free(desk, one.id):
            _add(desk, one)


def _is_free(desk: Desk, proposal_id: str) -> bool:
    asked = desk.view.of(KnowledgeView).proposals_asked.get(proposal_id, "")
    return not desk.state.program.is_home_read_only and not is_under_way(desk.state, asked)


def _add(desk: Desk, one: Proposal) -> None:
    own = desk.view.of(KnowledgeView)
    text = own.proposal_edits.get(one.id, "").strip()
    changed = "" if text == proposed_text(one) else text
    own.proposals_asked[one.id] = desk.ask(AcceptProposal(proposal_id=one.id, text=changed))
