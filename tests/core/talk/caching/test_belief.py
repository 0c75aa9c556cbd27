"""Belief of what lives still: entries that outlive the last reply's count, also where that reply never ended."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    DiscussionCache,
    DiscussionCacheState,
    SentKnowledge,
    SentPlace,
)
from core.talk.caching.accounts import believed, held_tokens, is_warm, warm_until
from tests.core.talk.caching.requests import NOW, SCOPE, after

PLACES = (SentPlace("7", "long", 3_600, 4, "stable"), SentPlace("12", "short", 4_000, 9, "user"))
SENT = SentKnowledge(SCOPE, places=PLACES)
LONG = CacheLedgerEntry("long", 3_600, 3600, after(3600), "d")
SHORT = CacheLedgerEntry("short", 4_000, 300, after(300), "d")
TOLD = DiscussionCacheState("d", SCOPE.provider, NOW, after(300), 1, 4_000)


def _ledger(*entries: CacheLedgerEntry) -> CacheLedger:
    return CacheLedger({SCOPE: {entry.prefix_hash: entry for entry in entries}})


def _believed(
    state: DiscussionCacheState | None, at_s: float, *entries: CacheLedgerEntry
) -> DiscussionCacheState | None:
    ledger = _ledger(*entries)
    return believed(DiscussionCache(state=state, ledger=ledger, sent=SENT), ledger, "d", after(at_s))


def test_an_entry_of_an_hour_is_told_beside_the_five_minutes_of_the_last_reply() -> None:
    state = _believed(TOLD, 10, LONG, SHORT)

    assert state is not None
    assert (state.long_until, state.long_tokens) == (after(3600), 3_600)
    assert warm_until(state, after(10)) == after(3600)  # most of it lives until then
    assert [held_tokens(state, after(s)) for s in (299, 301, 3601)] == [4_000, 3_600, 0]


def test_once_the_five_minutes_are_over_the_hour_is_what_is_held() -> None:
    state = _believed(TOLD, 900, LONG, SHORT)

    assert state is not None
    assert is_warm(state, after(900))
    assert (warm_until(state, after(900)), held_tokens(state, after(900))) == (after(3600), 3_600)


def test_a_call_whose_reply_never_ended_still_left_what_it_wrote() -> None:
    state = _believed(None, 10, SHORT)

    assert state is not None
    assert (state.expires_at, state.tokens_cached) == (after(300), 4_000)


def test_what_is_not_of_the_last_request_or_dead_or_let_go_is_not_believed_in() -> None:
    other = replace(LONG, prefix_hash="another branch")
    gone = replace(TOLD, tokens_cached=0, expires_at=NOW)
    managed = replace(TOLD, expires_at=None)

    assert _believed(TOLD, 10, other, SHORT) == TOLD
    assert _believed(TOLD, 4000, LONG, SHORT) == TOLD
    assert _believed(gone, 10, LONG) == gone
    assert _believed(managed, 10, LONG) == managed


def test_where_little_lives_longer_the_end_of_the_rest_is_told_until_that_has_come() -> None:
    state = replace(TOLD, long_until=after(3600), long_tokens=900)

    assert [warm_until(state, after(s)) for s in (10, 400)] == [after(300), after(3600)]


def test_what_was_cached_after_now_is_not_believed_since_the_clock_was_set_back() -> None:
    """A state of next year, from before the clock was right, was told as warm for a year, with the price of losing it."""
    hour = replace(TOLD, expires_at=after(3600))
    assert is_warm(hour, after(0))
    assert is_warm(hour, after(-5)), "a provider's clock may be a little ahead of ours"
    assert not is_warm(hour, after(-3600))
    assert not is_warm(hour, after(-366 * 86_400))
    assert is_warm(replace(hour, expires_at=None), after(-3600)), "the provider decides"
