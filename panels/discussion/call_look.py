"""Look of tool calls in words and signs: what each does, how it stands, how long it took. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from core.agent.tool import escaped
from core.kernel import figures as fmt
from core.kernel.decoders import from_json
from core.kernel.frame import one_line
from core.kernel.values.agent import CallState, ToolCall
from core.kernel.values.discussion import HAND_OVER
from panels.base.ui import Tone

SUMMARY_CHARS = 160
LINE_FROM_PX = 420.0
"""Width from which what a call does and how it stands have room beside its name."""
TOOLS = {
    "bash": ("Run", "terminal"),
    "bash_kill": ("Kill a command", "stop"),
    "bash_output": ("Output of a command", "terminal"),
    "delegate": ("Give a task away", "sitemap"),
    "edit_file": ("Edit", "pen-to-square"),
    "glob": ("Find files", "folder-tree"),
    "grep": ("Search files", "magnifying-glass"),
    "journal": ("Journal", "book"),
    "read_file": ("Read", "file-lines"),
    "read_note": ("Read a note", "file-lines"),
    "search_notes": ("Search notes", "magnifying-glass"),
    "todo": ("Todo list", "list-check"),
    "view_image": ("Look at a picture", "file-image"),
    "web_fetch": ("Fetch a page", "globe"),
    "write_file": ("Write", "file-circle-plus"),
    "yield_to_user": ("Hand over", "hand"),
}
"""Our tools in a person's words, with their icons."""
OWN = frozenset({"delegate", "journal", "todo", "yield_to_user"})
"""Tools whose summary says no more than their name: what they were given says it."""
QUIET = {
    HAND_OVER: "It handed over to you",
    "journal": "Written to the journal",
    "todo": "The list was set",
}
"""Tools whose answer says only that it was done, each in a line: what was asked of them stands with their call."""
OF_SERVER = "__"
"""Mark between an MCP server's name and its tool's."""
COMMANDS = frozenset({"bash"})
"""Tools whose calls run a command, which can be killed."""
STATES: dict[CallState, tuple[str, Tone, str]] = {
    CallState.PREPARING: ("clock", "muted", "waits its turn"),
    CallState.ASKING: ("shield-halved", "warn", "waits for you"),
    CallState.RUNNING: ("circle-play", "accent", "running"),
    CallState.DONE: ("circle-check", "ok", "done"),
    CallState.FAILED: ("circle-exclamation", "error", "failed"),
    CallState.REFUSED: ("ban", "warn", "refused"),
    CallState.INTERRUPTED: ("stop", "muted", "interrupted"),
}
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def tool_label(name: str) -> str:
    """Name of a tool in a person's words; one of a server as `server: tool`, another that is none of ours by its own."""
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
    words = "runs in the background" if goes_on else STATES[call.state][2]
    return " · ".join(filter(None, (words, took_words(call, now))))


def tail_text(tail: str, lines: int) -> str:
    """Last lines of what a command wrote, as a terminal would have left them: no colours, what was written over gone."""
    plain = _ANSI.sub("", tail[-200 * lines :]).replace("\r\n", "\n")
    shown = [line.rpartition("\r")[2] for line in plain.rstrip().split("\n")]
    return "\n".join(shown[-lines:])
