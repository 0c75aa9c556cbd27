"""Wording of the question whether a project's values may count: one text for window, command line and Hook API. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from core.base import figures
from core.base.text import one_line
from core.values.settings import AskedValue, Project

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
