"""The queue of a discussion: what waits while a reply streams, what of it goes next, and when it waits for the person.

It goes on by itself only after a whole reply. A failure, a stop, a limit and a start of the program hold it: from then
on only the person's yes sends anything of it, after the message before it that failed and has no reply yet. A limit that the person raises is a yes to what that limit held, here and
of what they asked for otherwise and let wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from core.kernel.errors import FailureKind
from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import tr
from core.kernel.values.discussion import ComparedModel, Draft, LiveCall, OpenDiscussion, QueuedPrompt
from core.kernel.values.messages import Entry, Mark, Message, Part, Role, Status, TextPart
from core.kernel.values.provider import FAILURE_MARKS, WHOLE_REPLY, StopKind
from core.kernel.values.records import EditRecord, MessageRecord
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import (
    Result,
    conclude,
    decline,
    dismiss,
    is_busy,
    refused_files,
    with_open,
    with_summary,
    without_call,
)
from core.kernel.values.usage import SpendRefusal
from core.services.spending.limits import paid_limit_usd, reached_limits
from core.talk.discussion.discussion_messages import (
    AddToQueue,
    ChangeDiscussion,
    PromptGone,
    QueueWritten,
    RemoveFromQueue,
    WriteDraft,
)
from core.talk.discussion.durability import with_text
from core.talk.discussion.lifecycle import change, change_meta, unknown_model
from core.talk.turn.sending import (
    draft_after,
    find_call,
    has_words,
    ignore,
    keep_out_of,
    prompt_parts,
    refusal_of,
    refuse,
    save_then_call,
)
from core.talk.turn.turn_messages import (
    ContinueReply,
    PaidCommand,
    RegenerateReply,
    ResendMessage,
    RetrySend,
    SendPrompt,
    SendQueued,
    TakeBackQueued,
)

# Renewal of a reply: asked for again as another version, with other words as a version of the message, or to go
# on where it broke off.

CONTINUE_PROMPT = "continue.md"


class AskedTurn(msgspec.Struct, frozen=True):
    """One message of the person and what followed it up to their next one.

    Args:
        is_last: the person has written nothing behind it.
    """

    prompt: Message
    run: tuple[Message, ...]
    is_last: bool

    @property
    def reply(self) -> Message | None:
        """The reply that stands there, a deleted one where there is no other."""
        replies = [message for message in self.run if message.role is not Role.USER]
        return next((one for one in replies if not one.is_deleted), replies[-1] if replies else None)


def retry(state: AppState, given: Stamp, command: RetrySend) -> Result:
    """Send again what failed. A part of a reply that came before the failure is the first version of it."""
    opened = state.discussions.open.get(command.discussion_id)
    prompt_id = retried_prompt_id(opened) if opened is not None else ""
    if not prompt_id:
        return ignore(state, command, tr("No send has failed in this discussion."))
    if not command.without_tools or is_busy(state, command.discussion_id):
        return _ask_again(state, given, command, prompt_id)
    bare = change_meta(state, command.discussion_id, has_tools=False)
    return _ask_changed(state, given, command, prompt_id, bare)


def retried_prompt_id(opened: OpenDiscussion) -> str:
    """Id of the message whose send failed, or whose reply is not whole: the log tells it after a restart too. Empty for none."""
    if opened.failed_message_id:
        return opened.failed_message_id
    last = next(reversed(opened.messages), None)
    is_short = last is not None and last.role is Role.ASSISTANT and last.status is not Status.COMPLETE
    return prompt_of(opened.entries, "") if is_short else ""


def regenerate(state: AppState, given: Stamp, command: RegenerateReply) -> Result:
    """Ask again for a reply, the last one where none is named; of another model where one is named, which answers from then on."""
    opened = state.discussions.open.get(command.discussion_id)
    prompt_id = prompt_of(opened.entries, command.message_id) if opened is not None else ""
    if not prompt_id:
        return ignore(state, command, tr("There is no message that you can ask again."))
    if not command.provider:
        return _ask_again(state, given, command, prompt_id)
    chosen = {"provider": command.provider, "model": command.model}
    switch = ChangeDiscussion(discussion_id=command.discussion_id, changes=chosen)
    if is_busy(state, command.discussion_id):
        return ignore(state, command, tr("A reply is under way in this discussion."))
    if problem := unknown_model(state, command.provider, command.model):
        return decline(state, command.command_id, "choice", *problem), ()
    switched = change(state, Stamp(given.at, f"{given.seed}/model"), switch)
    return _ask_changed(state, given, command, prompt_id, switched)


def _ask_changed(
    before: AppState, given: Stamp, command: RetrySend | RegenerateReply, prompt_id: str, changed: Result
) -> Result:
    """Ask again with a discussion's choices changed; where a limit stands against it, they stay as they were before."""
    state, marked = changed
    asked, effects = _ask_again(state, given, command, prompt_id)
    if command.discussion_id in asked.turns.calls:
        return asked, (*marked, *effects)
    meta = before.discussions.summaries[command.discussion_id].meta
    return with_summary(
        asked, replace(asked.discussions.summaries[command.discussion_id], meta=meta)
    ), effects


