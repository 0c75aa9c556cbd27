"""Two requests held against each other: whether the second begins with all of the first, and if not, where and why. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from core.kernel.figures import estimated
from core.kernel.structures import shared_run
from core.kernel.values.cache import CachePlan
from core.kernel.values.messages import AttachmentPart, Message, ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderRequest, RequestPart
from core.kernel.values.spec import CallToBuild
from core.kernel.values.stack import LAYER_TITLES, LayerId, Segment, StackInputs, ToolSchema
from core.kernel.values.window import ContextView
from core.services.providers.blocks import TRANSIENT_KEYS
from core.talk.context.difference import first_difference

_Part = tuple[str, RequestPart | ToolSchema]
"""A part with the role of what it stands in."""

_MODEL, _EFFORT = "the model changed", "the effort or the tools changed"
_SHOWN_BY_VIEW = frozenset(
    {
        LayerId.PROJECT,
        LayerId.KNOWLEDGE,
        LayerId.FILE_SET,
        LayerId.FILE_DETAILS,
        LayerId.TURNS,
        LayerId.METADATA,
    }
)
_CHOSEN = frozenset({_MODEL, _EFFORT})
_REASONS = {
    LayerId.TOOLS: "the tools changed",
    LayerId.TURNS: "an earlier message was changed, left or came in",
    LayerId.USER: "the last message was changed or left",
    LayerId.METADATA: "what stood behind the person's words left its place",
}


class PrefixBreak(msgspec.Struct, frozen=True):
    """Place where a request stops to be what the one before it sent.

    Args:
        layer: of the first part that differs; byte_offset: of the first byte that does, from the start of the request's texts.
        reason: in words.
    """

    layer: LayerId
    byte_offset: int
    reason: str

    def __str__(self) -> str:
        return f"Layer {int(self.layer)} ({LAYER_TITLES[self.layer]}) differs at byte {self.byte_offset:,}: {self.reason}"


def first_break(before: ProviderRequest, after: ProviderRequest) -> PrefixBreak | None:
    """The first difference from the request before, None where the second extends it.

    What stands at the end of a request for one turn alone (layer 8, what was recalled) is no part of what is extended: no
    cache holds it. O(parts), texts that are the same object or have one digest are not read.
    """
    if (before.provider, before.model) != (after.provider, after.model):
        return PrefixBreak(layer=LayerId.ROLE, byte_offset=0, reason=_MODEL)
    old, new = _lasting(_parts(before)), _parts(after)
    same = next((n for n, (one, two) in enumerate(zip(old, new, strict=False)) if not _is_same(one, two)), -1)
    if same < 0 and len(old) <= len(new):
        return None
    place = min(len(old), len(new)) if same < 0 else same
    part = old[place][1]
    inside = first_difference(_text(part), _text(new[place][1])) if place < len(new) else 0
    offset = sum(len(_text(one).encode("utf-8", "surrogatepass")) for _, one in old[:place])
    return PrefixBreak(
        layer=_layer(part), byte_offset=offset + (inside or 0), reason=_reason(before, after, part)
    )


class Basis(msgspec.Struct, frozen=True):
    """Material of a request, as far as it tells why the next one may differ.

    Args:
        turns: what was said, in order; view: through which it was shown, None where nothing plans.
        message_id, text, attachments: the message that it sends behind them; the last two are empty in a round of a turn.
        recalled: what stays behind earlier messages, each with the id of its message.
    """

    turns: tuple[Message, ...] = ()
    view: ContextView | None = None
    message_id: str = ""
    text: str = ""
    attachments: tuple[AttachmentPart, ...] = ()
    recalled: tuple[tuple[str, str], ...] = ()


def basis_of(call: CallToBuild, inputs: StackInputs, view: ContextView | None) -> Basis:
    """Material of a call's request."""
    return Basis(
        turns=inputs.turns,
        view=view,
        message_id=call.user_message_id,
        text=inputs.user_text,
        attachments=inputs.attachments,
        recalled=inputs.kept_retrieved,
    )


def is_asked(found: PrefixBreak, before: Basis, after: Basis, reasons: Mapping[LayerId, str]) -> bool:
    """True if something that a person did, or a plan chose by its price, explains a break; else it is a fault of ours.

    A person changes what was said, the model, how it thinks or what stands before the talk, and is told the price before;
    a plan shows layers 6 to 10 anew, or leaves earlier thinking out. Whatever else parts a request from the one before it
    is paid for without anybody's will.

    Args:
        reasons: of differences of the inputs, by layer.
    """
    if reasons or found.layer is LayerId.USER or found.reason in _CHOSEN:
        return True
    if not _is_said_on(before, after):
        return True
    if found.layer not in _SHOWN_BY_VIEW:
        return False
    return before.view is None or after.view is None or not _goes_on(before.view, after.view)


