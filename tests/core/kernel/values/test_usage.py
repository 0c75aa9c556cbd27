"""Usage: what adding up keeps and drops, and what outside programs are told of it."""

from __future__ import annotations

from core.kernel.values.usage import Usage, add_usage, usage_data


def test_what_neither_call_reported_stays_unreported_and_a_lone_figure_counts() -> None:
    total = add_usage(Usage(input_tokens=5, cost_usd=0.25), Usage(input_tokens=7, output_tokens=2))
    assert total == Usage(input_tokens=12, output_tokens=2, cost_usd=0.25)


def test_times_and_ids_of_one_call_are_not_those_of_two() -> None:
    first = Usage(duration_s=2.0, time_to_first_token_s=0.5, request_id="r1", miss_reason="cold")
    assert add_usage(first, first) == Usage()


def test_plain_data_says_none_for_what_was_not_reported_and_zero_for_zero() -> None:
    assert usage_data(Usage(input_tokens=5, cache_read_tokens=0, cost_usd=0.25, duration_s=2.0)) == {
        "input_tokens": 5,
        "output_tokens": None,
        "cache_read_tokens": 0,
        "cache_write_tokens": None,
        "reasoning_tokens": None,
        "cost_usd": 0.25,
        "is_estimate": False,
        "time_to_first_token_s": None,
        "duration_s": 2.0,
    }