def resend(state: AppState, given: Stamp, command: ResendMessage) -> Result:
    """Send a message with other words: a version of it, and what followed the words before stays as theirs."""
    opened = state.discussions.open.get(command.discussion_id)
    turn = asked_turn(opened, command.message_id) if opened is not None else None
    if opened is None or turn is None:
        return ignore(state, command, tr("The message was deleted in the meantime."))
    parts = with_text(turn.prompt, clean(command.text), command.detached)
    if not parts:
        return ignore(state, command, tr("There is nothing to send."))
    if turn.is_last and turn.reply is None:
        edit = EditRecord(id=given.make_id(0), at=given.at, target_id=turn.prompt.id, parts=parts)
        return save_then_call(state, given, command, turn.prompt.id, (edit,))
    return in_version(state, given, command, turn.prompt, parts)


def in_version(
    state: AppState,
    given: Stamp,
    command: PaidCommand,
    prompt: Message,
    parts: tuple[Part, ...],
    *,
    compared: ComparedModel | None = None,
) -> Result:
    """Send a version of a message: it takes the place of that one and of all that followed."""
    record = MessageRecord(
        id=given.make_id(0),
        at=given.at,
        role=Role.USER,
        parts=parts,
        version_of=prompt.version_of or prompt.id,
        is_autonomous=prompt.is_autonomous,
        asks_rest=prompt.asks_rest and parts == prompt.parts,  # other words are the person's
    )
    if kept_out := state.context.kept_out_of.get(prompt.id):
        state = keep_out_of(state, record.id, kept_out)
    return save_then_call(state, given, command, record.id, (record,), compared=compared)


def continue_reply(state: AppState, given: Stamp, command: ContinueReply) -> Result:
    """Ask for the rest of a reply that was cut off, in the person's place."""
    opened = state.discussions.open.get(command.discussion_id)
    last = next(reversed(opened.messages), None) if opened is not None else None
    if last is None or last.role is not Role.ASSISTANT or last.status is Status.COMPLETE:
        return ignore(state, command, tr("The last reply was not cut off."))
    text = state.config.prompts.get(CONTINUE_PROMPT, "").strip()
    if not text:
        problem = tr(
            "The prompt {CONTINUE_PROMPT} is empty, so the program cannot ask the model to continue.",
            CONTINUE_PROMPT=CONTINUE_PROMPT,
        )
        remedy = tr("Write text into the file, or delete it to use the program's own text.")
        return decline(state, command.command_id, "continue", problem, remedy), ()
    record = MessageRecord(
        id=given.make_id(0), at=given.at, role=Role.USER, parts=(TextPart(text),), asks_rest=True
    )
    return save_then_call(state, given, command, record.id, (record,))


