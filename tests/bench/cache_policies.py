"""Replays a day under a policy, peers' or ours, through Anthropic's billing engine: what was billed, how."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from core.kernel.values.cache import TOOLS_KEY, CacheMark, CachePrices, Mechanism, TtlPrice
from core.kernel.values.messages import Part, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderRequest, RequestMessage, RequestPart
from core.kernel.values.stack import LayerId, Segment
from core.services.providers.blocks import part_key
from tests.bench.cache_days import Ask, count_labels
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.anthropic_render import Rendered
from tests.vendors.billing.clock import Clock
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts, Write

MODELS = {0.1: "claude-opus-5", 0.05: "claude-opus-5-5", 0.025: "claude-fable-5-2"}
"""A model for each price of reading; all cache from 512 tokens on."""
INPUT_USD = {0.1: 5e-6, 0.05: 4e-6, 0.025: 8e-6}

Marks = Callable[[ProviderRequest, int], tuple[CacheMark, ...]]
"""Places where a peer marks a request; the number of its last parts that are the volatile tail is given."""


@dataclass(slots=True)
class Bill:
    """Bill of a day, in tokens."""

    plain: int = 0
    read: int = 0
    write: int = 0
    write_long: int = 0
    pings: int = 0
    asks: int = 0
    largest: int = 0

    def add(self, parts: Parts) -> None:
        """Add a request."""
        self.largest = max(self.largest, parts.total)
        self.plain += parts.plain
        self.read += parts.read
        self.write += parts.write
        self.write_long += parts.write_long

    def join(self, other: Bill) -> None:
        """Add what another bill holds."""
        self.plain += other.plain
        self.read += other.read
        self.write += other.write
        self.write_long += other.write_long
        self.pings += other.pings
        self.asks += other.asks
        self.largest = max(self.largest, other.largest)

    def cost(self, read: float) -> float:
        """In tokens of fresh input."""
        return self.plain + read * self.read + 1.25 * self.write + 2.0 * self.write_long

    @property
    def total(self) -> int:
        """Everything that was sent, pings included."""
        return self.plain + self.read + self.write + self.write_long


def prices_for(read: float) -> CachePrices:
    """Prices of the model that the planner is told."""
    return CachePrices(
        provider="anthropic",
        model=MODELS[read],
        mechanism=Mechanism.MARKS,
        input_usd=INPUT_USD[read],
        read=read,
        writes=(TtlPrice(300, 1.25), TtlPrice(3600, 2.0)),
        minimum_tokens=512,
        lookback=20,
        max_marks=4,
    )


# --- Where requests go ---------------------------------------------------------------------------------------------


class Line(Protocol):
    """Takes a day's requests to the vendor, and says how their input was billed.

    Args:
        clock: the vendor's; whoever sends sets it first.
    """

    clock: Clock

    def send(self, request: ProviderRequest, marks: Sequence[CacheMark], answer: tuple[Part, ...]) -> Parts:
        """Send a request to which the model says `answer`."""
        ...

    def ping(self, request: ProviderRequest, marks: Sequence[CacheMark]) -> Parts:
        """Read a prefix, only to keep it."""
        ...


class InProcess:
    """The billing engine itself, asked with bodies of our own rendering."""

    def __init__(self, model: str, vendor: type[AnthropicCache] = AnthropicCache) -> None:
        self.model = model
        self.clock = Clock()
        self.engine = vendor(self.clock, Texts(count_labels))

    def send(self, request: ProviderRequest, marks: Sequence[CacheMark], answer: tuple[Part, ...]) -> Parts:
        """See `Line.send`. Only input is billed here."""
        del answer
        return self.engine.send(body_of(request, marks, self.model)).parts

    def ping(self, request: ProviderRequest, marks: Sequence[CacheMark]) -> Parts:
        """See `Line.ping`."""
        return self.engine.send({**body_of(request, marks, self.model), "max_tokens": 0}).parts


# --- Peers -------------------------------------------------------------------------------------------------------


def no_caching(_request: ProviderRequest, _tail: int) -> tuple[CacheMark, ...]:
    """Nothing is marked."""
    return ()


def automatic(request: ProviderRequest, tail: int) -> tuple[CacheMark, ...]:
    """One mark for five minutes on the last block, before a tail."""
    return (CacheMark(_last_key(request, tail), 300),)


def last_user_message(request: ProviderRequest, tail: int) -> tuple[CacheMark, ...]:
    """One mark on the last message of the user's side (Cline, llm)."""
    return (CacheMark(_user_ends(request, tail)[-1], 300),)


