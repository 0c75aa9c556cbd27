"""A shape that a program is known to write, with what a person who used that program should see of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.kernel.values.imports import Transcript, TranscriptKind, TranscriptMessage
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.transcript_reader import paths, read_transcripts, recognised


class Shape(msgspec.Struct, frozen=True):
    """A file, and what is right: each path as lines of who said what, the one that was seen last first.

    Args:
        named: the file's name, where the person names it; left_out: what must be counted, by its kind; at: of the conversation.
    """

    id: str
    kind: TranscriptKind
    data: str
    said: tuple[tuple[str, ...], ...]
    title: str | None = None
    named: str = ""
    models: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()
    has_not: tuple[str, ...] = ()
    at: str = ""


def _told(part: Part) -> str:
    match part:
        case TextPart():
            return part.text.strip()
        case ReasoningPart():
            return f"(thinks) {part.text.strip()}"
        case ToolCallPart():
            return f"(calls {part.name}) {part.arguments_json}"
        case ToolResultPart():
            return f"(result) {part.text.strip()}"
        case AttachmentPart():
            return f"(file) {part.name}"
    return "?"


def _lines(way: Sequence[TranscriptMessage]) -> tuple[str, ...]:
    """One line a message: u or a, then its parts; what no import keeps is left out."""
    return tuple(
        f"{one.role[0]}: {' | '.join(map(_told, one.parts))}" for one in way if not one.is_aside and one.parts
    )


def check(shape: Shape) -> None:
    """Hold a file's conversation against what is right."""
    data = shape.data.encode()
    assert recognised(data, shape.named) is shape.kind
    found = [one for one in read_transcripts(shape.kind, data) if isinstance(one, Transcript)]

    assert len(found) == 1
    talk = found[0]
    ways = {_lines(way): None for way in paths(talk).paths}
    ways.pop((), None)
    assert tuple(ways) == shape.said
    whole = "\n".join(map("\n".join, ways))
    assert not [one for one in shape.has_not if one in whole]
    assert shape.left_out <= set(talk.skipped)
    if shape.title is not None:
        assert talk.title == shape.title
    if shape.models:
        assert tuple(dict.fromkeys(one.model for one in talk.messages if one.model)) == shape.models
    if shape.at:
        assert talk.at is not None
        assert talk.at.isoformat() == shape.at
