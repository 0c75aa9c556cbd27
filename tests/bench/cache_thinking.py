"""Days of tools with a model that thinks, at three vendors: the program beside a client that sends turns back exactly.

Both say the same words, use the same tools and get the same replies; each request's body is rendered as its client would
send it, billed by the vendor's documented rules outside of both, and compared with the one before it.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

from msgspec.structs import replace

from core.kernel.values.cache import CachePlan, CacheSettings, DiscussionCache, LedgerScope
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
from core.kernel.values.provider import ModelProfile, ProviderKind, ProviderRequest, RequestPart
from core.kernel.values.settings import CachingSettings
from core.kernel.values.stack import DiscussionMetadata, StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.services.providers.anthropic import wire as anthropic_wire
from core.services.providers.blocks import CountTokens
from core.services.providers.gemini.wire import request_config, request_contents
from core.services.providers.model_data import packaged_models
from core.services.providers.openai import body as openai_body
from core.services.providers.profiles import find_profile
from core.talk.caching import cache_book as books
from core.talk.caching import pings, planned_calls
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.decision import DecideMemo, Market, PlannedTurn
from core.talk.caching.offers import cache_prices, settings_for
from core.talk.caching.view import Replayed
from core.talk.context.pieces import StackMemo
from core.talk.context.stack import AggregateStack, build_stack
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_days import label
from tests.bench.cache_turns import AFTER_S, next_look, no_price
from tests.core.talk.caching.tool_turn import count, size
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import START_S, Clock, moment
from tests.vendors.billing.gemini import GeminiCache, GeminiRules
from tests.vendors.billing.openai import OpenAICache
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts

TURNS = 10
ROUNDS = (1, 5)
THOUGHT = (300, 4_000)
"""Tokens of a reply's thinking: evenly so in their logarithm."""
RESULT, REPLY, WORDS, ARGUMENTS, SAID = 900, 400, 120, 40, 40
ROLE, PRESET, DIGEST, TOOLS, TOOL, METADATA = 1_000, 2_000, 3_000, 10, 300, 40
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


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, and its answer."""

    id: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: what is thought, what is said, and the calls that it asks for."""

    id: str
    thought: str
    text: str
    calls: tuple[Call, ...] = ()
    after_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn: the gap before it, the person's words, replies of which all but the last ask for tools."""

    id: str
    gap_s: float
    words: str
    replies: tuple[Reply, ...]


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


# --- Vendors: bodies as clients send them, billed by the documented rules ---------------------------------------


class Vendor(Protocol):
    """A vendor's engine, and its client's bodies."""

    clock: Clock
    model: str
    name: str
    kind: ProviderKind
    profile: ModelProfile

    def body(self, request: ProviderRequest, plan: CachePlan) -> Json:
        """The body that our client sends."""
        ...

    def ping_body(self, request: ProviderRequest, plan: CachePlan) -> Json | None:
        """The body of a ping."""
        ...

    def plain(self, talk: Sequence[Message]) -> Json:
        """The body of the plain client: everything as it came."""
        ...

    def send(self, body: Json) -> Parts:
        """Bill a body."""
        ...

    def thought(self, name: str, text: str, calls: Sequence[Call]) -> ReasoningPart:
        """Thinking of the answer to the last body, sealed."""
        ...


