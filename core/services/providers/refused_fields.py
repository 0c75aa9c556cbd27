"""Refusals of a server, kept in a file for the next start: fields of a request, switches, and reasoning given back, asked once more without."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.kernel.codecs import read_json, to_json
from core.kernel.disk import make_dirs, take_lock, write_passing
from core.kernel.errors import ProviderError, SlopError
from core.kernel.opener import read_file
from core.kernel.values.provider import ProviderRequest, StreamItem
from core.services.providers.server_words import is_reasoning_refused
from core.services.providers.switches import Refusals, Stream, refusal_mark, stream_or_else, without_reasoning

# Fields of a request that a server refused for a model, kept in a file so that the next start does not pay
# for them again.

log = logging.getLogger(__name__)

KEPT_DAYS = 30
"""After so long a server is asked again: a newer one may take the field."""

_WAIT_S = 2.0
"""Wait for another program that writes: what it keeps out is learned anew."""
_MOST_BYTES = 1_000_000
_MOST_MODELS = 2_000

_Kept = dict[str, dict[str, float]]
"""By `refusal_mark`: fields, each with the second at which it was refused."""


class RefusedFields:
    """Fields that one server refused. Thread-safe; programs share the file, and the last to write adds to what is there.

    Args:
        address: of the server, without its key; path: the file, None to keep nothing beyond this run.
    """

    def __init__(
        self,
        address: str = "",
        path: Path | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._address = address
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, frozenset[str]] = {}

    def of(self, model: str, discussion_id: str = "") -> frozenset[str]:
        """Fields that a model's server takes not; of a discussion: the messages up to which its thinking was refused."""
        mark = refusal_mark(self._address, model, discussion_id)
        with self._lock:
            if mark not in self._known:
                self._known[mark] = frozenset(_read(self._path, self._clock()).get(mark, {}))
            return self._known[mark]

    def keep(self, model: str, names: Iterable[str], discussion_id: str = "") -> None:
        """Remember fields that were refused, once the server took the same request without them. A failure is logged."""
        fresh = frozenset(names) - self.of(model, discussion_id)
        if not fresh:
            return
        mark = refusal_mark(self._address, model, discussion_id)
        with self._lock:
            self._known[mark] |= fresh
            if self._path is not None:
                self._write(self._path, mark, fresh)

    def _write(self, path: Path, mark: str, fresh: frozenset[str]) -> None:
        """Add to what the file holds, while no other program does."""
        try:
            make_dirs(path.parent)
            lock = take_lock(path.with_name(f"{path.name}.lock"), wait_s=_WAIT_S)
            if lock is None:
                log.warning("refused fields were not kept: another program writes them")
                return
            try:
                kept, now = _read(path, self._clock()), self._clock().timestamp()
                row = {**kept.pop(mark, {}), **dict.fromkeys(sorted(fresh), now)}
                newest = dict([*kept.items(), (mark, row)][-_MOST_MODELS:])
                write_passing(path, to_json(newest))
            finally:
                lock.release()
        except SlopError as error:
            log.warning("refused fields were not kept: %s", error)


def read_refusals(path: Path | None, now: datetime) -> Refusals:
    """All refusals of a file that still count. Never fails."""
    return {mark: frozenset(row) for mark, row in _read(path, now).items()}


def _read(path: Path | None, now: datetime) -> _Kept:
    """The file's rows that still count. Never fails: what cannot be read is learned anew."""
    if path is None:
        return {}
    try:
        kept = read_json(read_file(path, _MOST_BYTES))
    except (OSError, ValueError):
        return {}
    since = (now - timedelta(days=KEPT_DAYS)).timestamp()
    rows = kept.items() if isinstance(kept, dict) else ()
    fresh = {
        mark: {name: at for name, at in row.items() if isinstance(at, int | float) and at > since}
        for mark, row in rows
        if isinstance(row, dict)
    }
    return {mark: row for mark, row in fresh.items() if row}


# A model's reasoning that a request gives back: a vendor that refuses it is asked once more without it, and
# from then on.


def stream_reasoned(
    request: ProviderRequest,
    stream: Stream,
    on_refusal: Callable[[ProviderError], None],
    *,
    is_refused: bool,
) -> Iterator[StreamItem]:
    """Stream a request with the reasoning that it gives back, without it where its model refuses that. As `stream_or_else`.

    Args:
        is_refused: the model refused it before.
    """
    bare = without_reasoning(request)
    whole = bare if is_refused else request
    return stream_or_else(whole, bare, stream, is_reasoning_refused, on_refusal)
