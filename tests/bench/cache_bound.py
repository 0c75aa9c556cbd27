"""Bounds of a day's cost, for one who knows the future. Three bounds, each no policy, the lowest last.

- `least_same`: the same requests. They are a tree of prefixes; each edge of it has the tokens of one block and is asked
  for whenever a request has its prefix. For each edge by itself, the cheapest way to have it each time: sent fresh,
  written for five minutes or an hour, or read, which only a write or read within its lifetime allows. Going on at the
  other lifetime after a read is free.
- `least_any`: any strategy. As before, but gaps may be bridged by pings, which cost a read and go on at either lifetime
  as every read does, and the layers before the turns may stand in any order: the cheapest of all orders, of the requests as sent without keepalive and with it. (Layers 1 to 5
  never change, so they stand first in the cheapest.)
- `least_by_text`: each text (a file's version, a message, a tool) by itself, as if its entry did not depend on what stands
  before it. Nothing that was superseded is carried, no frame is paid, an edit rewrites only itself: no order of layers,
  no plan of requests with prefixes can cost less, and none can cost as little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from core.kernel.values.cache import CacheMark
from core.kernel.values.messages import Part
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import LayerId, Segment
from core.talk.context.pieces import Piece
from tests.bench.cache_days import Ask, count_labels, part_text
from tests.bench.cache_policies import InProcess
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.anthropic_render import Rendered
from tests.vendors.billing.values import Parts, Write

_TTLS = ((300.0, 1.25), (3600.0, 2.0))
_GROUPS = (1, 2, 3, 4)
"""Groups that may change places: layers 1 to 5, 6, 7, and 9 with 10 as first sent."""
_GROUP_OF = {LayerId.PROJECT: 2, LayerId.KNOWLEDGE: 3}
_BASE, _BASE_GROUP = {LayerId.FILE_SET, LayerId.FILE_DETAILS}, 4


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a request.

    Args:
        prefix: number of the prefix that ends with it; block: of the block, wherever it stands.
        group: of `_GROUPS`, 0 for turns and what stands between or behind them.
    """

    prefix: int
    tokens: int
    block: int = 0
    group: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as the vendor saw it."""

    at_s: float
    blocks: tuple[Block, ...]


class AsSent(InProcess):
    """In process, and every request noted as it was rendered; pings are no requests."""

    def __init__(self, model: str) -> None:
        super().__init__(model, _Noting)
        self.requests: list[Sent] = []
        self.asked: list[ProviderRequest] = []
        self._numbers: dict[str, int] = {}

    def send(self, request: ProviderRequest, marks: Sequence[CacheMark], answer: tuple[Part, ...]) -> Parts:
        """See `Line.send`."""
        parts = super().send(request, marks, answer)
        assert isinstance(self.engine, _Noting)
        run = self.engine.last
        starts = (0, *run.ends)
        blocks = tuple(
            Block(prefix, end - start, self._numbers.setdefault(text, len(self._numbers)), group)
            for prefix, start, end, (text, group) in zip(
                run.prefixes, starts[:-1], run.ends, _texts(request), strict=True
            )
        )
        self.requests.append(Sent(self.clock(), blocks))
        self.asked.append(request)
        return parts


class _Noting(AnthropicCache):
    last = Rendered()

    def _use(
        self, run: Rendered, places: list[tuple[int, float]], hit: int, start_s: float
    ) -> tuple[Write, ...]:
        self.last = run
        return super()._use(run, places, hit, start_s)


def _texts(request: ProviderRequest) -> list[tuple[str, int]]:
    """Each block's text in wire order, and its group."""
    found = [(part_text(tool), 1) for tool in request.tools]
    found += [(segment.text, _GROUP_OF.get(segment.layer, 1)) for segment in request.system]
    for number, message in enumerate(request.messages):
        for part in message.parts:
            is_base = not number and isinstance(part, Segment) and part.layer in _BASE
            found.append((part_text(part), _BASE_GROUP if is_base else 0))
    return found


def least_same(requests: Sequence[Sent], read: float, *, pings: bool = False) -> float:
    """The least for the same requests, in tokens of fresh input.

    Args:
        read: price of reading, as a multiple; pings: gaps may be bridged.
    """
    uses = [(block.prefix, block.tokens, sent.at_s) for sent in requests for block in sent.blocks]
    return least(uses, read, pings=pings)


def least_any(ways: Iterable[Sequence[Sent]], read: float) -> float:
    """The least for any strategy, in tokens of fresh input.

    Args:
        ways: to send the same day; the cheapest counts.
    """
    return min(
        least_same(_reordered(requests, order), read, pings=True)
        for requests in ways
        for order in permutations(_GROUPS)
        if order[0] == 1
    )


