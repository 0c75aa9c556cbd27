"""Spending in the state: what was counted, the day that ends, and what other programs must see of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from msgspec.structs import replace

from core.kernel.figures import count, dollars, money
from core.kernel.language import as_sentences, tr
from core.kernel.values.discussion import CallPhase
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import Handlers, Result, Tick, conclude, decline, follow, keep, on
from core.kernel.values.usage import MonthSpent, Reservation, UsageBy, UsageQuery
from core.services.settings.settings_messages import FindCallPrices
from core.services.spending.limits import (
    add_payments,
    call_key,
    counted,
    is_shared,
    shared_key,
    wanted_prices,
)
from core.services.spending.spending_messages import (
    ClaimReserve,
    CountUsage,
    PaidElsewhere,
    PaymentsSeen,
    ReserveClaimed,
    SettleReserve,
    SpendingEffect,
    SpentCounted,
    UpkeepCut,
    UsageCounted,
)

ANSWERS_KEPT = 8
DAY_REMEDY = tr("Write the day as 2026-11-29")
_NOTICE = "usage"


def count_usage(state: AppState, asked: CountUsage) -> Result:
    """Have what was used added up."""
    for text in filter(None, (asked.query.since, asked.query.until)):
        try:
            date.fromisoformat(text)
        except ValueError:
            return decline(
                state, asked.command_id, _NOTICE, tr("{text!r} is not a day", text=text[:40]), DAY_REMEDY
            ), ()
    return state, (asked,)


def _usage_counted(state: AppState, counted: UsageCounted) -> AppState:
    report, spending = counted.report, state.spending
    answers = spending.answers
    if counted.command_id:
        answers = ((counted.command_id, report), *answers)[:ANSWERS_KEPT]
    month = spending.month
    if month is not None and report.query == _month_query(month):
        month = replace(month, usd=report.total.cost_usd, unpriced=report.total.unpriced)
    state = replace(state, spending=replace(spending, usage=report, answers=answers, month=month))
    return conclude(state, CommandOutcome(command_id=counted.command_id))


def _month_query(month: MonthSpent) -> UsageQuery:
    return UsageQuery(by=UsageBy.MONTH, per=UsageBy.MONTH, since=month.start)


def _followed_month(state: AppState) -> Result:
    """Have the month added up where a budget asks for it: when it is set, and when a month begins."""
    if state.config.settings.ai.month_budget_usd is None or state.now is None or state.program.is_loading:
        return state, ()
    start = state.now.astimezone().date().replace(day=1).isoformat()
    if state.spending.month is not None and state.spending.month.start == start:
        return state, ()
    month = MonthSpent(start=start)
    return replace(state, spending=replace(state.spending, month=month)), (CountUsage(_month_query(month)),)


def budget_warning(state: AppState) -> str:
    """Sentence that the month's budget is nearly or wholly spent; empty below four fifths, or without one."""
    month, budget = state.spending.month, state.config.settings.ai.month_budget_usd
    if month is None or month.usd is None or budget is None or month.usd < WARN_SHARE * budget:
        return ""
    unknown = (
        tr(
            "This sum leaves out {calls} of unknown price.",
            calls=count(month.unpriced, tr("call"), tr("calls")),
        )
        if month.unpriced
        else ""
    )
    if month.usd < budget:
        said = tr(
            "You have spent {usd} of this month's budget of {budget}.",
            usd=money(month.usd),
            budget=dollars(budget),
        )
    else:
        said = tr(
            "You have used up this month's budget of {budget}: {usd} so far. The program stops nothing.",
            budget=dollars(budget),
            usd=money(month.usd),
        )
    return as_sentences(said, unknown)


WARN_SHARE = 0.8


