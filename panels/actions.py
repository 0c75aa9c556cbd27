"""The one table of what a person can do: menus, palette, shortcuts and buttons all come from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.values import commands as c
from core.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.values.messages import Role
from core.values.state import AppState
from panels import selection
from panels.discussion_rows import shown_ids
from panels.memo import Same
from panels.panes import show_side, shown_panes, toggle_side
from panels.ui import Send, Ui
from panels.view import Dialog, FindView, HubTab, WindowView

SCALES = (0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
MENUS = ("File", "Edit", "View", "Discussion", "Tools", "Help")


@dataclass(frozen=True, slots=True)
class Desk:
    """What an action may read and use."""

    state: AppState
    view: WindowView
    ui: Ui
    send: Send

    @property
    def summary(self) -> DiscussionSummary | None:
        """The selected discussion."""
        return selection.selected(self.state)

    @property
    def opened(self) -> OpenDiscussion | None:
        """The selected discussion's log, when it is loaded."""
        return selection.opened(self.state)

    @property
    def call(self) -> LiveCall | None:
        """The call under way in the selected discussion."""
        return selection.call_of(self.state, self.state.selected_id)


def _always(_desk: Desk) -> bool:
    return True


def _never(_desk: Desk) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can do.

    Args:
        id: stable; menu: one of `MENUS`; group: actions of one number stand together in the menu.
        chord: its shortcut, empty for none; run sends commands or changes the view.
        is_bound: whether the window listens for the chord; False where a button or an editor does.
    """

    id: str
    menu: str
    group: int
    label: str
    run: Callable[[Desk], None]
    icon: str = ""
    chord: str = ""
    is_enabled: Callable[[Desk], bool] = _always
    is_checked: Callable[[Desk], bool] = _never
    is_bound: bool = True


def has_discussion(desk: Desk) -> bool:
    """Whether a discussion is selected."""
    return desk.summary is not None


def has_messages(desk: Desk) -> bool:
    """Whether the selected discussion has something in it."""
    return desk.opened is not None and bool(desk.opened.entries)


def can_send(desk: Desk) -> bool:
    """Whether the composer holds something to send and no reply is under way."""
    opened = desk.opened
    if opened is None or desk.call is not None or desk.state.is_home_read_only:
        return False
    composer = desk.view.composer(opened.id)
    has_words = bool(composer.text.strip()) or bool(opened.draft.attachments)
    return has_words and composer.sent_from != sending_from(desk)


def sending_from(desk: Desk) -> Same:
    """The state that a send belongs to: once it was clicked, only another state may be sent again."""
    return Same(desk.opened, desk.state.notices)


def can_retry(desk: Desk) -> bool:
    """Whether the last send failed and can be tried again."""
    return desk.opened is not None and bool(desk.opened.failed_message_id) and desk.call is None


def can_regenerate(desk: Desk) -> bool:
    """Whether there is a user's message whose reply can be asked for again."""
    opened = desk.opened
    if opened is None or desk.call is not None:
        return False
    return any(m.role is Role.USER for m in selection.latest(opened))


def _create(desk: Desk) -> None:
    desk.view.page = "chat"
    desk.view.focus, desk.view.focus_not = "composer", desk.state.selected_id
    desk.send(c.CreateDiscussion())


def _open_dialog(kind: str) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        desk.view.dialog = Dialog(kind, subject=desk.state.selected_id)

    return run


def _rename(desk: Desk) -> None:
    show_side(desk.view, "list")
    desk.view.renaming_id = desk.state.selected_id


def _pin(desk: Desk) -> None:
    if (summary := desk.summary) is not None:
        desk.send(c.PinDiscussion(summary.meta.id, not summary.meta.pinned))


def _archive(desk: Desk) -> None:
    if (summary := desk.summary) is not None:
        desk.send(c.ArchiveDiscussion(summary.meta.id, not summary.meta.archived))


def _delete(desk: Desk) -> None:
    desk.send(c.DeleteDiscussion(desk.state.selected_id))


def _fork(desk: Desk) -> None:
    newest = next(selection.latest(desk.opened), None) if desk.opened is not None else None
    if desk.opened is not None and newest is not None:
        desk.send(c.BranchDiscussion(desk.opened.id, newest.id))


