"""One command carried out for a front end that waits: its own outcome, and no notice, says how it ended."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

from core.app.messages import Command, awaited
from core.base.errors import SlopError
from core.values.state import AppState
from core.values.updates import outcome_of

ACT_S = 30.0
"""Longest wait for one thing that was asked for."""


class Waiter(Protocol):
    """What waiting needs of the controller."""

    def send(self, command: Command) -> None:
        """Ask for a change."""
        ...

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """The first state that satisfies `predicate`, None when none did in time."""
        ...


def act(front: Waiter, command: Command, timeout_s: float = ACT_S) -> AppState:
    """Have a command carried out.

    Returns:
        The state that shows it.

    Raises:
        SlopError: it could not be, or it took longer than `timeout_s` seconds.
    """
    command_id = secrets.token_hex(8)
    front.send(awaited(command, command_id))
    state = front.wait_for(lambda now: outcome_of(now, command_id) is not None, timeout_s)
    outcome = outcome_of(state, command_id) if state is not None else None
    if state is None or outcome is None:
        raise too_slow(timeout_s)
    if not outcome.is_done:
        raise SlopError(outcome.problem.removesuffix("."), remedy=outcome.remedy)
    return state


def too_slow(timeout_s: float) -> SlopError:
    """Nothing happened in time."""
    return SlopError(
        f"Nothing happened for {timeout_s:g} seconds",
        remedy="Look at `manual-slop doctor`, then try again",
    )
