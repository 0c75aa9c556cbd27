"""The operations that look: status, caches, discussions, messages, presets, context, the window's picture."""

from __future__ import annotations

import asyncio
from datetime import datetime

from core.cache.contents import living
from core.hooks.asked import Answer, Asked
from core.hooks.data import (
    cache_data,
    call_data,
    context_data,
    discussion_data,
    entries_data,
    orphan_data,
    preset_data,
    status_data,
)
from core.hooks.refusals import RefusedError
from core.values.commands import MeasureContext
from core.values.state import AppState

FRAMES_S = 20.0
"""Longest wait for the window to draw."""


async def status(asked: Asked) -> Answer:
    """The program as it is now."""
    desk = asked.desk
    return Answer(
        status_data(
            asked.state,
            version=desk.version,
            is_headless=desk.window is None,
            has_test_clock=desk.clock is not None,
        )
    )


async def caches(asked: Asked) -> Answer:
    """The caches of all discussions, newest discussion first, and what is stored of those that are gone."""
    state = asked.state
    rows = sorted(state.summaries.values(), key=lambda row: (row.updated_at, row.meta.id), reverse=True)
    orphans = [orphan_data(orphan) for orphan in living(state.orphans, state.now)]
    return Answer({"caches": [cache_data(state, row) for row in rows], "orphans": orphans})


async def cache(asked: Asked) -> Answer:
    """The cache of one discussion."""
    return Answer(cache_data(asked.state, asked.row()))


async def discussions(asked: Asked) -> Answer:
    """All discussions, newest first."""
    state = asked.state
    rows = sorted(state.summaries.values(), key=lambda row: (row.updated_at, row.meta.id), reverse=True)
    return Answer({"discussions": [discussion_data(state, row) for row in rows]})


async def messages(asked: Asked) -> Answer:
    """What was said in a discussion, and the call under way."""
    opened = await asked.opened()
    call = asked.state.calls.get(opened.id)
    return Answer(
        {
            "discussion_id": opened.id,
            "messages": entries_data(opened.entries),
            "call": None if call is None else call_data(call),
        }
    )


async def presets(asked: Asked) -> Answer:
    """The project's context presets, unsaved work included."""
    state = asked.state
    return Answer({"presets": [preset_data(state, preset) for preset in state.project.presets.values()]})


async def context(asked: Asked) -> Answer:
    """The stack of a discussion, assembled now."""
    chosen = (await asked.opened()).id
    at = asked.desk.now()
    state = await asked.do(MeasureContext(chosen), lambda now: _is_fresh(now, chosen, at))
    report = state.reports.get(chosen)
    if report is None:
        raise RefusedError(404, "not_found", f"There is no discussion {chosen!r} any more")
    return Answer(context_data(chosen, report, state.plans.get(chosen)))


def _is_fresh(state: AppState, chosen: str, at: datetime) -> bool:
    """Whether the stack was read since then: one that was under way before may hold files as they were."""
    if chosen not in state.summaries:
        return True
    report = state.reports.get(chosen)
    return report is not None and report.read_at is not None and report.read_at >= at


async def screenshot(asked: Asked) -> Answer:
    """The window as it is, PNG."""
    window = asked.desk.window
    if window is None:
        raise RefusedError(409, "no_window", "There is no window", "Start the program without --headless")
    async with asked.desk.window_lock:
        try:
            return Answer(png=await asyncio.wait_for(asyncio.to_thread(window.screenshot), FRAMES_S))
        except TimeoutError as error:
            raise RefusedError(
                503, "slow", "The window does not draw", "Is it minimised? Try again"
            ) from error
