"""Room of the settings in the window, the view of their page, and actions of the menus."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import msgspec

from core.kernel.language import tr
from core.services.settings.settings_messages import (
    ChangeSetting,
    FindLocalServers,
    RefreshModels,
    TrustProject,
)
from panels.base.desk import Action, Desk, Room, has_discussion, opens_dialog
from panels.base.view import Dialog
from panels.base.window_fields import Kept

# View of the settings page: keys and servers being typed.


class ServerForm(msgspec.Struct):
    """A compatible server being added or changed."""

    id: str = ""
    label: str = ""
    base_url: str = ""
    error: str = ""


class TextForm(msgspec.Struct):
    """A persona, system prompt or prompt of the program being written.

    Args:
        table: of `TextTable`, or `prompts`; old_name: of the one that is changed, empty for a new one.
        base: the text that it began with; command_id: of the save under way.
    """

    table: str
    old_name: str = ""
    name: str = ""
    text: str = ""
    base: str = ""
    error: str = ""
    command_id: str = ""
    revision: int = 0
    had_focus: bool = False

    def take(self, text: str) -> None:
        """Go on from another text."""
        self.text = self.base = text
        self.error = ""
        self.revision += 1


class SettingsView(msgspec.Struct):
    """The page's own state.

    Args:
        key_texts: by provider, never kept and never shown in a representation.
        priced: models and source whose prices were asked for.
        policy_folder: the folder whose policies of tools are shown, empty for every one; rules: being typed, by their setting.
        query: what is searched among all settings; setting_errors: what is wrong with what was typed, by its key.
        tested: providers that were asked for their models here.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    key_texts: dict[str, str] = msgspec.field(default_factory=dict)
    server_form: ServerForm | None = None
    text_form: TextForm | None = None
    priced: object = None
    policy_folder: str = ""
    rules: dict[str, str] = msgspec.field(default_factory=dict)
    query: str = ""
    setting_errors: dict[str, str] = msgspec.field(default_factory=dict)
    tested: set[str] = msgspec.field(default_factory=set)

    def __repr__(self) -> str:
        return "SettingsView()"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return []  # rich asks a struct for its fields


class SettingsPage(msgspec.Struct, frozen=True):
    """A section of the settings page.

    Args:
        id: see `WindowView.settings_section`; words: what stands in it, and other words by which people look for it.
    """

    id: str
    label: str
    icon: str
    words: str = ""


PAGES = (
    SettingsPage(id="providers", label=tr("Providers and keys"), icon="key",
                 words=tr("API key token login account address base URL test Anthropic OpenAI Gemini Claude Code")),
    SettingsPage(id="servers", label=tr("Compatible servers"), icon="server",
                 words=tr("Ollama vLLM llama.cpp LM Studio OpenRouter local base URL endpoint")),
    SettingsPage(id="models", label=tr("Models"), icon="robot", words=tr("default model new discussions prices context window")),
    SettingsPage(id="appearance", label=tr("Appearance"), icon="palette",
                 words=tr("theme dark light colours language interface size font text zoom scale send key Enter")),
    SettingsPage(id="notifications", label=tr("Notifications, channels"), icon="bell", words=tr("desktop notices alerts IRC")),
    SettingsPage(id="files", label=tr("Files"), icon="file-lines", words=tr("largest size limits glob attachments pastes")),
    SettingsPage(id="tools", label=tr("Permissions"), icon="wrench",
                 words=tr("tools approvals allow ask deny commands sandbox edits web pages hosts rules")),
    SettingsPage(id="project", label=tr("Project"), icon="folder-open", words=tr("folder trust workspace")),
    SettingsPage(id="prompts", label=tr("Personas and prompts"), icon="user-gear", words=tr("system prompts custom instructions roles")),
    SettingsPage(id="all", label=tr("All settings"), icon="sliders"),
    SettingsPage(id="about", label=tr("About"), icon="circle-info", words=tr("version licences data folder home")),
)  # fmt: skip
"""In the order of the list; an id that is not here shows the first."""

# Actions on settings, project and providers from the menus.

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
    Action(id="open_project", menu=tr("File"), group=0, label=tr("Open project folder…"), run=opens_dialog("open_project"), icon="folder-open", chord="Ctrl+O"),
    Action(id="settings", menu=tr("File"), group=2, label=tr("Settings"), run=_settings, icon="gear", chord="Ctrl+,",
           is_done=lambda d: d.view.page == "settings", undo_label=tr("Close settings"), words=tr("preferences options configuration")),
    Action(id="theme", menu=tr("View"), group=3, label=tr("Switch theme"), run=_theme, icon="circle-half-stroke", chord="Ctrl+Shift+L",
           words=tr("dark mode light mode colours")),
    Action(id="larger", menu=tr("View"), group=3, label=tr("Zoom in"), run=_scale(1), icon="magnifying-glass-plus", chord="Ctrl+=",
           words=tr("larger font bigger text interface size")),
    Action(id="smaller", menu=tr("View"), group=3, label=tr("Zoom out"), run=_scale(-1), icon="magnifying-glass-minus", chord="Ctrl+-",
           words=tr("smaller font text interface size")),
    Action(id="normal_size", menu=tr("View"), group=3, label=tr("Reset zoom"), run=_scale(0), icon="magnifying-glass", chord="Ctrl+0"),
    Action(id="trust", menu=tr("Tools"), group=2, label=tr("Trust this project…"), run=_trust, icon="shield-halved", chord="",
           is_enabled=lambda d: bool(d.state.config.project.root), is_done=_is_trusted_whole,
           undo_label=tr("Stop trusting this project")),
    Action(id="local_servers", menu=tr("Tools"), group=3, label=tr("Find local servers"), run=lambda d: d.send(FindLocalServers()), icon="server"),
    Action(id="refresh_models", menu=tr("Tools"), group=3, label=tr("Refresh models"), run=_refresh_models, icon="arrows-rotate", chord="", is_enabled=has_discussion),
    Action(id="about", menu=tr("Help"), group=1, label=tr("About Manual Slop"), run=lambda d: d.view.show_settings("about"), icon="circle-info"),
)  # fmt: skip


# Room of settings in the window.


def _open_project(desk: Desk, _dialog: Dialog) -> None:
    from panels.settings.settings_panel import open_project_dialog

    open_project_dialog(desk)


def _settings_room_trust(desk: Desk, dialog: Dialog) -> None:
    from panels.settings.settings_panel import trust_dialog

    trust_dialog(desk, dialog)


def _remove(desk: Desk, dialog: Dialog) -> None:
    from panels.base.desk import removal_dialog

    removal_dialog(desk, dialog)


ROOM = Room(
    actions=ACTIONS,
    view=SettingsView,
    dialogs={"open_project": _open_project, "trust": _settings_room_trust, "remove": _remove},
)
