"""Desk and actions: what an action may read and use, its menus, palette, buttons, and the person's own shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

import msgspec

from core.app.app_messages import Command, awaited
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.agent import AgentTurn
from core.kernel.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from panels.base import view
from panels.base.ui import Send, Tone, Ui
from panels.base.view import Dialog, RoomView, Same, WindowView
from panels.base.widgets import CHOSEN

R = TypeVar("R")

READ_ONLY = tr("Nothing can be saved: this data folder is read-only")
"""Reason why an act that writes is off."""
KEY = "appearance.shortcuts"
NO_CHORD = "none"
"""In place of a chord: the action has no shortcut."""
MODIFIERS = ("Ctrl", "Shift", "Alt")
FUNCTION_KEYS = frozenset(f"F{number}" for number in range(1, 13))
NAMED_KEYS = frozenset(
    ("Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown", "Insert", "Delete")
)
RESERVED = frozenset(
    [
        *(
            f"Ctrl+{key}"
            for key in (
                "A",
                "C",
                "V",
                "X",
                "Z",
                "Y",
                "Enter",
                "Left",
                "Right",
                "Home",
                "End",
                "Up",
                "Down",
                "Delete",
            )
        ),
        *(
            "Ctrl+Shift+Z",
            "Ctrl+Shift+V",
            "Ctrl+Shift+Left",
            "Ctrl+Shift+Right",
            "Ctrl+Shift+Home",
            "Ctrl+Shift+End",
        ),
        *("F3", "Shift+F3", "Alt+F4"),
    ]
)
"""Chords of text fields, of sending, of the find bar and of the desktop."""


def normal_chord(typed: str) -> str:
    """A chord as the program spells it (`Ctrl+Shift+P`), whatever its case and order; empty for other text."""
    *before, key = [part.strip() for part in typed.strip().split("+")]
    held = {one for part in before for one in MODIFIERS if one.casefold() == part.casefold()}
    named = {one.casefold(): one for one in (*NAMED_KEYS, *FUNCTION_KEYS)}
    key = named.get(key.casefold(), key.upper() if _is_sign(key) else "")
    if not key or len(held) != len(before):
        return ""
    return "+".join((*(one for one in MODIFIERS if one in held), key))


def _is_sign(key: str) -> bool:
    return len(key) == 1 and key.isascii() and (key.isalnum() or key in ",.-=/;[]")


def flaw_of(chord: str) -> str:
    """Reason why a chord cannot be a shortcut, empty where it can."""
    if not chord:
        return tr("Name a shortcut such as Ctrl+Shift+P, Alt+1 or F8.")
    *held, key = chord.split("+")
    if chord in RESERVED:
        return tr(
            "{shortcut} already has a fixed use in text fields. Choose another shortcut.", shortcut=chord
        )
    if not {"Ctrl", "Alt"} & {*held} and key not in FUNCTION_KEYS:
        return tr("{shortcut} types text. Add Ctrl or Alt.", shortcut=chord)
    return ""


@lru_cache(maxsize=8)
def own_chords(shortcuts: tuple[str, ...]) -> Mapping[str, str]:
    """The person's own chords by action, from the setting's `action=chord`; what cannot be one is passed over."""
    found: dict[str, str] = {}
    for line in shortcuts:
        action, _, typed = line.partition("=")
        chord = "" if typed.strip() == NO_CHORD else normal_chord(typed)
        if typed.strip() == NO_CHORD or (chord and not flaw_of(chord) and chord not in found.values()):
            found[action.strip()] = chord
    return found


def chord_of(action_id: str, usual: str, shortcuts: tuple[str, ...]) -> str:
    """The chord that an action has: the person's own, else its usual one, unless another took that; empty for none."""
    own = own_chords(shortcuts)
    if action_id in own:
        return own[action_id]
    return "" if usual in own.values() else usual


def with_chord(shortcuts: tuple[str, ...], action_id: str, chord: str | None) -> tuple[str, ...]:
    """The setting with another chord for an action; empty for none, None for its usual one."""
    rest = tuple(line for line in shortcuts if line.partition("=")[0].strip() != action_id)
    return rest if chord is None else (*rest, f"{action_id}={chord or NO_CHORD}")


