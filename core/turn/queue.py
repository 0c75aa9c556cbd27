"""The queue of a discussion: what waits while a reply streams, what of it goes next, and when it waits for the person.

It goes on by itself only after a whole reply. A failure, a stop, a limit and a start of the program hold it: from then
on only the person's yes sends anything of it, after the message before it that failed and has no reply yet. A limit that the person raises is a yes to what that limit held, here and
of what they asked for otherwise and let wait for it.
"""

from __future__ import annotations

from msgspec.structs import replace

from core.base.errors import FailureKind
from core.base.stamp import Stamp
from core.base.text import clean
from core.discussion.messages import WriteDraft
from core.discussion.queue_messages import AddToQueue, PromptGone, QueueWritten, RemoveFromQueue
from core.spending.limits import paid_limit_usd, reached_limits
from core.turn.messages import RetrySend, SendPrompt, SendQueued, TakeBackQueued
from core.turn.renewal import retry
from core.turn.sending import (
    draft_after,
    find_call,
    has_words,
    prompt_parts,
    refusal_of,
    refuse,
    save_then_call,
)
from core.values.discussion import Draft, LiveCall, OpenDiscussion, QueuedPrompt
from core.values.messages import Mark, Role
from core.values.outcomes import CommandOutcome
from core.values.provider import FAILURE_MARKS, WHOLE_REPLY, StopKind
from core.values.records import MessageRecord
from core.values.spending import SpendRefusal
from core.values.state import AppState
from core.values.updates import (
    Result,
    conclude,
    dismiss,
    is_busy,
    refused_files,
    with_open,
    without_call,
)

HOLD_OF_STOP = {
    StopKind.CANCELLED: "You stopped the reply before it.",
    StopKind.TRUNCATED: "The reply before it was cut off.",
    StopKind.REFUSED: "The model declined to answer what came before it.",
    StopKind.BROKEN: "The reply before it cannot be used.",
    StopKind.UNKNOWN: "The reply before it may not be whole.",
}
GONE = "It was sent or taken back elsewhere meanwhile."


def enqueue(state: AppState, given: Stamp, asked: SendPrompt) -> Result:
    """Keep a prompt until the reply under way has ended, or a limit is raised. The composer's words stay there until it
    is on disk.
    """
    opened = state.discussions.open[asked.discussion_id]
    if not opened.queue and not is_busy(state, opened.id):  # what held an earlier one holds nothing any more
        state = with_open(state, replace(opened, queue_hold="", is_held_at_limit=False))
    prompt = QueuedPrompt(
        given.make_id(0), given.at, clean(asked.text), opened.draft.attachments, opened.kept_out
    )
    return state, (AddToQueue(opened.id, prompt, asked.command_id),)


def written(state: AppState, given: Stamp, event: QueueWritten) -> Result:
    """A queue stands on disk: show it; what came too late for the reply that it waited for goes now."""
    opened = state.discussions.open.get(event.discussion_id)
    if opened is None:
        return conclude(state, CommandOutcome(event.command_id)), ()
    opened = replace(opened, queue=event.queue)
    if event.added is None:
        return with_open(state, opened), ()
    draft = draft_after(opened.draft, event.added.text, event.added.attachments)
    state = dismiss(state, refused_files(opened.id))
    kept_out = tuple(one for one in opened.kept_out if one not in event.added.kept_out)
    state = with_open(state, replace(opened, draft=draft, kept_out=kept_out))
    state = conclude(state, CommandOutcome(event.command_id, event.added.id))
    state, effects = go_on(state, given, opened.id)
    return state, (WriteDraft(opened.id, draft), *effects)


def take_back(state: AppState, asked: TakeBackQueued) -> Result:
    """Put a waiting prompt back into the composer, in front of what stands there."""
    opened = state.discussions.open.get(asked.discussion_id)
    call = state.turns.calls.get(asked.discussion_id)
    prompt = next((p for p in waiting(opened, call) if p.id == asked.prompt_id), None)
    if opened is None or prompt is None:
        return conclude(state, CommandOutcome(asked.command_id, problem="It does not wait any more.")), ()
    text = "\n".join(filter(None, (prompt.text, opened.draft.text)))
    parts = dict.fromkeys((*prompt.attachments, *opened.draft.attachments))
    draft = Draft(text, tuple(parts))
    rest = tuple(one for one in opened.queue if one.id != prompt.id)
    kept_out = tuple(dict.fromkeys((*opened.kept_out, *prompt.kept_out)))
    hold = _held(rest, opened)
    state = with_open(state, replace(opened, draft=draft, queue=rest, queue_hold=hold, kept_out=kept_out))
    state = conclude(state, CommandOutcome(asked.command_id, prompt.id))
    # The draft twice: first with the queue's change, then as the newest one, which makes needless all before it.
    return state, (RemoveFromQueue(opened.id, prompt.id, draft), WriteDraft(opened.id, draft))


def send_now(state: AppState, given: Stamp, asked: SendQueued) -> Result:
    """The person lets a held queue go: its first goes now, or when the reply under way has ended.

    A message before it that failed is asked for again first, and the queue follows its reply: an answer to what waits
    would leave that one without any, and stand on words that were never answered.
    """
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None or not opened.queue:
        return conclude(
            state, CommandOutcome(asked.command_id, problem="Nothing waits in this discussion.")
        ), ()
    if is_busy(state, opened.id):
        state = with_open(state, replace(opened, queue_hold="", is_held_at_limit=False))
        return conclude(state, CommandOutcome(asked.command_id, opened.queue[0].id)), ()
    reached = () if asked.over_limit else reached_limits(state, opened.id)
    if reached and asked.awaits_limit:
        state = hold_at_limit(state, opened.id, refusal_of(asked, reached).sentence)
        return conclude(state, CommandOutcome(asked.command_id, opened.queue[0].id)), ()
    if reached:
        return refuse(state, asked, refusal_of(asked, reached))
    if failed_prompt_id(opened):
        state = with_open(state, replace(opened, queue_hold="", is_held_at_limit=False))
        return retry(state, given, RetrySend(opened.id, asked.over_limit, asked.command_id))
    return _send_first(state, given, opened, asked)


def failed_prompt_id(opened: OpenDiscussion) -> str:
    """Id of the person's last message where its call failed and nothing has come since; empty otherwise.

    Asked of the log, so that it is known after a restart; a message that another program has under way is none.
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
            state, discussion_id, SpendRefusal(reached, SendQueued(discussion_id)).sentence
        ), ()
    return _send_first(state, given, opened, SendQueued(discussion_id))


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
    record = MessageRecord(prompt.id, given.at, Role.USER, prompt_parts(prompt.text, prompt.attachments))
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
    state = without_call(conclude(state, CommandOutcome(call.command_id, problem=GONE)), opened.id)
    return go_on(state, given, opened.id)


def waiting(opened: OpenDiscussion | None, call: LiveCall | None) -> tuple[QueuedPrompt, ...]:
    """The prompts that wait: without the one that is being sent."""
    if opened is None:
        return ()
    return tuple(one for one in opened.queue if call is None or one.id != call.user_message_id)


def _held(queue: tuple[QueuedPrompt, ...], opened: OpenDiscussion) -> str:
    return opened.queue_hold if queue else ""
