"""Keys that reach the window: chords in their order with their modifiers, and files that are dropped."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from weakref import WeakSet

import msgspec
from dearpygui import _dearpygui

# Our place in the way of what the window's library tells: it knows what the toolkit's own handlers leave
# out.

Listener = TypeVar("Listener")


class WindowTap(Generic[Listener]):
    """A place before the toolkit. It is never let go: the window's library keeps its address.

    Attributes:
        setter: the library's function that puts a callback in and returns the one before.
        prototype: the callback's type; its first argument is the window.
    """

    setter: ClassVar[str]
    prototype: ClassVar[Any]

    def __init__(self, library: ctypes.CDLL) -> None:
        self.listeners: WeakSet[Listener] = WeakSet()
        self._callback = self.prototype(self._on_event)
        self._before: Callable[..., None] | None = None
        self._set_callback = library[self.setter]
        self._set_callback.restype = ctypes.c_void_p
        self._set_callback.argtypes = (ctypes.c_void_p, self.prototype)

    def hear(self, listener: Listener, *told: Any) -> None:
        """Pass on what the library told behind the window."""
        raise NotImplementedError

    def put_in(self, window: int) -> None:
        """Stand first in `window`, also where a new window has the address of an old one."""
        before = self._set_callback(window, self._callback)
        if before != ctypes.cast(self._callback, ctypes.c_void_p).value:
            self._before = self.prototype(before) if before else None

    def _on_event(self, window: int, *told: Any) -> None:
        self._pass_on(window, *told)

    def _pass_on(self, window: int, *told: Any) -> None:
        try:
            for listener in tuple(self.listeners):
                self.hear(listener, *told)
        finally:
            if self._before is not None:
                self._before(window, *told)


_taps: dict[tuple[type[WindowTap[Any]], int], WindowTap[Any]] = {}
"""By kind and the window's address: every listener that lives hears it."""


def listen(kind: type[WindowTap[Listener]], listener: Listener) -> bool:
    """Hear of this thread's window. False where the system's library does not show its names, or there is no window."""
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(_dearpygui.__file__)
    try:
        find_window = library["glfwGetCurrentContext"]
        find_window.restype = ctypes.c_void_p
        window = find_window()
        if not window:
            return False
        tap = _taps.get((kind, window))
        if tap is None:
            tap = _taps[kind, window] = kind(library)
        tap.put_in(window)
    except AttributeError:
        return False
    tap.listeners.add(listener)
    return True


# Files that a person drops on the window: the toolkit tells of none on this system, its window library
# does.

MOST_DROPPED = 200
"""Files of one drop that are taken."""


class FileDrops:
    """Paths that were dropped and not taken yet, in their order. Where the library does not show its names, none come.

    Args:
        on_drop: wakes the window.
    """

    def __init__(self, on_drop: Callable[[], object]) -> None:
        self._waiting: deque[str] = deque(maxlen=MOST_DROPPED)
        self._on_drop = on_drop
        self.is_listening = listen(_DropTap, self)

    def note(self, paths: list[str]) -> None:
        """Files were dropped."""
        self._waiting.extend(paths)
        self._on_drop()

    def take(self) -> tuple[str, ...]:
        """Paths that were dropped since the last time."""
        paths = tuple(self._waiting)
        self._waiting.clear()
        return paths


class _DropTap(WindowTap[FileDrops]):
    setter = "glfwSetDropCallback"
    prototype = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)
    )  # window, count, paths

    def hear(self, listener: FileDrops, *told: Any) -> None:
        count, paths = told
        found = [paths[index] for index in range(min(count, MOST_DROPPED))]
        listener.note([os.fsdecode(path) for path in found if path])


# Keys behind a chord wait outside the toolkit until the chord is answered and the field that it opened has the
# keyboard: the toolkit takes frames to give it, and drops the characters that come meanwhile.

MOST_HELD_FRAMES = 20
"""Frames without a report of a key after which none is held back: the toolkit took the chord for an echo."""
ANSWERED_FRAMES = 2
"""Frames after which a chord is answered: the one that reports it, and one for what it opened."""


class _LateEvent(msgspec.Struct, frozen=True):
    """An event that waits.

    Args:
        let_in: lets it pass; shuts: what follows waits until it is answered.
        came: its number among all events; drop: has the window never hear of it, None where it answers no question.
    """

    let_in: Callable[[], object]
    shuts: bool
    came: int
    drop: Callable[[], object] | None


class Answerable(Protocol):
    """A dialog over the window."""

    def is_key_meant(self) -> bool:
        """True if a key that presses or answers may be meant for it."""
        ...


