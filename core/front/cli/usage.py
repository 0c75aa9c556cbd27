"""`usage`: what calls have used and cost, by day, week, month, provider, model, discussion or kind of work."""

from __future__ import annotations

from core.app.execution import act
from core.front.cli.arguments import Options
from core.front.cli.output import Console, table
from core.front.cli.session import FrontEnd, session
from core.kernel.frame import one_line
from core.kernel.values.usage_report import UsageBy, UsageQuery, UsageReport
from core.services.spending.spending_messages import CountUsage
from core.services.spending.usage_text import (
    HEAD,
    report_csv,
    report_data,
    report_notes,
    speed_text,
    sum_cells,
)

COUNT_S = 60.0
NAME_CHARS = 40


def run_usage(options: Options, front: FrontEnd, console: Console) -> int:
    """Print what was used. Returns 0."""
    given = options.given
    query = UsageQuery(by=UsageBy(given.by), since=given.since, until=given.until)
    with session(front, console), console.waiting("Adding up"):
        state = act(front, CountUsage(query), COUNT_S)
    report = state.spending.usage or UsageReport(query=query)
    if options.is_json:
        console.json(report_data(report))
    elif given.csv:
        console.write(report_csv(report))
    else:
        console.write(_text(report, console))
    return 0


def _text(report: UsageReport, console: Console) -> str:
    if not report.total.calls:
        return "No call was made in that time.\n" if report.query.since else "No call was made yet.\n"
    rows = [(one_line(row.label or "no usable date", NAME_CHARS), *sum_cells(row.sum)) for row in report.rows]
    rows.append(("together", *sum_cells(report.total)))
    numbers = frozenset(range(1, len(HEAD)))
    text = table(HEAD, rows, numbers=numbers, kept=frozenset({0, 2}), columns=console.columns)
    notes = [*filter(None, (speed_text(report.total),)), *report_notes(report)]
    return text + "".join(f"{note}\n" for note in notes)
