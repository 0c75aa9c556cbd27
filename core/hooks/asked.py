"""A request as an operation sees it: names, body, the controller, and waiting for what it was asked to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from core.controller.app import wall_clock
from core.hooks.clock import OffsetClock
from core.hooks.refusals import RefusedError, unknown
from core.hooks.watch import Front, Watch
from core.values.commands import Command, ReadDiscussion
from core.values.discussion import DiscussionSummary, OpenDiscussion
from core.values.state import AppState, Level, Notice

ACT_S = 30.0
"""Longest wait for one thing that a request asked for."""


class Window(Protocol):
    """What the Hook API may ask of the window. Called from any thread, carried out on the window's."""

    def screenshot(self) -> bytes:
        """The window as it is, PNG. Raises TimeoutError when it does not draw."""
        ...

    def act(self, action: str) -> bool | None:
        """Do what an entry of the window's menus does.

        Returns:
            Whether it was done (False: it cannot be done just now), None where there is no such entry.

        Raises:
            TimeoutError: the window does not draw.
        """
        ...


@dataclass(slots=True)
class Desk:
    """What all requests share.

    Args:
        window: None without one; clock: None unless tests may put it forward; now: the controller's clock.
        locks: one for each discussion, so that two sends over HTTP never cross; harvest_lock: one run at a time begins.
    """

    front: Front
    watch: Watch
    version: str = ""
    window: Window | None = None
    clock: OffsetClock | None = None
    now: Callable[[], datetime] = wall_clock
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    window_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    harvest_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def lock(self, discussion_id: str) -> asyncio.Lock:
        """The lock of a discussion."""
        return self.locks.setdefault(discussion_id, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request gets: data as JSON, a picture, or events as they happen."""

    data: Any = None
    status: int = 200
    png: bytes | None = None
    events: AsyncIterator[bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Args:
        names: of the path; body: checked against the operation's schema; wants_events: asks for server-sent events.
        query: what stands behind the path's `?`, checked too.
    """

    desk: Desk
    names: Mapping[str, str]
    body: Mapping[str, Any]
    wants_events: bool = False
    query: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> AppState:
        """The state now."""
        return self.desk.front.snapshot()

    def row(self) -> DiscussionSummary:
        """The discussion that the path names. Raises RefusedError (404)."""
        name = self.names["discussion_id"]
        found = self.state.summaries.get(name)
        if found is None:
            raise unknown("discussion", name, "See GET /api/discussions")
        return found

    async def opened(self) -> OpenDiscussion:
        """The discussion that the path names with its log, read when it is not yet. Raises RefusedError."""
        chosen = self.row().meta.id
        if chosen not in self.state.open:
            await self.do(
                ReadDiscussion(chosen), lambda state: chosen in state.open or chosen not in state.summaries
            )
        found = self.state.open.get(chosen)
        if found is None:
            raise unknown("discussion", chosen, "It was deleted meanwhile")
        return found

    def check_writable(self) -> None:
        """Raise RefusedError (409) where nothing can be kept."""
        if self.state.is_home_read_only:
            raise RefusedError(
                409, "read_only", "The home is read-only: nothing can be kept", "Make it writable"
            )

    async def do(
        self, command: Command, is_done: Callable[[AppState], bool], timeout_s: float = ACT_S
    ) -> AppState:
        """Send a command and wait until the state shows that it was carried out.

        Raises:
            RefusedError: 500 an error was reported instead; 503 nothing happened in time.
        """
        before = frozenset(self.state.notices)
        self.desk.front.send(command)
        state = await self.desk.watch.until(lambda now: is_done(now) or bool(_errors(now, before)), timeout_s)
        if state is None:
            raise RefusedError(503, "slow", f"Nothing happened for {timeout_s:g} s", "Try again")
        if not is_done(state):
            worst = _errors(state, before)[-1]
            raise RefusedError(500, "failed", worst.text, worst.detail)
        return state


def _errors(state: AppState, before: frozenset[Notice]) -> list[Notice]:
    return [notice for notice in state.notices if notice.level is Level.ERROR and notice not in before]
