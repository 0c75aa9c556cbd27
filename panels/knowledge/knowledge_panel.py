"""The Knowledge panel: what is known, as lists that a person edits, and the digest that models see of it."""

from __future__ import annotations

from collections.abc import Hashable

from core.app.app_messages import Command, DismissNotice
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.knowledge import Category, Item, NoteFile, Proposal
from core.kernel.values.updates import is_under_way
from core.knowledge.knowledge_messages import WAYS_BACK, TakeBackItem
from core.knowledge.mcp_server.proposal_messages import AcceptProposal, RefuseProposals
from panels.base.desk import READ_ONLY, Desk, ListRows, action_tip
from panels.base.gauge import file_button
from panels.base.ui import Option, Ui
from panels.base.view import Same
from panels.knowledge.digest import digest_section, knowledge_path, note_head, switch_row
from panels.knowledge.item import ONE_OF, item_card, lost_card, new_card, prose, provenance
from panels.knowledge.knowledge_facts import facts_section, save_fact
from panels.knowledge.knowledge_room import (
    ARCHIVE,
    PROPOSED,
    FactDraft,
    ItemDraft,
    KnowledgeView,
    MergeWords,
    NewDraft,
    ProposalWords,
    Typing,
    ask,
    begin_new,
    can_ask,
    item_key,
    save,
    settle,
    shown_text,
)
from panels.knowledge.merges import has_merge, keep_words, merge_button, merge_section
from panels.knowledge.rows import (
    SECTIONS,
    KnowledgeHeading,
    More,
    Nothing,
    Row,
    archived_found,
    listing,
)

# The Knowledge panel: what is known, as lists that a person edits, and the digest that models see of it.

TABS = (
    Option(value="items", label=tr("Items"), icon="book"),
    Option(value="digest", label=tr("Digest"), icon="file-lines"),
    Option(value="facts", label=tr("Structured facts"), icon="list-check"),
)
MERGE_TAB = Option(value="merge", label=tr("Merge"), icon="code-merge")
HEADING_PX = 36.0
NOTE_PX = 52.0
MORE_PX = 36.0
FORM_PX = 190.0
EMPTY_PX = 260.0
ITEM_PX = 56.0
EDITOR_PX, PROPOSAL_PX = 96.0, 108.0
LINE_PX = 19.0
CHAR_PX = 7.2
INDENT_PX = 14.0
GAP_PX = 8.0
SHOWN_PROBLEMS = 3
MORE_AT_ONCE = 500


def knowledge_panel(desk: Desk) -> None:
    """Draw the panel. O(visible) for any number of items.

    Sends AddKnowledgeItem, EditKnowledgeItem, DeleteKnowledgeItem, ArchiveItem, TakeBackItem, SetTaskDone, AttachNotes, RegenerateDigest,
    DeleteDigest, ChangeSetting, SelectDiscussion, UndoDelete, EditFact, DeleteFact, ExplainItem, ExplainFact,
    SyncFacts, ProposeMerge, ApplyMerge, GraduatePlaybook, AcceptProposal, RefuseProposals.
    """
    ui, own = desk.ui, desk.view.of(KnowledgeView)
    settle(desk.state, own)
    switch_row(desk)
    _problems(desk)
    _ways_back(desk)
    tabs = (*TABS, MERGE_TAB) if own.tab == "merge" or has_merge(desk) else TABS
    if own.tab == PROPOSED or has_proposals(desk):
        count = len(desk.state.proposals.waiting)
        tabs = (
            *tabs,
            Option(
                value=PROPOSED,
                label=tr("Proposed ({count:,})", count=count) if count else tr("Proposed"),
                icon="plug",
            ),
        )
    if own.tab == ARCHIVE or desk.state.knowledge.archived:
        count = len(desk.state.knowledge.archived)
        label = tr("Archive ({count:,})", count=count) if count else tr("Archive")
        tabs = (*tabs, Option(value=ARCHIVE, label=label, icon="box-archive"))
    own.tab = ui.tabs("parts", tabs, own.tab) or own.tab
    if own.tab == "digest":
        with ui.surface("digest", "clear", height=0, padding=(0, 0), scrolls=True):
            digest_section(desk)
        return
    if own.tab == "facts":
        facts_section(desk)
        return
    if own.tab == "merge":
        merge_section(desk)
        return
    if own.tab == PROPOSED:
        proposals_section(desk)
        return
    if own.tab == ARCHIVE:
        if desk.state.knowledge.archived:
            _search(desk)
        archive_section(desk)
        return
    _items(desk)


