"""The Usage panel asks for what it shows, says what is not known, and warns of the month's budget."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from core.kernel.values.settings import AiSettings
from core.kernel.values.state import AppState
from core.kernel.values.usage import MonthSpent, UsageBy, UsageQuery, UsageReport, UsageRow, UsageSum
from core.services.spending.spending_messages import CountUsage
from panels.usage.usage_room import UsageView
from tests.panels import states
from tests.panels.screen import Screen
from tests.panels.views import view_of

DAY = datetime(2026, 11, 20, 12, tzinfo=UTC)
SUM = UsageSum(
    calls=12,
    input_tokens=1_000,
    told_input_tokens=1_000,
    cache_read_tokens=580,
    cost_usd=3.25,
    unpriced=2,
    tokens_per_s=44.0,
    saved_usd=1.5,
)
REPORT = UsageReport(
    query=UsageQuery(by=UsageBy.KIND),
    total=SUM,
    rows=(UsageRow(key="tools", label="tools", sum=SUM),),
    series=(
        UsageRow(key="2026-10-01", label="2026-10", sum=SUM),
        UsageRow(key="2026-11-01", label="2026-11", sum=SUM),
    ),
)


def state_with(**spending: object) -> AppState:
    state = states.working()
    return replace(state, now=DAY, spending=replace(state.spending, **spending))  # type: ignore[arg-type]


def screen_of(state: AppState, **view: str) -> Screen:
    return Screen(state, view_of(UsageView(**view), panel="usage"))  # type: ignore[arg-type]


def test_a_loss_by_caching_is_told_as_a_cost() -> None:
    lost = replace(
        REPORT, query=UsageQuery(by=UsageBy.KIND, per=UsageBy.MONTH), total=replace(SUM, saved_usd=-0.18)
    )
    words = screen_of(state_with(usage=lost), span="all", by="kind").ui.texts()

    assert {"$0.18", "More than without caching"} <= {*words}
    assert "Saved by caching" not in words


def test_what_is_shown_is_what_was_asked_and_another_choice_asks_again() -> None:
    screen = screen_of(state_with(usage=REPORT), span="all", by="kind")
    words = screen.ui.texts()
    assert "Adding up…" in words

    answered = replace(REPORT, query=UsageQuery(by=UsageBy.KIND, per=UsageBy.MONTH))
    screen.show(state_with(usage=answered))
    words = screen.ui.texts()
    assert {"$3.25", "$1.50", "58 %", "Turns with tools", "Cost by month"} <= {*words}
    assert "2 requests have no known price and add nothing to the cost." in words

    screen.ui.choose("Time range", "This month")
    assert screen.asked[-1] == CountUsage(UsageQuery(by=UsageBy.KIND, since="2026-11-01"))


def test_an_answer_to_another_question_does_not_leave_the_panel_waiting() -> None:
    """Found at a start with a budget: the month's sum came after the panel's answer, which was then asked for no more."""
    query = UsageQuery(by=UsageBy.KIND, per=UsageBy.MONTH)
    own = state_with(usage=replace(REPORT, query=query))
    other = replace(REPORT, query=UsageQuery(by=UsageBy.MONTH, per=UsageBy.MONTH))
    others = replace(own, spending=replace(own.spending, usage=other))
    screen = screen_of(own, span="all", by="kind")
    asked = screen.asked.count(CountUsage(query))

    screen.show(others)
    screen.show(others)
    assert screen.asked.count(CountUsage(query)) == asked + 1
    screen.show(own)
    assert screen.asked.count(CountUsage(query)) == asked + 1


def test_a_sum_has_the_same_digits_in_the_warning_and_above_it() -> None:
    state = state_with(month=MonthSpent(start="2026-11-01", usd=0.0891))
    settings = replace(state.config.settings, ai=AiSettings(month_budget_usd=0.05))
    words = screen_of(replace(state, config=replace(state.config, settings=settings))).ui.texts()

    assert any("budget of $0.05: $0.089 so far" in one for one in words)


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (7.9, ""),
        (
            8.0,
            "You have spent $8.00 of this month's budget of $10.00. This sum leaves out 1 call of unknown price.",
        ),
        (12.0, "You have used up this month's budget of $10.00: $12.00 so far. The program stops nothing."),
    ],
)
def test_the_budget_of_a_month_warns_from_four_fifths_on(usd: float, said: str) -> None:
    state = state_with(month=MonthSpent(start="2026-11-01", usd=usd, unpriced=1 if usd == 8.0 else 0))
    settings = replace(state.config.settings, ai=AiSettings(month_budget_usd=10.0))
    words = screen_of(replace(state, config=replace(state.config, settings=settings))).ui.texts()

    assert [one for one in words if "budget of" in one] == ([said] if said else [])


def test_a_model_and_a_provider_have_the_names_that_the_rest_of_the_window_gives_them() -> None:
    state = state_with()
    profile = next(one for known in state.config.models.values() for one in known if one.label != one.id)
    row = UsageRow(key=f"{profile.provider}/{profile.id}", label=profile.id, sum=SUM)
    by_model = replace(REPORT, query=UsageQuery(by=UsageBy.MODEL, per=UsageBy.MONTH), rows=(row,))
    words = screen_of(state_with(usage=by_model), span="all", by="model").ui.texts()

    assert profile.label in words
    assert profile.id not in words


def test_what_reached_its_limit_is_a_warning() -> None:
    def tone(spent: float) -> str:
        state = state_with(spent_today_usd=spent)
        settings = state.config.settings
        settings = replace(settings, caching=replace(settings.caching, day_limit_usd=1.0))
        screen = screen_of(replace(state, config=replace(state.config, settings=settings)))
        return str(screen.ui.find(f"Today: ${spent:.2f}, limit $1.00").props["tone"])

    assert (tone(0.99), tone(1.0)) == ("text", "warn")
