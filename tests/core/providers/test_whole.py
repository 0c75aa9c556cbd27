"""A reply as a whole: what is gathered from its pieces, and what passes through."""

from __future__ import annotations

import pytest

from core.base.errors import FailureKind, ProviderError
from core.providers.protocol import CancelToken
from core.providers.whole_reply import WholeReply, whole_reply
from core.values.messages import ToolCallPart
from core.values.provider import ReasoningDelta, StopKind, Stopped, TextDelta, ToolCallReady, UsageUpdate
from core.values.usage import Usage
from tests.core.providers.outcomes import ask
from tests.core.providers.script import Scripted


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

    assert reply_of(provider) == WholeReply("Hello", Usage(100, 20), StopKind.TRUNCATED)


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
