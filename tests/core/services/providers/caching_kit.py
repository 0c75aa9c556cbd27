"""Turns of a discussion with cache plans, for tests of what the vendors make of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.kernel.values.cache import CacheMark, CachePlan
from core.kernel.values.provider import ProviderRequest, RequestMessage
from core.kernel.values.stack import LayerId
from core.services.providers.protocol import CancelToken, Provider
from tests.core.services.providers.outcomes import (
    NO_BLOBS,
    TOOLS,
    Outcome,
    assistant,
    outcome,
    run_beside,
    seg,
    user,
)
from tests.patience import PATIENCE_S
from tests.vendors.loopback import Gate, HoldAfter, LoopbackServer

MINUTES_5, HOUR = 300, 3600
SYSTEM, FILES, TEXT = "7/digest", "10", "12/text"
"""Keys of the parts behind which the plans of these tests mark."""


METADATA = "<discussion>\nTurns so far: some.\n</discussion>\n"
"""Layer 8 as our stack frames it, which stands in one request alone."""


def words(tokens: int, name: str = "") -> str:
    """A text of so many tokens where four characters are one."""
    return f"{name} ".ljust(4 * tokens, "x")


def plan(*marks: tuple[str, int], **rest: Any) -> CachePlan:
    """A plan with these marks: keys and lifetimes."""
    return CachePlan(marks=tuple(CacheMark(key, ttl_s) for key, ttl_s in marks), **rest)


def turn(
    model: str,
    *said: str,
    cache: CachePlan | None = None,
    system: str = "",
    files: str = "",
    metadata: str = METADATA,
    discussion: str = "d1",
    **rest: Any,
) -> ProviderRequest:
    """A turn as the stack lays it out.

    Args:
        said: the person's words and the model's in turn, the person's last ones at the end.
        system: layer 7, 2,000 tokens unless given; files: layer 10, 1,000 tokens unless given.
    """
    return ProviderRequest(
        "",
        model,
        (
            seg("You help.", LayerId.ROLE, "1/role"),
            seg(system or words(2000, "digest"), LayerId.KNOWLEDGE, SYSTEM),
        ),
        _messages(said, files or words(1000, "files"), metadata),
        tools=TOOLS,
        discussion_id=discussion,
        cache=cache,
        **rest,
    )


def _messages(said: Sequence[str], files: str, metadata: str) -> tuple[RequestMessage, ...]:
    found = []
    for number, text in enumerate(said):
        is_last = number == len(said) - 1
        part = seg(text, LayerId.USER, TEXT) if is_last else seg(text, LayerId.TURNS, f"11/m{number}")
        head = [seg(files, LayerId.FILE_DETAILS, FILES)] if number == 0 else []
        tail = [seg(metadata, LayerId.METADATA, "8")] if is_last else []
        found.append((assistant if number % 2 else user)(*head, part, *tail))
    return tuple(found)


def sent(provider: Provider, request: ProviderRequest) -> Outcome:
    """Stream a request to its end; the client stays open for the next."""
    result = outcome(provider.stream(request, NO_BLOBS, CancelToken()))
    assert result.error is None, result.error
    return result


def both_at_once(
    server: LoopbackServer, provider: Provider, first: ProviderRequest, second: ProviderRequest
) -> tuple[Outcome, Outcome]:
    """Send a request while the answer to another has not begun. Returns both outcomes, the other's first."""
    gate = Gate()
    server.faults.append(HoldAfter(0, gate))
    waiting = run_beside(lambda: outcome(provider.stream(first, NO_BLOBS, CancelToken())))
    assert gate.reached.wait(PATIENCE_S)
    answered = sent(provider, second)
    gate.open()
    return waiting(), answered


def marked(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Marked blocks of an Anthropic body: the start of their text or their name, and the lifetime."""
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    for message in body["messages"]:
        blocks += message["content"]
    return [
        (
            block.get("name") or block.get("text", block.get("type", ""))[:6],
            block["cache_control"]["ttl"],
        )
        for block in blocks
        if "cache_control" in block
    ]
