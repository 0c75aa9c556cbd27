"""Outside of a command: moves no selection, measures no contexts that nobody looks at, watches no files."""

from __future__ import annotations

from core.app.messages import Effect, WatchFiles, WriteWindow
from core.app.outside import LocalOutside
from core.caching.messages import CheckRewrites
from core.context.messages import AssembleContext
from core.knowledge.messages import ReadKnowledge


class CommandOutside(LocalOutside):
    """The outside of one command. Measuring alone would start a process of its own, a second of every command."""

    def begin(self, effect: Effect) -> None:
        """Begin an effect, unless only a window has use for it."""
        if not isinstance(effect, AssembleContext | CheckRewrites | WriteWindow | WatchFiles | ReadKnowledge):
            super().begin(effect)
