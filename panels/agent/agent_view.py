"""View of the Agent panel: the part in front, and what is unfolded."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from panels.base.view import Kept, one_of

TABS = ("activity", "waiting", "todo", "files", "autonomy")


class AgentView(msgspec.Struct):
    """The panel's own state.

    Args:
        tab: the part in front; open_calls: ids of calls whose arguments and answers are shown; open_files: changes whose
            difference is shown, by turn and path; undone: commands that undo turns, by turn, whose outcome may be seen.
        open_thoughts: what was said alone whose reasoning is shown; started: the command that started autonomy last.
        is_state_open: the card of the turn's state is unfolded where there is no height for it.
        led: question for which the part that asks was brought to the front, once each; left: the part that stood there before.
    """

    kept: ClassVar[tuple[Kept, ...]] = (Kept(key="agent_tab", name="tab", read=one_of(*TABS)),)

    tab: str = "activity"
    open_calls: frozenset[tuple[str, str]] = frozenset()
    open_files: frozenset[tuple[str, str]] = frozenset()
    undone: dict[str, str] = msgspec.field(default_factory=dict)
    led: str = ""
    left: str = "activity"
    open_thoughts: frozenset[str] = frozenset()
    started: str = ""
    is_state_open: bool = False

    def lead(self, question: str) -> None:
        """Bring the part that asks to the front for a question, and what stood there before once none waits: empty `question`."""
        if question and self.led != question:
            if self.tab != "waiting":
                self.left = self.tab
            self.tab = "waiting"
        elif not question and self.led and self.tab == "waiting":
            self.tab = self.left
        self.led = question
