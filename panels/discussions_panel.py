"""The list of discussions: search, sections, branches as a tree, and what can be done with each."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from core.values import commands as c
from core.values.discussion import DiscussionSummary
from core.values.state import AppState
from core.values.usage import Usage
from panels import format as fmt
from panels import selection
from panels.actions import Desk, action_tip, run_action
from panels.discussion_rows import Card, Heading, Row, rows
from panels.memo import Same
from panels.ui import Send, Tone, Ui
from panels.view import Dialog, WindowView

INDENT_PX = 16
CARD_PX = 80
HEADING_PX = 36
GAP_PX = 8


def discussions_panel(state: AppState, view: WindowView, ui: Ui, send: Send) -> None:
    """Draw the list pane. O(visible) for any number of discussions. Sends what its cards and search ask for."""
    with ui.surface("discussions", "clear", height=0, padding=(12, 12)):
        _search_row(state, view, ui, send)
        shown = rows(state, view)
        if shown:
            ui.virtual_list("rows", DiscussionRows(state, view, send, shown))
        else:
            _empty(state, view, ui)


def _search_row(state: AppState, view: WindowView, ui: Ui, send: Send) -> None:
    with ui.row("search row"):
        typed = ui.text_input(
            "search", view.search_text, hint="Search discussions", icon="magnifying-glass", width=0,
            is_focused=view.focus == "search",
        )  # fmt: skip
        if view.focus == "search":
            view.focus = ""
        if typed is not None:
            view.search_text = typed
            send(c.SearchDiscussions(typed.strip()))
        if ui.button("new", "", icon="plus", kind="primary", tip=action_tip("new")):
            run_action("new", Desk(state, view, ui, send))


def _empty(state: AppState, view: WindowView, ui: Ui) -> None:
    if view.search_text.strip():
        text = f"Nothing found for “{view.search_text.strip()}”" if state.search.is_complete else "Searching…"
    else:
        text = "Reading discussions…" if state.is_loading else "No discussions yet"
    ui.text("empty", text, tone="muted", style="small", wraps=True)


@dataclass(slots=True)
class DiscussionRows:
    """The rows of the list, for a virtual list."""

    state: AppState
    view: WindowView
    send: Send
    rows: tuple[Row, ...]

    @property
    def revision(self) -> Hashable:
        """The rows themselves, and which one is being renamed."""
        return Same(self.rows), self.view.renaming_id

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> Hashable:
        """A discussion's id with what makes its card higher."""
        match self.rows[index]:
            case Heading(title=title):
                return "heading", title
            case Card(id=discussion_id, line=line):
                return discussion_id, bool(line), discussion_id == self.view.renaming_id

    def estimate_px(self, index: int, width: float) -> float:
        """A card's height."""
        match self.rows[index]:
            case Heading():
                return HEADING_PX
            case Card(line=line):
                return CARD_PX + (20 if line else 0)

    def draw(self, index: int, ui: Ui) -> None:
        """Draw a heading or a card."""
        match self.rows[index]:
            case Heading() as heading:
                ui.gap(12 if index else 0)
                _heading(self.view, ui, heading)
                ui.gap(6)
            case Card() as card:
                summary = self.state.summaries.get(card.id)
                if summary is not None:
                    _card(self, ui, card, summary)
                ui.gap(GAP_PX)


def _heading(view: WindowView, ui: Ui, heading: Heading) -> None:
    label = f"{heading.title} · {heading.count:,}"
    if heading.title != "Archived":
        ui.text("title", label, tone="faint", style="small_strong")
        return
    icon = "chevron-down" if view.is_archive_open else "chevron-right"
    if ui.button("archive", label, icon=icon, kind="ghost", is_small=True):
        view.is_archive_open = not view.is_archive_open


def _card(shown: DiscussionRows, ui: Ui, card: Card, summary: DiscussionSummary) -> None:
    if not card.depth:
        _card_body(shown, ui, card, summary)
        return
    with ui.row("indented", gap=0):
        ui.gap(INDENT_PX * card.depth)
        with ui.group("branch"):
            _card_body(shown, ui, card, summary)


