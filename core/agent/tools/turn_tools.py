"""`todo`: the list of what is to be done, as the person sees it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.agent.tool import Described, Judged, Tool, ToolAnswer, ToolDesk, arguments_of, schema_of
from core.kernel.figures import count
from core.kernel.frame import flat, one_line
from core.kernel.values.agent import ActKind, TodoItem, TodoState
from core.kernel.values.discussion import HAND_OVER

MAX_ITEMS, MAX_ITEM_CHARS = 50, 300
_TITLE = "Set the todo list"


class TodoRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry as a model gives it."""

    text: Annotated[str, Described(min_length=1, max_length=MAX_ITEM_CHARS)]
    state: Annotated[TodoState, Described(description="open, active or done.")] = TodoState.OPEN


class SetTodo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `todo`."""

    items: Annotated[list[TodoRow], Described(description="The whole list, in order.", max_length=MAX_ITEMS)]


def _judge(arguments_json: str, _desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.OWN, _TITLE, arguments_json, SetTodo)
    return asked if isinstance(asked, Judged) else Judged(kind=ActKind.OWN, title=_TITLE, plan=asked)


def items_of(arguments_json: str) -> tuple[TodoItem, ...]:
    """The list that a call of `todo` set; empty if its arguments are invalid. Never raises."""
    asked = arguments_of(ActKind.OWN, _TITLE, arguments_json, SetTodo)
    return () if isinstance(asked, Judged) else _items(asked)


def _items(asked: SetTodo) -> tuple[TodoItem, ...]:
    return tuple(TodoItem(flat(row.text), row.state) for row in asked.items)


def _run(judged: Judged, _desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    asked: SetTodo = judged.plan
    items = _items(asked)
    open_items = sum(item.state is not TodoState.DONE for item in items)
    return ToolAnswer(
        text=f"The list has {count(len(items), 'entry', 'entries')}, {open_items} not done.", todo=items
    )


TODO = Tool(
    schema=schema_of(
        "todo",
        "Keeps the list of steps of a longer task, which the person sees. Give the whole list each time.",
        SetTodo,
    ),
    kind=ActKind.OWN,
    judge=_judge,
    run=_run,
    keeps_order=True,  # the last list counts
)


# `yield_to_user`: the model hands over to the person.

_YIELD_TO_USER_TITLE = "Hand over to you"


class YieldToUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `yield_to_user`."""

    why: Annotated[str, Described(description="What is done, or what you wait for.", max_length=2_000)] = ""
    until_person: Annotated[
        bool, Described(description="In autonomous mode: rest until the person comes, whatever else happens.")
    ] = False


def _yield_to_user_judge(arguments_json: str, _desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.OWN, _YIELD_TO_USER_TITLE, arguments_json, YieldToUser)
    return (
        asked
        if isinstance(asked, Judged)
        else Judged(kind=ActKind.OWN, title=_YIELD_TO_USER_TITLE, detail=one_line(asked.why, 2_000))
    )


def _yield_to_user_run(_judged: Judged, _desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    return ToolAnswer(text="It is the person's turn.", is_yield=True)


YIELD_TO_USER = Tool(
    schema=schema_of(HAND_OVER, "Ends your turn and hands over to the person.", YieldToUser),
    kind=ActKind.OWN,
    judge=_yield_to_user_judge,
    run=_yield_to_user_run,
)
