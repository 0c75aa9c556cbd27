"""Waits between attempts at an MCP server that failed. Pure."""

from __future__ import annotations

import msgspec

FIRST_S, LONGEST_S = 1.0, 300.0


class BackOff(msgspec.Struct, frozen=True):
    """Failures of a server in a row. `next_s`: of the monotonic clock, before which it is not tried again."""

    failures: int = 0
    next_s: float = 0.0

    def failed(self, now_s: float) -> BackOff:
        """After one more failure: each wait is twice the last, up to five minutes."""
        wait_s = min(FIRST_S * 2.0 ** min(self.failures, 16), LONGEST_S)
        return BackOff(self.failures + 1, now_s + wait_s)

    def left_s(self, now_s: float) -> float:
        """Seconds until it may be tried, 0 where it may be now."""
        return max(self.next_s - now_s, 0.0)
