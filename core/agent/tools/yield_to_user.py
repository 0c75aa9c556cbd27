"""`yield_to_user`: the model hands over to the person."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk, schema_of
from core.agent.tools.arguments import Described, arguments_of
from core.base.text import one_line
from core.values.agent import ActKind
from core.values.discussion import HAND_OVER

_TITLE = "Hand over to you"


class YieldToUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `yield_to_user`."""

    why: Annotated[str, Described(description="What is done, or what you wait for.", max_length=2_000)] = ""
    until_person: Annotated[
        bool, Described(description="In autonomous mode: rest until the person comes, whatever else happens.")
    ] = False


def _judge(arguments_json: str, _desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.OWN, _TITLE, arguments_json, YieldToUser)
    return asked if isinstance(asked, Judged) else Judged(ActKind.OWN, _TITLE, one_line(asked.why, 2_000))


def _run(_judged: Judged, _desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    return ToolAnswer("It is the person's turn.", is_yield=True)


TOOL = Tool(
    schema_of(HAND_OVER, "Ends your turn and hands over to the person.", YieldToUser),
    ActKind.OWN,
    _judge,
    _run,
)
