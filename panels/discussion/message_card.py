"""One row of a conversation: a message, a mark, the reply under way, or what failed."""

from __future__ import annotations

from datetime import datetime

from core.agent.attention_machine import cause_told
from core.kernel import figures as fmt
from core.kernel.errors import FailureKind
from core.kernel.language import tr
from core.kernel.stored_texts import retold
from core.kernel.values.discussion import CallPhase, LiveCall, OpenDiscussion
from core.kernel.values.messages import AttachmentPart, Mark, Message, Role, Status, ToolResultPart
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_under_way, outcome_of
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    DeleteMessage,
    EditMessage,
    RestoreMessage,
)
from core.talk.turn.turn_messages import ContinueReply, RegenerateReply, ResendMessage, RetrySend
from panels.base import view
from panels.base.desk import Desk, action_tip
from panels.base.ui import Tone, Ui
from panels.discussion.message_rows import (
    branch_foot,
    branch_points,
    copied_text,
    live_menu,
    message_menu,
    message_text,
    pager,
    tokens_by_message,
    usage_details,
    usage_line,
    versions_foot,
)
from panels.discussion.model_picker import regenerate, regenerate_with
from panels.discussion.tool_rounds import answered_calls, quiet_line, quiet_words, tool_parts
from panels.discussion.view import DiscussionView, MessageKey

KEY_FAILURES = frozenset({FailureKind.NO_KEY, FailureKind.BAD_KEY, FailureKind.FORBIDDEN})
WIDE_CARD_PX, NARROW_CARD_PX = 520, 260
RESEND = tr("Send the changed message; the old message and its replies stay as another version")
EDIT_PX, EDIT_MOST_PX = 96.0, 360.0
"""Height of the form of a short message, and of a long one, which then scrolls."""
META_FROM_PX = 600
"""Width of a card from which time and usage of a reply stand beside its name; else below it."""
BESIDE_FROM_PX = 340
"""Width of a card from which buttons stand beside the words that they are about, else below."""
BUILT_IN = "embedded"
SMALL_MODEL = tr(
    "The small built-in model wrote this: its answers are short and at times wrong. Choose a larger model at the top"
)
CARD_ACTIONS = (
    ("copy", "copy", tr("Copy as Markdown")),
    ("edit", "pen", tr("Edit message")),
    ("branch", "code-branch", tr("Branch from here")),
)
REGENERATE = ("regenerate", "arrows-rotate", tr("Regenerate this reply"))
PHASES = {
    CallPhase.SAVING: tr("saving your message"),
    CallPhase.COMPACTING: tr("shortening what the model reads"),
    CallPhase.WAITING: tr("waiting for the first word"),
    CallPhase.STREAMING: tr("writing"),
    CallPhase.RETRYING: tr("trying again"),
    CallPhase.STOPPING: tr("stopping"),
    CallPhase.STORING: tr("saving the reply"),
}
MARK_ICONS = {
    "cancelled": "stop",
    "truncated": "scissors",
    "refused": "ban",
    "broken": "circle-exclamation",
    "unknown": "circle-info",
    "failed": "circle-exclamation",
    "cut": "scissors",
    "overflow": "scissors",
    "model": "arrow-right-arrow-left",
    "repaired": "wrench",
    "harvested": "wheat-awn",
}


def message_card(
    desk: Desk,
    opened: OpenDiscussion,
    message: Message,
    *,
    is_found: bool = False,
    terms: tuple[str, ...] = (),
    found_at: int = -1,
    has_calls: bool = True,
) -> None:
    """Draw a message with everything that can be done with it.

    Args:
        has_calls: its calls are shown, which stand in a line of their own otherwise.
        is_found: the search stands on it, at the occurrence `found_at` of the `terms`, which are marked.
    """
    if message.is_deleted:
        _deleted(desk, opened, message)
        _branch_points(desk, opened, message)
        return
    key, own = (opened.id, message.id), desk.view.of(DiscussionView)
    calls = answered_calls(desk.view.memo, opened.entries)
    if message.role is Role.TOOL and not is_found and (words := quiet_words(message, calls)):
        quiet_line(desk.ui, "quiet", words)
        _branch_points(desk, opened, message)
        return
    with desk.ui.surface("card", "card_selected" if is_found else "card", padding=(16, 12)):
        _head(desk, opened, message)
        if key in own.editing:
            _edit_form(desk, key, message)
            return
        _reasoning(own, desk.ui, key, message)
        if not is_opening(desk.state, message) or _opening(own, desk.ui, key, message, is_found=is_found):
            message_text(desk.ui, message, terms, found_at, root=desk.state.config.project.root)
        if message.role is not Role.USER and has_calls:
            tool_parts(desk, key, message, calls)
            _pictures(desk, opened, message)
        attachments(desk.state, desk.ui, opened.id, message.attachments)
        if (
            message.status is not Status.COMPLETE and message.role is not Role.TOOL
        ):  # a call tells its end itself
            _cut_off(desk, opened, message)
        versions_foot(desk, opened, message)
        message_menu(desk, opened, message)
    _branch_points(desk, opened, message)


