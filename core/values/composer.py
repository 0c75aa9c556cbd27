"""Text of the composer: a slash command, or a message. `//` begins a message with a slash. Pure."""

from __future__ import annotations

import re

import msgspec

_INPUT = re.compile(r"/(?P<name>[A-Za-z]*)(?P<space>[ \t]+(?P<argument>.*?)[ \t]*)?")


class SlashInput(msgspec.Struct, frozen=True):
    """A slash command as it is typed. `argument`: None while no space stands behind the name."""

    name: str
    argument: str | None = None


def slash_input(text: str) -> SlashInput | None:
    """The command that stands in the composer; None for a message: `//…`, a path, or several lines."""
    found = _INPUT.fullmatch(text)
    if found is None:
        return None
    return SlashInput(found["name"].lower(), found["argument"] if found["space"] else None)


def message_text_of(text: str) -> str:
    """The message that is sent, empty for a command: of two slashes at its head one stays."""
    if slash_input(text) is not None:
        return ""
    return text[1:] if text.startswith("//") else text
