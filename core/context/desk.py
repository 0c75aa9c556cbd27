"""Desk of one discussion between assemblies: its last stack and request, and how a running turn began."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.base.ids import make_id
from core.context.memo import StackMemo
from core.context.report import GrownReport
from core.context.stack import AggregateStack
from core.context.token_scale import RequestCount, RequestCounter
from core.discussion.told_turns import as_told, told_turn, turn_record
from core.values.provider import ProviderRequest
from core.values.records import ViewRecord
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
    if begun is None or begun.message_id != call.user_message_id or not _goes_on(begun.inputs, now):
        return None
    begin = replace(begun.inputs, cut_id=now.cut_id)
    return replace(begin, turns=now.turns, kept_retrieved=now.kept_retrieved)


def told_inputs(call: CallToBuild, now: StackInputs) -> StackInputs:
    """Inputs of the first request that this program makes of a turn: all as it is now, but where the turn is running since
    before, as its log tells that it began. What the log's view holds is sent as it stands there.

    Args:
        now: the inputs of `call`, whole.
    """
    told = call.spec.told
    if told is None or told.message_id != call.user_message_id:
        return now
    was = as_told(told, now)
    return was if was is not None and _goes_on(was, now) else now


def told_records(call: CallToBuild, inputs: StackInputs, at: datetime) -> tuple[ViewRecord, ...]:
    """The record by which a log tells what a turn with tools began with; none where it tells that already.

    Args:
        inputs: those of the turn's first request.
    """
    before, told = call.spec.told, told_turn(call.user_message_id, inputs)
    if not inputs.tools or told == before:
        return ()
    return (turn_record(make_id(at, f"{call.request_id}/turn"), told, before, at),)


def _goes_on(was: StackInputs, now: StackInputs) -> bool:
    """True if a request answers what its turn brought so far, by the model that the turn began with."""
    is_round = not now.user_text.strip() and not now.attachments
    return is_round and (was.provider, was.model, was.epoch) == (now.provider, now.model, now.epoch)


def begun_turn(call: CallToBuild, inputs: StackInputs) -> BegunTurn:
    """A turn as it began. `inputs`: those of its first request, files included."""
    return BegunTurn(call.user_message_id, replace(inputs, turns=(), user_text="", attachments=()))
