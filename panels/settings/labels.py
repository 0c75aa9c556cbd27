"""Labels of the settings page: beside what they name, or above it where the page is narrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from panels.base.ui import Ui

ABOVE_TO_PX = 420.0
"""Width of the column up to which labels stand above what they name."""


@contextmanager
def labelled(ui: Ui, key: str, label: str, width: float = 140) -> Iterator[None]:
    """A row that begins with a label; in a narrow page the label stands above, so that the value is seen."""
    is_wide = not 0 < ui.width() < ABOVE_TO_PX
    with ui.row(key) if is_wide else ui.group(key, gap=4):
        ui.text("label", label, width=width if is_wide else 0)
        yield
