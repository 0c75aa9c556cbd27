"""Two days over the wire: our client, the vendor's SDK and a server on loopback, against the same day in process.

In process a request is rendered by the bench and billed by the engine. Over the wire the program's own client renders
it, the official SDK sends it, the server bills it, and the usage that comes back in the stream's events is what the
planner learns from. Both must say the same of every request, and cost the same.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from core.kernel.values.cache import CacheMark, CachePlan, CacheSettings
from core.kernel.values.messages import Part, TextPart, ToolCallPart
from core.kernel.values.provider import ProviderRequest, StreamItem, TextDelta, ToolCallReady, UsageUpdate
from core.kernel.values.settings import ServerSettings
from core.kernel.values.usage import Usage
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import CancelToken
from core.services.spending.pricing import cost
from tests.bench.__main__ import Row, row
from tests.bench.cache_days import BUSY, DESK, Ask, Day, count_labels, make_day
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import MODELS, PEERS, InProcess, Line, canonical_requests, replay_peer
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import Clock, moment
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts
from tests.vendors.loopback import count_tokens

READ = 0.05
"""The price of reading of the one model that both the bench and the server know."""
MODEL = MODELS[READ]
SEEDS: tuple[tuple[Day, int, bool], ...] = ((DESK, 1, False), (BUSY, 2, True))
"""Kind, seed, with tool turns."""
PEER = "system and last two, 5 min"
LEAST_USD = 1e-9
"""Sums of the same addends: less than this is rounding."""


@dataclass(frozen=True, slots=True)
class Billed:
    """Bill of the vendor for one request, in tokens and US dollars."""

    parts: Parts
    output: int
    usd: float


class WrongAnswerError(Exception):
    """Answer over the wire that is not what the model said."""


class Counted(InProcess):
    """In process, every bill kept, priced by the vendor's list."""

    def __init__(self, model: str = MODEL) -> None:
        super().__init__(model)
        self.billed: list[Billed] = []
        self._prices = Prices()

    def send(self, request: ProviderRequest, marks: Sequence[CacheMark], answer: tuple[Part, ...]) -> Parts:
        """See `Line.send`."""
        return self._keep(super().send(request, marks, answer), output_tokens(answer))

    def ping(self, request: ProviderRequest, marks: Sequence[CacheMark]) -> Parts:
        """See `Line.ping`."""
        return self._keep(super().ping(request, marks), 0)

    def _keep(self, parts: Parts, output: int) -> Parts:
        usd = self._prices.cost("anthropic", self.model, parts, self.clock(), output_tokens=output)
        self.billed.append(Billed(parts, output, float(usd)))
        return parts


class OverTheWire:
    """Our client and the official SDK, speaking to a server on loopback. A `Line` from `with` to its end.

    What it knows of bills is what the client reports as usage, priced as the program prices it.
    """

    def __init__(self, model: str = MODEL) -> None:
        self.model = model
        self.clock = Clock()
        self.billed: list[Billed] = []
        self.server = AnthropicServer(clock=self.clock)
        self.server.cache = AnthropicCache(self.clock, Texts(count_labels))
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self.server)
        settings = ServerSettings(id="anthropic", kind="anthropic", base_url=self.server.url)
        self._client = AnthropicProvider(settings, KEY, packaged_models())
        self._stack.callback(self._client.close)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def send(self, request: ProviderRequest, marks: Sequence[CacheMark], answer: tuple[Part, ...]) -> Parts:
        """See `Line.send`. Raises ProviderError, WrongAnswerError."""
        self.server.replies.append(said(answer))
        items = list(self._client.stream(self._asked(request, marks), _no_blob, CancelToken()))
        _check_answer(items, answer)
        return self._keep([item.usage for item in items if isinstance(item, UsageUpdate)][-1])

    def ping(self, request: ProviderRequest, marks: Sequence[CacheMark]) -> Parts:
        """See `Line.ping`. Raises ProviderError, WrongAnswerError."""
        usage = self._client.prewarm(self._asked(request, marks), _no_blob, CancelToken())
        if usage is None:
            raise WrongAnswerError("the client had nothing to ping")
        return self._keep(usage)

    def _asked(self, request: ProviderRequest, marks: Sequence[CacheMark]) -> ProviderRequest:
        return replace(request, model=self.model, cache=CachePlan(marks=tuple(marks)))

    def _keep(self, usage: Usage) -> Parts:
        """Keep a bill. What was not reported, or has no price, agrees with nothing."""
        usd = cost("anthropic", self.model, usage, moment(self.clock()))
        figures = (
            usage.input_tokens,
            usage.cache_read_tokens,
            usage.cache_write_5m_tokens,
            usage.cache_write_1h_tokens,
        )
        total, read, write, write_long = (-1 if n is None else n for n in figures)
        parts = Parts(total - read - write - write_long, read, write, write_long)
        output = -1 if usage.output_tokens is None else usage.output_tokens
        self.billed.append(Billed(parts, output, math.nan if usd is None else usd))
        return parts


