"""What a call is expected to cost before it is made."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CachePlan, PlannedWrite
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, Draft, OpenDiscussion
from core.kernel.values.messages import Message, Role, TextPart
from core.kernel.values.provider import ModelPrice, ProviderKind
from core.kernel.values.settings import AiSettings, Settings
from core.kernel.values.stack import ContextChange, ContextReport
from core.kernel.values.state import AppState, CachingState, ContextState, DiscussionsState
from core.kernel.values.usage import Usage
from core.services.spending.estimates import (
    believable,
    booked,
    change_usd,
    expected_input,
    next_call_usd,
    next_request,
    other_call_usd,
    sent_again_usd,
    with_lost,
)
from core.services.spending.pricing import TokenPrices
from core.talk.caching.offers import offer
from tests.core.app.playbook import START

REPORT = ContextReport((), (), 0, 10_000, None, 0.04, None, output_usd_per_token=2e-5)


def reply(*, cost: float | None, output: int | None = None, model: str = "opus") -> Message:
    usage = Usage(output_tokens=output, cost_usd=cost)
    return Message(
        "m", START, Role.ASSISTANT, (TextPart("x"),), provider="anthropic", model=model, usage=usage
    )


def state(report: ContextReport | None = None, *entries: Message, plan: CachePlan | None = None) -> AppState:
    meta = DiscussionMeta("a", "Tides", START, "anthropic", "opus")
    return AppState(
        discussions=DiscussionsState(
            summaries={"a": DiscussionSummary(meta, START)},
            open={"a": OpenDiscussion("a", entries, Draft("hi"))},
        ),
        context=ContextState(reports={} if report is None else {"a": report}),
        caching=CachingState(plans={} if plan is None else {"a": plan}),
    )


def test_an_assembled_request_is_known_and_a_reply_is_taken_to_be_of_typical_length() -> None:
    assert next_call_usd(state(REPORT), "a") == pytest.approx(0.04 + 1_000 * 2e-5)


def test_a_reply_is_taken_to_be_as_long_as_the_last_and_never_longer_than_it_may_be() -> None:
    now = state(REPORT, reply(cost=0.5, output=3_000))
    bounded = replace(
        now, config=replace(now.config, settings=Settings(ai=AiSettings(max_output_tokens=200)))
    )

    assert next_call_usd(now, "a") == pytest.approx(0.04 + 3_000 * 2e-5)
    assert next_call_usd(bounded, "a") == pytest.approx(0.04 + 200 * 2e-5)


def test_what_a_cache_saves_is_not_reserved() -> None:
    now = state(replace(REPORT, output_usd_per_token=0.0), plan=CachePlan(cost_usd=0.01))

    assert next_call_usd(now, "a") == pytest.approx(0.01)


WARM = CachePlan(read_tokens=8_000, write_tokens=2_000, cost_usd=0.013, read_cost_usd=0.003)


@pytest.mark.parametrize(
    ("plan", "rewritten", "cost"),
    [
        (WARM, 2_000, 0.01),
        (WARM, 1_000, 0.005),
        (WARM, 9_000, 0.01),
        (CachePlan(write_tokens=10_000, cost_usd=0.05), 2_000, 0.01),
        (None, 2_000, 0.008),
    ],
    ids=["all that no cache holds", "a part of it", "more than it", "a cold cache", "no plan"],
)
def test_what_is_new_costs_its_part_of_the_one_estimate(
    plan: CachePlan | None, rewritten: int, cost: float
) -> None:
    change = ContextChange(None, None, 10_000 - rewritten, rewritten)
    now = state(replace(REPORT, change=change), plan=plan)
    request = next_request(now, "a")

    assert change_usd(now, "a") == pytest.approx(cost)
    assert request is not None
    assert request.cost_usd is not None
    assert cost <= request.cost_usd, "a part is never dearer than the whole"


def test_what_is_new_has_no_price_where_the_whole_has_none() -> None:
    change = ContextChange(None, None, 0, 5)

    assert change_usd(state(replace(REPORT, cost_usd=None, change=change)), "a") is None
    assert change_usd(state(REPORT), "a") is None


def test_words_that_were_never_in_the_draft_are_added() -> None:
    now = state(replace(REPORT, output_usd_per_token=0.0))

    assert next_call_usd(now, "a", "hi") == pytest.approx(0.04)
    assert next_call_usd(now, "a", "x" * 40_002) == pytest.approx(0.08)


def test_without_an_assembled_request_the_last_call_says_what_to_expect() -> None:
    assert next_call_usd(state(None, reply(cost=0.1), reply(cost=0.26)), "a") == 0.26


def test_a_new_discussion_is_expected_to_cost_what_the_last_call_of_its_model_did() -> None:
    other = DiscussionSummary(DiscussionMeta("b", "Moon", START, "anthropic", "opus"), START)
    now = state()
    now = replace(
        now,
        discussions=replace(
            now.discussions,
            summaries={**now.discussions.summaries, "b": other},
            open={
                **now.discussions.open,
                "b": OpenDiscussion("b", (reply(cost=0.2), reply(cost=9.0, model="haiku"))),
            },
        ),
    )

    assert next_call_usd(now, "a") == 0.2


def test_what_nobody_knows_the_price_of_is_unknown_and_not_nothing() -> None:
    unknown = replace(REPORT, cost_usd=None, output_usd_per_token=None)

    assert next_call_usd(state(unknown, reply(cost=None)), "a") is None
    assert next_call_usd(state(), "a") is None
    assert next_call_usd(AppState(), "nobody") is None
    assert next_call_usd(state(None, reply(cost=0.0)), "a") == 0.0, "a model that is free is known to be"


def priced(now: AppState) -> AppState:
    prices = {("openai", "gpt"): ModelPrice(input_usd=10.0, output_usd=20.0)}
    return replace(now, config=replace(now.config, prices=prices))


def test_another_model_is_sent_all_of_the_request_and_not_the_words_alone() -> None:
    usd = other_call_usd(priced(state(REPORT)), "a", "openai", "gpt", "x" * 4_002)

    assert usd == pytest.approx((11_000 * 10 + 1_000 * 20) / 1e6)


def test_before_anything_is_assembled_the_last_bill_says_what_another_model_is_sent() -> None:
    last = replace(
        reply(cost=0.1), usage=Usage(input_tokens=30_000, cache_read_tokens=29_000, output_tokens=500)
    )
    later = Message("u", START, Role.USER, (TextPart("y" * 400),))
    usd = other_call_usd(priced(state(None, last, later)), "a", "openai", "gpt", "x" * 4_000)

    assert usd == pytest.approx((31_600 * 10 + 500 * 20) / 1e6)


def test_a_request_of_unknown_size_has_no_price_however_short_its_words() -> None:
    assert other_call_usd(priced(state()), "a", "openai", "gpt", "hi") is None
    assert other_call_usd(priced(state(None, reply(cost=0.1))), "a", "openai", "gpt", "hi") is None
    assert other_call_usd(state(REPORT), "a", "openai", "gpt") is None


SENT = Usage(input_tokens=1_000, cache_read_tokens=600, cache_write_tokens=300, cache_write_5m_tokens=300)


def per_token(usage: Usage) -> float | None:
    """A cent a token, so that sums are easily followed."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    return ((usage.input_tokens or 0) + (usage.output_tokens or 0)) / 100


