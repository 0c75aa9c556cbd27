"""Tool calls of a turn that did not do what was asked, for front ends that show no list of calls."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.base.text import one_line
from core.values.messages import CallEnd, Entry, Message, ToolCallPart, ToolResultPart

WORDS_CHARS = 300


class FailedCall(msgspec.Struct, frozen=True):
    """A call that failed, was refused or interrupted. `words`: start of what the model was told, one line."""

    call_id: str
    name: str
    end: CallEnd
    words: str

    @property
    def sentence(self) -> str:
        """The call, how it ended and why."""
        how = "failed" if self.end is CallEnd.FAILED else f"was {self.end}"
        return f"{self.name} {how}: {self.words}"


def failed_calls(entries: Sequence[Entry]) -> tuple[FailedCall, ...]:
    """The failed calls whose results are among these entries, in their order."""
    names: dict[str, str] = {}
    found: list[FailedCall] = []
    for entry in entries:
        if not isinstance(entry, Message) or entry.is_deleted:
            continue
        for part in entry.parts:
            if isinstance(part, ToolCallPart):
                names[part.call_id] = part.name
            elif isinstance(part, ToolResultPart) and (end := part.end(entry.status)) is not CallEnd.DONE:
                name = names.get(part.call_id, "a tool")
                found.append(FailedCall(part.call_id, name, end, one_line(part.text, WORDS_CHARS)))
    return tuple(found)
