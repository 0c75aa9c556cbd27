"""The keyboard of a list that is walked through: it stands for the list where it was described."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import ClassVar

from gui.canvas import Canvas
from gui.elements.base import Element
from gui.keyboard import Keyboard

NEVER = float("inf")


class ListHand(Element):
    """Owner of the keyboard for the list of a chooser: keys walk through the entries, letters find one."""

    __slots__ = ("claims_at_s", "keyboard", "uppermost")
    is_ghost: ClassVar[bool] = True
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.keyboard: Keyboard | None = None
        self.uppermost: Callable[[], Element | None] = lambda: None
        self.claims_at_s = NEVER

    @property
    def has_keyboard(self) -> bool:
        """True if the list has the keyboard, and no field of the dialog."""
        return self.keyboard is not None and self.keyboard.owner is self

    def claim_later(self, wait_s: float) -> None:
        """Have the keyboard in so many seconds: the toolkit hands it over in frames in which it loses a click."""
        if self.keyboard is not None and not self.has_keyboard:
            self.claims_at_s = self.keyboard.clock() + wait_s

    def claim(self) -> None:
        """Have the keyboard now, also where a field has it still."""
        self.claims_at_s = NEVER
        if self.keyboard is not None:
            self.keyboard.call(self)

    def release(self) -> None:
        """Leave the keyboard to a field of the dialog."""
        self.claims_at_s = NEVER
        if self.keyboard is not None:
            self.keyboard.release(self)

    @property
    def is_waiting(self) -> bool:
        """True while the list is about to have the keyboard."""
        return self.claims_at_s < NEVER

    def poll(self, c: Canvas) -> None:
        if self.keyboard is not None and self.keyboard.clock() >= self.claims_at_s:
            self.claim()

    def rest_s(self) -> float:
        if self.keyboard is None or not self.is_waiting:
            return NEVER
        return max(0.0, self.claims_at_s - self.keyboard.clock())

    def is_hearing(self) -> bool:
        """True while its dialog is the uppermost layer."""
        return (
            self.spot is not None
            and self.parent is not None
            and any(node is self.uppermost() for node in self.holders())
        )

    def holders(self) -> Iterator[Element]:
        """The elements around it, the innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def keyboard_lost(self) -> None:
        """The keyboard went to a field."""
