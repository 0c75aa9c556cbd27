"""Memo of a discussion's last plans: it saves time, and nothing is decided by it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.caching.decision import DecideMemo


@dataclass
class PlanMemo:
    """Memo of plans of one kind. One thread at a time: `lock`.

    Args:
        estimated: digests of texts that these plans counted by their size; counted: how often some of them were
            counted since, so that plans are compared by the same figures.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    decide: DecideMemo = field(default_factory=DecideMemo)
    estimated: set[str] = field(default_factory=set)
    counted: int = 0

    def follow(self, counted: Mapping[str, int]) -> None:
        """Note that some of what was estimated is counted by now."""
        if not self.estimated.isdisjoint(counted):
            self.estimated.clear()
            self.counted += 1


@dataclass
class DiscussionMemo:
    """One discussion's lock, and the memos of its calls, under that lock, and of its previews, which wait for no call."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    calls: PlanMemo = field(default_factory=PlanMemo)
    previews: PlanMemo = field(default_factory=PlanMemo)
