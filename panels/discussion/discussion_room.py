"""Room of discussions in the window."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap

from core.kernel.language import capital, tr
from core.kernel.values.discussion import (
    FLAGS,
    Flag,
    ReplyVersions,
    message_text_of,
    slash_input,
)
from core.kernel.values.messages import Message, Role
from core.kernel.values.updates import is_under_way
from core.services.settings.settings_messages import PriceModels
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    ChangeDiscussion,
    ChooseVersion,
    CreateDiscussion,
    DeleteDiscussion,
    EditDraft,
    SelectDiscussion,
    SetDraft,
    UndoDelete,
)
from core.talk.discussion.lifecycle import is_empty
from core.talk.turn.turn_messages import CancelReply, RegenerateReply, RetrySend, SendPrompt
from panels.base import view
from panels.base.desk import Action, Desk, Room, has_discussion, has_messages, opens_dialog, send_chord
from panels.base.view import Dialog
from panels.discussion.completions import NOTHING_FAILED, enter_slash, is_completing, leave
from panels.discussion.discussions_panel import shown_ids
from panels.discussion.find_bar import close_find
from panels.discussion.model_picker import efforts_of, next_effort, why_no_effort
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
    return tr("A reply is in progress.") if desk.is_replying else NOTHING_FAILED


def _can_regenerate(desk: Desk) -> bool:
    opened = desk.opened
    if opened is None or desk.is_replying:
        return False
    return any(m.role is Role.USER for m in view.latest(opened))


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
            desk.send(
                ChooseVersion(
                    discussion_id=desk.state.discussions.selected_id, message_id=versions.chosen_id, step=step
                )
            )

    return run


def _create(desk: Desk) -> None:
    desk.view.page = "chat"
    selected = desk.state.discussions.selected_id
    stays = is_empty(desk.state, selected)  # it is the new one
    desk.view.focus, desk.view.focus_not = "composer", "" if stays else selected
    own = desk.view.of(DiscussionView)
    if own.project != desk.state.config.project.root:
        own.project = ALL_PROJECTS
    desk.send(CreateDiscussion(keeps_empty=True))


def _model(desk: Desk) -> None:
    desk.view.dialog = Dialog(kind="model", subject=desk.state.discussions.selected_id)
    desk.send(PriceModels())


def _rename(desk: Desk) -> None:
    desk.view.show_side("list")
    desk.view.of(DiscussionView).renaming_id = desk.state.discussions.selected_id


def _flag_action(field: str, flag: Flag) -> Action:
    """The action that sets a yes or no of the selected discussion, or takes it back."""

    def is_set(desk: Desk) -> bool:
        return desk.summary is not None and bool(getattr(desk.summary.meta, field))

    def run(desk: Desk) -> None:
        if (summary := desk.summary) is not None:
            desk.send(ChangeDiscussion(discussion_id=summary.meta.id, changes={field: not is_set(desk)}))

    return Action(
        id=flag.verb,
        menu=tr("Discussion"),
        group=1,
        label=capital(flag.verb),
        run=run,
        icon=flag.icon,
        chord=flag.chord,
        is_enabled=has_discussion,
        is_done=is_set,
        undo_label=capital(flag.undo),
    )


def _delete(desk: Desk) -> None:
    desk.send(DeleteDiscussion(desk.state.discussions.selected_id))


def _branch(desk: Desk) -> None:
    newest = next(view.latest(desk.opened), None) if desk.opened is not None else None
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
    composer.hand_over(desk.ask(SendPrompt(discussion_id=desk.opened.id, text=text, may_queue=True)))


def _regenerate(desk: Desk) -> None:
    from panels.discussion.model_picker import regenerate

    regenerate(desk, RegenerateReply(discussion_id=desk.state.discussions.selected_id))


def _can_compare(desk: Desk) -> bool:
    """True if there are words in the composer, or a message whose reply can be asked for again."""
    return (can_send(desk) or _can_regenerate(desk)) and not desk.is_replying


def _compare(desk: Desk) -> None:
    from panels.discussion.comparison_panel import begin_comparison

    begin_comparison(desk)


def _regenerate_with(desk: Desk) -> None:
    desk.view.dialog = Dialog(kind="regenerate_with")
    desk.send(PriceModels())


def _copy_reply(desk: Desk) -> None:
    if (text := _last_reply(desk)) is not None:
        desk.ui.copy(text)


def _last_reply(desk: Desk) -> str | None:
    """The newest reply's Markdown, None where there is none."""
    if desk.opened is None:
        return None
    replies = (m.text for m in view.latest(desk.opened) if m.role is Role.ASSISTANT)
    return next(replies, None)


