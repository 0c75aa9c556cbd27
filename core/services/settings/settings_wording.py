"""Wording of the question whether a project's values may count: one text for window, command line and Hook API. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from core.kernel import figures
from core.kernel.errors import at_line
from core.kernel.frame import one_line
from core.kernel.values.outcomes import CommandOutcome
from core.kernel.values.settings import AskedValue, Project, SettingsFault
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import conclude, dismiss, notify
from core.services.settings.asked_values import question_id
from core.services.settings.settings_messages import TrustProject

MAX_LINES = 200
MAX_ITEMS = 200
MAX_TEXT_CHARS = 4_000
"""Of a question that asks for more the rest is counted, and is to be read in the files."""


class AskedLine(msgspec.Struct, frozen=True):
    """Line of the question. `text`: what a text says, empty for other values."""

    words: str
    text: str = ""


_TITLES = {
    "servers": "Server",
    "settings": "Setting",
    "domain": "Knowledge that its discussions see",
    "folders": "Folder outside the project that presets and searches may read, and that index files of notes are written in",
    "context": "Project context",
    "identity_files": "File that tells a model how to work",
    "memory": "Folder of memory files",
    "personas": "Persona",
    "system_prompts": "System prompt",
    "prompts": "Prompt of the program",
    "mcp": "MCP server, which is a command",
}


def trust_title(project: Project) -> str:
    """Question in one line. Empty where nothing is asked for."""
    if not project.asked:
        return ""
    name = one_line(project.name, 80) or project.root
    if project.is_trusted:
        return f"{name} asks for more than you were shown"
    return f"Do you trust {name}?"


def trust_reason(project: Project) -> str:
    """Reason why it is asked, and what holds until it is answered."""
    if project.is_trusted:
        return "What you were shown, or saved here yourself, counts; this does not until you say so:"
    if project.was_trusted_unseen:
        return (
            "You trusted this folder before it was kept what it asked for. Nothing of its manual_slop.toml counts until"
            " you have seen this once:"
        )
    if not project.has_file:
        return (
            "Words in it that models take for instructions. Until you trust it, they stay out of the context:"
        )
    return (
        "Its manual_slop.toml asks for more than a folder may have that you do not trust. Until you trust it,"
        " this is held back:"
    )


def trust_command(root: str) -> str:
    """The command that shows the question about a folder on a terminal and takes the answer."""
    return f"manual-slop trust {shlex.quote(root)}"


def asked_lines(asked: Sequence[AskedValue]) -> tuple[AskedLine, ...]:
    """Lines of the question, a preset's items in one of them. Texts are whole up to `MAX_TEXT_CHARS`."""
    lines: list[AskedLine] = []
    items: dict[str, list[str]] = {}
    for one in asked:
        if one.place[0] == "presets":
            items.setdefault(one.place[1], []).append(one.words + _difference(one))
        else:
            lines.append(_line(one))
    lines += [
        AskedLine(f"Context preset {one_line(name, 120)}: {_listed(said)}.") for name, said in items.items()
    ]
    if len(lines) > MAX_LINES:
        more = AskedLine(f"And {len(lines) - MAX_LINES:,} more: read manual_slop.toml before you say yes.")
        return (*lines[:MAX_LINES], more)
    return tuple(lines)


def _line(asked: AskedValue) -> AskedLine:
    table = asked.place[0]
    if table == "identity":
        return AskedLine("It turns identity files (CLAUDE.md, AGENTS.md, POC.md) off.")
    size = f" ({figures.count(len(asked.text), 'character')})" if asked.text else ""
    return AskedLine(f"{_TITLES[table]}: {asked.words}{size}{_difference(asked)}.", _text(asked.text))


def _difference(asked: AskedValue) -> str:
    if not asked.was:
        return ""
    if asked.was.startswith("sha256:"):
        return " – changed, you were shown another"
    return f" – changed, it was {one_line(asked.was, 200)}"


def _listed(words: Sequence[str]) -> str:
    more = (
        f" and {len(words) - MAX_ITEMS} more, to be read in manual_slop.toml"
        if len(words) > MAX_ITEMS
        else ""
    )
    return ", ".join(words[:MAX_ITEMS]) + more


def _text(text: str) -> str:
    left = len(text) - MAX_TEXT_CHARS
    return text if left <= 0 else f"{text[:MAX_TEXT_CHARS]}\n… and {figures.count(left, 'more character')}"


# Notices that grow out of the state: settings faults, the trust of a project, the passing of time.

HELD_BACK = "held-back"
"""Id of the notice of what a project never gets."""


def show_settings_faults(state: AppState) -> AppState:
    """One notice a faulty settings file, all its faults in it; gone when the file is whole again."""
    by_file: dict[str, list[SettingsFault]] = {}
    for fault in state.config.settings_faults:
        by_file.setdefault(fault.path, []).append(fault)
    for notice in state.program.notices:
        if notice.id.startswith("settings/") and notice.id.removeprefix("settings/") not in by_file:
            state = dismiss(state, notice.id)
    for path, faults in by_file.items():
        first, *more = sorted(faults, key=lambda fault: not fault.is_grave)
        level = Level.ERROR if first.is_grave else Level.WARNING
        places = [at_line(fault.path, fault.line) for fault in (first, *more)]
        others = (f"{place}: {fault.reason}" for place, fault in zip(places[1:], more, strict=True))
        detail = "\n".join((places[0], *others))
        state = notify(state, f"settings/{path}", level, first.reason, detail, is_standing=True)
    return state


def show_trust(state: AppState) -> AppState:
    """Ask whether what the project asks for may count: once for each question, again for what it newly asks for. Where
    all of it is what no project gets, there is nothing to ask: that is said until the folder is trusted.
    """
    project = state.config.project
    if not project.asked:
        state = dismiss(state, "trust")
        is_said = bool(project.held_back) and not project.is_trusted
        return _say_held_back(state) if is_said else dismiss(state, HELD_BACK)
    state = dismiss(state, HELD_BACK)
    lines = (trust_reason(project), *(line.words for line in asked_lines(project.asked)), *project.held_back)
    return notify(state, "trust", Level.WARNING, trust_title(project), "\n".join(lines), is_standing=True)


def _say_held_back(state: AppState) -> AppState:
    project = state.config.project
    text = f"{project.name or project.root} asks for what no project gets"
    return notify(state, HELD_BACK, Level.WARNING, text, "\n".join(project.held_back), is_standing=True)


def refuse_write(state: AppState, command_id: str, notice_id: str, what: str) -> AppState:
    """Say that nothing is written to a project's file that holds what the person has not seen, and offer the question.

    Args:
        what: what is not done (`'core' is not saved`).
    """
    project = state.config.project
    reason = "it asks for more than you were shown" if project.is_trusted else "it is not trusted yet"
    text = f"{what}: the folder's manual_slop.toml was left as it is, for {reason}."
    detail = "Your work is kept. Look at what the folder asks for, then try again."
    state = conclude(state, CommandOutcome(command_id=command_id, problem=text, remedy=detail))
    action = TrustProject(is_trusted=True, shown=question_id(project.asked))
    return notify(
        state, notice_id, Level.WARNING, text, detail, action=action, action_label="Look at what it asks for"
    )
