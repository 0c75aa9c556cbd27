"""Records that change what a model sees of a discussion, written with the words or the round that they go with."""

from __future__ import annotations

from datetime import timedelta

from core.base.stamp import Stamp
from core.context.window_use import journal_line
from core.discussion.cuts import calls_record, line_record, passing_calls
from core.values.discussion import OpenDiscussion
from core.values.messages import Message, Role
from core.values.records import MessageRecord, Record, ViewRecord
from core.values.state import AppState
from core.values.window import ViewLine

UNTOLD = timedelta(hours=1)
"""A cache whose end nobody tells is taken for cold after so long without a request."""


def view_records(
    state: AppState, given: Stamp, opened: OpenDiscussion, message_id: str, records: tuple[Record, ...]
) -> tuple[ViewRecord, ...]:
    """Line about the journal, and the calls that leave the view.

    Args:
        message_id: the person's message that `records` hold; empty: a round of a running turn, whose bytes all stay.
    """
    told = _told(state, given, opened, message_id, records)
    if not message_id or not records or not is_cold(state, opened):
        return told
    calls = passing_calls(opened)
    return (*told, calls_record(given.make_id(8), given.at, calls)) if calls else told


def is_cold(state: AppState, opened: OpenDiscussion) -> bool:
    """True if nothing of a discussion is cached any more, as far as is known: what was sent may be told otherwise."""
    now, cache, request = state.now, state.caching.caches.get(opened.id), opened.last_request
    if now is None:
        return False
    if cache is not None and cache.expires_at is not None:
        return max(cache.expires_at, cache.long_until or cache.expires_at) <= now
    return request is None or request.at + UNTOLD <= now


def _told(
    state: AppState, given: Stamp, opened: OpenDiscussion, message_id: str, records: tuple[Record, ...]
) -> tuple[ViewRecord, ...]:
    """Line that tells the model to write its journal, behind words or results that no request has held yet."""
    if message_id:
        last = message_id if records else ""
    else:
        newest = next(reversed(opened.messages), None)
        is_fresh = newest is not None and newest.role is Role.TOOL and newest.id != opened.sent_through
        last = newest.id if newest is not None and is_fresh else ""
    said = (r for r in records if isinstance(r, MessageRecord) and r.id == message_id)
    message = next((Message(r.id, r.at, r.role, r.parts) for r in said), None)
    line = journal_line(state, opened.id, message) if last else ""
    return (line_record(given.make_id(9), given.at, ViewLine(last, line)),) if line else ()
