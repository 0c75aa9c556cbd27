"""Paths through a conversation whose messages answer one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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


def paths(transcript: Transcript) -> tuple[tuple[TranscriptMessage, ...], ...]:
    """Every path from a first message to a last one, the one that was seen last before all others.

    Messages in a circle that no first message leads to are a path of their own, so that none is lost.
    """
    known = by_id(transcript.messages)
    answered = {one.parent for one in transcript.messages if one.parent in known and one.parent != one.id}
    ends = [one.id for one in transcript.messages if one.id not in answered]
    current = transcript.current if transcript.current in known else ""
    found = [path_to(known, end) for end in _current_first(ends, current)]
    covered = {one.id for path in found for one in path}
    for one in reversed(transcript.messages):
        if one.id not in covered:
            found.append(path_to(known, one.id))
            covered |= {other.id for other in found[-1]}
    return tuple(found)


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
