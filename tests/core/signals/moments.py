"""States and steps for tests of signals: one discussion, a page of its agent, an autonomy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from core.app.app_messages import Command, Effect, Event, Input
from core.app.dispatch import step
from core.kernel.values.agent import (
    ActKind,
    AgentPage,
    AgentState,
    AgentTurn,
    Approval,
    Attention,
    AttentionState,
    Autonomy,
    CallState,
    FileChange,
    ToolCall,
)
from core.kernel.values.state import AppState
from tests.panels import states

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
FILE = "/home/person/work/cachelab/plan.md"
D1 = "d1"


def day(**changes: object) -> AppState:
    """A normal day with the discussion `d1`."""
    return replace(states.working(), now=NOW, **changes)  # type: ignore[arg-type]


def autonomous(state: AppState, stopped: str = "") -> AppState:
    """The same with `d1` autonomous."""
    return replace(state, attention=AttentionState(Autonomy(D1, Attention.RESTING, stopped=stopped)))


def call(kind: ActKind, state: CallState, ended_s: float | None = None) -> ToolCall:
    """A call that ended so many seconds ago, None for one that goes on."""
    ended_at = None if ended_s is None else NOW - timedelta(seconds=ended_s)
    return ToolCall("c1", "bash", "{}", state, kind, "make all", ended_at=ended_at)


def with_page(
    state: AppState, *calls: ToolCall, changed: str = "", commands: tuple[ToolCall, ...] = ()
) -> AppState:
    """The state with a page of `d1`."""
    changes = (FileChange(changed, "t1", "", "ab"),) if changed else ()
    page = AgentPage(activity=calls, changes=changes, commands=commands)
    return replace(state, agent=AgentState(pages={D1: page}))


def asking() -> AgentTurn:
    """A turn with a question."""
    question = Approval(ActKind.COMMAND, "Run make", id="a1")
    return AgentTurn(D1, "t1", calls=(replace(call(ActKind.COMMAND, CallState.ASKING), approval=question),))


def after(
    state: AppState, *bodies: Command | Event, at: datetime = NOW
) -> tuple[AppState, tuple[Effect, ...]]:
    """The state after messages, and the effects of the last one."""
    effects: tuple[Effect, ...] = ()
    for number, body in enumerate(bodies):
        state, effects = step(state, Input(at, f"seed-{number}", body))
    return state, effects
