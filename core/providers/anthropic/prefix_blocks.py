"""A text cut into content blocks that are marked for the cache, for programs that build their own requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_BOUNDARIES = 3


def cache_prefix_blocks(message: str, cache_boundaries: Sequence[int] | None) -> str | list[dict[str, Any]]:
    """Split a text at character offsets into content blocks, each but the rest marked for the cache.

    Args:
        message: any text.
        cache_boundaries: character offsets; taken sorted, without repeats, and only those inside the text
            (0 < offset < length); None for none. Of more than three the last and the first two are kept.

    Returns:
        Blocks whose texts together are the message, or the plain message where no boundary is valid.

    Source: 20-caching.md; a request has four marks at most (Anthropic "Prompt caching", read 2026-11), of which
    one is left for the system blocks.
    """
    cuts = sorted({offset for offset in cache_boundaries or () if 0 < offset < len(message)})
    if not cuts:
        return message
    if len(cuts) > MAX_BOUNDARIES:
        cuts = [*cuts[: MAX_BOUNDARIES - 1], cuts[-1]]
    starts = [0, *cuts]
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": message[start:end], "cache_control": {"type": "ephemeral"}}
        for start, end in zip(starts, cuts, strict=False)
    ]
    return [*blocks, {"type": "text", "text": message[cuts[-1] :]}]
