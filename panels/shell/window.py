"""The whole window: menu bar, rail, panes, status bar, and the dialogs over them."""

from __future__ import annotations

from functools import partial

from core.app.app_messages import Command, SaveWindow
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
from panels.base.desk import Desk, action_item, action_tip, run_action
from panels.base.ui import Send, Ui
from panels.base.view import WindowView
from panels.caching.caching_room import ask_past_limit, guarded
from panels.discussion.conversation_panel import conversation_panel
from panels.discussion.discussions_panel import discussions_panel
from panels.help.help_room import HelpView
from panels.shell import rooms
from panels.shell.hub_panel import BY_PANEL, go, hub_panel, lit
from panels.shell.layout import MENU_PX, MENUS, MIN_PANE_PX, STATUS_PX, Pane, panes, rail
from panels.shell.rooms import (
    ACTIONS,
    BY_ID,
    ROOMS,
    run_shortcuts,
    show_conversation,
    shown_panes,
)
from panels.shell.status_bar import notices_panel, status_bar


def window(state: AppState, view: WindowView, ui: Ui, send: Send) -> None:
    """Draw everything. GUI thread, once per frame, O(visible).

    Args:
        state: one snapshot; view: what the window alone knows, changed in place.
        send: takes every command that the person's clicks and keys ask for.
    """
    _restore(state, view)
    send = guarded(state, view, _showing(view, send))
    ask_past_limit(state, view)
    desk = Desk(state=state, view=view, ui=ui, send=send, actions=BY_ID)
    _begin(desk)
    with ui.surface("window", "base", height=0, padding=(0, 0)):
        width_px, high_px = ui.width(), ui.height()
        _menu_bar(desk)
        with ui.row("body", gap=0, height=-STATUS_PX):
            go(desk, rail(ui, width_px, high_px, lit(desk), partial(action_tip, desk)))
            with ui.group("main", gap=0):
                _main(desk)
        status_bar(desk)
        notices_panel(desk)
    _help(desk)
    if view.dialog is not None:
        from panels.shell.palette import dialogs

        dialogs(desk)
    _keep(state, view, send)


def _restore(state: AppState, view: WindowView) -> None:
    """Take over what the last window left, once the home is open."""
    if view.restored is None and state.program.home:
        view.restored = state.program.window_toml
        rooms.restore(view, state.program.window_toml)


def _showing(view: WindowView, send: Send) -> Send:
    """Send, and show the conversation that the person goes to."""

    def sent(command: Command) -> None:
        if isinstance(command, SelectDiscussion | CreateDiscussion):
            show_conversation(view)
        send(command)

    return sent


def _keep(state: AppState, view: WindowView, send: Send) -> None:
    """Persist panes, tabs and scroll when they changed, and only once what was kept before is known."""
    if view.restored is None or state.program.is_home_read_only:
        return
    kept = rooms.kept(view)
    if kept != view.saved:
        view.saved = kept
        send(SaveWindow(rooms.to_toml(view)))


def _begin(desk: Desk) -> None:
    """Let the rooms begin the frame; then do what the keys ask for, unless a dialog is over the window."""
    has_keys = desk.view.dialog is None
    for room in ROOMS:
        room.begin(desk)
    if has_keys:
        run_shortcuts(desk)
        _escape(desk)
    else:
        _help_on_dialog(desk)


def _help_on_dialog(desk: Desk) -> None:
    """Open the guide's page of the dialog that is over the window, which comes back after it."""
    dialog, chord = desk.view.dialog, BY_ID["help"].heard_chord(desk.state)
    if (
        dialog is None
        or dialog.kind == "help"
        or not chord
        or not desk.ui.shortcut(chord, is_everywhere=True)
    ):
        return
    from panels.help.help_room import DIALOG_PAGES, open_page

    page = DIALOG_PAGES.get(dialog.kind)
    if page:
        open_page(desk, page)
    else:
        open_page(desk, *_page_of(desk, _pane_in_use(desk)))


def _escape(desk: Desk) -> None:
    """Close what is open, innermost first; then stop the reply."""
    if not desk.ui.shortcut("Escape") or any(room.escape(desk) for room in reversed(ROOMS)):
        return
    if desk.view.page == "settings":
        desk.view.page = "chat"
    else:
        run_action("stop", desk)


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


def _main(desk: Desk) -> None:
    view, ui = desk.view, desk.ui
    if view.page == "settings":
        from panels.settings.settings_panel import settings_panel

        with ui.surface("settings", "pane", height=0, padding=(0, 0)):
            settings_panel(desk)
            ui.gap(_kept_free(desk))
        return
    view.room_px = ui.width()
    if view.focus in ("composer", "find"):
        show_conversation(view)
    shown = panes(view, view.room_px)
    names = tuple(name for name, _ in shown)
    with ui.split(("panes", names), [width for _, width in shown], min_px=MIN_PANE_PX) as split:
        for index, name in enumerate(names):
            with split.pane(index):
                _pane(desk, name, free_px=_kept_free(desk) if index == 0 else 0.0)
    if split.dragged is not None:
        _dragged(view, names, split.dragged)


def _dragged(view: WindowView, names: tuple[Pane, ...], widths: tuple[float, ...]) -> None:
    for name, width in zip(names, widths, strict=False):
        if name == "list":
            view.list_px = float(width)
        elif name == "hub":
            view.hub_px = float(width)


FREE_SHARE = 0.5
"""Share of a pane's height that notices take from what stands in it, at most."""


def _kept_free(desk: Desk) -> float:
    """Height at the foot of the leftmost pane where the notices stand: they cover nothing that waits for a click."""
    return min(desk.view.notices_px, FREE_SHARE * desk.ui.height())


def _help(desk: Desk) -> None:
    """Open the guide's page of the pane that has the keyboard; where none has it, of the panel in view."""
    own = desk.view.of(HelpView)
    if not own.is_asked:
        return
    pane = own.pane or _pane_in_use(desk)
    own.is_asked, own.pane = False, ""
    from panels.help.help_room import open_page

    open_page(desk, *_page_of(desk, pane))


def _pane_in_use(desk: Desk) -> str:
    view = desk.view
    return "hub" if "hub" in shown_panes(view) and view.side == "hub" else "conversation"


def _page_of(desk: Desk, pane: str) -> tuple[str, str]:
    """The guide's page about a pane, or about the section of the settings, and what it says of a panel."""
    from panels.help.help_room import PAGES, SECTION_PAGES

    view = desk.view
    if view.page == "settings":
        return SECTION_PAGES.get(view.settings_section, SECTION_PAGES["providers"]), ""
    panel = BY_PANEL[view.panel]
    return (panel.page(desk), panel.about) if pane == "hub" else (PAGES[pane], "")


def _pane(desk: Desk, name: Pane, *, free_px: float = 0.0) -> None:
    own = desk.view.of(HelpView)
    if own.is_asked and desk.ui.is_focused(name, is_within=True):
        own.pane = name
    with desk.ui.surface(name, "pane", height=0, padding=(0, 0)):
        if name == "list":
            discussions_panel(desk)
        elif name == "hub":
            hub_panel(desk)
        else:
            conversation_panel(desk)
        if free_px:
            desk.ui.gap(free_px)  # within the pane: its fill goes on behind the notices
