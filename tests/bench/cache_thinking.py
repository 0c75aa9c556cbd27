"""Days of tools with a model that thinks, at three vendors: the program beside a client that sends turns back exactly.

Both say the same words, use the same tools and get the same replies; each request's body is rendered as its client would
send it, billed by the vendor's documented rules outside of both, and compared with the one before it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
from collections.abc import Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product

from msgspec.structs import replace

from core.agent.cut_plan import is_read_cheaper
from core.kernel.values.cache import CacheSettings, DiscussionCache, LedgerScope
from core.kernel.values.curation import NamedText
from core.kernel.values.messages import (
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import ProviderRequest, RequestPart
from core.kernel.values.settings import CachingSettings
from core.kernel.values.stack import DiscussionMetadata, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.services.providers.blocks import CountTokens
from core.services.providers.switches import switching_of
from core.talk.caching import cache_book as books
from core.talk.caching import pings, planned_calls
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.decision import DecideMemo, Market, PlannedTurn
from core.talk.caching.offers import cache_prices, scope_settings, settings_for
from core.talk.caching.view import Replayed
from core.talk.context.pieces import StackMemo
from core.talk.context.stack import AggregateStack, build_stack
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_bound import least
from tests.bench.cache_days import label
from tests.bench.cache_turns import AFTER_S, next_look, no_price
from tests.bench.cache_vendors import (
    DIGEST,
    METADATA,
    PRESET,
    ROLE,
    VENDORS,
    Anthropic,
    Call,
    Reply,
    Turn,
    Vendor,
    system_text,
    tools,
)
from tests.core.talk.caching.tool_turn import count, size
from tests.vendors.billing.clock import START_S, moment
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.values import Json, Parts, Refused

TURNS = 10
ROUNDS = (1, 5)
THOUGHT = (300, 4_000)
"""Tokens of a reply's thinking: evenly so in their logarithm."""
RESULT, REPLY, WORDS, ARGUMENTS, SAID = 900, 400, 120, 40, 40
NO_GAPS, WITH_GAPS = "short gaps", "gaps of 20 and 70 min, too"
LONG_GAPS = ((0.2, 20 * 60.0), (0.1, 70 * 60.0))
"""Share of a day's gaps, and their seconds, beside gaps of 1 to 4 minutes."""
PLAIN, OFF, ON = "plain client", "keepalive off", "keepalive on"
SETTINGS = {OFF: CachingSettings(), ON: CachingSettings(keepalive=True)}
BARS = {
    ("claude-opus-5-5", WITH_GAPS, OFF): 0.97,
    ("claude-opus-5-5", WITH_GAPS, ON): 0.80,
    ("claude-opus-5-5", NO_GAPS, OFF): 1.03,
    ("gpt-6.1-sol", WITH_GAPS, OFF): 0.90,
    ("gpt-6.1-sol", NO_GAPS, OFF): 1.03,
}
"""Of a plain client's cost."""


def make_day(seed: int, kind: str, turns: int = TURNS, rounds: tuple[int, int] = ROUNDS) -> tuple[Turn, ...]:
    """A discussion of one day."""
    draw = random.Random(f"thinking {seed} {kind}")
    found = []
    for number in range(turns):
        id_ = f"m{number}"
        count_ = draw.randint(*rounds)
        replies = [_reply(draw, f"{id_}c{one}", calls=draw.choice((1, 1, 1, 2, 3))) for one in range(count_)]
        last = _reply(draw, f"{id_}r", calls=0)
        gap_s = _gap(draw, kind) if number else 0.0
        words = label(_about(draw, WORDS), f"{id_} words")
        found.append(Turn(id_, gap_s, words, (*replies, last)))
    return tuple(found)


def _reply(draw: random.Random, name: str, *, calls: int) -> Reply:
    low, high = THOUGHT
    thought = label(round(low * (high / low) ** draw.random()), f"{name} thought")
    asked = tuple(
        Call(
            f"{name}x{n}",
            json.dumps({"path": label(ARGUMENTS, f"{name} {n}")}),
            label(_about(draw, RESULT), f"{name} {n} result"),
        )
        for n in range(calls)
    )
    return Reply(
        name, thought, label(SAID if calls else _about(draw, REPLY), name), asked, draw.uniform(8, 25)
    )


def _about(draw: random.Random, tokens: int) -> int:
    return max(20, round(tokens * draw.lognormvariate(-0.2, 0.6)))


