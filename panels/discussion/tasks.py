"""Tasks that a discussion gave away: the way to each, what it does just now, and who asks."""

from __future__ import annotations

from collections.abc import Mapping

from core.agent.delegation import NAME
from core.agent.escapes import escaped
from core.base import figures as fmt
from core.base.text import one_line
from core.discussion.messages import SelectDiscussion
from core.values.agent import CallState
from core.values.discussion import DiscussionSummary
from core.values.state import AppState
from panels.base.desk import Desk
from panels.base.memo import Memo
from panels.discussion.call_look import tool_label

SAID_CHARS = 120


def tasks_of(state: AppState, memo: Memo, discussion_id: str) -> Mapping[str, str]:
    """Ids of the discussions that were made for a discussion's calls, by call. O(discussions) once for each list of them."""
    rows = state.discussions.summaries
    return memo.get("tasks", (rows, discussion_id), lambda: _tasks(rows, discussion_id))


def _tasks(rows: Mapping[str, DiscussionSummary], discussion_id: str) -> Mapping[str, str]:
    return {
        row.meta.delegated_by: name
        for name, row in rows.items()
        if row.meta.delegated_by and row.meta.parent_id == discussion_id
    }


def task_link(desk: Desk, discussion_id: str, tool: str, call_id: str) -> None:
    """Draw the way to the discussion of a call that gave a task away. Sends SelectDiscussion."""
    child = tasks_of(desk.state, desk.view.memo, discussion_id).get(call_id, "") if tool == NAME else ""
    if child and desk.ui.button(
        "task",
        "Open task",
        icon="arrow-right",
        kind="link",
        is_small=True,
        tip="Show the discussion of this task",
    ):
        desk.send(SelectDiscussion(child))


def asked_by(desk: Desk, discussion_id: str, asker: str) -> None:
    """Draw who asks where it is not the discussion itself."""
    row = desk.state.discussions.summaries.get(asker)
    if asker == discussion_id or row is None:
        return
    with desk.ui.row("asked by", gap=6):
        desk.ui.icon("icon", "sitemap", tone="warn")
        desk.ui.text("text", f"A task asks: {row.meta.name}", style="small", width=0)


def task_words(state: AppState, discussion_id: str, call_id: str) -> str:
    """Words on what the task of a call does just now, empty where none is at work for it."""
    one = next(
        (
            each
            for each in state.agent.delegations.values()
            if (each.parent_id, each.call_id) == (discussion_id, call_id)
        ),
        None,
    )
    if one is None:
        return ""
    row, turn = state.discussions.summaries.get(one.child_id), state.agent.turns.get(one.child_id)
    call = state.turns.calls.get(one.child_id)
    doing = [] if turn is None else [each for each in turn.calls if not each.state.is_over]
    if any(each.state is CallState.ASKING for each in doing):
        words = "waits for you"
    elif doing:
        words = ", ".join(dict.fromkeys(tool_label(each.name) for each in doing))
    elif call is not None and call.text:
        words = f"writes: {escaped(one_line(call.text[-SAID_CHARS:], SAID_CHARS))}"
    else:
        words = "thinks"
    usd = row.usage.cost_usd if row is not None else None
    return f"{words} · {fmt.money(usd)}" if usd else words
