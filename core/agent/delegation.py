"""Rules of delegation: a task for a discussion of its own, with at most its parent's tools, at its parent's expense."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from core.agent import agent_pages
from core.agent.agent_pages import asked_calls, page_of, with_page
from core.agent.tool_policy import approval_id
from core.kernel.codecs import from_json
from core.kernel.figures import count
from core.kernel.frame import clean, frame
from core.kernel.ids import Stamp
from core.kernel.language import english, tr
from core.kernel.secrets import scrubbed_line
from core.kernel.structures import with_entry
from core.kernel.values.agent import ActKind, AgentTurn, CallState, Delegation, Mode, ToolCall
from core.kernel.values.discussion import (
    NOT_INHERITED,
    DiscussionMeta,
    OpenDiscussion,
)
from core.kernel.values.messages import Mark, Role, Status, ToolCallPart
from core.kernel.values.provider import StopKind
from core.kernel.values.state import AppState
from core.kernel.values.updates import Result, is_busy
from core.kernel.values.usage import SpendRefusal
from core.talk.discussion.discussion_messages import CreateOnDisk
from core.talk.discussion.lifecycle import tasks_of

# Output of a command, kept to its head and its tail.

HEAD_BYTES, TAIL_BYTES = 10_000, 20_000
LIVE_CHARS = 4_000
"""Most of the tail that is shown while a command runs."""


class CappedOutput:
    """Bytes as they arrive: the first and the last are kept, in the middle only their number."""

    def __init__(self, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._head = b""
        self._tail = bytearray()
        self.total_bytes = 0

    def add(self, data: bytes) -> None:
        """Take more bytes, any number."""
        self.total_bytes += len(data)
        room = self._head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > 2 * self._tail_bytes:
            del self._tail[: -self._tail_bytes]

    @property
    def left_bytes(self) -> int:
        """Bytes that were left out between head and tail."""
        return self.total_bytes - len(self._head) - min(len(self._tail), self._tail_bytes)

    def text(self) -> str:
        """Head and tail as clean text, with a line between them that says how much is left out."""
        tail = bytes(self._tail[-self._tail_bytes :])
        if not self.left_bytes:
            return _decoded(self._head + tail)
        return f"{_decoded(self._head)}\n[… {count(self.left_bytes, 'byte')} left out …]\n{_decoded(tail)}"

    def live(self) -> str:
        """End of what arrived, at most `LIVE_CHARS`."""
        end = bytes(self._tail[-4 * LIVE_CHARS :])
        if len(end) < 4 * LIVE_CHARS and not self.left_bytes:
            end = (self._head + end)[-4 * LIVE_CHARS :]
        return _decoded(end)[-LIVE_CHARS:]


def _decoded(data: bytes) -> str:
    return clean(data.decode("utf-8", "replace"))


NAME = "delegate"
MOST_AT_ONCE, MOST_IN_TURN = 4, 16
MAX_RESULT_BYTES = 8_192
"""Bytes of a result with its frame, at most."""
_HEAD_BYTES, _TAIL_BYTES = 6_000, 1_600
MAX_TASK_CHARS, MAX_FILES, MAX_PATH_CHARS = 20_000, 50, 1_000
NAME_CHARS = 48

PROMPT = "delegate.md"

PARENTS_OWN = frozenset({NAME, "yield_to_user", "journal"})
"""Tools that a delegated discussion goes without: it answers its parent, and the journal is the parent's."""

DEEP = "Not done: a discussion that was given a task gives none away. Do it yourself."
NOT_YOURS = "Not done: this tool is not there for a discussion that was given a task."
TOO_MANY = f"Not done: a turn may give away {MOST_IN_TURN} tasks. Do the rest yourself, or tell the person."
STOPPED = "interrupted: the person stopped the turn."
ENDED = "interrupted: the program ended."
STOPPED_THERE = "The person stopped it in its own discussion."
SILENT = "It ended without a word."
NOT_DONE = "It stopped before it was done: its last words stand below."
GONE = "Its discussion is not there any more."


class DelegateTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `delegate`."""

    task: Annotated[
        str,
        msgspec.Meta(
            description="All that must be known for it: nothing of this conversation is seen there.",
            min_length=1,
            max_length=MAX_TASK_CHARS,
        ),
    ]
    files: Annotated[
        list[Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_PATH_CHARS)]],
        msgspec.Meta(description="Paths to begin with.", max_length=MAX_FILES),
    ] = []
    may_write: Annotated[
        bool, msgspec.Meta(description="It may ask the person for edits and commands; else it only reads.")
    ] = False


def may_write(call: ToolCall) -> bool:
    """True for a call whose task may come to edits and commands."""
    if call.name != NAME:
        return False
    asked = task_of(call.arguments_json)
    return asked is not None and asked.may_write


def task_of(arguments_json: str) -> DelegateTask | None:
    """The task as the model gave it, None where the arguments do not fit."""
    try:
        return from_json(arguments_json, DelegateTask)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def refusal(state: AppState, turn: AgentTurn, name: str) -> str:
    """Reason why a turn must not call a tool, empty if it may. Models also call tools that nobody offered."""
    if name in PARENTS_OWN and state.discussions.summaries[turn.discussion_id].meta.delegated_by:
        return DEEP if name == NAME else NOT_YOURS
    return TOO_MANY if name == NAME and turn.delegated >= MOST_IN_TURN else ""


def is_full(at_work: tuple[ToolCall, ...]) -> bool:
    """True while as many tasks as may are at work beside each other."""
    return sum(call.name == NAME and call.state is CallState.RUNNING for call in at_work) >= MOST_AT_ONCE


def children_at_work(state: AppState, parent_id: str) -> tuple[str, ...]:
    """Discussions that work on a task of this one now."""
    return tuple(one.child_id for one in state.agent.delegations.values() if one.parent_id == parent_id)


def with_commands(state: AppState, discussion_id: str) -> tuple[str, ...]:
    """Discussions in which a command runs, in the background too: this one, and those of its tasks, over or not."""
    rows, pages_known = state.discussions.summaries, state.agent.pages
    others = (one for one in pages_known if one != discussion_id and one in rows)
    kin = (one for one in others if rows[one].meta.delegated_by and rows[one].meta.parent_id == discussion_id)
    return tuple(one for one in (discussion_id, *kin) if _runs_command(state, one))


def _runs_command(state: AppState, discussion_id: str) -> bool:
    turn, page = state.agent.turns.get(discussion_id), state.agent.pages.get(discussion_id)
    calls = () if turn is None else turn.calls
    runs = any(one.state is CallState.RUNNING and one.kind is ActKind.COMMAND for one in calls)
    return runs or (page is not None and bool(page.commands))


def questions_of(state: AppState, discussion_id: str) -> tuple[tuple[str, ToolCall], ...]:
    """Calls that wait for a person with the discussion of each: its own first, then those of its children at work."""
    return tuple(
        (one, call)
        for one in (discussion_id, *children_at_work(state, discussion_id))
        for call in asked_calls(state, one)
        if call.approval is not None
    )


def is_at_work(state: AppState, discussion_id: str) -> bool:
    """True while a discussion does something: one in which all that is left waits for a person does not."""
    turn = state.agent.turns.get(discussion_id)
    if turn is None or discussion_id in state.turns.calls:
        return is_busy(state, discussion_id)
    left = [call for call in turn.calls if not call.state.is_over]
    children = children_at_work(state, discussion_id)
    is_waiting = any(call.state is CallState.ASKING for call in left) or any(
        asked_calls(state, one) for one in children
    )
    runs = any(call.state is CallState.RUNNING and call.name != NAME for call in left)
    works = runs or any(is_at_work(state, one) for one in children)
    return is_busy(state, discussion_id) and (works or not is_waiting)


def mode_of(state: AppState, discussion_id: str) -> Mode:
    """The mode that counts: while a parent waits that only reads, its child only reads."""
    parent = _parent_of(state, discussion_id)
    only_reads = parent and agent_pages.mode_of(state, parent) is Mode.PLAN
    return Mode.PLAN if only_reads else agent_pages.mode_of(state, discussion_id)


def has_tools(state: AppState, discussion_id: str) -> bool:
    """True if a discussion has tools, and its parent that waits for it as well."""
    asked = tuple(filter(None, (discussion_id, _parent_of(state, discussion_id))))
    rows = [state.discussions.summaries.get(one) for one in asked]
    return all(row is not None and row.meta.has_tools for row in rows)


def _parent_of(state: AppState, discussion_id: str) -> str:
    """Id of the discussion that waits for this one, empty for none."""
    at_work = state.agent.delegations.get(discussion_id)
    return at_work.parent_id if at_work is not None else ""


def with_cost(state: AppState, child_id: str, usd: float) -> AppState:
    """Add what a child's call cost to the task of its parent."""
    parent = _parent_of(state, child_id)
    if not parent:
        return state
    page = page_of(state, parent)
    return with_page(state, parent, replace(page, usd=page.usd + usd))