def _ask_again(state: AppState, given: Stamp, command: RetrySend | RegenerateReply, prompt_id: str) -> Result:
    """Call anew for the reply to a message: another version of the last reply, before it of the message and all behind it."""
    turn = asked_turn(state.discussions.open[command.discussion_id], prompt_id)
    if turn is None:
        return ignore(state, command, tr("The message was deleted in the meantime."))
    if not turn.is_last:
        return in_version(state, given, command, turn.prompt, turn.prompt.parts)
    if isinstance(command, RetrySend) and (place := _unfinished(turn)) is not None:
        return save_then_call(state, given, command, prompt_id, (), version_of=place, is_round=True)
    reply = turn.reply
    version_of = "" if reply is None else reply.version_of or reply.id
    return save_then_call(state, given, command, prompt_id, (), version_of=version_of)


def _unfinished(turn: AskedTurn) -> str | None:
    """Place at which a turn with tools goes on: the part of a reply that came after the last results, empty for none.

    None where no tool was called.
    """
    said = [message for message in turn.run if not message.is_deleted]
    if not any(message.role is Role.TOOL for message in said):
        return None
    last = said[-1]
    if last.role is Role.TOOL:
        return ""
    return last.version_of or last.id


def asked_turn(opened: OpenDiscussion, prompt_id: str) -> AskedTurn | None:
    """The turn of a message of the person; None where it is not there, or deleted."""
    messages = [entry for entry in opened.entries if isinstance(entry, Message)]
    at = next((i for i, m in enumerate(messages) if m.id == prompt_id and _is_prompt(m)), None)
    if at is None:
        return None
    end = next((i for i in range(at + 1, len(messages)) if _is_prompt(messages[i])), len(messages))
    return AskedTurn(
        prompt=messages[at],
        run=tuple(messages[at + 1 : end]),
        is_last=end == len(messages),
    )


def prompt_of(entries: Sequence[Entry], message_id: str) -> str:
    """Id of the message that a message belongs to the reply of, or is; of the last one where none is named."""
    prompt_id = ""
    for entry in entries:
        if not isinstance(entry, Message):
            continue
        if _is_prompt(entry):
            prompt_id = entry.id
        if message_id and entry.id == message_id:
            return prompt_id
    return "" if message_id else prompt_id


def _is_prompt(message: Message) -> bool:
    return message.role is Role.USER and not message.is_deleted


HOLD_OF_STOP = {
    StopKind.CANCELLED: tr("You stopped the previous reply."),
    StopKind.TRUNCATED: tr("The previous reply was cut off."),
    StopKind.REFUSED: tr("The model declined to answer the previous message."),
    StopKind.BROKEN: tr("The last reply cannot be used."),
    StopKind.UNKNOWN: tr("The previous reply may be incomplete."),
}
GONE = tr("The message was sent or taken back elsewhere in the meantime.")


def enqueue(state: AppState, given: Stamp, asked: SendPrompt) -> Result:
    """Keep a prompt until the reply under way has ended, or a limit is raised. The composer's words stay there until it
    is on disk.
    """
    opened = state.discussions.open[asked.discussion_id]
    if not opened.queue and not is_busy(state, opened.id):  # what held an earlier one holds nothing any more
        state = with_open(state, replace(opened, queue_hold="", is_held_at_limit=False))
    prompt = QueuedPrompt(
        id=given.make_id(0),
        at=given.at,
        text=clean(asked.text),
        attachments=opened.draft.attachments,
        kept_out=opened.kept_out,
    )
    return state, (AddToQueue(discussion_id=opened.id, prompt=prompt, command_id=asked.command_id),)


