"""Chords count once a press, and not while they mean something to a text field."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from core.kernel.language import LANGUAGE_VARIABLE, LANGUAGES
from gui import keys as gui_keys
from gui.keys import KeyEvents, Keys, LateKeys, needs_no_typing, normal_chord
from panels.shell.rooms import ACTIONS

TAB, ENTER, CTRL, SHIFT, ALT, N, UP, A, DELETE = 512, 525, 527, 528, 529, 559, 515, 546, 522
NONE_HELD, SHIFT_HELD, CTRL_HELD = 0, 1, 2


def told_by(*presses: tuple[str, int]) -> Keys:
    """Keys of which the system told these presses, each with the modifiers of its moment."""
    keys, events = Keys(), KeyEvents()
    for key, modifiers in presses:
        events.note(key, modifiers)
    keys.presses = events
    return keys


def test_a_chord_whose_modifier_went_up_before_the_frame_ended_counts() -> None:
    """Of `Ctrl+N` within 12 ms the toolkit tells Ctrl in one frame, and in the next that N is down and Ctrl is up."""
    keys = told_by(("N", CTRL_HELD))
    keys.on_press(CTRL)
    keys.end_frame()
    keys.on_press(N)
    keys.on_release(CTRL)
    assert keys.take("Ctrl+N", while_typing=True)


def test_a_key_that_follows_a_chord_is_no_chord() -> None:
    keys = told_by(("N", NONE_HELD))
    keys.on_press(CTRL)
    keys.end_frame()
    keys.on_press(N)
    keys.on_release(CTRL)
    assert not keys.take("Ctrl+N", while_typing=True)
    assert keys.take("N", while_typing=True)


def test_chords_of_one_frame_are_answered_in_their_order_a_turn_each() -> None:
    """The toolkit reports them by their codes: A, then N."""
    keys = told_by(("N", CTRL_HELD), ("A", CTRL_HELD))
    for code in (CTRL, A, N):
        keys.on_press(code)
    assert keys.turns == 2
    assert not keys.take("Ctrl+A", while_typing=True)
    assert keys.take("Ctrl+N", while_typing=True)
    keys.end_frame()
    assert keys.take("Ctrl+A", while_typing=True)
    keys.end_frame()
    assert not keys.has_news


def test_a_chord_of_a_carets_key_that_writes_nothing_waits_for_what_was_typed_before_it() -> None:
    """The letter would be missing from the draft of the discussion that the chord deletes."""
    keys = told_by(("A", NONE_HELD), ("Delete", CTRL_HELD | SHIFT_HELD))
    for code in (CTRL, SHIFT, A, DELETE):
        keys.on_press(code)
    assert keys.turns == 2
    assert not keys.take("Ctrl+Shift+Delete", while_typing=False)
    keys.end_frame()
    assert keys.take("Ctrl+Shift+Delete", while_typing=False)


def test_a_chord_waits_until_what_the_one_before_did_is_described() -> None:
    keys = told_by(("A", NONE_HELD))
    keys.on_press(A)
    with keys.put_off():
        assert not keys.take("A", while_typing=True)
        keys.end_frame()
    assert keys.take("A", while_typing=True)


def test_a_held_key_counts_once() -> None:
    keys = Keys()
    for _ in range(5):
        keys.on_press(N)
    assert keys.take("n", while_typing=False)
    assert not keys.take("n", while_typing=False)
    keys.end_frame()
    keys.on_press(N)
    assert not keys.has_news
    keys.on_release(N)
    keys.on_press(N)
    assert keys.take("N", while_typing=False)


def test_arrows_repeat() -> None:
    keys = Keys()
    keys.on_press(UP)
    keys.on_press(UP)
    assert keys.take("Up", while_typing=False)
    assert keys.take("Up", while_typing=False)


def test_an_arrow_that_is_held_with_alt_is_one_command() -> None:
    """A slow frame holds a key for longer than a person: two versions were paged for one press."""
    keys = Keys()
    keys.on_press(ALT)
    keys.on_press(UP)
    keys.on_press(UP)
    assert keys.take("Alt+Up", while_typing=False)
    keys.end_frame()
    keys.on_press(UP)
    assert not keys.take("Alt+Up", while_typing=False)


def test_a_press_that_was_taken_is_not_typed_as_well_while_it_is_held() -> None:
    """Tab completed a command, and a slow frame later it left the editor; Enter then pressed a button."""
    keys = Keys()
    keys.on_press(TAB)
    assert keys.take("Tab", while_typing=True)
    keys.end_frame()
    keys.on_press(TAB)
    assert keys.take_strokes({"Tab"}) == []
    keys.on_release(TAB)
    keys.on_press(TAB)
    assert keys.take_strokes({"Tab"}) == ["Tab"]


def test_a_press_that_a_field_had_is_not_typed_into_an_editor_while_it_is_held() -> None:
    """Who asks for the chord gets it all the same: the field's Enter submits a dialog, too."""
    keys = Keys()
    keys.on_press(ENTER)
    keys.leave_to_field()
    assert keys.take("Enter", while_typing=True)
    keys.end_frame()
    keys.on_press(ENTER)
    assert keys.take_strokes({"Enter"}) == []
    keys.on_release(ENTER)
    keys.on_press(ENTER)
    assert keys.take_strokes({"Enter"}) == ["Enter"]