def _followed_reserves(before: AppState, after: AppState, body: object) -> Result:
    """Share what is held back, whoever holds it: no call can reserve where other programs do not see it.

    Payments for calls of turns that go on are told with the next call that is claimed, or with a tick: between two
    requests of a turn nobody waits for a write.

    Args:
        body: the message of the step.
    """
    effects, unsettled = _reserve_effects(before, after), after.spending.unsettled
    if not unsettled:
        return after, effects
    claim = next((one for one in effects if isinstance(one, ClaimReserve)), None)
    if claim is not None:
        told = replace(claim, settled=unsettled)
        effects = tuple(told if one is claim else one for one in effects)
    elif isinstance(body, Tick) or after.program.is_closing:
        effects = (*effects, *(SettleReserve(key, paid) for key, paid in unsettled.items()))
    else:
        return after, effects
    return replace(after, spending=replace(after.spending, unsettled={})), effects


def price_effects(
    before: AppState, after: AppState, reader: Callable[[AppState], tuple[str, str]]
) -> tuple[FindCallPrices, ...]:
    """Look up the prices that a limit asks for, before the call that they decide about.

    Args:
        reader: provider and model that read in a harvest.
    """
    was, now = before.config, after.config
    is_same = was.settings is now.settings and was.prices is now.prices and was.models is now.models
    if (is_same and before.discussions is after.discussions) or not now.providers:
        return ()
    readers = () if now.settings.caching.day_limit_usd is None else (reader(after),)
    asked = wanted_prices(before, readers) if was.providers else ()
    wanted = tuple(key for key in wanted_prices(after, readers) if key not in asked)
    return (FindCallPrices(wanted),) if wanted else ()


def _reserve_effects(before: AppState, after: AppState) -> tuple[SpendingEffect, ...]:
    """Effects that share it.

    What is held back no more ends there with what was paid for in the same step; of a message's call it ends with the
    write of its reply, and of a ping or a prewarm that has left with that of its record.
    """
    was, now = before.spending.reserved, after.spending.reserved
    if was is now and before.turns is after.turns:
        return ()
    built, known = _built(after), _built(before)
    calls = tuple(
        ClaimReserve(key=key, reservation=one)
        for key, one in built.items()
        if key not in known and is_shared(after, one.discussion_id, one.usd)
    )
    if was is now:
        return calls
    paid = {key: one for key, one in after.spending.own.items() if key not in before.spending.own}
    over = tuple(
        SettleReserve(shared_key(key, one), None) if one.record_id else SettleReserve(key, paid)
        for key, one in was.items()
        if key not in now or (one.record_id and now[key].record_id != one.record_id)
    )
    return (
        *calls,
        *over,
        *(ClaimReserve(key=key, reservation=one) for key, one in now.items() if was.get(key) != one),
    )


def _built(state: AppState) -> dict[str, Reservation]:
    """Reserves of messages' calls whose requests are assembled."""
    return {
        call_key(call.id): Reservation(usd=call.reserved_usd or 0.0, discussion_id=call.discussion_id)
        for call in state.turns.calls.values()
        if call.built is not None and call.phase is not CallPhase.STOPPING
    }


HANDLERS = Handlers(
    on(UsageCounted, lambda state, happened: (_usage_counted(state, happened), ())),
    on(SpentCounted, lambda state, happened: (counted(state, happened), ())),
    on(PaymentsSeen, lambda state, happened: (add_payments(state, happened.payments), ())),
    on(PaidElsewhere, lambda state, happened: (add_payments(state, happened.payments), ())),
    on(ReserveClaimed, lambda state, happened: (add_payments(state, happened.elsewhere.payments), ())),
    on(UpkeepCut, keep),  # the room of caching logs it
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = (
    follow(
        "program.is_closing turns.calls spending.reserved spending.unsettled",
        lambda before, after, moment: _followed_reserves(before, after, moment.body),
        messages=(Tick,),
    ),
    follow("", lambda _before, after, _moment: _followed_month(after), messages=(Tick,)),
)
"""Shared: the amounts that are held back, and the sum of a month that has a budget."""