def _problems(desk: Desk) -> None:
    """Problems of files that no section names."""
    knowledge, ui = desk.state.knowledge, desk.ui
    named = {file.problem for file in knowledge.categories if file.problem}
    named |= {problem.sentence for problem in knowledge.facts.problems}
    problems = [problem for problem in knowledge.problems if problem not in named]
    for index, problem in enumerate(problems[:SHOWN_PROBLEMS]):
        with ui.row(("problem", index)):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", problem, tone="warn", style="small", wraps=True)
    if len(problems) > SHOWN_PROBLEMS:
        rest = tr("and {problems:,} more of these problems", problems=len(problems) - SHOWN_PROBLEMS)
        ui.text("more problems", rest, tone="warn", style="small", tip="\n".join(problems[SHOWN_PROBLEMS:]))


def _ways_back(desk: Desk) -> None:
    """Offer to put back what was deleted, where it was deleted. Sends RestoreItem, RestoreFact, DismissNotice."""
    ui = desk.ui
    for notice in desk.state.program.notices:
        if notice.id in WAYS_BACK and isinstance(notice.action, Command):
            with ui.surface(("deleted", notice.id), "inset", padding=(12, 6)), ui.row("line"):
                ui.text("text", notice.text, width=0, tip=notice.text)
                if ui.button("undo", notice.action_label, icon="rotate-left", is_small=True):
                    desk.send(notice.action)
                if ui.button("dismiss", "", icon="xmark", kind="ghost", tip=tr("Dismiss"), is_small=True):
                    desk.send(DismissNotice(notice.id))


def _items(desk: Desk) -> None:
    ui, view = desk.ui, desk.view.of(KnowledgeView)
    _toolbar(desk)
    shown = listing(desk.state.knowledge, view, desk.view.memo)
    if view.query.strip():
        text = (
            tr(
                "{found:,} of {count}",
                found=shown.found,
                count=fmt.count(shown.count, tr("item"), tr("items")),
            )
            if shown.found
            else tr("Nothing matches.")
        )
        ui.text("found", text, tone="muted", style="small")
        _found_in_archive(desk)
    target = shown.forms.get(view.show_new) if view.show_new is not None else None
    view.show_new = None
    if shown.rows:
        ui.virtual_list("knowledge rows", KnowledgeRows(desk, shown.rows), scroll_to=target)


def _search(desk: Desk) -> None:
    """Draw the field that finds items, in use or in the archive: one for both."""
    view = desk.view.of(KnowledgeView)
    typed = desk.ui.text_input(
        "filter", view.query, hint=tr("Words or “a phrase”"), icon="magnifying-glass", width=0
    )
    view.query = view.query if typed is None else typed


def _found_in_archive(desk: Desk) -> None:
    """Lead to items of the archive that the filter finds too."""
    own, knowledge = desk.view.of(KnowledgeView), desk.state.knowledge
    found = len(archived_found(knowledge, own, desk.view.memo)) if knowledge.archived else 0
    label = tr("{items} in the archive", items=fmt.count(found, tr("item"), tr("items")))
    if found and desk.ui.button("found in archive", label, icon="box-archive", kind="link", is_small=True):
        own.tab = ARCHIVE


def _toolbar(desk: Desk) -> None:
    ui, view = desk.ui, desk.view.of(KnowledgeView)
    with ui.row("toolbar"):
        _search(desk)
        are_closed = all(category.value in view.closed for category, _, _ in SECTIONS)
        if ui.button("fold", "", icon="angles-down" if are_closed else "angles-up", kind="ghost",
                     tip=tr("Unfold all sections") if are_closed else tr("Fold all sections")):  # fmt: skip
            view.closed = set() if are_closed else {category.value for category, _, _ in SECTIONS}
            view.shape += 1
        if desk.state.program.is_home_read_only:
            return
        with ui.menu("add", "", icon="plus", tip=tr("Add to knowledge")) as is_open:
            if is_open:
                for category, _, icon in SECTIONS:
                    if category in ONE_OF and ui.menu_item(
                        category.value, tr("New {ONE_OF}", ONE_OF=ONE_OF[category]), icon=icon
                    ):
                        begin_new(view, category)


