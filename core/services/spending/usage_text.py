"""Usage in words and as a table for a spreadsheet: the same for the window, the command line and the Hook API."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from core.kernel.figures import count, money, share, span, tokens
from core.kernel.language import tr
from core.kernel.values.usage import UsageReport, UsageSum

HEAD = ("", "calls", "cost", "saved", "hits", "in", "out", "speed")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is a formula to a spreadsheet."""


def sum_cells(one: UsageSum) -> tuple[str, ...]:
    """Calls, cost, saved, hit rate, tokens in and out, and speed, as a person reads them."""
    return (
        f"{one.calls:,}",
        cost_text(one),
        saved_text(one),
        "" if one.hit_rate is None else share(one.cache_read_tokens, one.input_tokens),
        tokens(one.input_tokens),
        tokens(one.output_tokens),
        _rate(one),
    )


def _rate(one: UsageSum) -> str:
    return "" if one.tokens_per_s is None else tr("{tokens:.0f} tokens/s", tokens=one.tokens_per_s)


def cost_text(one: UsageSum) -> str:
    """The known cost; more where some of it is not known."""
    known = money(one.known_cost_usd, is_estimate=bool(one.estimates))
    return (
        tr("{known} + {unpriced:,} unknown", known=known, unpriced=one.unpriced)
        if one.unpriced and one.known_cost_usd is not None
        else known
    )


def saved_text(one: UsageSum) -> str:
    """Savings of caching; `-$0.02` where it took more than it gave."""
    if one.unsaved and one.saved_usd <= 0:
        return tr("unknown")
    return f"-{money(-one.saved_usd)}" if one.saved_usd < 0 else money(one.saved_usd)


def speed_text(one: UsageSum) -> str:
    """`41 tokens/s, first after 0.8 s`; empty where no call told."""
    first = (
        ""
        if one.first_token_s is None
        else tr("first token after {first_token_s}", first_token_s=span(one.first_token_s))
    )
    return ", ".join(filter(None, (_rate(one), first)))


def report_notes(report: UsageReport) -> Iterator[str]:
    """Sentences about what the sums do not hold."""
    total = report.total
    if total.unpriced == 1:
        yield tr("1 call has no known price and adds nothing to the cost.")
    elif total.unpriced:
        yield tr(
            "{unpriced:,} calls have no known price and add nothing to the cost.", unpriced=total.unpriced
        )
    if total.unsaved:
        yield tr(
            "The program does not know what caching saved in {unsaved}.",
            unsaved=count(total.unsaved, tr("call"), tr("calls")),
        )
    if report.odd_dates == 1:
        yield tr(
            "1 call has a date before 2015 or after tomorrow. The total counts it, no day does. {remedy}",
            remedy=_CLOCK,
        )
    elif report.odd_dates:
        yield tr(
            "{odd_dates:,} calls have a date before 2015 or after tomorrow. The total counts them, no day does. {remedy}",
            odd_dates=report.odd_dates,
            remedy=_CLOCK,
        )


_CLOCK = tr("Check your computer's clock.")


def report_data(report: UsageReport) -> dict[str, Any]:
    """The report as the plain data that the CLI prints and the Hook API answers with."""
    return {
        "by": report.query.by.value,
        "since": report.query.since,
        "until": report.query.until,
        "total": sum_data(report.total),
        "rows": [{"key": row.key, "label": row.label, **sum_data(row.sum)} for row in report.rows],
        "odd_dates": report.odd_dates,
    }


def sum_data(one: UsageSum) -> dict[str, Any]:
    """A sum as plain data. Costs are what is known of them; `unpriced_calls` come on top."""
    return {
        "calls": one.calls,
        "input_tokens": one.input_tokens,
        "output_tokens": one.output_tokens,
        "cache_read_tokens": one.cache_read_tokens,
        "cache_write_tokens": one.cache_write_tokens,
        "hit_rate": one.hit_rate,
        "cost_usd": one.known_cost_usd,
        "unpriced_calls": one.unpriced,
        "estimated_calls": one.estimates,
        "saved_usd": one.saved_usd,
        "saving_unknown_calls": one.unsaved,
        "time_to_first_token_s": one.first_token_s,
        "tokens_per_s": one.tokens_per_s,
    }


def report_csv(report: UsageReport) -> str:
    """A row each, for a spreadsheet: RFC 4180, a head first. What is not known is an empty cell, never 0."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow((report.query.by.value, "label", *sum_data(report.total)))
    for row in report.rows:
        writer.writerow((_cell(row.key), _cell(row.label), *sum_data(row.sum).values()))
    return out.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
