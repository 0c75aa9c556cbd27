"""Real input events (XTEST) for the tour and the tests: finds things by what a person reads on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Any

import dearpygui.dearpygui as dpg
from Xlib import XK, X, display
from Xlib.ext import xtest

from gui.describe import Tree
from gui.elements.base import Element
from gui.elements.controls import Control, GuardedButton
from gui.elements.editor import Editor
from gui.elements.popups import anchor_of
from gui.elements.surfaces import Clickable, Dim, Surface
from gui.keys import PRESSES

MOST_FRAMES, MOST_WAIT_S = 400, 30.0
"""Longest that a driver waits: so many frames, and for work on another thread so many seconds, unless it is given more patience."""
STILL_FRAMES, STILL_REST_S, LOOK_FRAMES = 2000, 0.01, 50
"""Frames in which nothing on the screen changes, after which nothing will; the rest between them, which leaves the processor
to the work that is waited for; frames between two looks. Frames, for on a machine under load these last longer, too."""
MOST_AIMS = 5
_KEYSYMS = {
    " ": "space", "\n": "Return", "Enter": "Return", "Ctrl": "Control_L", "Shift": "Shift_L", "Alt": "Alt_L",
    "PageUp": "Prior", "PageDown": "Next", "Backspace": "BackSpace", ",": "comma", ".": "period", "-": "minus",
    "=": "equal", "/": "slash", "+": "equal", "Space": "space",
}  # fmt: skip


class NotFoundError(LookupError):
    """No text on the screen matches; the message lists the visible texts."""


class Driver:
    """A person at the mouse and keyboard, for one window.

    Args:
        tree: the binding whose elements are looked for.
        frame: renders one frame. Every action renders the frames that it needs.
        patience_s: longest wait for work on another thread.
    """

    def __init__(self, tree: Tree, frame: Callable[[], object], patience_s: float = MOST_WAIT_S) -> None:
        self._tree = tree
        self._frame = frame
        self._patience_s = patience_s
        self._x: Any = display.Display()
        self._added: dict[str, int] = {}
        # a slow frame between press and release must not type a letter twice
        self._x.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOff)
        self._x.sync()

    def close(self) -> None:
        """Leave the display."""
        self._x.close()

    # frames
    def step(self, frames: int = 2) -> None:
        """Render frames."""
        for _ in range(frames):
            self._frame()

    def until(self, holds: Callable[[], object], what: str = "", most: int = MOST_FRAMES) -> None:
        """Render frames until something holds.

        Raises:
            TimeoutError: it did not within `most` frames, and then the screen stood still or the driver's patience ended.
                The message lists the visible texts.
        """
        deadline, frames, changed_at = monotonic() + self._patience_s, 0, 0
        before: object = None
        while not holds():
            if frames >= most:
                if frames % LOOK_FRAMES == 0 and (now := self._looks()) != before:
                    before, changed_at = now, frames
                if frames - changed_at >= STILL_FRAMES or monotonic() > deadline:
                    raise TimeoutError(
                        f"after {frames} frames still not: {what or _place_of(holds)}; there is {self._shown()}"
                    )
                sleep(STILL_REST_S)
            self._frame()
            frames += 1

    def _looks(self) -> object:
        """Texts on the screen and their places: equal if nothing has changed."""
        return [(el.label(), el.spot) for el in self.visible() if el.spot is not None]

    # looking
    def visible(self) -> Iterator[Element]:
        """Everything on the screen that a person could reach, the uppermost first."""
        tops = [*self._tree.top.order[::-1], self._tree.root]
        for element in tops:
            yield from element.walk()

    def find(self, label: str, *, kind: type[Element] = Element, index: int = 0) -> Element:
        """The element with that label, exact before partial; controls before text.

        Raises:
            NotFoundError: there is none.
        """
        close = self._like(label, kind)
        if len(close) <= index:
            raise NotFoundError(f"nothing reads {label!r}; there is {self._shown(kind)}")
        return close[index]

    def _shown(self, kind: type[Element] = Element) -> str:
        return ", ".join(sorted({repr(el.label()[:40]) for el in self._labelled(kind)}))

    def _labelled(self, kind: type[Element]) -> list[Element]:
        return [el for el in self.visible() if isinstance(el, kind) and el.label() and el.spot is not None]

    def _like(self, label: str, kind: type[Element] = Element) -> list[Element]:
        seen = self._labelled(kind)
        exact = [el for el in seen if el.label() == label or el.tip == label]
        close = exact or [el for el in seen if label.casefold() in el.label().casefold()]
        return sorted(close, key=lambda el: (not isinstance(el, Control), not isinstance(el, Clickable)))

    def has(self, label: str) -> bool:
        """True if something on the screen reads like that."""
        return any(label in el.label() for el in self.visible())

    def rect(self, element: Element) -> tuple[float, float, float, float]:
        """Visible part of an element: left, top, right, bottom in the viewport; right < left for nothing."""
        x, y, w, h = anchor_of(element)
        left, top, right, bottom = x, y, x + w, y + h
        holder = element.parent
        while holder is not None:
            if isinstance(holder, Surface) and holder.spot is not None:
                x, y, w, h = anchor_of(holder)
                left, top, right, bottom = max(left, x), max(top, y), min(right, x + w), min(bottom, y + h)
            holder = holder.parent
        width, height = self._tree.root.w, self._tree.root.h
        return max(left, 0.0), max(top, 0.0), min(right, width), min(bottom, height)

    def center(self, element: Element) -> tuple[int, int]:
        """The middle of what can be seen of an element, in pixels of the screen."""
        left, top, right, bottom = self.rect(element)
        x, y = dpg.get_viewport_pos()
        return round(x + (left + right) / 2), round(y + (top + bottom) / 2)

    def bring(self, element: Element) -> None:
        """Turn the wheel over what scrolls around an element until it can be seen."""
        holder: Element | None = element.parent
        while holder is not None and not (isinstance(holder, Surface) and holder.can_scroll()):
            holder = holder.parent
        if holder is None:
            return
        for _ in range(MOST_FRAMES):
            _, y, _, h = anchor_of(element)
            left, top, right, bottom = self.rect(element)
            if bottom - top >= min(h, 12.0) and right > left:
                return
            self.wheel(holder, 1 if y + h / 2 > self.rect(holder)[1] + 1 else -1)

    # mouse
    def move(self, x: int, y: int) -> None:
        """Put the mouse at a point of the screen."""
        xtest.fake_input(self._x, X.MotionNotify, x=x, y=y)
        self._x.sync()
        self.step()

    def press(self, button: int = 1) -> None:
        """Push a mouse button down."""
        xtest.fake_input(self._x, X.ButtonPress, button)
        self._x.sync()
        self.step()

    def release(self, button: int = 1) -> None:
        """Let a mouse button go."""
        xtest.fake_input(self._x, X.ButtonRelease, button)
        self._x.sync()
        self.step()

    def _target(self, target: str | Element, index: int = 0) -> Element:
        """The element that is meant; a label is looked for until it comes, as a person would."""
        if not isinstance(target, str):
            return target
        with suppress(TimeoutError):
            self.until(lambda: len(self._like(target)) > index)
        return self.find(target, index=index)

    def hover(self, target: str | Element, *, index: int = 0) -> None:
        """Put the mouse on an element; aims again where it moved, or was made anew, meanwhile."""
        for _ in range(MOST_AIMS):
            element = self._target(target, index)
            self.bring(element)
            aim = self.center(element)
            self.move(*aim)
            if self._target(target, index) is element and self.center(element) == aim:
                return

    def click(self, target: str | Element, *, button: int = 1, index: int = 0) -> None:
        """Click on an element, by its label or itself."""
        self.hover(target, index=index)
        self.read(self._target(target, index))
        self.press(button)
        self.release(button)
        self.step()

    def read(self, target: Element | None = None) -> None:
        """Look at a dialog before it is answered, until it takes an answer, and what is dangerous in it is shown to work."""
        top = next((layer for layer in reversed(self._tree.top.order) if isinstance(layer, Dim)), None)
        if top is not None:
            self.until(top.is_meant, "the dialog takes an answer")
            if isinstance(target, GuardedButton):
                self.until(lambda: target.was_ready, "the button works")

    def is_answerable(self) -> bool:
        """True if no button in view still waits out its guard."""
        guarded = (one for one in self.visible() if isinstance(one, GuardedButton) and one.spot is not None)
        return all(one.was_ready for one in guarded)

    def click_at(self, x: int, y: int) -> None:
        """Click on a point of the screen."""
        self.move(x, y)
        self.press()
        self.release()

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press at one point of the screen, move to another, and let go."""
        self.move(*start)
        self.press()
        for step in range(1, 7):
            share = step / 6
            self.move(
                round(start[0] + (end[0] - start[0]) * share), round(start[1] + (end[1] - start[1]) * share)
            )
        self.release()

    def wheel(self, target: str | Element, clicks: int) -> None:
        """Turn the wheel over an element: positive towards the end."""
        self.move(*self.center(self._target(target)))
        for _ in range(abs(clicks)):
            for kind in (X.ButtonPress, X.ButtonRelease):
                xtest.fake_input(self._x, kind, 5 if clicks > 0 else 4)
            self._x.sync()
            self.step(1)
        self.step()

    # keyboard
    def _keycode(self, name: str) -> int:
        keysym = XK.string_to_keysym(_KEYSYMS.get(name, name))
        code = self._added.get(name) or int(self._x.keysym_to_keycode(keysym))
        if not code:
            raise ValueError(f"the keyboard has no {name!r}")
        return code

    def _keycodes(self, chord: str) -> list[int]:
        return [self._keycode(name.lower() if len(name) == 1 else name) for name in chord.split("+")]

    @contextmanager
    def keyboard_has(self, name: str) -> Iterator[None]:
        """Give a key that the keyboard has not to one without a meaning."""
        XK.load_keysym_group("xkb")
        first, count = self._x.display.info.min_keycode, 248
        table = self._x.get_keyboard_mapping(first, count)
        code = first + next(index for index, row in enumerate(table) if not any(row))
        self._x.change_keyboard_mapping(code, [(XK.string_to_keysym(name),) * len(table[0])])
        self._x.sync()
        self.step(5)
        self._added[name] = code
        yield
        self._x.change_keyboard_mapping(code, [(0,) * len(table[0])])

    def key(self, chord: str) -> None:
        """Press and release a chord: `Ctrl+Enter`, `Escape`, `a`."""
        if chord.rpartition("+")[2] in PRESSES:
            self.read()
        codes = self._keycodes(chord)
        for code in codes:
            xtest.fake_input(self._x, X.KeyPress, code)
        self._x.sync()
        self.step()
        for code in reversed(codes):
            xtest.fake_input(self._x, X.KeyRelease, code)
        self._x.sync()
        self.step()

    def hold(self, key: str, *, repeats: bool = False) -> None:
        """Push a key down; the system repeats it, if asked."""
        if repeats:
            self._x.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOn)
        xtest.fake_input(self._x, X.KeyPress, self._keycode(key))
        self._x.sync()
        self.step()

    def let_go(self, key: str) -> None:
        """Let a key go."""
        self._x.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOff)
        xtest.fake_input(self._x, X.KeyRelease, self._keycode(key))
        self._x.sync()
        self.step()

    def strike(self, *chords: str, overlaps: bool = False) -> None:
        """Press and release chords without a frame between: what a person types while a frame is slow.

        They are two milliseconds apart: of two presses of a key in one, the toolkit takes the second for an echo.
        Modifiers are let go first, as macro keyboards and xdotool do.

        Args:
            overlaps: a key goes up when the next one is down, as under quick fingers.
        """
        down: list[int] = []
        for chord in chords:
            *modifiers, key = self._keycodes(chord)
            if key in down:
                xtest.fake_input(self._x, X.KeyRelease, down.pop())
            for index, code in enumerate([*modifiers, key]):
                xtest.fake_input(self._x, X.KeyPress, code, time=0 if index else 2)
            for code in [*modifiers, *down]:
                xtest.fake_input(self._x, X.KeyRelease, code)
            down = [key]
            if not overlaps:
                xtest.fake_input(self._x, X.KeyRelease, down.pop())
        for code in down:
            xtest.fake_input(self._x, X.KeyRelease, code)
        self._x.sync()

    def roll(self, chord: str) -> None:
        """Press a chord with a frame only after its modifiers went down, and one after they went up with the key down."""
        *modifiers, key = self._keycodes(chord)
        for kind, codes in (
            (X.KeyPress, modifiers),
            (X.KeyPress, [key]),
            (X.KeyRelease, [*modifiers, key]),
        ):
            for code in codes:
                xtest.fake_input(self._x, kind, code)
            self._x.sync()
            self.step(1 if codes is modifiers else 0)
        self.step()

    def rattle(self, chords: Iterable[str]) -> None:
        """Press and release chords without a pause: one frame for every key that goes down or up."""
        for chord in chords:
            codes = self._keycodes(chord)
            for kind, order in ((X.KeyPress, codes), (X.KeyRelease, codes[::-1])):
                for code in order:
                    xtest.fake_input(self._x, kind, code)
                    self._x.sync()
                    self.step(1)

    def type(self, text: str) -> None:
        """Type into what has the keyboard: keys where the keyboard has them, else the clipboard."""
        if all(char in "abcdefghijklmnopqrstuvwxyz0123456789 .,-" for char in text) and len(text) <= 40:
            for char in text:
                self.key(char)
            return
        self.paste(text)

    def paste(self, text: str) -> None:
        """Put a text on the clipboard and paste it: once, since the toolkit repeats a key that is down through slow frames."""
        self._tree.clipboard.copy(text)
        held = self._tree.clipboard.ask()
        self.until(lambda: held.is_done, "the clipboard holds the text")
        self.strike("Ctrl+v")
        self.step(5)
        editors = [one for one in self.visible() if isinstance(one, Editor)]
        self.until(lambda: all(one.awaited is None for one in editors), "the paste is taken")


def _place_of(holds: Callable[[], object]) -> str:
    """The line of a condition that has no words."""
    code = getattr(holds, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else repr(holds)
