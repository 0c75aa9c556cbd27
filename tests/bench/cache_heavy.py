"""Replays days heavy with tools: rounds that wait for a yes, journals that leave the view, compactions with their summary.

The bar is the day's own: what the same requests cost at least, for one who knows the future. The program's own plan of a
cut makes the requests, so what a compaction rewrites is on both sides; what its summary reads is paid whole on both.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from statistics import fmean

from msgspec.structs import replace

from core.agent.cut_plan import CutRequest, plan_cut, with_summary
from core.agent.journal_text import JournalEntry, new_entry
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.stack import StackInputs
from core.kernel.values.window import CutReason, ViewCut, ViewLine
from core.talk.caching.planned_calls import next_round
from core.talk.context.stack import build_stack
from core.talk.context.token_scale import budget_of, is_full, is_told, request_parts
from core.talk.discussion.cuts import sent_view
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_bound import AsSent, least_same
from tests.bench.cache_days import (
    DESK,
    TURNS,
    Ask,
    DayTalk,
    LabelCounter,
    SharedState,
    count_labels,
    label,
    lived,
    shuffled_lengths,
)
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import FIXED_HOUR, MODELS, fixed_hour, replay_peer, tail_of
from tests.bench.cache_replay import MAIN, OFF, ON, SETTINGS, tokens_without
from tests.vendors.billing.clock import moment

WINDOW = 200_000
TOOL_TURN, MORE_ROUNDS, MOST_ROUNDS = 0.8, 0.8, 18
"""Odds that a turn uses tools, and that a reply with calls is followed by another."""
MOST_RESULT = 12_000
ASKED, ASKED_LATE = 0.12, 0.03
"""Odds that a round waits for a yes: of a person who sits there, and of one who comes back."""
SUMMARY = 1_500
"""Tokens of a summary."""
SEEDS_OF_TOOLS = SEEDS[:10]
OVER_SAME = 1.08
"""As the days without tools."""
TOLD_WORDS = "Write what matters into the journal."


@dataclass(slots=True)
class HeavyTalk(DayTalk):
    """A discussion with tools, whose view is cut as the program would cut it.

    Args:
        cut: newest; lines: of the program, by message; entries: of the journal.
        cuts, summed: compactions, and tokens of what their summaries read.
    """

    cut: ViewCut | None = None
    lines: dict[str, tuple[ViewLine, ...]] = field(default_factory=dict)
    entries: tuple[JournalEntry, ...] = ()
    count: LabelCounter = field(default_factory=LabelCounter)
    cuts: int = 0
    summed: int = 0
    is_told: bool = False

    def turn(self, at_s: float, number: int, shared: SharedState, tool_turn: float) -> list[Ask]:
        """The requests of one turn; before it the view is made shorter where that is due."""
        if number:
            self.edit()
        draw, id_ = self.draw, f"{self.name}m{number}"
        words = label(round(draw.lognormvariate(5.0, 0.6)), id_)
        must_tell = self._make_room(at_s, shared)
        if must_tell:
            self.lines[id_] = (ViewLine(id_, TOLD_WORDS),)
        asked = replace(self.inputs(shared), user_text=f"{words}\n\n{TOLD_WORDS}" if must_tell else words)
        said = len(self.turns)
        asks = [self._ask(asked, at_s, id_, is_turn=True)]
        self.say(id_, Role.USER, TextPart(words))
        rounds = self._rounds(tool_turn)
        if must_tell:
            at_s += draw.uniform(8, 25)
            self._journal(at_s, id_)
            asks.append(self._ask(self.inputs(shared), at_s, id_))
        for round_ in range(rounds):
            at_s = self._round(at_s, f"{id_}c{round_}")
            asks.append(self._ask(self.inputs(shared), at_s, id_))
        self.say(f"{id_}r", Role.ASSISTANT, TextPart(label(round(draw.lognormvariate(6.2, 0.5)), f"{id_}r")))
        answers = [message.parts for message in self.turns[said:] if message.role is Role.ASSISTANT]
        return [dataclasses.replace(ask, answer=answer) for ask, answer in zip(asks, answers, strict=True)]

    def inputs(self, shared: SharedState) -> StackInputs:
        """The stack's inputs with the view of the discussion."""
        return replace(DayTalk.inputs(self, shared), turns=self._view())

    def _view(self) -> tuple[Message, ...]:
        return sent_view(OpenDiscussion(self.name, tuple(self.turns), cut=self.cut, lines=self.lines))

    def _ask(self, inputs: StackInputs, at_s: float, id_: str, *, is_turn: bool = False) -> Ask:
        odds = next_round(inputs.turns, has_tools=True)
        return Ask(self.name, at_s, build_stack(inputs, self.memo), id_, is_turn, next_round=odds)

    def _rounds(self, tool_turn: float) -> int:
        rounds = 1 if self.draw.random() < tool_turn else 0
        while 0 < rounds < MOST_ROUNDS and self.draw.random() < MORE_ROUNDS:
            rounds += 1
        return rounds

    def _round(self, at_s: float, name: str) -> float:
        draw = self.draw
        names = [f"{name}x{number}" for number in range(draw.choice((1, 1, 1, 2, 3)))]
        calls = (ToolCallPart(one, "read", json.dumps({"path": label(40, one)})) for one in names)
        self.say(f"{name}a", Role.ASSISTANT, TextPart(label(60, name)), *calls)
        sizes = (min(MOST_RESULT, round(draw.lognormvariate(6.8, 1.0))) for _ in names)
        results = (
            ToolResultPart(one, label(n, f"{one} result")) for one, n in zip(names, sizes, strict=True)
        )
        self.say(f"{name}r", Role.TOOL, *results)
        kind = draw.random()
        if kind < ASKED_LATE:
            return at_s + draw.uniform(300, 1_500)
        return at_s + (draw.uniform(30, 240) if kind < ASKED_LATE + ASKED else draw.uniform(8, 25))

    def _journal(self, at_s: float, id_: str) -> None:
        """The model writes its journal: a call whose traces leave with the next cut."""
        text = label(400, f"{id_} journal")
        call = ToolCallPart(f"{id_}j", "journal", json.dumps({"text": text}))
        self.say(f"{id_}ja", Role.ASSISTANT, TextPart(label(20, f"{id_}j")), call)
        self.say(f"{id_}jr", Role.TOOL, ToolResultPart(call.call_id, label(10, f"{id_} written")))
        self.entries = (*self.entries, new_entry(moment(at_s), "", text, self.name))

    def _make_room(self, at_s: float, shared: SharedState) -> bool:
        """Cut the view where the window is nearly full. Returns True if the model is to be told to write its journal."""
        inputs = self.inputs(shared)
        parts = request_parts(build_stack(inputs, self.memo).request())
        used = sum(map(self.count, parts))
        if is_full(used, WINDOW):
            self._cut(at_s, inputs, used)
            return False
        if self.is_told or not is_told(used, WINDOW):
            return False
        self.is_told = True
        return True

    def _cut(self, at_s: float, inputs: StackInputs, used: int) -> None:
        sizes = {one.id: sum(map(count_part, one.parts)) for one in inputs.turns}
        budget = budget_of(WINDOW, used - sum(sizes.values()))
        asked = CutRequest(
            tuple(self.turns), sizes, budget, self.entries, self.name, moment(at_s),
            previous=self.cut, why=CutReason.FULL,
        )  # fmt: skip
        plan = plan_cut(asked)
        if plan.cut is None:
            return
        self.cuts += 1
        cut = (
            with_summary(plan, label(SUMMARY, f"{self.name} summary {self.cuts}"))
            if plan.to_summarise
            else plan.cut
        )
        self.summed += sum(map(count_labels, plan.to_summarise))
        self.cut = replace(cut, id=f"{self.name}cut{self.cuts}", at=moment(at_s))
        self.is_told = False


