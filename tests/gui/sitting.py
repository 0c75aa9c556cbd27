"""A test's window over a running program: the person sits at it, and the program is real."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gui.app import WindowApp
from gui.driver import Driver
from tests.gui.conftest import Screen


@contextmanager
def over(app: WindowApp, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Show a program's window on the test's screen, which redraws for the program's sake as it does outside of tests."""
    app.ui, app.loop = screen.ui, screen.loop
    with monkeypatch.context() as patched:
        patched.setattr(screen.loop, "_revision", app._revision)
        screen.show(app._describe)
        yield


def sees(driver: Driver, text: str) -> None:
    """Wait for a text on the screen."""
    driver.until(lambda: driver.has(text), text)
