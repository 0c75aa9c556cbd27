"""The keyboard: which chords were pressed since the last frame, once a press, in their order."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

_FIRST = 512
_NAMES = [
    "Tab",
    "Left",
    "Right",
    "Up",
    "Down",
    "PageUp",
    "PageDown",
    "Home",
    "End",
    "Insert",
    "Delete",
    "Backspace",
    "Space",
    "Enter",
    "Escape",
    "LCtrl",
    "LShift",
    "LAlt",
    "LSuper",
    "RCtrl",
    "RShift",
    "RAlt",
    "RSuper",
    "Menu",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "A",
    "B",
    "C",
    "D",
    "E",
    "F",
    "G",
    "H",
    "I",
    "J",
    "K",
    "L",
    "M",
    "N",
    "O",
    "P",
    "Q",
    "R",
    "S",
    "T",
    "U",
    "V",
    "W",
    "X",
    "Y",
    "Z",
    "F1",
    "F2",
    "F3",
    "F4",
    "F5",
    "F6",
    "F7",
    "F8",
    "F9",
    "F10",
    "F11",
    "F12",
]
_BY_CODE = {_FIRST + index: name for index, name in enumerate(_NAMES)}
_BY_CODE |= {
    596: "'", 597: ",", 598: "-", 599: ".", 600: "/", 601: ";", 602: "=", 603: "[", 604: "\\", 605: "]", 606: "`",
    622: ".", 623: "/", 624: "*", 625: "-", 626: "=", 627: "Enter",
    **{612 + digit: str(digit) for digit in range(10)},
}  # fmt: skip
"""Dear ImGui's key codes to the names that chords use. The keypad counts as the keys it doubles."""
_MODIFIERS = {
    "LCtrl": "Ctrl",
    "RCtrl": "Ctrl",
    "LShift": "Shift",
    "RShift": "Shift",
    "LAlt": "Alt",
    "RAlt": "Alt",
}
_ONCE = frozenset({"Ctrl+V", "Shift+Insert", "Ctrl+X", "Shift+Delete", "Ctrl+Enter"})
_EDITING = frozenset({"Ctrl+A", "Ctrl+C", "Ctrl+V", "Ctrl+X", "Ctrl+Z", "Ctrl+Y", "Ctrl+Shift+Z"})
_CARET = frozenset({"Left", "Right", "Up", "Down", "Home", "End", "Backspace", "Delete"})
_ALIASES = {"Plus": "=", "+": "=", "Minus": "-", "Comma": ",", "Return": "Enter", "Esc": "Escape"}
PRESSES = frozenset({"Enter", "Space"})
"""Keys that press a button or answer a question."""
REPEATS = frozenset({"Up", "Down", "PageUp", "PageDown"})
"""Keys whose auto-repeat is passed on: walking through a list. Not with Ctrl or Alt: that is a command, once a press."""


def normal_chord(chord: str) -> str:
    """The chord as pressed chords are spelled: modifiers in the order Ctrl, Alt, Shift."""
    parts = chord.removesuffix("++").split("+") + (["+"] if chord.endswith("++") else [])
    key = _ALIASES.get(parts[-1], parts[-1])
    held = {part.capitalize() for part in parts[:-1]}
    return "+".join([name for name in ("Ctrl", "Alt", "Shift") if name in held] + [_upper(key)])


def _upper(key: str) -> str:
    return key.upper() if len(key) == 1 else key


def needs_no_typing(chord: str) -> bool:
    """True if a chord means something to a text field, so that it is not a shortcut while typing."""
    key = chord.rpartition("+")[2]
    if chord in _EDITING:
        return True
    if key == "Escape":
        return False
    if key in _CARET and "Alt" not in chord:
        return True
    return not (chord.startswith(("Ctrl", "Alt")) or (key[0] == "F" and key[1:].isdigit()))


class ToldPress(Protocol):
    """A key that went down, as the system told it: its place among the others, and its chord."""

    @property
    def number(self) -> int:
        """Grows from press to press."""
        ...

    @property
    def chord(self) -> str:
        """The key with the modifiers of that moment."""
        ...


class ToldPresses(Protocol):
    """Presses that the system told and no frame has reported yet."""

    def take(self, key: str) -> ToldPress | None:
        """The oldest entry of a key, None if there is none."""
        ...


def is_letter(chord: str) -> bool:
    """True if a chord types a character: one key, at most with Shift."""
    key = chord.removeprefix("Shift+")
    return len(key) == 1 or key == "Space"


def _turns(chords: Iterable[str]) -> list[list[str]]:
    """Chords that are answered one after another; what writes or moves a caret is answered together."""
    turns: list[list[str]] = []
    for chord in chords:
        if turns and _writes(chord) and _writes(turns[-1][-1]):
            turns[-1].append(chord)
        else:
            turns.append([chord])
    return turns


def _writes(chord: str) -> bool:
    return is_letter(chord) or chord.rpartition("+")[2] in _CARET