def _send(desk: Desk) -> None:
    if not can_send(desk) or desk.opened is None:
        return
    composer = desk.view.composer(desk.opened.id)
    composer.sent_from = sending_from(desk)
    composer.history_at = 0
    desk.view.scroll_to = -1
    desk.send(c.SendPrompt(desk.opened.id, composer.text))


def _copy_reply(desk: Desk) -> None:
    if (text := last_reply(desk)) is not None:
        desk.ui.copy(text)


def last_reply(desk: Desk) -> str | None:
    """The newest reply's Markdown, None where there is none."""
    if desk.opened is None:
        return None
    replies = (m.text for m in selection.latest(desk.opened) if m.role is Role.ASSISTANT)
    return next(replies, None)


def _find(desk: Desk) -> None:
    desk.view.page = "chat"
    desk.view.find = FindView(is_open=True, query=desk.view.find.query)
    desk.view.focus = "find"


def _search(desk: Desk) -> None:
    show_side(desk.view, "list")
    desk.view.focus = "search"


def _focus_composer(desk: Desk) -> None:
    desk.view.page, desk.view.focus, desk.view.focus_not = "chat", "composer", ""


def _toggle_list(desk: Desk) -> None:
    toggle_side(desk.view, "list")


def _toggle_hub(desk: Desk) -> None:
    toggle_side(desk.view, "hub")


def show_hub(view: WindowView, tab: HubTab) -> None:
    """Bring a tab of the Operations Hub to the front."""
    show_side(view, "hub")
    view.hub_tab = tab


def _hub(tab: HubTab) -> Callable[[Desk], None]:
    return lambda desk: show_hub(desk.view, tab)


def _look_harvest(desk: Desk) -> None:
    show_hub(desk.view, "harvest")
    desk.view.harvest.tab = "conversations"
    desk.view.harvest.looked_with = desk.state.settings.knowledge
    desk.send(c.LookForHarvest())


def _undo_harvest(desk: Desk) -> None:
    show_hub(desk.view, "harvest")
    desk.view.harvest.tab = "applied"
    desk.send(c.UndoHarvest())


def _can_undo_harvest(desk: Desk) -> bool:
    harvest = desk.state.harvest
    if harvest.is_busy or desk.state.is_home_read_only:
        return False
    return harvest.looked_at is None or any(not one.undone_at for one in harvest.look.applies)


def _settings(desk: Desk) -> None:
    desk.view.page = "chat" if desk.view.page == "settings" else "settings"


def _theme(desk: Desk) -> None:
    is_dark = desk.state.settings.appearance.theme == "dark"
    desk.send(c.ChangeSetting("appearance.theme", "light" if is_dark else "dark"))


def _scale(step: int) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        now = desk.state.settings.appearance.ui_scale
        larger = [s for s in SCALES if s > now + 0.01]
        smaller = [s for s in SCALES if s < now - 0.01]
        if step == 0:
            desk.send(c.ChangeSetting("appearance.ui_scale", 1.0))
        elif step > 0 and larger:
            desk.send(c.ChangeSetting("appearance.ui_scale", larger[0]))
        elif step < 0 and smaller:
            desk.send(c.ChangeSetting("appearance.ui_scale", smaller[-1]))

    return run


def _neighbour(step: int) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        ids = shown_ids(desk.state, desk.view)
        if not ids:
            return
        at = ids.index(desk.state.selected_id) + step if desk.state.selected_id in ids else 0
        desk.send(c.SelectDiscussion(ids[at % len(ids)]))

    return run


def _to_end(desk: Desk) -> None:
    desk.view.scroll_to = -1


def _save_preset(desk: Desk) -> None:
    if (preset := selection.active_preset(desk.state)) is not None:
        desk.send(c.SavePreset(preset.name))


def _has_unsaved_preset(desk: Desk) -> bool:
    preset = selection.active_preset(desk.state)
    return preset is not None and preset.name in desk.state.project.unsaved_presets


def _trust(desk: Desk) -> None:
    desk.send(c.TrustProject(not desk.state.project.is_trusted))


def _has_project_file(desk: Desk) -> bool:
    return desk.state.project.has_file


def _refresh_models(desk: Desk) -> None:
    if (summary := desk.summary) is not None:
        desk.send(c.RefreshModels(summary.meta.provider))


