"""A reply as a whole: what is gathered from its pieces, and what passes through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.messages import ToolCallPart
from core.kernel.values.provider import (
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.usage import Usage
from core.services.providers.batches import AnswerKind, BatchAnswer, sound_answers
from core.services.providers.http import CallSpent, WholeReply, whole_reply
from core.services.providers.protocol import CancelToken, ReadBlob
from tests.core.services.providers.outcomes import ask
from tests.core.services.providers.script import Scripted


def reply_of(provider: Scripted) -> WholeReply:
    return whole_reply(provider, ask("m"), CancelToken())


def test_the_texts_are_joined_and_the_last_usage_counts() -> None:
    provider = Scripted(
        [
            ReasoningDelta("hm"),
            UsageUpdate(Usage(100, 1)),
            TextDelta("Hel"),
            TextDelta("lo"),
            ToolCallReady(ToolCallPart("1", "f", "{}")),
            UsageUpdate(Usage(100, 20)),
            Stopped(StopKind.TRUNCATED),
        ]
    )

    told = "The reply was cut off at the output limit"
    assert reply_of(provider) == WholeReply("Hello", Usage(100, 20), StopKind.TRUNCATED, told)


def test_usage_that_was_not_reported_is_empty() -> None:
    assert reply_of(Scripted([Stopped(StopKind.COMPLETED)])) == WholeReply("", Usage(), StopKind.COMPLETED)


def test_a_failure_before_the_reply_is_waited_out_until_the_call_is_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    provider = Scripted([ProviderError(FailureKind.OVERLOADED, "Busy")])

    assert whole_reply(provider, ask("m"), cancel) == WholeReply("", Usage(), StopKind.CANCELLED)
    assert provider.sent == 1


def test_a_failure_in_the_reply_is_raised() -> None:
    dropped = ProviderError(FailureKind.STREAM_DROPPED, "It broke off")

    with pytest.raises(ProviderError) as caught:
        reply_of(Scripted([TextDelta("Ye"), dropped]))
    assert caught.value is dropped


class Endless(Scripted):
    """A model that never ends, whatever it writes: text, reasoning, arguments of calls."""

    def __init__(self, piece: StreamItem) -> None:
        super().__init__([])
        self.given, self.is_closed = 0, False
        self._piece = piece

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        del request, read_blob, cancel
        try:
            while self.given < 300:
                self.given += 1
                yield self._piece
        finally:
            self.is_closed = True


@pytest.mark.parametrize(
    "piece",
    [TextDelta("x" * 10), ReasoningDelta("x" * 10), ToolCallReady(ToolCallPart("1", "f", "x" * 10))],
    ids=["text", "reasoning", "tool call"],
)
def test_a_reply_that_never_ends_is_no_reply_and_its_call_is_given_up_and_booked(piece: StreamItem) -> None:
    spent: list[CallSpent] = []
    provider = Endless(piece)

    with pytest.raises(ProviderError, match="longer than 100 characters") as failed:
        whole_reply(provider, ask("m"), CancelToken(), spent.append, most_chars=100)

    assert failed.value.kind is FailureKind.BAD_REPLY
    assert (provider.given, provider.is_closed) == (11, True)
    (booked,) = spent
    assert (booked.is_billed, booked.is_whole, sum(map(len, booked.texts))) == (True, False, 110)


def test_an_answer_of_a_batch_that_is_too_long_is_none_and_is_booked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.services.providers.batches.MOST_REPLY_CHARS", 10)
    usage = Usage(5, 7)

    long, short = sound_answers(
        [
            BatchAnswer("t-1", AnswerKind.ANSWERED, "x" * 11, usage),
            BatchAnswer("t-2", AnswerKind.ANSWERED, "x" * 10, usage),
        ]
    )

    assert (long.kind, long.text, long.usage) == (AnswerKind.ERRORED, "", usage)
    assert long.reason == "The reply is longer than 10 characters"
    assert (short.kind, short.text) == (AnswerKind.ANSWERED, "x" * 10)
