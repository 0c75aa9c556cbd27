"""Actions on settings, project and providers from the menus."""

from __future__ import annotations

from collections.abc import Callable

from core.services.settings.settings_messages import (
    ChangeSetting,
    FindLocalServers,
    RefreshModels,
    TrustProject,
)
from panels.base.desk import Action, Desk, has_discussion, opens_dialog
from panels.base.view import Dialog

SCALES = (0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)


def _settings(desk: Desk) -> None:
    desk.view.page = "chat" if desk.view.page == "settings" else "settings"


def _theme(desk: Desk) -> None:
    is_dark = desk.state.config.settings.appearance.theme == "dark"
    desk.send(ChangeSetting("appearance.theme", "light" if is_dark else "dark"))


def _scale(step: int) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        now = desk.state.config.settings.appearance.ui_scale
        larger = [s for s in SCALES if s > now + 0.01]
        smaller = [s for s in SCALES if s < now - 0.01]
        if step == 0:
            desk.send(ChangeSetting("appearance.ui_scale", 1.0))
        elif step > 0 and larger:
            desk.send(ChangeSetting("appearance.ui_scale", larger[0]))
        elif step < 0 and smaller:
            desk.send(ChangeSetting("appearance.ui_scale", smaller[-1]))

    return run


def _trust(desk: Desk) -> None:
    """Open the question: a yes is given nowhere but below what is asked for."""
    if _is_trusted_whole(desk):
        desk.send(TrustProject(is_trusted=False))
    else:
        desk.view.dialog = Dialog("trust")


def _is_trusted_whole(desk: Desk) -> bool:
    project = desk.state.config.project
    return project.is_trusted and not project.asked


def _refresh_models(desk: Desk) -> None:
    if (summary := desk.summary) is not None:
        desk.send(RefreshModels(summary.meta.provider))


ACTIONS: tuple[Action, ...] = (
    Action("open_project", "File", 0, "Open project folder…", opens_dialog("open_project"), "folder-open", "Ctrl+O"),
    Action("settings", "File", 2, "Settings", _settings, "gear", "Ctrl+,",
           is_done=lambda d: d.view.page == "settings", undo_label="Close settings"),
    Action("theme", "View", 3, "Switch theme", _theme, "circle-half-stroke", "Ctrl+Shift+L"),
    Action("larger", "View", 3, "Larger", _scale(1), "magnifying-glass-plus", "Ctrl+="),
    Action("smaller", "View", 3, "Smaller", _scale(-1), "magnifying-glass-minus", "Ctrl+-"),
    Action("normal_size", "View", 3, "Normal size", _scale(0), "magnifying-glass", "Ctrl+0"),
    Action("trust", "Tools", 2, "Trust this project…", _trust, "shield-halved", "",
           lambda d: bool(d.state.config.project.root), is_done=_is_trusted_whole,
           undo_label="Stop trusting this project"),
    Action("local_servers", "Tools", 3, "Find local servers", lambda d: d.send(FindLocalServers()), "server"),
    Action("refresh_models", "Tools", 3, "Refresh models", _refresh_models, "arrows-rotate", "", has_discussion),
    Action("about", "Help", 1, "About Manual Slop", lambda d: d.view.show_settings("about"), "circle-info"),
)  # fmt: skip
