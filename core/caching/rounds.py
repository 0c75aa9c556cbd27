"""A request of a turn as the planner takes it, with the odds of another one in the same turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from core.caching.decision import PlannedTurn
from core.context.stack import AggregateStack
from core.context.turns import is_running
from core.values.messages import Message, Role, ToolCallPart
from core.values.provider import ModelProfile
from core.values.spec import StackSpec
from core.values.stack import LayerId

_LOOKED_AT = 200
"""Messages from the end that tell of a discussion's habits."""

_PRIOR_CALLS, _PRIOR_REPLIES = 1.0, 2.0
"""One reply of two asks for tools, until the discussion has shown its own."""


def planned_turn(
    spec: StackSpec, stack: AggregateStack, message_id: str, profile: ModelProfile
) -> PlannedTurn:
    """The request of a stack for the planner. `message_id`: of the person's message that it answers."""
    return PlannedTurn(
        stack,
        message_id,
        effort=spec.effort,
        max_output_tokens=spec.max_output_tokens,
        discussion_id=spec.discussion_id,
        next_round=next_round(spec.inputs.turns, has_tools=bool(stack.tools)),
        limit_tokens=profile.context_tokens,
        project=spec.root,
        offered=None if spec.tools is None else spec.tools.servers,
    )


def begins_turn(turn: PlannedTurn) -> bool:
    """True if a request begins a turn: it answers the person, and no results of tools. Gaps are between such."""
    stack = turn.stack
    return bool(stack.layer(LayerId.USER).pieces) or not is_running(stack.layer(LayerId.TURNS))


def next_round(turns: Sequence[Message], *, has_tools: bool) -> float:
    """Probability that a reply asks for tools, so that the turn sends another request, 0 to 1.

    Who seldom uses tools may still run one turn of forty calls: in a running turn the replies to results count alone, where
    all of them together tell of less than nothing known does.

    Args:
        turns: what was said, in order; has_tools: the request offers any, else 0.
    """
    if not has_tools:
        return 0.0
    lately = turns[-_LOOKED_AT:]
    odds = _asking(lately)
    if odds >= _PRIOR_CALLS / _PRIOR_REPLIES or lately[-1].role is not Role.TOOL:
        return odds
    return max(odds, _asking([reply for before, reply in pairwise(lately) if before.role is Role.TOOL]))


def _asking(turns: Sequence[Message]) -> float:
    replies = [message.parts for message in turns if message.role is Role.ASSISTANT]
    asking = len([parts for parts in replies if ToolCallPart in map(type, parts)])
    return (asking + _PRIOR_CALLS) / (len(replies) + _PRIOR_REPLIES)
