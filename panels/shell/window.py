"""The whole window: menu bar, rail, panes, status bar, and the dialogs over them."""

from __future__ import annotations

from functools import partial

from core.app.app_messages import Command, SaveWindow
from core.kernel.language import tr
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
from panels.base.desk import Desk, action_item, action_tip, run_action
from panels.base.ui import Send, Ui
from panels.base.view import WindowView
from panels.caching.caching_room import ask_past_limit, guarded
from panels.discussion.conversation_panel import conversation_panel
from panels.discussion.discussions_panel import discussions_panel
from panels.help.help_room import DIALOG_PAGES, PAGES, SECTION_PAGES, HelpView, open_page
from panels.shell import rooms
from panels.shell.layout import MENU_PX, MENUS, MIN_PANE_PX, STATUS_PX, Pane, lit, panes, rail
from panels.shell.rooms import (
    ACTIONS,
    BY_ID,
    PANELS,
    ROOMS,
    run_shortcuts,
    show_conversation,
    shown_panes,
    toggle_side,
)
from panels.shell.status_bar import notices_panel, status_bar

BY_PANEL = {panel.id: panel for panel in PANELS}


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
            _go(desk, rail(ui, width_px, high_px, lit(view, view.room_px), partial(action_tip, desk)))
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
    open_page(desk, *_page_of(desk, pane))


def _pane_in_use(desk: Desk) -> str:
    view = desk.view
    return "hub" if "hub" in shown_panes(view) and view.side == "hub" else "conversation"


def _page_of(desk: Desk, pane: str) -> tuple[str, str]:
    """The guide's page about a pane, or about the section of the settings, and what it says of a panel."""
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
            _hub(desk)
        else:
            conversation_panel(desk)
        if free_px:
            desk.ui.gap(free_px)  # within the pane: its fill goes on behind the notices


# The Operations Hub: the pane at the right, with the one panel that the rail chose.

LOW_SHARE = 0.8
"""Share of the height that a panel needs, under which it scrolls as a whole."""


def _hub(desk: Desk) -> None:
    """Draw the chosen panel under its title. It is loaded when it is first shown, for the first frame's sake."""
    ui, view = desk.ui, desk.view
    shown = BY_PANEL[view.panel]
    with ui.surface("hub", "clear", height=0, padding=(12, 8)):
        with ui.row("head"):
            ui.text("title", shown.title, style="h3", width=0)
            if ui.button(
                "about", "", icon="circle-question", kind="ghost", is_small=True, tip=tr("What is this?")
            ):
                open_page(desk, shown.page(desk), about=shown.about)
            if ui.button(
                "close",
                "",
                icon="xmark",
                kind="ghost",
                is_small=True,
                tip=tr("Hide {title} (Ctrl+Shift+H)", title=shown.title),
            ):
                view.is_hub_shown = False
        least = shown.least_px(desk)
        is_low = view.is_hub_low = 0 < ui.height() < LOW_SHARE * least
        with ui.surface(view.panel, "clear", height=0, padding=(0, 0), scrolls=is_low):
            if not is_low:
                shown.draw(desk)
                return
            with ui.surface("whole", "clear", least_height=least, padding=(0, 0)):
                shown.draw(desk)


def _go(desk: Desk, pressed: str) -> None:
    """Do what a button of the rail is for: it opens its place, and closes it where it is in view. Empty for none."""
    view = desk.view
    if pressed == "settings":
        view.page = "chat" if view.page == "settings" else "settings"
    elif pressed == "list":
        toggle_side(view, "list")
    elif pressed and pressed in lit(view, view.room_px):
        view.is_hub_shown = False
    elif pressed:
        view.show_hub(pressed)
