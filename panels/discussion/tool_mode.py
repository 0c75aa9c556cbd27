"""Tools of a discussion and their mode, chosen beside the composer; how calls look in words and signs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from core.agent.agent_messages import SetTools
from core.agent.agent_pages import mode_of
from core.agent.delegation import NAME, questions_of
from core.agent.tool import escaped
from core.kernel import figures as fmt
from core.kernel.codecs import from_json
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.agent import CallState, Mode, ToolCall
from core.kernel.values.discussion import HAND_OVER, DiscussionSummary
from core.kernel.values.state import AppState
from core.talk.context.context_spec import can_take_memory, missing_in_folder, missing_tools
from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base.desk import Desk, run_action
from panels.base.ui import Option, Tone
from panels.base.view import Memo

# Look of tool calls in words and signs: what each does, how it stands, how long it took. Pure.

SUMMARY_CHARS = 160
LINE_FROM_PX = 420.0
"""Width from which what a call does and how it stands have room beside its name."""
TOOLS = {
    "bash": (tr("Run"), "terminal"),
    "bash_kill": (tr("End a command"), "stop"),
    "bash_output": (tr("Output of a command"), "terminal"),
    "delegate": (tr("Delegate a task"), "sitemap"),
    "edit_file": (tr("Edit"), "pen-to-square"),
    "glob": (tr("Find files"), "folder-tree"),
    "grep": (tr("Search files"), "magnifying-glass"),
    "journal": (tr("Journal"), "book"),
    "read_file": (tr("Read"), "file-lines"),
    "read_note": (tr("Read a note"), "file-lines"),
    "search_notes": (tr("Search notes"), "magnifying-glass"),
    "todo": (tr("Todo list"), "list-check"),
    "view_image": (tr("Look at a picture"), "file-image"),
    "web_fetch": (tr("Fetch a page"), "globe"),
    "write_file": (tr("Write"), "file-circle-plus"),
    "yield_to_user": (tr("Give the turn back to you"), "hand"),
}
"""Our tools in a person's words, with their icons."""
OWN = frozenset({"delegate", "journal", "todo", "yield_to_user"})
"""Tools whose summary says no more than their name: what they were given says it."""
QUIET = {
    HAND_OVER: tr("The model gave the turn back to you"),
    "journal": tr("The model wrote to the journal"),
    "todo": tr("The model set the todo list"),
}
"""Tools whose answer says only that it was done, each in a line: what was asked of them stands with their call."""
OF_SERVER = "__"
"""Mark between an MCP server's name and its tool's."""
COMMANDS = frozenset({"bash"})
"""Tools whose calls run a command, which can be killed."""
STATES: dict[CallState, tuple[str, Tone, str]] = {
    CallState.PREPARING: ("clock", "muted", tr("waits its turn")),
    CallState.ASKING: ("shield-halved", "warn", tr("waits for you")),
    CallState.RUNNING: ("circle-play", "accent", tr("running")),
    CallState.DONE: ("circle-check", "ok", tr("done")),
    CallState.FAILED: ("circle-exclamation", "error", tr("failed")),
    CallState.REFUSED: ("ban", "warn", tr("refused")),
    CallState.INTERRUPTED: ("stop", "muted", tr("interrupted")),
}
_ANSI = late(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def tool_label(name: str) -> str:
    """Name of a tool in a person's words; one of a server as `server: tool`, an unknown one by its own name."""
    if name in TOOLS:
        return TOOLS[name][0]
    server, mark, tool = name.partition(OF_SERVER)
    return escaped(one_line(f"{server}: {tool}" if server and mark and tool else name, SUMMARY_CHARS))


def tool_icon(name: str) -> str:
    """Icon of a tool, a plug for one of a server, a wrench for one that we do not know."""
    return TOOLS[name][1] if name in TOOLS else "plug" if OF_SERVER in name else "wrench"


def call_summary(name: str, summary: str, arguments_json: str) -> str:
    """One line of what a call does, to stand beside its name: as the tool said it, else its arguments."""
    if not summary or name in OWN or summary in (name, tool_label(name)):
        return argument_line(name, arguments_json)
    return escaped(one_line(summary.removeprefix(f"{tool_label(name)} "), SUMMARY_CHARS))


@lru_cache(maxsize=1024)
def argument_line(name: str, arguments_json: str) -> str:
    """Arguments of a call in one line: the first one that is text where it has one, else as they came."""
    try:
        given: object = from_json(arguments_json or "{}", Any)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return escaped(one_line(arguments_json[: 2 * SUMMARY_CHARS], SUMMARY_CHARS))
    line = _first_words(given) or ("" if given == {} else arguments_json)
    return escaped(one_line(line[: 2 * SUMMARY_CHARS], SUMMARY_CHARS)) or name


def _first_words(given: object) -> str:
    """The first argument that is text; of one that lists entries their first texts, each."""
    values = given.values() if isinstance(given, dict) else ()
    if text := next((value for value in values if isinstance(value, str)), ""):
        return text
    entries = next((value for value in values if isinstance(value, list)), [])
    said = (_first_words(entry) if isinstance(entry, dict) else entry for entry in entries)
    return " · ".join(text for text in said if isinstance(text, str) and text)


@lru_cache(maxsize=256)
def shown_arguments(arguments_json: str) -> str:
    """Arguments to be read: indented where they are JSON, as they came otherwise."""
    try:
        return msgspec.json.format(arguments_json or "{}", indent=2)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return arguments_json


def took_words(call: ToolCall, now: datetime | None) -> str:
    """Time that a call took, or has taken so far; empty where it never began."""
    end = call.ended_at or now
    if call.started_at is None or end is None:
        return ""
    return fmt.span(max(0.0, (end - call.started_at).total_seconds()))


def state_words(call: ToolCall, now: datetime | None) -> str:
    """State of a call with its time: `running · 12 s`."""
    goes_on = call.is_background and call.ended_at is None and call.state is CallState.DONE
    words = tr("runs in the background") if goes_on else STATES[call.state][2]
    return " · ".join(filter(None, (words, took_words(call, now))))


def tail_text(tail: str, lines: int) -> str:
    """Last lines of what a command wrote, as a terminal would have left them: no colours, what was written over gone."""
    plain = _ANSI.sub("", tail[-200 * lines :]).replace("\r\n", "\n")
    shown = [line.rpartition("\r")[2] for line in plain.rstrip().split("\n")]
    return "\n".join(shown[-lines:])


# Tools of a discussion and their mode: what they do without a question, chosen beside the composer, or by
# one key.

MODES = (
    Option(
        value=Mode.ASK.value,
        label=tr("Ask first"),
        detail=tr("writes, edits and commands need your approval"),
        icon="shield-halved",
    ),
    Option(
        value=Mode.ACCEPT_EDITS.value,
        label=tr("Accept edits"),
        detail=tr("edits inside the project need no approval"),
        icon="pen-to-square",
    ),
    Option(value=Mode.PLAN.value, label=tr("Plan"), detail=tr("the model only reads"), icon="eye"),
)
WITHOUT_TIP = tr(
    "Give the model tools to read and search this project. The model asks before it writes a file or runs a command"
)
TRUST_LABEL = tr("Trust this folder, so that the tools work…")
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


def mode_look(desk: Desk, summary: DiscussionSummary) -> tuple[str, str]:
    """Label and icon of the mode's menu."""
    if not summary.meta.has_tools:
        return tr("No tools"), "wrench"
    if missing_tools(desk.state, summary.meta.provider):
        is_some = can_take_memory(desk.state, summary.meta.provider)
        return tr("Search only") if is_some else tr("No tools here"), "triangle-exclamation"
    now = BY_MODE[mode_of(desk.state, summary.meta.id)]
    return now.label, now.icon


def tool_menu(desk: Desk) -> None:
    """Draw the mode as a menu; where the discussion has no tools, each mode gives it them."""
    ui, summary = desk.ui, desk.summary
    if summary is None:
        return
    has_any, now = summary.meta.has_tools, BY_MODE[mode_of(desk.state, summary.meta.id)]
    label, icon = mode_look(desk, summary)
    missing = missing_tools(desk.state, summary.meta.provider)
    tip = (
        tr(
            "{mode}: {detail} ({shortcut} switches to the next mode)",
            mode=now.label,
            detail=now.detail,
            shortcut=desk.actions["mode"].shown_chord(desk.state),
        )
        if has_any
        else WITHOUT_TIP
    )
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
        if has_any and ui.menu_item("off", tr("Turn tools off"), icon="xmark"):
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
        tr("Open task"),
        icon="arrow-right",
        kind="link",
        is_small=True,
        tip=tr("Show the discussion of this task"),
    ):
        desk.send(SelectDiscussion(child))


def asked_by(desk: Desk, discussion_id: str, asker: str) -> None:
    """Draw who asks where it is not the discussion itself."""
    row = desk.state.discussions.summaries.get(asker)
    if asker == discussion_id or row is None:
        return
    with desk.ui.row("asked by", gap=6):
        desk.ui.icon("icon", "sitemap", tone="warn")
        desk.ui.text("text", tr("A task asks: {name}", name=row.meta.name), style="small", width=0)


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
        words = tr("waits for you")
    elif doing:
        words = ", ".join(dict.fromkeys(tool_label(each.name) for each in doing))
    elif call is not None and call.text:
        words = tr("writes: {text}", text=escaped(one_line(call.text[-SAID_CHARS:], SAID_CHARS)))
    else:
        words = "thinks"
    usd = row.usage.cost_usd if row is not None else None
    return f"{words} · {fmt.money(usd)}" if usd else words
