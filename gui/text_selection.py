"""The window's one text selection: who holds it, and the old holder told to let go."""

from __future__ import annotations

from typing import Protocol


class SelectionOwner(Protocol):
    """Holder of selected text: a message, an editor."""

    def clear_selection(self) -> None:
        """Select nothing any more: another holds the window's selection, or nobody."""
        ...


class TextSelection:
    """One selection in a window: who claims it takes it from the one who held it."""

    __slots__ = ("owner",)

    def __init__(self) -> None:
        self.owner: SelectionOwner | None = None

    def claim(self, owner: SelectionOwner) -> None:
        """Make `owner` the holder; the one before clears its selection."""
        before, self.owner = self.owner, owner
        if before is not None and before is not owner:
            before.clear_selection()

    def release(self, owner: SelectionOwner) -> None:
        """Forget `owner`, whose selection is empty or gone; another's claim stays."""
        if self.owner is owner:
            self.owner = None

    def clear(self) -> None:
        """Select nothing in the window."""
        before, self.owner = self.owner, None
        if before is not None:
            before.clear_selection()