def _gap(draw: random.Random, kind: str) -> float:
    chance = draw.random()
    for share, gap_s in LONG_GAPS if kind == WITH_GAPS else ():
        if chance < share:
            return gap_s
        chance -= share
    return draw.uniform(60, 240)


# --- Who plays a day ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was sent: when, its body, and its bill.

    Args:
        reason: the plan's first sentence; said: tokens that the plan expects to be read, written and neither.
        first_of: the turn that it begins; talk: the discussion.
    """

    at_s: float
    body: Json
    parts: Parts
    reason: str = ""
    said: tuple[int, int, int] = (0, 0, 0)
    first_of: str = ""
    talk: str = ""


@dataclass(slots=True)
class Day:
    """A day that was played.

    Args:
        requests: in order; kept: bills of pings; longs: of both, the TTL of writes is in the parts.
    """

    vendor: Vendor
    requests: list[Sent] = field(default_factory=list)
    kept: list[Parts] = field(default_factory=list)

    @property
    def tokens(self) -> float:
        """Cost of the day's input in tokens of fresh input."""
        return sum(self._cost(parts) for parts in (*(one.parts for one in self.requests), *self.kept))

    @property
    def without(self) -> int:
        """The same requests without a cache."""
        return sum(one.parts.total for one in self.requests)

    @property
    def vendor_read(self) -> float:
        """Price of a token that is read, as a multiple of a fresh one."""
        return self._cost(Parts(plain=0, read=1_000_000)) / 1_000_000

    @property
    def paid_twice(self) -> int:
        """Tokens that the request before had sent alike within its cache's life, and that were not read."""
        return sum(
            max(0, shared_tokens(before.body, after.body) - after.parts.read)
            for before, after in self.pairs
            if after.at_s - before.at_s < 300
        )

    @property
    def pairs(self) -> list[tuple[Sent, Sent]]:
        """Consecutive requests of one discussion."""
        last: dict[str, Sent] = {}
        found = []
        for one in self.requests:
            if one.talk in last:
                found.append((last[one.talk], one))
            last[one.talk] = one
        return found

    def _cost(self, parts: Parts) -> float:
        name = "google" if self.vendor.name == "gemini" else self.vendor.name
        card = Prices()
        fresh = float(card.rates(name, self.vendor.model, START_S, 0).plain)
        return float(card.cost(name, self.vendor.model, parts, START_S)) / fresh


def shared_tokens(before: Json, after: Json) -> int:
    """Tokens of the leading run of parts that two bodies share."""
    total = 0
    for one, two in zip(flat(before), flat(after), strict=False):
        if one != two:
            break
        total += size(one)
    return total


def flat(body: Json) -> list[str]:
    """A body as the run of parts that a vendor reads, marks left out."""
    found = [json.dumps(one, sort_keys=True) for one in body.get("tools") or ()]
    found += [_bare(one) for one in _parts_of(body.get("system") or body.get("systemInstruction") or ())]
    for one in body.get("messages") or body.get("input") or body.get("contents") or ():
        inner = one.get("content") or one.get("output") or one.get("parts")
        role = str(one.get("role") or one.get("type"))
        found += [f"{role}{_bare(part)}" for part in inner] if isinstance(inner, list) else [_bare(one)]
    return found


def _parts_of(value: Json | Sequence[Json]) -> Sequence[Json]:
    return value.get("parts", ()) if isinstance(value, dict) else value


def _bare(part: Json) -> str:
    hidden = {"cache_control", "prompt_cache_breakpoint"}
    return json.dumps({name: one for name, one in part.items() if name not in hidden}, sort_keys=True)


def play_plain(turns: Sequence[Turn], vendor: Vendor, day: Day | None = None) -> Day:
    """The day of a client that an engineer writes in an afternoon: a task has a talk of its own, a summary is asked for in the
    talk that it is of.
    """
    day, talk = Day(vendor) if day is None else day, list[Message]()

    def ask(turn: Turn) -> None:
        body = vendor.plain(talk, turn)
        try:
            parts = vendor.send(json.loads(json.dumps(body)))
        except Refused:  # thinking is bound to what stood before it
            talk[:] = [replace(one, parts=without_thinking(one.parts)) for one in talk]
            body = vendor.plain(talk, turn)
            parts = vendor.send(json.loads(json.dumps(body)))
        day.requests.append(Sent(at_s=vendor.clock(), body=body, parts=parts, talk=talk_name(turns)))

    for turn in turns:
        vendor.clock.now_s += turn.gap_s
        if turn.is_cut:
            talk.append(message_of("cut", SUMMARISE))
            ask(turn)
            talk[:] = [message_of(f"{turn.id}s", summary(turn)), *last_turn(talk[:-1])]
        talk.append(message_of(turn.id, turn.words))
        for reply in turn.replies:
            ask(turn)
            talk += said(reply, vendor)
            vendor.clock.now_s += reply.after_s
            if turn.task and reply is turn.replies[0]:
                play_plain(turn.task, vendor, day)
    return day


