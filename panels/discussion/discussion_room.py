"""Room of discussions in the window."""

from __future__ import annotations

from collections.abc import Callable

from core.kernel.values.discussion import ReplyVersions, message_text_of, slash_input
from core.kernel.values.messages import Message, Role
from core.kernel.values.updates import is_under_way
from core.services.settings.settings_messages import PriceModels
from core.talk.discussion.discussion_messages import (
    ArchiveDiscussion,
    BranchDiscussion,
    ChooseVersion,
    CreateDiscussion,
    DeleteDiscussion,
    PinDiscussion,
    SelectDiscussion,
    SetDraft,
    UndoDelete,
)
from core.talk.turn.turn_messages import CancelReply, RegenerateReply, RetrySend, SendPrompt
from panels.base import selection
from panels.base.desk import Action, Desk, Room, has_discussion, has_messages, opens_dialog, send_chord
from panels.base.view import Dialog
from panels.discussion.find_bar import close_find
from panels.discussion.list_rows import shown_ids
from panels.discussion.model_picker import efforts_of, next_effort, why_no_effort
from panels.discussion.slash import NOTHING_FAILED, enter_slash
from panels.discussion.view import ALL_PROJECTS, DiscussionView, FindView

# Actions on discussions and their messages.


def can_send(desk: Desk) -> bool:
    """True if the composer holds something to send; while a reply is under way it joins the queue."""
    opened = desk.opened
    if opened is None or desk.state.program.is_home_read_only:
        return False
    composer = desk.view.of(DiscussionView).composer(opened.id)
    has_words = bool(composer.text.strip()) or bool(opened.draft.attachments)
    return has_words and not is_under_way(desk.state, composer.command_id)


def _can_retry(desk: Desk) -> bool:
    return desk.opened is not None and bool(desk.opened.failed_message_id) and not desk.is_replying


def why_no_retry(desk: Desk) -> str:
    """Reason why nothing can be sent again, in a sentence."""
    return "A reply is under way." if desk.is_replying else NOTHING_FAILED


def _can_regenerate(desk: Desk) -> bool:
    opened = desk.opened
    if opened is None or desk.is_replying:
        return False
    return any(m.role is Role.USER for m in selection.latest(opened))


def _versions(desk: Desk) -> ReplyVersions | None:
    """Versions of the newest reply that has several."""
    opened = desk.opened
    if opened is None or not opened.versions or desk.is_replying:
        return None
    messages = (entry for entry in reversed(opened.entries) if isinstance(entry, Message))
    return next((one for m in messages if (one := opened.versions_of(m)) is not None), None)


def _has_version(desk: Desk, step: int) -> bool:
    """True if a version stands so many steps from the one that was asked for last."""
    versions = _versions(desk)
    return (
        versions is not None
        and desk.opened is not None
        and bool(versions.neighbour(step, desk.opened.asked_version))
    )


def _choose(step: int) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        versions = _versions(desk)
        if versions is not None and _has_version(desk, step):
            desk.send(ChooseVersion(desk.state.discussions.selected_id, versions.chosen_id, step))

    return run


def _create(desk: Desk) -> None:
    desk.view.page = "chat"
    desk.view.focus, desk.view.focus_not = "composer", desk.state.discussions.selected_id
    own = desk.view.of(DiscussionView)
    if own.project != desk.state.config.project.root:
        own.project = ALL_PROJECTS
    desk.send(CreateDiscussion())


def _model(desk: Desk) -> None:
    desk.view.dialog = Dialog("model", subject=desk.state.discussions.selected_id)
    desk.send(PriceModels())


def _rename(desk: Desk) -> None:
    desk.view.show_side("list")
    desk.view.of(DiscussionView).renaming_id = desk.state.discussions.selected_id


def _pin(desk: Desk) -> None:
    if (summary := desk.summary) is not None:
        desk.send(PinDiscussion(summary.meta.id, not summary.meta.pinned))


def _archive(desk: Desk) -> None:
    if (summary := desk.summary) is not None:
        desk.send(ArchiveDiscussion(summary.meta.id, not summary.meta.archived))


def _delete(desk: Desk) -> None:
    desk.send(DeleteDiscussion(desk.state.discussions.selected_id))


def _fork(desk: Desk) -> None:
    newest = next(selection.latest(desk.opened), None) if desk.opened is not None else None
    if desk.opened is not None and newest is not None:
        desk.send(BranchDiscussion(desk.opened.id, newest.id))


def _send(desk: Desk) -> None:
    if not can_send(desk) or desk.opened is None:
        return
    own = desk.view.of(DiscussionView)
    composer = own.composer(desk.opened.id)
    if slash_input(composer.text) is not None:
        enter_slash(desk, desk.opened, composer)
        return
    composer.history_at = 0
    own.scroll_to = -1
    text = message_text_of(composer.text)
    if text != composer.text:  # the draft that leaves is what is sent
        composer.pending.append(text)
        desk.send(SetDraft(desk.opened.id, text))
    composer.hand_over(desk.ask(SendPrompt(desk.opened.id, text, may_queue=True)))


def _regenerate(desk: Desk) -> None:
    """Ask for another version of the last reply, and show the end, where it arrives."""
    desk.view.of(DiscussionView).scroll_to = -1
    desk.send(RegenerateReply(desk.state.discussions.selected_id))


def _copy_reply(desk: Desk) -> None:
    if (text := _last_reply(desk)) is not None:
        desk.ui.copy(text)


def _last_reply(desk: Desk) -> str | None:
    """The newest reply's Markdown, None where there is none."""
    if desk.opened is None:
        return None
    replies = (m.text for m in selection.latest(desk.opened) if m.role is Role.ASSISTANT)
    return next(replies, None)


