"""A ping that the provider refused: made once more, and no oftener."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.usage import Usage
from core.talk.caching import pings
from tests.core.talk.caching.cache_play import MARKET, PINGED, PINGING, CachePlay, cost
from tests.core.talk.caching.requests import after, habits_of


def test_a_ping_that_was_refused_is_made_once_more_while_the_entry_lives() -> None:
    """One 500 ended it: the next turn wrote all anew for twenty times as much."""
    play = CachePlay()
    play.book = replace(play.book, habits=habits_of(1200.0))
    play.market = replace(MARKET, settings=PINGING)
    play.turn("1", 0)

    def due(at_s: float) -> tuple[pings.Ping, ...]:
        return pings.due_pings(play.book, lambda _call: PINGING, after(at_s))

    (ping,) = due(290)
    lost, _ = pings.pinged(play.book, ping, Usage(), cost, has_failed=True)
    play.book, nothing = pings.pinged(play.book, ping, None, cost, has_failed=True)
    (second,) = due(292)
    assert nothing == pings.Upkept()
    assert not due(301), "it has gone cold"

    hit, _ = pings.pinged(play.book, second, replace(PINGED, cache_read_tokens=9), cost)
    play.book, _ = pings.pinged(play.book, second, None, cost, has_failed=True)
    assert not due(294), "twice is enough"
    assert not any(idle.is_retried for idle in hit.pages["d"].idle)
    play.book = lost
    assert not due(292), "what was perhaps billed is not sent again"
