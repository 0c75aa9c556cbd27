"""Notices that stay until they are read: what happened, the remedy, an action, and a way to dismiss."""

from __future__ import annotations

from collections.abc import Hashable

from core.app.messages import Command, DismissNotice
from core.base import figures as fmt
from core.settings.messages import TrustProject
from core.values.state import AppState, Level, Notice
from panels.base import selection
from panels.base.desk import Desk
from panels.base.ui import Tone, Ui
from panels.base.view import WindowView
from panels.shell.view import NoticesView

SHOWN = 3
SHOWN_TIGHT = 1
TIGHT_PX = 560
"""In a narrower pane, as on a small screen, notices must leave room for the conversation."""
HELD_BACK, HELD_BACK_TIGHT = 8, 2
ICONS: dict[Level, tuple[str, Tone]] = {
    Level.INFO: ("circle-info", "accent"),
    Level.WARNING: ("triangle-exclamation", "warn"),
    Level.ERROR: ("circle-exclamation", "error"),
}


def notices_panel(desk: Desk) -> None:
    """Draw what the person should read, newest and gravest first. Sends DismissNotice, TrustProject, actions."""
    project, own = desk.state.config.project, desk.view.of(NoticesView)
    asks = bool(project.held_back) and not project.is_trusted and project.root not in own.was_trust_put_off
    notices = _worth_showing(desk.state, desk.view)
    if not notices and not asks:
        return
    with desk.ui.surface("notices", "clear", padding=(12, 8)):
        if asks:
            _trust_banner(desk, own)
        _notices(desk, own, notices)


def _worth_showing(state: AppState, view: WindowView) -> tuple[Notice, ...]:
    """All but what is shown elsewhere: the question of trust above, a failed send where it failed."""
    opened = selection.opened(state)
    told = {"trust"}
    if opened is not None and opened.failure is not None and view.page == "chat":
        told.add(f"call/{opened.id}")
    return tuple(notice for notice in state.program.notices if notice.id not in told)


def _notices(desk: Desk, own: NoticesView, notices: tuple[Notice, ...]) -> None:
    ui, send = desk.ui, desk.send
    newest = notices[::-1]
    grave_first = sorted(newest, key=lambda n: -list(Level).index(n.level))
    shown = SHOWN if ui.width() >= TIGHT_PX else SHOWN_TIGHT
    limit = len(grave_first) if own.are_all_shown else shown
    for notice in grave_first[:limit]:
        did = _banner(ui, ("notice", notice.id), notice)
        if did == "action" and isinstance(notice.action, Command):
            send(notice.action)
        if did:
            send(DismissNotice(notice.id))
    hidden = len(grave_first) - shown
    if hidden > 0:
        label = "Show fewer" if own.are_all_shown else f"Show {fmt.count(hidden, 'more notice')}"
        if ui.button("more", label, kind="link", is_small=True):
            own.are_all_shown = not own.are_all_shown


def _banner(ui: Ui, key: Hashable, notice: Notice) -> str:
    """Draw one notice. Returns `action`, `dismiss` or nothing."""
    icon, tone = ICONS[notice.level]
    did = ""
    with ui.surface(key, "card", padding=(12, 8)):
        with ui.row("head"):
            ui.icon("icon", icon, tone=tone)
            ui.text("text", notice.text, wraps=True, width=0)
            if (
                notice.action is not None
                and notice.action_label
                and ui.button("action", notice.action_label, kind="plain", is_small=True)
            ):
                did = "action"
            if ui.button("dismiss", "", icon="xmark", kind="ghost", tip="Dismiss", is_small=True):
                did = "dismiss"
        if notice.detail:
            ui.text("detail", notice.detail, tone="muted", style="small", wraps=True)
    return did


def _trust_banner(desk: Desk, own: NoticesView) -> None:
    ui, project = desk.ui, desk.state.config.project
    with ui.surface("trust", "card", padding=(12, 8)):
        with ui.row("head"):
            ui.icon("icon", "shield-halved", tone="warn")
            ui.text("text", f"Do you trust {project.name or project.root}?", style="strong")
        ui.text(
            "why",
            "Its manual_slop.toml asks for more than a folder may have that nobody has vouched for. Until you"
            " trust it, this is held back:",
            tone="muted",
            style="small",
            wraps=True,
        )
        limit = HELD_BACK if ui.width() >= TIGHT_PX else HELD_BACK_TIGHT
        for index, sentence in enumerate(project.held_back[:limit]):
            ui.text(("held", index), f"•  {sentence}", style="small", wraps=True)
        if len(project.held_back) > limit:
            rest = "\n".join(project.held_back[limit:])
            ui.text(
                "rest", f"and {len(project.held_back) - limit} more", tone="muted", style="small", tip=rest
            )
        with ui.row("answers"):
            if ui.button("trust", "Trust this folder", kind="primary", is_small=True):
                desk.send(TrustProject(is_trusted=True))
            if ui.button("later", "Not now", is_small=True):
                own.was_trust_put_off.add(project.root)
