"""Ids of tool calls: each once in a discussion, whatever a model or a server makes of them."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from core.values.discussion import OpenDiscussion
from core.values.messages import Message, Part, ToolCallPart


def with_own_ids(parts: tuple[Part, ...], used: Collection[str]) -> tuple[Part, ...]:
    """The parts of a reply with an id for each call that no other has: a result names its call by nothing else."""
    taken = set(used)
    found: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCallPart):
            own = _free(part.call_id or "call", taken)
            taken.add(own)
            found.append(part if own == part.call_id else replace(part, call_id=own))
        else:
            found.append(part)
    return tuple(found)


def used_ids(opened: OpenDiscussion) -> frozenset[str]:
    """Ids of the calls of a discussion, other versions of replies included. O(n)."""
    aside = (run for versions in opened.versions.values() for run in versions.aside.values())
    said = (entry for run in (opened.entries, *aside) for entry in run if isinstance(entry, Message))
    return frozenset(part.call_id for one in said for part in one.parts if isinstance(part, ToolCallPart))


def _free(wanted: str, taken: Collection[str]) -> str:
    own, number = wanted, 2
    while own in taken:
        own, number = f"{wanted}-{number}", number + 1
    return own
