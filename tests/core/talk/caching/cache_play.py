"""A book of caching over which calls are played, with the market, prices and usage they need."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CachePlan, CacheSettings, DiscussionCache, GapStats
from core.kernel.values.messages import Message, Role
from core.kernel.values.records import ViewRecord
from core.kernel.values.usage import Usage
from core.talk.caching import cache_book as books
from core.talk.caching import planned_calls
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.decision import Market, PlannedTurn
from core.talk.caching.planned_calls import CacheReport, CallWait
from core.talk.caching.view import Replayed
from tests.core.stacks import said
from tests.core.talk.caching.requests import ANTHROPIC, NOW, SCOPE, after, count, habits_of, stack_of

A, B = {"a.py": "ALPHA one\n", "b.py": "BETA\n"}, {"a.py": "ALPHA two\n", "b.py": "BETA\n"}
MARKET = Market(SCOPE, ANTHROPIC, CacheLedger(), GapStats(), CacheSettings(), NOW, count)
PINGING = CacheSettings(keepalive=True, ttl_s=300)
PINGED = Usage(input_tokens=9_000, output_tokens=0)


def cost(_provider: str, _model: str, usage: Usage) -> float:
    """A dollar a token, a tenth for reads."""
    read = usage.cache_read_tokens or 0
    return (usage.input_tokens or 0) - read + read / 10


def billed(plan: CachePlan, *, read: int | None = None) -> Usage:
    """What a provider reports that does as planned, or reads something else."""
    total = plan.read_tokens + plan.write_tokens + plan.fresh_tokens
    reads = plan.read_tokens if read is None else read
    return Usage(input_tokens=total, cache_read_tokens=reads, cache_write_tokens=plan.write_tokens)


class CachePlay:
    """A book over which calls are played; every step is the very one that the keeper takes."""

    def __init__(self, *discussions: str) -> None:
        self.book = replace(CacheBook(), habits=habits_of(60.0))
        self.market = MARKET
        self.turns: dict[str, tuple[Message, ...]] = {}
        self.records: dict[str, tuple[ViewRecord, ...]] = {}
        for name in discussions or ("d",):
            self.book = books.opened(self.book, name, DiscussionCache(), Replayed())

    def plan(
        self, call_id: str, at_s: float, files: dict[str, str] = A, name: str = "d", words: str = "words"
    ) -> BookedCall:
        """Plan a turn of a discussion."""
        stack = stack_of(files, self.turns.get(name, ()), words)
        self.market = replace(self.market, now=after(at_s))
        return planned_calls.plan_call(
            self.book, PlannedTurn(stack, call_id, discussion_id=name), self.market
        )

    def go(self, call_id: str, call: BookedCall) -> CallWait | None:
        """Ask the gate, by the ledger as it stands."""
        self.book, wait = planned_calls.admitted(self.book, call_id, call, self.book.ledger)
        return wait

    def end(self, call_id: str, usage: Usage, at_s: float = 0.0) -> CacheReport | None:
        """Usage comes."""
        self.book, report = planned_calls.ended(self.book, call_id, usage, None, after(at_s), cost, str.title)
        return report

    def turn(
        self,
        call_id: str,
        at_s: float,
        files: dict[str, str] = A,
        name: str = "d",
        *,
        read: int | None = None,
        is_task: bool = False,
    ) -> tuple[BookedCall, CacheReport]:
        """A whole turn: begun, planned, sent, shown, answered."""
        self.book = books.turn_begun(self.book, name, after(at_s), is_task=is_task)
        call = self.plan(call_id, at_s, files, name)
        assert self.go(call_id, call) is None
        replayed, records = planned_calls.shown(self.book, call, f"q{call_id}")
        self.book = books.with_page(self.book, name, replace(self.book.pages[name], replayed=replayed))
        self.records[name] = (*self.records.get(name, ()), *records)
        report = self.end(call_id, billed(call.decision.plan, read=read), at_s + 5)
        assert report is not None
        answer = (said(call_id, Role.USER, "words"), said(f"{call_id}r", Role.ASSISTANT, "answer"))
        self.turns[name] = (*self.turns.get(name, ()), *answer)
        return call, report


def plan_of(call: BookedCall) -> CachePlan:
    return call.decision.plan