SUMMARISE = "Summarise what was said so far, so that the work can go on from it."
SUMMARY = 800


def summary(turn: Turn) -> str:
    """The summary that stands in the place of what was left out before a turn."""
    return label(SUMMARY, f"{turn.id} summary")


def without_thinking(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Parts of a message but its thinking."""
    return tuple(part for part in parts if not isinstance(part, ReasoningPart))


def talk_name(turns: Sequence[Turn]) -> str:
    """Name of the discussion that turns are of."""
    return turns[0].id


def message_of(name: str, words: str) -> Message:
    """Words of the person."""
    return Message(name, moment(START_S), Role.USER, (TextPart(words),))


def last_turn(talk: Sequence[Message]) -> Sequence[Message]:
    """The last turn of a talk, from the person's words on."""
    begin = max(n for n, message in enumerate(talk) if message.role is Role.USER)
    return talk[begin:]


def said(reply: Reply, vendor: Vendor) -> list[Message]:
    """The messages of a reply, and of the results of its calls."""
    thought = vendor.thought(reply.id, reply.thought, reply.calls)
    calls = (ToolCallPart(one.id, "read", one.arguments) for one in reply.calls)
    own: tuple[Part, ...] = (thought, TextPart(reply.text), *calls)
    messages = [
        Message(reply.id, moment(START_S), Role.ASSISTANT, own, provider=vendor.name, model=vendor.model)
    ]
    if reply.calls:
        results = tuple(ToolResultPart(one.id, one.result) for one in reply.calls)
        messages.append(Message(f"{reply.id}t", moment(START_S), Role.TOOL, results))
    return messages


@dataclass
class Ours:
    """The program on one day, over its own book."""

    vendor: Vendor
    caching: CachingSettings = field(default_factory=CachingSettings)
    talk: list[Message] = field(default_factory=list)
    memo: StackMemo = field(default_factory=StackMemo)
    decide: DecideMemo = field(default_factory=DecideMemo)
    book: CacheBook = field(default_factory=CacheBook)
    name: str = "d"

    def __post_init__(self) -> None:
        self.day, self.cut_id = Day(self.vendor), ""
        vendor = self.vendor
        self.prices = cache_prices(vendor.name, vendor.kind, vendor.model, moment(START_S))
        self.settings: CacheSettings = settings_for(vendor.kind, self.prices, self.caching, is_enabled=True)
        self.book = books.opened(self.book, self.name, DiscussionCache(), Replayed())

    def play(self, turns: Sequence[Turn]) -> Day:
        """Play a day, and the pings after its last turn."""
        self.start(turns)
        self._wait(AFTER_S)
        return self.day

    def change(self, number: int, words: str) -> None:
        """The person edits a message."""
        self.talk[number] = replace(self.talk[number], parts=(TextPart(words),))

    def start(self, turns: Sequence[Turn]) -> None:
        """Play turns."""
        for turn in turns:
            self._wait(turn.gap_s)
            if turn.is_cut:
                self._cut(turn)
            self.book = books.turn_begun(self.book, self.name, moment(self.vendor.clock()))
            self._ask(turn, turn.words)
            self.talk.append(message_of(turn.id, turn.words))
            for reply in turn.replies:
                self.talk += self.heard(reply)
                self._wait(reply.after_s)
                if turn.task and reply is turn.replies[0]:
                    self._hand_on(turn.task)
                if reply.calls:
                    self._ask(turn, "")

    def _hand_on(self, task: Sequence[Turn]) -> None:
        """Play a task in a discussion of its own, over the same book."""
        own = Ours(self.vendor, self.caching, book=self.book, name=task[0].id)
        own.day = self.day
        own.start(task)
        self.book = own.book

    def _cut(self, turn: Turn) -> None:
        """A summary takes the place of all but the last turn; it is asked for as the program does, behind what is held or alone."""
        kept = list(last_turn(self.talk))
        left = "\n".join(
            part.text
            for message in self.talk[: -len(kept)]
            for part in message.parts
            if isinstance(part, TextPart | ToolResultPart)
        )
        asked = self._planned(turn, SUMMARISE).decision
        if is_read_cheaper(asked.plan, size(left)):
            body = self.vendor.body(asked.request, asked.plan)
        else:
            body = self.vendor.plain([message_of("cut", f"{SUMMARISE}\n{left}")], turn)
            body.pop("tools")
        parts = self.vendor.send(json.loads(json.dumps(body)))
        self.day.requests.append(Sent(at_s=self.vendor.clock(), body=body, parts=parts, talk="summary"))
        self.talk = [message_of(f"{turn.id}s", summary(turn)), *kept]
        self.cut_id = f"{turn.id}cut"

    def heard(self, reply: Reply) -> list[Message]:
        """The messages of a reply, as they are kept."""
        return said(reply, self.vendor)

    def inputs(self, turn: Turn, words: str) -> StackInputs:
        """All that a request is made of."""
        return StackInputs(
            provider=self.vendor.name,
            model=self.vendor.model,
            role_text=label(ROLE, "role"),
            tools=tools(turn.tools),
            system_text=NamedText("system", label(PRESET, "system")),
            digest=label(DIGEST, "digest"),
            metadata=DiscussionMetadata(label(METADATA, "name"), turn_count=int(turn.id[1:]) + 1),
            turns=tuple(self.talk),
            user_text=words,
            cut_id=self.cut_id,
        )

    def counting(self, stack: AggregateStack) -> tuple[CountTokens, Hashable]:
        """What counts the parts of a stack's request, and what stands for its state."""
        del stack
        return counted, None

    def billed(self, request: ProviderRequest, parts: Parts) -> None:
        """A request has its bill."""

    def _wait(self, seconds: float) -> None:
        end_s, looked = self.vendor.clock() + seconds, set[tuple[str, float]]()
        while self.settings.keepalive and (look := next_look(self.book, looked, end_s)) is not None:
            looked.add((look[1], look[0]))
            self.vendor.clock.now_s = look[0]
            for ping in pings.due_pings(self.book, lambda _: self.settings, moment(look[0])):
                self._ping(ping)
        self.vendor.clock.now_s = end_s

    def _ping(self, ping: pings.Ping) -> None:
        plan = ping.request.cache
        body = None if plan is None else self.vendor.ping_body(ping.request, plan)
        usage: Usage | None = None
        if body is not None:
            parts = self.vendor.send(json.loads(json.dumps(body)))
            self.day.kept.append(parts)
            usage = _usage(parts)
        self.book, _ = pings.pinged(self.book, ping, usage, no_price)

    def _ask(self, turn: Turn, words: str) -> None:
        call = self._planned(turn, words)
        self.book, _ = planned_calls.admitted(self.book, "call", call, None)
        page = self.book.pages[self.name]
        self.book = books.with_page(
            self.book, self.name, replace(page, replayed=Replayed(call.decision.view))
        )
        body = self.vendor.body(call.decision.request, call.decision.plan)
        parts = self.vendor.send(json.loads(json.dumps(body)))
        plan = call.decision.plan
        told = plan.read_tokens, plan.write_tokens, plan.fresh_tokens
        self.day.requests.append(
            Sent(
                at_s=self.vendor.clock(),
                body=body,
                parts=parts,
                reason=plan.sentences[0],
                said=told,
                first_of=turn.id if words else "",
                talk=self.name,
            )
        )
        self.book = planned_calls.begun(self.book, "call")
        now = moment(self.vendor.clock())
        self.book, _ = planned_calls.ended(self.book, "call", _usage(parts), None, now, no_price)
        self.billed(call.decision.request, parts)

    def _planned(self, turn: Turn, words: str) -> BookedCall:
        inputs = self.inputs(turn, words)
        asked = PlannedTurn(
            stack=build_stack(inputs, self.memo),
            message_id=turn.id,
            discussion_id=self.name,
            effort=turn.effort,
            switching=switching_of(self.vendor.kind, self.vendor.model),
            next_round=planned_calls.next_round(inputs.turns, has_tools=True),
        )
        scope = LedgerScope(self.vendor.name, "key", self.vendor.model, scope_settings(turn.effort))
        gaps = books.gaps_of(self.book, self.name)
        count, revision = self.counting(asked.stack)
        market = Market(
            scope=scope,
            prices=self.prices,
            ledger=self.book.ledger,
            gaps=gaps,
            settings=self.settings,
            now=moment(self.vendor.clock()),
            count=count,
            count_revision=revision,
        )
        return planned_calls.plan_call(self.book, asked, market, self.decide)


def counted(part: RequestPart | ToolSchema) -> int:
    """Tokens of a part, as the engines count them."""
    return count(part)


def _usage(parts: Parts) -> Usage:
    return Usage(
        input_tokens=parts.total,
        cache_read_tokens=parts.read,
        cache_write_tokens=parts.write + parts.write_long,
        cache_write_1h_tokens=parts.write_long,
    )


# --- The least over content -----------------------------------------------------------------------------------------


def least_over_content(turns: Sequence[Turn], day: Day, *, pings: bool) -> float:
    """The least that a day's content can cost, whatever is sent: replies as they were given and new words, each text by itself.

    It knows nothing of requests, so that it sees what was sent twice, or beside the content: layer 8, updates, thinking of
    turns that are over. Thinking counts in its own turn, where the vendor asks for it. Lifetimes and writes are Anthropic's.
    """
    times = iter([one.at_s for one in day.requests])
    read = day.vendor_read
    head = {"system": size(system_text()), "tools": sum(size(tool.description) for tool in tools())}
    said_: dict[str, int] = {}
    uses: list[tuple[Hashable, int, float]] = []
    for turn in turns:
        said_[f"{turn.id} words"] = size(turn.words)
        thoughts: dict[str, int] = {}
        for reply in turn.replies:
            at_s = next(times)
            uses += [
                (name, tokens, at_s) for part in (head, said_, thoughts) for name, tokens in part.items()
            ]
            thoughts[f"{reply.id} thought"] = size(reply.thought)
            said_[f"{reply.id} text"] = size(reply.text)
            for call in reply.calls:
                said_[f"{call.id} call"], said_[f"{call.id} result"] = size(call.arguments), size(call.result)
    return least(uses, read, pings=pings)


# --- Figures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one day, one vendor and one way to send."""

    tokens: float
    without: int
    twice: int
    pairs: int
    breaks: int
    least: float = 0.0


def played(task: tuple[str, str, str, int]) -> Figures:
    """One day; what a process of the bench does."""
    model, kind, way, seed = task
    turns, vendor = make_day(seed, kind), VENDORS[model]()
    day = play_plain(turns, vendor) if way == PLAIN else Ours(vendor, SETTINGS[way]).play(turns)
    found = figures_of(day)
    if model != Anthropic.model:
        return found
    least_ = least_over_content(turns, day, pings=way == ON)
    return dataclasses.replace(found, least=least_)


def figures_of(day: Day) -> Figures:
    """Figures of a day."""
    broken = sum(not extends_flat(one.body, two.body) for one, two in day.pairs)
    return Figures(day.tokens, day.without, day.paid_twice, len(day.pairs), broken)


def extends_flat(before: Json, after: Json) -> bool:
    """True if a body begins with all of another."""
    first, second = flat(before), flat(after)
    return second[: len(first)] == first


def rows(seeds: Sequence[int] = SEEDS) -> list[Row]:
    """All figures, over held-out seeds."""
    ways = (PLAIN, OFF, ON)
    tasks = list(product(VENDORS, (NO_GAPS, WITH_GAPS), ways, seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        figures = dict(zip(tasks, pool.map(played, tasks), strict=True))
    found = []
    for model, kind in product(VENDORS, (NO_GAPS, WITH_GAPS)):
        plain = [figures[model, kind, PLAIN, seed] for seed in seeds]
        for way in ways:
            part = [figures[model, kind, way, seed] for seed in seeds]
            cost, name = sum(one.tokens for one in part), f"tool day with thinking, {model}, {kind}, {way}"
            whole = sum(one.without for one in part)
            found.append(_row(name, cost / whole, "of no caching", None, part))
            found.append(_row(f"{name}, cost", cost / len(part), "tokens of fresh input a day", None, part))
            found.append(
                _row(
                    f"{name}, pairs broken",
                    sum(o.breaks for o in part),
                    f"of {sum(o.pairs for o in part)}",
                    None,
                    part,
                )
            )
            if way != PLAIN:
                over = cost / sum(one.tokens for one in plain)
                found.append(
                    _row(f"{name}, over the plain client", over, "times", BARS.get((model, kind, way)), part)
                )
                twice = sum(one.twice for one in part)
                found.append(_row(f"{name}, paid twice while warm", twice, "tokens", None, part))
                if content := sum(one.least for one in part):
                    what = f"{name}, over the least over content"
                    found.append(_row(what, cost / content, "times", None, part))
    return found


def _row(name: str, value: float, unit: str, bar: float | None, part: Sequence[object]) -> Row:
    return row(name, round(value, 4), unit, bar, runs=len(part))