def _is_said_on(before: Basis, after: Basis) -> bool:
    """True if all that was said stands where it stood, message by message, the one that was sent last among them."""
    count = len(before.turns)
    if (
        shared_run(before.turns, after.turns) < count
        or after.recalled[: len(before.recalled)] != before.recalled
    ):
        return False
    if not before.text and not before.attachments:
        return True
    sent = (before.message_id, before.text, before.attachments)
    if len(after.turns) == count:
        return (after.message_id, after.text, after.attachments) == sent
    said = after.turns[count]
    return (said.id, said.text, said.attachments) == sent


_UNMARKED_S = 300
"""Least time that a vendor keeps a prefix which it caches by itself."""


def warm_until(request: ProviderRequest, sent_at: datetime) -> datetime:
    """End of the time in which what a request wrote may be held, its last use aside."""
    plan = request.cache
    if plan is None or not plan.is_enabled:
        return sent_at
    lives_s = max((mark.ttl_s for mark in plan.marks), default=_UNMARKED_S)
    return sent_at + timedelta(seconds=lives_s)


def _goes_on(before: ContextView, after: ContextView) -> bool:
    """True if a view shows all that the one before it did, where it stood."""
    pairs = (
        (before.deltas, after.deltas),
        (before.tails, after.tails),
        (before.reasoned, after.reasoned),
    )
    return before.base == after.base and all(new[: len(old)] == old for old, new in pairs)


def break_text(found: PrefixBreak | None, plan: CachePlan | None) -> str:
    """A break in words, with the plan's reason and what is paid anew; empty where there is none."""
    if found is None:
        return ""
    if plan is None:
        return f"{found}."
    again = plan.write_tokens + plan.fresh_tokens
    usd = None
    if plan.cost_usd is not None and plan.read_cost_usd is not None:
        usd = plan.cost_usd - plan.read_cost_usd
    why = f" {plan.sentences[0]}" if plan.sentences else ""
    return f"{found}. About {again:,} tokens are paid anew, {estimated(usd)}.{why}"


def _reason(before: ProviderRequest, after: ProviderRequest, part: RequestPart | ToolSchema) -> str:
    if isinstance(part, ReasoningPart):
        return "earlier thinking is left out"
    layer = _layer(part)
    if before.effort is not after.effort and layer is LayerId.TOOLS:
        return _EFFORT
    return _REASONS.get(layer, f"{LAYER_TITLES[layer].lower()} changed")


def _parts(request: ProviderRequest) -> list[_Part]:
    head: list[_Part] = [("tool", tool) for tool in request.tools]
    head += [("system", segment) for segment in request.system]
    return head + [(message.role.value, part) for message in request.messages for part in message.parts]


def _lasting(parts: Sequence[_Part]) -> Sequence[_Part]:
    end = len(parts)
    while end and _is_passing(parts[end - 1][1]):
        end -= 1
    return parts[:end]


def _is_passing(part: RequestPart | ToolSchema) -> bool:
    return isinstance(part, Segment) and (part.layer is LayerId.METADATA or part.key in TRANSIENT_KEYS)


def _is_same(one: _Part, two: _Part) -> bool:
    first, second = one[1], two[1]
    if one[0] != two[0]:
        return False
    if isinstance(first, Segment) and isinstance(second, Segment):
        return first.sha256 == second.sha256
    return first is second or first == second


def _layer(part: RequestPart | ToolSchema) -> LayerId:
    match part:
        case Segment(layer=layer):
            return layer
        case ToolSchema():
            return LayerId.TOOLS
        case _:
            return LayerId.TURNS


def _text(part: RequestPart | ToolSchema) -> str:
    match part:
        case Segment(text=text):
            return text
        case ReasoningPart(text, vendor_json):
            return text + vendor_json
        case ToolCallPart(call_id, name, arguments):
            return f"{call_id}{name}{arguments}"
        case ToolResultPart(call_id, text):
            return call_id + text
        case AttachmentPart():
            return part.sha256
        case ToolSchema(name, description, parameters):
            return f"{name}{description}{parameters}"