def _has_composer(desk: Desk) -> bool:
    return desk.opened is not None and not desk.state.program.is_home_read_only


def _in_editor(desk: Desk) -> None:
    if (opened := desk.opened) is not None:
        text = desk.view.of(DiscussionView).composer(opened.id).text
        desk.send(EditDraft(discussion_id=opened.id, text=text))


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


def _to_prompt(step: int) -> Callable[[Desk], None]:
    """Go to the person's next message above (-1) or below (1) the first row in view; behind the last one is the end."""

    def run(desk: Desk) -> None:
        own, opened = desk.view.of(DiscussionView), desk.opened
        if opened is None:
            return
        prompts = [
            at for at, one in enumerate(opened.entries) if isinstance(one, Message) and one.role is Role.USER
        ]
        if step < 0:
            own.scroll_to = max((at for at in prompts if at < own.first_row), default=0)
        else:
            own.scroll_to = min((at for at in prompts if at > own.first_row), default=-1)

    return run


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
    Action(id="new", menu=tr("File"), group=0, label=tr("New discussion"), run=_create, icon="plus", chord="Ctrl+N"),
    Action(id="export_markdown", menu=tr("File"), group=1, label=tr("Export as Markdown…"), run=opens_dialog("export_markdown"), icon="file-export",
           chord="Ctrl+Shift+E", is_enabled=has_discussion),
    Action(id="export_json", menu=tr("File"), group=1, label=tr("Export as JSON…"), run=opens_dialog("export_json"), icon="file-export",
           is_enabled=has_discussion),
    Action(id="export_page", menu=tr("File"), group=1, label=tr("Export as a web page…"), run=opens_dialog("export_page"), icon="file-export",
           is_enabled=has_discussion, words=tr("print PDF HTML")),
    Action(id="undo_delete", menu=tr("Edit"), group=0, label=tr("Undo delete"), run=lambda d: d.send(UndoDelete()), icon="rotate-left",
           is_enabled=lambda d: bool(d.state.discussions.trash)),
    Action(id="copy_reply", menu=tr("Edit"), group=1, label=tr("Copy last reply"), run=_copy_reply, icon="copy", chord="Ctrl+Shift+C",
           is_enabled=lambda d: _last_reply(d) is not None),
    Action(id="find", menu=tr("Edit"), group=2, label=tr("Find in discussion"), run=_find, icon="magnifying-glass", chord="Ctrl+F", is_enabled=has_messages),
    Action(id="search", menu=tr("Edit"), group=2, label=tr("Search discussions"), run=_search, icon="magnifying-glass", chord="Ctrl+Shift+F"),
    Action(id="composer", menu=tr("View"), group=0, label=tr("Write a message"), run=_focus_composer, icon="pen", chord="Ctrl+L", is_enabled=has_discussion),
    Action(id="to_end", menu=tr("View"), group=0, label=tr("Jump to end"), run=_to_end, icon="angles-down", chord="Alt+End", is_enabled=has_messages),
    Action(id="prompt_before", menu=tr("View"), group=0, label=tr("Your previous message"), run=_to_prompt(-1), icon="arrow-up", chord="Alt+Up", is_enabled=has_messages),
    Action(id="prompt_after", menu=tr("View"), group=0, label=tr("Your next message"), run=_to_prompt(1), icon="arrow-down", chord="Alt+Down", is_enabled=has_messages),
    Action(id="send", menu=tr("Discussion"), group=0, label=tr("Send"), run=_send, icon="paper-plane", chord="Ctrl+Enter", is_enabled=can_send, is_bound=False,
           chord_of=send_chord),
    Action(id="stop", menu=tr("Discussion"), group=0, label=tr("Stop reply"), run=lambda d: d.send(CancelReply(d.state.discussions.selected_id)), icon="stop",
           chord="Escape", is_enabled=lambda d: d.is_replying or d.turn is not None, is_bound=False),
    Action(id="retry", menu=tr("Discussion"), group=0, label=tr("Retry failed send"), run=lambda d: d.send(RetrySend(discussion_id=d.state.discussions.selected_id)),
           icon="arrows-rotate", chord="F5", is_enabled=_can_retry, why_not=why_no_retry),
    Action(id="regenerate", menu=tr("Discussion"), group=0, label=tr("Regenerate reply"),
           run=_regenerate, icon="arrows-rotate", chord="Ctrl+Shift+R", is_enabled=_can_regenerate, words=tr("try again")),
    Action(id="regenerate_with", menu=tr("Discussion"), group=0, label=tr("Regenerate with another model…"), run=_regenerate_with, icon="arrows-rotate",
           is_enabled=_can_regenerate),
    Action(id="compare", menu=tr("Discussion"), group=0, label=tr("Compare models…"), run=_compare, icon="table-columns", is_enabled=_can_compare),
    Action(id="version_before", menu=tr("Discussion"), group=0, label=tr("Previous version"), run=_choose(-1), icon="chevron-left",
           chord="Alt+PageUp", is_enabled=lambda d: _has_version(d, -1)),
    Action(id="version_after", menu=tr("Discussion"), group=0, label=tr("Next version"), run=_choose(1), icon="chevron-right",
           chord="Alt+PageDown", is_enabled=lambda d: _has_version(d, 1)),
    Action(id="branch", menu=tr("Discussion"), group=1, label=tr("Branch"), run=_branch, icon="code-branch", chord="Ctrl+Shift+B", is_enabled=has_messages, words=tr("fork")),
    Action(id="model", menu=tr("Discussion"), group=1, label=tr("Model…"), run=_model, icon="sliders", chord="", is_enabled=has_discussion, words=tr("temperature top-p thinking reasoning reply length")),
    Action(id="effort", menu=tr("Discussion"), group=1, label=tr("Next effort level"), run=next_effort, icon="gauge-high", chord="Ctrl+R",
           is_enabled=lambda d: bool(efforts_of(d)), why_not=why_no_effort),
    Action(id="rename", menu=tr("Discussion"), group=1, label=tr("Rename"), run=_rename, icon="pen", chord="F2", is_enabled=has_discussion),
    *starmap(_flag_action, FLAGS.items()),
    Action(id="delete", menu=tr("Discussion"), group=2, label=tr("Delete"), run=_delete, icon="trash-can", chord="Ctrl+Shift+Delete", is_enabled=has_discussion,
           tone="error", words=tr("trash bin remove")),
    Action(id="previous", menu=tr("Discussion"), group=3, label=tr("Previous discussion"), run=_neighbour(-1), icon="arrow-up", chord="Ctrl+PageUp"),
    Action(id="next", menu=tr("Discussion"), group=3, label=tr("Next discussion"), run=_neighbour(1), icon="arrow-down", chord="Ctrl+PageDown"),
    Action(id="template", menu=tr("Tools"), group=1, label=tr("Insert template…"), run=opens_dialog("template"), icon="file-lines", is_enabled=has_discussion, words=tr("prompt snippets")),
    Action(id="draft_editor", menu=tr("Tools"), group=1, label=tr("Edit message in your editor"), run=_in_editor, icon="pen", is_enabled=_has_composer),
    Action(id="attach", menu=tr("Tools"), group=1, label=tr("Attach file…"), run=opens_dialog("attach"), icon="paperclip", chord="Ctrl+Shift+A", is_enabled=has_discussion, words=tr("upload image picture PDF")),
)  # fmt: skip


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.discussion.comparison_panel import compare_dialog
    from panels.discussion.completions import template_dialog
    from panels.discussion.model_picker import discussion_dialog

    if dialog.kind == "compare":
        compare_dialog(desk)
        return
    if dialog.kind == "template":
        template_dialog(desk, dialog)
        return

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
    composer = own.composers.get(desk.state.discussions.selected_id)
    if composer is not None and is_completing(composer):
        leave(composer)
        return True
    return close_find(desk)


ROOM = Room(
    actions=ACTIONS,
    view=DiscussionView,
    dialogs=dict.fromkeys(
        (
            "attach",
            "export_markdown",
            "export_json",
            "export_page",
            "model",
            "regenerate_with",
            "compare",
            "template",
        ),
        _dialog,
    ),
    begin=_begin,
    escape=_escape,
)
