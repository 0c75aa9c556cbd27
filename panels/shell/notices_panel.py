"""Notices that stay until they are read: what happened, the remedy, an action, and a way to dismiss.

They float over the foot of the list, so that nothing moves under the pointer, the oldest at the bottom: what comes later
stands above it and moves none.
"""

from __future__ import annotations

from collections.abc import Hashable

from core.app.messages import Command, DismissNotice
from core.base import figures as fmt
from core.base.text import one_line
from core.knowledge.step import WAYS_BACK
from core.mcp.step import NOTICE as SERVERS
from core.mcp_server.step import NOTICE as PROPOSALS
from core.settings.asked_values import question_id
from core.settings.messages import TrustProject
from core.settings.wording import asked_lines, trust_reason, trust_title
from core.values.state import AppState, Level, Notice
from panels.base import selection
from panels.base.desk import Desk
from panels.base.levels import LEVEL_ICONS
from panels.base.ui import Style, Ui
from panels.base.view import Dialog, WindowView
from panels.knowledge.view import PROPOSED, KnowledgeView
from panels.shell.panes import panes, shown_panes
from panels.shell.rail import rail_px
from panels.shell.status_bar import STATUS_PX
from panels.shell.view import NoticesView

SHOW = "Show"
LEADS = {PROPOSALS: "knowledge", SERVERS: "mcp"}
"""Panel to which a notice leads, by its id: a person answers there what it says."""

SHOWN = 3
SHOWN_TIGHT = 1
WIDTH_PX, MARGIN_PX = 420.0, 12.0
NARROW_PX = 260.0
"""Width under which a button stands below the words of a notice: beside them there is no room for words."""
WORDS_PX = 110.0
"""Width under which words beside a button would be broken inside: then, too, it stands below them."""
AROUND_PX, LETTER_PX = 106.0, 6.6
"""Width of what stands around words and label, and of a letter of the label, about."""
COMPOSER_PX = 170
"""Room below them for the composer where no list stands at the left."""
TIGHT_PX = 1000
"""In a narrower window notices must leave room for the conversation."""
ASKED, ASKED_TIGHT = 5, 2
LOW_PX = 480
"""Height of a window under which the question of trust is its title and the way to all of it: more would lie over the list."""
ASKED_CHARS = 200


def notices_panel(desk: Desk) -> None:
    """Draw what the person should read. Sends DismissNotice, actions."""
    project, own = desk.state.config.project, desk.view.of(NoticesView)
    question = desk.view.memo.get("question of trust", (project.asked,), lambda: question_id(project.asked))
    asks = bool(project.asked) and (project.root, question) not in own.was_trust_put_off
    notices = _worth_showing(desk.state, desk.view)
    said = _said(desk)
    if not notices and not asks and said is None:
        return
    is_tight = desk.ui.width() < TIGHT_PX
    shown = dict(panes(desk.view, desk.view.room_px)) if desk.view.page == "chat" else {}
    has_list, is_alone = "list" in shown, tuple(shown) == ("hub",)
    width = shown["list"] - 2 * MARGIN_PX if has_list else WIDTH_PX
    foot = STATUS_PX + (0 if has_list or is_alone else COMPOSER_PX)
    with desk.ui.floating("notices", width=width, left=rail_px(desk.ui.width(), desk.ui.height()), foot=foot):
        _notices(desk, own, notices, SHOWN_TIGHT if is_tight else SHOWN, width)
        if said is not None and _banner(desk.ui, "said", said, width):
            desk.view.said = None
        if asks:
            limit = 0 if 0 < desk.ui.height() < LOW_PX else ASKED_TIGHT if is_tight else ASKED
            _trust_banner(desk, own, question, limit)


def _said(desk: Desk) -> Notice | None:
    """Say why a chord did nothing, until another is pressed or another discussion stands in front."""
    said = desk.view.said
    if said is None or said[0] != desk.state.discussions.selected_id:
        return None
    return Notice("said", Level.INFO, said[1])


def _worth_showing(state: AppState, view: WindowView) -> tuple[Notice, ...]:
    """All but what is shown elsewhere: the question of trust above, what belongs to a discussion that is not in front,
    and the way back to what was deleted in the panel that is. A failed send is told where it failed.
    """
    opened = selection.opened(state)
    here = opened.id if opened is not None and view.page == "chat" else ""
    told = {"trust"}
    if view.panel == "knowledge" and "hub" in shown_panes(view):
        told.update(WAYS_BACK)
    if opened is not None and opened.failure is not None:
        told.add(f"call/{opened.id}")
    return tuple(
        notice
        for notice in state.program.notices
        if notice.id not in told and notice.discussion_id in ("", here) and not _stands_in_panel(view, notice)
    )


