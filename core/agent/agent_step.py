"""The agent's part of the step: turns with tools from reply to reply, and what a log tells of calls that are past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from core.agent import agent_pages, calls, delegation, rounds
from core.agent.agent_messages import (
    ApproveCall,
    CallDone,
    CallJudged,
    CallPutOff,
    CallTail,
    ChangesFound,
    CommandEnded,
    FilesRestored,
    FindChanges,
    KillCommands,
    LookForSandbox,
    RefuseCall,
    RestoreFiles,
    SandboxFound,
    SetTools,
    StopCalls,
    UndoTurn,
)
from core.agent.agent_pages import (
    MOST_ACTIVITY,
    call_of_turn,
    page_of,
    with_page,
    with_tool_call,
    with_turn,
    without_turn,
)
from core.agent.calls import SHOWN_CHARS
from core.agent.leaked_calls import is_leaked
from core.agent.tools.turn_tools import items_of
from core.kernel.codecs import from_json
from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import joined, tr
from core.kernel.structures import without
from core.kernel.values.agent import ActKind, AgentPage, AgentTurn, CallState, FileChange, TodoItem, ToolCall
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import CallEnd, Message, Role, ToolCallPart, ToolResultPart
from core.kernel.values.records import MessageRecord
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import Handlers, Result, conclude, follow, notify, on, on_stamped
from core.services.spending.limits import call_key, payments_of, settle_later
from core.signals import signals_step as signals
from core.talk.discussion.discussion_messages import (
    RecordsAppended,
    ReplyToken,
    ResultToken,
    StartToken,
    WriteFailed,
)
from core.talk.discussion.lifecycle import change_meta
from core.talk.discussion.open_calls import goes_on

# The page of a discussion as its log tells it: what its tools did before it was opened. Pure.

ENDED_WITH_PROGRAM = tr("The command ended before Manual Slop closed, or when Manual Slop closed.")


KINDS: Mapping[str, ActKind] = MappingProxyType(
    {
        "bash": ActKind.COMMAND,
        "write_file": ActKind.EDIT,
        "edit_file": ActKind.EDIT,
        "web_fetch": ActKind.NETWORK,
        **dict.fromkeys(("read_file", "grep", "glob", "view_image"), ActKind.READ),
    }
)
"""Kinds of calls by their tools, as far as they do more than in our own files. A call is judged by its tool; the log names it."""


class _BackgroundFlag(msgspec.Struct, frozen=True):
    """The argument of `bash` that tells a command behind its result."""

    background: bool = False


def with_past(page: AgentPage, opened: OpenDiscussion, *, is_at_work: bool) -> AgentPage:
    """A page with what the log tells beside it; of a call that both know the page's word counts, it knows more. O(messages).

    Args:
        is_at_work: a turn runs, and may be ahead of the log.
    """
    told = tuple(_calls(opened))
    known = {call.id: call for call in page.activity}
    ids = {call.id for call in told}
    activity = (*(known.get(one.id, one) for one in told), *(c for c in page.activity if c.id not in ids))
    todo, usd = page.todo, page.usd
    if not is_at_work:
        todo, usd = _todo(told), _last_turn_usd(opened.messages)
    return replace(page, activity=activity[-MOST_ACTIVITY:], todo=todo, usd=usd)


def with_found(page: AgentPage, found: Iterable[FileChange], messages: Sequence[Message]) -> AgentPage:
    """A page with changes that the disk tells, in the order of their turns; those that it has already stay as they are."""
    known = {(one.path, one.turn_id) for one in page.changes}
    places = {message.id: place for place, message in enumerate(messages)}
    new = (one for one in found if (one.path, one.turn_id) not in known)
    changes = sorted((*new, *page.changes), key=lambda one: places.get(one.turn_id, len(places)))
    return replace(page, changes=tuple(changes))


def _calls(opened: OpenDiscussion) -> Iterator[ToolCall]:
    """Calls that have a result, oldest first: the newest call of its id before each."""
    newest: dict[str, ToolCallPart] = {}
    for message in opened.messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                newest[part.call_id] = part
            elif isinstance(part, ToolResultPart) and (call := newest.pop(part.call_id, None)) is not None:
                yield _call(opened, message, call, part)


def _call(opened: OpenDiscussion, message: Message, call: ToolCallPart, result: ToolResultPart) -> ToolCall:
    end = result.end(message.status)
    text = result.text[:SHOWN_CHARS]
    is_background = end is CallEnd.DONE and call.name == "bash" and _is_background(call.arguments_json)
    return ToolCall(
        id=call.call_id,
        name=call.name,
        arguments_json=call.arguments_json,
        state=CallState(end),
        kind=_kind(call.name),
        is_recovered=is_leaked(call.call_id),
        started_at=opened.starts.get(call.call_id),
        ended_at=message.at,
        result=f"{text}\n{ENDED_WITH_PROGRAM}" if is_background else text,
        attachments=result.attachments,
        is_background=is_background,
        is_kept=True,
    )


def _kind(name: str) -> ActKind:
    """Kind of a call by its tool's name: one of a server holds `__`, and no other does."""
    return ActKind.SERVER if "__" in name else KINDS.get(name, ActKind.OWN)


