"""Output of a command, kept to its head and its tail."""

from __future__ import annotations

from core.base.figures import count
from core.base.text import clean

HEAD_BYTES, TAIL_BYTES = 10_000, 20_000
LIVE_CHARS = 4_000
"""Most of the tail that is shown while a command runs."""


class CappedOutput:
    """Bytes as they arrive: the first and the last are kept, in the middle only their number."""

    def __init__(self, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._head = b""
        self._tail = bytearray()
        self.total_bytes = 0

    def add(self, data: bytes) -> None:
        """Take more bytes, any number."""
        self.total_bytes += len(data)
        room = self._head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > 2 * self._tail_bytes:
            del self._tail[: -self._tail_bytes]

    @property
    def left_bytes(self) -> int:
        """Bytes that were left out between head and tail."""
        return self.total_bytes - len(self._head) - min(len(self._tail), self._tail_bytes)

    def text(self) -> str:
        """Head and tail as clean text, with a line between them that says how much is left out."""
        tail = bytes(self._tail[-self._tail_bytes :])
        if not self.left_bytes:
            return _decoded(self._head + tail)
        return f"{_decoded(self._head)}\n[… {count(self.left_bytes, 'byte')} left out …]\n{_decoded(tail)}"

    def live(self) -> str:
        """End of what arrived, at most `LIVE_CHARS`."""
        end = bytes(self._tail[-4 * LIVE_CHARS :])
        if len(end) < 4 * LIVE_CHARS and not self.left_bytes:
            end = (self._head + end)[-4 * LIVE_CHARS :]
        return _decoded(end)[-LIVE_CHARS:]


def _decoded(data: bytes) -> str:
    return clean(data.decode("utf-8", "replace"))
