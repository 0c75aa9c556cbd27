"""Conversations of other programs as values: who said what, when, after what, with tools and files by name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from core.values.messages import Part


class TranscriptKind(StrEnum):
    """Shape of a file that holds conversations."""

    DISCUSSION = "discussion"
    EXPORT = "manual-slop export"
    SPECSTORY = "specstory"
    CLAUDE_CODE = "claude-code"
    CLAUDE = "claude"
    CHATGPT = "chatgpt"
    AIDER = "aider"
    PLAIN = "plain"
    UNKNOWN = "unknown"


class TranscriptMessage(msgspec.Struct, frozen=True):
    """One message of a conversation.

    Args:
        id: the source's own, or `#1`, `#2`, … by its place where the source gives none; unique in its conversation.
        role: `user`, `assistant`, `tool`, `system`, or another plain word of the source.
        parts: an attachment has no hash, for its bytes are not there; a tool call is history.
        parent: id of the message that it answers, empty for a first one.
        at: aware UTC; None where the source does not say, or says what is no date.
        is_aside: said by a helper of the model, or a note of the program: not of the conversation itself.
    """

    id: str
    role: str
    parts: tuple[Part, ...]
    parent: str = ""
    at: datetime | None = None
    model: str = ""
    is_aside: bool = False


class Transcript(msgspec.Struct, frozen=True):
    """One conversation.

    Args:
        id: the source's own, else made of what it begins with; the same for a file that grew.
        messages: in the order of the source; a tree by their parents.
        current: id of the last message of the path that the person saw last, empty where the last one counts.
        folder: in which it worked, empty where it does not say. Never opened.
        skipped: what was left out, by a plain word for it, and how often.
        is_undated: nothing in it says when it was; `at` is the date of its file.
    """

    id: str
    messages: tuple[TranscriptMessage, ...]
    title: str = ""
    at: datetime | None = None
    current: str = ""
    folder: str = ""
    skipped: Mapping[str, int] = msgspec.field(default_factory=dict)
    is_undated: bool = False


class Unread(msgspec.Struct, frozen=True):
    """Something of a source that could not be read. `place`: where, in the words of a person; `why`: what is wrong;
    `remedy`: may be empty; `is_cut`: the source ends in the middle.
    """

    place: str
    why: str
    remedy: str = ""
    is_cut: bool = False