def _card_body(shown: DiscussionRows, ui: Ui, card: Card, summary: DiscussionSummary) -> None:
    state, view, send = shown.state, shown.view, shown.send
    is_selected = card.id == state.selected_id
    kind = "card_selected" if is_selected else "card"
    with ui.clickable("card", "card_selected" if is_selected else "card") as clicks:
        with ui.row("title row"):
            icon, tone, tip = status_icon(state, summary)
            ui.icon("status", icon, tone=tone, tip=tip)
            _name(view, ui, send, summary)
            ui.push()
            if summary.meta.pinned:
                ui.icon("pinned", "thumbtack", tone="faint", tip="Pinned")
            with ui.menu("menu", "", icon="ellipsis", tip="More") as is_open:
                if is_open:
                    _card_menu(view, ui, send, summary)
        _figures(state, ui, summary)
        if card.line:
            ui.text("line", card.line, tone="muted", style="small", width=0)
        with ui.context_menu("context menu") as is_open:
            if is_open:
                _card_menu(view, ui, send, summary)
    if clicks.clicked and view.renaming_id != card.id:
        view.page = "chat"
        if kind == "card":
            send(c.SelectDiscussion(card.id))


def _name(view: WindowView, ui: Ui, send: Send, summary: DiscussionSummary) -> None:
    meta = summary.meta
    if view.renaming_id != meta.id:
        ui.text("name", meta.name, style="strong", width=0, tip=meta.name)
        return
    name = ui.text_input("rename", meta.name, width=0, is_focused=True, submits=True, hint="Name")
    if name is None:
        return
    view.renaming_id = ""
    if name.strip() and name.strip() != meta.name:
        send(c.RenameDiscussion(meta.id, name.strip()))


def _figures(state: AppState, ui: Ui, summary: DiscussionSummary) -> None:
    meta, used = summary.meta, summary.usage
    model = selection.model_label(state, meta.provider, meta.model)
    with ui.row("figures"):
        line = f"{fmt.count(summary.turns, 'turn')} · {model}" if summary.turns else model
        ui.text("model", line, tone="muted", style="small", width=0, tip=line)
        if used != Usage():
            known = [
                "" if used.input_tokens is None else fmt.tokens(used.input_tokens),
                "" if used.cost_usd is None else fmt.cost(used.cost_usd),
            ]
            tip = (
                f"Tokens sent so far: {fmt.tokens(used.input_tokens)}\nCost so far: {fmt.cost(used.cost_usd)}"
            )
            ui.text("used", " · ".join(k for k in known if k), tone="muted", style="small", tip=tip)


def status_icon(state: AppState, summary: DiscussionSummary) -> tuple[str, Tone, str]:
    """The icon of a card, its tone, and what it means in words."""
    meta = summary.meta
    if meta.id in state.calls:
        return "comments", "warn", "A reply is on its way"
    opened = state.open.get(meta.id)
    if opened is not None and opened.failed_message_id and opened.failure is not None:
        return "circle-exclamation", "error", "The last send failed"
    if summary.problem:
        return "triangle-exclamation", "warn", summary.problem
    if opened is not None and (opened.draft.text or opened.draft.attachments):
        return "pen", "muted", "Something is written and not sent"
    tone: Tone = "accent" if meta.id == state.selected_id else "muted"
    if meta.parent_id:
        parent = state.summaries.get(meta.parent_id)
        return "code-branch", tone, f"Branch of {parent.meta.name}" if parent else "Branch"
    return "comments", tone, ""


def _card_menu(view: WindowView, ui: Ui, send: Send, summary: DiscussionSummary) -> None:
    meta = summary.meta
    if ui.menu_item("rename", "Rename", icon="pen", shortcut="F2"):
        view.renaming_id = meta.id
    if ui.menu_item("pin", "Unpin" if meta.pinned else "Pin", icon="thumbtack"):
        send(c.PinDiscussion(meta.id, not meta.pinned))
    if ui.menu_item("archive", "Unarchive" if meta.archived else "Archive", icon="box-archive"):
        send(c.ArchiveDiscussion(meta.id, not meta.archived))
    ui.divider("export group")
    if ui.menu_item("markdown", "Export as Markdown…", icon="file-export"):
        view.dialog = Dialog("export_markdown", meta.id)
    if ui.menu_item("json", "Export as JSON…", icon="file-export"):
        view.dialog = Dialog("export_json", meta.id)
    ui.divider("delete group")
    if ui.menu_item("delete", "Delete", icon="trash-can", tone="error"):
        send(c.DeleteDiscussion(meta.id))
