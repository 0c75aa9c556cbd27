"""Lines of a client: whole, in pieces, and 100 MB long, which is answered and never held."""

from __future__ import annotations

import asyncio
import io
from typing import BinaryIO, cast

from core.knowledge.mcp_server.mcp_server import MAX_LINE_BYTES, bounded_lines

HUGE = 100


class Endless:
    """A line of `HUGE` pieces, made as it is read."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        self._pieces = [tail, *[b"x" * MAX_LINE_BYTES] * HUGE, head.ljust(MAX_LINE_BYTES, b"x")]
        self.most = 0

    def readline(self, most: int) -> bytes:
        self.most = max(self.most, most)
        return self._pieces.pop() if self._pieces else b""


def read(stream: object) -> tuple[list[str], list[str | int | None]]:
    refused: list[str | int | None] = []

    async def refuse(message_id: str | int | None) -> None:
        refused.append(message_id)

    async def piece(source: BinaryIO, most: int) -> bytes:
        return source.readline(most)

    async def all_lines() -> list[str]:
        return [line async for line in bounded_lines(cast("BinaryIO", stream), piece, refuse)]

    return asyncio.run(all_lines()), refused


def test_lines_are_given_whole_whatever_their_bytes() -> None:
    given = b'{"a": 1}\n\n\xff\n' + b"y" * (MAX_LINE_BYTES - 1) + b"\nlast"
    lines, refused = read(io.BytesIO(given))

    assert lines == ['{"a": 1}\n', "\n", "\ufffd\n", "y" * (MAX_LINE_BYTES - 1) + "\n", "last"]
    assert refused == []


def test_a_message_of_100_mb_is_answered_by_its_id_wherever_a_client_writes_it_and_never_held() -> None:
    for head, tail, message_id in (
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"q":"', b'"}}\n', 7),
        (b'{"method":"tools/call","params":{"q":"', b'"},"jsonrpc":"2.0","id":"a-1"}\n', "a-1"),
        (b'{"params":{"q":"', b'"}}\n', None),
        (b'{"params":{"id":3,"q":"', b"", None),
    ):
        stream = Endless(head, tail)
        assert read(stream) == ([], [message_id])
        assert stream.most == MAX_LINE_BYTES