def _find(desk: Desk) -> None:
    own = desk.view.of(DiscussionView)
    desk.view.page = "chat"
    own.find = FindView(is_open=True, query=own.find.query)
    desk.view.focus = "find"


def _search(desk: Desk) -> None:
    desk.view.show_side("list")
    desk.view.focus = "search"


def _focus_composer(desk: Desk) -> None:
    desk.view.page, desk.view.focus, desk.view.focus_not = "chat", "composer", ""


def _to_end(desk: Desk) -> None:
    desk.view.of(DiscussionView).scroll_to = -1


def _neighbour(step: int) -> Callable[[Desk], None]:
    def run(desk: Desk) -> None:
        ids = shown_ids(desk.state, desk.view.of(DiscussionView), desk.view.memo)
        if not ids:
            return
        at = (
            ids.index(desk.state.discussions.selected_id) + step
            if desk.state.discussions.selected_id in ids
            else 0
        )
        desk.send(SelectDiscussion(ids[at % len(ids)]))

    return run


ACTIONS: tuple[Action, ...] = (
    Action("new", "File", 0, "New discussion", _create, "plus", "Ctrl+N"),
    Action("export_markdown", "File", 1, "Export as Markdown…", opens_dialog("export_markdown"), "file-export",
           "Ctrl+Shift+E", has_discussion),
    Action("export_json", "File", 1, "Export as JSON…", opens_dialog("export_json"), "file-export",
           is_enabled=has_discussion),
    Action("undo_delete", "Edit", 0, "Undo delete", lambda d: d.send(UndoDelete()), "rotate-left",
           is_enabled=lambda d: bool(d.state.discussions.trash)),
    Action("copy_reply", "Edit", 1, "Copy last reply", _copy_reply, "copy", "Ctrl+Shift+C",
           lambda d: _last_reply(d) is not None),
    Action("find", "Edit", 2, "Find in conversation", _find, "magnifying-glass", "Ctrl+F", has_messages),
    Action("search", "Edit", 2, "Search discussions", _search, "magnifying-glass", "Ctrl+Shift+F"),
    Action("composer", "View", 0, "Write a message", _focus_composer, "pen", "Ctrl+L", has_discussion),
    Action("to_end", "View", 0, "Jump to end", _to_end, "angles-down", "Alt+End", has_messages),
    Action("send", "Discussion", 0, "Send", _send, "paper-plane", "Ctrl+Enter", can_send, is_bound=False,
           chord_of=send_chord),
    Action("stop", "Discussion", 0, "Stop reply", lambda d: d.send(CancelReply(d.state.discussions.selected_id)), "stop",
           "Escape", lambda d: d.is_replying or d.turn is not None, is_bound=False),
    Action("retry", "Discussion", 0, "Retry failed send", lambda d: d.send(RetrySend(d.state.discussions.selected_id)),
           "arrows-rotate", "F5", _can_retry, why_not=why_no_retry),
    Action("regenerate", "Discussion", 0, "Regenerate reply",
           _regenerate, "arrows-rotate", "Ctrl+Shift+R", _can_regenerate),
    Action("version_before", "Discussion", 0, "Previous version of the reply", _choose(-1), "chevron-left",
           "Alt+PageUp", lambda d: _has_version(d, -1)),
    Action("version_after", "Discussion", 0, "Next version of the reply", _choose(1), "chevron-right",
           "Alt+PageDown", lambda d: _has_version(d, 1)),
    Action("fork", "Discussion", 1, "Fork", _fork, "code-branch", "Ctrl+Shift+B", has_messages),
    Action("model", "Discussion", 1, "Model…", _model, "sliders", "", has_discussion),
    Action("effort", "Discussion", 1, "Next reasoning effort", next_effort, "gauge-high", "Ctrl+R",
           lambda d: bool(efforts_of(d)), why_not=why_no_effort),
    Action("rename", "Discussion", 1, "Rename", _rename, "pen", "F2", has_discussion),
    Action("pin", "Discussion", 1, "Pin", _pin, "thumbtack", "Ctrl+Shift+D", has_discussion,
           is_done=lambda d: d.summary is not None and d.summary.meta.pinned, undo_label="Unpin"),
    Action("archive", "Discussion", 1, "Archive", _archive, "box-archive", "", has_discussion,
           is_done=lambda d: d.summary is not None and d.summary.meta.archived, undo_label="Unarchive"),
    Action("delete", "Discussion", 2, "Delete", _delete, "trash-can", "Ctrl+Shift+Delete", has_discussion,
           tone="error"),
    Action("previous", "Discussion", 3, "Previous discussion", _neighbour(-1), "arrow-up", "Ctrl+PageUp"),
    Action("next", "Discussion", 3, "Next discussion", _neighbour(1), "arrow-down", "Ctrl+PageDown"),
    Action("attach", "Tools", 1, "Attach file…", opens_dialog("attach"), "paperclip", "Ctrl+Shift+A", has_discussion),
)  # fmt: skip


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.discussion.dialogs import discussion_dialog

    discussion_dialog(desk, dialog)


def _begin(desk: Desk) -> None:
    desk.view.of(DiscussionView).begin_frame()


def _escape(desk: Desk) -> bool:
    own = desk.view.of(DiscussionView)
    if own.had_keyboard is not None:
        own.give_up(own.had_keyboard)
        return True
    if own.renaming_id:
        own.renaming_id = ""
        return True
    return close_find(desk)


ROOM = Room(
    ACTIONS,
    DiscussionView,
    dialogs=dict.fromkeys(("attach", "export_markdown", "export_json", "model"), _dialog),
    begin=_begin,
    escape=_escape,
)
