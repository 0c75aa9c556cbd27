"""Paths through a conversation whose messages answer one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.values.transcript import Transcript, TranscriptMessage


def path_to(messages: Mapping[str, TranscriptMessage], last: str) -> tuple[TranscriptMessage, ...]:
    """Messages from a first one to `last`, each answering the one before. A circle ends where it closes. O(n)."""
    path: list[TranscriptMessage] = []
    seen: set[str] = set()
    at = last
    while at in messages and at not in seen:
        seen.add(at)
        path.append(messages[at])
        at = messages[at].parent
    return tuple(reversed(path))


def seen_last(transcript: Transcript) -> tuple[TranscriptMessage, ...]:
    """The path that the person saw last; all messages in their order where nothing says which that was."""
    if not transcript.current:
        return transcript.messages
    return path_to(by_id(transcript.messages), transcript.current)


class Paths(msgspec.Struct, frozen=True):
    """Paths through a conversation, the one that was seen last first; left: how many more there are."""

    paths: tuple[tuple[TranscriptMessage, ...], ...]
    left: int = 0


def paths(transcript: Transcript, most: int = 1 << 30, most_messages: int = 1 << 30) -> Paths:
    """Every path from a first message to a last one, the one that was seen last before all others.

    Messages in a circle that no first message leads to are a path of their own, so that none is lost. O(messages), and
    what the paths hold.

    Args:
        most, most_messages: paths, and messages in all of them, that are made; the first is made in any case.
    """
    known = by_id(transcript.messages)
    answered = {one.parent for one in transcript.messages if one.parent in known and one.parent != one.id}
    ends = [one.id for one in transcript.messages if one.id not in answered]
    current = transcript.current if transcript.current in known else ""
    ordered = list(_current_first(ends, current))
    covered: set[str] = set()
    for end in ordered:
        _cover(known, end, covered)
    for one in reversed(transcript.messages):
        if one.id not in covered:
            ordered.append(one.id)
            _cover(known, one.id, covered)
    found: list[tuple[TranscriptMessage, ...]] = []
    count = 0
    for end in ordered[:most]:
        path = path_to(known, end)
        count += len(path)
        if found and count > most_messages:
            break
        found.append(path)
    return Paths(tuple(found), len(ordered) - len(found))


def _cover(known: Mapping[str, TranscriptMessage], end: str, covered: set[str]) -> None:
    """Add the messages of a path that no other has."""
    at = end
    while at in known and at not in covered:
        covered.add(at)
        at = known[at].parent


def by_id(messages: Iterable[TranscriptMessage]) -> dict[str, TranscriptMessage]:
    """Messages by their id; of two with one id the first."""
    known: dict[str, TranscriptMessage] = {}
    for one in messages:
        known.setdefault(one.id, one)
    return known


def _current_first(ends: Sequence[str], current: str) -> Sequence[str]:
    """Ends of the paths, the one that was seen last before all others; the newest where nothing says which."""
    first = current or (ends[-1] if ends else "")
    return [first, *(end for end in ends if end != first)] if first else []
