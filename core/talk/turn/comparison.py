"""One message to several models at once: each reply is a version, what fails is said, the others stay.

The words go to disk with the first call; the others begin behind them, each with a journal and a reserve of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import tr
from core.kernel.values.discussion import (
    ComparedModel,
    ComparedReply,
    Comparison,
    LiveCall,
    OpenDiscussion,
)
from core.kernel.values.messages import Role, Status
from core.kernel.values.records import MessageRecord
from core.kernel.values.state import AppState
from core.kernel.values.updates import Result, decline, is_busy, with_open
from core.kernel.values.usage import ReachedLimit
from core.services.spending.limits import reached_limits
from core.talk.discussion.discussion_messages import ChooseVersion
from core.talk.discussion.durability import choose_version
from core.talk.discussion.lifecycle import unknown_model
from core.talk.turn import prompt_queue
from core.talk.turn.prompt_queue import asked_turn, in_version, prompt_of
from core.talk.turn.sending import find_call, ignore, prompt_parts, refusal_of, refuse, save_then_call
from core.talk.turn.turn_messages import CompareReplies

LEAST, MOST = 2, 4
TOOLS = tr("Discussions with tools allow no comparison: each model would change the same files.")
TOOLS_REMEDY = tr("Turn the tools off in this discussion, or compare in another discussion")
NOT_ASKED = tr("You stopped before the program asked this model.")
STOPPED = tr("You stopped this reply.")


def compare(state: AppState, given: Stamp, asked: CompareReplies) -> Result:
    """Put a message to the first of the models; the others follow as soon as it is on disk."""
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None:
        return ignore(state, asked, tr("The discussion is not open."))
    text = clean(asked.text)
    prompt_id = "" if text.strip() else prompt_of(opened.entries, asked.message_id)
    if not (text.strip() or prompt_id):
        return ignore(state, asked, tr("There is no message whose replies you can compare."))
    if is_busy(state, opened.id):
        return ignore(state, asked, tr("A reply is under way in this discussion."))
    if asked.is_again:
        return _compare_again(state, given, asked)
    standing = () if text.strip() else _standing(opened, prompt_id)
    if problem := problem_of(state, opened.id, asked.models, len(standing)):
        return decline(state, asked.command_id, f"compare/{opened.id}", *problem), ()
    if not asked.over_limit and (reached := _reached(state, opened.id, asked.models)):
        return refuse(state, asked, refusal_of(asked, reached))
    columns = (*standing, *(ComparedReply(asked=model) for model in asked.models))
    comparison = Comparison(prompt_id=prompt_id, replies=columns, over_limit=asked.over_limit)
    state = with_open(state, replace(opened, comparison=comparison))
    if not text.strip():
        return _begun(_ask_first(state, given, asked, prompt_id), opened.id)
    record = MessageRecord(
        id=given.make_id(0), at=given.at, role=Role.USER, parts=prompt_parts(text, opened.draft.attachments)
    )
    state = _with(state, opened.id, replace(comparison, prompt_id=record.id))
    begun = save_then_call(state, given, asked, record.id, (record,), compared=asked.models[0])
    return _begun(begun, opened.id)


def _compare_again(state: AppState, given: Stamp, asked: CompareReplies) -> Result:
    """Ask the models of failed columns once more, for the message that was compared last."""
    opened = state.discussions.open[asked.discussion_id]
    before = opened.comparison
    turn = None if before is None else asked_turn(opened, before.prompt_id)
    if before is None or turn is None or not turn.is_last:
        return ignore(state, asked, tr("The discussion went on: compare models on its last message."))
    columns = tuple(
        ComparedReply(asked=one.asked) if one.problem and one.asked in asked.models else one
        for one in before.replies
    )
    models = tuple(one.asked for one in columns if not one.is_over)
    if not models:
        return ignore(state, asked, tr("Every column has its reply."))
    if problem := problem_of(state, opened.id, models, len(columns) - len(models)):
        return decline(state, asked.command_id, f"compare/{opened.id}", *problem), ()
    if not asked.over_limit and (reached := _reached(state, opened.id, models)):
        return refuse(state, asked, refusal_of(asked, reached))
    reply = turn.reply
    again = replace(
        before,
        replies=columns,
        over_limit=asked.over_limit,
        chosen_id=reply.id if reply is not None and reply.status is Status.COMPLETE else "",
    )
    state = _with(state, opened.id, again)
    state, effects = _begun(_ask(state, given, asked, before.prompt_id, models[0]), opened.id)
    if state.discussions.open[opened.id].comparison is None:  # refused: what was said stays
        state = _with(state, opened.id, before)
    return state, effects


def _begun(asked: Result, discussion_id: str) -> Result:
    """Note in the first column that waits which call asks for it; a refused comparison counts as no comparison."""
    state, effects = asked
    call, comparison = state.turns.calls.get(discussion_id), state.discussions.open[discussion_id].comparison
    if comparison is None:
        return state, effects
    if call is None:
        opened = state.discussions.open[discussion_id]
        return with_open(state, replace(opened, comparison=None)), effects
    return _with_next(state, discussion_id, call_id=call.id), effects


def _with_next(state: AppState, discussion_id: str, **changes: Any) -> AppState:
    """Change the first column that waits to be asked for."""
    comparison = state.discussions.open[discussion_id].comparison
    assert comparison is not None
    at = next((n for n, one in enumerate(comparison.replies) if not (one.call_id or one.is_over)), None)
    if at is None:
        return state
    changed = replace(comparison.replies[at], **changes)
    replies = (*comparison.replies[:at], changed, *comparison.replies[at + 1 :])
    return _with(state, discussion_id, replace(comparison, replies=replies))


def problem_of(
    state: AppState, discussion_id: str, models: tuple[ComparedModel, ...], standing: int = 0
) -> tuple[str, str] | None:
    """Reason why these models cannot be compared, with what to do; None where they can.

    Args:
        standing: replies that are there already, and are columns, too.
    """
    meta = state.discussions.summaries[discussion_id].meta
    if meta.has_tools:
        return TOOLS, TOOLS_REMEDY
    if not models or not LEAST <= len(models) + standing <= MOST:
        return tr("You can compare {LEAST} to {MOST} replies.", LEAST=LEAST, MOST=MOST), tr(
            "Choose more or fewer models."
        )
    if len(set(models)) != len(models):
        return tr("You chose the same model twice."), tr(
            "Choose each model once, or once with and once without memory."
        )
    for one in models:
        if problem := unknown_model(state, one.provider, one.model):
            return problem
        status = state.config.providers.get(one.provider)
        if status is None or not status.is_ready:
            return (
                tr(
                    "{provider} is not ready, so the program cannot ask {model!r}.",
                    provider=one.provider,
                    model=one.model,
                ),
                tr("Enter the provider's key in Settings."),
            )
    return None


def _standing(opened: OpenDiscussion, prompt_id: str) -> tuple[ComparedReply, ...]:
    """The reply that stands already, as a column: the chosen version."""
    turn = asked_turn(opened, prompt_id)
    reply = turn.reply if turn is not None and turn.is_last else None
    if reply is None or reply.is_deleted:
        return ()
    model = ComparedModel(provider=reply.provider, model=reply.model)
    return (ComparedReply(asked=model, reply_id=reply.id, is_over=True),)


def _reached(
    state: AppState, discussion_id: str, models: tuple[ComparedModel, ...]
) -> tuple[ReachedLimit, ...]:
    """The first limits that stand against any of the models, those that cannot hold among them."""
    found = (reached_limits(state, discussion_id, model=(one.provider, one.model)) for one in models)
    return next(filter(None, found), ())


def _ask_first(state: AppState, given: Stamp, asked: CompareReplies, prompt_id: str) -> Result:
    """Ask for the first version of the reply to a message that was sent; before the last one as a version of the message."""
    opened = state.discussions.open[asked.discussion_id]
    turn = asked_turn(opened, prompt_id)
    if turn is None:
        return ignore(state, asked, tr("The message was deleted in the meantime."))
    if turn.is_last:
        return _ask(state, given, asked, prompt_id, asked.models[0])
    state, effects = in_version(state, given, asked, turn.prompt, turn.prompt.parts, compared=asked.models[0])
    call = state.turns.calls.get(opened.id)
    comparison = state.discussions.open[opened.id].comparison
    if call is not None and comparison is not None:
        state = _with(state, opened.id, replace(comparison, prompt_id=call.user_message_id))
    return state, effects


def _ask(
    state: AppState, given: Stamp, asked: CompareReplies, prompt_id: str, model: ComparedModel
) -> Result:
    turn = asked_turn(state.discussions.open[asked.discussion_id], prompt_id)
    if turn is None:
        return ignore(state, asked, tr("The message was deleted in the meantime."))
    reply = turn.reply
    version_of = "" if reply is None else reply.version_of or reply.id
    return save_then_call(state, given, asked, prompt_id, (), version_of=version_of, compared=model)


def ask_others(state: AppState, given: Stamp, first: LiveCall) -> Result:
    """The message is on disk: ask the other models, too. What cannot be asked for is said in its column."""
    opened = state.discussions.open[first.discussion_id]
    if opened.comparison is None:
        return state, ()
    if find_call(state, first.id) is None:  # stopped while its message went to disk
        over = opened.comparison.with_column(first.id, problem=STOPPED, is_over=True)
        state = _with(state, opened.id, over)
    effects: tuple[Any, ...] = ()
    for number, one in enumerate(opened.comparison.replies):
        if one.call_id or one.is_over or state.program.is_closing:
            continue
        own = Stamp(given.at, f"{given.seed}/{number}")
        state, more = _ask_beside(state, own, first, one.asked)
        effects = (*effects, *more)
    return end(state, opened.id), effects


def _ask_beside(state: AppState, given: Stamp, first: LiveCall, model: ComparedModel) -> Result:
    opened = state.discussions.open[first.discussion_id]
    comparison = opened.comparison
    assert comparison is not None
    asked = CompareReplies(discussion_id=opened.id, models=(model,), over_limit=comparison.over_limit)
    known = {call.id for call in state.turns.calls.values()}
    state, effects = save_then_call(
        state,
        given,
        asked,
        first.user_message_id,
        (),
        version_of=first.version_of or first.reply_id,
        compared=model,
        is_beside=True,
    )
    call = next((one for one in state.turns.calls.values() if one.id not in known), None)
    if call is not None:
        return _with_next(state, opened.id, call_id=call.id), effects
    refusal = state.discussions.open[opened.id].refusal
    why = NOT_ASKED if refusal is None else refusal.sentence
    return _with_next(state, opened.id, problem=why, is_over=True), effects


def version_for(state: AppState, call: LiveCall) -> tuple[AppState, str]:
    """The reply that the one of a compared call becomes a version of, empty for none: the one that comes first."""
    opened = state.discussions.open[call.discussion_id]
    comparison = opened.comparison
    if comparison is None:
        return state, call.version_of
    if call.version_of and opened.message_anywhere(call.version_of) is not None:
        return state, call.version_of
    if comparison.first_id:
        return state, comparison.first_id
    return _with(state, opened.id, replace(comparison, first_id=call.reply_id)), ""


def go_on(state: AppState, given: Stamp, call: LiveCall) -> Result:
    """A compared reply is over and on disk. Behind the last of them the first whole one is chosen, and the queue goes on."""
    opened = state.discussions.open[call.discussion_id]
    comparison = opened.comparison
    if comparison is None:
        return prompt_queue.go_on(state, given, call.discussion_id)
    came = call.reply_id if opened.message_anywhere(call.reply_id) is not None else ""
    comparison = comparison.with_column(call.id, reply_id=came, is_over=True)
    state = _with(state, opened.id, comparison)
    if is_busy(state, opened.id):
        return state, ()
    state = end(state, opened.id)
    state, chosen = _choose_whole(state, given, comparison, opened.id)
    state, more = prompt_queue.go_on(state, given, opened.id)
    return state, (*chosen, *more)


def stop(state: AppState, discussion_id: str) -> AppState:
    """The person stopped: nothing more of a comparison is asked for."""
    return _with_over(state, discussion_id, lambda one: not one.call_id)


def end(state: AppState, discussion_id: str) -> AppState:
    """A comparison whose call is gone without a reply is over."""
    if discussion_id in state.turns.calls:
        return state
    return _with_over(state, discussion_id, lambda _one: True)


def _with_over(state: AppState, discussion_id: str, is_meant: Callable[[ComparedReply], bool]) -> AppState:
    """End those columns of a comparison that are not over; what was not said yet is that nobody asked."""
    opened = state.discussions.open.get(discussion_id)
    if opened is None or opened.comparison is None:
        return state
    replies = tuple(
        replace(one, problem=one.problem or NOT_ASKED, is_over=True)
        if is_meant(one) and not one.is_over
        else one
        for one in opened.comparison.replies
    )
    return _with(state, discussion_id, replace(opened.comparison, replies=replies))


def _with(state: AppState, discussion_id: str, comparison: Comparison) -> AppState:
    opened = state.discussions.open[discussion_id]
    return with_open(state, replace(opened, comparison=comparison))


def _choose_whole(state: AppState, given: Stamp, comparison: Comparison, discussion_id: str) -> Result:
    """Choose the first whole version, whichever came last, or the one that was chosen before columns were asked for again."""
    opened = state.discussions.open[discussion_id]
    ids = (comparison.chosen_id, *(one.reply_id for one in comparison.replies))
    replies = [opened.message_anywhere(one) for one in ids if one]
    shown = next((m for m in reversed(opened.messages) if m.role is Role.ASSISTANT), None)
    whole = next((m for m in replies if m is not None and m.status is Status.COMPLETE), None)
    if whole is None or shown is None or whole.id == shown.id:
        return state, ()
    chosen = ChooseVersion(discussion_id=discussion_id, message_id=whole.id)
    return choose_version(state, Stamp(given.at, f"{given.seed}/choose"), chosen)
