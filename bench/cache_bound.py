"""What a day would cost at least, for one who knows the future and may mark anything: a bound, no policy.

Each text (a file's version, a message, a tool) is taken by itself, as if its cache entry did not depend on what
stands before it. For each, dynamic programming over its uses finds the cheapest sequence of sending it fresh,
writing it for five minutes or an hour, and reading it; with keepalive, gaps may also be bridged by reads. No plan
of requests with prefixes can cost less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from bench.cache_days import Ask, count_labels
from core.context.pieces import Piece

_TTLS = ((300.0, 1.25), (3600.0, 2.0))


def bound(day: Sequence[Ask], read: float, *, keepalive: bool) -> float:
    """The least cost of a day's input, in tokens of fresh input.

    Args:
        read: price of reading, as a multiple.
    """
    uses: dict[tuple[str, str], list[float]] = defaultdict(list)
    tokens: dict[tuple[str, str], int] = {}
    for ask in day:
        for layer in ask.stack.layers:
            for piece in layer.pieces:
                name = _name(ask, piece)
                uses[name].append(ask.at_s)
                if name not in tokens:
                    tokens[name] = count_labels(piece.text)
    return sum(tokens[name] * _cheapest(times, read, keepalive=keepalive) for name, times in uses.items())


def _name(ask: Ask, piece: Piece) -> tuple[str, str]:
    """A text, shared by discussions where it is one of the stable layers'."""
    number = int(piece.key.partition("/")[0])
    return ("" if number <= 7 else ask.discussion, piece.sha256)


def _cheapest(times: Sequence[float], read: float, *, keepalive: bool) -> float:
    """Costs of one token that is sent at these times."""
    # Cheapest so far, by what is held now: nothing, an entry of 5 min, one of 1 h.
    held = [0.0, float("inf"), float("inf")]
    last = times[0]
    for time in times:
        gap = time - last
        hits = [
            held[number]
            + read
            + (_bridge(gap, ttl, read) if keepalive else 0.0 if gap <= ttl else float("inf"))
            for number, (ttl, _) in enumerate(_TTLS, start=1)
        ]
        best = min(held)
        either = min(hits)
        # A hit may go on as either lifetime: what it costs to extend is not counted.
        held = [min(best + 1.0, either), min(best + 1.25, either), min(best + 2.0, either)]
        last = time
    return min(held)


def _bridge(gap: float, ttl: float, read: float) -> float:
    """Reads that keep an entry over a gap."""
    return max(0.0, -(-gap // ttl) - 1) * read
