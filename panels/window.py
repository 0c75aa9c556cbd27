"""The whole window: menu bar, icon rail, panes, status bar, and the dialogs over them."""

from __future__ import annotations

from core.values import commands as c
from core.values.state import AppState
from panels.actions import ACTIONS, MENUS, Desk, action_item, action_tip, run_shortcuts, show_hub
from panels.caching_guard import guarded
from panels.conversation_panel import conversation_panel
from panels.discussions_panel import discussions_panel
from panels.hub_panel import hub_panel
from panels.notices_panel import notices_panel
from panels.panes import Pane, panes, shown_panes, toggle_side
from panels.status_bar import STATUS_PX, status_bar
from panels.ui import Send, Ui
from panels.view import HubTab, WindowView

RAIL_PX = 56
MENU_PX = 32
MIN_PANE_PX = 200


def window(state: AppState, view: WindowView, ui: Ui, send: Send) -> None:
    """Draw everything. GUI thread, once per frame, O(visible).

    Args:
        state: one snapshot; view: what the window alone knows, changed in place.
        send: takes every command that the person's clicks and keys ask for.
    """
    _restore(state, view)
    send = guarded(state, view, send)
    desk = Desk(state, view, ui, send)
    if view.dialog is None:
        _save_knowledge(desk)
        run_shortcuts(desk)
        _escape(desk)
    view.knowledge.begin_frame()
    with ui.surface("window", "base", height=0, padding=(0, 0)):
        _menu_bar(desk)
        with ui.row("body", gap=0, height=-STATUS_PX):
            _icon_rail(desk)
            with ui.group("main", gap=0):
                _main(desk)
        status_bar(state, view, ui, send)
    if view.dialog is not None:
        from panels.dialogs import dialogs  # not before it is needed: the first frame must not wait for it

        dialogs(desk)
    _keep(state, view, send)


def _restore(state: AppState, view: WindowView) -> None:
    """Take over what the last window left, once the home is open."""
    if view.restored is None and state.home:
        view.restored = state.window_toml
        view.restore(state.window_toml)


def _keep(state: AppState, view: WindowView, send: Send) -> None:
    """Persist panes, tabs and scroll when they changed, and only once what was kept before is known."""
    if view.restored is None or state.is_home_read_only:
        return
    kept = view.kept()
    if kept != view.saved:
        view.saved = kept
        send(c.SaveWindow(view.to_toml()))


def _save_knowledge(desk: Desk) -> None:
    """Ctrl+Enter belongs to the item that is being written, before it sends a message."""
    draft = desk.view.knowledge.typing
    if draft is not None and desk.ui.shortcut("Ctrl+Enter"):
        from panels.knowledge_drafts import save  # loaded with the panel

        save(desk, draft)


def _escape(desk: Desk) -> None:
    """Close what is open, innermost first; then stop the reply."""
    view = desk.view
    if not desk.ui.shortcut("Escape"):
        return
    if view.knowledge.typing is not None:
        view.knowledge.drop(view.knowledge.typing)
    elif view.renaming_id:
        view.renaming_id = ""
    elif view.find.is_open:
        view.find.is_open = False
    elif view.page == "settings":
        view.page = "chat"
    elif desk.call is not None:
        desk.send(c.CancelReply(desk.state.selected_id))


def _menu_bar(desk: Desk) -> None:
    with desk.ui.surface("menu bar", "base", height=MENU_PX, padding=(8, 2)), desk.ui.row("menus", gap=4):
        for menu in MENUS:
            with desk.ui.menu(menu, menu) as is_open:
                if is_open:
                    _menu_items(desk, menu)


def _menu_items(desk: Desk, menu: str) -> None:
    group = 0
    for action in ACTIONS:
        if action.menu != menu:
            continue
        if action.group != group:
            group = action.group
            desk.ui.divider(("group", group))
        action_item(desk, action.id)


def _icon_rail(desk: Desk) -> None:
    ui, view = desk.ui, desk.view
    with ui.surface("rail", "base", width=RAIL_PX, height=0, padding=(8, 8), scrolls=True):
        is_list = "list" in shown_panes(view)
        if _rail_button(ui, "discussions", "comments", "Discussions (Ctrl+B)", is_active=is_list):
            toggle_side(view, "list")
        _rail_tab(desk, "presets", "layer-group")
        _rail_tab(desk, "context", "chart-bar")
        _rail_tab(desk, "knowledge", "book")
        _rail_tab(desk, "caching", "bolt")
        _rail_tab(desk, "harvest", "wheat-awn")
        if _rail_button(ui, "settings", "gear", action_tip("settings"), is_active=view.page == "settings"):
            view.page = "chat" if view.page == "settings" else "settings"


def _rail_tab(desk: Desk, tab: HubTab, icon: str) -> None:
    view = desk.view
    is_active = "hub" in shown_panes(view) and view.hub_tab == tab
    if _rail_button(desk.ui, tab, icon, action_tip(tab), is_active=is_active):
        if is_active:
            view.is_hub_shown = False
        else:
            show_hub(view, tab)


def _rail_button(ui: Ui, key: str, icon: str, tip: str, *, is_active: bool) -> bool:
    return ui.button(key, "", icon=icon, kind="rail_active" if is_active else "rail", tip=tip, width=40)


def _main(desk: Desk) -> None:
    state, view, ui, send = desk.state, desk.view, desk.ui, desk.send
    if view.page == "settings":
        from panels.settings_panel import settings_panel

        with ui.surface("settings", "pane", height=0, padding=(0, 0)):
            notices_panel(state, view, ui, send)
            settings_panel(state, view, ui, send)
        return
    view.room_px = ui.width()
    shown = panes(view, view.room_px)
    names = tuple(name for name, _ in shown)
    with ui.split(("panes", names), [width for _, width in shown], min_px=MIN_PANE_PX) as split:
        for index, name in enumerate(names):
            with split.pane(index):
                _pane(desk, name)
    if split.dragged is not None:
        _dragged(view, names, split.dragged)


def _dragged(view: WindowView, names: tuple[Pane, ...], widths: tuple[float, ...]) -> None:
    for name, width in zip(names, widths, strict=False):
        if name == "list":
            view.list_px = float(width)
        elif name == "hub":
            view.hub_px = float(width)


def _pane(desk: Desk, name: Pane) -> None:
    state, view, ui, send = desk.state, desk.view, desk.ui, desk.send
    with ui.surface(name, "pane", height=0, padding=(0, 0)):
        if name == "list":
            discussions_panel(state, view, ui, send)
        elif name == "hub":
            hub_panel(state, view, ui, send)
        else:
            notices_panel(state, view, ui, send)
            conversation_panel(state, view, ui, send)
