"""End of a talk in the derived index: whether the model has had the last word, and which tool calls were never begun."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from pathlib import Path

import msgspec

from core.discussion import log
from core.discussion.left_calls import left_calls
from core.discussion.log_codec import ForeignLine
from core.discussion.log_content import FoldedLog
from core.values.discussion import OpenDiscussion, has_last_word, is_partial
from core.values.messages import Role, ToolCallPart
from core.values.records import Record


class TalkEnd(msgspec.Struct, frozen=True):
    """End of a talk: fields of `DiscussionSummary`."""

    is_unanswered: bool = False
    is_partial: bool = False
    left_calls: int = 0


def read_end(db: sqlite3.Connection, number: int, path: Path, end: int, now: datetime) -> TalkEnd:
    """Read the end of a talk, by the rules of a load: its last reply, and the results of tools behind it.

    Args:
        number: of the discussion; path, end: its log, as far as it is indexed; now: time for marks, of no account here.
    """
    last = db.execute(_LAST, (number, Role.TOOL.value)).fetchone()
    if last is None:
        return TalkEnd()
    if last[0] == Role.USER.value:
        return TalkEnd(is_unanswered=True)
    records: tuple[Record, ...] = tuple(
        line.content
        for line in log.scan(path, start=last[1], end=end)
        if not isinstance(line.content, ForeignLine)
    )
    left = left_calls(records, now)
    folded = FoldedLog(OpenDiscussion(""))
    for record in (*records, *left.results):
        folded.add(record)
    entries = folded.close()
    asked = {part.call_id for message in entries.messages for part in message.parts
             if isinstance(part, ToolCallPart)} & {*left.asked}  # fmt: skip
    has_asked = db.execute(_ASKED, (number, Role.USER.value)).fetchone() is not None
    return TalkEnd(
        is_unanswered=has_asked and not has_last_word(entries.entries),
        is_partial=is_partial(entries.entries),
        left_calls=len(asked),
    )


_LAST = (
    "SELECT role, began FROM entry WHERE discussion = ? AND position > 0 AND NOT is_deleted AND aside = '' AND role <> ?"
    " ORDER BY position DESC LIMIT 1"
)
_ASKED = "SELECT 1 FROM entry WHERE discussion = ? AND role = ? AND NOT is_deleted AND aside = '' LIMIT 1"