def count_part(part: object) -> int:
    """Tokens of a part of a message by its labels."""
    match part:
        case TextPart(text) | ToolResultPart(_, text):
            return count_labels(text)
        case ToolCallPart(_, name, arguments):
            return count_labels(f"{name}{arguments}")
        case _:
            return 0


@dataclass(frozen=True, slots=True)
class HeavyDay:
    """A day with tools.

    Args:
        asks: its requests; cuts: compactions; summed: tokens that their summaries read.
    """

    asks: tuple[Ask, ...]
    cuts: int
    summed: int


def make_heavy_day(seed: int, turns: int = TURNS) -> HeavyDay:
    """A day of so many turns in three discussions, in one where they are few."""
    draw = random.Random(f"heavy {seed}")
    talks: list[HeavyTalk] = []

    def begun(name: str, source: random.Random) -> DayTalk:
        talks.append(HeavyTalk(name, source))
        return talks[-1]

    lengths = shuffled_lengths(draw) if turns == TURNS else [turns]
    asks = lived(DESK, draw, lengths, TOOL_TURN, begun)
    return HeavyDay(asks, sum(talk.cuts for talk in talks), sum(talk.summed for talk in talks))


@dataclass(frozen=True, slots=True)
class HeavyBill:
    """Cost of a day in tokens of fresh input, the summaries' included.

    Args:
        total: without caching; costs: by policy; least: for the same requests, by policy; untold: keepalive off, without
            the odds of another round; fixed: one-hour marks without a planner; summaries: their share.
    """

    total: float
    costs: dict[str, float]
    least: dict[str, float]
    untold: float
    fixed: float
    summaries: float
    asks: int
    cuts: int
    pings: int