# Desk and actions: what an action may read and use; menus, palette, shortcuts and buttons all come from it.


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
        return view.selected(self.state)

    @property
    def opened(self) -> OpenDiscussion | None:
        """The selected discussion's log, when it is loaded."""
        return view.opened(self.state)

    @property
    def call(self) -> LiveCall | None:
        """The call under way in the selected discussion."""
        return view.call_of(self.state, self.state.discussions.selected_id)

    @property
    def turn(self) -> AgentTurn | None:
        """The turn with tools that runs in the selected discussion."""
        return view.turn_of(self.state, self.state.discussions.selected_id)

    @property
    def is_replying(self) -> bool:
        """True while the selected discussion's reply is under way, or the tools that it asked for."""
        return is_busy(self.state, self.state.discussions.selected_id)

    def ask(self, command: Command) -> str:
        """Send a command whose outcome is waited for. Returns the id that the outcome will have."""
        command_id = self.view.next_id()
        self.send(awaited(command, command_id))
        return command_id


class ListRows(msgspec.Struct, Generic[R]):
    """Rows of a virtual list: they are laid out again only where they are others."""

    desk: Desk
    rows: Sequence[R]

    @property
    def revision(self) -> Hashable:
        """The rows themselves."""
        return Same(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def _always(_desk: Desk) -> bool:
    return True


def _never(_desk: Desk) -> bool:
    return False


def _nothing(_desk: Desk) -> str:
    return ""


class Action(msgspec.Struct, frozen=True):
    """One thing that a person can do.

    Args:
        id: stable; menu: one of `panels.shell.rooms.MENUS`; group: actions of one number stand together there.
        chord: its shortcut, empty for none; run sends commands or changes the view.
        second_chord: another one, which counts while no action that has it as its first can be done.
        is_checked: whether it is the one in use of a few.
        label: what it will do; undo_label: what it will do where `is_done`, for what is switched on and off.
        is_bound: whether the window listens for the chord; False where a button or an editor does.
        why_not: why it cannot be done just now, where a person who presses its chord is to read that.
        chord_of: the chord that is shown, where the settings choose it; tone: of its menu item.
        words: other words by which people look for it, those of other programs among them.
    """

    id: str
    menu: str
    group: int
    label: str
    run: Callable[[Desk], None]
    icon: str = ""
    chord: str = ""
    second_chord: str = ""
    is_enabled: Callable[[Desk], bool] = _always
    why_not: Callable[[Desk], str] = _nothing
    is_checked: Callable[[Desk], bool] = _never
    is_done: Callable[[Desk], bool] = _never
    undo_label: str = ""
    is_bound: bool = True
    chord_of: Callable[[AppState], str] | None = None
    tone: Tone = "text"
    words: str = ""

    def shown_label(self, desk: Desk) -> str:
        """The label of its present effect."""
        return self.undo_label if self.undo_label and self.is_done(desk) else self.label

    def shown_chord(self, state: AppState) -> str:
        """The chord as menus, palette and the list of shortcuts show it."""
        return self.heard_chord(state) if self.chord_of is None else self.chord_of(state)

    def heard_chord(self, state: AppState) -> str:
        """The chord that the window listens for: the person's own, else the usual one."""
        return chord_of(self.id, self.chord, state.config.settings.appearance.shortcuts)


def has_discussion(desk: Desk) -> bool:
    """True if a discussion is selected."""
    return desk.summary is not None


def has_messages(desk: Desk) -> bool:
    """True if the selected discussion has something in it."""
    return desk.opened is not None and bool(desk.opened.entries)


def opens_dialog(kind: str) -> Callable[[Desk], None]:
    """An action that opens a dialog about the selected discussion."""

    def run(desk: Desk) -> None:
        desk.view.dialog = Dialog(kind=kind, subject=desk.state.discussions.selected_id)

    return run


def send_chord(state: AppState) -> str:
    """The chord that sends, as the settings say."""
    return "Enter" if state.config.settings.appearance.send_key == "enter" else "Ctrl+Enter"


# An action as a button and as a menu item, and doing what it does.


def run_action(action_id: str, desk: Desk) -> None:
    """Do what an action does, unless it cannot be done just now."""
    action = desk.actions[action_id]
    if action.is_enabled(desk):
        action.run(desk)


def action_tip(desk: Desk, action_id: str) -> str:
    """Tip of an icon button for an action, on hover: `Regenerate reply (Ctrl+Shift+R)`."""
    action = desk.actions[action_id]
    label = action.shown_label(desk)
    chord = action.shown_chord(desk.state)
    return f"{label} ({chord})" if chord else label


def action_button(desk: Desk, action_id: str, *, has_label: bool = False) -> None:
    """A ghost button for an action."""
    action = desk.actions[action_id]
    label = action.shown_label(desk) if has_label else ""
    if desk.ui.button(
        ("action", action_id), label, icon=action.icon, kind="ghost",
        is_enabled=action.is_enabled(desk), tip=action_tip(desk, action_id),
    ):  # fmt: skip
        run_action(action_id, desk)


def action_item(desk: Desk, action_id: str) -> None:
    """A menu item for an action."""
    action = desk.actions[action_id]
    if desk.ui.menu_item(
        action.id, action.shown_label(desk), icon=action.icon, shortcut=action.shown_chord(desk.state),
        is_enabled=action.is_enabled(desk), is_checked=action.is_checked(desk), tone=action.tone,
    ):  # fmt: skip
        run_action(action_id, desk)


# The two answers of a dialog that asks: one leaves everything as it is, the other does what was asked for.


def answers(
    ui: Ui, no: str, yes: str, *, is_danger: bool = False, costs: bool = False, other: str = ""
) -> str:
    """Draw them at the right. Returns `yes`, `no`, `other` or nothing.

    Enter presses the chosen one, which has the keyboard: the coloured, and where a yes is dangerous the safe one. Escape,
    which the dialog hears, leaves everything as it is.

    Args:
        other: the label of a third way between the two, none where empty.
        costs: a yes spends money past what the person allowed: the safe answer is the coloured one.
        is_danger: what a yes does cannot be taken back, or takes something away.
    """
    with ui.row("buttons"):
        ui.push()
        is_safe = is_danger or costs
        is_other = costs and bool(other) and ui.button("other", other)
        is_yes = costs and ui.button("yes", yes)
        is_no = ui.button(CHOSEN if is_safe else "no", no, kind="primary" if costs else "plain")
        if not costs:
            is_other = bool(other) and ui.button("other", other)
            is_yes = ui.button("yes" if is_safe else CHOSEN, yes, kind="danger" if is_danger else "primary")
        if ui.is_focused(CHOSEN) and ui.shortcut("Enter", while_typing=True):
            is_no, is_yes = is_safe, not is_safe
    return "no" if is_no else "other" if is_other else "yes" if is_yes else ""


# The question before something that a person entered goes, which nothing brings back.


def ask_removal(desk: Desk, name: str, what: str, command: Command) -> None:
    """Ask before something that a person entered goes.

    Args:
        what: goes with it, or was said in it; command: the removal.
    """
    desk.view.dialog = Dialog(kind="remove", subject=name, text=what, command=command)


def removal_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the question of `ask_removal`. Sends its command."""
    with desk.ui.dialog(
        "remove", tr("Remove {subject}?", subject=one_line(dialog.subject, 80)), width=440
    ) as closed:
        desk.ui.text("what", dialog.text, tone="muted", wraps=True)
        answer = answers(desk.ui, tr("Keep"), tr("Remove"), is_danger=True)
    if answer or closed.clicked or desk.ui.shortcut("Escape"):
        desk.view.dialog = None
    if answer == "yes" and dialog.command is not None:
        desk.send(dialog.command)


# Room of the window, with what it gives: actions, panels of the hub, dialogs, its own view.

DrawDialog = Callable[[Desk, Dialog], None]


LEAST_PX = 400.0
"""Height that a panel has at least: in a lower window it scrolls as a whole, since its fixed parts would leave no row."""


def _least(_desk: Desk) -> float:
    return LEAST_PX


class HubPanel(msgspec.Struct, frozen=True):
    """A panel of the Operations Hub, with its button in the rail and its action in the View menu.

    Args:
        id: stable, as `panels.shell.layout.PLACES` has its button; title: of the panel and the action.
        guide: the page of the guide about it (`docs/guide`); about: what the panel is for, in two sentences.
        tab_guide: the page about the part in front, empty where `guide` tells of it.
        draw: draws the panel. It imports the panel itself: the first frame must not wait for panels behind.
        least_px: height that it needs as it is now, so that its list has some rows.
        words: see `Action`.
    """

    id: str
    title: str
    guide: str
    about: str
    draw: Callable[[Desk], None]
    least_px: Callable[[Desk], float] = _least
    tab_guide: Callable[[Desk], str] = _nothing
    words: str = ""

    def page(self, desk: Desk) -> str:
        """The page of the guide about what it shows now."""
        return self.tab_guide(desk) or self.guide


def _room_nothing(_desk: Desk) -> None:
    return


def _nothing_open(_desk: Desk) -> bool:
    return False


class Room(msgspec.Struct, frozen=True):
    """One room of the window.

    Args:
        view: what it alone knows, None for nothing; dialogs: by kind, each importing what it draws with.
        begin: what it does at the start of each frame, before shortcuts.
        escape: closes what is open in it, innermost first; returns whether something was.
    """

    actions: tuple[Action, ...] = ()
    view: type[RoomView] | None = None
    panels: tuple[HubPanel, ...] = ()
    dialogs: Mapping[str, DrawDialog] = msgspec.field(default_factory=dict)
    begin: Callable[[Desk], None] = _room_nothing
    escape: Callable[[Desk], bool] = _nothing_open
