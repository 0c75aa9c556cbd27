"""How figures, money and times read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel import figures as fmt
from core.kernel import language

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (512, "512"), (999, "999"), (1_000, "1.0k"), (18_412, "18.4k"), (99_949, "99.9k"), (99_950, "100k"),
     (200_000, "200k"), (999_499, "999k"), (999_500, "1.0M"), (1_048_576, "1.0M")],
)  # fmt: skip
def test_tokens_read_in_five_characters(count: int, shown: str) -> None:
    assert fmt.tokens(count) == shown


@given(st.integers(0, 10**9))
def test_tokens_never_take_more_room_than_a_card_has(count: int) -> None:
    assert len(fmt.tokens(count)) <= 7


def test_what_is_not_known_is_never_shown_as_zero() -> None:
    assert fmt.tokens(None) == "not reported"
    assert fmt.tokens_est(None) == "not reported"
    assert fmt.money(None) == "price unknown"


def test_an_estimate_carries_its_mark_and_an_exact_figure_does_not() -> None:
    assert fmt.tokens_est(2_000) == "≈2.0k"
    assert fmt.tokens_est(2_000, is_exact=True) == "2.0k"


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0.0, "$0"), (0.0004, "<$0.001"), (0.011, "$0.011"), (0.0996, "$0.100"), (0.42, "$0.42"), (1.94, "$1.94"),
     (1234.5, "$1,234.50")],
)  # fmt: skip
def test_money_keeps_the_digits_that_matter(usd: float, shown: str) -> None:
    assert fmt.money(usd) == shown


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (812, "812 B"),
        (1_024, "1 KB"),
        (12_400, "12 KB"),
        (999_499, "999 KB"),
        (999_500, "1.0 MB"),
        (34_500_000, "34.5 MB"),
        (2_100_000_000, "2.1 GB"),
    ],
)
def test_sizes_read_in_their_unit(size: int, shown: str) -> None:
    assert fmt.size(size) == shown


@pytest.mark.parametrize(
    ("part", "shown"), [(0, "0 %"), (1, "<1 %"), (420, "42 %"), (996, "99 %"), (1_000, "100 %")]
)
def test_a_share_of_something_is_never_nothing(part: int, shown: str) -> None:
    assert fmt.share(part, 1_000) == shown


def test_a_share_is_rounded_and_says_the_whole_of_the_whole_alone() -> None:
    parts = ((688, 1_028), (80, 340), (870, 1_000), (99_999, 100_000), (7, 7))
    assert [fmt.share(*one, digits=1) for one in parts] == ["66.9 %", "23.5 %", "87 %", "99.9 %", "100 %"]


def test_a_share_of_nothing_is_nothing() -> None:
    assert fmt.share(5, 0) == "0 %"


def test_a_moment_is_as_short_as_it_can_be_told_apart() -> None:
    local = NOW.astimezone()
    assert fmt.moment(NOW, NOW) == f"{local:%H:%M}"
    assert fmt.moment(NOW - timedelta(days=1), NOW) == f"yesterday {NOW.astimezone():%H:%M}"
    assert fmt.moment(datetime(2026, 3, 12, 12, tzinfo=UTC), NOW) == "12 Mar"
    assert fmt.moment(datetime(2025, 3, 12, 12, tzinfo=UTC), NOW) == "12 Mar 2025"


@pytest.mark.parametrize(
    ("span", "shown"),
    [(-1, "0.0 s"), (3.21, "3.2 s"), (48, "48 s"), (192, "3m 12s"), (43_321, "12 h 2 min")],
)
def test_spans_read_in_their_unit(span: float, shown: str) -> None:
    assert fmt.span(span) == shown


@pytest.mark.usefixtures("german")
def test_a_count_knows_what_it_says_in_english() -> None:
    told = language.tr("Gone: {count}", count=fmt.count(2, language.tr("item"), language.tr("items")))

    assert language.tr("items") in told
    assert language.english(told) == "Gone: 2 items"


def test_a_count_agrees_with_its_noun() -> None:
    assert fmt.count(1, "turn") == "1 turn"
    assert fmt.count(1_204, "turn") == "1,204 turns"
    assert fmt.count(2, "reply", "replies") == "2 replies"


@pytest.mark.parametrize(
    ("cost", "said"),
    [(None, "price unknown"), (0.0, "free"), (0.00123, "$0.0012"), (1.239, "$1.24")],
)
def test_money_of_a_call_in_the_terminal(cost: float | None, said: str) -> None:
    assert fmt.money(cost, "terminal") == said


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0B"),
        (999, "999B"),
        (1_000, "1.0KB"),
        (9_960, "10KB"),
        (17_000, "17KB"),
        (999_499, "999KB"),
        (999_500, "1.0MB"),
        (2_300_000, "2.3MB"),
        (3 * 1000**3, "3.0GB"),
        (5_000 * 1000**3, "5000GB"),
    ],
)
def test_a_kb_is_1_000_bytes_in_the_report_and_in_the_terminal(size: int, text: str) -> None:
    assert fmt.size(size, "report") == text
    assert fmt.size(size, "terminal").replace(" ", "") == text


def test_tokens_and_costs_of_the_report_in_few_letters() -> None:
    assert [fmt.tokens_est(n, "report") for n in (0, 999, 1_000, 600_400, 999_499, 999_500)] == [
        "~0",
        "~999",
        "~1K",
        "~600K",
        "~999K",
        "~1.0M",
    ]
    assert [fmt.money(c, "report") for c in (None, 0.0, 0.004, 0.42, 12.0)] == [
        "price unknown",
        "~$0.00",
        "<$0.01",
        "~$0.42",
        "~$12.00",
    ]


@pytest.mark.parametrize(
    ("ago", "said"),
    [(timedelta(seconds=5), "now"), (timedelta(minutes=59), "59 min"), (timedelta(hours=47), "47 h"),
     (timedelta(days=12), "12 days"), (timedelta(days=90), "3 months"), (timedelta(days=800), "2 years"),
     (-timedelta(days=3), "now")],
)  # fmt: skip
def test_an_age_has_one_unit(ago: timedelta, said: str) -> None:
    assert fmt.age(NOW - ago, NOW) == said
    assert fmt.age(NOW - ago, None) == "now"


@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (0.001, "now"),
        (0.5, "30 min"),
        (5, "5 h"),
        (49, "2 d"),
        (24 * 70, "2 mo"),
        (24 * 800, "2 y"),
        (-9, "now"),
    ],
)
def test_an_age_in_the_terminal_has_one_short_unit_and_a_clock_set_back_is_now(
    hours: float, said: str
) -> None:
    assert fmt.age(NOW - timedelta(hours=hours), NOW, "terminal") == said


@pytest.mark.parametrize(
    ("span_s", "text"),
    [(272, "4:32"), (59.9, "0:59"), (0, "0:00"), (-5, "0:00"), (3_753, "1:02:33"), (90_000, "25:00:00")],
)
def test_time_left_counts_down(span_s: float, text: str) -> None:
    assert fmt.countdown(span_s) == text


@pytest.mark.parametrize(
    ("left_s", "figure", "said"),
    [
        (-5, "<1 min", "in less than a minute"), (59.9, "<1 min", "in less than a minute"), (60, "1 min", "in 1 minute"),
        (272, "4 min", "in 4 minutes"), (3_600, "1 h", "in 1 hour"), (3_753, "1 h 2 min", "in 1 hour"),
        (7_200, "2 h", "in 2 hours"), (90_000, "25 h", "in 25 hours"), (200_000, "2 days", "in 2 days"),
    ],
)  # fmt: skip
def test_time_left_is_said_as_a_person_says_it(left_s: float, figure: str, said: str) -> None:
    assert fmt.left(left_s) == figure
    assert fmt.in_time(left_s) == said


def test_a_time_in_a_sentence_is_at_an_hour_or_on_a_day() -> None:
    assert fmt.at_moment(NOW, NOW) == f"at {NOW.astimezone():%H:%M}"
    assert fmt.at_moment(NOW - timedelta(days=1), NOW) == f"yesterday {NOW.astimezone():%H:%M}"
    assert fmt.at_moment(NOW - timedelta(days=9), NOW).startswith("on ")


@pytest.mark.parametrize(
    ("ttl_s", "said"), [(300, "5 min"), (3_600, "1 h"), (5_400, "90 min"), (86_400, "24 h")]
)
def test_a_lifetime_reads_in_whole_hours_or_in_minutes(ttl_s: int, said: str) -> None:
    assert fmt.lifetime(ttl_s) == said


@pytest.mark.parametrize(
    ("limit_s", "said"),
    [
        (0.2, "0.2 s"),
        (60, "60 s"),
        (90, "90 s"),
        (120, "2 minutes"),
        (3_600, "1 hour"),
        (5_400, "90 minutes"),
    ],
)
def test_a_limit_reads_as_a_person_says_it(limit_s: float, said: str) -> None:
    assert fmt.time_limit(limit_s) == said


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0, "$0.00"), (0.01, "$0.01"), (0.009, "$0.009"), (0.001, "$0.001"), (0.00025, "$0.00025"), (-0.0004, "$-0.0004"),
     (0.00123456, "$0.0012"), (1234.5, "$1,234.50")],
)  # fmt: skip
def test_a_sum_below_a_cent_is_not_nothing(usd: float, shown: str) -> None:
    assert fmt.dollars(usd) == shown


def test_what_is_in_the_books_at_an_estimate_is_marked_and_nothing_to_pay_is_not() -> None:
    assert fmt.money(0.031, is_estimate=True) == "≈$0.031"
    assert fmt.money(0.0012, "terminal", is_estimate=True) == "≈$0.0012"
    assert fmt.money(0.42, "report", is_estimate=True) == "~$0.42"
    assert [fmt.money(usd, is_estimate=True) for usd in (0.0, None)] == ["$0", "price unknown"]


def test_the_price_of_a_button_is_free_unknown_or_an_estimate() -> None:
    assert [fmt.price(usd) for usd in (None, 0.0, 0.001, 0.42)] == [
        "price unknown",
        "free",
        "est. <$0.01",
        "est. $0.42",
    ]


def test_a_moment_of_yesterday_keeps_its_words_in_another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    german = {
        "yesterday {local:%H:%M}": "gestern {local:%H:%M}",
        "at {time}": "um {time}",
        "on {day}": "am {day}",
    }
    monkeypatch.setattr(language._SPOKEN, "translated", lambda text: german.get(text, text))

    yesterday = fmt.at_moment(NOW - timedelta(days=1), NOW)

    assert yesterday.startswith("gestern ")
    assert fmt.at_moment(NOW, NOW).startswith("um ")
    assert fmt.at_moment(NOW - timedelta(days=3), NOW).startswith("am ")