def replay_heavy(seed: int) -> HeavyBill:
    """Replay one day; what a process of the bench does."""
    day = make_heavy_day(seed)
    lines = {name: AsSent(MODELS[MAIN]) for name in SETTINGS}
    bills = {
        name: Ours(MAIN, settings, line=lines[name]).replay(day.asks) for name, settings in SETTINGS.items()
    }
    untold = [dataclasses.replace(ask, next_round=0.0) for ask in day.asks]
    requests = [(request, tail_of(request)) for request in lines[OFF].asked]
    return HeavyBill(
        sum(tokens_without(day.asks).values()) + day.summed,
        {name: bill.cost(MAIN) + day.summed for name, bill in bills.items()},
        {
            name: least_same(line.requests, MAIN, pings=name == ON) + day.summed
            for name, line in lines.items()
        },
        Ours(MAIN, SETTINGS[OFF]).replay(untold).cost(MAIN) + day.summed,
        replay_peer(day.asks, requests, fixed_hour).cost(MAIN) + day.summed,
        day.summed,
        len(day.asks),
        day.cuts,
        bills[ON].pings,
    )


def rows(seeds: Sequence[int] = SEEDS_OF_TOOLS) -> list[Row]:
    """All figures, over held-out seeds."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        part = list(pool.map(replay_heavy, seeds[: len(SEEDS_OF_TOOLS)]))
    found = []
    total = sum(one.total for one in part)
    for name in SETTINGS:
        cost, least = sum(one.costs[name] for one in part), sum(one.least[name] for one in part)
        what = f"tool-heavy day, {name}"
        bar = OVER_SAME if name == OFF else None
        found += [
            _row(what, cost / total, "of no caching", None, part),
            _row(
                f"{what}, worst seed",
                max(one.costs[name] / one.total for one in part),
                "of no caching",
                1.0,
                part,
            ),
            _row(f"{what}, over the least for the same requests", cost / least, "times", bar, part),
            _row(f"{what}, {FIXED_HOUR}", cost / sum(one.fixed for one in part), "times", 1.0, part),
        ]
    told = sum(one.costs[OFF] for one in part) / sum(one.untold for one in part)
    found.append(_row("tool-heavy day, told the odds of another round / not told", told, "times", 1.0, part))
    for what, figure in (("requests", "asks"), ("compactions", "cuts"), ("pings", "pings")):
        found.append(
            _row(f"tool-heavy day, {what}", fmean(getattr(one, figure) for one in part), "a day", None, part)
        )
    return found


def _row(name: str, value: float, unit: str, bar: float | None, part: Sequence[object]) -> Row:
    return row(name, round(value, 4), unit, bar, runs=len(part))