def _reordered(requests: Sequence[Sent], order: Sequence[int]) -> list[Sent]:
    """The requests with their groups of layers in another order; turns and tail stay behind them."""
    places = {group: place for place, group in enumerate(order)}
    numbers: dict[tuple[int, int], int] = {}
    found = []
    for sent in requests:
        blocks, prefix = [], 0
        for block in sorted(sent.blocks, key=lambda block: places.get(block.group, len(places))):
            prefix = numbers.setdefault((prefix, block.block), len(numbers) + 1)
            blocks.append(Block(prefix=prefix, tokens=block.tokens, block=block.block, group=block.group))
        found.append(Sent(sent.at_s, tuple(blocks)))
    return found


def never_rewritten(day: Sequence[Ask]) -> tuple[Sent, ...]:
    """A day's requests where nothing is ever sent in another place than before: what is new or changed is appended.

    What all discussions share stands first; layer 8 stands last, and is left out of the next request.
    """
    numbers: dict[tuple[int, str], int] = {}
    lines: dict[str, dict[str, int]] = defaultdict(dict)
    found = []
    for ask in day:
        line = lines[ask.discussion]
        *told, words = _told(ask)
        shown = (piece.text for layer in ask.stack.layers if _is_context(layer.id) for piece in layer.pieces)
        for text in (*told, *shown, words) if line else (*shown, *told, words):
            line.setdefault(text, count_labels(text))
        tail = {piece.text: count_labels(piece.text) for piece in ask.stack.layer(LayerId.METADATA).pieces}
        blocks, prefix = [], 0
        for text, tokens in (*line.items(), *tail.items()):
            prefix = numbers.setdefault((prefix, text), len(numbers) + 1)
            blocks.append(Block(prefix, tokens))
        found.append(Sent(ask.at_s, tuple(blocks)))
    return tuple(found)


def _is_context(layer: LayerId) -> bool:
    return layer.is_stable or layer in {LayerId.FILE_SET, LayerId.FILE_DETAILS}


def _told(ask: Ask) -> list[str]:
    """Turns and words, as the wire has them."""
    return [
        part_text(part)
        for message in ask.stack.request().messages
        for part in message.parts
        if not isinstance(part, Segment) or part.layer in {LayerId.TURNS, LayerId.USER}
    ]


def least_by_text(day: Sequence[Ask], read: float, *, pings: bool) -> float:
    """The least for a day's texts, each by itself, in tokens of fresh input."""
    tokens: dict[str, int] = {}
    uses: list[tuple[Hashable, int, float]] = []
    for ask in day:
        for piece in (piece for layer in ask.stack.layers for piece in layer.pieces):
            if piece.sha256 not in tokens:
                tokens[piece.sha256] = count_labels(piece.text)
            uses.append((_name(ask, piece), tokens[piece.sha256], ask.at_s))
    return least(uses, read, pings=pings)


def cheapest(times: Sequence[float], read: float, *, pings: bool) -> float:
    """Cost of one token at least that is asked for at these times, ascending."""
    # Cheapest so far, by what is held now: nothing, an entry of 5 min, one of 1 h.
    held = [0.0, float("inf"), float("inf")]
    last = times[0]
    for time in times:
        gap = time - last
        hits = [
            held[number] + read + (_bridge(gap, ttl, read) if pings else 0.0 if gap < ttl else float("inf"))
            for number, (ttl, _) in enumerate(_TTLS, start=1)
        ]
        best = min(held)
        either = min(hits)
        # A hit may go on as either lifetime: what it costs to extend is not counted.
        held = [min(best + 1.0, either), min(best + 1.25, either), min(best + 2.0, either)]
        last = time
    return min(held)


def least(uses: Sequence[tuple[Hashable, int, float]], read: float, *, pings: bool) -> float:
    """The least for texts, each with its tokens whenever it is asked for, in tokens of fresh input."""
    times: dict[Hashable, list[float]] = defaultdict(list)
    tokens: dict[Hashable, int] = {}
    for name, size, at_s in uses:
        times[name].append(at_s)
        tokens[name] = size
    # Blocks that were always asked for together cost alike.
    together: dict[tuple[float, ...], int] = defaultdict(int)
    for name, asked in times.items():
        together[tuple(asked)] += tokens[name]
    return sum(size * cheapest(asked, read, pings=pings) for asked, size in together.items())


def _name(ask: Ask, piece: Piece) -> Hashable:
    """A text, shared by discussions where it is one of the stable layers'."""
    number = int(piece.key.partition("/")[0])
    return ("" if number <= 7 else ask.discussion, piece.sha256)


def _bridge(gap: float, ttl: float, read: float) -> float:
    """Reads that keep an entry over a gap. They go on at the longest lifetime: from the first on it lives an hour."""
    return max(0.0, -(-(gap - ttl) // _TTLS[-1][0])) * read
