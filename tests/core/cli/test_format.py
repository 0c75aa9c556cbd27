"""What commands print of values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.cli.format import age, discussion_data, discussions_text, money, newest_first, usage_line
from core.values.discussion import DiscussionMeta, DiscussionSummary
from core.values.messages import Message, Role, TextPart
from core.values.usage import Usage

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def _row(name: str, *, hours: float = 0, pinned: bool = False, problem: str = "") -> DiscussionSummary:
    meta = DiscussionMeta("-".join(name.split()), name, NOW, "anthropic", "m", pinned=pinned)
    return DiscussionSummary(meta, NOW - timedelta(hours=hours), turns=3, problem=problem)


def _reply(usage: Usage | None) -> Message:
    return Message("r", NOW, Role.ASSISTANT, (TextPart("x"),), provider="p", model="m", usage=usage)


@pytest.mark.parametrize(
    ("cost", "said"),
    [(None, "price unknown"), (0.0, "free"), (0.00123, "$0.0012"), (1.239, "$1.24")],
)
def test_money(cost: float | None, said: str) -> None:
    assert money(cost) == said


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
def test_age_has_one_unit_and_a_clock_set_back_is_now(hours: float, said: str) -> None:
    assert age(NOW - timedelta(hours=hours), NOW) == said


def test_usage_leaves_out_what_was_not_reported() -> None:
    full = Usage(1200, 30, cache_read_tokens=1000, cost_usd=0.5, time_to_first_token_s=0.44, duration_s=2.0)

    assert (
        usage_line(_reply(full))
        == "p/m · 1,200 in (1,000 cached) · 30 out · $0.5000 · first token 0.4 s · 2.0 s"
    )
    assert usage_line(_reply(Usage(input_tokens=7))) == "p/m · 7 in · price unknown"
    assert usage_line(_reply(None)) == "p/m"


def test_the_list_shows_problems_and_what_a_search_found() -> None:
    rows = [_row("one", hours=2, pinned=True), _row("two\nlines", problem="no log")]
    text = discussions_text(rows, NOW, {"one": "…the moon…"})

    assert "* one" in text
    assert "…the moon…" in text
    assert "two lines  [no log]" in text.splitlines()[2]
    assert discussions_text([], NOW) == "No discussions.\n"


def test_pinned_ones_come_first_then_the_newest() -> None:
    rows = [_row("old", hours=9), _row("new"), _row("pinned", hours=99, pinned=True)]

    assert [row.meta.name for row in newest_first(rows)] == ["pinned", "new", "old"]


def test_a_row_as_data_says_unknown_as_null() -> None:
    data = discussion_data(_row("one"))

    assert data["usage"]["cost_usd"] is None
    assert data["updated_at"] == "2026-11-20T12:00:00+00:00"
