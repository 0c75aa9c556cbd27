"""What an action would lose of a warm prefix, and the spend limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from core.values import commands as c
from core.values.mapping import with_entry
from core.values.settings import AiSettings, CachingSettings, Settings
from core.values.state import AppState
from panels.caching_warnings import Spent, fresh_token_usd, limits_reached, warm_loss
from tests.panels import cache_states, states
from tests.panels.cache_states import cached

SWITCH = c.SetModel("d1", "anthropic", "claude-haiku-4.8")


def _rewriting(state: AppState) -> AppState:
    """With changes edited in, not appended."""
    return replace(state, settings=Settings(caching=CachingSettings(appends_changes=False)))


def test_switching_the_model_loses_the_whole_prefix() -> None:
    loss = warm_loss(cache_states.caching(), SWITCH)

    assert loss is not None
    assert loss.tokens == 11_900
    assert loss.cost_usd == pytest.approx(11_900 * 0.0656 / 13_120)
    assert loss.sentence == (
        "Anthropic holds 11.9k tokens of this discussion for another 4:32. Switching the model leaves them"
        " unused: sending them again costs about $0.060."
    )


def test_the_persona_leaves_what_stands_before_it_on_the_wire() -> None:
    loss = warm_loss(cache_states.caching(), c.SetPersona("d1", "terse reviewer"))

    assert loss is not None
    assert loss.tokens == 11_900 - (60 + 0 + 180 + 1_900)


@pytest.mark.parametrize(
    "command", [c.SetEffort("d1", "high"), c.SetSystemPreset("d1", "strict"), c.SetPersona("d1", "x"), SWITCH]
)
def test_every_change_of_what_stands_early_is_said(command: c.Command) -> None:
    assert warm_loss(cache_states.caching(), command) is not None


def test_a_preset_loses_nothing_while_changes_are_appended() -> None:
    change = c.SetDiscussionPreset("d1", "docs only")
    state = cache_states.caching(caches={"d1": cached("d1", "anthropic", tokens_cached=12_000)})

    assert warm_loss(state, change) is None
    loss = warm_loss(_rewriting(state), change)
    assert loss is not None
    assert loss.tokens == 12_000 - (180 + 60 + 1_900 + 240 + 3_100)


@pytest.mark.parametrize(
    "command",
    [
        c.SetModel("d1", "anthropic", "claude-opus-4.8"),
        c.SetEffort("d1", "auto"),
        c.SetPersona("d1", ""),
        c.SetSystemPreset("d1", ""),
        c.SetDiscussionPreset("d1", "coding-strict"),
        c.RenameDiscussion("d1", "x"),
        c.SetModel("nobody", "openai", "gpt-5.6"),
        c.Quit(),
    ],
)
def test_what_changes_nothing_loses_nothing(command: c.Command) -> None:
    assert warm_loss(_rewriting(cache_states.caching()), command) is None


def test_a_cold_prefix_cannot_be_lost() -> None:
    assert warm_loss(cache_states.caching(now=states.NOW + timedelta(hours=1)), SWITCH) is None
    assert warm_loss(cache_states.caching(caches={}), SWITCH) is None


def test_a_discussion_whose_caching_is_off_has_nothing_to_lose() -> None:
    state = cache_states.caching()
    row = state.summaries["d1"]
    off = replace(row, meta=replace(row.meta, caching_enabled=False))

    assert warm_loss(replace(state, summaries=with_entry(state.summaries, "d1", off)), SWITCH) is None


def test_a_cent_is_not_worth_a_question_and_an_unknown_price_cannot_be_told() -> None:
    cheap = cached("d1", "anthropic", tokens_cached=1_999)
    assert warm_loss(cache_states.caching(caches={"d1": cheap}), SWITCH) is None
    dearer = cached("d1", "anthropic", tokens_cached=2_001)
    assert warm_loss(cache_states.caching(caches={"d1": dearer}), SWITCH) is not None
    report = replace(states.report(), cost_usd=None)
    nobody_knows = cache_states.caching(plans={}, reports={"d1": report})
    assert warm_loss(nobody_knows, SWITCH) is None


def test_without_a_plan_the_price_is_that_of_the_context_report() -> None:
    state = cache_states.caching(plans={})

    assert fresh_token_usd(state, "d1") == pytest.approx(0.031 / states.report().total_tokens_est)
    assert fresh_token_usd(replace(state, reports={}), "d1") is None


def test_a_lifetime_that_the_provider_manages_is_not_counted_down() -> None:
    state = cache_states.caching(caches={"d1": cached("d1", "anthropic", expires_at=None)})

    loss = warm_loss(state, SWITCH)

    assert loss is not None
    assert "of this discussion. Switching" in loss.sentence


# --- spend limits


def _limited(
    discussion: float | None = None, day: float | None = None, today: float | None = None
) -> AppState:
    settings = Settings(ai=AiSettings(spend_limit_usd=discussion), caching=CachingSettings(day_limit_usd=day))
    return replace(states.working(), settings=settings, spent_today_usd=today)


SEND = c.SendPrompt("d1", "x")


@pytest.mark.parametrize("command", [SEND, c.RetrySend("d1"), c.RegenerateReply("d1")])
def test_every_way_to_pay_meets_the_limit(command: c.Command) -> None:
    assert limits_reached(_limited(discussion=0.42), command) == (Spent("This discussion", 0.42, 0.42),)


def test_what_costs_nothing_meets_no_limit() -> None:
    assert limits_reached(_limited(discussion=0.01), c.SetDraft("d1", "x")) == ()
    assert limits_reached(_limited(discussion=0.01), c.SendPrompt("nobody", "x")) == ()


def test_below_a_limit_and_without_one_nothing_is_asked() -> None:
    assert limits_reached(_limited(discussion=0.43, day=2.0, today=1.99), SEND) == ()
    assert limits_reached(_limited(today=1_000.0), SEND) == ()


def test_the_days_sum_counts_beside_the_discussions() -> None:
    reached = limits_reached(_limited(discussion=0.2, day=2.0, today=2.5), SEND)

    assert [spent.line for spent in reached] == ["This discussion: $0.42 of $0.20", "Today: $2.50 of $2.00"]


def test_a_limit_of_the_discussion_wins_over_the_one_of_the_settings() -> None:
    row = states.summary("d1", "X", spend_limit_usd=1.0)

    assert limits_reached(replace(_limited(discussion=0.1), summaries={"d1": row}), SEND) == ()


def test_a_sum_that_nobody_knows_stops_nothing() -> None:
    row = states.summary("d1", "X", cost_usd=None)

    assert limits_reached(replace(_limited(discussion=0.0, day=0.0), summaries={"d1": row}), SEND) == ()