def _pictures(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    """Draw pictures that tools answered with."""
    for index, part in enumerate(message.parts):
        if isinstance(part, ToolResultPart) and part.attachments:
            with desk.ui.group(("pictures", index)):
                attachments(desk.state, desk.ui, opened.id, part.attachments)


def _branch_points(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    for point in branch_points(desk, opened).get(message.id, ()):
        branch_foot(desk, opened, point)


def _head(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    ui = desk.ui
    icon, tone, name = _speaker(desk.state, message)
    with ui.row("head"):
        ui.icon("role", icon, tone=tone)
        ui.text("name", name, style="strong")
        tip = usage_details(message.usage) if message.usage else ""
        has_line = (message.usage is not None or message.is_edited) and ui.width() < META_FROM_PX
        if not has_line:
            ui.text("meta", _meta_line(desk, message), tone="muted", style="small", tip=tip)
        if message.provider == BUILT_IN:
            ui.badge("small", tr("small model"), tip=SMALL_MODEL)
        if message.is_edited and not has_line:
            ui.badge("edited", tr("edited"))
        ui.push()
        _message_actions(desk, opened, message)
    if has_line:
        words = _meta_line(desk, message) + (f" · {tr('edited')}" if message.is_edited else "")
        ui.text("meta", words, tone="muted", style="small", tip=tip, wraps=True)


def _speaker(state: AppState, message: Message) -> tuple[str, Tone, str]:
    match message.role:
        case Role.USER if is_opening(state, message):
            return "moon", "muted", tr("The program")
        case Role.USER if message.asks_rest:
            return "play", "muted", tr("The program")
        case Role.USER if message.is_autonomous:
            return "sitemap", "muted", tr("Task, from the model of the parent discussion")
        case Role.USER:
            return "user", "muted", tr("You")
        case Role.ASSISTANT:
            return "robot", "accent", view.model_label(state, message.provider, message.model)
        case Role.TOOL:
            return "wrench", "cyan", tr("Tools")


def _is_task(state: AppState) -> bool:
    """True if the discussion that is shown works on another's task."""
    shown = view.selected(state)
    return shown is not None and bool(shown.meta.delegated_by)


def _meta_line(desk: Desk, message: Message) -> str:
    when = fmt.moment(message.at, desk.state.now)
    if message.usage is not None:
        return f"{when} · {usage_line(message.usage)}"
    counted = tokens_by_message(desk.view.memo, view.report_of(desk.state)).get(message.id)
    return (
        when if counted is None else tr("{when} · {counted} tok", when=when, counted=fmt.tokens_est(counted))
    )


def _message_actions(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    ui = desk.ui
    actions: tuple[tuple[str, str, str], ...] = CARD_ACTIONS
    if message.role is Role.ASSISTANT:
        actions = (*CARD_ACTIONS, REGENERATE)
    if (
        message.is_of_tools or message.is_of_program
    ):  # what a tool answered is nobody's to reword, nor what it was asked
        actions = tuple(one for one in actions if one[0] != "edit")
    width = ui.width()
    some = actions[: len(CARD_ACTIONS)]
    as_buttons = actions if width >= WIDE_CARD_PX else some if width >= NARROW_CARD_PX else ()
    for name, icon, label in as_buttons:
        can = name != "regenerate" or not desk.is_replying
        if ui.button(name, "", icon=icon, kind="ghost", tip=label, is_small=True, is_enabled=can):
            _act(desk, opened, message, name)
    if message.role is Role.TOOL and as_buttons:
        return
    with ui.menu("more", "", icon="ellipsis", tip=tr("More")) as is_open:
        if not is_open:
            return
        for name, icon, label in actions[len(as_buttons) :]:
            can = name != "regenerate" or not desk.is_replying
            if ui.menu_item(name, label, icon=icon, is_enabled=can):
                _act(desk, opened, message, name)
        if message.role is Role.ASSISTANT:
            regenerate_with(desk, opened, message)
        if not message.is_of_tools and ui.menu_item(
            "delete", tr("Delete message"), icon="trash-can", tone="error"
        ):
            desk.send(DeleteMessage(opened.id, message.id))


def _act(desk: Desk, opened: OpenDiscussion, message: Message, name: str) -> None:
    match name:
        case "copy":
            desk.ui.copy(copied_text(message))
        case "edit":
            desk.view.of(DiscussionView).editing[opened.id, message.id] = message.text
        case "regenerate":
            regenerate(desk, RegenerateReply(discussion_id=opened.id, message_id=message.id))
        case _:
            desk.send(BranchDiscussion(opened.id, message.id))


def _edit_form(desk: Desk, key: MessageKey, message: Message) -> None:
    ui, own = desk.ui, desk.view.of(DiscussionView)
    problem = follow_resent(desk, key)
    if key not in own.editing:
        return
    text = own.editing[key]
    edited = ui.editor(
        "edit", text, height=EDIT_PX, most_height=EDIT_MOST_PX, hint=tr("Message"), is_focused=True
    )
    if edited is not None:
        own.editing[key] = text = edited.text
    if has_keyboard := ui.is_focused("edit"):
        own.typing = key
    left = _attachments_left(ui, own, key, message)
    with ui.row("edit buttons"):
        is_enabled = bool(text.strip()) or bool(left)
        chord = "" if message.role is Role.USER else "Ctrl+Enter"
        if ui.button(
            "save",
            tr("Save"),
            kind="primary",
            is_small=True,
            is_enabled=is_enabled,
            shortcut=chord,
            is_heard=has_keyboard,
        ):
            desk.send(
                EditMessage(
                    discussion_id=key[0], message_id=key[1], text=text, detached=own.detached.pop(key, ())
                )
            )
            del own.editing[key]
        if message.role is Role.USER:
            is_enabled = bool(text.strip()) and not is_under_way(desk.state, own.resent.get(key, ""))
            if ui.button(
                "resend",
                tr("Save and resend"),
                icon="paper-plane",
                is_small=True,
                is_enabled=is_enabled,
                tip=RESEND,
                shortcut="Ctrl+Enter",
                is_heard=has_keyboard,
            ):
                own.resent[key] = desk.ask(
                    ResendMessage(
                        discussion_id=key[0], message_id=key[1], text=text, detached=own.detached.get(key, ())
                    )
                )
        if ui.button("cancel", tr("Cancel"), is_small=True):
            own.give_up(key)
        if problem:
            ui.text("problem", problem, tone="warn", style="small", wraps=True)


def follow_resent(desk: Desk, key: MessageKey) -> str:
    """Close an edit whose words are on disk where they were sent. Returns why they were not, empty otherwise."""
    own = desk.view.of(DiscussionView)
    outcome = outcome_of(desk.state, own.resent.get(key, ""))
    if outcome is None:
        return ""
    if outcome.is_done:
        del own.resent[key]
        own.editing.pop(key, None)
        return ""
    if outcome.refusal is not None:
        del own.resent[key]
        own.composer(key[0]).refusal = outcome.refusal
        return ""
    return outcome.said


def _attachments_left(
    ui: Ui, own: DiscussionView, key: MessageKey, message: Message
) -> tuple[AttachmentPart, ...]:
    """The files that the message keeps when it is saved, each with a button that takes it off."""
    detached = own.detached.get(key, ())
    left = tuple(part for part in message.attachments if part.key not in detached)
    for part in left:
        with ui.row(("attached", part.key), gap=4):
            ui.icon("icon", "file-image" if part.is_image else "file-lines")
            ui.text("name", part.name, style="small")
            if ui.button(
                "remove",
                "",
                icon="xmark",
                kind="ghost",
                tip=tr("Remove {name}", name=part.name),
                is_small=True,
            ):
                own.detached[key] = (*detached, part.key)
    return left


def _reasoning(own: DiscussionView, ui: Ui, key: MessageKey, message: Message) -> None:
    reasoning = message.reasoning
    if not reasoning:
        return
    is_open = key in own.unfolded
    used = message.usage.reasoning_tokens if message.usage else None
    label = tr("Reasoning") if used is None else tr("Reasoning · {used} tokens", used=fmt.tokens(used))
    if ui.button(
        "reasoning", label, icon="chevron-down" if is_open else "chevron-right", kind="ghost", is_small=True
    ):
        own.unfolded.symmetric_difference_update({key})
    if is_open:
        with ui.surface("reasoning text", "inset", padding=(12, 8)):
            ui.markdown("text", reasoning)


def is_opening(state: AppState, message: Message) -> bool:
    """True of the words by which the program began a turn of the discussion's own; a task's words are its parent's."""
    return message.role is Role.USER and message.is_autonomous and not _is_task(state)


def _opening(own: DiscussionView, ui: Ui, key: MessageKey, message: Message, *, is_found: bool) -> bool:
    """Say in a line what woke it, and fold the words, which stay much the same. Returns whether they are shown."""
    is_open = is_found or key in own.unfolded
    with ui.row("opening", gap=6):
        woken = tr("Woken by {text}", text=cause_told(message.text))
        ui.text("woken", woken, tone="muted", style="small", width=0, wraps=True)
        lines = fmt.count(message.text.rstrip().count("\n") + 1, tr("line"), tr("lines"))
        if ui.button("fold", tr("Show less") if is_open else tr("Show all {lines}", lines=lines), kind="link", is_small=True,
                     is_enabled=not is_found):  # fmt: skip
            own.unfolded ^= {key}
    return is_open


def attachments(state: AppState, ui: Ui, discussion_id: str, parts: tuple[AttachmentPart, ...]) -> None:
    """Draw attached files: pictures as pictures, the rest by name and size."""
    opened = state.discussions.open.get(discussion_id)
    for index, part in enumerate(parts):
        path = opened.picture_path(part) if opened is not None else ""
        if path:
            ui.image(("image", index), path, name=part.name, max_height=160)
        with ui.row(("attachment", index), gap=6):
            ui.icon("icon", "file-image" if part.is_image else "file-lines")
            ui.text("name", part.name, style="small")
            ui.text("size", fmt.size(part.size_bytes), tone="muted", style="small")


def _cut_off(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    ui = desk.ui
    is_last = can_go_on(desk, opened, message) and opened.failure is None
    with ui.row("cut off"):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        was_stopped = message.status is Status.INTERRUPTED
        why = tr("The reply was stopped before its end") if was_stopped else tr("This reply is incomplete")
        ui.text(
            "why",
            tr("{why}. The program kept the part that arrived.", why=why),
            tone="warn",
            style="small",
            width=0,
            wraps=True,
        )
        is_below = 0 < ui.width() < BESIDE_FROM_PX
        if is_last and not is_below:
            _go_on_or_again(desk, opened)
    if is_last and is_below:
        with ui.row("cut off buttons"):
            _go_on_or_again(desk, opened)


def _go_on_or_again(desk: Desk, opened: OpenDiscussion) -> None:
    _go_on(desk, opened)
    if desk.ui.button(
        "retry", tr("Retry"), icon="arrows-rotate", is_small=True, tip=action_tip(desk, "regenerate")
    ):
        regenerate(desk, RegenerateReply(discussion_id=opened.id))


def can_go_on(desk: Desk, opened: OpenDiscussion, message: Message | None) -> bool:
    """True if a message is the last, a reply that was cut off in its text, and none is under way."""
    newest = next(view.latest(opened), None)
    if message is None or newest is None or newest.id != message.id or desk.is_replying:
        return False
    return message.role is Role.ASSISTANT and message.status is not Status.COMPLETE and bool(message.text)


def _go_on(desk: Desk, opened: OpenDiscussion) -> None:
    if desk.ui.button(
        "continue", tr("Continue"), icon="play", is_small=True, tip=tr("Ask the model to continue")
    ):
        desk.send(ContinueReply(discussion_id=opened.id))


def _deleted(desk: Desk, opened: OpenDiscussion, message: Message) -> None:
    with desk.ui.row("deleted"):
        desk.ui.icon("icon", "trash-can", tone="faint")
        who = (
            tr("Message of the program to the model")
            if message.is_of_program
            else tr("Your message")
            if message.role is Role.USER
            else tr("Reply")
        )
        desk.ui.text(
            "text",
            tr("Deleted: {message} from {time}", message=who, time=fmt.moment(message.at, desk.state.now)),
            tone="faint",
            style="small",
        )
        if desk.ui.button("restore", tr("Restore"), kind="link", is_small=True):
            desk.send(RestoreMessage(opened.id, message.id))
        versions = opened.versions_of(message)
        if versions is not None and message.id == versions.chosen_id:
            pager(desk, opened, versions)


def mark_row(ui: Ui, mark: Mark, now: datetime | None) -> None:
    """Draw something that happened between messages."""
    with ui.row("mark"):
        ui.icon("icon", MARK_ICONS.get(mark.kind, "circle-info"), tone="faint")
        ui.text(
            "text",
            f"{retold(mark.text)} · {fmt.moment(mark.at, now)}",
            tone="muted",
            style="small",
            wraps=True,
        )


def live_row(desk: Desk, call: LiveCall) -> None:
    """Draw the reply under way; its Stop is the composer's."""
    ui, state = desk.ui, desk.state
    with ui.surface("card", "card", padding=(16, 12)):
        with ui.row("head"):
            ui.icon("role", "robot", tone="accent")
            ui.text("name", view.model_label(state, call.provider, call.model), style="strong")
            ui.text("phase", _phase_line(call, state.now), tone="muted", style="small")
            if call.provider == BUILT_IN:
                ui.badge("small", tr("small model"), tip=SMALL_MODEL)
            if call.version_of:
                ui.badge("version", _version_line(state, call))
        if call.reasoning and not call.text:
            with ui.surface("reasoning", "inset", padding=(12, 8)):
                ui.markdown("text", call.reasoning, is_streaming=True)
        if call.text:
            ui.markdown("text", call.text, is_streaming=True)
        live_menu(desk, call)


def _version_line(state: AppState, call: LiveCall) -> str:
    opened = state.discussions.open.get(call.discussion_id)
    known = opened.versions.get(call.version_of) if opened is not None else None
    return tr("version {ids}", ids=len(known.ids) + 1 if known is not None else 2)


def _phase_line(call: LiveCall, now: datetime | None) -> str:
    line = PHASES[call.phase]
    if call.phase is CallPhase.WAITING and now is not None:
        waited_s = max(0.0, (now - call.started_at).total_seconds())
        line += f" · {fmt.span(waited_s)}"
    if call.phase is CallPhase.RETRYING:
        if call.retry_at is not None:
            line = tr("{phase} at {time:%H:%M:%S}", phase=line, time=call.retry_at.astimezone())
        line = f"{line} · {call.retry_reason}" if call.retry_reason else line
    return line


def failure_row(desk: Desk, opened: OpenDiscussion) -> None:
    """Draw why a send failed, what helps, and Retry; where nobody knows why, that there is no answer."""
    failure = opened.failure
    if failure is None:
        _unanswered(desk, opened)
        return
    ui = desk.ui
    with ui.surface("failure", "card", padding=(16, 12)):
        with ui.row("head"):
            ui.icon("icon", "circle-exclamation", tone="error")
            ui.text("what", failure.what, style="strong", tone="error", wraps=True)
        if failure.remedy:
            ui.text("remedy", failure.remedy, wraps=True)
        details = [
            failure.where,
            f"HTTP {failure.status}" if failure.status else "",
            tr("request {request_id}", request_id=failure.request_id) if failure.request_id else "",
            tr(
                "the server asks the program to wait {retry_after_s}",
                retry_after_s=fmt.span(failure.retry_after_s),
            )
            if failure.retry_after_s
            else "",
        ]
        if any(details):
            ui.text("details", " · ".join(d for d in details if d), tone="muted", style="small", wraps=True)
        with ui.row("buttons"):
            if opened.failed_message_id:
                if ui.button(
                    "retry", tr("Retry"), icon="arrows-rotate", kind="primary", tip=action_tip(desk, "retry")
                ):
                    desk.send(RetrySend(discussion_id=opened.id))
                ui.text("hint", desk.actions["retry"].shown_chord(desk.state), tone="muted", style="small")
            if opened.failed_message_id and failure.kind is FailureKind.NO_TOOLS:
                tip = tr("Send the message again without tools; the discussion stays without tools")
                if ui.button("without-tools", tr("Send without tools"), icon="arrows-rotate", tip=tip):
                    desk.send(RetrySend(discussion_id=opened.id, without_tools=True))
            if can_go_on(desk, opened, next(view.latest(opened), None)):
                _go_on(desk, opened)
            if failure.kind in KEY_FAILURES and ui.button("settings", tr("Enter an API key"), icon="key"):
                desk.view.show_settings("providers")


def _unanswered(desk: Desk, opened: OpenDiscussion) -> None:
    ui = desk.ui
    with ui.row("unanswered"):
        ui.icon("icon", "circle-info", tone="muted")
        ui.text("what", tr("This message has no reply yet."), tone="muted", style="small")
        ui.push()
        if ui.button(
            "ask", tr("Ask for a reply"), icon="arrows-rotate", is_small=True, tip=action_tip(desk, "retry")
        ):
            desk.send(RetrySend(discussion_id=opened.id))
