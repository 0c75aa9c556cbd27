"""Desk and actions: what an action may read and use; menus, palette, shortcuts and buttons all come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from core.app.messages import Command, awaited
from core.values.agent import AgentTurn
from core.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.values.state import AppState
from core.values.updates import is_busy
from panels.base import selection
from panels.base.ui import Send, Tone, Ui
from panels.base.view import Dialog, WindowView


class Desk(msgspec.Struct, frozen=True):
    """Desk of panels and actions. `actions`: all of the window's, by id, as the palette lists them."""

    state: AppState
    view: WindowView
    ui: Ui
    send: Send
    actions: Mapping[str, Action]

    @property
    def summary(self) -> DiscussionSummary | None:
        """The selected discussion."""
        return selection.selected(self.state)

    @property
    def opened(self) -> OpenDiscussion | None:
        """The selected discussion's log, when it is loaded."""
        return selection.opened(self.state)

    @property
    def call(self) -> LiveCall | None:
        """The call under way in the selected discussion."""
        return selection.call_of(self.state, self.state.discussions.selected_id)

    @property
    def turn(self) -> AgentTurn | None:
        """The turn with tools that runs in the selected discussion."""
        return selection.turn_of(self.state, self.state.discussions.selected_id)

    @property
    def is_replying(self) -> bool:
        """True while the selected discussion's reply is under way, or the tools that it asked for."""
        return is_busy(self.state, self.state.discussions.selected_id)

    def ask(self, command: Command) -> str:
        """Send a command whose outcome is waited for. Returns the id that the outcome will have."""
        command_id = self.view.next_id()
        self.send(awaited(command, command_id))
        return command_id


def _always(_desk: Desk) -> bool:
    return True


def _never(_desk: Desk) -> bool:
    return False


def _nothing(_desk: Desk) -> str:
    return ""


class Action(msgspec.Struct, frozen=True):
    """One thing that a person can do.

    Args:
        id: stable; menu: one of `panels.shell.actions.MENUS`; group: actions of one number stand together there.
        chord: its shortcut, empty for none; run sends commands or changes the view.
        is_checked: whether it is the one in use of a few.
        label: what it will do; undo_label: what it will do where `is_done`, for what is switched on and off.
        is_bound: whether the window listens for the chord; False where a button or an editor does.
        why_not: why it cannot be done just now, where a person who presses its chord is to read that.
        chord_of: the chord that is shown, where the settings choose it; tone: of its menu item.
    """

    id: str
    menu: str
    group: int
    label: str
    run: Callable[[Desk], None]
    icon: str = ""
    chord: str = ""
    is_enabled: Callable[[Desk], bool] = _always
    why_not: Callable[[Desk], str] = _nothing
    is_checked: Callable[[Desk], bool] = _never
    is_done: Callable[[Desk], bool] = _never
    undo_label: str = ""
    is_bound: bool = True
    chord_of: Callable[[AppState], str] | None = None
    tone: Tone = "text"

    def shown_label(self, desk: Desk) -> str:
        """Label of what it will do just now."""
        return self.undo_label if self.undo_label and self.is_done(desk) else self.label

    def shown_chord(self, state: AppState) -> str:
        """The chord as menus, palette and the list of shortcuts show it."""
        return self.chord if self.chord_of is None else self.chord_of(state)


def has_discussion(desk: Desk) -> bool:
    """True if a discussion is selected."""
    return desk.summary is not None


def has_messages(desk: Desk) -> bool:
    """True if the selected discussion has something in it."""
    return desk.opened is not None and bool(desk.opened.entries)


def opens_dialog(kind: str) -> Callable[[Desk], None]:
    """An action that opens a dialog about the selected discussion."""

    def run(desk: Desk) -> None:
        desk.view.dialog = Dialog(kind, subject=desk.state.discussions.selected_id)

    return run


def send_chord(state: AppState) -> str:
    """The chord that sends, as the settings say."""
    return "Enter" if state.config.settings.appearance.send_key == "enter" else "Ctrl+Enter"
