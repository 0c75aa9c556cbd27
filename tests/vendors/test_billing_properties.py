"""What holds for every sequence of requests: nothing is billed twice or forgotten, nothing is read that was not sent."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.vendors.billing.anthropic import AnthropicCache, AnthropicRules, AnthropicTicket
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.gemini import GeminiCache, GeminiRules
from tests.vendors.billing.labels import count_label, label
from tests.vendors.billing.openai import OpenAICache
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts

MODEL = "claude-opus-5"
PRICES = Prices()
TTLS = ["5m", "1h"]


@dataclass(frozen=True)
class Step:
    """A request: its blocks (by letter), which of them are marked with what, and the pause before it."""

    blocks: str
    marks: tuple[tuple[int, str], ...]
    pause_s: int


def mark_sets(size: int) -> st.SearchStrategy[tuple[tuple[int, str], ...]]:
    """At most four marks, hours first."""

    def ordered(places: list[int], hours: int) -> tuple[tuple[int, str], ...]:
        return tuple((place, TTLS[1] if n < hours else TTLS[0]) for n, place in enumerate(sorted(places)))

    places = st.lists(st.integers(0, size - 1), max_size=4, unique=True)
    return st.builds(ordered, places, st.integers(0, 4))


@st.composite
def steps(draw: st.DrawFn) -> Step:
    head = draw(st.sampled_from(["", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAA"]))
    blocks = head + draw(st.text("AB", min_size=1, max_size=6))
    return Step(
        blocks, draw(mark_sets(len(blocks))), draw(st.sampled_from([0, 60, 299, 300, 1_000, 3_599, 3_600]))
    )


days = st.lists(steps(), min_size=1, max_size=8)


def request(step: Step) -> Json:
    marks = dict(step.marks)
    content: list[Json] = []
    for number, letter in enumerate(step.blocks):
        block: Json = {"type": "text", "text": label(700, letter)}
        if number in marks:
            block["cache_control"] = {"type": "ephemeral", "ttl": marks[number]}
        content.append(block)
    return {"model": MODEL, "max_tokens": 1, "messages": [{"role": "user", "content": content}]}


def common(first: str, second: str) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )


def anthropic(**rules: bool) -> tuple[Clock, AnthropicCache]:
    clock = Clock()
    return clock, AnthropicCache(clock, Texts(count_label), rules=AnthropicRules(**rules))


@given(day=days)
def test_the_billed_parts_add_up_to_everything_that_was_sent(day: list[Step]) -> None:
    clock, cache = anthropic()
    for step in day:
        clock.advance(step.pause_s)
        parts = cache.send(request(step)).parts
        assert parts.total == 700 * len(step.blocks)
        assert min(parts.plain, parts.read, parts.write, parts.write_long) >= 0


@given(day=days)
def test_a_hit_is_a_marked_prefix_of_an_earlier_request_that_can_still_live(day: list[Step]) -> None:
    clock, cache = anthropic()
    sent: list[tuple[float, Step]] = []
    for step in day:
        clock.advance(step.pause_s)
        read = cache.send(request(step)).parts.read // 700
        if read:
            assert any(
                place + 1 == read and common(before.blocks, step.blocks) >= read
                for _, before in sent
                for place, _ in before.marks
            )
            assert any(clock() - at_s < 3_600 and common(b.blocks, step.blocks) >= read for at_s, b in sent)
        sent.append((clock(), step))


@given(day=days)
def test_nothing_is_read_after_an_hour_of_silence(day: list[Step]) -> None:
    clock, cache = anthropic()
    for step in day:
        cache.send(request(step))
    clock.advance(3_600)
    assert cache.live_tokens() == []
    for step in day:
        assert cache.begin(request(step)).parts.read == 0


@given(step=steps(), pause_s=st.integers(0, 299))
def test_sending_the_same_again_in_time_costs_the_price_of_reading(step: Step, pause_s: int) -> None:
    assume(step.marks and step.marks[-1][0] == len(step.blocks) - 1)
    clock, cache = anthropic()
    cache.send(request(step))
    clock.advance(pause_s)
    again = cache.send(request(step)).parts

    read_all = PRICES.rates("anthropic", MODEL, clock(), again.total).read * again.total
    assert PRICES.cost("anthropic", MODEL, again, clock()) == read_all


@given(day=days)
def test_no_request_costs_more_than_twice_plain_or_less_than_reading_it_all(day: list[Step]) -> None:
    clock, cache = anthropic()
    for step in day:
        clock.advance(step.pause_s)
        parts = cache.send(request(step)).parts
        usd = PRICES.cost("anthropic", MODEL, parts, clock())
        plain = PRICES.cost("anthropic", MODEL, Parts(parts.total), clock())
        assert plain * Decimal("0.1") <= usd <= plain * 2


@given(day=days)
def test_without_marks_nothing_is_cached(day: list[Step]) -> None:
    clock, cache = anthropic()
    for step in day:
        clock.advance(step.pause_s)
        bare = Step(step.blocks, (), 0)
        assert cache.send(request(bare)).parts == Parts(700 * len(step.blocks))
    assert cache.live_tokens() == []


@given(day=days)
def test_more_generous_rules_never_read_less(day: list[Step]) -> None:
    careful_clock, careful = anthropic()
    clock, generous = anthropic(refreshes_unmarked=True, upgrades_free_marks=True)
    for step in day:
        careful_clock.advance(step.pause_s)
        clock.advance(step.pause_s)
        assert generous.send(request(step)).parts.read >= careful.send(request(step)).parts.read


@given(day=days)
def test_the_same_day_costs_the_same_twice(day: list[Step]) -> None:
    def bills() -> list[Parts]:
        clock, cache = anthropic()
        found = []
        for step in day:
            clock.advance(step.pause_s)
            found.append(cache.send(request(step)).parts)
        return found

    assert bills() == bills()


@given(step=steps(), count=st.integers(2, 4))
def test_requests_at_the_same_time_all_pay_until_the_first_has_begun(step: Step, count: int) -> None:
    _, cache = anthropic()
    tickets: list[AnthropicTicket] = [cache.begin(request(step)) for _ in range(count)]

    assert len({ticket.parts for ticket in tickets}) == 1
    assert tickets[0].parts.read == 0


@settings(max_examples=30)
@given(pauses=st.lists(st.integers(1, 299), min_size=1, max_size=30), ttl=st.sampled_from(TTLS))
def test_a_prefix_that_is_used_in_time_is_written_once(pauses: list[int], ttl: str) -> None:
    clock, cache = anthropic()
    step = Step("AB", ((1, ttl),), 0)
    cache.send(request(step))
    for pause_s in pauses:
        clock.advance(pause_s)
        assert cache.send(request(step)).parts == Parts(0, 1_400)


# --- OpenAI --------------------------------------------------------------------------------------------------------------


def items(step: Step) -> list[Json]:
    marks = dict(step.marks)
    found = []
    for number, letter in enumerate(step.blocks):
        block: Json = {"type": "input_text", "text": label(700, letter)}
        if number in marks:
            block["prompt_cache_breakpoint"] = {
                "mode": "explicit",
                "ttl": {"5m": "30m", "1h": "12h"}[marks[number]],
            }
        found.append({"role": "user", "content": [block]})
    return found


@pytest.mark.parametrize("mode", ["implicit", "explicit"])
@given(day=days)
def test_openai_bills_everything_once_and_reads_only_what_was_sent(mode: str, day: list[Step]) -> None:
    clock = Clock()
    cache = OpenAICache(clock, Texts(count_label))
    sent: list[Step] = []
    for step in day:
        clock.advance(step.pause_s)
        body = {"model": "gpt-6-astra", "input": items(step), "prompt_cache_options": {"mode": mode}}
        parts = cache.send(body).parts
        assert parts.total == 700 * len(step.blocks)
        assert parts.read // 700 <= max((common(b.blocks, step.blocks) for b in sent), default=0)
        assert parts.read == 0 or parts.read >= 1_024
        if mode == "explicit" and not step.marks:
            assert parts == Parts(parts.total)
        if mode == "implicit":
            assert parts.plain == 0 or parts.total < 1_024
        sent.append(step)


@given(day=days)
def test_models_before_5_6_read_only_what_was_sent_and_in_steps_of_128(day: list[Step]) -> None:
    clock = Clock()
    cache = OpenAICache(clock, Texts(count_label))
    sent: list[Step] = []
    for step in day:
        clock.advance(step.pause_s)
        plain = [{"role": "user", "content": label(700, letter)} for letter in step.blocks]
        parts = cache.send({"model": "gpt-5.5", "input": plain}).parts
        assert parts.total == 700 * len(step.blocks)
        assert parts.read % 128 == 0
        assert parts.read <= 700 * max((common(b.blocks, step.blocks) for b in sent), default=0)
        assert (parts.write, parts.write_long) == (0, 0)
        sent.append(step)


# --- Gemini --------------------------------------------------------------------------------------------------------------


@given(day=days, chance=st.sampled_from([0.0, 0.5, 1.0]), seed=st.integers(0, 99))
def test_gemini_bills_everything_once_and_reads_only_what_was_sent(
    day: list[Step], chance: float, seed: int
) -> None:
    clock = Clock()
    cache = GeminiCache(clock, Texts(count_label), rules=GeminiRules(implicit_hit=chance, seed=seed))
    sent: list[Step] = []
    for step in day:
        clock.advance(step.pause_s)
        contents = [{"role": "user", "parts": [{"text": label(700, letter)}]} for letter in step.blocks]
        parts = cache.send({"contents": contents}, "gemini-3.8-flash").parts
        assert parts.total == 700 * len(step.blocks)
        assert parts.read // 700 <= max((common(b.blocks, step.blocks) for b in sent), default=0)
        assert parts.read == 0 or (parts.read >= 4_096 and chance > 0)
        sent.append(step)
