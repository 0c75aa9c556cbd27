"""Time of planning: a discussion of 200 turns with 1,000 blocks, one turn after another."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TypeVar

from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CacheSettings, Habits, LedgerScope
from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles
from core.kernel.values.messages import (
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import RequestPart, Switching
from core.kernel.values.stack import StackInputs, ToolSchema
from core.kernel.values.window import ContextView
from core.talk.caching.cache_ledger import record
from core.talk.caching.decision import DecideMemo, Decision, Market, PlannedTurn, decide
from core.talk.caching.economy import observed, stats_of
from core.talk.context.pieces import StackMemo
from core.talk.context.stack import build_stack
from tests.bench.__main__ import Row, row
from tests.bench.cache_days import count_labels, label, part_text
from tests.bench.cache_policies import prices_for
from tests.vendors.billing.clock import START_S, moment

TURNS = 200
BLOCKS = 1_000
BAR_MS = 3.0
THINKING_BAR_MS = 1.2
RUNS = 5
Figure = TypeVar("Figure")
TOOLS = 20


def rows() -> list[Row]:
    """The last 40 of 200 turns; the quietest of some runs. With files that change so that both views are planned, and with
    tools and a model that thinks, whose thinking goes back.

    Processor time beside it: other work on the machine stretches that less; and the second over the first by it, in turn.
    """
    runs = [(_times(thinks=False), _times(thinks=True)) for _ in range(RUNS)]
    found = []
    for place, (name, bar) in enumerate((("files change", BAR_MS), ("tools and thinking", THINKING_BAR_MS))):
        times, processor = min((run[place] for run in runs), key=lambda one: statistics.median(one[0]))
        found += [
            _row(f"{name}, median", statistics.median(times) * 1e3, bar, len(times)),
            _row(f"{name}, worst", max(times) * 1e3, None, len(times)),
            _row(f"{name}, median of processor time", statistics.median(processor) * 1e3, None, len(times)),
        ]
        made = statistics.median(calls(TURNS, thinks=bool(place))[-40:])
        what = f"plan, {TURNS} turns, {BLOCKS:,} blocks, {name}, functions called"
        found.append(row(what, made, "calls", None, runs=40))
    over = statistics.median(statistics.median(two[1]) / statistics.median(one[1]) for one, two in runs)
    what = f"plan, {TURNS} turns, tools and thinking over files that change, processor time"
    return [*found, row(what, round(over, 3), "times", None, runs=RUNS)]


def _row(name: str, value: float, bar: float | None, runs: int) -> Row:
    return row(f"plan, {TURNS} turns, {BLOCKS:,} blocks, {name}", round(value, 3), "ms", bar, runs=runs)


def _times(*, thinks: bool) -> tuple[list[float], list[float]]:
    def timed(act: Act) -> tuple[Decision, tuple[float, float]]:
        started, worked = time.perf_counter(), time.thread_time()
        decision = act()
        return decision, (time.perf_counter() - started, time.thread_time() - worked)

    times, processor = zip(*_planned(TURNS, timed, thinks=thinks)[-40:], strict=True)
    return list(times), list(processor)


def calls(turns: int, *, thinks: bool) -> list[int]:
    """Functions of Python that the plan of each of so many turns calls."""

    def counted(act: Act) -> tuple[Decision, int]:
        count = 0

        def called(_frame: FrameType, event: str, _: object) -> None:
            nonlocal count
            count += event == "call"

        before = sys.getprofile()
        sys.setprofile(called)
        try:
            decision = act()
        finally:
            sys.setprofile(before)
        return decision, count

    return _planned(turns, counted, thinks=thinks)


Act = Callable[[], Decision]


def _planned(
    count_turns: int, measure: Callable[[Act], tuple[Decision, Figure]], *, thinks: bool
) -> list[Figure]:
    """What `measure` says of each plan of a discussion of so many turns."""
    memo, planned = StackMemo(), DecideMemo()
    counts: dict[str, int] = {}

    def count(part: RequestPart | ToolSchema) -> int:
        text = part_text(part)
        found = counts.get(text)
        if found is None:
            found = counts[text] = count_labels(text)
        return found

    prices = prices_for(0.05)
    scope = LedgerScope("anthropic", "key", prices.model)
    ledger, habits = CacheLedger(), Habits()
    view: ContextView | None = None
    turns: list[Message] = []
    figures: list[Figure] = []
    for number in range(count_turns):
        at = moment(START_S + 60.0 * number)
        habits = observed(habits, "d", number + 1, 60.0 + number if number else None, at.timestamp())
        gaps = stats_of(habits, "d", habits.own, number + 1)
        stack = build_stack(_inputs(turns, number, thinks=thinks), memo)
        turn = PlannedTurn(
            stack, f"m{number}", view, next_round=0.3, switching=Switching.ALL if thinks else Switching.NONE
        )
        market = Market(scope, prices, ledger, gaps, CacheSettings(keepalive=True), at, count)
        decision, figure = measure(partial(decide, turn, market, planned))
        figures.append(figure)
        view = decision.view
        if thinks:
            view = replace(view, reasoned=(*view.reasoned, f"m{number}a"))
        ledger = record(ledger, scope, decision.plan, at, "d")
        turns += _said(number, thinks=thinks)
    return figures


def _said(number: int, *, thinks: bool) -> list[Message]:
    """A turn of five blocks; the thinking of a model that does takes the place of what it says before its call."""

    def message(name: str, role: Role, *parts: Part) -> Message:
        return Message(f"m{number}{name}", moment(START_S), role, parts)

    call = f"c{number}"
    said = label(50, call)
    first = (
        ReasoningPart("", json.dumps({"type": "thinking", "thinking": said, "signature": call}))
        if thinks
        else TextPart(said)
    )
    return [
        message("", Role.USER, TextPart(label(100, f"m{number}"))),
        message("a", Role.ASSISTANT, first, ToolCallPart(call, "read", "{}")),
        message("b", Role.TOOL, ToolResultPart(call, label(300, call))),
        message("c", Role.ASSISTANT, TextPart(label(300, f"m{number}c"))),
    ]


def _inputs(turns: list[Message], number: int, *, thinks: bool) -> StackInputs:
    edits = 0 if thinks else number // 5
    names = (f"tool_{one:02}" for one in range(TOOLS if thinks else 0))
    tools = tuple(ToolSchema(name, label(300, name), '{"type": "object"}') for name in names)
    files = tuple(
        ItemFiles(
            FileItem(path),
            (FileSnapshot(path, f"/{path}", text=label(2_000, f"{path} {edits if n == 3 else 0}")),),
        )
        for n in range(20)
        for path in (f"src/file_{n}.py",)
    )
    return StackInputs(
        role_text=label(20_000, "role"),
        preset_name="bench",
        items=files,
        turns=tuple(turns),
        user_text=label(100, f"m{number}"),
        tools=tools,
    )