def test_what_a_provider_says_of_a_whole_reply_is_booked_as_it_is() -> None:
    told = Usage(input_tokens=900, output_tokens=50)
    assert booked(told, SENT, 70, per_token, is_whole=True) == replace(told, cost_usd=9.5)
    assert booked(Usage(cost_usd=0.3), SENT, 70, per_token, is_whole=True) == Usage(cost_usd=0.3)


def test_a_cost_that_its_provider_guesses_is_ours_where_we_know_the_price_and_marked_where_we_do_not() -> (
    None
):
    """Claude Code books a model that it does not know at the price of another: 1.7 times what was billed."""
    told = Usage(input_tokens=900, output_tokens=70, cost_usd=99.0, is_estimate=True)

    assert booked(told, SENT, 70, per_token, is_whole=True) == Usage(900, 70, cost_usd=9.7)
    assert booked(told, SENT, 70, lambda _: None, is_whole=True) == told
    silent = booked(replace(told, output_tokens=None), SENT, 70, per_token, is_whole=True)
    assert (silent.output_tokens, silent.cost_usd, silent.is_estimate) == (70, 9.7, True)


def test_of_a_reply_that_was_cut_what_is_missing_is_estimated_and_marked() -> None:
    silent = booked(Usage(), SENT, 70, per_token, is_whole=False)
    assert silent == replace(SENT, output_tokens=70, cost_usd=10.7, is_estimate=True)

    begun = booked(Usage(input_tokens=900, output_tokens=1), SENT, 70, per_token, is_whole=False)
    assert begun == Usage(900, 70, cost_usd=9.7, is_estimate=True)

    far = booked(Usage(input_tokens=900, output_tokens=90), SENT, 70, per_token, is_whole=False)
    assert far.output_tokens == 90


