"""The binding draws every widget that panels may ask for."""

from __future__ import annotations

from gui.binding import HANDLERS
from tests.widgets import declared


def test_every_widget_is_drawn() -> None:
    """Mypy sees that a handler fits its widget; that none is missing is seen here."""
    assert set(HANDLERS) == set(declared())