def written(state: AppState, given: Stamp, event: QueueWritten) -> Result:
    """Show a queue that is on disk now. Send a message whose awaited reply has already ended."""
    opened = state.discussions.open.get(event.discussion_id)
    if opened is None:
        return conclude(state, CommandOutcome(command_id=event.command_id)), ()
    opened = replace(opened, queue=event.queue)
    if event.added is None:
        return with_open(state, opened), ()
    draft = draft_after(opened.draft, event.added.text, event.added.attachments)
    state = dismiss(state, refused_files(opened.id))
    kept_out = tuple(one for one in opened.kept_out if one not in event.added.kept_out)
    state = with_open(state, replace(opened, draft=draft, kept_out=kept_out))
    state, effects = go_on(state, given, opened.id)
    call = state.turns.calls.get(opened.id)
    waits = call is None or call.user_message_id != event.added.id
    outcome = CommandOutcome(command_id=event.command_id, made_id=event.added.id, is_queued=waits)
    return conclude(state, outcome), (WriteDraft(opened.id, draft), *effects)


def take_back(state: AppState, asked: TakeBackQueued) -> Result:
    """Put a waiting prompt back into the composer, in front of what stands there."""
    opened = state.discussions.open.get(asked.discussion_id)
    call = state.turns.calls.get(asked.discussion_id)
    prompt = next((p for p in waiting(opened, call) if p.id == asked.prompt_id), None)
    if opened is None or prompt is None:
        return conclude(
            state, CommandOutcome(command_id=asked.command_id, problem=tr("The message no longer waits."))
        ), ()
    text = "\n".join(filter(None, (prompt.text, opened.draft.text)))
    parts = dict.fromkeys((*prompt.attachments, *opened.draft.attachments))
    draft = Draft(text, tuple(parts))
    rest = tuple(one for one in opened.queue if one.id != prompt.id)
    kept_out = tuple(dict.fromkeys((*opened.kept_out, *prompt.kept_out)))
    hold = _held(rest, opened)
    state = with_open(state, replace(opened, draft=draft, queue=rest, queue_hold=hold, kept_out=kept_out))
    state = conclude(state, CommandOutcome(command_id=asked.command_id, made_id=prompt.id))
    # The draft twice: first with the queue's change, then as the newest one, which makes needless all before it.
    return state, (
        RemoveFromQueue(discussion_id=opened.id, prompt_id=prompt.id, draft=draft),
        WriteDraft(opened.id, draft),
    )


def send_now(state: AppState, given: Stamp, asked: SendQueued) -> Result:
    """The person lets a held queue go: its first goes now, or when the reply under way has ended.

    A message before it that failed is asked for again first, and the queue follows its reply: an answer to what waits
    would leave that one without any, and stand on words that were never answered.
    """
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None or not opened.queue:
        return conclude(
            state,
            CommandOutcome(command_id=asked.command_id, problem=tr("Nothing waits in this discussion.")),
        ), ()
    if is_busy(state, opened.id):
        state = with_open(state, replace(opened, queue_hold="", is_held_at_limit=False))
        return conclude(state, CommandOutcome(command_id=asked.command_id, made_id=opened.queue[0].id)), ()
    reached = () if asked.over_limit else reached_limits(state, opened.id)
    if reached and asked.awaits_limit:
        state = hold_at_limit(state, opened.id, refusal_of(asked, reached).sentence)
        return conclude(state, CommandOutcome(command_id=asked.command_id, made_id=opened.queue[0].id)), ()
    if reached:
        return refuse(state, asked, refusal_of(asked, reached))
    if failed_prompt_id(opened):
        state = with_open(state, replace(opened, queue_hold="", is_held_at_limit=False))
        return retry(
            state,
            given,
            RetrySend(discussion_id=opened.id, over_limit=asked.over_limit, command_id=asked.command_id),
        )
    return _send_first(state, given, opened, asked)


def failed_prompt_id(opened: OpenDiscussion) -> str:
    """Id of the person's last message where its call failed and nothing has come since; empty otherwise.

    Asked of the log, so that it is known after a restart; a message that another program is sending does not count.
    """
    last = opened.unanswered_id
    is_failed = any(
        isinstance(e, Mark) and e.kind in FAILURE_MARKS and e.after_id == last for e in opened.entries
    )
    return last if is_failed and opened.failed_message_id == last else ""


