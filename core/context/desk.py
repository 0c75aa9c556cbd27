"""Desk of one discussion between assemblies: its last stack and request, and how a running turn began."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from core.context.memo import StackMemo
from core.context.report import GrownReport
from core.context.stack import AggregateStack
from core.context.token_scale import RequestCount, RequestCounter
from core.values.provider import ProviderRequest
from core.values.spec import CallToBuild
from core.values.stack import StackInputs


class BegunTurn(msgspec.Struct, frozen=True):
    """The first request of a turn: all inputs but what was said, by the message of the person."""

    message_id: str
    inputs: StackInputs


@dataclass(slots=True)
class AssemblyDesk:
    """Desk of one discussion between assemblies."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    memo: StackMemo = field(default_factory=StackMemo)
    turns: GrownReport = field(default_factory=GrownReport)
    sent: AggregateStack | None = None
    sent_inputs: StackInputs | None = None
    request: ProviderRequest | None = None
    counter: RequestCounter = field(default_factory=RequestCounter)
    count: RequestCount = field(default_factory=lambda: RequestCount(0))
    factor: float = 1.0
    begun: BegunTurn | None = None


def turn_inputs(call: CallToBuild, begun: BegunTurn | None) -> StackInputs | None:
    """Inputs of a further request of a running turn, None for one that begins a turn, or that another model answers.

    While a turn is running, all but what was said is as it was when it began, also what the turn itself changed: vendors
    bind reasoning to every byte before it, and each request begins with the whole one before it.
    """
    now = call.spec.inputs
    is_round = not now.user_text.strip() and not now.attachments
    if not is_round or begun is None or begun.message_id != call.user_message_id:
        return None
    was = begun.inputs
    if (was.provider, was.model, was.epoch) != (now.provider, now.model, now.epoch):
        return None
    return replace(was, turns=now.turns, kept_retrieved=now.kept_retrieved)


def begun_turn(call: CallToBuild, inputs: StackInputs) -> BegunTurn:
    """A turn as it began. `inputs`: those of its first request, files included."""
    return BegunTurn(call.user_message_id, replace(inputs, turns=(), user_text="", attachments=()))
