"""The page of a discussion as its log tells it: what its tools did before it was opened. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from core.agent.agent_pages import MOST_ACTIVITY
from core.agent.calls import SHOWN_CHARS
from core.agent.leaked_calls import is_leaked
from core.agent.tools.turn_tools import items_of
from core.kernel.decoders import from_json
from core.kernel.values.agent import ActKind, AgentPage, CallState, FileChange, TodoItem, ToolCall
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import CallEnd, Message, Role, ToolCallPart, ToolResultPart

ENDED_WITH_PROGRAM = "It ended with the program that started it, if not before."


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