def test_modifiers_count_in_whatever_order_the_toolkit_reports_them() -> None:
    keys = Keys()
    keys.on_press(ENTER)
    keys.on_press(CTRL)
    assert not keys.take("Enter", while_typing=True)
    assert keys.take("Ctrl+Enter", while_typing=False)


def test_a_modifier_pressed_and_released_within_a_frame_counts() -> None:
    keys = Keys()
    for code in (CTRL, SHIFT, N):
        keys.on_press(code)
    for code in (N, SHIFT, CTRL):
        keys.on_release(code)
    assert keys.take("Ctrl+Shift+N", while_typing=False)
    keys.on_press(A)
    assert keys.take("A", while_typing=False)


def test_a_modifier_tapped_alone_belongs_to_no_later_chord() -> None:
    keys = Keys()
    keys.on_press(CTRL)
    keys.on_release(CTRL)
    keys.on_press(UP)
    assert keys.take("Up", while_typing=True)


def test_mouse_buttons_are_not_keys() -> None:
    keys = Keys()
    keys.on_press(656)
    assert not keys.has_news


def test_what_nobody_took_is_forgotten_with_the_frame() -> None:
    keys = Keys()
    keys.on_press(N)
    keys.end_frame()
    assert not keys.take("N", while_typing=False)


@pytest.mark.parametrize(
    ("chord", "is_for_text"),
    [("A", True), ("Up", True), ("Ctrl+A", True), ("Ctrl+V", True), ("Ctrl+Left", True), ("Enter", True),
     ("Ctrl+Enter", False), ("F2", False), ("Escape", False), ("Alt+Up", False), ("Ctrl+K", False),
     ("Ctrl+Shift+Delete", False)],
)  # fmt: skip
def test_a_text_field_keeps_its_own_chords(chord: str, is_for_text: bool) -> None:
    assert needs_no_typing(chord) is is_for_text


@pytest.mark.parametrize(
    ("given", "normal"),
    [("ctrl+n", "Ctrl+N"), ("Shift+Ctrl+p", "Ctrl+Shift+P"), ("Ctrl++", "Ctrl+="), ("Ctrl+Minus", "Ctrl+-"), ("Esc", "Escape")],
)  # fmt: skip
def test_chords_have_one_spelling(given: str, normal: str) -> None:
    assert normal_chord(given) == normal


def test_typing_keeps_plain_keys_from_shortcuts_unless_asked() -> None:
    keys = Keys()
    keys.is_typing = True
    keys.on_press(UP)
    assert not keys.take("Up", while_typing=False)
    assert keys.take("Up", while_typing=True)


NAMES = """
from gui import keyboard, keys
from panels.base import desk
print(*sorted([*keys._KEYS_NAMES, *keys._CARET, *keyboard.WRITING, *keys._NAMES.values()]))
print(*sorted([*desk.NAMED_KEYS, *desk.RESERVED]))
"""


