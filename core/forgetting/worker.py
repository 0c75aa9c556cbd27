"""Forgetting in the background, one at a time; each ends with an event of its own, also where it fails."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import assert_never

from core.base.errors import SlopError
from core.forgetting.census import look
from core.forgetting.messages import (
    ForgetEnded,
    ForgetLooked,
    ForgettingEffect,
    ForgettingEvent,
    ResumeForget,
    RunForget,
    RunForgetLook,
)
from core.forgetting.run import ForgetRequest, forget, resume
from core.forgetting.services import ForgetServices

Emit = Callable[[ForgettingEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class ForgetHandler:
    """Carries out the forgetting worker's effects.

    Args:
        clock: UTC; services: what is asked of providers.
        alone: holds the home for itself: another program on it would write back what it has in memory.
        settled: waits until what was to be written before is written.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        services: ForgetServices,
        alone: Callable[[], AbstractContextManager[object]],
        settled: Callable[[], object],
    ) -> None:
        self._home, self._clock, self._emit = home, clock, emit
        self._services, self._alone, self._settled = services, alone, settled

    def handle(self, effect: ForgettingEffect) -> None:
        """Carry out one effect."""
        if isinstance(effect, RunForgetLook):
            self._emit(ForgetLooked(look(self._home, effect.target), effect.command_id))
            return
        is_resumed = isinstance(effect, ResumeForget)
        try:
            with self._alone():
                self._settled()
                self._carry_out(effect)
        except SlopError as error:
            detail = ". ".join(filter(None, (error.remedy.removesuffix("."), error.where)))
            self._emit(ForgetEnded(None, error.what, detail, is_resumed))
        except Exception as error:  # it is over, and is told so; the queue tells the rest
            why = f"Forgetting failed: {error}"
            self._emit(ForgetEnded(None, why, "The next start goes on with it.", is_resumed))
            raise

    def _carry_out(self, effect: RunForget | ResumeForget) -> None:
        now = self._clock()
        match effect:
            case RunForget():
                seed = secrets.token_hex(8)
                request = ForgetRequest(
                    self._home, effect.target, now, seed, effect.providers, self._services, effect.server
                )
                self._emit(ForgetEnded(forget(request)))
            case ResumeForget():
                for receipt in resume(self._home, now, self._services):
                    self._emit(ForgetEnded(receipt, is_resumed=True))
            case _:
                assert_never(effect)
