"""The part of a reply that has arrived: its parts in order, what is told of it, and what it may be billed at."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from core.base.errors import ProviderError
from core.values.messages import Part, ReasoningPart, TextPart
from core.values.provider import (
    ContentsReport,
    ReasoningDelta,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.values.usage import Usage

_LARGE_CHARS = 1_000_000
"""Of a reply that is told of in larger steps."""

_RUN_PIECES = 500
"""Pieces of a reply that are joined in one go."""


class ArrivingReply:
    """The part of a reply that has arrived, in order, and what it is expected to be billed at.

    `is_out`: the provider has the request and may bill it; `lost`: attempts before whose answers never came.
    `is_outgrown`: more of it came after its length was reported.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._done: list[Part] = []
        self._text, self._reasoning = _Pieces(), _Pieces()
        self._new_text: list[str] = []
        self._new_reasoning: list[str] = []
        self._told_chars = self._new_chars = 0
        self.has_begun = False
        self.contents: ContentsReport | None = None
        self.usage: Usage | None = None
        self.expected = Usage()
        self.is_out = self.is_outgrown = False
        self.lost = 0
        self.first_token_s: float | None = None

    def elapsed_s(self) -> float:
        """Seconds since the call began."""
        return self._clock() - self._started

    def failed(self, error: ProviderError) -> None:
        """An attempt failed, and another one is made after a while."""
        self.is_out, self.lost = False, self.lost + error.is_lost

    def add(self, item: StreamItem) -> None:
        """Take in what came."""
        self.has_begun = True
        if isinstance(item, TextDelta):
            self._new_text.append(item.text)
            self._new_chars += len(item.text)
        elif isinstance(item, ReasoningDelta):
            self._new_reasoning.append(item.text)
            self._new_chars += len(item.text)
        if not isinstance(item, UsageUpdate | Stopped):
            self.is_outgrown = self.usage is not None and self.usage.output_tokens is not None
            if self.first_token_s is None:
                self.first_token_s = self.elapsed_s()
        match item:
            case TextDelta():
                self._end_reasoning("")
                self._text.append(item.text)
            case ReasoningDelta():
                self._end_text()
                self._reasoning.append(item.text)
                if item.vendor_json:
                    self._end_reasoning(item.vendor_json)
            case ToolCallReady():
                self._end_text()
                self._end_reasoning("")
                self._done.append(item.part)
            case UsageUpdate():
                self.usage, self.is_outgrown = item.usage, False
                self.contents = _together(self.contents, item.contents)
            case Stopped():
                pass

    def news(self) -> tuple[str, str] | None:
        """Text and reasoning to tell of, None while there is too little.

        Each is told at once until a megabyte has come; then only what adds a thirty-second to it: who shows a reply
        puts all of it together anew for every piece.
        """
        is_large = self._told_chars > _LARGE_CHARS
        if not self._new_chars or (is_large and self._new_chars < self._told_chars // 32):
            return None
        news = "".join(self._new_text), "".join(self._new_reasoning)
        self._told_chars += self._new_chars
        self._new_chars = 0
        self._new_text.clear()
        self._new_reasoning.clear()
        return news

    def parts(self) -> tuple[Part, ...]:
        """All that arrived, in order."""
        self._end_text()
        self._end_reasoning("")
        return tuple(self._done)

    def _end_text(self) -> None:
        text = self._text.taken()
        if text:
            self._done.append(TextPart(text))

    def _end_reasoning(self, vendor_json: str) -> None:
        text = self._reasoning.taken()
        if text or vendor_json:
            self._done.append(ReasoningPart(text, vendor_json))


class _Pieces:
    """Pieces of a text, joined now and then: thousands of small ones would keep their memory long after."""

    def __init__(self) -> None:
        self._runs: list[str] = []
        self._pieces: list[str] = []

    def append(self, piece: str) -> None:
        self._pieces.append(piece)
        if len(self._pieces) == _RUN_PIECES:
            self._runs.append("".join(self._pieces))
            self._pieces.clear()

    def taken(self) -> str:
        """All of it; nothing is left."""
        text = "".join((*self._runs, *self._pieces))
        self._runs.clear()
        self._pieces.clear()
        return text


def _together(before: ContentsReport | None, new: ContentsReport | None) -> ContentsReport | None:
    """The later report, with what an attempt before it has paid for."""
    if before is None or new is None or before.stored is None or new.stored is None:
        return new or before
    return replace(new, is_new=before.is_new or new.is_new)
