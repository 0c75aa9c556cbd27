"""Notices pass when they have been up long enough to be read."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.values.state import AppState, Level

INFO_STAYS = timedelta(seconds=12)


def expire(state: AppState) -> AppState:
    """Drop notices of level INFO that have been up long enough to read. Warnings and errors stay."""
    now = state.now
    if now is None or not state.program.notices:
        return state
    kept = tuple(
        n
        for n in state.program.notices
        if n.level is not Level.INFO or n.action is not None or n.at is None or abs(now - n.at) < INFO_STAYS
    )
    return (
        state
        if len(kept) == len(state.program.notices)
        else replace(state, program=replace(state.program, notices=kept))
    )
