"""What a command does not do: move the window's selection, measure contexts that nobody looks at, watch files."""

from __future__ import annotations

from core.controller.outside import LocalOutside
from core.values.effects import AssembleContext, CheckRewrites, Effect, ReadKnowledge, WatchFiles, WriteWindow


class CommandOutside(LocalOutside):
    """The outside of one command. Measuring alone would start a process of its own, a second of every command."""

    def begin(self, effect: Effect) -> None:
        """Begin an effect, unless only a window has use for it."""
        match effect:
            case AssembleContext() | CheckRewrites() | WriteWindow() | WatchFiles() | ReadKnowledge():
                pass
            case _:
                super().begin(effect)