def begin(state: AppState, given: Stamp, turn: AgentTurn, call: ToolCall) -> Result:
    """Make the discussion of a task; what waits for it is its parent's call. No approval and no grant goes along."""
    task = task_of(call.arguments_json)
    assert task is not None, "judged before it began"
    parent = state.discussions.summaries[turn.discussion_id].meta
    meta = replace(
        parent,
        id=Stamp(given.at, f"{given.seed}/delegate/{call.id}").make_id(),
        name=scrubbed_line(task.task, NAME_CHARS),
        created_at=given.at,
        preset="",
        **NOT_INHERITED,
        parent_id=parent.id,
        branch_message_id="",
        delegated_by=call.id,
        spend_limit_usd=None,
        cache_epoch=0,
        mode=Mode.ASK if task.may_write else Mode.PLAN,
    )
    words = task_words(state.config.prompts.get(PROMPT, ""), task)
    one = Delegation(
        child_id=meta.id, parent_id=parent.id, call_id=call.id, words=words, is_stopping=turn.is_stopping
    )
    return with_delegation(state, one), (CreateOnDisk(meta, creation_id(meta.id)),)


def creation_id(child_id: str) -> str:
    """Id under which the making of a child is waited for."""
    return f"delegate/{child_id}"


def with_delegation(state: AppState, one: Delegation) -> AppState:
    """Replace a delegation at work."""
    delegations = with_entry(state.agent.delegations, one.child_id, one)
    return replace(state, agent=replace(state.agent, delegations=delegations))


def task_words(prompt: str, task: DelegateTask) -> str:
    """First message of a child: ours, then the task of the parent's model between tags."""
    files = "\n".join(f"- {path}" for path in map(clean, task.files))
    named = f"\nFiles to begin with:\n{files}\n" if files else ""
    ours = f"{prompt.strip()}\n\n" if prompt.strip() else ""
    return ours + frame("task", clean(task.task)) + named


_PAID_ONCE = tr("A yes covers the next request of this task only, whatever the cost.")


def priced_question(one: Delegation, call: ToolCall, refusal: SpendRefusal, given: Stamp) -> ToolCall:
    """The parent's call, which asks the person whether its task may send a request whose price nobody knows."""
    assert call.approval is not None, "judged before it began"
    asked = approval_id(NAME, call.arguments_json, one.child_id, "", given.make_id(0), refusal.sentence)
    reasons = (refusal.sentence, _PAID_ONCE)
    approval = replace(call.approval, id=asked, reasons=reasons, grant="", asked_at=given.at)
    return replace(call, state=CallState.ASKING, approval=approval)


def unpriced_task(state: AppState, parent_id: str, call: ToolCall) -> Delegation | None:
    """The task whose next request a call asks about; None where it asks about something else, or nothing."""
    tasks = (one for one in state.agent.delegations.values() if one.parent_id == parent_id)
    return next((one for one in tasks if one.call_id == call.id and one.unpriced is not None), None)


