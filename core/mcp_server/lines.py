"""Lines of a client, bounded: one that is too long is passed over and answered, and never held whole."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import BinaryIO

MAX_LINE_BYTES = 1_000_000
"""Of one message. All that a client may say with a tool is far shorter."""

_PIECE_BYTES = 65_536
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")'
_AT_START = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_AT_END = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')

Refuse = Callable[[str | int | None], Awaitable[None]]
"""Answers a message that was too long, by its id, None where that stands nowhere."""
Read = Callable[[BinaryIO, int], Awaitable[bytes]]
"""Reads a line, at most so many bytes of it."""


async def bounded_lines(stream: BinaryIO, read: Read, refuse: Refuse) -> AsyncIterator[str]:
    """Lines as text, each at most `MAX_LINE_BYTES`; of a longer one two pieces are held, to find its id.

    Args:
        stream: standard input; read: `stream.readline`, on a thread.
    """
    while line := await read(stream, MAX_LINE_BYTES):
        if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line.decode("utf-8", "replace")
            continue
        head, tail = line[:_PIECE_BYTES], line[-_PIECE_BYTES:]
        del line
        while piece := await read(stream, MAX_LINE_BYTES):
            tail = (tail + piece)[-_PIECE_BYTES:]
            if piece.endswith(b"\n"):
                break
        await refuse(message_id(head, tail))


def message_id(head: bytes, tail: bytes) -> str | int | None:
    """Id of a message by its two ends, where clients write it; None where neither tells."""
    found = _AT_START.match(head) or _AT_END.search(tail)
    if found is None:
        return None
    text = found[1].decode("utf-8", "replace")
    return text[1:-1] if text.startswith('"') else int(text)