def test_a_provider_that_never_says_is_estimated_too_and_where_nothing_is_paid_nothing_is_guessed() -> None:
    assert booked(Usage(), SENT, 70, per_token, is_whole=True).is_estimate
    assert booked(Usage(), SENT, 70, lambda _: 0.0, is_whole=True) == Usage(cost_usd=0.0)
    assert booked(Usage(), SENT, 70, lambda _: None, is_whole=True) == Usage()


def test_a_provider_that_never_says_is_booked_at_the_full_price_and_not_at_that_of_a_hit() -> None:
    def at(usage: Usage) -> float:
        return ((usage.input_tokens or 0) - 0.9 * (usage.cache_read_tokens or 0)) / 100

    sent = Usage(input_tokens=1_000, cache_read_tokens=900, cache_write_tokens=50)
    whole = booked(Usage(), sent, 0, at, is_whole=True)
    assert (whole.cache_read_tokens, whole.cache_write_tokens, whole.cost_usd) == (0, 50, 10.0)
    assert booked(Usage(output_tokens=7), sent, 7, at, is_whole=True).cost_usd == 10.0
    cut = booked(Usage(), sent, 0, at, is_whole=False)
    assert cut.cost_usd == pytest.approx(1.9), "what it had not come to say is taken as expected"
    read = booked(Usage(cache_read_tokens=900), sent, 0, at, is_whole=True)
    assert read.cost_usd == pytest.approx(1.9), "a stored prefix is read, whatever is said"
    garbled = booked(Usage(output_tokens=0, is_estimate=True), sent, 0, at, is_whole=True)
    assert garbled.cost_usd == pytest.approx(1.9), "it told of its cache, in figures that are none"
    guessed = booked(Usage(cost_usd=0.1, is_estimate=True), sent, 0, at, is_whole=True)
    assert guessed.cost_usd == 10.0, "a guess of the cost tells of no cache"


def test_a_cache_of_which_nothing_was_told_is_taken_as_expected_and_where_nothing_is_paid_nothing_is_guessed() -> (
    None
):
    def at(usage: Usage) -> float:
        return ((usage.input_tokens or 0) - 0.9 * (usage.cache_read_tokens or 0)) / 100

    sent = Usage(input_tokens=1_000, cache_read_tokens=900, cache_write_tokens=50)
    told = Usage(input_tokens=2_000, output_tokens=50, is_estimate=True)
    found = booked(told, sent, 50, at, is_whole=True)
    assert found == Usage(2_000, 50, 1_800, 100, cost_usd=found.cost_usd, is_estimate=True)
    assert found.cost_usd == pytest.approx(3.8)
    unplanned = booked(told, Usage(input_tokens=1_000), 50, at, is_whole=True)
    assert unplanned == replace(told, cost_usd=20.0), "no part is 0 because nobody told it"
    assert booked(told, sent, 50, lambda _: None, is_whole=True) == Usage(2_000, 50)
    assert booked(told, sent, 50, lambda _: 0.0, is_whole=True) == Usage(2_000, 50, cost_usd=0.0)


def test_attempts_whose_answers_were_lost_are_paid_for() -> None:
    told = Usage(input_tokens=900, output_tokens=100, cost_usd=10.0, request_id="r")
    both = with_lost(told, Usage(input_tokens=1_000), 2, per_token)
    assert (both.cost_usd, both.is_estimate, both.request_id) == (30.0, True, "r")
    assert with_lost(told, SENT, 0, per_token) == told


def test_the_input_is_expected_by_the_plans_split() -> None:
    writes = (PlannedWrite("a", 800, 3600), PlannedWrite("b", 1_000, 300))
    plan = CachePlan(read_tokens=500, write_tokens=500, fresh_tokens=100, writes=writes)
    assert expected_input(plan, 0) == Usage(
        input_tokens=1_100,
        cache_read_tokens=500,
        cache_write_tokens=500,
        cache_write_5m_tokens=200,
        cache_write_1h_tokens=300,
    )
    assert expected_input(None, 700) == Usage(input_tokens=700)