def _about(desk: Desk) -> None:
    desk.view.page, desk.view.settings_section = "settings", "about"


def _cancel(desk: Desk) -> None:
    desk.send(c.CancelReply(desk.state.selected_id))


ACTIONS: tuple[Action, ...] = (
    Action("new", "File", 0, "New discussion", _create, "plus", "Ctrl+N"),
    Action("open_project", "File", 0, "Open project folder…", _open_dialog("open_project"), "folder-open", "Ctrl+O"),
    Action("export_markdown", "File", 1, "Export as Markdown…", _open_dialog("export_markdown"), "file-export",
           "Ctrl+Shift+E", has_discussion),
    Action("export_json", "File", 1, "Export as JSON…", _open_dialog("export_json"), "file-export",
           is_enabled=has_discussion),
    Action("settings", "File", 2, "Settings", _settings, "gear", "Ctrl+,",
           is_checked=lambda d: d.view.page == "settings"),
    Action("quit", "File", 3, "Quit", lambda d: d.send(c.Quit()), "power-off", "Ctrl+Q"),
    Action("undo_delete", "Edit", 0, "Undo delete", lambda d: d.send(c.UndoDelete()), "rotate-left",
           is_enabled=lambda d: bool(d.state.trash)),
    Action("undo_harvest", "Edit", 0, "Undo the last harvest", _undo_harvest, "rotate-left",
           is_enabled=_can_undo_harvest),
    Action("copy_reply", "Edit", 1, "Copy last reply", _copy_reply, "copy", "Ctrl+Shift+C",
           lambda d: last_reply(d) is not None),
    Action("find", "Edit", 2, "Find in conversation", _find, "magnifying-glass", "Ctrl+F", has_messages),
    Action("search", "Edit", 2, "Search discussions", _search, "magnifying-glass", "Ctrl+Shift+F"),
    Action("composer", "View", 0, "Write a message", _focus_composer, "pen", "Ctrl+L", has_discussion),
    Action("to_end", "View", 0, "Jump to end", _to_end, "angles-down", "Alt+End", has_messages),
    Action("list", "View", 1, "Discussion list", _toggle_list, "list", "Ctrl+B",
           is_checked=lambda d: "list" in shown_panes(d.view)),
    Action("hub", "View", 1, "Operations Hub", _toggle_hub, "table-columns", "Ctrl+Shift+H",
           is_checked=lambda d: "hub" in shown_panes(d.view)),
    Action("presets", "View", 2, "Context Presets", _hub("presets"), "layer-group", "Ctrl+1"),
    Action("context", "View", 2, "Context", _hub("context"), "chart-bar", "Ctrl+2"),
    Action("knowledge", "View", 2, "Knowledge", _hub("knowledge"), "book", "Ctrl+3"),
    Action("caching", "View", 2, "Caching", _hub("caching"), "bolt", "Ctrl+4"),
    Action("harvest", "View", 2, "Harvest", _hub("harvest"), "wheat-awn", "Ctrl+5"),
    Action("theme", "View", 3, "Switch theme", _theme, "circle-half-stroke", "Ctrl+Shift+L"),
    Action("larger", "View", 3, "Larger", _scale(1), "magnifying-glass-plus", "Ctrl+="),
    Action("smaller", "View", 3, "Smaller", _scale(-1), "magnifying-glass-minus", "Ctrl+-"),
    Action("normal_size", "View", 3, "Normal size", _scale(0), "magnifying-glass", "Ctrl+0"),
    Action("send", "Discussion", 0, "Send", _send, "paper-plane", "Ctrl+Enter", can_send, is_bound=False),
    Action("stop", "Discussion", 0, "Stop reply", _cancel, "stop", "Escape", lambda d: d.call is not None,
           is_bound=False),
    Action("retry", "Discussion", 0, "Retry failed send", lambda d: d.send(c.RetrySend(d.state.selected_id)),
           "arrows-rotate", "Ctrl+R", can_retry),
    Action("regenerate", "Discussion", 0, "Regenerate reply",
           lambda d: d.send(c.RegenerateReply(d.state.selected_id)), "arrows-rotate", "Ctrl+Shift+R",
           can_regenerate),
    Action("fork", "Discussion", 1, "Fork", _fork, "code-branch", "Ctrl+Shift+B", has_messages),
    Action("rename", "Discussion", 1, "Rename", _rename, "pen", "F2", has_discussion),
    Action("pin", "Discussion", 1, "Pinned", _pin, "thumbtack", "Ctrl+Shift+D", has_discussion,
           lambda d: d.summary is not None and d.summary.meta.pinned),
    Action("archive", "Discussion", 1, "Archived", _archive, "box-archive", "", has_discussion,
           lambda d: d.summary is not None and d.summary.meta.archived),
    Action("delete", "Discussion", 2, "Delete", _delete, "trash-can", "Ctrl+Shift+Delete", has_discussion),
    Action("previous", "Discussion", 3, "Previous discussion", _neighbour(-1), "arrow-up", "Ctrl+PageUp"),
    Action("next", "Discussion", 3, "Next discussion", _neighbour(1), "arrow-down", "Ctrl+PageDown"),
    Action("palette", "Tools", 0, "Command palette", _open_dialog("palette"), "terminal", "Ctrl+Shift+P"),
    Action("attach", "Tools", 1, "Attach file…", _open_dialog("attach"), "paperclip", "Ctrl+Shift+A", has_discussion),
    Action("save_preset", "Tools", 1, "Save context preset", _save_preset, "floppy-disk", "Ctrl+S",
           _has_unsaved_preset),
    Action("regenerate_digest", "Tools", 2, "Regenerate digest", lambda d: d.send(c.RegenerateDigest()), "book-open",
           is_enabled=lambda d: not d.state.is_home_read_only),
    Action("trust", "Tools", 2, "Trust this project", _trust, "shield-halved", "", _has_project_file,
           lambda d: d.state.project.is_trusted),
    Action("look_harvest", "Tools", 3, "Look for conversations to harvest", _look_harvest, "wheat-awn",
           is_enabled=lambda d: not d.state.harvest.is_busy),
    Action("local_servers", "Tools", 3, "Find local servers", lambda d: d.send(c.FindLocalServers()), "server"),
    Action("refresh_models", "Tools", 3, "Refresh models", _refresh_models, "arrows-rotate", "", has_discussion),
    Action("shortcuts", "Help", 0, "Keyboard shortcuts", _open_dialog("shortcuts"), "keyboard", "F1"),
    Action("about", "Help", 1, "About Manual Slop", _about, "circle-info"),
)  # fmt: skip

