"""Memo of a discussion's last plans: it saves time, and nothing is decided by it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.talk.caching.decision import DecideMemo


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

    def copied(self) -> PlanMemo:
        """A memo that knows the same, with a lock of its own. What is remembered is shared, not copied: O(views)."""
        return PlanMemo(decide=self.decide.copied(), estimated=set(self.estimated), counted=self.counted)


@dataclass
class DiscussionMemo:
    """One discussion's lock, and the memos of its calls, under that lock, and of its previews, which wait for no call.

    A preview goes on from what the last call left, so that both hold one set of blocks.

    `mark`: of what is kept of it on disk, as it was read or written here last; `sent`: of the last call, until a preview
    takes it.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    calls: PlanMemo = field(default_factory=PlanMemo)
    previews: PlanMemo = field(default_factory=PlanMemo)
    mark: object = None
    sent: PlanMemo | None = None

    def of_preview(self) -> PlanMemo:
        """The memo of previews, going on from the last call's. Of two that ask at once both get what saves time."""
        sent, self.sent = self.sent, None
        if sent is not None:
            self.previews = sent
        return self.previews
