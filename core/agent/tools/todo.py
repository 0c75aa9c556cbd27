"""`todo`: the list of what is to be done, as the person sees it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk, schema_of
from core.agent.tools.arguments import Described, arguments_of
from core.base.figures import count
from core.base.text import flat
from core.values.agent import ActKind, TodoItem, TodoState

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
    return asked if isinstance(asked, Judged) else Judged(ActKind.OWN, _TITLE, plan=asked)


def items_of(arguments_json: str) -> tuple[TodoItem, ...]:
    """The list that a call set. Total: none where its arguments are none of `todo`."""
    asked = arguments_of(ActKind.OWN, _TITLE, arguments_json, SetTodo)
    return () if isinstance(asked, Judged) else _items(asked)


def _items(asked: SetTodo) -> tuple[TodoItem, ...]:
    return tuple(TodoItem(flat(row.text), row.state) for row in asked.items)


def _run(judged: Judged, _desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    asked: SetTodo = judged.plan
    items = _items(asked)
    open_items = sum(item.state is not TodoState.DONE for item in items)
    return ToolAnswer(
        f"The list has {count(len(items), 'entry', 'entries')}, {open_items} not done.", todo=items
    )


TOOL = Tool(
    schema_of(
        "todo",
        "Keeps the list of steps of a longer task, which the person sees. Give the whole list each time.",
        SetTodo,
    ),
    ActKind.OWN,
    _judge,
    _run,
    keeps_order=True,  # the last list counts
)
