"""The operations that change something beside messages: caches, discussions, presets, the window, the clock."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from datetime import UTC, datetime

from core.config.preset_table import name_flaw, read_preset
from core.hooks.asked import Answer, Asked
from core.hooks.controls import make_command
from core.hooks.data import cache_data, discussion_data, preset_data, time_data
from core.hooks.looking import FRAMES_S
from core.hooks.refusals import RefusedError, unknown
from core.step.caching import abilities_of
from core.values.commands import (
    ChangePreset,
    CreateDiscussion,
    CreatePreset,
    DisableCaching,
    EnableCaching,
    InvalidateCache,
    SavePreset,
    SetDiscussionPreset,
)
from core.values.ids import make_id
from core.values.state import AppState

WINDOW_PANEL = "window"
"""The panel of `POST /api/ui` whose actions are those of the window's menus."""


async def invalidate_cache(asked: Asked) -> Answer:
    """Let the next request share no prefix with what was sent before."""
    chosen = _cached_row(asked, "can_invalidate", "invalidate_text")
    epoch = asked.row().meta.cache_epoch
    state = await asked.do(
        InvalidateCache(chosen),
        lambda now: chosen not in now.summaries or now.summaries[chosen].meta.cache_epoch > epoch,
    )
    return _cache_answer(state, chosen)


async def disable_caching(asked: Asked) -> Answer:
    """Cache nothing more of this discussion."""
    chosen = _cached_row(asked, "can_disable", "disable_text")
    state = await asked.do(DisableCaching(chosen), lambda now: not _is_cached(now, chosen))
    return _cache_answer(state, chosen)


async def enable_caching(asked: Asked) -> Answer:
    """Cache this discussion again."""
    asked.check_writable()
    chosen = asked.row().meta.id
    state = await asked.do(
        EnableCaching(chosen), lambda now: chosen not in now.summaries or _is_cached(now, chosen)
    )
    return _cache_answer(state, chosen)


def _cached_row(asked: Asked, ability: str, text: str) -> str:
    """The discussion's id, where its provider can do what is asked. Raises RefusedError (404, 409)."""
    chosen = asked.row().meta.id
    asked.check_writable()
    found = abilities_of(asked.state, chosen)
    if found is not None and not getattr(found, ability):
        raise RefusedError(409, "not_possible", getattr(found, text), "Choose another provider or model")
    return chosen


def _is_cached(state: AppState, chosen: str) -> bool:
    return chosen in state.summaries and state.summaries[chosen].meta.caching_enabled


def _cache_answer(state: AppState, chosen: str) -> Answer:
    row = state.summaries.get(chosen)
    if row is None:
        raise unknown("discussion", chosen, "It was deleted meanwhile")
    return Answer(cache_data(state, row))


async def create_discussion(asked: Asked) -> Answer:
    """Start a discussion; the window shows it."""
    asked.check_writable()
    body, state = asked.body, asked.state
    provider, preset = body.get("provider", ""), body.get("preset", "")
    if provider and provider not in state.providers:
        raise unknown("provider", provider, f"There are: {', '.join(state.providers)}")
    _check_preset(state, preset)
    chosen = make_id(state.now or datetime.now(UTC), secrets.token_hex(8))
    name = " ".join(body.get("name", "").split())
    state = await asked.do(
        CreateDiscussion(name, provider, body.get("model", ""), preset, chosen),
        lambda now: chosen in now.summaries,
    )
    headers = {"Location": f"/api/discussions/{chosen}/messages"}
    return Answer(discussion_data(state, state.summaries[chosen]), status=201, headers=headers)


def _check_preset(state: AppState, name: str) -> None:
    if name and name not in state.project.presets:
        raise unknown("preset", name, "See GET /api/presets")


async def choose_preset(asked: Asked) -> Answer:
    """Choose the context preset of a discussion; an empty name chooses none."""
    chosen, name = asked.row().meta.id, asked.body["name"]
    asked.check_writable()
    _check_preset(asked.state, name)
    state = await asked.do(
        SetDiscussionPreset(chosen, name),
        lambda now: chosen not in now.summaries or now.summaries[chosen].meta.preset == name,
    )
    row = state.summaries.get(chosen)
    if row is None:
        raise unknown("discussion", chosen, "It was deleted meanwhile")
    return Answer(discussion_data(state, row))


async def put_preset(asked: Asked) -> Answer:
    """Make a preset or replace its items. It works at once; `save` writes the project's file too."""
    asked.check_writable()
    name = asked.names["name"]
    padded = "a name must not begin or end with a space" if name != name.strip() else ""
    if reason := padded or name_flaw(name):
        raise RefusedError(422, "wrong_name", f"{name[:80]!r}: {reason}", "Choose another name")
    wanted, flaws = read_preset(name, {"items": asked.body["items"]})
    if wanted is None or flaws:
        raise RefusedError(422, "wrong_body", flaws[0].reason, "See docs/openapi.json")
    project, saves = asked.state.project, asked.body.get("save", False)
    if saves and project.has_file and not project.is_trusted:
        raise RefusedError(
            409, "not_trusted", "The folder's manual_slop.toml is not trusted yet", "Trust it first"
        )
    wanted = replace(wanted, items=tuple(sorted(wanted.items, key=lambda item: not item.pinned)))
    is_new = name not in project.presets
    command = CreatePreset(name, wanted.items, is_used=False) if is_new else ChangePreset(name, wanted.items)
    state = await asked.do(command, lambda now: now.project.presets.get(name) == wanted)
    if saves:
        state = await asked.do(SavePreset(name), lambda now: name not in now.project.unsaved_presets)
    return Answer(preset_data(state, wanted), status=201 if is_new else 200)


async def act(asked: Asked) -> Answer:
    """Do what a widget does: an entry of the window's menus, or a command of a panel."""
    body = asked.body
    panel, action = body["panel"], body["action"]
    if panel == WINDOW_PANEL:
        await _act_in_window(asked, action)
    else:
        command = make_command(asked.state, panel, action, body)
        asked.desk.front.send(command)
    return Answer({"panel": panel, "action": action}, status=202)


async def _act_in_window(asked: Asked, action: str) -> None:
    window = asked.desk.window
    if window is None:
        raise RefusedError(409, "no_window", "There is no window", "Start the program without --headless")
    async with asked.desk.window_lock:
        try:
            done = await asyncio.wait_for(asyncio.to_thread(window.act, action), FRAMES_S)
        except TimeoutError as error:
            raise RefusedError(
                503, "slow", "The window does not draw", "Is it minimised? Try again"
            ) from error
    if done is None:
        raise unknown("action of the window", action)
    if not done:
        raise RefusedError(
            409, "not_now", f"{action!r} cannot be done just now", "Its menu entry is disabled"
        )


async def advance_clock(asked: Asked) -> Answer:
    """Put the program's clock forward, for tests."""
    clock = asked.desk.clock
    assert clock is not None
    now = clock.advance(float(asked.body["advance_s"]))
    if now is None:
        raise RefusedError(422, "wrong_body", "The clock would be over 100 years ahead", "Advance it by less")
    state = await asked.desk.watch.until(lambda found: found.now is not None and found.now >= now, FRAMES_S)
    return Answer({"now": time_data(now if state is None else state.now)})
