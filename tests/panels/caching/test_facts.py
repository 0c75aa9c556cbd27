"""What is said of caches, in words and figures."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.kernel.structures import with_entry
from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
from core.kernel.values.state import AppState, ProviderTotals
from core.kernel.values.usage import Usage
from core.talk.caching.accounts import hit_percent, provider_sentence
from core.talk.caching.warmth import is_of_model
from panels.base.view import Memo
from panels.caching import spending
from tests.panels import states
from tests.panels.caching import cache_states
from tests.panels.caching.cache_states import cached
from tests.state_fields import with_fields


def _line(state: AppState, provider: str) -> str:
    return spending.provider_line(state, Memo(), provider)


def test_a_providers_summary_reads_as_the_specification_says() -> None:
    assert _line(cache_states.caching(), "anthropic") == "[Anthropic] in:340 cache:80 hit:23% ttl:4:32"


def test_what_a_server_does_not_report_is_not_reported_and_never_zero() -> None:
    assert _line(cache_states.caching(), "gemini") == (
        "[Gemini] in:18.4k cache:not reported hit:not reported ttl:n/a"
    )


def test_a_provider_that_holds_something_and_was_not_called_says_that_nothing_was_sent() -> None:
    assert _line(cache_states.caching(), "openai") == "[OpenAI] in:0 cache:0 hit:n/a ttl:n/a"


def test_a_provider_s_summary_is_said_as_a_sentence() -> None:
    state = cache_states.caching()

    assert [provider_sentence(state, name) for name in ("anthropic", "openai", "gemini")] == [
        "Anthropic: 80 of 340 tokens from the cache",
        "OpenAI: no message sent yet",
        "Gemini: 18,400 tokens sent; the provider does not report cache hits",
    ]


def test_the_lifetime_shown_is_that_of_the_selected_discussion_then_of_the_one_that_lives_longest() -> None:
    longer = cached("d4", "anthropic", expires_at=states.NOW + timedelta(hours=1, seconds=5))
    state = cache_states.caching()
    state = replace(
        state, caching=replace(state.caching, caches=with_entry(state.caching.caches, "d4", longer))
    )

    assert _line(state, "anthropic").endswith("ttl:4:32")
    assert _line(
        replace(state, discussions=replace(state.discussions, selected_id="d2")), "anthropic"
    ).endswith("ttl:1:00:05")


def test_a_part_that_lives_longer_is_told_beside_the_next_end_and_then_alone() -> None:
    two = cached(
        "d1",
        "anthropic",
        tokens_cached=82_100,
        long_until=states.NOW + timedelta(hours=1),
        long_tokens=60_000,
    )
    state = cache_states.caching(caches={"d1": two})

    both = spending.look_of(state, "d1")
    late = spending.look_of(with_fields(state, now=states.NOW + timedelta(minutes=30)), "d1")

    assert "(in 1:00:00); 22.1k tokens until " in both.ttl_text
    assert both.words.startswith("Expires in 1 hour, at ")
    assert "; 22.1k of 82.1k tokens in 4 minutes, at " in both.words
    assert late.words.startswith("Expires in 30 minutes, at ")
    assert (both.standing.tokens, late.standing.tokens, late.is_warm, late.ttl_s) == (
        82_100,
        60_000,
        True,
        1800.0,
    )
    assert late.ttl_text.endswith("(in 30:00)")


@pytest.mark.parametrize(("read", "tone"), [(0, "text"), (1, "text"), (49, "text"), (50, "ok"), (99, "ok")])
def test_a_hit_rate_is_green_from_half_on(read: int, tone: str) -> None:
    usage = Usage(input_tokens=100, cache_read_tokens=read)
    state = with_fields(cache_states.caching(), totals={"anthropic": ProviderTotals("anthropic", usage)})

    assert spending.figures(state)[0].tone == tone


def test_when_everything_has_expired_there_is_no_lifetime() -> None:
    state = cache_states.caching(now=states.NOW + timedelta(days=1))

    assert _line(state, "anthropic").endswith("ttl:none")


def test_a_server_that_keeps_prefixes_by_itself_has_no_lifetime_of_ours() -> None:
    box = ProviderStatus("box", ProviderKind.COMPATIBLE, "Box", KeySource.NOT_NEEDED)
    state = with_fields(
        states.working(), providers={"box": box}, totals={"box": ProviderTotals("box", Usage(100, 5, 50))}
    )

    assert _line(state, "box") == "[Box] in:100 cache:50 hit:50% ttl:n/a"
    assert spending.managed_text(state, "box") == "Cached by Box; TTL: server-managed"


def test_providers_stand_in_the_order_of_the_settings() -> None:
    state = cache_states.caching()

    assert spending.used_providers(state, Memo()) == ("anthropic", "openai", "gemini")
    assert spending.used_providers(states.working(), Memo()) == ()


def test_the_state_of_a_cache_follows_the_clock_of_the_state() -> None:
    state = cache_states.caching()

    assert spending.look_of(state, "d1").ttl_text.endswith("(in 4:32)")
    later = replace(state, now=states.NOW + timedelta(seconds=30))
    assert spending.look_of(later, "d1").ttl_text.endswith("(in 4:02)")
    gone = replace(state, now=states.NOW + timedelta(minutes=5))
    assert not spending.look_of(gone, "d1").is_warm
    assert spending.look_of(gone, "d1").ttl_text.startswith("expired: 2026-11-20T")


def test_a_discussion_whose_caching_is_off_is_not_warm() -> None:
    state = cache_states.caching(caches={"d1": cached("d1", "anthropic", caching_enabled=False)})
    look = spending.look_of(state, "d1")

    assert not look.is_warm
    assert look.ttl_text == ""  # nor has it expired: the provider still holds it
    assert spending.provider_line(state, Memo(), "anthropic").endswith("ttl:none")
    assert spending.figures(state)[2].value == "–"


def test_a_cache_that_is_off_does_not_hide_how_long_another_lives() -> None:
    off = cached("d1", "anthropic", caching_enabled=False)
    on = cached("d2", "anthropic", expires_at=states.NOW + timedelta(seconds=90))
    state = cache_states.caching(caches={"d1": off, "d2": on})

    assert spending.provider_line(state, Memo(), "anthropic").endswith("ttl:1:30")


def test_the_hit_rate_is_whole_per_cent_rounded_down_and_only_where_reported() -> None:
    assert hit_percent(Usage(340, cache_read_tokens=80)) == 23
    assert hit_percent(Usage(1_000, cache_read_tokens=999)) == 99
    assert hit_percent(Usage(340, cache_read_tokens=0)) == 0
    assert hit_percent(Usage(340)) is None
    assert hit_percent(Usage(0, cache_read_tokens=0)) is None


def test_the_three_figures_are_of_what_was_reported_alone() -> None:
    rate, saved, left = spending.figures(cache_states.caching())

    assert (rate.value, saved.value, left.value) == ("23.5 %", "$1.94", "4 min")
    assert "80 of 340 tokens" in rate.tip
    assert "leaves out requests of unknown price" in saved.tip


def test_without_totals_the_hit_rate_is_that_of_the_discussion() -> None:
    row = states.summary("d1", "X")
    row = replace(row, usage=Usage(1_000, cache_read_tokens=870))
    state = with_fields(states.working(), summaries={"d1": row})

    assert spending.figures(state)[0].value == "87 %"
    assert "in this discussion" in spending.figures(state)[0].tip


def test_figures_that_nobody_knows_are_no_zeros() -> None:
    assert [figure.value for figure in spending.figures(states.first_run())] == ["–", "–", "–"]


def test_a_loss_is_called_a_loss() -> None:
    totals = {"anthropic": ProviderTotals("anthropic", Usage(10, 1, 0), -0.25)}
    saved = spending.figures(with_fields(states.working(), totals=totals))[1]

    assert (saved.value, saved.label, saved.tone) == ("$0.25", "extra cost", "warn")
    assert saved.tip.startswith("Caching cost you $0.25 more than no caching")


def test_a_lifetime_that_the_provider_manages_has_no_figure() -> None:
    left = spending.figures(cache_states.caching(selected_id="d5"))[2]

    assert (left.value, left.tip) == (
        "no fixed end",
        "OpenAI decides how long the cache lasts\nCached by OpenAI; TTL: provider-managed",
    )


def test_the_curves_have_a_point_a_reply_and_a_gap_where_nothing_was_reported() -> None:
    rate, cost = spending.turn_series(cache_states.talk(12))

    assert rate.xs == cost.xs == tuple(float(turn) for turn in range(1, 13))
    assert rate.ys[0] == 0
    assert rate.ys[7] is None
    assert cost.ys[7] is not None
    assert (rate.unit, cost.unit) == ("%", "$")


def test_replies_without_usage_and_deleted_ones_make_no_point() -> None:
    silent = states.reply("a1", "x", usage=None)
    deleted = states.reply("a2", "x", is_deleted=True)
    told = states.reply("a3", "x")

    assert spending.turn_series((silent,)) == ()
    assert spending.turn_series((silent, deleted, told))[0].xs == (2.0,)


def test_a_price_that_is_not_known_is_a_gap_in_the_curve() -> None:
    unknown = states.reply("a1", "x", usage=Usage(100, cache_read_tokens=50))
    (_, cost) = spending.turn_series((unknown, states.reply("a2", "x")))

    assert cost.ys == (None, 0.011)


def test_what_no_reply_ever_told_has_no_curve_and_what_is_free_has_no_cost() -> None:
    free = states.reply("a1", "x", usage=Usage(100, cache_read_tokens=50, cost_usd=0.0))
    silent = states.reply("a2", "x", usage=Usage(100, cost_usd=0.2))

    assert [one.label for one in spending.turn_series((free,))] == ["hit rate"]
    assert [one.label for one in spending.turn_series((silent,))] == ["cost"]


def test_a_hit_rate_of_nothing_is_not_shown_as_good() -> None:
    totals = {"anthropic": ProviderTotals("anthropic", Usage(10, 1, 0))}

    assert spending.figures(with_fields(states.working(), totals=totals))[0].tone == "text"


def test_what_is_cached_is_of_the_model_until_another_is_chosen_or_has_replied() -> None:
    state = cache_states.caching()
    row = state.discussions.summaries["d1"]

    def with_meta(**changes: object) -> AppState:
        rows = with_entry(state.discussions.summaries, "d1", replace(row, meta=replace(row.meta, **changes)))  # type: ignore[arg-type]
        return replace(state, discussions=replace(state.discussions, summaries=rows))

    assert is_of_model(state, "d1")
    assert not is_of_model(with_meta(provider="gemini"), "d1")
    assert not is_of_model(with_meta(model="another"), "d1")
    assert not is_of_model(with_fields(state, caches={}), "d1")
    assert not is_of_model(state, "gone")
