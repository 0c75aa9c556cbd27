"""Ids of tool calls: each once in a discussion, whatever a model or a server makes of them."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec.structs import replace

from core.values.discussion import OpenDiscussion
from core.values.messages import Entry, Message, Part, ToolCallPart

LONGEST = 200
"""Characters of an id that stay: whoever answers a call names it in an address."""

_UNFIT = re.compile(r"[^A-Za-z0-9_.:|=+@~-]|^\.+$")
"""Characters that end a part of an address, or that nobody can type; and what stands there for a folder."""


def with_own_ids(parts: tuple[Part, ...], used: Collection[str]) -> tuple[Part, ...]:
    """The parts of a reply with an id for each call that no other has: a result names its call by nothing else.

    An id that no address can hold gets another: a person could not answer the call from elsewhere.
    """
    taken = set(used)
    numbers: dict[str, int] = {}
    found: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCallPart):
            own = _free(_UNFIT.sub("_", part.call_id[:LONGEST]) or "call", taken, numbers)
            taken.add(own)
            found.append(part if own == part.call_id else replace(part, call_id=own))
        else:
            found.append(part)
    return tuple(found)


def used_ids(opened: OpenDiscussion) -> frozenset[str]:
    """Ids of the calls of a discussion, other versions of replies included. O(new entries, calls and other versions)."""
    aside = (run for versions in opened.versions.values() for run in versions.aside.values())
    own = opened.places.grown.each("calls", opened.entries, _ids_of)
    return frozenset((*own, *(call_id for run in aside for entry in run for call_id in _ids_of(entry))))


def _ids_of(entry: Entry) -> tuple[str, ...]:
    if not isinstance(entry, Message):
        return ()
    return tuple(part.call_id for part in entry.parts if isinstance(part, ToolCallPart))


def _free(wanted: str, taken: Collection[str], numbers: dict[str, int]) -> str:
    """A free id. `numbers`: by ids, the number that was tried last: a thousand calls of one id take no square of it."""
    own = wanted
    while own in taken:
        numbers[wanted] = numbers.get(wanted, 1) + 1
        own = f"{wanted}-{numbers[wanted]}"
    return own
