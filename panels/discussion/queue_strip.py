"""The queue above the composer: what waits for the end of the reply, why it is held, and how it is taken back."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, tr
from core.kernel.values.discussion import OpenDiscussion, QueuedPrompt
from core.kernel.values.updates import outcome_of
from core.kernel.values.window import CompactionPhase
from core.talk.turn.prompt_queue import failed_prompt_id, waiting
from core.talk.turn.turn_messages import (
    ContinueReply,
    LeaveUnsent,
    RegenerateReply,
    ResendMessage,
    RetrySend,
    SendQueued,
    TakeBackQueued,
)
from panels.base.desk import Desk
from panels.base.ui import Ui
from panels.discussion.view import ComposerView, DiscussionView

Awaiting = RetrySend | RegenerateReply | ResendMessage | ContinueReply
AWAITED: dict[type[Awaiting], str] = {
    RetrySend: tr("The unsent message waits until you raise the spend limit in Usage."),
    RegenerateReply: tr("The new version of the reply waits until you raise the limit in Usage."),
    ResendMessage: tr("The changed message waits until you raise the spend limit in Usage."),
    ContinueReply: tr("The rest of the reply waits until you raise the spend limit in Usage."),
}
SHOWN = 4
LINE_CHARS = 400


def queue_strip(desk: Desk, opened: OpenDiscussion) -> None:
    """Draw what waits in a discussion, nothing where nothing does. Sends SendQueued, TakeBackQueued, LeaveUnsent and
    what waits for a limit.
    """
    ui, prompts = desk.ui, waiting(opened, desk.call)
    _awaits_limit(desk, opened)
    if not prompts:
        return
    with ui.group("queue"):
        _head(desk, opened, len(prompts))
        for prompt in prompts[:SHOWN]:
            _row(desk, opened.id, prompt)
        if len(prompts) > SHOWN:
            ui.text(
                "more",
                tr("and {prompts:,} more of the messages", prompts=len(prompts) - SHOWN),
                tone="muted",
                style="small",
            )


def _head(desk: Desk, opened: OpenDiscussion, count: int) -> None:
    ui = desk.ui
    is_held = bool(opened.queue_hold) or not desk.is_replying
    with ui.row("head", gap=6):
        ui.icon("icon", "circle-pause" if is_held else "clock", tone="warn" if is_held else "muted")
        text = _what_waits(opened, count, is_held=is_held)
        ui.text("what", text, tone="warn" if is_held else "muted", style="small", width=0, wraps=True)
        if not is_held:
            return
        tip = (
            tr("Send the first waiting message now, then the others")
            if count > 1
            else tr("Send the message now")
        )
        label, icon = tr("Send now"), "paper-plane"
        if desk.is_replying:
            tip = tr("Send the message when the reply ends")
        elif failed_prompt_id(opened):
            label, icon = tr("Retry the reply, then send"), "rotate"
            tip = tr("Ask again for the failed reply, then send the waiting messages")
        is_enabled = not desk.state.program.is_home_read_only
        if ui.button("send now", label, icon=icon, is_small=True, tip=tip, is_enabled=is_enabled):
            desk.send(SendQueued(discussion_id=opened.id))


def _what_waits(opened: OpenDiscussion, count: int, *, is_held: bool) -> str:
    """Sentence on messages that wait, and for what."""
    is_one = count == 1
    if opened.is_held_at_limit:
        said = (
            tr("1 message waits until you raise the spend limit.")
            if is_one
            else tr("{count:,} messages wait until you raise the spend limit.", count=count)
        )
        return as_sentences(said, opened.queue_hold)
    if is_held:
        said = (
            tr("1 message waits for you to send it.")
            if is_one
            else tr("{count:,} messages wait for you to send them.", count=count)
        )
        return as_sentences(said, opened.queue_hold)
    return (
        tr("1 message waits until the reply ends")
        if is_one
        else tr("{count:,} messages wait until the reply ends", count=count)
    )


def _awaits_limit(desk: Desk, opened: OpenDiscussion) -> None:
    """Draw a command that waits for a spend limit: how it goes on, and how it is left."""
    ui, command = desk.ui, opened.awaits_limit
    if not isinstance(command, Awaiting):
        return
    with ui.row("awaits limit", gap=6):
        ui.icon("icon", "circle-pause", tone="warn")
        text = AWAITED[type(command)]
        ui.text("what", text, tone="warn", style="small", width=0, wraps=True)
        if ui.button(
            "send now",
            tr("Send now"),
            icon="paper-plane",
            is_small=True,
            tip=tr("Send the message if the spend limit now allows it"),
        ):
            desk.send(replace(command, awaits_limit=False))
        if ui.button("leave", tr("Do not send"), kind="ghost", is_small=True):
            desk.send(LeaveUnsent(opened.id))
            if isinstance(command, ResendMessage):  # what was typed stays
                key = command.discussion_id, command.message_id
                desk.view.of(DiscussionView).editing[key] = command.text


def _row(desk: Desk, discussion_id: str, prompt: QueuedPrompt) -> None:
    ui = desk.ui
    with ui.row(("queued", prompt.id), gap=6):
        _files(ui, prompt)
        ui.text(
            "text",
            one_line(prompt.text, LINE_CHARS),
            style="small",
            width=0,
            tip=prompt.text[:LINE_CHARS],
        )
        if ui.button(
            "take back", tr("Take back"), icon="arrow-turn-down", kind="ghost", is_small=True,
            tip=tr("Put the message back into the composer"),
        ):  # fmt: skip
            desk.send(TakeBackQueued(discussion_id=discussion_id, prompt_id=prompt.id))


def _files(ui: Ui, prompt: QueuedPrompt) -> None:
    if prompt.attachments:
        names = "\n".join(part.name for part in prompt.attachments)
        ui.icon("files", "paperclip", tone="muted")
        ui.text("count", str(len(prompt.attachments)), tone="muted", style="small", tip=names)


# Strips over the composer while nothing goes out: a compaction, or calls that another program has.

PHASES = {
    CompactionPhase.WAITING: tr("waiting for the current turn to end"),
    CompactionPhase.PLANNING: tr("looking for old messages"),
    CompactionPhase.RESERVING: tr("asking the model to summarize old messages"),
    CompactionPhase.SUMMARISING: tr("asking the model to summarize old messages"),
    CompactionPhase.STORING: tr("saving the result"),
}


def compaction_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Draw the compaction under way, or why the one that was asked for made no room; nothing otherwise."""
    ui, one = desk.ui, desk.state.agent.compactions.get(opened.id)
    if one is not None:
        with ui.row("compaction", gap=6):
            ui.icon("icon", "scissors", tone="accent")
            words = tr("Shortening what the model reads: {phase}", phase=PHASES[one.phase])
            ui.text("text", words, tone="muted", style="small", width=0, wraps=True)
        return
    outcome = outcome_of(desk.state, composer.compaction_id) if composer.compaction_id else None
    if outcome is None or outcome.is_done:
        return
    with ui.row("compaction", gap=6):
        ui.icon("icon", "circle-info", tone="warn")
        ui.text("text", outcome.said, tone="warn", style="small", width=0, wraps=True)


def held_words(opened: OpenDiscussion) -> str:
    """Sentence on who has the calls, and where they are answered."""
    calls = fmt.count(len(opened.held_calls), tr("tool call"), tr("tool calls"))
    return tr(
        "Another window or terminal has {calls} here: answer there. Nothing is sent from here until then. After that program ends, you answer the calls not yet started here",
        calls=calls,
    )


def held_strip(desk: Desk, opened: OpenDiscussion) -> None:
    """Draw a note while another program answers in this discussion."""
    if not opened.held_calls:
        return
    with desk.ui.row("held", gap=6):
        desk.ui.icon("icon", "terminal", tone="warn")
        desk.ui.text("text", f"{held_words(opened)}.", tone="warn", style="small", width=0, wraps=True)
