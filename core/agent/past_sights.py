"""Files that a model has seen in programs that ended, as the log tells it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from core.agent.messages import PastSight
from core.base.decoders import from_json
from core.values.discussion import OpenDiscussion
from core.values.messages import ToolCallPart, ToolResultPart

_WRITES = frozenset({"write_file", "edit_file"})


class _Path(msgspec.Struct, frozen=True):
    """The argument that names the file."""

    path: str


def past_sights(opened: OpenDiscussion) -> tuple[PastSight, ...]:
    """Files that calls with a result have read or written, with the time up to which they were as the model saw them:
    the begin of a read, the end of a write. O(messages).
    """
    return tuple(_sights(opened))


def _sights(opened: OpenDiscussion) -> Iterator[PastSight]:
    asked: dict[str, ToolCallPart] = {}
    for message in opened.messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                asked[part.call_id] = part
            elif isinstance(part, ToolResultPart) and not part.is_error and part.call_id in asked:
                call = asked[part.call_id]
                at: datetime | None = message.at if call.name in _WRITES else None
                at = opened.starts.get(call.call_id) if call.name == "read_file" else at
                path = _path(call.arguments_json)
                if at is not None and path:
                    yield PastSight(path, at)


def _path(arguments_json: str) -> str:
    try:
        return from_json(arguments_json, _Path).path
    except ValueError:
        return ""
