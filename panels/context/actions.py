"""Actions on context presets from the menus."""

from __future__ import annotations

from core.context.messages import SavePreset
from panels.base import selection
from panels.base.desk import Action, Desk


def _save_preset(desk: Desk) -> None:
    if (preset := selection.active_preset(desk.state)) is not None:
        desk.send(SavePreset(preset.name))


def _has_unsaved_preset(desk: Desk) -> bool:
    preset = selection.active_preset(desk.state)
    return preset is not None and preset.name in desk.state.config.project.unsaved_presets


ACTIONS: tuple[Action, ...] = (
    Action("save_preset", "Tools", 1, "Save context preset", _save_preset, "floppy-disk", "Ctrl+S",
           _has_unsaved_preset),
)  # fmt: skip