class LateKeys:
    """Key events and characters in their order; those that come too early for what they are meant for wait.

    A key that has waited answers no dialog that did not take answers yet when the key went down.

    Attributes:
        is_in_use: keys come by here. Where the toolkit's library does not show its names (Windows, macOS), none do, and none wait.
        is_early: the window is open, and nothing in it answers a key yet: all wait.
    """

    def __init__(self) -> None:
        self._waiting: deque[_LateEvent] = deque()
        self._shut_frames = self._frames = self._reports = self._came = self._came_before = 0
        self._question: Answerable | None = None
        self._is_open = self.is_in_use = self.is_early = False

    @property
    def is_shut(self) -> bool:
        """True while keys that come wait."""
        return self.is_answering or (self.is_early and not self._is_open)

    @property
    def is_answering(self) -> bool:
        """True while they wait for what frames bring."""
        return self._shut_frames > 0 and not self._is_open

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Everything passes meanwhile."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False

    def take(
        self,
        event: Callable[[], object],
        *,
        shuts: bool,
        late: Callable[[], object] | None = None,
        drop: Callable[[], object] | None = None,
    ) -> None:
        """Let an event pass, or wait behind others.

        Args:
            shuts: what follows waits until this one is answered; late: lets it pass after it has waited.
            drop: of a key that can answer a dialog: called in place of `late` where it came before that took answers.
        """
        if self._is_open:
            event()
            return
        self._came += 1
        if self.is_early or self._shut_frames or self._waiting:
            self._waiting.append(_LateEvent(let_in=late or event, shuts=shuts, came=self._came, drop=drop))
        else:
            self._let_in(event, shuts=shuts)

    def _let_in(self, event: Callable[[], object], *, shuts: bool) -> None:
        self._shut_frames = MOST_HELD_FRAMES if shuts else 0
        self._frames = 0
        event()

    def _note_question(self, question: Answerable | None) -> None:
        """Keep how many events had come when the dialog began to take answers: all so far, if it takes none yet."""
        if question is None:
            self._came_before = 0
        elif question is not self._question or not question.is_key_meant():
            self._came_before = self._came
        self._question = question

    def tick(self, events: KeyEvents, *, is_lent: bool, question: Answerable | None = None) -> bool:
        """A frame was answered. Returns True if it let keys in.

        Args:
            events: what the toolkit has told of; is_lent: a field waits for the keyboard.
            question: the dialog over the window that keys from before do not answer.
        """
        self._note_question(question)
        if self.is_early:
            return False
        if self._shut_frames and events.reports != self._reports:
            self._shut_frames = MOST_HELD_FRAMES
        self._reports = events.reports
        self._shut_frames = max(0, self._shut_frames - 1)
        self._frames = self._frames + 1 if events.are_reported else 0
        if is_lent and not self._shut_frames:
            self._shut_frames = 1
        elif not is_lent and self._frames >= ANSWERED_FRAMES:
            self._shut_frames = 0
        has_more = bool(self._waiting) and not self._shut_frames
        while self._waiting and not self._shut_frames:
            late = self._waiting.popleft()
            if late.drop is not None and late.came <= self._came_before:
                late.drop()
            else:
                self._let_in(late.let_in, shuts=late.shuts)
        return has_more


GATE = LateKeys()
"""Of the one window that a process has."""


class _CharTap(WindowTap["KeyEvents"]):
    setter = "glfwSetCharCallback"
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint)  # window, code point

    def hear(self, listener: KeyEvents, *told: Any) -> None:
        """Characters are the toolkit's alone."""

    def _on_event(self, window: int, *told: Any) -> None:
        GATE.take(lambda: self._pass_on(window, *told), shuts=False)


# Order and modifiers of key presses as the system told them: the toolkit's handlers tell neither.

