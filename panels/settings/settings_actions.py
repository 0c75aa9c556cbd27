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
        desk.view.dialog = Dialog(kind="trust")


def _is_trusted_whole(desk: Desk) -> bool:
    project = desk.state.config.project
    return project.is_trusted and not project.asked


def _refresh_models(desk: Desk) -> None:
    if (summary := desk.summary) is not None:
        desk.send(RefreshModels(summary.meta.provider))


ACTIONS: tuple[Action, ...] = (
    Action(id="open_project", menu="File", group=0, label="Open project folder…", run=opens_dialog("open_project"), icon="folder-open", chord="Ctrl+O"),
    Action(id="settings", menu="File", group=2, label="Settings", run=_settings, icon="gear", chord="Ctrl+,",
           is_done=lambda d: d.view.page == "settings", undo_label="Close settings"),
    Action(id="theme", menu="View", group=3, label="Switch theme", run=_theme, icon="circle-half-stroke", chord="Ctrl+Shift+L"),
    Action(id="larger", menu="View", group=3, label="Larger", run=_scale(1), icon="magnifying-glass-plus", chord="Ctrl+="),
    Action(id="smaller", menu="View", group=3, label="Smaller", run=_scale(-1), icon="magnifying-glass-minus", chord="Ctrl+-"),
    Action(id="normal_size", menu="View", group=3, label="Normal size", run=_scale(0), icon="magnifying-glass", chord="Ctrl+0"),
    Action(id="trust", menu="Tools", group=2, label="Trust this project…", run=_trust, icon="shield-halved", chord="",
           is_enabled=lambda d: bool(d.state.config.project.root), is_done=_is_trusted_whole,
           undo_label="Stop trusting this project"),
    Action(id="local_servers", menu="Tools", group=3, label="Find local servers", run=lambda d: d.send(FindLocalServers()), icon="server"),
    Action(id="refresh_models", menu="Tools", group=3, label="Refresh models", run=_refresh_models, icon="arrows-rotate", chord="", is_enabled=has_discussion),
    Action(id="about", menu="Help", group=1, label="About Manual Slop", run=lambda d: d.view.show_settings("about"), icon="circle-info"),
)  # fmt: skip