def left_task(state: AppState, parent_id: str, call: ToolCall) -> str:
    """Result of a task whose next request got no yes, for the parent's model; empty for any other call."""
    one = unpriced_task(state, parent_id, call)
    return "" if one is None else f"\n{result_of(one, state.discussions.open.get(one.child_id)).text}"


class TaskResult(msgspec.Struct, frozen=True):
    """Result of a task, for the parent's model."""

    text: str
    is_error: bool = False
    is_interrupted: bool = False


def tasks_of_turn(state: AppState, discussion_id: str, turn_id: str) -> tuple[DiscussionMeta, ...]:
    """Tasks that a turn gave to other discussions. `turn_id`: the message that began the turn."""
    opened = state.discussions.open.get(discussion_id)
    given: set[str] = set()
    is_its = False
    for message in opened.messages if opened is not None else ():
        if message.role is Role.USER:
            is_its = message.id == turn_id
        elif is_its:
            given.update(part.call_id for part in message.parts if isinstance(part, ToolCallPart))
    return tuple(meta for meta in tasks_of(state, discussion_id) if meta.delegated_by in given)


def edits_of_tasks(state: AppState, discussion_id: str, turn_id: str) -> str:
    """Say which tasks of a turn changed files, or may have: an undo of the turn leaves those. Empty for none."""
    told: list[str] = []
    for meta in tasks_of_turn(state, discussion_id, turn_id):
        page = state.agent.pages.get(meta.id)
        paths = {one.path for one in page.changes if not one.is_undone} if page is not None else set()
        if paths:
            told.append(
                tr(
                    "“{name}” changed {paths}",
                    name=meta.name,
                    paths=count(len(paths), tr("file"), tr("files")),
                )
            )
        elif meta.id not in state.discussions.open and meta.mode is not Mode.PLAN:
            told.append(tr("“{name}” may have changed files", name=meta.name))
    return (
        tr("Undo the edits of tasks in the tasks' own discussions: {tasks}.", tasks=", ".join(told))
        if told
        else ""
    )


def result_of(one: Delegation, opened: OpenDiscussion | None) -> TaskResult:
    """Tell what came of a task: the last words there, as data; at most `MAX_RESULT_BYTES`. `opened`: None: it was never made."""
    said = _last_words(opened)
    why = STOPPED if one.is_stopping else _why_unfinished(opened, one.unpriced)
    if not why and not said:
        why = SILENT
    framed = framed_result(one.child_id, said) if said else ""
    text = "\n".join(filter(None, (why, framed)))
    return TaskResult(text=text, is_error=bool(why), is_interrupted=one.is_stopping)


def _why_unfinished(opened: OpenDiscussion | None, unpriced: SpendRefusal | None) -> str:
    """Reason for which a task has no whole answer, in a sentence; empty where it has."""
    if opened is None:
        return GONE
    if unpriced is not None:
        return f"It was not let go on: {english(unpriced.sentence)}"
    if opened.failure is not None:
        return f"It failed: {opened.failure.what.removesuffix('.')}."
    if opened.refusal is not None:
        return f"It was not let go on: {opened.refusal.sentence}"
    last = opened.messages[-1] if opened.messages else None
    if last is not None and last.role is Role.ASSISTANT and last.status is Status.COMPLETE:
        return ""
    marks = {entry.kind for entry in opened.entries if isinstance(entry, Mark)}
    if StopKind.CANCELLED.value in marks:
        return STOPPED_THERE
    return NOT_DONE


def framed_result(child_id: str, said: str) -> str:
    """Words of a child as data, cut in the middle where they are long."""
    kept = CappedOutput(_HEAD_BYTES, _TAIL_BYTES)
    kept.add(said.encode("utf-8", "replace"))
    return frame("delegated", kept.text(), discussion=child_id)


def _last_words(opened: OpenDiscussion | None) -> str:
    """Text of the last reply behind the last message that was sent, empty where there is none."""
    for message in reversed(opened.messages if opened is not None else ()):
        if message.role is Role.USER:
            return ""
        if message.role is Role.ASSISTANT and message.text.strip():
            return message.text.strip()
    return ""
