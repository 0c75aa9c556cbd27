"""Outside of a command: moves no selection, measures no contexts that nobody looks at, watches no files."""

from __future__ import annotations

from core.app.messages import Effect, WatchFiles, WriteWindow
from core.app.outside import LocalOutside
from core.caching.messages import CheckRewrites
from core.context.messages import AssembleContext
from core.forgetting.intent import is_waiting
from core.forgetting.messages import ResumeForget
from core.harvest.messages import FindBatches
from core.knowledge.messages import ReadKnowledge
from core.settings.messages import ListModels

_FOR_WINDOWS = AssembleContext | CheckRewrites | WriteWindow | WatchFiles | ReadKnowledge | FindBatches


class CommandOutside(LocalOutside):
    """The outside of one command. Measuring alone would start a process of its own, a second of every command.

    A forgetting that was cut short is gone on with: a window that does so may be long in coming.
    A server is asked for its models only where the command asks: one that is dead is none of the others' business.
    """

    def begin(self, effect: Effect) -> None:
        """Begin an effect, unless only a window has use for it."""
        if isinstance(effect, _FOR_WINDOWS):
            return
        if isinstance(effect, ResumeForget) and not is_waiting(self.home):
            return
        if isinstance(effect, ListModels) and not effect.command_id:
            return
        super().begin(effect)
