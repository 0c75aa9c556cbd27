"""A turn of many tool calls by a model that reasons, planned over the book and billed by a vendor's own rules."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CachePrices,
    CacheSettings,
    DiscussionCache,
    GapStats,
    LedgerScope,
)
from core.kernel.values.messages import Message, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderKind, ProviderRequest, RequestPart
from core.kernel.values.stack import StackInputs, ToolSchema
from core.kernel.values.usage import Usage
from core.services.providers.anthropic.wire import request_body
from core.services.providers.http import no_attachments
from core.services.providers.model_data import packaged_models
from core.services.providers.openai.body import responses_body
from core.services.providers.profiles import find_profile
from core.talk.caching import cache_book as books
from core.talk.caching import planned_calls
from core.talk.caching.cache_book import CacheBook
from core.talk.caching.decision import Decision, Market, PlannedTurn
from core.talk.caching.offers import cache_prices
from core.talk.caching.planned_calls import next_round
from core.talk.caching.view import Replayed
from core.talk.context.stack import build_stack
from tests.core.stacks import said
from tests.core.talk.caching.requests import NOW, after, habits_of
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.gemini import GeminiCache, GeminiRules
from tests.vendors.billing.openai import OpenAICache
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts

_SIZE = re.compile(r"\[\[(\d+)")
ROUND_S = 15.0
RESULT, THOUGHT, CALL = 1_500, 300, 40
"""Tokens of what each round adds."""


def size(text: str) -> int:
    """Tokens of a text: those that its labels say."""
    return sum(map(int, _SIZE.findall(text)))


def label(tokens: int, name: str) -> str:
    return f"[[{tokens} {name}]]"


def count(part: RequestPart | ToolSchema) -> int:
    """Tokens of a part, as the engines count them."""
    names = ("text", "vendor_json", "arguments_json", "description")
    return sum(size(getattr(part, name, "")) for name in names)


class Vendor(Protocol):
    """A vendor's engine, asked with the bodies that its client sends."""

    prices: CachePrices

    def send(self, request: ProviderRequest) -> Parts:
        """Bill a request."""
        ...

    def thought(self, name: str) -> ReasoningPart:
        """Reasoning of the answer to the last one."""
        ...


def _prices(provider: str, kind: ProviderKind, model: str) -> CachePrices:
    return replace(cache_prices(provider, kind, model, NOW), minimum_tokens=1_024)


@dataclass
class OpenAI:
    """The Responses API."""

    clock: Clock
    model: str = "gpt-6.1-sol"

    def __post_init__(self) -> None:
        self.prices = _prices("openai", ProviderKind.OPENAI, self.model)
        self.cache = OpenAICache(self.clock, Texts(size))
        self.profile = find_profile(packaged_models(), "openai", self.model, kind="openai")

    def send(self, request: ProviderRequest) -> Parts:
        """See `Vendor.send`."""
        return self.cache.send(responses_body(request, self.profile, no_attachments)).parts

    def thought(self, name: str) -> ReasoningPart:
        """See `Vendor.thought`."""
        sealed = label(THOUGHT, name)
        block = {"type": "reasoning", "id": f"rs_{name}", "summary": [], "encrypted_content": sealed}
        return ReasoningPart("", json.dumps(block))


@dataclass
class Anthropic:
    """The Messages API, which binds thinking to what stands before it."""

    clock: Clock
    model: str = "claude-opus-5-5"
    sign: Callable[[str], str] = str

    def __post_init__(self) -> None:
        self.prices = _prices("anthropic", ProviderKind.ANTHROPIC, self.model)
        self.cache = AnthropicCache(self.clock, Texts(size))
        self.profile = find_profile(packaged_models(), "anthropic", self.model, kind="anthropic")

    def send(self, request: ProviderRequest) -> Parts:
        """See `Vendor.send`."""
        ticket = self.cache.send(request_body(request, self.profile, no_attachments))
        self.sign = ticket.signer
        return ticket.parts

    def thought(self, name: str) -> ReasoningPart:
        """See `Vendor.thought`."""
        text = label(THOUGHT, name)
        return ReasoningPart(
            "", json.dumps({"type": "thinking", "thinking": text, "signature": self.sign(text)})
        )


