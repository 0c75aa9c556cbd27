"""Tools of a discussion and their mode: what they do without a question, chosen beside the composer, or by one key."""

from __future__ import annotations

from collections.abc import Mapping

from core.agent.agent_messages import SetTools
from core.agent.agent_pages import mode_of
from core.agent.delegation import NAME, questions_of
from core.agent.tool import escaped
from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.values.agent import CallState, Mode
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.state import AppState
from core.talk.context.offered_tools import can_take_memory, missing_in_folder, missing_tools
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base.desk import Desk, run_action
from panels.base.selection import Memo
from panels.base.ui import Option
from panels.discussion.call_look import tool_label

MODES = (
    Option(
        value=Mode.ASK.value,
        label="Ask first",
        detail="writes, edits and commands wait for a yes",
        icon="shield-halved",
    ),
    Option(
        value=Mode.ACCEPT_EDITS.value,
        label="Accept edits",
        detail="edits inside the project need no yes",
        icon="pen-to-square",
    ),
    Option(value=Mode.PLAN.value, label="Plan", detail="it only reads", icon="eye"),
)
WITHOUT_TIP = "Give the model tools: it reads and searches this project, and asks before it writes a file or runs a command"
TRUST_LABEL = "Trust this folder, so that they work in it…"
BY_MODE = {Mode(option.value): option for option in MODES}


def has_tools(desk: Desk) -> bool:
    """True if the selected discussion's model is given tools."""
    return desk.summary is not None and desk.summary.meta.has_tools


def toggle_tools(desk: Desk) -> None:
    """Give the discussion tools, or take them away. Sends SetTools."""
    if (summary := desk.summary) is not None:
        desk.send(
            SetTools(
                discussion_id=summary.meta.id,
                has_tools=not summary.meta.has_tools,
                mode=mode_of(desk.state, summary.meta.id),
            )
        )


def next_mode(desk: Desk) -> None:
    """Go on to the mode after the one that counts. Sends SetTools.

    While a call waits for a yes it passes over the mode that would say it: no key does.
    """
    if (summary := desk.summary) is not None:
        order, now = list(BY_MODE), mode_of(desk.state, summary.meta.id)
        if now is not Mode.ACCEPT_EDITS and questions_of(desk.state, summary.meta.id):
            order.remove(Mode.ACCEPT_EDITS)
        set_mode(desk, order[(order.index(now) + 1) % len(order)])


def set_mode(desk: Desk, mode: Mode) -> None:
    """Choose a mode. Sends SetTools where it is another."""
    if (summary := desk.summary) is not None and mode is not mode_of(desk.state, summary.meta.id):
        desk.send(SetTools(discussion_id=summary.meta.id, has_tools=summary.meta.has_tools, mode=mode))


def tool_menu(desk: Desk) -> None:
    """Draw the mode as a menu; where the discussion has no tools, each mode gives it them."""
    ui, summary = desk.ui, desk.summary
    if summary is None:
        return
    has_any, now = summary.meta.has_tools, BY_MODE[mode_of(desk.state, summary.meta.id)]
    label, icon = (now.label, now.icon) if has_any else ("No tools", "wrench")
    missing = missing_tools(desk.state, summary.meta.provider)
    if has_any and missing:
        is_some = can_take_memory(desk.state, summary.meta.provider)
        label, icon = "Search alone" if is_some else "No tools here", "triangle-exclamation"
    tip = f"{now.label}: {now.detail} ({desk.actions['mode'].chord}: the next)" if has_any else WITHOUT_TIP
    tip = missing or tip
    with ui.menu("mode", label, icon=icon, tip=tip) as is_open:
        if not is_open:
            return
        for option in MODES:
            is_now = has_any and option is now
            words = f"{option.label}: {option.detail}"
            if ui.menu_item(("mode", option.value), words, icon=option.icon, is_checked=is_now):
                _give(desk, Mode(option.value))
        if has_any or can_be_trusted(desk):
            ui.divider("off line")
        if has_any and ui.menu_item("off", "Take its tools away", icon="xmark"):
            toggle_tools(desk)
        if can_be_trusted(desk) and ui.menu_item("trust", TRUST_LABEL, icon="shield-halved"):
            run_action("trust", desk)


def _give(desk: Desk, mode: Mode) -> None:
    """Choose a mode; tools come with it. Sends SetTools where something is another."""
    if (summary := desk.summary) is None:
        return
    if not (summary.meta.has_tools and mode is mode_of(desk.state, summary.meta.id)):
        desk.send(SetTools(discussion_id=summary.meta.id, has_tools=True, mode=mode))


def can_be_trusted(desk: Desk) -> bool:
    """True where a folder is open that tools may not touch before the person trusts it."""
    project = desk.state.config.project
    return bool(project.root) and not project.is_trusted


def trust_line(desk: Desk) -> None:
    """Say that tools do not reach the model, or have no folder to work in, with the way to what mends it; else nothing."""
    ui = desk.ui
    if desk.summary is not None and (missing := missing_tools(desk.state, desk.summary.meta.provider)):
        with ui.row("model", gap=6):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", missing, tone="warn", style="small", wraps=True, width=0)
        return
    text = missing_in_folder(desk.state)
    if not text:
        return
    with ui.row("folder", gap=6):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        ui.text("text", text, tone="warn", style="small", wraps=True, width=0)
    trust_button(desk)


def trust_button(desk: Desk) -> None:
    """Draw the way to trust the folder that is open, or to open one; what a yes covers stands in the dialog."""
    action = desk.actions["trust" if desk.state.config.project.root else "open_project"]
    if desk.ui.button("let", action.shown_label(desk), icon=action.icon, is_small=True):
        run_action(action.id, desk)


# Tasks that a discussion gave away: the way to each, what it does just now, and who asks.

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