def _empty(desk: Desk, ui: Ui) -> None:
    with ui.group("empty", gap=6):
        ui.gap(8)
        ui.text("title", tr("There is no knowledge yet"), style="h3")
        ui.text("what", tr("Knowledge keeps facts, decisions, questions, tasks, playbooks and notes about files. A harvest takes these items from old conversations. You can also write items here or in the Markdown files in this folder:"), tone="muted", wraps=True)  # fmt: skip
        folder = knowledge_path(desk.state, "").rstrip("/\\")
        ui.selectable_text("folder", folder, mono=True, height=28)
        if ui.button(
            "harvest",
            tr("Harvest conversations"),
            icon="wheat-awn",
            is_small=True,
            tip=action_tip(desk, "harvest"),
        ):
            desk.view.show_hub("harvest")
        ui.gap(8)


class KnowledgeRows(ListRows[Row]):
    """The rows of the list, for a virtual list."""

    def key(self, index: int) -> Hashable:
        """Key of a row; items by place and words."""
        row = self.rows[index]
        match row:
            case Item():
                return row.file, row.first_line, row.text
            case KnowledgeHeading():
                return "heading", row.category
            case Nothing():
                return "nothing"
            case NoteFile():
                return "file", row.file_id
            case More():
                return "more", row.section
            case ItemDraft():
                return "lost", id(row)
            case NewDraft():
                return "new", row.category

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the length of the words."""
        row = self.rows[index]
        match row:
            case Item():
                lines = 1 + min(len(row.text), 480) * CHAR_PX // max(80.0, width - 40)
                return ITEM_PX + GAP_PX + LINE_PX * lines
            case KnowledgeHeading():
                return HEADING_PX + GAP_PX
            case NoteFile():
                return NOTE_PX
            case More():
                return MORE_PX
            case Nothing():
                return EMPTY_PX
            case _:
                return FORM_PX

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a row."""
        row = self.rows[index]
        self.desk.view.of(KnowledgeView).row = index
        if isinstance(row, KnowledgeHeading):
            ui.gap(8 if index else 0)
        _row(self.desk, ui, row)
        ui.gap(6 if isinstance(row, KnowledgeHeading | NoteFile) else GAP_PX)


def _row(desk: Desk, ui: Ui, row: Row) -> None:
    match row:
        case Item(category=Category.FILES):
            with ui.row("indented", gap=0):
                ui.gap(INDENT_PX)
                with ui.group("note"):
                    item_card(desk, ui, row)
        case Item():
            item_card(desk, ui, row)
        case KnowledgeHeading():
            _heading(desk, ui, row)
        case Nothing():
            _empty(desk, ui)
        case NoteFile():
            note_head(desk, ui, row)
        case More():
            _more(desk, ui, row)
        case ItemDraft():
            lost_card(desk, ui, row)
        case NewDraft():
            new_card(desk, ui, row)