_RELEASE, _PRESS = 0, 1
_MODIFIER_CODES = range(340, 348)
_HELD = (("Ctrl", 2), ("Alt", 4), ("Shift", 1))
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ`-=[]\\,;'./"
_NAMES = {
    32: "Space", 256: "Escape", 257: "Enter", 258: "Tab", 259: "Backspace", 260: "Insert", 261: "Delete",
    262: "Right", 263: "Left", 264: "Down", 265: "Up", 266: "PageUp", 267: "PageDown", 268: "Home", 269: "End",
    330: ".", 331: "/", 332: "*", 333: "-", 334: "=", 335: "Enter", 348: "Menu",
    **{290 + index: f"F{index + 1}" for index in range(12)},
    **{320 + digit: str(digit) for digit in range(10)},
    **{ord(letter): letter for letter in _LETTERS},
}  # fmt: skip
"""GLFW's key codes to the names that chords use.

Source: glfw3.h 3.4, "Keyboard key tokens" (read 2026-11-29).
"""
MOST_WAITING = 256
"""Presses that are kept for the frames that will report them; of more, the oldest are forgotten."""


class KeyPress(msgspec.Struct, frozen=True):
    """One key that went down.

    Args:
        number: grows from press to press; key: a chord's name for it; chord: the key with the modifiers of that moment.
    """

    number: int
    key: str
    chord: str


class KeyEvents:
    """Presses in the order in which they came, for the frames in which the toolkit reports them.

    The toolkit spreads the events of a burst over frames, and within a frame tells keys by their code and modifiers by
    their state at its end: of `Ctrl+N` within 12 ms it tells that Ctrl was let go and N went down. Where its library does
    not show its names (Windows, macOS), nothing is known here and that state counts.
    """

    def __init__(self) -> None:
        self._waiting: deque[KeyPress] = deque(maxlen=MOST_WAITING)
        self._numbers = itertools.count()
        self._last, self.reports = -1, 0
        self.is_listening = GATE.is_in_use = listen(_KeyTap, self) and listen(_CharTap, self)

    @property
    def are_reported(self) -> bool:
        """True if a frame has reported the newest chord that holds back what follows."""
        return all(one.number != self._last for one in self._waiting)

    def note(self, key: str, modifiers: int) -> None:
        """A key went down. `modifiers`: GLFW's bits."""
        if key:
            press = KeyPress(number=next(self._numbers), key=key, chord=_told_chord(key, modifiers))
            self._waiting.append(press)
            if _may_move_keyboard(press.chord):
                self._last = press.number

    def take(self, key: str) -> KeyPress | None:
        """The oldest press of a key that no frame has reported yet; None where it is not known."""
        press = next((one for one in self._waiting if one.key == key), None)
        if press is not None:
            self._waiting.remove(press)
            self.reports += 1
        return press


def _told_chord(key: str, modifiers: int) -> str:
    return "+".join([*(name for name, bit in _HELD if modifiers & bit), key])


def _may_move_keyboard(chord: str) -> bool:
    return chord not in _EDITING and not _writes(chord)


class _KeyTap(WindowTap[KeyEvents]):
    setter = "glfwSetKeyCallback"
    prototype = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int
    )  # window, key, scancode, action, modifiers

    def __init__(self, library: ctypes.CDLL) -> None:
        super().__init__(library)
        self._name = library["glfwGetKeyName"]
        self._name.restype, self._name.argtypes = ctypes.c_char_p, (ctypes.c_int, ctypes.c_int)
        self._held_back: Counter[int] = Counter()
        self._state = library["glfwGetKey"]
        self._state.argtypes = (ctypes.c_void_p, ctypes.c_int)
        self._note = getattr(
            library, "_glfwInputKey", None
        )  # not of the library's interface: a build may lack it
        if self._note is not None:
            self._note.restype, self._note.argtypes = None, (ctypes.c_void_p, *(ctypes.c_int,) * 4)

    def hear(self, listener: KeyEvents, *told: Any) -> None:
        code, scancode, action, modifiers = told
        if action == _PRESS:
            listener.note(_NAMES.get(self._translated(code, scancode), ""), modifiers)

    def _on_event(self, window: int, *told: Any) -> None:
        code, scancode, action, modifiers = told
        key = _NAMES.get(self._translated(code, scancode), "") if action == _PRESS else ""
        shuts = bool(key) and _may_move_keyboard(_told_chord(key, modifiers))
        if GATE.is_shut and action == _PRESS:
            self._held_back[code] += 1
        elif action == _RELEASE and not self._held_back[code] and code not in _MODIFIER_CODES:
            self._pass_on(window, *told)  # a key that is up must not repeat
            return
        GATE.take(
            lambda: self._pass_on(window, *told),
            shuts=shuts,
            late=lambda: self._pass_on_late(window, *told),
            drop=(lambda: self._forget(code)) if key in PRESSES else None,
        )

    def _forget(self, code: int) -> None:
        """A press that waited goes no further; its release is one of a key that is up."""
        self._held_back[code] -= 1

    def _pass_on_late(self, window: int, *told: Any) -> None:
        """Have the library note the key once more: the toolkit asks it which modifiers are down.

        Where it cannot, the toolkit takes the modifiers of now: only a field's own chords (Ctrl+A) differ by that.
        """
        code, _, action, _ = told
        if action == _PRESS:
            self._forget(code)
        is_told = code < 0 or action not in (_PRESS, _RELEASE)
        if self._note is None or is_told or bool(self._state(window, code)) == bool(action):
            self._pass_on(window, *told)
        else:
            with GATE.opened():
                self._note(window, *told)

    def _translated(self, code: int, scancode: int) -> int:
        """The key by what the layout prints on it, as the toolkit names it."""
        label = self._name(code, scancode) if 32 < code < 256 else None
        letter = (label or b"").decode("utf-8", "replace").upper()
        return ord(letter) if len(letter) == 1 and letter in _LETTERS else code


# The keyboard: which chords were pressed since the last frame, once a press, in their order.

_FIRST = 512
_KEYS_NAMES = [
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
_BY_CODE = {_FIRST + index: name for index, name in enumerate(_KEYS_NAMES)}
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
_NO_TEXTS = frozenset({"Ctrl+Shift+Delete"})
"""Chords of a caret's keys that nothing here writes with: the composer has the keyboard most of the time."""
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
    if _is_of_caret(chord) and "Alt" not in chord:
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
    return is_letter(chord) or _is_of_caret(chord)


def _is_of_caret(chord: str) -> bool:
    return chord.rpartition("+")[2] in _CARET and chord not in _NO_TEXTS


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

    def take_any(self) -> str:
        """The first chord since the last frame that is no text's and not Escape; empty for none. Nobody else gets it."""
        if self._fresh:
            self._settle()
        chord = next((one for one in self._pressed if one != "Escape" and not needs_no_typing(one)), "")
        if chord:
            self.take(chord, while_typing=True)
        return chord

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