class Anthropic:
    """The Messages API."""

    name, kind, model = "anthropic", ProviderKind.ANTHROPIC, "claude-opus-5-5"

    def __init__(self) -> None:
        self.clock = Clock()
        self.cache = AnthropicCache(self.clock, Texts(size))
        self.profile = find_profile(packaged_models(), self.name, self.model, kind=self.name)
        self.sign: Callable[..., str] = str

    def body(self, request: ProviderRequest, plan: CachePlan) -> Json:
        """See `Vendor.body`."""
        asked = replace(request, provider=self.name, model=self.model, cache=plan)
        return anthropic_wire.request_body(asked, self.profile, no_blob)

    def ping_body(self, request: ProviderRequest, plan: CachePlan) -> Json | None:
        """See `Vendor.ping_body`."""
        return anthropic_wire.prewarm_body(self.body(request, plan))

    def plain(self, talk: Sequence[Message]) -> Json:
        """System and tools marked at their end, and the last block."""
        mark = {"cache_control": {"type": "ephemeral"}}
        messages: list[Json] = [
            {
                "role": "assistant" if message.role is Role.ASSISTANT else "user",
                "content": [_anthropic_block(part) for part in message.parts],
            }
            for message in talk
        ]
        messages[-1]["content"][-1].update(mark)
        return {
            "model": self.model,
            "max_tokens": 32_000,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "tools": [
                {"name": tool.name, "description": tool.description, "input_schema": {"type": "object"}}
                for tool in tools()
            ],
            "system": [{"type": "text", "text": system_text(), **mark}],
            "messages": messages,
        }

    def send(self, body: Json) -> Parts:
        """See `Vendor.send`."""
        ticket = self.cache.send(body)
        self.sign = ticket.signer
        return ticket.parts

    def thought(self, name: str, text: str, calls: Sequence[Call]) -> ReasoningPart:
        """See `Vendor.thought`."""
        del name, calls
        block = {"type": "thinking", "thinking": text, "signature": self.sign(text)}
        return ReasoningPart("", json.dumps(block))


def _anthropic_block(part: Part) -> Json:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ReasoningPart(_, vendor_json):
            return json.loads(vendor_json)  # type: ignore[no-any-return]
        case ToolCallPart(call_id, name, arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments)}
        case ToolResultPart(call_id, text):
            content = [{"type": "text", "text": text}]
            return {"type": "tool_result", "tool_use_id": call_id, "content": content}
        case _:
            raise TypeError(part)


class OpenAI:
    """The Responses API."""

    name, kind, model = "openai", ProviderKind.OPENAI, "gpt-6.1-sol"

    def __init__(self) -> None:
        self.clock = Clock()
        self.cache = OpenAICache(self.clock, Texts(size))
        self.profile = find_profile(packaged_models(), self.name, self.model, kind=self.name)

    def body(self, request: ProviderRequest, plan: CachePlan) -> Json:
        """See `Vendor.body`."""
        asked = replace(request, provider=self.name, model=self.model, cache=plan)
        return openai_body.responses_body(asked, self.profile, no_blob)

    def ping_body(self, request: ProviderRequest, plan: CachePlan) -> Json | None:
        """See `Vendor.ping_body`."""
        return openai_body.prewarm_body(self.body(request, plan))

    def plain(self, talk: Sequence[Message]) -> Json:
        """No options: breakpoints are the vendor's own, one at the end of each message and round of results."""
        items: list[Json] = [_item("developer", "input_text", system_text())]
        for part, role in ((part, message.role) for message in talk for part in message.parts):
            match part:
                case TextPart(text) if role is Role.ASSISTANT:
                    items.append(_item("assistant", "output_text", text))
                case TextPart(text):
                    items.append(_item("user", "input_text", text))
                case ReasoningPart(_, vendor_json):
                    items.append(json.loads(vendor_json))
                case ToolCallPart(call_id, name, arguments):
                    call = {"type": "function_call", "call_id": call_id, "name": name}
                    items.append({**call, "arguments": arguments})
                case ToolResultPart(call_id, text):
                    items.append({"type": "function_call_output", "call_id": call_id, "output": text})
                case _:
                    raise TypeError(part)
        return {
            "model": self.model,
            "tools": [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": {"type": "object"},
                }
                for tool in tools()
            ],
            "input": items,
            "include": ["reasoning.encrypted_content"],
        }

    def send(self, body: Json) -> Parts:
        """See `Vendor.send`."""
        return self.cache.send(body).parts

    def thought(self, name: str, text: str, calls: Sequence[Call]) -> ReasoningPart:
        """See `Vendor.thought`."""
        del calls
        block = {"type": "reasoning", "id": f"rs_{name}", "summary": [], "encrypted_content": text}
        return ReasoningPart("", json.dumps(block))