def go_on(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """Send what waits first, unless something is under way, the queue is held, or a limit stands against it."""
    opened = state.discussions.open.get(discussion_id)
    is_free = not is_busy(state, discussion_id) and not state.program.is_closing
    if opened is None or not opened.queue or _waits_for_yes(opened) or opened.held_calls or not is_free:
        return state, ()
    if reached := reached_limits(state, discussion_id):
        return hold_at_limit(
            state, discussion_id, SpendRefusal(reached, SendQueued(discussion_id=discussion_id)).sentence
        ), ()
    return _send_first(state, given, opened, SendQueued(discussion_id=discussion_id))


def _waits_for_yes(opened: OpenDiscussion) -> bool:
    """True if only the person's yes sends more: what a limit held waits for that limit, and for what failed at it."""
    failure = opened.failure
    is_behind = failure is not None and failure.kind is FailureKind.SPEND_LIMIT
    return bool(opened.queue_hold) and (not opened.is_held_at_limit or is_behind)


def must_wait(state: AppState, asked: SendPrompt) -> bool:
    """True if a prompt goes into the queue: a reply is under way, or it waits for a limit to be raised."""
    if not has_words(state, asked):
        return False
    is_held = asked.awaits_limit and not asked.over_limit and bool(reached_limits(state, asked.discussion_id))
    return is_held or (asked.may_queue and is_busy(state, asked.discussion_id))


def has_other_limit(before: AppState, after: AppState, discussion_id: str) -> bool:
    """True if the person has changed a limit that a discussion is under."""
    return _limits(before, discussion_id) != _limits(after, discussion_id)


def _limits(state: AppState, discussion_id: str) -> tuple[float | None, float | None]:
    """The limits of a discussion and of a day."""
    own = paid_limit_usd(state, discussion_id)
    return own, state.config.settings.caching.day_limit_usd


def _send_first(state: AppState, given: Stamp, opened: OpenDiscussion, asked: SendQueued) -> Result:
    prompt = opened.queue[0]
    state = with_open(state, replace(opened, queue_hold="", is_held_at_limit=False))
    record = MessageRecord(
        id=prompt.id, at=given.at, role=Role.USER, parts=prompt_parts(prompt.text, prompt.attachments)
    )
    return save_then_call(state, given, asked, prompt.id, (record,), queued=prompt)


def hold(state: AppState, discussion_id: str, why: str) -> AppState:
    """From now on the queue waits for the person, also what comes into it meanwhile."""
    opened = state.discussions.open.get(discussion_id)
    return (
        state if opened is None else with_open(state, replace(opened, queue_hold=why, is_held_at_limit=False))
    )


def hold_at_limit(state: AppState, discussion_id: str, why: str) -> AppState:
    """From now on the queue waits for the person, or for the limit to be raised."""
    opened = state.discussions.open.get(discussion_id)
    return (
        state if opened is None else with_open(state, replace(opened, queue_hold=why, is_held_at_limit=True))
    )


def hold_after(state: AppState, discussion_id: str, kind: StopKind) -> AppState:
    """Hold the queue where a reply did not come whole."""
    if kind in WHOLE_REPLY:
        return state
    return hold(state, discussion_id, HOLD_OF_STOP[kind])


def gone(state: AppState, given: Stamp, event: PromptGone) -> Result:
    """A prompt went elsewhere: its call is not made, and what waits behind it goes on."""
    opened = state.discussions.open.get(event.discussion_id)
    call = find_call(state, event.call_id)
    if opened is None or call is None:
        return state, ()
    state = with_open(state, replace(opened, queue=event.queue))
    state = without_call(conclude(state, CommandOutcome(command_id=call.command_id, problem=GONE)), call)
    return go_on(state, given, opened.id)


def waiting(opened: OpenDiscussion | None, call: LiveCall | None) -> tuple[QueuedPrompt, ...]:
    """The prompts that wait: without the one that is being sent."""
    if opened is None:
        return ()
    return tuple(one for one in opened.queue if call is None or one.id != call.user_message_id)


def _held(queue: tuple[QueuedPrompt, ...], opened: OpenDiscussion) -> str:
    return opened.queue_hold if queue else ""
