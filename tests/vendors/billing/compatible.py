"""Prefix reuse of an OpenAI-compatible server (llama.cpp, vLLM, Ollama): what it need not compute again.

Source: llama.cpp server, `cache_prompt`, slots; vLLM automatic prefix caching, blocks of 16 tokens (read
2026-11). No money is asked. Nothing expires: entries go when their place is needed, or when the server
restarts.
"""

from __future__ import annotations

from dataclasses import dataclass
from os.path import commonprefix

from tests.vendors.billing.openai_grid import piece_tokens
from tests.vendors.billing.openai_render import Piece, pieces
from tests.vendors.billing.tokens import Texts
from tests.vendors.billing.values import Json, Parts

_SIMILAR = 0.1  # llama.cpp's default for taking a slot over instead of the oldest


@dataclass(frozen=True, slots=True)
class CompatibleProfile:
    """A server.

    Args:
        slots: prompts that it keeps (llama.cpp: `--parallel`; vLLM: many).
        block: tokens; reuse is a whole number of blocks.
        reports_details: whether the usage has `prompt_tokens_details`.
    """

    slots: int = 1
    block: int = 1
    reports_details: bool = True


@dataclass(frozen=True, slots=True)
class CompatibleTicket:
    """A request under way. `slot` holds its prompt from now on."""

    parts: Parts
    slot: int
    reports_details: bool

    def chat_usage(self, output_tokens: int = 0) -> Json:
        """The `usage` of a chat completion, without the fields that the server does not know."""
        usage: Json = {
            "prompt_tokens": self.parts.total,
            "completion_tokens": output_tokens,
            "total_tokens": self.parts.total + output_tokens,
        }
        if self.reports_details:
            usage["prompt_tokens_details"] = {"cached_tokens": self.parts.read}
        return usage


class CompatibleCache:
    """What a local server holds of earlier prompts."""

    def __init__(self, texts: Texts | None = None, *, profile: CompatibleProfile | None = None) -> None:
        self.texts = texts or Texts()
        self.profile = profile or CompatibleProfile()
        self._slots: list[list[Piece]] = [[] for _ in range(self.profile.slots)]
        self._used = [0] * self.profile.slots
        self._turn = 0

    def send(self, body: Json) -> CompatibleTicket:
        """Compute a prompt, reusing the longest run that a slot has in common with it."""
        run = [piece for piece in pieces(body) if piece.text]
        total = sum(piece_tokens(piece, self.texts) for piece in run)
        shared = [self._shared(slot, run) for slot in self._slots]
        best = max(range(len(shared)), key=lambda number: (shared[number], -self._used[number]))
        if shared[best] < _SIMILAR * total:
            best = min(range(len(shared)), key=lambda number: self._used[number])
        reused = min(shared[best], max(0, total - 1)) if body.get("cache_prompt", True) else 0
        reused -= reused % self.profile.block
        self._turn += 1
        self._slots[best], self._used[best] = run, self._turn
        return CompatibleTicket(Parts(total - reused, reused), best, self.profile.reports_details)

    def finish(self, ticket: CompatibleTicket, reply: str) -> None:
        """The reply stands behind its prompt: the next turn, which repeats it, finds it there."""
        self._slots[ticket.slot] = [*self._slots[ticket.slot], Piece("assistant ^", reply)]

    def restart(self) -> None:
        """Everything is forgotten."""
        self._slots = [[] for _ in self._slots]

    def _shared(self, held: list[Piece], run: list[Piece]) -> int:
        """Tokens of the run that two prompts begin with."""
        tokens = 0
        for ours, theirs in zip(run, held, strict=False):
            if (ours.kind, ours.text) != (theirs.kind, theirs.text):
                if ours.kind == theirs.kind and ours.tokens is None:
                    common = commonprefix([ours.text, theirs.text])  # noqa: RUF071 - characters are meant
                    tokens += min(self.texts.count(common), piece_tokens(ours, self.texts)) if common else 0
                break
            tokens += piece_tokens(ours, self.texts)
        return tokens