def _heading(desk: Desk, ui: Ui, heading: KnowledgeHeading) -> None:
    view = desk.view.of(KnowledgeView)
    count = (
        f"{heading.count:,}"
        if heading.found is None
        else tr("{found:,} of {count:,}", found=heading.found, count=heading.count)
    )
    tip = f"{tr('Fold') if heading.is_open else tr('Unfold')} {heading.title}"
    with (
        ui.clickable("heading", "clear", height=HEADING_PX - 6, padding=(4, 3), tip=tip) as clicks,
        ui.row("line", gap=8, height=HEADING_PX - 12),
    ):
        ui.icon("fold", "chevron-down" if heading.is_open else "chevron-right", tone="faint")
        ui.icon("icon", heading.icon, tone="accent" if heading.count else "faint")
        ui.text("title", heading.title, style="strong", tone="text" if heading.count else "muted")
        ui.text("count", count, tone="muted", style="small")
        ui.push()
        if heading.category in ONE_OF and heading.count:
            merge_button(desk, ui, heading.category, heading.count)
        if heading.file:
            file_button(ui, knowledge_path(desk.state, heading.file))
        if (
            heading.category in ONE_OF
            and not desk.state.program.is_home_read_only
            and ui.button(
                "add",
                "",
                icon="plus",
                kind="ghost",
                is_small=True,
                tip=tr("New {ONE_OF}", ONE_OF=ONE_OF[heading.category]),
            )
        ):
            begin_new(view, heading.category)
    if clicks.clicked:
        view.fold(heading.category.value)
    if heading.problem:
        with ui.row("problem"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", heading.problem, tone="warn", style="small", wraps=True)


def _more(desk: Desk, ui: Ui, more: More) -> None:
    view = desk.view.of(KnowledgeView)
    with ui.row("more", gap=4):
        if more.left > MORE_AT_ONCE and ui.button(
            "some",
            tr("Show {MORE_AT_ONCE} more", MORE_AT_ONCE=MORE_AT_ONCE),
            icon="chevron-down",
            kind="ghost",
            is_small=True,
        ):
            view.shown[more.section] = more.listed + MORE_AT_ONCE
            view.shape += 1
        if ui.button(
            "all",
            tr("Show all {listed:,}", listed=more.listed + more.left),
            icon="angles-down",
            kind="ghost",
            is_small=True,
        ):
            view.shown[more.section] = more.listed + more.left
            view.shape += 1


# The one way in which Ctrl+Enter keeps what is being typed in the Knowledge panel.


def save_typed(desk: Desk, draft: Typing) -> None:
    """Keep a draft, where it says something. Sends what the buttons of its editor send."""
    match draft:
        case FactDraft():
            save_fact(desk, draft)
        case MergeWords(group_id):
            keep_words(desk, group_id)
        case ProposalWords(proposal_id):
            add_typed(desk, proposal_id)
        case _:
            save(desk, draft)


# The tab of the archive in the Knowledge panel: items that no request contains, and the way back for each.


CARD_PX = 56.0


def archive_section(desk: Desk) -> None:
    """Draw the tab. O(visible). Sends TakeBackItem."""
    ui, every = desk.ui, desk.state.knowledge.archived
    if not every:
        ui.text("none", tr("The archive holds no knowledge item."), tone="muted", wraps=True)
        return
    items = archived_found(desk.state.knowledge, desk.view.of(KnowledgeView), desk.view.memo)
    if not items:
        ui.text("none", tr("Nothing matches."), tone="muted", style="small")
        return
    kept = fmt.count(len(items), tr("item"), tr("items"))
    what = (
        tr("{found:,} of {count}", found=len(items), count=fmt.count(len(every), tr("item"), tr("items")))
        if len(items) < len(every)
        else tr("The archive keeps {kept}. No request contains an archived item.", kept=kept)
    )
    ui.text(
        "what",
        what,
        tone="muted",
        style="small",
        wraps=True,
    )
    ui.virtual_list("archived", ArchiveRows(desk, items))


class ArchiveRows(ListRows[Item]):
    """The archive, for a virtual list."""

    def key(self, index: int) -> Hashable:
        """An item's name, and its line: the archive may keep the same words twice."""
        return item_key(self.rows[index]), self.rows[index].first_line

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the length of the words."""
        return CARD_PX + LINE_PX * (1 + len(self.rows[index].text) * CHAR_PX // max(80.0, width - 40))

    def draw(self, index: int, ui: Ui) -> None:
        """Draw an item with its way back."""
        item = self.rows[index]
        with ui.surface("card", "card", padding=(12, 8)), ui.group("lines", gap=5):
            prose(ui, "text", shown_text(item))
            with ui.row("foot", gap=4):
                provenance(self.desk, ui, item.provenance)
                ui.push()
                if ui.button(
                    "take back",
                    tr("Take back"),
                    icon="rotate-left",
                    is_small=True,
                    is_enabled=can_ask(self.desk, item),
                    tip=tr("Put this item back into {file}", file=item.file),
                ):
                    ask(self.desk, item, TakeBackItem(item))
        ui.gap(GAP_PX)


# The tab of proposals: what other programs would have known, and the person's yes or no.

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
    ui.virtual_list("proposals", ProposalRows(desk, waiting))


class ProposalRows(ListRows[Proposal]):
    """The proposals, for a virtual list."""

    @property
    def revision(self) -> Hashable:
        """The proposals themselves, and what stands near them."""
        return Same(self.desk.state.proposals)

    def key(self, index: int) -> Hashable:
        """A proposal's id."""
        return self.rows[index].id

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the length of the words."""
        one = self.rows[index]
        texts = [proposed_text(one), *self._near(one)]
        return PROPOSAL_PX + LINE_PX * sum(1 + len(text) * CHAR_PX // max(80.0, width - 40) for text in texts)

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a proposal."""
        one = self.rows[index]
        _card(self.desk, ui, one, self._near(one))
        ui.gap(GAP_PX)

    def _near(self, one: Proposal) -> tuple[str, ...]:
        return self.desk.state.proposals.near.get(one.id, ())


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
