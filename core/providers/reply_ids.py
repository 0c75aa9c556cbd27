"""The id of each discussion's last reply: what a vendor is asked to compare with when it reads less than expected."""

from __future__ import annotations

import threading

MAX_REMEMBERED = 1000


class LastIds:
    """Ids by discussion, the oldest forgotten first. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: dict[str, str] = {}

    def get(self, discussion_id: str) -> str | None:
        """None where none is known."""
        with self._lock:
            return self._ids.get(discussion_id)

    def put(self, discussion_id: str, reply_id: str) -> None:
        """Remember the reply that a discussion now ends with."""
        if not (discussion_id and reply_id):
            return
        with self._lock:
            self._ids.pop(discussion_id, None)
            self._ids[discussion_id] = reply_id
            if len(self._ids) > MAX_REMEMBERED:
                del self._ids[next(iter(self._ids))]
