"""Something made at its first use, once, whichever thread comes first: an SDK's client."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Holds a value that `make` builds when it is first asked for. A failure is not kept: the next call tries again."""

    def __init__(self, make: Callable[[], T], release: Callable[[T], None]) -> None:
        self._make = make
        self._release = release
        self._lock = threading.Lock()
        self._value: T | None = None

    def get(self) -> T:
        """The value, made now if need be. Raises whatever `make` raises."""
        with self._lock:
            if self._value is None:
                self._value = self._make()
            return self._value

    def close(self) -> None:
        """Release the value if it was made. Idempotent; a later `get` makes a new one."""
        with self._lock:
            value, self._value = self._value, None
        if value is not None:
            self._release(value)