def _stands_in_panel(view: WindowView, notice: Notice) -> bool:
    """True if the panel in front shows what a notice says. A refusal is said there as everywhere."""
    if view.panel != LEADS.get(notice.id) or "hub" not in shown_panes(view):
        return False
    is_there = notice.id != PROPOSALS or view.of(KnowledgeView).tab == PROPOSED
    return is_there and (notice.is_standing or notice.level is Level.INFO)


def _lead(desk: Desk, notice_id: str) -> None:
    """Show the panel that a notice leads to."""
    if notice_id == PROPOSALS:
        desk.view.of(KnowledgeView).tab = PROPOSED
    desk.view.show_hub(LEADS[notice_id])


def _notices(desk: Desk, own: NoticesView, notices: tuple[Notice, ...], shown: int, width: float) -> None:
    """The gravest and newest of them, each in its place."""
    ui, send = desk.ui, desk.send
    graves = sorted(
        range(len(notices)), key=lambda at: (list(Level).index(notices[at].level), at), reverse=True
    )
    hidden = len(notices) - shown
    if hidden > 0:
        label = "Show fewer" if own.are_all_shown else f"Show {fmt.count(hidden, 'more notice')}"
        if ui.button("more", label, kind="plain", is_small=True):
            own.are_all_shown = not own.are_all_shown
    for at in sorted(graves if own.are_all_shown else graves[:shown], reverse=True):
        notice = notices[at]
        did = _banner(ui, ("notice", notice.id), notice, width)
        if did == "action" and isinstance(notice.action, TrustProject) and notice.action.is_trusted:
            desk.view.dialog = Dialog("trust")  # nobody says yes to what does not stand above the button
        elif did == "action" and isinstance(notice.action, Command):
            send(notice.action)
        elif did == "action" and notice.id in LEADS:
            _lead(desk, notice.id)
        if did:
            send(DismissNotice(notice.id))


def _banner(ui: Ui, key: Hashable, notice: Notice, width: float) -> str:
    """Draw one notice. Returns `action`, `dismiss` or nothing."""
    is_narrow = width < NARROW_PX
    icon, tone = LEVEL_ICONS[notice.level]
    style: Style = "small" if is_narrow else "body"
    label = SHOW if notice.id in LEADS else notice.action_label if notice.action is not None else ""
    is_below = is_narrow or width - AROUND_PX - LETTER_PX * len(label) < WORDS_PX
    did = ""
    with ui.surface(key, "popup", padding=(12, 8)):
        with ui.row("head"):
            ui.icon("icon", icon, tone=tone)
            ui.text("text", notice.text, style=style, wraps=True, width=0)
            if label and not is_below and ui.button("action", label, kind="plain", is_small=True):
                did = "action"
            if ui.button("dismiss", "", icon="xmark", kind="ghost", tip="Dismiss", is_small=True):
                did = "dismiss"
        if notice.detail:
            ui.text("detail", notice.detail, tone="muted", style="small", wraps=True)
        if label and is_below and ui.button("action", label, kind="plain", is_small=True):
            did = "action"
    return did


def _trust_banner(desk: Desk, own: NoticesView, question: str, limit: int) -> None:
    """Say that the project asks, and for what first, where there is height for that. The whole question, and the yes,
    stand in the dialog.

    Args:
        limit: most lines of it, 0 for the title alone.
    """
    ui, project = desk.ui, desk.state.config.project
    lines = desk.view.memo.get("lines of trust", (project.asked,), lambda: asked_lines(project.asked))
    with ui.surface("trust", "popup", padding=(12, 8)):
        with ui.row("head"):
            ui.icon("icon", "shield-halved", tone="warn")
            ui.text("text", trust_title(project), style="strong", wraps=True, width=0)
        if limit:
            ui.text("why", trust_reason(project), tone="muted", style="small", wraps=True)
        for index, line in enumerate(lines[:limit]):
            ui.text(("asked", index), f"•  {one_line(line.words, ASKED_CHARS)}", style="small", wraps=True)
        if 0 < limit < len(lines):
            ui.text("rest", f"and {len(lines) - limit} more", tone="muted", style="small")
        with ui.row("answers"):
            if ui.button("look", "Look at all of it", kind="primary", is_small=True):
                desk.view.dialog = Dialog("trust")
            if ui.button("later", "Not now", is_small=True):
                own.was_trust_put_off.add((project.root, question))
