"""When a failed call is tried again. No clock: waits are recorded."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import RETRYABLE_KINDS, FailureKind, ProviderError
from core.kernel.values.messages import ToolCallPart
from core.kernel.values.provider import (
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.usage import Usage
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.providers.failures import (
    LONGEST_RETRY_AFTER_S,
    LONGEST_WAIT_S,
    MAX_RETRIES,
    retry_wait_s,
    stream_with_retry,
)
from core.services.providers.protocol import CancelToken
from tests.core.services.providers.outcomes import NO_BLOBS, Outcome, ask, outcome, server_settings
from tests.core.services.providers.script import Scripted
from tests.vendors.anthropic_server import KEY, AnthropicServer, error_event
from tests.vendors.loopback import HangUp, InsertAfter

DONE = Stopped(StopKind.COMPLETED)


def failure(kind: FailureKind = FailureKind.OVERLOADED, retry_after_s: float | None = None) -> ProviderError:
    return ProviderError(kind, "It failed", retry_after_s=retry_after_s)


@dataclass(slots=True)
class Waits:
    """What was waited for, and what was told before each wait."""

    seconds: list[float] = field(default_factory=list)
    told: list[tuple[int, float, FailureKind]] = field(default_factory=list)
    cancels_at: int = 0

    def wait(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return len(self.seconds) == self.cancels_at

    def tell(self, number: int, seconds: float, error: ProviderError) -> None:
        self.told.append((number, seconds, error.kind))


def run(provider: Scripted, waits: Waits, *, max_retries: int = MAX_RETRIES, chance: float = 0.0) -> Outcome:
    return outcome(
        stream_with_retry(
            provider,
            ask("m"),
            NO_BLOBS,
            CancelToken(),
            waits.tell,
            max_retries=max_retries,
            jitter=lambda: chance,
            wait=waits.wait,
        )
    )


def test_a_failure_before_any_content_is_tried_again_after_a_wait_that_grows() -> None:
    provider, waits = Scripted([failure()], [failure()], [TextDelta("Hi"), DONE]), Waits()
    result = run(provider, waits)

    assert result.text == "Hi"
    assert waits.seconds == [0.25, 0.5]
    assert waits.told == [(1, 0.25, FailureKind.OVERLOADED), (2, 0.5, FailureKind.OVERLOADED)]


def test_it_gives_up_after_three_retries_with_the_last_failure() -> None:
    last = failure(FailureKind.SERVER_FAULT)
    provider, waits = Scripted([failure()], [failure()], [failure()], [last]), Waits()

    assert run(provider, waits).error is last
    assert (provider.sent, len(waits.seconds)) == (4, 3)


def test_no_retries_means_one_attempt() -> None:
    provider = Scripted([failure()])

    assert run(provider, Waits(), max_retries=0).error is not None
    assert provider.sent == 1


@pytest.mark.parametrize(
    "item", [TextDelta("H"), ReasoningDelta("h"), ToolCallReady(ToolCallPart("1", "f", "{}"))]
)
def test_nothing_is_sent_again_once_a_part_of_the_reply_has_arrived(item: StreamItem) -> None:
    provider = Scripted([item, failure()])
    result = run(provider, Waits())

    assert result.items == [item]
    assert result.error is not None
    assert provider.sent == 1


def test_usage_alone_is_no_part_of_the_reply() -> None:
    provider = Scripted([UsageUpdate(Usage(input_tokens=3)), failure()], [DONE])

    assert run(provider, Waits()).error is None
    assert provider.sent == 2


@pytest.mark.parametrize("kind", sorted(set(FailureKind) - RETRYABLE_KINDS))
def test_a_failure_that_stays_is_raised_at_once(kind: FailureKind) -> None:
    provider, waits = Scripted([failure(kind)]), Waits()

    assert run(provider, waits).failure.kind is kind
    assert waits.told == []


def test_the_vendors_retry_after_is_kept_to() -> None:
    waits = Waits()
    run(Scripted([failure(FailureKind.RATE_LIMITED, 12.0)], [DONE]), waits, chance=0.5)

    assert waits.seconds == [12.25]


def test_a_wait_of_more_than_a_minute_is_not_waited_for_but_said() -> None:
    error = failure(FailureKind.RATE_LIMITED, LONGEST_RETRY_AFTER_S + 1)
    waits = Waits()

    assert run(Scripted([error]), waits).error is error
    assert waits.seconds == []


def test_a_cancel_while_waiting_ends_the_call() -> None:
    provider, waits = Scripted([failure()]), Waits(cancels_at=1)
    result = run(provider, waits)

    assert result.items == [Stopped(StopKind.CANCELLED, is_sent=False)]
    assert provider.sent == 1


def test_the_wait_is_on_the_cancel_token_unless_told_otherwise() -> None:
    cancel = CancelToken()
    provider = Scripted([failure(FailureKind.RATE_LIMITED, 59.0)])
    stream = stream_with_retry(provider, ask("m"), NO_BLOBS, cancel, lambda *_: cancel.cancel())

    assert list(stream) == [Stopped(StopKind.CANCELLED, is_sent=False)]


@given(st.integers(1, 50), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_zero_and_never_long(attempt: int, chance: float) -> None:
    wait_s = retry_wait_s(failure(), attempt, chance)

    assert wait_s is not None
    assert 0 < wait_s <= LONGEST_WAIT_S


def test_over_a_real_connection_a_third_attempt_succeeds() -> None:
    waits = Waits()
    with AnthropicServer() as server:
        server.faults.extend([HangUp(), InsertAfter(2, error_event("overloaded_error", "Overloaded"))])
        provider = AnthropicProvider(server_settings("anthropic", server.url), KEY)
        stream = stream_with_retry(
            provider, ask("claude-opus-5-5"), NO_BLOBS, CancelToken(), waits.tell, wait=waits.wait
        )
        result = outcome(stream)
        provider.close()

    assert result.text == "Hello there."
    assert [kind for _, _, kind in waits.told] == [FailureKind.NO_NETWORK, FailureKind.OVERLOADED]
    assert len(server.requests) == 3
