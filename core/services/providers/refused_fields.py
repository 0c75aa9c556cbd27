"""Refusals of a server, kept in a file for the next start: fields of a request, switches, and reasoning given back, asked once more without."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.kernel.codecs import read_json, to_json
from core.kernel.disk import make_dirs, write_passing
from core.kernel.errors import ProviderError, SlopError
from core.kernel.opener import read_file
from core.kernel.values.provider import ProviderRequest, StreamItem
from core.services.providers.server_words import is_reasoning_refused
from core.services.providers.switches import Stream, stream_or_else, without_reasoning

# Fields of a request that a server refused for a model, kept in a file so that the next start does not pay
# for them again.

log = logging.getLogger(__name__)

KEPT_DAYS = 30
"""After so long a server is asked again: a newer one may take the field."""

REASONING, SWITCHES = "earlier reasoning", "switches"
"""Stand among refused fields for what a model gets back of its own, and for additions in the middle of a conversation."""

_MOST_BYTES = 1_000_000
_MOST_MODELS = 2_000

_Kept = dict[str, dict[str, float]]
"""By the mark of a server and model: fields, each with the second at which it was refused."""


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

    def of(self, model: str) -> frozenset[str]:
        """Fields that a model's server takes not."""
        with self._lock:
            if model not in self._known:
                self._known[model] = frozenset(self._read().get(self._mark(model), {}))
            return self._known[model]

    def keep(self, model: str, names: Iterable[str]) -> None:
        """Remember fields that were refused, once the server took the same request without them. A failure is logged."""
        fresh = frozenset(names) - self.of(model)
        if not fresh:
            return
        with self._lock:
            self._known[model] |= fresh
            if self._path is not None:
                self._write(self._path, model, fresh)

    def _write(self, path: Path, model: str, fresh: frozenset[str]) -> None:
        kept, mark, now = self._read(), self._mark(model), self._clock().timestamp()
        row = {**kept.pop(mark, {}), **dict.fromkeys(sorted(fresh), now)}
        newest = dict([*kept.items(), (mark, row)][-_MOST_MODELS:])
        try:
            make_dirs(path.parent)
            write_passing(path, to_json(newest))
        except SlopError as error:
            log.warning("refused fields were not kept: %s", error)

    def _read(self) -> _Kept:
        """The file's rows that still count. Never fails: what cannot be read is learned anew."""
        if self._path is None:
            return {}
        try:
            kept = read_json(read_file(self._path, _MOST_BYTES))
        except (OSError, ValueError):
            return {}
        since = (self._clock() - timedelta(days=KEPT_DAYS)).timestamp()
        rows = kept.items() if isinstance(kept, dict) else ()
        fresh = {
            mark: {name: at for name, at in row.items() if isinstance(at, int | float) and at > since}
            for mark, row in rows
            if isinstance(row, dict)
        }
        return {mark: row for mark, row in fresh.items() if row}

    def _mark(self, model: str) -> str:
        return hashlib.sha256(f"{self._address}\n{model}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
