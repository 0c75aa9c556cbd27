"""Desk of one discussion between assemblies: its last stack and request, and how a running turn began."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import from_json, to_json
from core.kernel.disk import write_passing
from core.kernel.errors import SlopError
from core.kernel.ids import make_id
from core.kernel.opener import read_file
from core.kernel.tokens import within_range
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.records import ViewRecord
from core.kernel.values.retrieval import Recalled, RecallQuestion
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.stack import StackInputs
from core.talk.context.difference import Basis
from core.talk.context.pieces import StackMemo
from core.talk.context.report import GrownReport
from core.talk.context.stack import AggregateStack
from core.talk.context.token_scale import RequestCount, RequestCounter, TokenScale
from core.talk.discussion.cuts import as_told, told_turn, turn_record


class BegunTurn(msgspec.Struct, frozen=True):
    """The first request of a turn: all inputs but what was said, by the message of the person."""

    message_id: str
    inputs: StackInputs


@dataclass(slots=True)
class AssemblyDesk:
    """Desk of one discussion between assemblies. `shown`: the spec and the stack of what was assembled last for the window."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    memo: StackMemo = field(default_factory=StackMemo)
    turns: GrownReport = field(default_factory=GrownReport)
    sent: AggregateStack | None = None
    sent_inputs: StackInputs | None = None
    request: ProviderRequest | None = None
    counter: RequestCounter = field(default_factory=RequestCounter)
    count: RequestCount = field(default_factory=lambda: RequestCount(tokens=0))
    factor: float = 1.0
    begun: BegunTurn | None = None
    sent_at: datetime | None = None
    basis: Basis = field(default_factory=Basis)
    held: str = ""
    shown: tuple[StackSpec, AggregateStack] | None = None

    @property
    def only_saves_time(self) -> bool:
        """True while nothing of the discussion was sent: its stack is made again from its log."""
        return self.begun is None and self.sent is None and self.request is None


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


# Recall for the messages of each discussion, kept from the look at it to its sending.

Recall = Callable[[RecallQuestion], Recalled]
"""Passages that go along with a message. It answers within a bound and never raises."""

_Asked = tuple[RecallQuestion, int]
"""A question, and how often something had been taken out of knowledge when it was asked."""


class RecallDesk:
    """Thread-safe. What is sent is what was shown: the same message gets what it got before, also one that waited.

    Args:
        recall: finds what goes along, None finds nothing.
        behind: what was recalled for earlier messages of a discussion and stays in its view.
    """

    def __init__(
        self, recall: Recall | None, behind: Callable[[str], tuple[str, ...]] = lambda _name: ()
    ) -> None:
        self._recall = recall
        self._behind = behind
        self._lock = threading.Lock()
        self._known: dict[str, dict[_Asked, Recalled]] = {}

    def with_recalled(self, spec: StackSpec) -> tuple[StackSpec, Recalled]:
        """The spec with what goes along with its message. Asked anew where the message, its limits or its knowledge
        are others, or something was taken out of knowledge.
        """
        inputs = spec.inputs
        text = inputs.user_text.strip()
        if self._recall is None or spec.recall is None or not text:
            return spec, Recalled()
        asked = (
            RecallQuestion(text=text, discussion_id=spec.discussion_id, spec=spec.recall, told=inputs.digest),
            inputs.withdrawals,
        )
        with self._lock:
            known = self._known.get(spec.discussion_id, {})
        found = known.get(asked)
        if found is None:
            behind = (*(text for _, text in inputs.kept_retrieved), *self._behind(spec.discussion_id))
            told = "\n\n".join((inputs.digest, *(turn.text for turn in inputs.turns), *behind))
            found = self._recall(replace(asked[0], told=told))
        with self._lock:
            known = self._known.get(spec.discussion_id, {})
            kept = {one: answer for one, answer in known.items() if one[0].text in spec.waiting}
            self._known[spec.discussion_id] = {**kept, asked: found}
        return replace(spec, inputs=replace(inputs, retrieved=found.text)), found

    def forget(self, discussion_id: str) -> None:
        """Drop what is kept of a discussion."""
        with self._lock:
            self._known.pop(discussion_id, None)


# `tokens.json` of a home: the scale of tokens as it was learned from bills, so that a restart estimates no
# worse.

FORMAT = 1
MOST_TALKS = 1_000
"""Discussions whose own factor is kept, those that were billed last."""

_MAX_BYTES = 1_000_000

log = logging.getLogger(__name__)

Key = TypeVar("Key")


class _ScaleFile(msgspec.Struct, frozen=True):
    """Content of the file: rows of provider, model and factor; of talks with the discussion's id before them."""

    format: int
    models: tuple[tuple[str, str, float], ...] = ()
    talks: tuple[tuple[str, str, str, float], ...] = ()
    replies: tuple[tuple[str, str, float], ...] = ()


class HomeScaleStore:
    """The file of one home. One thread at a time.

    Args:
        home: the person's data.
    """

    def __init__(self, home: Path) -> None:
        self._file = home / paths.TOKENS_FILE

    def load(self) -> TokenScale:
        """The scale as it was kept. Never fails: what cannot be read is learned anew, and that is logged."""
        try:
            kept = from_json(read_file(self._file, _MAX_BYTES), _ScaleFile)
        except FileNotFoundError:
            return TokenScale()
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            log.warning("what was learned of tokens is learned anew: %s", error)
            return TokenScale()
        if kept.format != FORMAT:
            log.warning("what was learned of tokens is learned anew: format %s", kept.format)
            return TokenScale()
        return TokenScale(
            models={(provider, model): within_range(factor) for provider, model, factor in kept.models},
            talks={(talk, provider, model): within_range(f) for talk, provider, model, f in kept.talks},
            replies={(provider, model): within_range(factor) for provider, model, factor in kept.replies},
        )

    def save(self, scale: TokenScale) -> None:
        """Replace the file; what another program learned of other models meanwhile stays. A failure is logged."""
        there = self.load()
        talks = list(_over(there.talks, scale.talks).items())[-MOST_TALKS:]
        file = _ScaleFile(
            format=FORMAT,
            models=tuple((*key, factor) for key, factor in _over(there.models, scale.models).items()),
            talks=tuple((*key, factor) for key, factor in talks),
            replies=tuple((*key, factor) for key, factor in _over(there.replies, scale.replies).items()),
        )
        try:
            write_passing(self._file, to_json(file))
        except SlopError as error:
            log.warning("what was learned of tokens was not kept: %s", error)


def _over(there: Mapping[Key, float], ours: Mapping[Key, float]) -> dict[Key, float]:
    """Both, ours last and on top."""
    return {**{key: factor for key, factor in there.items() if key not in ours}, **ours}
