"""What commands print of values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from core.front.cli.format import discussion_data, discussions_text, newest_first, usage_line
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.messages import Message, Role, TextPart
from core.kernel.values.usage import Usage

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def _row(
    name: str, *, hours: float = 0, pinned: bool = False, problem: str = "", **more: Any
) -> DiscussionSummary:
    meta = DiscussionMeta("-".join(name.split()), name, NOW, "anthropic", "m", pinned=pinned, **more)
    return DiscussionSummary(meta, NOW - timedelta(hours=hours), turns=3, problem=problem)


def _reply(usage: Usage | None) -> Message:
    return Message("r", NOW, Role.ASSISTANT, (TextPart("x"),), provider="p", model="m", usage=usage)


def test_usage_leaves_out_what_was_not_reported() -> None:
    full = Usage(1200, 30, cache_read_tokens=1000, cost_usd=0.5, time_to_first_token_s=0.44, duration_s=2.0)

    assert (
        usage_line(_reply(full))
        == "p/m · 1,200 in (1,000 cached) · 30 out · $0.5000 · first token after 0.4 s · 2.0 s"
    )
    assert usage_line(_reply(Usage(input_tokens=7))) == "p/m · 7 in · price unknown"
    assert usage_line(_reply(None)) == "p/m"


def test_the_list_shows_problems_and_what_a_search_found() -> None:
    rows = [_row("one", hours=2, pinned=True), _row("two\nlines", problem="no log")]
    text = discussions_text(rows, NOW, {"one": "…the moon…"})

    assert "* one" in text
    assert "…the moon…" in text
    assert "two lines  [no log]" in text.splitlines()[2]
    assert discussions_text([], NOW) == "You have no discussions.\n"


def test_pinned_ones_come_first_then_the_newest() -> None:
    rows = [_row("old", hours=9), _row("new"), _row("pinned", hours=99, pinned=True)]

    assert [row.meta.name for row in newest_first(rows)] == ["pinned", "new", "old"]


def test_tasks_stand_behind_the_discussion_that_gave_them_away_and_say_so() -> None:
    rows = [
        _row("task", hours=1, parent_id="parent", delegated_by="call"),
        _row("other", hours=5),
        _row("parent", hours=9),
        _row("orphan", hours=20, parent_id="gone", delegated_by="call"),
    ]
    assert [row.meta.id for row in newest_first(rows)] == ["other", "parent", "task", "orphan"]
    assert "(task) " in discussions_text(rows, NOW)


def test_a_row_as_data_says_unknown_as_null() -> None:
    data = discussion_data(_row("one"))

    assert data["usage"]["cost_usd"] is None
    assert data["updated_at"] == "2026-11-20T12:00:00+00:00"


def test_tools_and_another_mode_than_the_usual_are_shown() -> None:
    rows = [_row("none"), _row("asks", has_tools=True), _row("plans", has_tools=True, mode=Mode.PLAN)]
    text = discussions_text(rows, NOW)

    assert [line.split("  ")[-1] for line in text.splitlines()[-3:]] == [
        "none",
        "(tools) asks",
        "(tools, plan) plans",
    ]
    assert [(row["has_tools"], row["mode"]) for row in map(discussion_data, rows)] == [
        (False, "ask"),
        (True, "ask"),
        (True, "plan"),
    ]
