"""Files and signals that our own tools may have written: they wake nothing, or a loop would wake itself by its writing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta

from core.values.agent import ActKind, AgentPage, CallState, ToolCall
from core.values.state import AppState

AFTER = timedelta(seconds=5)
"""Time after a call within which the watch may still tell of what it wrote."""
LOOKED_BACK = 200
"""Calls of a page that are looked at, the newest."""

_WRITES_NOTHING = frozenset({ActKind.READ, ActKind.NETWORK})


def is_own_write(state: AppState, path: str) -> bool:
    """True if a call that runs, or has just ended, may have written a file.

    An edit names its file once it is done. What a command or a server writes nobody knows: while one runs, in the
    background too, every change may be its own.
    """
    return any(_may_have_written(state, page, path) for page in state.agent.pages.values())


def may_be_own_signal(state: AppState, came_at: datetime | None = None) -> bool:
    """True if a call that runs, or has just ended, may have put a file into the inbox, or posted a signal.

    A command that is confined reaches neither; what a server does nobody knows.

    Args:
        came_at: when a file came to the inbox, None for now: of many, the last are read long after the call that wrote them.
    """
    reaching = {ActKind.SERVER} if state.agent.sandbox.is_confined else {ActKind.SERVER, ActKind.COMMAND}
    pages = state.agent.pages.values()
    if any(call.kind in reaching for page in pages for call in (*page.commands, *_late_calls(state, page))):
        return True
    ended = (call for page in pages for call in page.activity if call.kind in reaching and call.ended_at)
    return came_at is not None and any(_ran_at(call, came_at) for call in ended)


def _may_have_written(state: AppState, page: AgentPage, path: str) -> bool:
    if page.commands:
        return True
    for call in _late_calls(state, page):
        if call.kind in _WRITES_NOTHING:
            continue
        if call.kind is ActKind.OWN:  # the journal, which a preset may name
            if path.startswith(f"{state.program.home}{os.sep}"):
                return True
            continue
        is_known = call.kind is ActKind.EDIT and call.state is not CallState.RUNNING
        if not is_known or any(change.path == path for change in page.changes):
            return True
    return False


def _ran_at(call: ToolCall, moment: datetime) -> bool:
    """True for a call, over by now, that ran at a moment or had just ended. Clocks of files go in coarser steps."""
    assert call.ended_at is not None
    begun = call.started_at or call.ended_at
    return begun - AFTER <= moment <= call.ended_at + AFTER


def _late_calls(state: AppState, page: AgentPage) -> Iterator[ToolCall]:
    """Calls that run, and those that have just ended."""
    for call in reversed(page.activity[-LOOKED_BACK:]):
        if call.state is CallState.RUNNING or (
            call.ended_at is not None and state.now is not None and state.now - call.ended_at <= AFTER
        ):
            yield call
