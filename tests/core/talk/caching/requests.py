"""Requests, prices and markets for the tests of caching: small texts with tokens that are told, not counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from core.kernel.values.cache import (
    CacheMark,
    CachePrices,
    GapStats,
    Habits,
    LedgerScope,
    Mechanism,
    Talk,
    TtlPrice,
    TurnGap,
)
from core.kernel.values.curation import ItemFiles
from core.kernel.values.messages import Message, Role
from core.kernel.values.provider import ProviderRequest, RequestMessage, RequestPart
from core.kernel.values.stack import DiscussionMetadata, LayerId, Segment, StackInputs, ToolSchema
from core.kernel.values.window import ContextView
from core.services.providers.blocks import Wire, wire_of
from core.talk.caching.view import visible_pieces
from core.talk.context.stack import AggregateStack, build_stack
from tests.core.stacks import curated

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SCOPE = LedgerScope("anthropic", "key", "claude-opus-5-5")
ANTHROPIC = CachePrices(
    provider="anthropic",
    model="claude-opus-5-5",
    mechanism=Mechanism.MARKS,
    input_usd=4e-6,
    read=0.05,
    writes=(TtlPrice(300, 1.25), TtlPrice(3600, 2.0)),
    minimum_tokens=512,
    lookback=20,
    max_marks=4,
)


def gap_stats(*seconds: float, turns: int = 60, shared: Iterable[float] | None = None) -> GapStats:
    """Someone who has one discussion with these gaps; at no time of the day."""
    own = tuple(map(TurnGap, seconds))
    return GapStats(own, own, own if shared is None else tuple(map(TurnGap, shared)), turns)


QUICK = gap_stats(*[60.0] * 100)
"""Someone who answers within minutes."""
SLOW = gap_stats(*[1200.0] * 100)
"""Someone who comes back after twenty minutes."""
AWAY = gap_stats(*[90_000.0] * 100)
"""Someone who comes back the day after."""


def habits_of(gap_s: float) -> Habits:
    """Someone who comes back after so long, in one discussion."""
    gaps = (TurnGap(gap_s),) * 100
    return Habits(gaps, gaps, {"other": Talk(100, NOW.timestamp() - 60)})


def seg(layer: int, text: str, key: str = "") -> Segment:
    """A segment whose text tells its tokens: `4000 files`."""
    name = f"{layer}/{key}" if key else str(layer)
    return Segment(LayerId(layer), name, text, hashlib.sha256(text.encode()).hexdigest())


def count(part: RequestPart | ToolSchema) -> int:
    """The tokens that a part tells, 10 where it tells none."""
    text = getattr(part, "text", "") or getattr(part, "description", "")
    first = text.split(" ")[0]
    return int(first) if first.isdecimal() else 10


def request(
    *talk: str,
    stable: str = "3000 stable",
    files: str = "8000 files",
    words: str = "100 words",
    tail: str = "50 tail",
) -> ProviderRequest:
    """A request with a system block, files, turns that alternate from the user on, words and metadata."""
    messages: list[RequestMessage] = []
    first: list[RequestPart] = [seg(10, files)] if files else []
    roles = (Role.USER, Role.ASSISTANT)
    parts = [(roles[n % 2], seg(11, text, f"m{n}")) for n, text in enumerate(talk)]
    if words:
        parts.append((Role.USER, seg(12, words, "text")))
    for role, part in parts:
        if role is Role.USER and first and not messages:
            messages.append(RequestMessage(role, (*first, part)))
        else:
            messages.append(RequestMessage(role, (part,)))
    if tail:
        last = messages[-1]
        messages[-1] = RequestMessage(last.role, (*last.parts, seg(8, tail)))
    system = (seg(1, stable),) if stable else ()
    return ProviderRequest("anthropic", "claude-opus-5-5", system, tuple(messages))


def wire(*talk: str, **fields: str) -> Wire:
    """The blocks of such a request."""
    return wire_of(request(*talk, **fields), SCOPE, count)


def stack_of(
    files: dict[str, str],
    turns: tuple[Message, ...] = (),
    words: str = "words",
    name: str = "talk",
    retrieved: str = "",
    withdrawals: int = 0,
    cut_id: str = "",
) -> AggregateStack:
    """A stack of files by their paths, turns and words, with what was recalled for them."""
    items: tuple[ItemFiles, ...] = tuple(curated(path, text) for path, text in files.items())
    return build_stack(
        StackInputs(
            provider="anthropic",
            model="claude-opus-5-5",
            role_text="9000 role",
            metadata=DiscussionMetadata(name),
            preset_name="core",
            items=items,
            turns=turns,
            user_text=words,
            retrieved=retrieved,
            withdrawals=withdrawals,
            cut_id=cut_id,
        )
    )


def visible_files(view: ContextView) -> dict[str, str]:
    """The newest text of each piece that a model takes as current of layers 6, 7 and 10, by its key."""
    return {key: piece.text for key, piece in visible_pieces(view).items()}


def turn_texts(messages: Iterable[RequestMessage]) -> tuple[tuple[str, RequestPart | str], ...]:
    """What a model sees of the talk: role and content of each part, files, deltas and metadata left out."""
    return tuple(
        (message.role.value, part.text if isinstance(part, Segment) else part)
        for message in messages
        for part in message.parts
        if not (
            isinstance(part, Segment)
            and (part.layer not in {LayerId.TURNS, LayerId.USER} or part.key.endswith("/told"))
        )
    )


def after(seconds: float) -> datetime:
    """A moment after `NOW`."""
    return NOW + timedelta(seconds=seconds)


def json_of(asked: ProviderRequest, marks: tuple[CacheMark, ...]) -> dict[str, object]:
    """The body of `POST /v1/messages` with these marks."""
    by_key = {mark.after_key: "1h" if mark.ttl_s == 3600 else "5m" for mark in marks}

    def block(part: object) -> dict[str, object]:
        value: dict[str, object] = {"type": "text", "text": part.text}  # type: ignore[attr-defined]
        if part.key in by_key:  # type: ignore[attr-defined]
            value["cache_control"] = {"type": "ephemeral", "ttl": by_key[part.key]}  # type: ignore[attr-defined]
        return value

    return {
        "model": "claude-opus-5-5",
        "max_tokens": 9,
        "system": [block(s) for s in asked.system],
        "messages": [{"role": m.role.value, "content": [block(p) for p in m.parts]} for m in asked.messages],
    }
