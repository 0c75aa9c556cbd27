"""Protocol of every provider's client, and the cancelling of a call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.values.provider import ModelProfile, ProviderRequest, StreamItem
from core.kernel.values.usage import Usage


class CancelToken:
    """Tells a running call to stop. Thread-safe; callbacks run once, on the thread that cancels."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def is_cancelled(self) -> bool:
        """True if `cancel` was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Stop the call: wakes `wait` and runs the callbacks (closing a socket, ending a process)."""
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run `callback` when cancelled, at once if that has happened."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def wait(self, timeout_s: float) -> bool:
        """Wait up to `timeout_s` seconds. Returns whether it was cancelled."""
        return self._event.wait(timeout_s)


ReadBlob = Callable[[str], bytes]
"""Reads an attachment by its sha256 (hex). Raises StorageError when it is gone."""


class Provider(Protocol):
    """A provider's client. One instance serves many calls, from many threads."""

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        """Send a request and yield what comes back. Ends with exactly one `Stopped`, or raises.

        A cancelled call yields `Stopped(CANCELLED)`. What was received before a failure was already yielded.
        One attempt only: retries are `core.services.providers.failures`'s.

        Raises:
            ProviderError: typed, with the vendor's status, request id and retry-after.
        """
        ...

    def list_models(self) -> tuple[ModelProfile, ...]:
        """Models that the server itself lists, empty where it has no list. Raises ProviderError."""
        ...

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        """Exact input tokens by the vendor's free endpoint, None where there is none. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Release connections, processes and servers. Idempotent."""
        ...


@runtime_checkable
class Prewarms(Protocol):
    """A client that can read a request's prefix into the cache, or keep it there, without asking for a reply."""

    def prewarm(self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken) -> Usage | None:
        """Send the request up to its last mark. Also the keepalive ping: a ping whose `cache_read_tokens` is 0 missed.

        Returns:
            What it used, as far as the provider said: nothing at all where the call was cancelled on its way. None
            where no request has left: there is nothing to warm, the model cannot, or it was cancelled before.

        Raises:
            ProviderError: as `Provider.stream`.
        """
        ...


def check_deleted(left: Sequence[str]) -> None:
    """Say what is stored with a vendor and could not be deleted.

    Args:
        left: the vendor's names of it.

    Raises:
        ProviderError: there is some; it is billed until it expires.
    """
    if left:
        raise ProviderError(
            FailureKind.SERVER_FAULT,
            tr(
                "{left} stored prefixes were not deleted; the provider bills them until they expire",
                left=len(left),
            ),
            remedy=tr("Try again later"),
            where=left[0],
        )


# The id of each discussion's last reply: what a vendor is asked to compare with when it reads less than
# expected.

MAX_REMEMBERED = 1000


class LastIds:
    """Ids by discussion, the oldest forgotten first. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: dict[str, str] = {}

    def get(self, discussion_id: str) -> str | None:
        """Return the id of the discussion's last reply, None if it is unknown."""
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