def _is_background(arguments_json: str) -> bool:
    try:
        return from_json(arguments_json, _BackgroundFlag).background
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False


def _todo(calls: Sequence[ToolCall]) -> tuple[TodoItem, ...]:
    """The list as the model set it last."""
    last = next((one for one in reversed(calls) if (one.name, one.state) == ("todo", CallState.DONE)), None)
    return () if last is None else items_of(last.arguments_json)


def _last_turn_usd(messages: Sequence[Message]) -> float:
    """Cost of the last turn, in USD."""
    usd = 0.0
    for message in reversed(messages):
        if message.role is Role.USER:
            break
        usd += (message.usage.cost_usd or 0.0) if message.usage is not None else 0.0
    return usd


# The agent's part of the step: turns with tools, from the reply that asks for them to the reply that does
# not.

ANSWER_WITHIN = timedelta(seconds=300)
"""Time that a question has where nobody sits in front of a window."""

REFUSED = "The person said no."
UNANSWERED = "Refused: nobody answered within 300 seconds."
NOT_ASKED = tr("This question is no longer open.")


def _set_tools(state: AppState, given: Stamp, asked: SetTools) -> Result:
    fields = {"has_tools": asked.has_tools, "mode": asked.mode}
    state, effects = change_meta(state, asked.discussion_id, **fields)
    state = agent_pages.chosen(state, asked.discussion_id, asked.mode)
    for one in (asked.discussion_id, *delegation.children_at_work(state, asked.discussion_id)):
        own = Stamp(given.at, f"{given.seed}/mode/{one}")
        state, more = calls.reconsidered(state, own, one)
        effects = (*effects, *more)
    return state, (*effects, *_looked(state, asked.discussion_id))


def _refuse_call(state: AppState, given: Stamp, asked: RefuseCall) -> Result:
    turn, call = _asked(state, asked.discussion_id, asked.call_id)
    if turn is None or call is None:
        return conclude(state, CommandOutcome(command_id=asked.command_id, problem=NOT_ASKED)), ()
    return calls.refused(state, given, turn, call, _with_words(REFUSED, asked.words))


def _undo_turn(state: AppState, asked: UndoTurn) -> Result:
    page = page_of(state, asked.discussion_id)
    changes = tuple(c for c in page.changes if c.turn_id == asked.turn_id and not c.is_undone)
    if not changes:
        tasks = delegation.edits_of_tasks(state, asked.discussion_id, asked.turn_id)
        problem = tr(
            "Nothing to undo: no changes of this turn are known, or you undid them. {tasks}", tasks=tasks
        ).strip()
        return conclude(state, CommandOutcome(command_id=asked.command_id, problem=problem)), ()
    return state, (
        RestoreFiles(
            discussion_id=asked.discussion_id,
            turn_id=asked.turn_id,
            changes=changes,
            places=calls.places_of(state),
            command_id=asked.command_id,
        ),
    )


