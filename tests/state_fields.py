"""Changes to the program's state by the names of its fields, for tests that care for no group."""

from __future__ import annotations

from typing import Any

from core.kernel.values.state import AppState

ROOMS = ("knowledge", "harvest")  # changed as a whole


def with_fields(state: AppState, **changes: object) -> AppState:
    """The state with these fields changed, each in the group that it stands in; other groups stay the same."""
    own = {name: changes.pop(name) for name in list(changes) if name in AppState.__annotations__}
    for name in AppState.__annotations__:
        group = getattr(state, name)
        fields = getattr(type(group), "__annotations__", {}) if name not in ROOMS else {}
        inner = {field: changes.pop(field) for field in list(changes) if field in fields}
        if inner:
            own[name] = _changed(group, inner)
    assert not changes, f"AppState has no {sorted(changes)}"
    changed: AppState = _changed(state, own)
    return changed


def _changed(value: Any, changes: dict[str, object]) -> Any:
    names = type(value).__annotations__
    return type(value)(**{name: getattr(value, name) for name in names} | changes)
