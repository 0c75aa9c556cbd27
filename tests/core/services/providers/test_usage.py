"""Usage as providers say it: figures that can be trusted, whatever stands in the fields."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.provider import UsageUpdate
from core.kernel.values.usage import Usage
from core.services.providers.anthropic.wire import merge_usage, reply_items
from core.services.providers.claude_code.client import ClaudeReader, claude_usage
from core.services.providers.compatible.reader import chat_usage
from core.services.providers.door import MOST_TOKENS, counted_usage, figure, price, sound_usage
from core.services.providers.gemini.wire import reply_items as gemini_items
from core.services.providers.gemini.wire import sound_chunk
from core.services.providers.openai.sdk import usage_of
from core.services.spending.estimates import booked
from core.services.spending.pricing import cost

AT = datetime(2026, 11, 20, tzinfo=UTC)
PARTS = ("cache_read_tokens", "cache_write_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens")
COUNTS = ("input_tokens", "output_tokens", *PARTS, "reasoning_tokens")

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 1000),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=5),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.lists(st.integers(), max_size=2),
)


def is_sound(usage: Usage) -> bool:
    """Counts are counts, parts are inside their whole, a price is a price."""
    counts = [getattr(usage, name) for name in COUNTS]
    if any(n is not None and (type(n) is not int or not 0 <= n <= MOST_TOKENS * 3) for n in counts):
        return False
    parts = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    split = (usage.cache_write_5m_tokens or 0) + (usage.cache_write_1h_tokens or 0)
    return (
        parts <= (usage.input_tokens or 0)
        and split <= (usage.cache_write_tokens or 0)
        and (usage.reasoning_tokens or 0) <= (usage.output_tokens or 0)
        and (usage.cost_usd is None or (math.isfinite(usage.cost_usd) and usage.cost_usd >= 0))
    )


@pytest.mark.parametrize(
    "value", [None, True, -1, -0.5, 1.5, math.nan, math.inf, "12", {"a": 1}, [1], MOST_TOKENS + 1]
)
def test_what_is_no_count_is_not_reported(value: object) -> None:
    assert figure(value) is None
    assert counted_usage(input_tokens=value, output_tokens=7) == Usage(output_tokens=7)


def test_counts_are_taken_as_they_are_and_whole_numbers_written_as_fractions_too() -> None:
    assert [figure(0), figure(12), figure(12.0)] == [0, 12, 12]
    assert [price(0), price(0.25), price("1"), price(-1), price(math.inf)] == [0.0, 0.25, None, None, None]


def test_parts_larger_than_their_whole_are_not_reported_and_the_whole_stays() -> None:
    """What such a call cost is an estimate: which of the two is wrong nobody can say."""
    odd = counted_usage(input_tokens=100, cache_read_tokens=90, cache_write_tokens=20)
    assert odd == Usage(100, is_estimate=True)
    assert counted_usage(output_tokens=5, reasoning_tokens=6) == Usage(output_tokens=5, is_estimate=True)
    assert counted_usage(cache_read_tokens=5, reasoning_tokens=1) == Usage()
    kept = counted_usage(
        input_tokens=100, cache_read_tokens=50, cache_write_tokens=50, cache_write_5m_tokens=51
    )
    assert (kept.cache_write_tokens, kept.cache_write_5m_tokens) == (50, None)
    assert kept.is_estimate


@pytest.mark.parametrize("name", [*PARTS, "cache_write_12h_tokens", "reasoning_tokens"])
@pytest.mark.parametrize("value", [{"a": 1}, "many", -1, 1.5, True, math.nan, 101])
def test_a_part_that_is_no_figure_makes_the_figures_an_estimate(name: str, value: object) -> None:
    """Where a provider says the cost itself nothing is guessed, and without its whole a part says nothing."""
    given: dict[str, Any] = {name: value}
    wholes: dict[str, Any] = {"input_tokens": 100, "output_tokens": 100, "cache_write_tokens": 50}
    usage = counted_usage(**{**wholes, **given})

    assert (getattr(usage, name), usage.is_estimate) == (None, True)
    assert sound_usage(usage) == usage
    assert not counted_usage(**{**wholes, **given, "cost_usd": 0.5}).is_estimate
    assert counted_usage(**given) == Usage()
    assert not counted_usage(**wholes).is_estimate


def absurd(value: object) -> list[Usage]:
    """Usage of each wire whose count of tokens read from the cache is a value that is none; the rest is good."""
    wire = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": value}
    told = {"promptTokenCount": 10, "candidatesTokenCount": 5, "cachedContentTokenCount": value}
    chunk = json.loads(sound_chunk(json.dumps({"usageMetadata": told, "candidates": [ENDED]})))
    gemini = [types.GenerateContentResponse.model_validate(chunk)]
    return [
        usage_of(
            _object(input_tokens=10, output_tokens=5, input_tokens_details=_object(cached_tokens=value)), ""
        ),
        usage_of(_object(input_tokens=10, output_tokens=5, input_tokens_details=value), ""),
        chat_usage(
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": value},
            },
            "",
        ),
        chat_usage({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": [value]}, ""),
        merge_usage(Usage(), _object(**wire)),
        claude_usage(wire, 0.5, ""),
        *(item.usage for item in gemini_items(gemini) if isinstance(item, UsageUpdate)),
    ]


ENDED = {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}


@pytest.mark.parametrize("value", [{"a": 1}, "many", -1, 1.5, [5]], ids=str)
def test_on_every_wire_such_a_part_leads_to_an_estimate(value: object) -> None:
    """By the parts that were expected, not by the price of fresh words; where the whole is a sum, by all of it."""
    expected = Usage(input_tokens=20, cache_read_tokens=18, cache_write_tokens=2, cache_write_1h_tokens=2)
    told = absurd(value)
    assert len(told) == 7
    for usage in told:
        paid = booked(usage, expected, 5, lambda _: 0.5, is_whole=True)
        assert paid.is_estimate
        assert (paid.cache_read_tokens or 0) * 20 == (paid.input_tokens or 0) * 18
        assert paid.cache_write_1h_tokens == paid.cache_write_tokens == (paid.input_tokens or 0) // 10


@given(st.fixed_dictionaries({}, optional=dict.fromkeys((*COUNTS, "cost_usd"), junk)))
def test_whatever_stands_in_the_fields_the_figures_are_sound_and_can_be_priced(
    fields: dict[str, Any],
) -> None:
    usage = counted_usage(**fields)

    assert is_sound(usage)
    again = {name: getattr(usage, name) for name in (*COUNTS, "cost_usd")}
    assert replace(counted_usage(**again), is_estimate=usage.is_estimate) == usage == sound_usage(usage)
    paid = cost("anthropic", "claude-opus-5-5", usage, AT)
    assert paid is None or (math.isfinite(paid) and paid >= 0)


def _object(**fields: object) -> Any:
    return SimpleNamespace(**fields)


@given(st.lists(junk, min_size=8, max_size=8))
def test_every_client_takes_them_by_this_rule(values: list[Any]) -> None:
    a, b, c, d, e, f, g, h = values
    by_ttl = {"ephemeral_5m_input_tokens": e, "ephemeral_1h_input_tokens": f}
    wire = {
        "input_tokens": a,
        "output_tokens": b,
        "cache_read_input_tokens": c,
        "cache_creation_input_tokens": d,
        "cache_creation": by_ttl,
    }
    told = (
        usage_of(
            _object(
                input_tokens=a,
                output_tokens=b,
                input_tokens_details=_object(cached_tokens=c, cache_write_tokens=d),
                output_tokens_details=_object(reasoning_tokens=e),
            ),
            "",
        ),
        usage_of(_object(input_tokens=a, input_tokens_details=g, output_tokens_details=h), ""),
        chat_usage(
            {
                "prompt_tokens": a,
                "completion_tokens": b,
                "prompt_tokens_details": {"cached_tokens": c},
                "completion_tokens_details": {"reasoning_tokens": e},
            },
            "",
        ),
        claude_usage(wire, h, ""),
        claude_usage({**wire, "cache_creation": g}, h, ""),
        merge_usage(
            merge_usage(Usage(), _object(**{**wire, "cache_creation": _object(**by_ttl)})),
            _object(output_tokens=g, output_tokens_details=_object(thinking_tokens=h)),
        ),
    )

    assert all(is_sound(usage) for usage in told)


@pytest.mark.parametrize(
    "last",
    [None, {}, {"output_tokens": -4}, {"output_tokens": _object(a=1)}, {"output_tokens": math.nan}],
)
def test_the_placeholder_at_the_start_of_a_reply_is_never_its_length(last: dict[str, object] | None) -> None:
    """It says 1: ten thousand tokens were booked as one where the end did not tell."""
    usage = None if last is None else _object(**last)
    events = [
        _object(type="message_start", message=_object(usage=_object(input_tokens=9, output_tokens=1))),
        _object(type="message_delta", delta=_object(stop_reason="end_turn"), usage=usage),
        _object(type="message_stop"),
    ]
    said = [item.usage for item in reply_items(events, "r") if isinstance(item, UsageUpdate)]

    assert [(one.input_tokens, one.output_tokens) for one in said] == [(9, None), (9, None)]


def test_nor_is_that_which_claude_code_hands_on() -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}
    end = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}}
    reader = ClaudeReader()
    lines = [json.dumps({"type": "stream_event", "event": event}) for event in (start, end)]
    said = [item.usage for line in lines for item in reader.read(line) if isinstance(item, UsageUpdate)]

    assert [(one.input_tokens, one.output_tokens) for one in said] == [(9, None), (9, None)]