@dataclass
class Gemini:
    """A Gemini that caches by itself; the plan of what it stores for rent is judged by `tests/bench/cache_gemini.py`."""

    clock: Clock
    model: str = "gemini-4-argon"

    def __post_init__(self) -> None:
        self.prices = _prices("gemini", ProviderKind.GEMINI, self.model)
        self.cache = GeminiCache(self.clock, Texts(size), rules=GeminiRules(implicit_hit=1.0))

    def send(self, request: ProviderRequest) -> Parts:
        """See `Vendor.send`."""
        contents = [
            {
                "role": "model" if m.role is Role.ASSISTANT else "user",
                "parts": [{"text": _text(p)} for p in m.parts],
            }
            for m in request.messages
        ]
        body: Json = {"contents": contents, "systemInstruction": {"parts": [_text_of(request)]}}
        return self.cache.send(body, self.model).parts

    def thought(self, name: str) -> ReasoningPart:
        """See `Vendor.thought`."""
        seal = {"call_id": name, "thought_signature": label(THOUGHT, name)}
        return ReasoningPart("", json.dumps(seal))


def _text_of(request: ProviderRequest) -> Json:
    return {"text": "".join(segment.text for segment in request.system)}


def _text(part: RequestPart) -> str:
    return "".join(getattr(part, name, "") for name in ("text", "vendor_json", "arguments_json"))


@dataclass
class ToolTurn:
    """A turn whose model asks for one call after another.

    Args:
        earlier: what was said before it; role_tokens: of what stands before the talk.
        bills: of its requests, in order; decisions: what was planned for each.
    """

    vendor_of: Callable[[Clock], Vendor]
    earlier: tuple[Message, ...] = ()
    role_tokens: int = 4_000
    gap_s: float = 60.0
    clock: Clock = field(default_factory=lambda: Clock(NOW.timestamp()))
    bills: list[Parts] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.vendor = self.vendor_of(self.clock)
        self.turns = self.earlier
        book = replace(CacheBook(), habits=habits_of(self.gap_s))
        self.book = books.opened(book, "d", DiscussionCache(), Replayed())

    def run(self, rounds: int) -> ToolTurn:
        """Send the person's words, and go on for so many calls."""
        self.book = books.turn_begun(self.book, "d", after(0))
        self._ask("go", 0)
        self.turns = (*self.turns, said("u", Role.USER, "go"))
        for number in range(rounds):
            call = f"c{number}"
            asks = ToolCallPart(call, "read", json.dumps({"path": label(CALL, call)}))
            thought = self.vendor.thought(call)
            self.turns = (
                *self.turns,
                said(f"{call}a", Role.ASSISTANT, thought, asks),
                said(f"{call}r", Role.TOOL, ToolResultPart(call, label(RESULT, call))),
            )
            self._ask("", (number + 1) * ROUND_S)
        return self

    @property
    def written(self) -> int:
        """Tokens that its requests wrote."""
        return sum(one.write + one.write_long for one in self.bills)

    @property
    def unread(self) -> int:
        """Tokens that no cache held: written, or sent beside one."""
        return sum(one.total - one.read for one in self.bills)

    def _ask(self, words: str, at_s: float) -> None:
        self.clock.now_s = NOW.timestamp() + at_s
        prices = self.vendor.prices
        scope = LedgerScope(prices.provider, "key", prices.model)
        market = Market(scope, prices, CacheLedger(), GapStats(), CacheSettings(), after(at_s), count)
        inputs = StackInputs(
            provider=prices.provider,
            model=prices.model,
            role_text=label(self.role_tokens, "role"),
            tools=(ToolSchema("read", label(200, "read"), '{"type": "object"}'),),
            turns=self.turns,
            user_text=words,
        )
        odds = next_round(self.turns, has_tools=True)
        turn = PlannedTurn(build_stack(inputs), "u", discussion_id="d", next_round=odds)
        call = planned_calls.plan_call(self.book, turn, market)
        self.book, _ = planned_calls.admitted(self.book, "call", call, None)
        page = self.book.pages["d"]
        self.book = books.with_page(self.book, "d", replace(page, replayed=Replayed(call.decision.view)))
        asked = replace(
            call.decision.request,
            provider=prices.provider,
            model=prices.model,
            cache=call.decision.plan,
        )
        parts = self.vendor.send(asked)
        self.bills.append(parts)
        self.decisions.append(call.decision)
        self.book = planned_calls.begun(self.book, "call")
        usage = Usage(parts.total, 10, parts.read, parts.write + parts.write_long)
        self.book, _ = planned_calls.ended(self.book, "call", usage, None, after(at_s), lambda *_: None)


def answered(count_: int) -> tuple[Message, ...]:
    """So many turns before, in which the model used no tool."""
    return tuple(
        message
        for number in range(count_)
        for message in (
            said(f"q{number}", Role.USER, label(20, f"q{number}")),
            Message(f"a{number}", NOW, Role.ASSISTANT, (TextPart(label(60, f"a{number}")),)),
        )
    )
