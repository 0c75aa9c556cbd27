"""`discussions compact`: the beginning of a discussion leaves what its model sees, and what that cost is said."""

from __future__ import annotations

from typing import Any

from core.agent.compaction_messages import CompactDiscussion
from core.app.execution import act, begin, is_over, too_slow
from core.base.errors import SlopError
from core.base.figures import money
from core.cli.output import Console
from core.cli.session import FrontEnd
from core.discussion.messages import SelectDiscussion
from core.values.messages import Mark
from core.values.state import AppState
from core.values.updates import outcome_of

COMPACT_S = 900.0
"""Longest wait for a summary: a model on this machine may take its time over a long discussion."""


def compact(front: FrontEnd, console: Console, chosen: str) -> tuple[str, dict[str, Any]]:
    """Rebuild the model's view of a discussion.

    Returns:
        What to say once it is sure, and the same as data.

    Raises:
        SlopError: there is nothing to leave out, or no summary; the view is as it was.
    """
    before = act(front, SelectDiscussion(chosen)).discussions.summaries[chosen].usage.cost_usd
    with console.waiting("Compacting"):
        command_id = begin(front, CompactDiscussion(chosen))
        state = front.wait_for(lambda now: is_over(now, command_id) or _price(now, chosen) > 0, COMPACT_S)
        if state is not None and (usd := _price(state, chosen)):
            console.note(f"manual-slop: its summary may cost {money(usd, 'terminal')}")
            state = front.wait_for(lambda now: is_over(now, command_id), COMPACT_S)
    outcome = outcome_of(state, command_id) if state is not None else None
    if state is None or outcome is None:
        raise too_slow(COMPACT_S)
    if not outcome.is_done:
        raise SlopError(outcome.problem.removesuffix("."), remedy=outcome.remedy)
    opened = state.discussions.open[chosen]
    after = state.discussions.summaries[chosen].usage.cost_usd
    has_summary = opened.cut is not None and bool(opened.cut.summary)
    cost = None if after is None and has_summary else (after or 0.0) - (before or 0.0)
    words = next((one.text for one in reversed(opened.entries) if isinstance(one, Mark)), "")
    said = f"{words} It cost {money(cost, 'terminal')}."
    left = 0 if opened.cut is None else opened.cut.left_messages
    return said.strip(), {"discussion": chosen, "cost_usd": cost, "left_messages": left}


def _price(state: AppState, chosen: str) -> float:
    """Most that the summary may cost, US dollars; 0 until that is known."""
    one = state.agent.compactions.get(chosen)
    return 0.0 if one is None else one.reserved_usd