def test_input_that_cannot_be_what_was_sent_is_as_if_it_were_not_reported() -> None:
    sent = Usage(input_tokens=8_000)
    for reported in (Usage(input_tokens=12, output_tokens=7), Usage(input_tokens=0, output_tokens=0)):
        found = booked(reported, sent, 7, per_token, is_whole=True)
        assert (found.input_tokens, found.is_estimate) == (8_000, True)
    near = Usage(input_tokens=2_000, output_tokens=7)
    assert not booked(near, sent, 7, per_token, is_whole=True).is_estimate
    assert not booked(
        Usage(input_tokens=12, output_tokens=7), Usage(input_tokens=90), 7, per_token, is_whole=True
    ).is_estimate


def test_a_reply_that_cannot_be_so_short_is_as_long_as_what_arrived() -> None:
    for length in (0, 1):
        told = Usage(input_tokens=900, output_tokens=length, cache_read_tokens=600)
        found = booked(told, SENT, 70, per_token, is_whole=True)
        assert found == Usage(900, 70, cache_read_tokens=600, cost_usd=9.7, is_estimate=True)
    whole = Usage(input_tokens=900, output_tokens=0)
    assert not booked(whole, SENT, 0, per_token, is_whole=True).is_estimate, "nothing arrived"


def test_what_cannot_be_true_tells_nothing_of_a_cache() -> None:
    """A proxy filled all fields with 0: what the cache held was given up for it, and the next estimate was 15 times the bill."""
    sent = Usage(input_tokens=8_000)
    zero = Usage(input_tokens=0, output_tokens=9, cache_read_tokens=0, cache_write_tokens=0)

    assert believable(zero, sent) == Usage(output_tokens=9)
    assert believable(replace(zero, input_tokens=7_000), sent) == replace(zero, input_tokens=7_000)
    assert believable(zero, Usage()) == zero


def test_a_write_for_twelve_hours_is_expected_as_one() -> None:
    plan = CachePlan(write_tokens=900, fresh_tokens=100, writes=(PlannedWrite("a", 900, 43_200),))

    assert expected_input(plan, 0).cache_write_12h_tokens == 900


ANTHROPIC = offer("anthropic", ProviderKind.ANTHROPIC, "claude-opus-5-5", TokenPrices(4e-6, 4e-7), START)
HELD = CachePlan(
    read_tokens=9_000,
    fresh_tokens=1_000,
    cost_without_usd=0.04,
    hit_ttl_s=300,
    writes=(PlannedWrite("a", 4_000, 3_600), PlannedWrite("b", 9_000, 300)),
    prices=ANTHROPIC,
)


@pytest.mark.parametrize(
    ("kept", "tokens", "fresh_tokens"),
    [
        (0, 4_000, 4_000 * 2.0),
        (4_000, 5_000, 5_000 * 1.25),
        (2_000, 8_000, 2_000 * 2.0 + 5_000 * 1.25 + 1_000),
    ],
    ids=["an hour", "five minutes", "both, and the tail behind the last mark"],
)
def test_what_is_sent_again_is_written_for_the_lifetimes_of_the_plan(
    kept: int, tokens: int, fresh_tokens: float
) -> None:
    assert sent_again_usd(state(plan=HELD), "a", kept, tokens) == pytest.approx(fresh_tokens * 4e-6)


def test_a_write_that_carries_what_is_held_to_a_longer_life_is_no_price_for_all_of_it() -> None:
    carried = replace(HELD, writes=(PlannedWrite("b", 9_000, 3_600, is_extended=True),))

    assert sent_again_usd(state(plan=carried), "a", 0, 9_000) == pytest.approx(9_000 * 1.25 * 4e-6)


def test_what_is_sent_again_to_another_model_costs_what_writing_costs_there() -> None:
    gemini = offer("gemini", ProviderKind.GEMINI, "gemini-3.8-flash", TokenPrices(1e-6, None), START)
    free = offer("embedded", ProviderKind.EMBEDDED, "smollm2", None, START)
    now = state(plan=HELD)

    assert sent_again_usd(now, "a", 0, 9_000, gemini) == pytest.approx(9_000 * 1e-6)
    assert sent_again_usd(now, "a", 0, 9_000, free) == 0.0


def test_what_is_sent_again_is_fresh_where_nothing_is_planned() -> None:
    assert sent_again_usd(state(REPORT), "a", 0, 5_000) == pytest.approx(0.02)
    assert sent_again_usd(state(), "a", 0, 5_000) is None
