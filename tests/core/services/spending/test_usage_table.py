"""Sums of calls: what is unknown is counted and adds nothing, days are the person's, one more call is added."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.usage import PaidKind, Usage, UsageBy, UsageQuery, UsageReport
from core.services.spending.pricing import TokenPrices, billed_prices, cost
from core.services.spending.usage_table import (
    Payer,
    UsageTable,
    pack_call,
    report_csv,
    report_notes,
    saved_text,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
PAYERS = {1: Payer("anthropic", "opus"), 2: Payer("local", "=evil")}
NAMES = {7: ("d7", "Spring"), 8: ("d8", "Tax")}
Call = tuple[datetime, int, int, PaidKind, Usage]


def prices(payer: Payer) -> TokenPrices | None:
    return TokenPrices(input_usd=1.0, read_usd=0.1) if payer.model == "opus" else None


def table_of(calls: Iterable[Call] = ()) -> UsageTable:
    table = UsageTable(prices)
    table.payers = dict(PAYERS)
    for call in calls:
        table.add(pack_call(*call))
    return table


def call(days: float = 0, payer: int = 1, kind: PaidKind = PaidKind.CHAT, **used: float) -> Call:
    return NOW - timedelta(days=days), payer, 7, kind, Usage(**used)  # type: ignore[arg-type]


def report(calls: Iterable[Call], by: UsageBy = UsageBy.MODEL, since: str = "") -> UsageReport:
    return table_of(calls).report(UsageQuery(by=by, since=since), NAMES, NOW)


def test_an_unknown_price_adds_nothing_and_is_counted() -> None:
    told = report([call(cost_usd=2.0), call(payer=2), call(payer=2)])

    assert (told.total.cost_usd, told.total.unpriced) == (2.0, 2)
    assert [(row.label, row.sum.known_cost_usd) for row in told.rows] == [("opus", 2.0), ("=evil", None)]
    assert "2 requests have no known price and add nothing to the cost." in report_notes(told)


def test_the_hit_rate_is_of_what_providers_told_and_nothing_told_is_no_zero() -> None:
    told = report(
        [
            call(input_tokens=100, cache_read_tokens=60),
            call(input_tokens=100, cache_read_tokens=0),
            call(payer=2, input_tokens=900),
        ]
    )

    assert told.total.hit_rate == 0.3
    assert [row.sum.hit_rate for row in told.rows] == [None, 0.3]


def test_a_known_zero_is_no_unknown() -> None:
    assert report([call(cost_usd=0.0)]).total.known_cost_usd == 0.0


def test_what_caching_saved_counts_reading_less_upkeep_and_says_what_is_not_known() -> None:
    told = report(
        [
            call(input_tokens=10, cache_read_tokens=10, cost_usd=1.0),
            call(kind=PaidKind.UPKEEP, input_tokens=10, cache_read_tokens=10, cost_usd=1.0),
            call(payer=2, input_tokens=10, cache_read_tokens=5),
        ]
    )
    opus, other = told.rows

    assert opus.sum.saved_usd == pytest.approx(9.0 - 1.0)
    assert (other.sum.unsaved, saved_text(other.sum)) == (1, "unknown")


def test_speed_is_of_the_calls_that_told_and_did_not_arrive_whole() -> None:
    whole = call(output_tokens=900, time_to_first_token_s=10.0, duration_s=10.003)  # 300,000 tokens/s
    total = report(
        [call(output_tokens=90, time_to_first_token_s=1.0, duration_s=10.0), call(output_tokens=500), whole]
    ).total

    assert (total.tokens_per_s, total.first_token_s) == (10.0, 5.5)


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        (UsageBy.DAY, ["2026-10-30", "2026-11-23", "2026-11-29"]),
        (UsageBy.WEEK, ["2026-10-26", "2026-11-23"]),
        (UsageBy.MONTH, ["2026-10-01", "2026-11-01"]),
    ],
)
def test_periods_are_the_persons_and_in_order(by: UsageBy, keys: list[str]) -> None:
    told = report([call(0), call(30), call(6)], by)

    assert [row.key for row in told.rows] == keys
    assert report([call(0), call(30), call(6)], by, since="2026-11-23").total.calls == 2


def test_dates_that_cannot_be_are_in_the_sum_and_in_no_day() -> None:
    odd = [datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
    told = report([call(), *((at, *call()[1:]) for at in odd)], UsageBy.DAY)

    assert (told.total.calls, told.odd_dates) == (3, 2)
    assert [(row.key, row.sum.calls) for row in told.rows] == [("", 2), ("2026-11-29", 1)]
    assert [row.key for row in told.series] == ["2026-11-29"]
    assert any("2 requests have a date before 2015" in note for note in report_notes(told))
    alone = report([(odd[1], *call()[1:])], UsageBy.DAY)
    assert (alone.total.calls, alone.odd_dates, alone.series) == (1, 1, ())


def test_a_table_for_a_spreadsheet_holds_no_formula_and_no_zero_for_what_is_not_known() -> None:
    head, row = report_csv(report([call(payer=2)])).splitlines()

    assert head.startswith("model,label,calls,")
    assert row.startswith("local/=evil,'=evil,1,")
    assert ",0.0,1," not in row
    assert dict(zip(head.split(","), row.split(","), strict=True))["cost_usd"] == ""


def test_sums_of_dollars_hold_no_remainder_of_adding() -> None:
    told = report([call(cost_usd=0.1), call(cost_usd=0.2), call(cost_usd=1e-9)])

    assert (told.total.cost_usd, told.total.saved_usd) == (0.300000001, 0.0)
    head, row = report_csv(told).splitlines()
    cells = dict(zip(head.split(","), row.split(","), strict=True))
    assert (cells["cost_usd"], cells["saved_usd"]) == ("0.300000001", "0.0")


calls = st.lists(
    st.builds(
        call,
        st.floats(0, 800),
        st.sampled_from([1, 2]),
        st.sampled_from(PaidKind),
        input_tokens=st.integers(0, 10**6),
        cache_read_tokens=st.integers(0, 10**5),
        cost_usd=st.none() | st.integers(0, 100),
    ),
    max_size=30,
)


@given(calls, calls, st.sampled_from(UsageBy))
def test_calls_that_come_later_are_added_as_if_they_had_been_there(
    first: list[Call], later: list[Call], by: UsageBy
) -> None:
    query, other = UsageQuery(by=by), UsageQuery(by=UsageBy.KIND, per=UsageBy.WEEK)
    table = table_of(first)
    table.report(query, NAMES, NOW)
    for one in later:
        table.add(pack_call(*one))
    table.report(other, NAMES, NOW)
    grown, whole = table.report(query, NAMES, NOW), report([*first, *later], by)

    assert grown.total.calls == len(first) + len(later)
    assert grown.total.unpriced == sum(one[4].cost_usd is None for one in (*first, *later))
    assert sum(row.sum.calls for row in grown.rows) == grown.total.calls
    assert [
        (row.key, row.sum.calls, row.sum.input_tokens) for row in sorted(grown.rows, key=lambda r: r.key)
    ] == [(row.key, row.sum.calls, row.sum.input_tokens) for row in sorted(whole.rows, key=lambda r: r.key)]


MODELS = [("anthropic", "claude-opus-4-5"), ("openai", "gpt-6.1-sol"), ("gemini", "gemini-2.5-flash")]


@given(
    st.sampled_from(MODELS),
    st.lists(st.integers(0, 9_000), min_size=5, max_size=5),
)
def test_usage_and_the_caching_panel_say_one_sum_for_what_caching_saved(
    model: tuple[str, str], tokens: list[int]
) -> None:
    provider, name = model
    fresh, read, short, hour, half_day = tokens
    half_day = half_day if provider == "openai" else 0
    used = Usage(
        input_tokens=fresh + read + short + hour + half_day,
        output_tokens=5,
        cache_read_tokens=read,
        cache_write_tokens=short + hour + half_day,
        cache_write_5m_tokens=short,
        cache_write_1h_tokens=hour,
        cache_write_12h_tokens=half_day,
    )
    table = UsageTable(lambda payer: billed_prices(payer.provider, payer.model, NOW))
    table.payers = {1: Payer(provider, name)}
    table.add(pack_call(NOW, 1, 7, PaidKind.CHAT, used))

    told = table.report(UsageQuery(by=UsageBy.MODEL), NAMES, NOW).total
    unread = replace(
        used,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cache_write_5m_tokens=0,
        cache_write_1h_tokens=0,
        cache_write_12h_tokens=0,
    )
    without, paid = (cost(provider, name, one, NOW) for one in (unread, used))
    assert without is not None
    assert paid is not None
    assert told.saved_usd == pytest.approx(without - paid, abs=1e-9)