BY_ID = {action.id: action for action in ACTIONS}


def run_action(action_id: str, desk: Desk) -> None:
    """Do what an action does, unless it cannot be done just now."""
    action = BY_ID[action_id]
    if action.is_enabled(desk):
        action.run(desk)


def run_shortcuts(desk: Desk) -> None:
    """Do what the pressed chords ask for. Once a frame, before anything is drawn."""
    for action in ACTIONS:
        if action.chord and action.is_bound and desk.ui.shortcut(action.chord):
            run_action(action.id, desk)


def send_chord(state: AppState) -> str:
    """The chord that sends, as the settings say."""
    return "Enter" if state.settings.appearance.send_key == "enter" else "Ctrl+Enter"


def action_tip(action_id: str) -> str:
    """What an icon button for an action says on hover: `Regenerate reply (Ctrl+Shift+R)`."""
    action = BY_ID[action_id]
    return f"{action.label} ({action.chord})" if action.chord else action.label


def action_button(desk: Desk, action_id: str, *, has_label: bool = False) -> None:
    """A ghost button for an action."""
    action = BY_ID[action_id]
    label = action.label if has_label else ""
    if desk.ui.button(
        ("action", action_id), label, icon=action.icon, kind="ghost",
        is_enabled=action.is_enabled(desk), tip=action_tip(action_id),
    ):  # fmt: skip
        run_action(action_id, desk)


def action_item(desk: Desk, action_id: str) -> None:
    """A menu item for an action."""
    action = BY_ID[action_id]
    chord = send_chord(desk.state) if action_id == "send" else action.chord
    if desk.ui.menu_item(
        action.id, action.label, icon=action.icon, shortcut=chord,
        is_enabled=action.is_enabled(desk), is_checked=action.is_checked(desk),
        tone="error" if action_id == "delete" else "text",
    ):  # fmt: skip
        run_action(action_id, desk)