def _item(role: str, kind: str, text: str) -> Json:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


class Gemini:
    """A Gemini that caches by itself. Its thinking goes back as a signature alone, which counts no tokens."""

    name, kind, model = "gemini", ProviderKind.GEMINI, "gemini-4-argon"

    def __init__(self) -> None:
        self.clock = Clock()
        self.cache = GeminiCache(self.clock, Texts(size), rules=GeminiRules(implicit_hit=1.0))
        self.profile = find_profile(packaged_models(), self.name, self.model, kind=self.name)

    def body(self, request: ProviderRequest, plan: CachePlan) -> Json:
        """See `Vendor.body`."""
        asked = replace(request, provider=self.name, model=self.model, cache=plan)
        contents = request_contents(asked, self.profile, no_blob)
        config = request_config(asked, self.profile)
        found: Json = {"contents": [_camel(one) for one in contents]}
        if config.system_instruction is not None:
            found["systemInstruction"] = _camel(config.system_instruction)
        found["tools"] = [_camel(one) for one in config.tools or ()]
        return found

    def ping_body(self, request: ProviderRequest, plan: CachePlan) -> Json | None:
        """See `Vendor.ping_body`. What is cached unasked for cannot be kept."""
        del request, plan
        return None

    def plain(self, talk: Sequence[Message]) -> Json:
        """See `Vendor.plain`."""
        contents: list[Json] = []
        for message in talk:
            parts = [one for part in message.parts if (one := _gemini_part(part, message)) is not None]
            contents.append({"role": "model" if message.role is Role.ASSISTANT else "user", "parts": parts})
        declared = [{"name": t.name, "description": t.description} for t in tools()]
        return {
            "systemInstruction": {"parts": [{"text": system_text()}]},
            "tools": [{"functionDeclarations": declared}],
            "contents": contents,
        }

    def send(self, body: Json) -> Parts:
        """See `Vendor.send`."""
        return self.cache.send(body, self.model).parts

    def thought(self, name: str, text: str, calls: Sequence[Call]) -> ReasoningPart:
        """See `Vendor.thought`."""
        del text
        seal = {"call_id": calls[0].id if calls else name, "thought_signature": "c2VhbGVk"}
        return ReasoningPart("", json.dumps(seal))


def _camel(value: object) -> Json:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)  # type: ignore[attr-defined,no-any-return]


def _gemini_part(part: Part, message: Message) -> Json | None:
    match part:
        case TextPart(text):
            return {"text": text}
        case ReasoningPart():
            return None
        case ToolCallPart(call_id, name, arguments):
            called = {"id": call_id, "name": name, "args": json.loads(arguments)}
            return {"functionCall": called, "thoughtSignature": "c2VhbGVk"}
        case ToolResultPart(call_id, text):
            return {"functionResponse": {"id": call_id, "name": "read", "response": {"output": text}}}
        case _:
            raise TypeError(part)


VENDORS: dict[str, Callable[[], Vendor]] = {one.model: one for one in (Anthropic, OpenAI, Gemini)}


def tools() -> tuple[ToolSchema, ...]:
    """The tools that are offered."""
    names = ("read", *(f"tool_{number:02}" for number in range(1, TOOLS)))
    return tuple(ToolSchema(name, label(TOOL, name), '{"type": "object"}') for name in names)


def system_text() -> str:
    """Text before the talk."""
    return f"{label(ROLE, 'role')}\n{label(PRESET, 'system')}\n{label(DIGEST, 'digest')}\n"


def no_blob(sha256: str) -> bytes:
    """A day without attachments."""
    raise AssertionError(sha256)