class Keys:
    """Presses by edge: the toolkit repeats a held key, and reports mouse buttons as keys.

    The chords of one frame are answered in turns, a description each, so that each finds what the one before has done.
    Modifiers and order are those of the system's own events (`presses`), else the state at the end of the frame.
    """

    def __init__(self) -> None:
        self._down: set[str] = set()
        self._pressed: list[str] = []
        self._later: deque[list[str]] = deque()
        self._fresh: list[str] = []
        self._told: dict[str, ToldPress] = {}
        self.has_answered = False
        self.presses: ToldPresses | None = None
        self._again: list[str] = []
        self._just_held: set[str] = set()
        self._taken: set[str] = set()
        self.is_typing = False

    def on_press(self, code: int) -> None:
        """A key went down, or is still down."""
        name = _BY_CODE.get(code)
        if name is None:
            return
        if name in self._down and (name not in REPEATS or self.is_held("Ctrl") or self.is_held("Alt")):
            if name not in _MODIFIERS:
                self._again.append(name)
            return
        self._down.add(name)
        if name in _MODIFIERS:
            self._just_held.add(_MODIFIERS[name])
            return
        self._fresh.append(name)
        press = self.presses.take(name) if self.presses is not None else None
        if press is not None:
            self._told[name] = press

    def _settle(self) -> None:
        """Make chords of the keys of one frame: the toolkit reports them by number, not in order of time."""
        if self._fresh:
            told = self._told
            by_time = sorted(self._fresh, key=lambda name: told[name].number if name in told else -1)
            chords = [told[name].chord if name in told else self._chord(name) for name in by_time]
            self._later.extend(_turns(chords))
            self._fresh.clear()
            told.clear()
            if not self._pressed:
                self._pressed = self._later.popleft()
        self._again = [self._chord(name) for name in self._again]
        self._just_held.clear()

    def _chord(self, name: str) -> str:
        if "+" in name:
            return name
        held = {_MODIFIERS[key] for key in self._down if key in _MODIFIERS} | self._just_held
        return "+".join([*(mod for mod in ("Ctrl", "Alt", "Shift") if mod in held), name])

    def on_release(self, code: int) -> None:
        """A key went up. A modifier that went down and up with no key between belongs to no chord."""
        name = _BY_CODE.get(code, "")
        self._down.discard(name)
        self._taken.discard(name)
        if not self._fresh:
            self._just_held.discard(_MODIFIERS.get(name, ""))

    def take(self, chord: str, *, while_typing: bool) -> bool:
        """True if a chord was pressed since the last frame; only the first who asks gets it."""
        if self._fresh:
            self._settle()
        chord = normal_chord(chord)
        if chord not in self._pressed:
            return False
        if self.is_typing and not while_typing and needs_no_typing(chord):
            return False
        self._pressed.remove(chord)
        self.has_answered = True
        self._taken.add(chord.rpartition("+")[2] or "+")
        return True

    def take_strokes(self, accepts: Container[str]) -> list[str]:
        """The chords among `accepts` since the last frame, also those of a key that is held down.

        What is done once a press comes once however long it is held: a slow frame holds a key for longer than a person.
        A press that another has taken is not passed on while it lasts.
        """
        self._settle()
        held = (chord for chord in self._again if chord not in _ONCE)
        again = [chord for chord in held if chord.rpartition("+")[2] not in self._taken]
        strokes = [chord for chord in (*self._pressed, *again) if chord in accepts]
        self._pressed = [chord for chord in self._pressed if chord not in accepts]
        self._again.clear()
        return strokes

    def leave_to_field(self) -> None:
        """A key that is pressed now is the field's that has the keyboard: as long as it is held, no editor gets it typed."""
        self._taken |= {chord.rpartition("+")[2] or "+" for chord in self.chords()}

    def chords(self) -> list[str]:
        """The chords that were pressed since the last frame; nobody loses one.

        Of a key that is held, what is done once a press comes again: the toolkit's own input item does it anew.
        """
        self._settle()
        later = itertools.chain.from_iterable(self._later)
        return [*self._pressed, *later, *(chord for chord in self._again if chord in _ONCE)]

    def is_held(self, modifier: str) -> bool:
        """True while `Ctrl`, `Alt` or `Shift` is down."""
        return any(_MODIFIERS.get(name) == modifier for name in self._down)

    @property
    def holds_press(self) -> bool:
        """True while a key is down that presses buttons."""
        return not self._down.isdisjoint(PRESSES)

    @property
    def has_news(self) -> bool:
        """True if a key was pressed since the last frame."""
        return bool(self._pressed or self._later or self._fresh)

    @property
    def turns(self) -> int:
        """Descriptions that the chords of this frame want."""
        self._settle()
        return bool(self._pressed) + len(self._later)

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """Nobody hears a chord meanwhile: what the one before has opened or closed is described first."""
        self._settle()
        pressed, later, again = self._pressed, self._later, self._again
        self._pressed, self._later, self._again = [], deque(), []
        yield
        self._pressed, self._later, self._again = pressed, later, again

    def end_frame(self) -> None:
        """Forget what nobody asked for in this turn, and go on with the next."""
        self._fresh.clear()
        self._told.clear()
        self._pressed = self._later.popleft() if self._later else []
        self._again.clear()
        self._just_held.clear()