def test_a_key_has_the_same_name_in_every_language() -> None:
    """Names of keys are compared with each other and stored in settings: translated, Delete would erase nothing."""
    told = {
        tag: subprocess.run(
            (sys.executable, "-c", NAMES),
            env={**os.environ, LANGUAGE_VARIABLE: tag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for tag in LANGUAGES
    }
    assert "Delete" in told["en"]
    assert len(set(told.values())) == 1


RELEASED, PRESSED = 0, 1
K_CODE, ENTER_CODE = 75, 257


class Glfw:
    """GLFW's part that keys come through: what is down, and the callback that it tells of it."""

    def __init__(self) -> None:
        self.down: dict[int, int] = {}
        self.told: list[tuple[int, int]] = []
        self.events = KeyEvents()

        def note(window: int, code: int, scancode: int, action: int, modifiers: int) -> None:
            self.down[code] = action
            self.tap._on_event(window, code, scancode, action, modifiers)

        self._glfwInputKey = note
        self.tap = gui_keys._KeyTap(self)  # type: ignore[arg-type]
        self.tap._before = lambda _window, code, _scancode, action, _modifiers: self.told.append(
            (code, action)
        )
        self.tap.listeners.add(self.events)

    def __getitem__(self, name: str) -> Callable[..., object]:
        if name == "glfwGetKey":
            return lambda _window, code: self.down.get(code, RELEASED)
        return lambda *_: None

    def key(self, code: int, action: int, modifiers: int = NONE_HELD) -> None:
        """The system tells of a key."""
        self._glfwInputKey(1, code, 0, action, modifiers)

    def answer(self, *keys: str) -> None:
        """Frames that report these keys, and what opens behind them."""
        for key in keys:
            self.events.take(key)
        for _ in range(gui_keys.ANSWERED_FRAMES):
            gui_keys.GATE.tick(self.events, is_lent=False)


def test_a_key_that_waited_behind_a_chord_goes_up_at_once_when_it_is_pressed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the toolkit takes it for held, and repeats it."""
    monkeypatch.setattr(gui_keys, "GATE", LateKeys())
    glfw = Glfw()
    glfw.key(K_CODE, PRESSED, CTRL_HELD)
    glfw.key(K_CODE, RELEASED, CTRL_HELD)
    glfw.key(ENTER_CODE, PRESSED)
    glfw.key(ENTER_CODE, RELEASED)
    assert glfw.told == [(K_CODE, PRESSED), (K_CODE, RELEASED)]
    glfw.answer("K")
    glfw.answer("Enter")
    assert glfw.told[2:] == [(ENTER_CODE, PRESSED), (ENTER_CODE, RELEASED)]

    glfw.key(ENTER_CODE, PRESSED)
    assert gui_keys.GATE.is_shut
    glfw.key(ENTER_CODE, RELEASED)
    assert glfw.told[4:] == [(ENTER_CODE, PRESSED), (ENTER_CODE, RELEASED)]


def test_keys_behind_a_chord_that_no_frame_reports_come_late_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gui_keys, "GATE", LateKeys())
    glfw = Glfw()
    glfw.key(K_CODE, PRESSED, CTRL_HELD)
    glfw.key(65, PRESSED)
    gui_keys.GATE.take(lambda: glfw.told.append((97, PRESSED)), shuts=False)
    glfw.key(65, RELEASED)
    for _ in range(gui_keys.MOST_HELD_FRAMES):
        assert glfw.told == [(K_CODE, PRESSED)]
        gui_keys.GATE.tick(glfw.events, is_lent=False)
    assert glfw.told[1:] == [(65, PRESSED), (97, PRESSED), (65, RELEASED)]


def test_every_shortcut_is_heard_while_the_composer_has_the_keyboard() -> None:
    chords = {chord for one in ACTIONS if one.is_bound for chord in (one.chord, one.second_chord) if chord}
    assert chords
    assert not {chord for chord in chords if needs_no_typing(normal_chord(chord))}
