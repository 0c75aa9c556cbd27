"""Counting tokens: deterministic counters, and one place that remembers each text's number and count."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable

from core.kernel.o200k import count_tokens

Counter = Callable[[str], int]


def chars4(text: str) -> int:
    """A token for four characters."""
    return (len(text) + 3) // 4


def o200k(factor: float = 1.0) -> Counter:
    """Tokens of `o200k_base` times a factor (Claude since 4.7 about 1.35, Gemini about 1.0), rounded up."""

    def counter(text: str) -> int:
        return math.ceil(count_tokens(text) * factor)

    return counter


def sealed_tokens(seal: str) -> int | None:
    """Tokens of what was thought behind a seal, as a vendor's own seal says it here: its last word. None where it says none.

    A vendor shows a summary of its thinking, or nothing, and bills all of it: when it is made, and when it goes back.

    Source: Anthropic "Extended thinking", summarized thinking; Gemini "Thinking", pricing of signatures (read 2026-11).
    """
    try:
        words = base64.b64decode(seal, validate=True).decode().split(" ")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return int(words[-1]) if len(words) > 1 and words[-1].isdecimal() and len(words[-1]) < 10 else None


def sealed(name: str, tokens: int) -> str:
    """A seal over so many tokens."""
    return base64.b64encode(f"{name} {tokens}".encode()).decode()


class Texts:
    """Numbers and token counts of blocks, each text counted once. Share one among engines that count alike.

    A block is known by its kind (role, type) and its text; the count is that of `counted`, where the two
    differ.
    """

    def __init__(self, count: Counter = chars4) -> None:
        self.count = count
        self._known: dict[tuple[str, str], tuple[int, int]] = {}

    def block(self, kind: str, text: str, counted: str | None = None) -> tuple[int, int]:
        """The number of a block, the same for the same kind and text, and its tokens."""
        known = self._known.get((kind, text))
        if known is None:
            tokens = self.count(text if counted is None else counted)
            known = self._known[kind, text] = (len(self._known) + 1, tokens)
        return known

    def sized(self, kind: str, text: str, tokens: int) -> tuple[int, int]:
        """As `block`, for what is no text and whose tokens are known (an image)."""
        known = self._known.get((kind, text))
        if known is None:
            known = self._known[kind, text] = (len(self._known) + 1, tokens)
        return known

    def setting(self, kind: str, text: str) -> int:
        """The number of a setting that is part of a prefix and has no tokens that are billed."""
        return self.sized(kind, text, 0)[0]


class Prefixes:
    """Numbers of prefixes: two requests share one exactly when they share every block up to there.

    A cumulative hash without its collisions: each step looks up (number so far, number of the block).
    """

    ROOT = 0

    def __init__(self) -> None:
        self._steps: dict[int, int] = {}

    def extend(self, prefix: int, block: int) -> int:
        """The number of a prefix with one more block."""
        step = prefix << 32 | block
        known = self._steps.get(step)
        if known is None:
            known = self._steps[step] = len(self._steps) + 1
        return known


as_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
"""A value as a request spells it. `json.dumps` makes an encoder for each text that asks for separators."""


def fields(value: dict[str, object], *without: str) -> str:
    """A block as text. The order of its own fields does not count, the order inside them does.

    Source: Anthropic "Prompt caching", "Troubleshooting": keys of `tool_use` blocks need a stable order (read
    2026-11).
    """
    parts = [[name, value[name]] for name in sorted(value) if name not in without]
    return as_json(parts)
