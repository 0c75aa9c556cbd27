"""What models have refused: fields, additions in a conversation, earlier thinking, by server and model or by discussion. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from core.kernel.errors import ProviderError
from core.kernel.values.messages import Message, ReasoningPart
from core.kernel.values.state import AppState
from core.services.providers.server_words import is_reasoning_unknown

REASONING, SWITCHES = "earlier reasoning", "switches"
"""Stand among refused fields for what a model gets back of its own, and for additions in the middle of a conversation."""

Refusals = Mapping[str, frozenset[str]]
"""What was refused, by `refusal_mark`. Of a discussion: messages up to which its thinking was, by id."""


def server_address(provider: str, base_url: str) -> str:
    """Name of a server that tells two under one address apart."""
    return f"{provider} {base_url}"


def refusal_mark(address: str, model: str, discussion_id: str = "") -> str:
    """Short digest of a server's model, or of one discussion with it: the file tells neither."""
    parts = (address, model, discussion_id) if discussion_id else (address, model)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def with_refused(known: Refusals, mark: str, names: Iterable[str]) -> Refusals:
    """Refusals with more of them."""
    return {**known, mark: known.get(mark, frozenset()).union(names)}


def mark_in(state: AppState, provider: str, model: str, discussion_id: str = "") -> str:
    """Mark of a provider's model, or of a discussion with it."""
    status = state.config.providers.get(provider)
    address = server_address(provider, "" if status is None else status.base_url)
    return refusal_mark(address, model, discussion_id)


def refused_in(state: AppState, provider: str, model: str, discussion_id: str = "") -> frozenset[str]:
    """What is known to be refused, in this run or an earlier one."""
    known = state.caching.refusals
    return known.get(mark_in(state, provider, model, discussion_id), frozenset()) if known else frozenset()


def refuses_all(error: ProviderError, *, is_again: bool, has_taken: bool) -> bool:
    """True if a refusal of thinking is one of all thinking, not of the blocks that came back.

    A vendor refuses single blocks for their signature, their age, their model or what stands before them. A server that takes
    none at all says so, or refuses new ones of the same discussion at once, though all that was refused before is left out.

    Args:
        is_again: thinking of the discussion was refused before in this run; has_taken: the model took some in this run.
    """
    return is_reasoning_unknown(error) or (is_again and not has_taken)


def last_thought(turns: Sequence[Message]) -> str:
    """Id of the last message with thinking, empty where there is none."""
    return next((one.id for one in reversed(turns) if _thinks(one)), "")


def without_thoughts(turns: tuple[Message, ...], through: frozenset[str]) -> tuple[Message, ...]:
    """Turns without the thinking up to the last of these messages. The same object where none is among them."""
    last = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].id in through), -1)
    if last < 0:
        return turns
    return (*(_bare(one) if _thinks(one) else one for one in turns[: last + 1]), *turns[last + 1 :])


def _thinks(message: Message) -> bool:
    return any(isinstance(part, ReasoningPart) for part in message.parts)


def _bare(message: Message) -> Message:
    return replace(message, parts=tuple(one for one in message.parts if not isinstance(one, ReasoningPart)))
