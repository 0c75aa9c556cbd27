"""Rule 7: calls that begin at once and share a prefix, waiting for the first of them to begin its answer, or not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CacheSettings, GapStats, LedgerScope
from core.kernel.values.provider import RequestPart
from core.kernel.values.stack import ToolSchema
from core.talk.caching.cache_ledger import record
from core.talk.caching.decision import Decision, Market, PlannedTurn, decide
from core.talk.caching.planned_calls import PlannedCall, gate
from tests.bench.__main__ import Row, row
from tests.bench.cache_days import Ask, count_labels, make_start, part_text
from tests.bench.cache_policies import MODELS, Bill, body_of, prices_for
from tests.vendors.billing.anthropic import AnthropicCache, AnthropicTicket
from tests.vendors.billing.clock import START_S, Clock, moment
from tests.vendors.billing.tokens import Texts


def parallel_rows(seeds: Sequence[int]) -> list[Row]:
    """Rule 7 is of calls that begin at once, which a day of one person's turns has none of."""
    words = {True: "rule 7 on (the others wait)", False: "rule 7 off"}
    return [
        row(
            f"three first requests at once, {word}, read {read:g}",
            round(at_once(seeds, read, waits=waits), 4),
            "of no caching",
            runs=len(seeds),
        )
        for read, (waits, word) in product(MODELS, words.items())
    ]


def at_once(seeds: Sequence[int], read: float, *, waits: bool) -> float:
    """Cost of the first requests of a desk's discussions against no caching, sent at one moment.

    Args:
        read: price of reading; waits: rule 7 is on.
    """
    bills = [send_at_once(make_start(seed), read, waits=waits) for seed in seeds]
    return sum(bill.cost(read) for bill in bills) / sum(bill.total for bill in bills)


def send_at_once(asks: Sequence[Ask], read: float, *, waits: bool) -> Bill:
    """Bill requests of one moment. One that waits is planned anew when the answers before it have begun."""
    prices = prices_for(read)
    engine = AnthropicCache(Clock(), Texts(count_labels))
    scope = LedgerScope("anthropic", "key", prices.model)
    market = Market(scope, prices, CacheLedger(), GapStats(), CacheSettings(), moment(START_S), _count)
    bill = Bill()
    out: list[tuple[PlannedCall, Decision, AnthropicTicket]] = []
    for ask in asks:
        call, decision = _planned(ask, market)
        if waits and gate([*(other for other, _, _ in out), call]).waits:
            for _, before, ticket in out:
                engine.first_byte(ticket)
                ledger = record(market.ledger, scope, before.plan, market.now, ask.discussion)
                market = replace(market, ledger=ledger)
            out.clear()
            call, decision = _planned(ask, market)
        ticket = engine.begin(body_of(decision.request, decision.plan.marks, prices.model))
        bill.add(ticket.parts)
        out.append((replace(call, is_out=True), decision, ticket))
    return bill


def _planned(ask: Ask, market: Market) -> tuple[PlannedCall, Decision]:
    decision = decide(PlannedTurn(ask.stack, ask.message_id, discussion_id=ask.discussion), market)
    return PlannedCall(ask.discussion, market.scope, decision.plan, decision.wire.hashes), decision


def _count(part: RequestPart | ToolSchema) -> int:
    return count_labels(part_text(part))
