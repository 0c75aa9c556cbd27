"""Memo of one discussion's caching between its calls: its lock, and what was made of its last plans."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from core.caching.decision import DecideMemo


@dataclass(slots=True)
class DiscussionMemo:
    """One discussion's lock, and what was made of its last plans: that only saves time.

    Args:
        estimated: digests of texts that these plans counted by their size; counted: how often some of them were
            counted since, so that plans are compared by the same figures.
        mark: of what is kept of it on disk, as it was read or written here last.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    decide: DecideMemo = field(default_factory=DecideMemo)
    estimated: set[str] = field(default_factory=set)
    counted: int = 0
    mark: object = None
