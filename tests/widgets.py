"""The widgets that are declared, for tests that hold of each."""

from __future__ import annotations

from typing import Any

from panels.base import ui, widgets


def declared() -> list[type[widgets.Widget[Any]]]:
    """Every widget, by name."""
    spaces = (*vars(widgets).values(), *vars(ui).values())
    found = {one for one in spaces if isinstance(one, type) and issubclass(one, widgets.Widget)}
    found -= {widgets.Widget, widgets.KeyedWidget}
    return sorted(found, key=lambda kind: kind.__name__)
