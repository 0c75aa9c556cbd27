"""What every engine speaks in: the parts of a billed input, cache entries, and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parts:
    """The input of one request by how it is billed, in tokens; the parts add up to everything that was sent.

    Args:
        plain: at the price of input; read: from the cache.
        write: into the cache at the short lifetime (5 min, 30 min), write_long: at the long one (1 h, 12 h).
    """

    plain: int
    read: int = 0
    write: int = 0
    write_long: int = 0

    @property
    def total(self) -> int:
        """Everything sent."""
        return self.plain + self.read + self.write + self.write_long


@dataclass(slots=True)
class Entry:
    """A prefix that the vendor holds. `ttl_s` runs anew from the start of every request that uses it."""

    tokens: int
    ttl_s: float
    expires_s: float


@dataclass(frozen=True, slots=True)
class Write:
    """An entry to be: it becomes visible with the first byte of the answer."""

    prefix: int
    tokens: int
    ttl_s: float


class Refused(Exception):  # noqa: N818 - an answer of the vendor's, not a failure of ours
    """The vendor says no. `kind` is its word for the error: `invalid_request_error`, `INVALID_ARGUMENT`."""

    def __init__(
        self, status: int, kind: str, message: str, *, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.param = param
        self.code = code


def merge(entries: dict[int, Entry], writes: tuple[Write, ...], start_s: float) -> None:
    """Make the writes of a request that began at `start_s` visible.

    The longer life wins where one is there already.
    """
    for write in writes:
        expires_s = start_s + write.ttl_s
        known = entries.get(write.prefix)
        if known is None or known.expires_s <= start_s:
            entries[write.prefix] = Entry(write.tokens, write.ttl_s, expires_s)
        else:
            known.ttl_s = max(known.ttl_s, write.ttl_s)
            known.expires_s = max(known.expires_s, expires_s)


def split(total: int, hit: int, long_end: int, end: int) -> Parts:
    """Bill by three positions: A, the hit; B, the last long-lived write after A; C, the last write after B.

    Source: Anthropic "Prompt caching", "Mixing different TTLs" (read 2026-11): A is read, B - A is written at
    the
    long lifetime's price, C - B at the short one's, the rest is plain input.
    """
    long_end = max(hit, long_end)
    end = max(long_end, end)
    return Parts(plain=total - end, read=hit, write=end - long_end, write_long=long_end - hit)