def _sandbox_found(state: AppState, happened: SandboxFound) -> Result:
    return replace(state, agent=replace(state.agent, sandbox=happened.sandbox)), ()


def saved(state: AppState, given: Stamp, happened: RecordsAppended) -> Result:
    """Take in what is on disk: a reply with calls, the start of a call, results."""
    match happened.token:
        case ReplyToken(call_id):
            state, effects = rounds.replied(state, given, happened)
            if goes_on(happened.token, happened.records):  # the disk worker ends the reserve of any other
                state = settle_later(state, call_key(call_id), payments_of(happened.records))
            return state, effects
        case StartToken():
            return calls.started(state, given, happened.discussion_id, happened.token.call_id)
        case ResultToken():
            said = (one for one in happened.records if isinstance(one, MessageRecord))
            ids = (part.call_id for one in said for part in one.parts if isinstance(part, ToolResultPart))
            return calls.kept(state, happened.discussion_id, frozenset(ids)), ()
        case _:
            return state, ()


def unsaved(state: AppState, given: Stamp, happened: WriteFailed) -> Result:
    """The start of a call could not be noted: it is not run."""
    if not isinstance(happened.token, StartToken):
        return state, ()
    return calls.unstarted(state, given, happened.discussion_id, happened.token.call_id, happened.text)