@dataclass(frozen=True, slots=True)
class Agreement:
    """Comparison of two runs of the same day.

    Args:
        differing: the numbers of requests that were not billed alike, with both bills.
        most_tokens: the largest difference of any figure; usd: of both days, wire first.
    """

    requests: int
    differing: tuple[tuple[int, Billed | None, Billed | None], ...]
    most_tokens: int
    usd: tuple[float, float]
    seconds: float = field(default=0.0, compare=False)

    @property
    def holds(self) -> bool:
        """True if both runs sent as many requests, each was billed alike, and the days cost the same."""
        return self.requests > 0 and not self.differing and abs(self.usd[0] - self.usd[1]) < LEAST_USD


def agreement(wire: Sequence[Billed], process: Sequence[Billed]) -> Agreement:
    """Compare two runs, request by request."""
    pairs = list(zip_longest(wire, process))
    differing = tuple(
        (number, one, other)
        for number, (one, other) in enumerate(pairs)
        if one is None or other is None or (one.parts, one.output) != (other.parts, other.output)
    )
    most = max((_distance(one, other) for _, one, other in differing), default=0)
    usd = (sum(one.usd for one in wire), sum(one.usd for one in process))
    return Agreement(len(pairs), differing, most, usd)


def compare(replay: Callable[[Line], object]) -> Agreement:
    """Replay a day both ways, from the start each time."""
    process = Counted()
    replay(process)
    started = time.perf_counter()
    with OverTheWire() as wire:
        replay(wire)
    found = agreement(wire.billed, process.billed)
    return dataclasses.replace(found, seconds=time.perf_counter() - started)


def ours(day: Sequence[Ask]) -> Callable[[Line], object]:
    """The planner's day, with keepalive, so that pings go over the wire too."""
    return lambda line: Ours(READ, CacheSettings(keepalive=True), line=line).replay(day)


def peer(day: Sequence[Ask], name: str = PEER) -> Callable[[Line], object]:
    """A peer's day."""
    requests = canonical_requests(day, tail_last=True)
    return lambda line: replay_peer(day, requests, PEERS[name], line)


def rows() -> list[Row]:
    """Both seeds under the planner and under a peer. Prints what differs, if anything does."""
    found: list[Row] = []
    for kind, seed, tools in SEEDS:
        day = make_day(kind, seed, tool_turns=tools)
        for name, replay in (("planner", ours(day)), (PEER, peer(day))):
            found += _rows(f"over the wire, {kind.name} seed {seed}, {name}", compare(replay))
    return found


def said(answer: tuple[Part, ...]) -> Said:
    """An answer as the server gives it."""
    stop = "tool_use" if any(isinstance(part, ToolCallPart) for part in answer) else "end_turn"
    return Said(tuple(map(_block, answer)), stop)


def output_tokens(answer: tuple[Part, ...]) -> int:
    """Tokens that the server counts for an answer."""
    return sum(count_tokens(json.dumps(_block(part))) for part in answer)


def _block(part: Part) -> Json:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ToolCallPart(call_id, name, arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments)}
        case _:
            raise TypeError(part)


def _check_answer(items: Sequence[StreamItem], answer: tuple[Part, ...]) -> None:
    text = "".join(item.text for item in items if isinstance(item, TextDelta))
    calls = [item.part.call_id for item in items if isinstance(item, ToolCallReady)]
    wanted = "".join(part.text for part in answer if isinstance(part, TextPart))
    if text != wanted or calls != [part.call_id for part in answer if isinstance(part, ToolCallPart)]:
        raise WrongAnswerError(f"{text!r} {calls} came back, not {answer}")


def _distance(one: Billed | None, other: Billed | None) -> int:
    """The largest difference of any figure; a request that only one run sent differs by all of it."""
    a, b = (billed or Billed(Parts(0), 0, 0.0) for billed in (one, other))
    return max(abs(x - y) for x, y in zip(_figures(a), _figures(b), strict=True))


def _figures(billed: Billed) -> tuple[int, ...]:
    parts = billed.parts
    return (parts.total, parts.plain, parts.read, parts.write, parts.write_long, billed.output)


def _rows(name: str, found: Agreement) -> list[Row]:
    for number, one, other in found.differing[:5]:
        print(f"{name}, request {number}: over the wire {one}, in process {other}", file=sys.stderr)
    apart = abs(found.usd[0] - found.usd[1])
    return [
        _row(f"{name}, requests compared", found.requests, "requests", "at least 1", found.requests >= 1),
        _row(
            f"{name}, requests billed otherwise",
            len(found.differing),
            "requests",
            "none",
            not found.differing,
        ),
        _row(f"{name}, largest difference", found.most_tokens, "tokens", "none", not found.most_tokens),
        _row(
            f"{name}, the day cost", found.usd[0], "USD", f"{found.usd[1]:.4g} in process", apart < LEAST_USD
        ),
        _row(f"{name}, took", found.seconds, "s", "", holds=True),
    ]


def _row(name: str, value: float, unit: str, bar: str, holds: bool) -> Row:
    return row(name, round(value, 6), unit, bar=bar, holds=holds)


def _no_blob(sha256: str) -> bytes:
    raise LookupError(sha256)
