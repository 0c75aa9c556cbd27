"""Notices that grow out of the state: settings faults, the trust of a project, the passing of time."""

from __future__ import annotations

from core.settings.messages import TrustProject
from core.values.settings import SettingsFault
from core.values.state import AppState, Level
from core.values.updates import dismiss, notify


def show_settings_faults(state: AppState) -> AppState:
    """One notice a faulty settings file, all its faults in it; gone when the file is whole again."""
    by_file: dict[str, list[SettingsFault]] = {}
    for fault in state.config.settings_faults:
        by_file.setdefault(fault.path, []).append(fault)
    for notice in state.program.notices:
        if notice.id.startswith("settings/") and notice.id.removeprefix("settings/") not in by_file:
            state = dismiss(state, notice.id)
    for path, faults in by_file.items():
        first, *more = sorted(faults, key=lambda fault: not fault.is_grave)
        level = Level.ERROR if first.is_grave else Level.WARNING
        detail = "\n".join((_place(first), *(f"{_place(fault)}: {fault.reason}" for fault in more)))
        state = notify(state, f"settings/{path}", level, first.reason, detail, is_standing=True)
    return state


def _place(fault: SettingsFault) -> str:
    return fault.path if fault.line is None else f"{fault.path}, line {fault.line}"


def show_trust(state: AppState) -> AppState:
    """Ask once whether the project's settings may count."""
    project = state.config.project
    if not project.has_file or project.is_trusted or not project.held_back:
        return dismiss(state, "trust")
    return notify(
        state,
        "trust",
        Level.WARNING,
        f"The settings of {project.name or project.root!r} do not count until you trust the folder.",
        "\n".join(project.held_back),
        action=TrustProject(True),
        action_label="Trust this folder",
        is_standing=True,
    )
