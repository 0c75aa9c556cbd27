"""What every part of the step shares: the stamped input, results, ids, notices and small look-ups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from core.values.commands import Command
from core.values.discussion import DiscussionSummary, OpenDiscussion
from core.values.effects import Effect
from core.values.events import Event
from core.values.ids import make_id
from core.values.mapping import with_entry
from core.values.state import AppState, Level, Notice

Result = tuple[AppState, tuple[Effect, ...]]
"""The next state and what the outside must do."""


@dataclass(frozen=True, slots=True)
class Input:
    """A command or event, stamped by the runtime.

    Args:
        at: the controller's clock, UTC.
        seed: fresh randomness as text; ids are derived from it, so a playbook is repeatable.
    """

    at: datetime
    seed: str
    body: Command | Event

    def make_id(self, number: int = 0) -> str:
        """The `number`-th id of this input, `YYYYMMDD-HHMMSS-` and six letters."""
        return make_id(self.at, f"{self.seed}/{number}")


def notify(
    state: AppState,
    notice_id: str,
    level: Level,
    text: str,
    detail: str = "",
    *,
    action: Command | None = None,
    action_label: str = "",
) -> AppState:
    """Add a notice, or replace the one with the same id."""
    notice = Notice(notice_id, level, text, detail, state.now, action, action_label)
    kept = tuple(n for n in state.notices if n.id != notice_id)
    return replace(state, notices=(*kept, notice))


def dismiss(state: AppState, notice_id: str) -> AppState:
    """Remove a notice."""
    if all(n.id != notice_id for n in state.notices):
        return state
    return replace(state, notices=tuple(n for n in state.notices if n.id != notice_id))


def with_open(state: AppState, discussion: OpenDiscussion) -> AppState:
    """Replace an open discussion."""
    return replace(state, open=with_entry(state.open, discussion.id, discussion))


def with_summary(state: AppState, summary: DiscussionSummary) -> AppState:
    """Replace a row of the list."""
    return replace(state, summaries=with_entry(state.summaries, summary.meta.id, summary))
