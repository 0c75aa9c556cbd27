"""Implicit caching of OpenAI's models before 5.6: breakpoints at fixed distances, no fee for writing.

Source: developers.openai.com "Prompt caching", "Summary of model differences" (read 2026-10): GPT-5.5 every
2,048 tokens, earlier models at distances of their own; reported in multiples of 128; `in_memory` 5 to 10 min
idle, at most 1 h, `24h` about 30 min idle, at most 24 h. The minimum "varies"; an earlier copy of the page
says 2,048, which is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.vendors.billing.openai_render import Piece
from tests.vendors.billing.tokens import Prefixes, Texts

MINIMUM = 2_048
ROUND = 128
_CHUNK_CHARS = 256


@dataclass(slots=True)
class GridEntry:
    """A boundary that is held. It goes when it was idle for `idle_s`, and at `ends_s` whatever happens."""

    expires_s: float
    idle_s: float
    ends_s: float


@dataclass(frozen=True, slots=True)
class GridHit:
    """What one request read, and the boundaries that it leaves behind."""

    tokens: int
    boundaries: tuple[int, ...]


class Grid:
    """The implicit cache of the older models.

    Tokens inside a piece are found in chunks, so an edit in it cuts there.
    """

    def __init__(self, texts: Texts, seed: int) -> None:
        self._texts = texts
        self._random = Random(seed)
        self._prefixes = Prefixes()
        self._entries: dict[int, GridEntry] = {}
        self._chunks: dict[str, tuple[tuple[int, int], ...]] = {}

    def look_up(self, scope: str, run: list[Piece], distance: int, hidden: int, now_s: float) -> GridHit:
        """The deepest boundary that is held, in reported tokens: without hidden ones, rounded down to 128.

        Args:
            scope: organisation, model, key and settings; distance: tokens between breakpoints.
            hidden: tokens of the vendor's own that come first.
        """
        boundaries = self._boundaries(scope, run, distance, hidden)
        held = 0
        for prefix, tokens in boundaries:
            entry = self._entries.get(prefix)
            if entry is not None and entry.expires_s > now_s:
                held = tokens
                entry.expires_s = max(entry.expires_s, min(now_s + entry.idle_s, entry.ends_s))
        reported = (held - hidden) // ROUND * ROUND if held else 0
        return GridHit(reported, tuple(prefix for prefix, _ in boundaries))

    def keep(self, hit: GridHit, start_s: float, retention: str) -> None:
        """Hold the boundaries of a request that began at `start_s`."""
        idle_s = 1800.0 if retention == "24h" else self._random.uniform(300.0, 600.0)
        most_s = 86_400.0 if retention == "24h" else 3600.0
        for prefix in hit.boundaries:
            entry = self._entries.get(prefix)
            if entry is None or entry.expires_s <= start_s:
                ends_s = start_s + most_s
                self._entries[prefix] = GridEntry(min(start_s + idle_s, ends_s), idle_s, ends_s)

    def _boundaries(self, scope: str, run: list[Piece], distance: int, hidden: int) -> list[tuple[int, int]]:
        """Prefix and tokens (hidden ones included) at each multiple of the distance, ascending."""
        prefix = self._prefixes.extend(Prefixes.ROOT, self._texts.setting("grid", scope))
        tokens, found, next_at = hidden, [], distance
        for piece in run:
            prefix = self._prefixes.extend(prefix, self._texts.setting("grid piece", piece.kind))
            end = tokens + piece_tokens(piece, self._texts)
            chunks = self._cut(piece)
            for place, (number, size) in enumerate(chunks):
                prefix = self._prefixes.extend(prefix, number)
                tokens = end if place == len(chunks) - 1 else min(tokens + size, end)
                while tokens >= next_at:  # the chunk that a boundary lies in belongs to it whole
                    if next_at - hidden >= MINIMUM:
                        found.append((prefix, next_at))
                    next_at += distance
        return found

    def _cut(self, piece: Piece) -> tuple[tuple[int, int], ...]:
        known = self._chunks.get(piece.text)
        if known is None:
            if piece.tokens is not None:
                known = (self._texts.sized("grid chunk", piece.text, piece.tokens),)
            else:
                texts = [piece.text[n : n + _CHUNK_CHARS] for n in range(0, len(piece.text), _CHUNK_CHARS)]
                known = tuple(self._texts.block("grid chunk", text) for text in texts)
            self._chunks[piece.text] = known
        return known


def piece_tokens(piece: Piece, texts: Texts) -> int:
    """Tokens of a piece."""
    return texts.block(piece.kind, piece.text)[1] if piece.tokens is None else piece.tokens
