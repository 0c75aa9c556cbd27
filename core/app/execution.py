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


class Sender(Protocol):
    """The controller, as far as asking needs it."""

    def send(self, command: Command) -> None:
        """Ask for a change."""
        ...


class Waiter(Sender, Protocol):
    """The controller, as far as waiting needs it."""

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """The first state that satisfies `predicate`, None when none did in time."""
        ...


def begin(front: Sender, command: Command) -> str:
    """Ask for a change whose outcome is waited for. Returns the outcome's id."""
    command_id = secrets.token_hex(8)
    front.send(awaited(command, command_id))
    return command_id


def is_over(state: AppState, command_id: str, is_shown: Callable[[AppState], bool] | None = None) -> bool:
    """True if a command has ended: it was not carried out, or it was and the state shows what it should."""
    outcome = outcome_of(state, command_id)
    return outcome is not None and (not outcome.is_done or is_shown is None or is_shown(state))


def act(front: Waiter, command: Command, timeout_s: float = ACT_S) -> AppState:
    """Have a command carried out.

    Returns:
        The state that shows it.

    Raises:
        SlopError: it could not be, or it took longer than `timeout_s` seconds.
    """
    command_id = begin(front, command)
    state = front.wait_for(lambda now: is_over(now, command_id), timeout_s)
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
