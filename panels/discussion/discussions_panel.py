"""The list of discussions: search, sections, branches as a tree, and what can be done with each."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from core.base import figures as fmt
from core.discussion.messages import (
    ArchiveDiscussion,
    DeleteDiscussion,
    PinDiscussion,
    RenameDiscussion,
    SearchDiscussions,
    SelectDiscussion,
)
from core.values.discussion import DiscussionSummary
from core.values.state import AppState
from core.values.usage import Usage
from panels.base import selection
from panels.base.action import action_tip, run_action
from panels.base.desk import Desk
from panels.base.memo import Same
from panels.base.ui import Tone, Ui
from panels.base.view import Dialog
from panels.discussion.find_bar import open_hit
from panels.discussion.list_rows import DiscussionCard, ListHeading, Row, rows
from panels.discussion.view import DiscussionView

INDENT_PX = 16
CARD_PX = 80
HEADING_PX = 36
GAP_PX = 8


def discussions_panel(desk: Desk) -> None:
    """Draw the list pane. O(visible) for any number of discussions. Sends what its cards and search ask for."""
    own = desk.view.of(DiscussionView)
    with desk.ui.surface("discussions", "clear", height=0, padding=(12, 12)):
        _search_row(desk, own)
        shown = rows(desk.state, own, desk.view.memo)
        if shown:
            desk.ui.virtual_list("rows", DiscussionRows(desk, own, shown))
        else:
            _empty(desk, own)


def _search_row(desk: Desk, own: DiscussionView) -> None:
    ui, view = desk.ui, desk.view
    with ui.row("search row"):
        typed = ui.text_input(
            "search", own.search_text, hint="Search discussions", icon="magnifying-glass", width=0,
            is_focused=view.focus == "search",
        )  # fmt: skip
        if view.focus == "search":
            view.focus = ""
        if typed is not None:
            own.search_text = typed
            desk.send(SearchDiscussions(typed.strip()))
        if ui.button("new", "", icon="plus", kind="primary", tip=action_tip(desk, "new")):
            run_action("new", desk)


def _empty(desk: Desk, own: DiscussionView) -> None:
    state, query = desk.state, own.search_text.strip()
    if query:
        text = f"Nothing found for “{query}”" if state.discussions.search.is_complete else "Searching…"
    else:
        text = "Reading discussions…" if state.program.is_loading else "No discussions yet"
    desk.ui.text("empty", text, tone="muted", style="small", wraps=True)


@dataclass(slots=True)
class DiscussionRows:
    """The rows of the list, for a virtual list."""

    desk: Desk
    own: DiscussionView
    rows: tuple[Row, ...]

    @property
    def revision(self) -> Hashable:
        """The rows themselves, and which one is being renamed."""
        return Same(self.rows), self.own.renaming_id

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> Hashable:
        """A discussion's id with what makes its card higher."""
        match self.rows[index]:
            case ListHeading(title=title):
                return "heading", title
            case DiscussionCard(id=discussion_id, line=line):
                return discussion_id, bool(line), discussion_id == self.own.renaming_id

    def estimate_px(self, index: int, width: float) -> float:
        """A card's height."""
        match self.rows[index]:
            case ListHeading():
                return HEADING_PX
            case DiscussionCard(line=line):
                return CARD_PX + (20 if line else 0)

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a heading or a card."""
        match self.rows[index]:
            case ListHeading() as heading:
                ui.gap(12 if index else 0)
                _heading(self.own, ui, heading)
                ui.gap(6)
            case DiscussionCard() as card:
                summary = self.desk.state.discussions.summaries.get(card.id)
                if summary is not None:
                    _card(self, ui, card, summary)
                ui.gap(GAP_PX)


def _heading(own: DiscussionView, ui: Ui, heading: ListHeading) -> None:
    label = f"{heading.title} · {heading.count:,}"
    if heading.title != "Archived":
        ui.text("title", label, tone="faint", style="small_strong")
        return
    icon = "chevron-down" if own.is_archive_open else "chevron-right"
    if ui.button("archive", label, icon=icon, kind="ghost", is_small=True):
        own.is_archive_open = not own.is_archive_open


def _card(shown: DiscussionRows, ui: Ui, card: DiscussionCard, summary: DiscussionSummary) -> None:
    if not card.depth:
        _card_body(shown, ui, card, summary)
        return
    with ui.row("indented", gap=0):
        ui.gap(INDENT_PX * card.depth)
        with ui.group("branch"):
            _card_body(shown, ui, card, summary)


def _card_body(shown: DiscussionRows, ui: Ui, card: DiscussionCard, summary: DiscussionSummary) -> None:
    state, own = shown.desk.state, shown.own
    is_selected = card.id == state.discussions.selected_id
    kind = "card_selected" if is_selected else "card"
    with ui.clickable("card", "card_selected" if is_selected else "card") as clicks:
        with ui.row("title row"):
            icon, tone, tip = status_icon(state, summary)
            ui.icon("status", icon, tone=tone, tip=tip)
            _name(shown, ui, summary)
            ui.push()
            if summary.meta.pinned:
                ui.icon("pinned", "thumbtack", tone="faint", tip="Pinned")
            with ui.menu("menu", "", icon="ellipsis", tip="More") as is_open:
                if is_open:
                    _card_menu(shown, ui, summary)
        _figures(state, ui, summary)
        if card.line:
            ui.text("line", card.line, tone="muted", style="small", width=0)
        with ui.context_menu("context menu") as is_open:
            if is_open:
                _card_menu(shown, ui, summary)
    if clicks.clicked and own.renaming_id != card.id:
        shown.desk.view.page = "chat"
        open_hit(state, own, card.id)
        if kind == "card":
            shown.desk.send(SelectDiscussion(card.id))


def _name(shown: DiscussionRows, ui: Ui, summary: DiscussionSummary) -> None:
    own, meta = shown.own, summary.meta
    if own.renaming_id != meta.id:
        ui.text("name", meta.name, style="strong", width=0, tip=meta.name)
        return
    name = ui.text_input("rename", meta.name, width=0, is_focused=True, submits=True, hint="Name")
    if name is None:
        return
    own.renaming_id = ""
    if name.strip() and name.strip() != meta.name:
        shown.desk.send(RenameDiscussion(meta.id, name.strip()))


def _figures(state: AppState, ui: Ui, summary: DiscussionSummary) -> None:
    meta, used = summary.meta, summary.usage
    model = selection.model_label(state, meta.provider, meta.model)
    with ui.row("figures"):
        line = f"{fmt.count(summary.turns, 'turn')} · {model}" if summary.turns else model
        ui.text("model", line, tone="muted", style="small", width=0, tip=line)
        if used != Usage():
            cost = fmt.money(used.cost_usd, is_estimate=used.is_estimate)
            known = [
                "" if used.input_tokens is None else fmt.tokens(used.input_tokens),
                "" if used.cost_usd is None else cost,
            ]
            tip = f"Tokens sent so far: {fmt.tokens(used.input_tokens)}\nCost so far: {cost}"
            ui.text("used", " · ".join(k for k in known if k), tone="muted", style="small", tip=tip)


def status_icon(state: AppState, summary: DiscussionSummary) -> tuple[str, Tone, str]:
    """The icon of a card, its tone, and what it means in words."""
    meta = summary.meta
    if meta.id in state.turns.calls:
        return "comments", "warn", "A reply is on its way"
    opened = state.discussions.open.get(meta.id)
    if opened is not None and opened.failed_message_id and opened.failure is not None:
        return "circle-exclamation", "error", "The last send failed"
    if summary.problem:
        return "triangle-exclamation", "warn", summary.problem
    if opened is not None and (opened.draft.text or opened.draft.attachments):
        return "pen", "muted", "Something is written and not sent"
    tone: Tone = "accent" if meta.id == state.discussions.selected_id else "muted"
    if meta.parent_id:
        parent = state.discussions.summaries.get(meta.parent_id)
        return "code-branch", tone, f"Branch of {parent.meta.name}" if parent else "Branch"
    return "comments", tone, ""


def _card_menu(shown: DiscussionRows, ui: Ui, summary: DiscussionSummary) -> None:
    desk, meta = shown.desk, summary.meta
    if ui.menu_item("rename", "Rename", icon="pen", shortcut="F2"):
        shown.own.renaming_id = meta.id
    if ui.menu_item("pin", "Unpin" if meta.pinned else "Pin", icon="thumbtack"):
        desk.send(PinDiscussion(meta.id, not meta.pinned))
    if ui.menu_item("archive", "Unarchive" if meta.archived else "Archive", icon="box-archive"):
        desk.send(ArchiveDiscussion(meta.id, not meta.archived))
    ui.divider("export group")
    if ui.menu_item("markdown", "Export as Markdown…", icon="file-export"):
        desk.view.dialog = Dialog("export_markdown", meta.id)
    if ui.menu_item("json", "Export as JSON…", icon="file-export"):
        desk.view.dialog = Dialog("export_json", meta.id)
    ui.divider("delete group")
    if ui.menu_item("delete", "Delete", icon="trash-can", tone="error"):
        desk.send(DeleteDiscussion(meta.id))
