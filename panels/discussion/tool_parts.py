"""Tool calls and results in a message: folded to a line and a few, whole on a click."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from core.base import figures as fmt
from core.values.agent import CallState
from core.values.messages import CallEnd, Entry, Message, ToolCallPart, ToolResultPart
from panels.base.desk import Desk
from panels.base.memo import Memo
from panels.base.ui import Ui
from panels.discussion.call_look import (
    COMMANDS,
    LINE_FROM_PX,
    QUIET,
    STATES,
    call_summary,
    shown_arguments,
    tool_icon,
    tool_label,
)
from panels.discussion.tasks import task_link
from panels.discussion.view import DiscussionView, MessageKey

FOLDED_LINES, FOLDED_CHARS = 6, 1_200
"""Of a result that is folded."""


Calls = Mapping[tuple[str, str], ToolCallPart]
"""Calls that were answered, by the message of the answer and the call's id."""


def answered_calls(memo: Memo, entries: tuple[Entry, ...]) -> Calls:
    """Every call that has a result. O(messages) once for each list of them."""
    return memo.get("answered calls", (entries,), lambda: _answered(entries))


def _answered(entries: tuple[Entry, ...]) -> Calls:
    """The newest call of its id before each result: some servers begin anew with each reply."""
    newest: dict[str, ToolCallPart] = {}
    answered: dict[tuple[str, str], ToolCallPart] = {}
    for message in entries:
        if not isinstance(message, Message) or message.is_deleted:
            continue
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                newest[part.call_id] = part
            elif isinstance(part, ToolResultPart) and part.call_id in newest:
                answered[message.id, part.call_id] = newest[part.call_id]
    return answered


def quiet_words(message: Message, calls: Calls) -> str:
    """Words of a message of results, where it only says that something was done; empty where it says more."""
    said: list[str] = []
    for part in message.parts:
        if not isinstance(part, ToolResultPart):
            return ""
        words = _quiet(part, message, calls.get((message.id, part.call_id)))
        if not words:
            return ""
        said.append(words)
    return " · ".join(dict.fromkeys(said))


def _quiet(part: ToolResultPart, message: Message, call: ToolCallPart | None) -> str:
    is_done = part.end(message.status) is CallEnd.DONE and not part.attachments
    return QUIET.get(call.name, "") if call is not None and is_done else ""


def tool_parts(desk: Desk, key: MessageKey, message: Message, calls: Calls) -> None:
    """Draw the calls and results of a message. Sends SelectDiscussion."""
    own, ui = desk.view.of(DiscussionView), desk.ui
    for index, part in enumerate(message.parts):
        match part:
            case ToolCallPart():
                _call(desk, own, (*key, index), part)
            case ToolResultPart():
                call = calls.get((message.id, part.call_id))
                if words := _quiet(part, message, call):
                    quiet_line(ui, ("result", index), words)
                else:
                    _result(own, ui, (*key, index), part, part.end(message.status), call)
            case _:
                pass


def _call(desk: Desk, own: DiscussionView, place: tuple[str, str, int], part: ToolCallPart) -> None:
    ui, is_open = desk.ui, place in own.open_tools
    with ui.group(("call", place[2]), gap=4):
        with ui.row("line", gap=6):
            tip = "Hide the arguments" if is_open else "Show the arguments"
            icon = "chevron-down" if is_open else "chevron-right"
            if ui.button("fold", "", icon=icon, kind="ghost", is_small=True, tip=tip):
                own.open_tools ^= {place}
            ui.icon("icon", tool_icon(part.name), tone="cyan")
            ui.text("name", tool_label(part.name), style="small_strong", tip=part.name)
            ui.text(
                "summary",
                call_summary(part.name, "", part.arguments_json),
                tone="muted",
                style="small",
                width=0,
            )
            task_link(desk, place[0], part.name, part.call_id)
        if is_open:
            ui.code("arguments", shown_arguments(part.arguments_json), language="json")


def quiet_line(ui: Ui, key: Hashable, words: str) -> None:
    """Draw what a tool did that has no more to say."""
    icon, tone, _ = STATES[CallState.DONE]
    with ui.row(key, gap=6):
        ui.icon("icon", icon, tone=tone)
        ui.text("words", words, tone="muted", style="small", width=0, wraps=True)


def _result(
    own: DiscussionView,
    ui: Ui,
    place: tuple[str, str, int],
    part: ToolResultPart,
    end: CallEnd,
    call: ToolCallPart | None,
) -> None:
    is_open = place in own.open_tools
    lines = part.text.count("\n") + 1
    is_long = lines > FOLDED_LINES or len(part.text) > FOLDED_CHARS
    with ui.group(("result", place[2]), gap=4):
        with ui.row("line", gap=6):
            icon, tone, words = STATES[CallState(end)]
            ui.icon("icon", icon, tone=tone)
            name = tool_label(call.name) if call is not None else "The tool"
            is_done = end is CallEnd.DONE
            said = f"{name}: {'answered' if is_done else words}"
            tone = "muted" if is_done else tone
            summary = call_summary(call.name, "", call.arguments_json) if call is not None else ""
            is_narrow = 0 < ui.width() < LINE_FROM_PX
            if is_narrow:
                ui.text("words", said, tone=tone, style="small", width=0, wraps=True)
            else:
                ui.text("words", said, tone=tone, style="small")
                ui.text("summary", summary, tone="faint", style="small", width=0)
            if is_long:
                size = fmt.count(lines, "line") if lines > 1 else fmt.size(len(part.text))
                label = "Show less" if is_open else f"Show all {size}"
                if ui.button("fold", label, kind="link", is_small=True):
                    own.open_tools ^= {place}
        if is_narrow:
            ui.text("summary", summary, tone="faint", style="small", width=0)
        is_command = call is not None and call.name in COMMANDS
        shown = part.text if is_open or not is_long else folded(part.text, at_end=is_command)
        if shown := shown.rstrip("\n"):
            ui.code("answer", shown)


def folded(text: str, *, at_end: bool = False) -> str:
    """Start of a result, or its end, where a command says how it went; with a mark that there is more."""
    if at_end:
        tail = "\n".join(text.rstrip("\n")[-FOLDED_CHARS:].split("\n")[-FOLDED_LINES:])
        return f"… {tail}"
    head = "\n".join(text[:FOLDED_CHARS].split("\n")[:FOLDED_LINES])
    return f"{head} …"


def parts_px(message: Message, line_px: float) -> float:
    """A guess of the height of a message's calls and results while they are folded."""
    height = 0.0
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            height += 28.0
        elif isinstance(part, ToolResultPart):
            height += 52.0 + line_px * min(FOLDED_LINES, part.text.count("\n", 0, FOLDED_CHARS) + 1)
    return height
