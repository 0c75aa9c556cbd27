"""The book of caches as a playbook: values in, values out, no home, no thread, no clock. What decides money is here."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.cache import (
    Balance,
    CacheLedger,
    CacheLedgerEntry,
    CachePrices,
    CacheSettings,
    DiscussionCache,
    Talk,
    TurnGap,
)
from core.kernel.values.provider import ProviderRequest, StoredContent
from core.kernel.values.usage import UNTOLD_MISS, Usage
from core.talk.caching import cache_book as books
from core.talk.caching import content_store, pings, planned_calls
from core.talk.caching.accounts import MOST_LOST
from core.talk.caching.cache_book import CacheBook
from core.talk.caching.contents import rent_share
from core.talk.caching.planned_calls import CallWait
from core.talk.caching.view import Replayed, replay
from tests.core.talk.caching.cache_play import MARKET, B, CachePlay, cost, plan_of
from tests.core.talk.caching.requests import ANTHROPIC, NOW, SCOPE, after


def texts(request: ProviderRequest) -> str:
    return "\n".join(getattr(part, "text", "") for message in request.messages for part in message.parts)


def test_what_the_first_call_marks_the_second_reads() -> None:
    play = CachePlay()
    first, _ = play.turn("1", 0)
    second, report = play.turn("2", 60)

    assert plan_of(first).marks
    assert (plan_of(first).read_tokens, plan_of(first).write_tokens > 9000) == (0, True)
    assert plan_of(second).read_tokens >= plan_of(first).write_tokens
    assert report.state is not None
    assert (report.state.hit_count, report.miss_reason) == (1, "")


def test_while_it_is_warm_a_changed_file_is_appended_and_once_it_is_cold_all_is_rewritten() -> None:
    play = CachePlay()
    play.turn("1", 0)
    warm, _ = play.turn("2", 60, B)
    cold, _ = play.turn("3", 90_000, B)

    assert [delta.message_id for delta in warm.decision.view.deltas] == ["2"]
    assert "ALPHA one" in texts(warm.decision.request)
    assert "your message carries 1 changed file" in plan_of(warm).sentences[0]
    assert cold.decision.view.deltas == ()
    assert "ALPHA one" not in texts(cold.decision.request)
    assert "no more would be read" in plan_of(cold).sentences[0]


def test_a_person_who_switched_appending_off_gets_a_rewrite() -> None:
    play = CachePlay()
    play.market = replace(MARKET, settings=CacheSettings(appends_changes=False))
    play.turn("1", 0)
    call, _ = play.turn("2", 60, B)

    assert call.decision.view.deltas == ()


def test_the_records_of_each_call_lead_to_the_view_that_the_next_one_goes_on_from() -> None:
    play = CachePlay()
    play.turn("1", 0)
    play.turn("2", 60, B)
    call, _ = play.turn("3", 120, B)

    assert [record.kind for record in play.records["d"]] == ["base", "delta"]
    assert replay(play.records["d"]).view == call.decision.view == play.book.pages["d"].replayed.view


def test_of_two_calls_with_one_prefix_the_second_waits_and_then_reads() -> None:
    play = CachePlay("d", "e")
    one, two = play.plan("1", 0, name="d"), play.plan("2", 0, name="e")
    assert play.go("1", one) is None
    assert play.go("2", two) == CallWait("1")

    play.book = planned_calls.begun(play.book, "1")
    again = play.plan("2", 1, name="e")

    assert plan_of(two).read_tokens == 0
    assert plan_of(again).read_tokens >= 9000
    assert play.go("2", again) is None
    assert set(play.book.calls) == {"1", "2"}


def test_calls_of_another_model_do_not_wait() -> None:
    play = CachePlay("d", "e")
    assert play.go("1", play.plan("1", 0, name="d")) is None
    play.market = replace(MARKET, scope=replace(SCOPE, model="another"))
    assert play.go("2", play.plan("2", 0, name="e")) is None


def test_a_call_planned_by_an_older_ledger_is_planned_anew_unless_it_has_waited_long_enough() -> None:
    play = CachePlay("d", "e")
    early = play.plan("2", 0, name="e")
    before = play.book.ledger
    play.turn("1", 0, name="d")

    book, wait = planned_calls.admitted(play.book, "2", early, before)
    assert (wait, "2" in book.calls) == (CallWait(), False)
    book, wait = planned_calls.admitted(play.book, "2", early, None)
    assert (wait, "2" in book.calls) == (None, True)


def test_a_call_that_failed_before_its_answer_wrote_nothing_and_holds_nobody_up() -> None:
    play = CachePlay("d", "e")
    play.go("1", play.plan("1", 0, name="d"))
    play.end("1", Usage())

    assert play.book.ledger == CacheLedger()
    assert play.book.calls == {}
    assert play.go("2", play.plan("2", 1, name="e")) is None


def test_a_refused_call_leaves_what_caching_saved_as_it_was() -> None:
    def priced(provider: str, model: str, usage: Usage) -> float | None:
        return None if usage == Usage() else cost(provider, model, usage)

    play = CachePlay()
    play.turn("1", 0)
    before = play.book.totals[SCOPE.provider]
    play.go("2", play.plan("2", 30))
    play.book, report = planned_calls.ended(play.book, "2", Usage(), None, after(31), priced)
    assert report is not None
    assert report.totals == before
    assert (play.turn("3", 60)[1].totals.saved_usd or 0.0) > (before.saved_usd or 0.0)


def test_usage_that_reads_nothing_corrects_what_was_believed() -> None:
    play = CachePlay()
    first, _ = play.turn("1", 0)
    believed = set(play.book.ledger.entries[SCOPE])
    missed, report = play.turn("2", 60, read=0)

    assert plan_of(missed).hit_hash in believed
    assert plan_of(missed).hit_hash not in play.book.ledger.entries[SCOPE]
    assert report.miss_reason.startswith("Anthropic read 0 tokens")
    assert plan_of(first).write_tokens > 0


@pytest.mark.parametrize(("told", "said"), [("the tools changed", "the tools changed"), (UNTOLD_MISS, "")])
def test_where_no_hit_was_expected_only_a_reason_that_the_provider_knows_is_said(
    told: str, said: str
) -> None:
    play = CachePlay()
    play.go("1", play.plan("1", 0))
    play.book = planned_calls.begun(play.book, "1")
    usage = Usage(input_tokens=9_000, cache_read_tokens=0, cache_write_tokens=8_900, miss_reason=told)

    report = play.end("1", usage)

    assert report is not None
    assert report.miss_reason == said


def test_a_request_too_short_to_be_cached_has_missed_nothing() -> None:
    play = CachePlay()
    play.market = replace(play.market, prices=replace(play.market.prices, minimum_tokens=10_000))
    play.go("1", play.plan("1", 0))
    play.book = planned_calls.begun(play.book, "1")
    usage = Usage(
        input_tokens=9_000, cache_read_tokens=0, cache_write_tokens=0, miss_reason="the tools changed"
    )

    report = play.end("1", usage)

    assert report is not None
    assert report.miss_reason == ""


def test_usage_without_cache_figures_corrects_nothing() -> None:
    play = CachePlay()
    play.turn("1", 0)
    call = play.plan("2", 60)
    play.go("2", call)
    play.book = planned_calls.begun(play.book, "2")
    before = play.book.ledger

    report = play.end("2", Usage(input_tokens=9_000))

    assert play.book.ledger == before
    assert report is not None
    assert report.miss_reason == ""


def test_a_report_that_cannot_be_true_changes_nothing_of_what_is_held() -> None:
    play = CachePlay()
    play.turn("1", 0)
    call = play.plan("2", 60)
    assert play.go("2", call) is None
    play.book = planned_calls.begun(play.book, "2")
    before = play.book.ledger

    report = play.end("2", Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0))

    assert plan_of(call).read_tokens
    assert play.book.ledger == before
    assert report is not None
    assert report.miss_reason == ""


def test_what_was_saved_is_what_the_same_calls_would_have_cost_without() -> None:
    play = CachePlay()
    play.turn("1", 0)
    call, report = play.turn("2", 60)

    assert report.totals.saved_usd == pytest.approx(0.9 * plan_of(call).read_tokens)


def test_a_request_that_was_refused_has_no_bill_and_leaves_what_was_saved_known() -> None:
    play = CachePlay()
    _, report = play.turn("1", 0)
    saved = []
    for call_id, usage in (("2", Usage()), ("3", Usage(input_tokens=9_000))):
        assert play.go(call_id, play.plan(call_id, 90)) is None
        play.book, ended = planned_calls.ended(
            play.book, call_id, usage, None, after(91), lambda *_: None, str.title
        )
        assert ended is not None
        saved.append(ended.totals.saved_usd)
    assert saved == [report.totals.saved_usd, None], "what has a bill and no price is not known"


def test_a_call_that_nobody_knows_changes_nothing() -> None:
    play = CachePlay()
    play.turn("1", 0)
    before = play.book

    assert play.end("another", Usage(input_tokens=5)) is None
    assert play.book is before
    assert planned_calls.begun(before, "another") is before


def test_a_step_leaves_the_book_before_it_as_it_was_and_does_the_same_again() -> None:
    play = CachePlay()
    play.turn("1", 0)
    before, kept = play.book, repr(play.book)
    play.turn("2", 60, B)
    once = play.book
    play.book, play.turns["d"] = before, play.turns["d"][:2]
    play.turn("2", 60, B)

    assert repr(before) == kept
    assert play.book == once != before


def test_after_invalidate_nothing_is_counted_on() -> None:
    play = CachePlay()
    play.turn("1", 0)
    play.book = books.forgotten(play.book, "d", after(30))

    page = play.book.pages["d"]
    assert play.book.ledger.entries == {}
    assert (page.cache.epoch, page.idle) == (1, ())
    assert plan_of(play.plan("2", 60)).read_tokens == 0


def test_what_is_read_ahead_is_counted_on_and_is_sent_only_once_it_was_answered() -> None:
    play = CachePlay()
    play.book = books.prewarming(play.book, play.plan("prewarm", 0, words=""))
    assert plan_of(play.plan("1", 5)).read_tokens == 0
    assert play.book.pages["d"].cache.sent is None

    play.book = books.prewarmed(play.book, "d")
    assert plan_of(play.plan("1", 5)).read_tokens >= 9000
    assert play.book.pages["d"].cache.sent is not None


def test_what_a_provider_stores_is_all_that_is_believed_of_it_and_is_let_go_when_idle() -> None:
    """A content that the provider no longer names is gone; rent that no turn will repay is not paid on."""
    prices = replace(ANTHROPIC, provider="gemini", storage_usd=1e-6, read=0.1)
    lost = CacheLedgerEntry("old", 9_000, 3600, after(3600), "d", name="caches/old")
    gemini = replace(SCOPE, provider="gemini")
    book = books.opened(
        CacheBook(), "d", DiscussionCache(ledger=CacheLedger({gemini: {"old": lost}})), Replayed()
    )
    found = StoredContent("caches/new", SCOPE.model, "new", "d", 9_000, NOW, NOW + timedelta(days=1))

    def price(_provider: str, _model: str) -> CachePrices:
        return prices

    def chosen(_prices: CachePrices) -> CacheSettings:
        return CacheSettings()

    book, told = content_store.contents_found(book, "gemini", "key", [found], {"d": "auto"}, price, after(5))

    assert content_store.stored_names(book, "d", "gemini") == {"caches/new"}
    assert [name for name, _ in told.changed] == ["d", "d"]
    state = book.pages["d"].cache.state
    assert state is not None
    assert (state.tokens_cached, state.expires_at) == (9_000, found.expires_at)
    page = book.pages["d"]
    book = books.with_page(book, "d", replace(page, cache=replace(page.cache, last_turn_at=NOW)))
    _, tending = content_store.tended(book, (), price, chosen, after(7200))
    assert [one.names for one in tending.release] == [{"caches/new"}]
    busy = replace(book, calls={"c": CachePlay().plan("c", 0)})
    _, tending = content_store.tended(busy, (), price, chosen, after(7200))
    assert (tending.release, tending.extend) == ((), ())
    last_s = page.cache.rents[0].paid_until.timestamp() - NOW.timestamp()
    for rent_s, is_let_go in ((60.0, False), (120.0, True)):  # the rest of what may be lost goes in 100 s
        rest = 9_000 * rent_share(prices, 100.0)
        poor = replace(page.cache, last_turn_at=NOW, balance=Balance(rest - MOST_LOST * 9_000, 9_000))
        known = books.with_page(book, "d", replace(page, cache=poor))
        _, tending = content_store.tended(known, (), price, chosen, after(last_s + rent_s))
        assert bool(tending.release) is is_let_go


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(1, 200_000), st.booleans()), max_size=30), st.booleans())
def test_no_discussion_loses_more_than_the_stated_sum(
    turns: list[tuple[float, bool]], keepalive: bool
) -> None:
    """Whatever the gaps, even if the provider keeps nothing of what it was paid to write."""
    play, at_s, cost_tokens, largest = CachePlay(), 0.0, 0.0, 0
    play.market = replace(MARKET, settings=CacheSettings(keepalive=keepalive))
    for number, (gap_s, is_lost) in enumerate(turns):
        for ping in pings.due_pings(play.book, lambda _: play.market.settings, after(at_s + 3420)):
            usage = Usage(input_tokens=ping.idle.tokens, cache_read_tokens=ping.idle.tokens)
            play.book, _ = pings.pinged(play.book, ping, usage, cost)
            cost_tokens += ping.idle.tokens * ANTHROPIC.read
        at_s += gap_s
        call, _ = play.turn(f"{number}", at_s, read=0 if is_lost else None)
        found = plan_of(call)
        total = found.read_tokens + found.write_tokens + found.fresh_tokens
        lost = found.read_tokens if is_lost else 0
        long = max((write.ttl_s for write in found.writes if write.tokens > found.read_tokens), default=300)
        cost_tokens -= (found.read_tokens - lost) * (1.0 - ANTHROPIC.read)
        cost_tokens += found.write_tokens * (ANTHROPIC.write_at(long) - 1.0)
        largest = max(largest, total)
        balance = play.book.pages["d"].cache.balance
        assert balance.saved <= -cost_tokens + 1e-6
        assert -balance.saved <= MOST_LOST * largest + 1e-6


def test_after_too_many_lost_bets_nothing_more_is_paid_for_caching() -> None:
    lost = Balance(saved=-MOST_LOST * 9_500, largest_tokens=9_500)
    play = CachePlay()
    page = play.book.pages["d"]
    play.book = books.with_page(play.book, "d", replace(page, cache=replace(page.cache, balance=lost)))

    assert plan_of(play.plan("1", 0)).marks == ()
    assert plan_of(CachePlay().plan("1", 0)).marks != ()


def test_gaps_and_lengths_are_learned_by_discussion_and_by_person() -> None:
    play = CachePlay("d", "e")
    play.turn("1", 0, name="d")
    play.turn("2", 60, name="e")
    play.turn("3", 200, name="d")

    stats = books.gaps_of(play.book, "d")
    assert [gap.seconds for gap in stats.own] == [200.0]
    assert [gap.seconds for gap in stats.shared[-2:]] == [60.0, 140.0]
    assert (stats.turns, books.gaps_of(play.book, "e").turns) == (2, 1)


def test_gaps_of_a_file_from_before_they_were_the_persons_are_learned_once() -> None:
    old = DiscussionCache(gaps=(TurnGap(60.0), TurnGap(90.0)), turns=3, last_turn_at=NOW, in_habits=False)
    book = books.opened(CacheBook(), "d", old, Replayed())

    assert [gap.seconds for gap in book.habits.own] == [60.0, 90.0]
    assert book.habits.talks == {"d": Talk(3, NOW.timestamp())}
    again = books.opened(book, "d", book.pages["d"].cache, Replayed())
    assert again.habits == book.habits
