"""Spending: what this discussion and the day have cost, each with its limit beside it."""

from __future__ import annotations

from core.base import figures as fmt
from core.spending.limits import discussion_limit_usd, reached_limits
from core.values.spending import UNPRICED_REMEDY, LimitScope
from core.values.usage import Usage
from panels.base.desk import Desk
from panels.caching.settings_tab import TABLE, Amount, amount_row

PER_DISCUSSION = Amount(
    "ai_settings.spend_limit_usd",
    "Limit per discussion ($)",
    "What a discussion may cost before the next send asks",
    1_000_000,
    may_be_empty=True,
)
PER_DAY = Amount(
    f"{TABLE}.day_limit_usd",
    "Limit per day ($)",
    "What a day may cost before the next send asks and background work stops",
    1_000_000,
    may_be_empty=True,
)


def spending_section(desk: Desk) -> None:
    """Draw what was spent, against its limits, which are typed here. Sends ChangeSetting."""
    ui, settings = desk.ui, desk.state.config.settings
    with ui.group("spending", gap=6):
        ui.text("title", "Spending", style="strong")
        if (line := _discussion_line(desk)) is not None:
            ui.text("spent", line, style="small", wraps=True)
        ui.text("today", day_line(desk), style="small", wraps=True)
        amount_row(desk, PER_DISCUSSION, settings.ai.spend_limit_usd)
        amount_row(desk, PER_DAY, settings.caching.day_limit_usd)
        if unpriced := _unpriced(desk):
            text = f"{unpriced} Each send asks, and background work does not happen. {UNPRICED_REMEDY}."
            ui.text("unpriced", text, tone="warn", style="small", wraps=True)
        note = "At a limit the next send asks, and background work stops. Empty: no limit."
        ui.text("limits note", note, tone="muted", style="small", wraps=True)


def _unpriced(desk: Desk) -> str:
    """Sentence that a limit cannot hold because nobody knows the price of this discussion's model; empty where it can."""
    reached = reached_limits(desk.state, desk.summary.meta.id) if desk.summary is not None else ()
    return next((one.sentence for one in reached if one.scope is LimitScope.UNPRICED), "")


def _discussion_line(desk: Desk) -> str | None:
    """`This discussion: $0.42 of $5.00`; None where none is selected."""
    summary = desk.summary
    if summary is None:
        return None
    used = summary.usage
    spent = fmt.money(0.0 if used == Usage() else used.cost_usd, is_estimate=used.is_estimate)
    return f"This discussion: {spent}{_against(discussion_limit_usd(desk.state, summary.meta))}"


def day_line(desk: Desk) -> str:
    """`Today: $1.20, no limit`."""
    spending, limit = desk.state.spending, desk.state.config.settings.caching.day_limit_usd
    if spending.spent_today_usd is None:
        return f"Today: not added up yet{_against(limit)}"
    return f"Today: {fmt.money(spending.spent_today_usd, is_estimate=spending.has_estimate)}{_against(limit)}"


def _against(limit_usd: float | None) -> str:
    return ", no limit" if limit_usd is None else f", limit {fmt.money(limit_usd)}"