# --- Who plays a day ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was sent: when, its body, and its bill.

    Args:
        reason: the plan's first sentence; said: tokens that the plan expects to be read, written and neither.
        first_of: the turn that it begins.
    """

    at_s: float
    body: Json
    parts: Parts
    reason: str = ""
    said: tuple[int, int, int] = (0, 0, 0)
    first_of: str = ""


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
    def paid_twice(self) -> int:
        """Tokens that the request before had sent alike within its cache's life, and that were not read."""
        return sum(
            max(0, shared_tokens(before.body, after.body) - after.parts.read)
            for before, after in zip(self.requests, self.requests[1:], strict=False)
            if after.at_s - before.at_s < 300
        )

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


def play_plain(turns: Sequence[Turn], vendor: Vendor) -> Day:
    """The day of a client that an engineer writes in an afternoon."""
    day, talk = Day(vendor), list[Message]()
    for turn in turns:
        vendor.clock.now_s += turn.gap_s
        talk.append(Message(turn.id, moment(START_S), Role.USER, (TextPart(turn.words),)))
        for reply in turn.replies:
            body = vendor.plain(talk)
            parts = vendor.send(json.loads(json.dumps(body)))
            day.requests.append(Sent(at_s=vendor.clock(), body=body, parts=parts))
            talk += said(reply, vendor)
            vendor.clock.now_s += reply.after_s
    return day


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

    def __post_init__(self) -> None:
        self.day = Day(self.vendor)
        vendor = self.vendor
        self.prices = cache_prices(vendor.name, vendor.kind, vendor.model, moment(START_S))
        self.settings: CacheSettings = settings_for(vendor.kind, self.prices, self.caching, is_enabled=True)
        self.book = books.opened(self.book, "d", DiscussionCache(), Replayed())

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
            self.book = books.turn_begun(self.book, "d", moment(self.vendor.clock()))
            self._ask(turn, turn.words)
            self.talk.append(Message(turn.id, moment(START_S), Role.USER, (TextPart(turn.words),)))
            for reply in turn.replies:
                self.talk += self.heard(reply)
                self._wait(reply.after_s)
                if reply.calls:
                    self._ask(turn, "")

    def heard(self, reply: Reply) -> list[Message]:
        """The messages of a reply, as they are kept."""
        return said(reply, self.vendor)

    def inputs(self, turn: Turn, words: str) -> StackInputs:
        """All that a request is made of."""
        return StackInputs(
            provider=self.vendor.name,
            model=self.vendor.model,
            role_text=label(ROLE, "role"),
            tools=tools(),
            system_text=NamedText("system", label(PRESET, "system")),
            digest=label(DIGEST, "digest"),
            metadata=DiscussionMetadata(label(METADATA, "name"), turn_count=int(turn.id[1:]) + 1),
            turns=tuple(self.talk),
            user_text=words,
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
        page = self.book.pages["d"]
        self.book = books.with_page(self.book, "d", replace(page, replayed=Replayed(call.decision.view)))
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
            discussion_id="d",
            next_round=planned_calls.next_round(inputs.turns, has_tools=True),
        )
        scope = LedgerScope(self.vendor.name, "key", self.vendor.model)
        gaps = books.gaps_of(self.book, "d")
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


# --- Figures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one day, one vendor and one way to send."""

    tokens: float
    without: int
    twice: int
    pairs: int
    breaks: int


def played(task: tuple[str, str, str, int]) -> Figures:
    """One day; what a process of the bench does."""
    model, kind, way, seed = task
    turns, vendor = make_day(seed, kind), VENDORS[model]()
    day = play_plain(turns, vendor) if way == PLAIN else Ours(vendor, SETTINGS[way]).play(turns)
    pairs = list(zip(day.requests, day.requests[1:], strict=False))
    broken = sum(not extends_flat(one.body, two.body) for one, two in pairs)
    return Figures(day.tokens, day.without, day.paid_twice, len(pairs), broken)


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
    return found


def _row(name: str, value: float, unit: str, bar: float | None, part: Sequence[object]) -> Row:
    return row(name, round(value, 4), unit, bar, runs=len(part))
