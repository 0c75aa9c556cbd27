"""A server that sends without end, and nothing that belongs to a reply, is waited for as long as a silent one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import pytest

from core.base.errors import FailureKind, ProviderError
from core.providers.patience import sensible
from tests.core.providers.outcomes import ask, run, server_settings
from tests.core.providers.vendors import VENDORS, Vendor
from tests.vendors.loopback import LoopbackServer, StreamReply


def heard(events: Iterable[str], *times: float) -> Iterator[str]:
    clock = iter(times)
    return sensible(events, "known".__eq__, server_settings("p", timeout_s=60), clock=lambda: next(clock))


def test_events_pass_and_time_runs_only_while_none_is_known() -> None:
    assert list(heard(["junk", "known", "junk"], 0.0, 40.0, 50.0, 109.0)) == ["junk", "known", "junk"]


def test_nothing_known_for_the_time_out_is_a_time_out() -> None:
    events = heard(itertools.repeat("junk"), 0.0, 30.0, 61.0)

    assert next(events) == "junk"
    with pytest.raises(ProviderError, match="nothing that belongs to a reply for 60 s") as failed:
        next(events)
    assert failed.value.kind is FailureKind.TIMED_OUT


class Babble(LoopbackServer):
    """Answers with events that mean nothing, until nobody listens."""

    def answer(self, captured: object) -> StreamReply:
        return StreamReply(self._parts())

    def _parts(self) -> Iterator[bytes]:
        while True:
            yield b'event: x\ndata: {"type": "x"}\n\n'


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_endless_events_that_mean_nothing_end_at_the_time_out(vendor: Vendor) -> None:
    with Babble() as server:
        result = run(vendor.client(server, timeout_s=0.05), ask(vendor.model))

    assert result.failure.kind in {FailureKind.TIMED_OUT, FailureKind.BAD_REPLY}
    assert result.failure.what.count("did not answer in time") <= 1
    assert result.text == ""
