"""Vendors of a day of thinking: bodies as clients send them, billed by the documented rules; and what is said on such a day."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from core.kernel.values.cache import CachePlan
from core.kernel.values.messages import (
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import Effort, ModelProfile, ProviderKind, ProviderRequest
from core.kernel.values.stack import ToolSchema
from core.services.providers.anthropic import wire as anthropic_wire
from core.services.providers.gemini.wire import request_config, request_contents
from core.services.providers.model_data import packaged_models
from core.services.providers.openai import body as openai_body
from core.services.providers.profiles import find_profile
from tests.bench.cache_days import label
from tests.core.talk.caching.tool_turn import size
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.gemini import GeminiCache, GeminiRules
from tests.vendors.billing.openai import OpenAICache
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts

ROLE, PRESET, DIGEST, TOOLS, TOOL, METADATA = 1_000, 2_000, 3_000, 10, 300, 40


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
    """A turn: the gap before it, the person's words, replies of which all but the last ask for tools.

    Args:
        effort, tools: with which it is asked; task: turns of a discussion of its own that its first call hands on to;
        is_cut: before it all but the turn before is left out for a summary.
    """

    id: str
    gap_s: float
    words: str
    replies: tuple[Reply, ...]
    effort: Effort = Effort.AUTO
    tools: int = TOOLS
    task: tuple[Turn, ...] = ()
    is_cut: bool = False


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

    def plain(self, talk: Sequence[Message], turn: Turn) -> Json:
        """The body of the plain client: everything as it came, tools and effort at its head."""
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

    def plain(self, talk: Sequence[Message], turn: Turn) -> Json:
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
            **({"output_config": {"effort": turn.effort.value}} if turn.effort is not Effort.AUTO else {}),
            "tools": [
                {"name": tool.name, "description": tool.description, "input_schema": {"type": "object"}}
                for tool in tools(turn.tools)
            ],
            "system": [{"type": "text", "text": system_text(), **mark}],
            "messages": messages,
        }

    def send(self, body: Json) -> Parts:
        """See `Vendor.send`."""
        ticket = self.cache.send(body, betas=frozenset(anthropic_wire.betas_of(body)))
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

    def plain(self, talk: Sequence[Message], turn: Turn) -> Json:
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
            **({"reasoning": {"effort": turn.effort.value}} if turn.effort is not Effort.AUTO else {}),
            "tools": [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": {"type": "object"},
                }
                for tool in tools(turn.tools)
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

    def plain(self, talk: Sequence[Message], turn: Turn) -> Json:
        """See `Vendor.plain`."""
        contents: list[Json] = []
        for message in talk:
            parts = [one for part in message.parts if (one := _gemini_part(part, message)) is not None]
            contents.append({"role": "model" if message.role is Role.ASSISTANT else "user", "parts": parts})
        declared = [{"name": t.name, "description": t.description} for t in tools(turn.tools)]
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


def tools(count: int = TOOLS) -> tuple[ToolSchema, ...]:
    """The tools that are offered."""
    names = ("read", *(f"tool_{number:02}" for number in range(1, count)))
    return tuple(ToolSchema(name, label(TOOL, name), '{"type": "object"}') for name in names)


def system_text() -> str:
    """Text before the talk."""
    return f"{label(ROLE, 'role')}\n{label(PRESET, 'system')}\n{label(DIGEST, 'digest')}\n"


def no_blob(sha256: str) -> bytes:
    """A day without attachments."""
    raise AssertionError(sha256)
