"""Programs without a window on one home and project: started, waited for, and stopped when a test is over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from core.app.controller import AppController, wall_clock
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.state import AppState
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S
"""Longest that a test waits for another thread. What it waits for takes milliseconds."""


class Programs:
    """A home and a project below `base`; programs come and go."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.project = base / "project"
        self.project.mkdir()
        self.running: list[AppController] = []
        self.clock: Callable[[], datetime] = wall_clock

    def start(self, *, watches: bool = False, owns_home: bool = True) -> AppController:
        """Start a program and wait until it has read its home.

        Args:
            owns_home: False for a command beside the window, as `manual-slop send` is one.
        """
        options = OutsideOptions(home=self.home, start=self.project, watches=watches, owns_home=owns_home)
        controller = AppController(LocalOutside(options, clock=self.clock), clock=self.clock)
        controller.start()
        self.running.append(controller)
        until(
            controller,
            lambda s: bool(s.config.providers and s.knowledge.categories) and not s.program.is_loading,
        )
        return controller

    def stop(self) -> None:
        """Stop all that was started."""
        for controller in self.running:
            controller.stop()


def until(controller: AppController, predicate: Callable[[AppState], bool]) -> AppState:
    """Wait for a state. Returns the first one that satisfies `predicate`."""
    state = controller.wait_for(predicate, WAIT_S)
    assert state is not None, controller.snapshot().program.notices
    return state
