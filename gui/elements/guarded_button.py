"""Button that takes no click before it has stood in its place for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas
from gui.elements.base import Element
from gui.elements.controls import Button


class GuardedButton(Button):
    """A button that begins to work some time after it came, was moved, or was pressed too early.

    `clock`: seconds; `guard_s`: that time.
    """

    __slots__ = ("clock", "guard_s", "place_seen", "since_s", "was_ready")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.clock: Callable[[], float] = time.perf_counter
        self.guard_s = 0.0
        self.since_s = float("inf")
        self.place_seen: tuple[float, float] | None = None
        self.was_ready = False

    def is_ready(self) -> bool:
        """True once it has stood still for so long."""
        return self.clock() - self.since_s >= self.guard_s

    def poll(self, c: Canvas) -> None:
        if self.pane is None or self.spot is None:
            self.place_seen, self.since_s = None, float("inf")
        else:
            left, top = self.pane.origin()
            place = (left + self.spot[0], top + self.spot[1])
            is_early_press = not self.was_ready and dpg.is_mouse_button_down(0)
            if place != self.place_seen or is_early_press:
                self.place_seen, self.since_s = place, self.clock()
        if self.is_ready() != self.was_ready:
            self.was_ready = not self.was_ready
            self.touch()

    def rest_s(self) -> float:
        left_s = self.since_s + self.guard_s - self.clock()
        return float("inf") if self.was_ready or left_s == float("inf") else max(0.0, left_s)