def system_and_last_two(request: ProviderRequest, tail: int) -> tuple[CacheMark, ...]:
    """The system prompt and the last two messages of the user's side (Roo Code)."""
    ends = _user_ends(request, tail)[-2:]
    return (CacheMark(request.system[-1].key, 300), *(CacheMark(key, 300) for key in ends))


def long_system_and_automatic(request: ProviderRequest, tail: int) -> tuple[CacheMark, ...]:
    """Tools and system for an hour, the end for five minutes (Zed)."""
    head = (CacheMark(TOOLS_KEY, 3600), CacheMark(request.system[-1].key, 3600))
    return (*head, CacheMark(_last_key(request, tail), 300))


def fixed_hour(request: ProviderRequest, tail: int) -> tuple[CacheMark, ...]:
    """The system prompt, the files and the last two messages of the user's side, all for an hour."""
    base = [part_key(part) for part in request.messages[0].parts if _is_base(part)]
    keys = (request.system[-1].key, *base[-1:], *_user_ends(request, tail)[-2:])
    return tuple(CacheMark(key, 3600) for key in dict.fromkeys(keys))


def mark_on_tail(request: ProviderRequest, _tail: int) -> tuple[CacheMark, ...]:
    """The common mistake: the mark on what changes."""
    return (CacheMark(part_key(request.messages[-1].parts[-1]), 300),)


NO_CACHING, FIXED_HOUR = "no caching", "fixed 1 h marks, no planner"
PEERS: dict[str, Marks] = {
    NO_CACHING: no_caching,
    "the last block, 5 min": automatic,
    "the last user message, 5 min": last_user_message,
    "system and last two, 5 min": system_and_last_two,
    "system 1 h, the last block 5 min": long_system_and_automatic,
    FIXED_HOUR: fixed_hour,
}


def canonical_requests(
    day: Sequence[Ask], *, tail_last: bool, volatile: bool = False
) -> list[tuple[ProviderRequest, int]]:
    """A day's requests as peers would send them, each with the number of its last parts that are the tail.

    Args:
        tail_last: layer 8 at the end, else in its place between 7 and 9.
        volatile: layer 8 changes with every request (a clock), as the common mistake has it.
    """
    found = []
    for number, ask in enumerate(day):
        request = ask.stack.request()
        if volatile:
            request = _with_clock(request, number)
        found.append((request, tail_of(request)) if tail_last else (in_place(request), 0))
    return found


def replay_peer(
    day: Sequence[Ask],
    requests: Sequence[tuple[ProviderRequest, int]],
    marks: Marks,
    line: Line | None = None,
) -> Bill:
    """Bill a day under a peer's policy; `requests` as `canonical_requests` gives them."""
    line = line or InProcess(MODELS[0.1])
    bill = Bill()
    for ask, (request, tail) in zip(day, requests, strict=True):
        line.clock.now_s = ask.at_s
        bill.add(line.send(request, marks(request, tail), ask.answer))
        bill.asks += 1
    return bill


# --- Other readings of the rules --------------------------------------------------------------------------------------------------------


