"""Usage and cost of calls over HTTP, by day, week, month, provider, model, discussion or kind of work."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from core.front.hooks.fields import Count, Data, Money, Query, RefusedError
from core.front.hooks.operation import Answer, Request, Resource, operation
from core.kernel.language import tr
from core.kernel.values.usage import UsageBy, UsageQuery, UsageReport, UsageRow, UsageSum
from core.services.spending.spending_messages import CountUsage
from core.services.spending.usage_table import sum_data

COUNT_S = 60.0
Day = Annotated[str, Meta(max_length=40, description="A day, for example 2026-11-29; empty for all days.")]


class UsageReportQuery(Query, frozen=True):
    """`by`: what the rows tell apart. `since`, `until`: the first and the last day."""

    by: UsageBy = UsageBy.MODEL
    since: Day = ""
    until: Day = ""


class UsageSumData(Data, frozen=True):
    """Calls added up. `unpriced_calls` have no known price and add nothing to `cost_usd`, null where no price is known."""

    calls: Count
    input_tokens: Count
    output_tokens: Count
    cache_read_tokens: Count
    cache_write_tokens: Count
    hit_rate: Money
    cost_usd: Money
    unpriced_calls: Count
    estimated_calls: Count
    saved_usd: float
    saving_unknown_calls: Count
    time_to_first_token_s: Money
    tokens_per_s: Money

    @classmethod
    def of(cls, one: UsageSum) -> UsageSumData:
        """The same as the CLI prints."""
        return cls(**sum_data(one))


class UsageRowData(Data, frozen=True):
    """Sum of one day, model, discussion … `key` and `label` are empty for calls whose date cannot be."""

    key: str
    label: str
    sum: UsageSumData

    @classmethod
    def of(cls, row: UsageRow) -> UsageRowData:
        """The row as it is answered with."""
        return cls(key=row.key, label=row.label, sum=UsageSumData.of(row.sum))


class UsageReportData(Data, frozen=True):
    """Usage: the dearest first, days in their order. `odd_dates`: calls before 2015 or after tomorrow."""

    by: UsageBy
    total: UsageSumData
    rows: list[UsageRowData]
    odd_dates: Count

    @classmethod
    def of(cls, report: UsageReport) -> UsageReportData:
        """The report as it is answered with."""
        return cls(
            by=report.query.by,
            total=UsageSumData.of(report.total),
            rows=[UsageRowData.of(row) for row in report.rows],
            odd_dates=report.odd_dates,
        )


async def get_usage(request: Request[UsageReportQuery]) -> Answer:
    """Usage and cost of calls, also of discussions in the trash, and of harvests."""
    fields = request.fields
    query = UsageQuery(by=fields.by, since=fields.since, until=fields.until)
    slow = tr("The program takes too long to add up the usage"), tr("Ask again")
    command_id, state = await request.carry_out(
        CountUsage(query), COUNT_S, slow=slow, refused=(422, "wrong_query")
    )
    report = state.spending.answer_to(command_id)
    if report is None:
        raise RefusedError(503, "slow", tr("The program no longer has the answer"), tr("Ask again"))
    return Answer(data=UsageReportData.of(report))


RESOURCE = Resource(
    operations=(operation("GET", "/api/usage", get_usage, {200: UsageReportData}),),
    panels={"usage": (CountUsage,)},
)