def interrupt(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """The person stops the turn, its calls and the discussions that it gave tasks to included."""
    state, effects = rounds.interrupted(state, given, discussion_id)
    state, stopped = rounds.stopped(state, given, discussion_id)
    return state, (*effects, *stopped)


def set_aside(state: AppState, given: Stamp, turn: AgentTurn) -> Result:
    """The person sends something: what a program that ended has left is not done any more."""
    state, effects = calls.closed(state, given, turn, calls.LEFT_OUT)
    return without_turn(state, turn.discussion_id), effects


def loaded(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """A log was read: its page tells what was done before, and what was not begun when a program ended is asked again."""
    state, found = opened(state, discussion_id)
    state, asks = agent_pages.restarted(state, discussion_id)
    state, effects = rounds.left(state, given, discussion_id)
    return state, (*found, *asks, *effects, *_looked(state, discussion_id))


def opened(state: AppState, discussion_id: str) -> Result:
    """A discussion is there to be seen: what its tools did stands on its page."""
    discussion = state.discussions.open.get(discussion_id)
    if discussion is None or not any(
        message.is_of_tools for message in discussion.entries if isinstance(message, Message)
    ):
        return state, ()
    is_at_work = discussion_id in state.agent.turns or discussion_id in state.turns.calls
    page = with_past(page_of(state, discussion_id), discussion, is_at_work=is_at_work)
    state = signals.judged_again(with_page(state, discussion_id, page))
    found = (FindChanges(discussion_id),) if discussion.starts else ()
    return state, found


def branched(state: AppState, discussion_id: str) -> Result:
    """A new discussion is there, a branch of another perhaps."""
    return opened(agent_pages.branched(state, discussion_id), discussion_id)


def _looked(state: AppState, discussion_id: str) -> tuple[LookForSandbox, ...]:
    """Find out how commands are confined before the first of them is asked about: a window says so from then on."""
    summary = state.discussions.summaries.get(discussion_id)
    if (
        summary is None
        or not summary.meta.has_tools
        or state.agent.is_headless
        or state.agent.sandbox.is_known
    ):
        return ()
    return (LookForSandbox(),)


def followed(state: AppState, given: Stamp) -> Result:
    """Judge what waited for settings, and ask the model again where all results are on disk, or end the turn."""
    if not state.agent.turns:
        return state, ()
    state, judged = calls.judge_held(state, given)
    state, effects = rounds.went_on(state, given)
    state, told = rounds.followed(state, given)
    return state, (*judged, *effects, *told)


def moved(before: AppState, after: AppState, given: Stamp) -> Result:
    """Settings were read: what was granted in another folder, or in one that is trusted no more, counts no more; what a
    program that ended has left is judged by where it would act now; what is asked is judged by the policies that hold now.
    """
    old, new = before.config.project, after.config.project
    is_first = not before.config.settings_paths
    if not is_first and old.root == new.root and old.is_trusted == new.is_trusted:
        return _repoliced(after, given) if old.policies != new.policies else (after, ())
    for discussion_id, page in after.agent.pages.items():
        if page.grants:
            after = with_page(after, discussion_id, replace(page, grants=()))
    has_lost = old.root != new.root or (old.is_trusted and not new.is_trusted)
    after, effects = agent_pages.moved(after) if has_lost else (after, ())
    after, asked = _repoliced(after, given)
    effects = (*effects, *asked)
    for discussion_id, opened in after.discussions.open.items():
        if opened.left_calls:
            own = Stamp(given.at, f"{given.seed}/left/{discussion_id}")
            after, asked = rounds.left(after, own, discussion_id)
            effects = (*effects, *asked)
    return after, effects


def _repoliced(state: AppState, given: Stamp) -> Result:
    """Judge every question anew: it may need no yes any more, or get a no."""
    effects: tuple[Any, ...] = ()
    for discussion_id in tuple(state.agent.turns):
        own = Stamp(given.at, f"{given.seed}/policies/{discussion_id}")
        state, asked = calls.reconsidered(state, own, discussion_id)
        effects = (*effects, *asked)
    return state, effects


def gone(state: AppState, discussion_id: str) -> Result:
    """A discussion went to the trash: nobody could see or end its commands any more."""
    pages = without(state.agent.pages, discussion_id)
    state = replace(state, agent=replace(state.agent, pages=pages))
    return state, (StopCalls(discussion_id=discussion_id, kills=True),)


def tick(state: AppState, given: Stamp) -> Result:
    """Refuse questions that waited too long where nobody sits in front of a window."""
    effects: tuple[Any, ...] = ()
    if not state.agent.is_headless:
        return state, effects
    for discussion_id in tuple(state.agent.turns):
        for old in state.agent.turns[discussion_id].calls:
            turn, call = _asked(state, discussion_id, old.id)
            asked_at = call.approval.asked_at if call is not None and call.approval is not None else None
            if turn is None or call is None or asked_at is None or given.at - asked_at < ANSWER_WITHIN:
                continue
            state, more = calls.refused(state, given, turn, call, UNANSWERED, by_person=False)
            effects = (*effects, *more)
    return state, effects


def _asked(
    state: AppState, discussion_id: str, call_id: str
) -> tuple[AgentTurn, ToolCall] | tuple[None, None]:
    """The turn and the call that is asked about now."""
    turn = state.agent.turns.get(discussion_id)
    call = call_of_turn(turn, call_id)
    if turn is None or call is None or call.state is not CallState.ASKING:
        return None, None
    return turn, call


def _approve(state: AppState, given: Stamp, asked: ApproveCall) -> Result:
    """A yes counts for exactly what is asked now."""
    turn, call = _asked(state, asked.discussion_id, asked.call_id)
    if turn is None or call is None or call.approval is None or call.approval.id != asked.approval_id:
        return conclude(state, CommandOutcome(command_id=asked.command_id, problem=NOT_ASKED)), ()
    if asked.hunks is not None and not asked.hunks:
        return calls.refused(
            state, given, turn, call, _with_words(f"{REFUSED} None of the changes was taken.", asked.words)
        )
    if (task := delegation.unpriced_task(state, turn.discussion_id, call)) is not None:
        return rounds.paid(state, given, turn, call, task)
    grant = call.approval.grant if asked.for_discussion else ""
    if grant:
        page = page_of(state, asked.discussion_id)
        if grant not in page.grants:
            state = with_page(state, asked.discussion_id, replace(page, grants=(*page.grants, grant)))
    state, effects = calls.approved(state, given, turn, call, asked.hunks, clean(asked.words).strip())
    if not grant:
        return state, effects
    state, more = calls.reconsidered(state, given, asked.discussion_id)
    return state, (*effects, *more)


def _with_words(said: str, words: str) -> str:
    """Words for the model on a no, with those of the person."""
    return f"{said} {clean(words).strip()}".strip()


def _killed(state: AppState, asked: KillCommands) -> tuple[StopCalls, ...]:
    """One command, or all of a discussion and of its tasks: who gave them away knows of no other place to end them."""
    chosen = asked.discussion_id
    if asked.call_id:
        return (StopCalls(discussion_id=chosen, call_ids=(asked.call_id,), kills=True),)
    of_tasks = (*delegation.children_at_work(state, chosen), *delegation.with_commands(state, chosen))
    return tuple(StopCalls(discussion_id=one, kills=True) for one in dict.fromkeys((chosen, *of_tasks)))


def _tail(state: AppState, happened: CallTail) -> AppState:
    turn = state.agent.turns.get(happened.discussion_id)
    call = call_of_turn(turn, happened.call_id)
    if turn is not None and call is not None and call.state is CallState.RUNNING:
        return with_turn(state, with_tool_call(turn, replace(call, tail=happened.tail)))
    return calls.wrote(state, happened)


def _found(state: AppState, happened: ChangesFound) -> AppState:
    discussion = state.discussions.open.get(happened.discussion_id)
    if discussion is None or not happened.changes:
        return state
    page = page_of(state, happened.discussion_id)
    page = with_found(page, happened.changes, discussion.messages)
    return with_page(state, happened.discussion_id, page)


def _restored(state: AppState, happened: FilesRestored) -> AppState:
    page = page_of(state, happened.discussion_id)
    changes = tuple(
        replace(one, is_undone=True)
        if one.turn_id == happened.turn_id and one.path in happened.restored
        else one
        for one in page.changes
    )
    state = with_page(state, happened.discussion_id, replace(page, changes=changes))
    state = conclude(
        state, CommandOutcome(command_id=happened.command_id, problem=joined(" ", happened.left))
    )
    count = len(happened.restored)
    if count == 1:
        text = tr("1 file is back to the state before this turn. The program does not undo commands.")
    elif count:
        text = tr(
            "{count:,} files are back to the state before this turn. The program does not undo commands.",
            count=count,
        )
    else:
        text = tr("No file is back to the state before this turn. The program does not undo commands.")
    tasks = delegation.edits_of_tasks(state, happened.discussion_id, happened.turn_id)
    level = Level.WARNING if happened.left or tasks else Level.INFO
    detail = joined(" ", filter(None, (*happened.left, tasks)))
    return notify(state, "undo", level, text, detail, discussion_id=happened.discussion_id)


HANDLERS = Handlers(
    on_stamped(SetTools, _set_tools),
    on_stamped(ApproveCall, _approve),
    on_stamped(RefuseCall, _refuse_call),
    on(KillCommands, lambda state, asked: (state, _killed(state, asked))),
    on(UndoTurn, _undo_turn),
    on_stamped(CallJudged, calls.judged),
    on_stamped(CallPutOff, calls.put_off),
    on(CallTail, lambda state, happened: (_tail(state, happened), ())),
    on_stamped(CallDone, calls.done),
    on_stamped(CommandEnded, lambda state, given, happened: (calls.ended(state, given, happened), ())),
    on(FilesRestored, lambda state, happened: (_restored(state, happened), ())),
    on(ChangesFound, lambda state, happened: (_found(state, happened), ())),
    on(SandboxFound, _sandbox_found),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = follow(
    "program config discussions turns agent",
    lambda _before, after, moment: followed(after, moment.given),
    needs="agent.turns",
)