class NoExtension(AnthropicCache):
    """A vendor for whom a long mark behind a short-lived hit lives no longer than the hit: the documents leave it open."""

    def _use(
        self, run: Rendered, places: list[tuple[int, float]], hit: int, start_s: float
    ) -> tuple[Write, ...]:
        entry = self._alive(run.prefixes[hit], start_s) if hit >= 0 else None
        longest = float("inf") if entry is None else entry.ttl_s
        return tuple(
            dataclasses.replace(w, ttl_s=min(w.ttl_s, longest))
            for w in super()._use(run, places, hit, start_s)
        )


# --- The wire ----------------------------------------------------------------------------------------------------


def body_of(request: ProviderRequest, marks: Sequence[CacheMark], model: str) -> Json:
    """A request as Anthropic's JSON, its marks as `cache_control`."""
    tools: list[Json] = [
        {"name": t.name, "description": t.description, "input_schema": json.loads(t.parameters_json)}
        for t in request.tools
    ]
    system: list[Json] = [{"type": "text", "text": segment.text} for segment in request.system]
    by_key: dict[str, Json] = {s.key: block for s, block in zip(request.system, system, strict=True)}
    if tools:
        by_key[TOOLS_KEY] = tools[-1]
    messages: list[Json] = []
    for message in request.messages:
        blocks: list[Json] = []
        for part in message.parts:
            block = _block(part)
            blocks.append(block)
            by_key[part_key(part)] = block
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        messages.append({"role": role, "content": blocks})
    for mark in marks:
        by_key[mark.after_key]["cache_control"] = {
            "type": "ephemeral",
            "ttl": "1h" if mark.ttl_s == 3600 else "5m",
        }
    return {"model": model, "max_tokens": 1000, "tools": tools, "system": system, "messages": messages}


def _block(part: RequestPart) -> Json:
    match part:
        case Segment(text=text):
            return {"type": "text", "text": text}
        case ToolCallPart(call_id, name, arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments)}
        case ToolResultPart(call_id, text):
            return {"type": "tool_result", "tool_use_id": call_id, "content": text}
        case _:
            raise TypeError(part)


def _is_tail(part: RequestPart) -> bool:
    return isinstance(part, Segment) and part.layer is LayerId.METADATA


def _is_base(part: RequestPart) -> bool:
    return isinstance(part, Segment) and part.layer in {LayerId.FILE_SET, LayerId.FILE_DETAILS}


def tail_of(request: ProviderRequest) -> int:
    """Number of a request's last parts that are its volatile tail."""
    return sum(map(_is_tail, request.messages[-1].parts))


def in_place(request: ProviderRequest) -> ProviderRequest:
    """A request with layer 8 between 7 and 9: at the head of the first message."""
    tail = [part for message in request.messages for part in message.parts if _is_tail(part)]
    kept = [(m.role, tuple(p for p in m.parts if not _is_tail(p))) for m in request.messages]
    first_role, first = kept[0]
    messages = [(first_role, (*tail, *first)), *kept[1:]]
    return replace(request, messages=tuple(RequestMessage(r, parts) for r, parts in messages if parts))


def _with_clock(request: ProviderRequest, number: int) -> ProviderRequest:
    messages = tuple(
        RequestMessage(
            m.role,
            tuple(
                replace(p, text=f"{p.text} {number}") if isinstance(p, Segment) and _is_tail(p) else p
                for p in m.parts
            ),
        )
        for m in request.messages
    )
    return replace(request, messages=messages)


def _last_key(request: ProviderRequest, tail: int) -> str:
    parts = [part for message in request.messages for part in message.parts]
    return part_key(parts[len(parts) - 1 - tail])


def _user_ends(request: ProviderRequest, tail: int) -> list[str]:
    """The last part of each message of the user's side; results and words that follow one another are one."""
    ends: list[str] = []
    last = ""
    messages = request.messages
    for number, message in enumerate(messages):
        side = "assistant" if message.role is Role.ASSISTANT else "user"
        parts = message.parts[: len(message.parts) - tail] if number == len(messages) - 1 else message.parts
        if side == "user" and parts:
            key = part_key(parts[-1])
            ends = [*ends[:-1], key] if last == "user" else [*ends, key]
        last = side
    return ends
