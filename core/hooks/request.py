"""A request as an operation sees it: names, body, the controller, and waiting for what it was asked to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from core.app.controller import wall_clock
from core.app.execution import ACT_S, begin, is_over
from core.app.messages import Command
from core.base.figures import time_limit
from core.discussion.messages import ReadDiscussion
from core.hooks.clock import OffsetClock
from core.hooks.fields import Data
from core.hooks.refusals import RefusedError, unknown
from core.hooks.watch import Front, Watch
from core.values.discussion import DiscussionSummary, OpenDiscussion
from core.values.state import AppState
from core.values.updates import outcome_of

FRAMES_S = 20.0
"""Longest wait for the window to draw."""

F_co = TypeVar("F_co", covariant=True)


class Window(Protocol):
    """Window, as far as the Hook API may ask it. Called from any thread, carried out on the window's."""

    def screenshot(self) -> bytes:
        """The window as it is, PNG. Raises TimeoutError when it does not draw."""
        ...

    def act(self, action: str) -> bool | None:
        """Do what an entry of the window's menus does.

        Returns:
            Whether it was done (False: it cannot be done just now), None where there is no such entry.

        Raises:
            TimeoutError: the window does not draw. PermissionError: only a person may do it; nothing was done.
        """
        ...


@dataclass(slots=True)
class HookDesk:
    """Desk that all requests share.

    Args:
        window: None without one; clock: None unless tests may put it forward; now: the controller's clock.
        locks: one for each discussion, so that two sends over HTTP never cross; harvest_lock: one run at a time begins.
        prove: answers a question of `GET /api/hello`; the server that listens gives it.
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
    prove: Callable[[str], str] = lambda _nonce: ""

    def lock(self, discussion_id: str) -> asyncio.Lock:
        """The lock of a discussion."""
        return self.locks.setdefault(discussion_id, asyncio.Lock())


class Answer(msgspec.Struct, frozen=True):
    """Answer to a request: data as JSON, a picture (PNG), or events as they happen."""

    data: Data | bytes | None = None
    status: int = 200
    events: AsyncIterator[bytes] | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


class Request(msgspec.Struct, Generic[F_co], frozen=True):
    """One request.

    Args:
        names: of the path; fields: its body, or its query where the operation takes that, checked.
        wants_events: asks for server-sent events; body: as parsed, with fields that no type of ours names.
    """

    desk: HookDesk
    names: Mapping[str, str]
    fields: F_co
    wants_events: bool = False
    body: Mapping[str, Any] = msgspec.field(default_factory=dict)

    @property
    def state(self) -> AppState:
        """The state now."""
        return self.desk.front.snapshot()

    def row(self, discussion_id: str = "") -> DiscussionSummary:
        """A discussion, else the one that the path names. Raises RefusedError (404)."""
        name = discussion_id or self.names["discussion_id"]
        row = self.state.discussions.summaries.get(name)
        if row is None:
            raise unknown("discussion", name, "See GET /api/discussions")
        return row

    def rows(self) -> list[DiscussionSummary]:
        """All discussions, newest first."""
        rows = self.state.discussions.summaries.values()
        return sorted(rows, key=lambda row: (row.updated_at, row.meta.id), reverse=True)

    async def opened(self, discussion_id: str = "") -> OpenDiscussion:
        """A discussion, else the one that the path names, with its log, read when it is not yet. Raises RefusedError."""
        chosen = self.row(discussion_id).meta.id
        if chosen not in self.state.discussions.open:
            await self.do(
                ReadDiscussion(chosen),
                lambda state: chosen in state.discussions.open or chosen not in state.discussions.summaries,
            )
        opened = self.state.discussions.open.get(chosen)
        if opened is None:
            raise unknown("discussion", chosen, "It was deleted meanwhile")
        return opened

    def check_writable(self) -> None:
        """Raise RefusedError (409) where nothing can be kept."""
        if self.state.program.is_home_read_only:
            raise RefusedError(
                409, "read_only", "The home is read-only: nothing can be kept", "Make it writable"
            )

    async def do(
        self, command: Command, is_done: Callable[[AppState], bool] | None = None, timeout_s: float = ACT_S
    ) -> AppState:
        """Send a command and wait for its own outcome.

        Args:
            is_done: what the state must show beside.

        Raises:
            RefusedError: 500 it could not be carried out; 503 nothing happened in time.
        """
        command_id = begin(self.desk.front, command)
        state = await self.desk.watch.until(lambda now: is_over(now, command_id, is_done), timeout_s)
        outcome = outcome_of(state, command_id) if state is not None else None
        if state is None or outcome is None:
            raise RefusedError(503, "slow", f"Nothing happened for {time_limit(timeout_s)}", "Try again")
        if not outcome.is_done:
            raise RefusedError(500, "failed", outcome.problem, outcome.remedy)
        return state
