"""What the harvest's calls have cost, kept by day: it counts towards the day's limit also after a restart."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from core.base import paths
from core.base.disk import OS_DISK, Disk, append_file, make_dirs, reported
from core.base.errors import StorageError
from core.values.harvest import HarvestUse
from core.values.usage import Usage

_FOLDER = ".spent"
_KEPT = timedelta(days=2)
"""A person's day reaches into two days of UTC."""

log = logging.getLogger(__name__)


class Payments:
    """Adds up what a harvest's calls used and keeps on disk what each has cost. For `ProviderGenerate`.

    Args:
        price: of a call in US dollars by provider, model and usage, None where unknown; clock: UTC.
    """

    def __init__(
        self,
        home: Path,
        price: Callable[[str, str, Usage], float | None],
        clock: Callable[[], datetime],
    ) -> None:
        self._home, self._price, self._clock = home, price, clock
        self.use = HarvestUse()

    def __call__(self, provider: str, model: str, usage: Usage) -> HarvestUse:
        """Count a call. Its reply is worth more than the note of its price: where that fails, the run goes on.

        Returns:
            What this call used and cost.
        """
        cost = usage.cost_usd if usage.cost_usd is not None else self._price(provider, model, usage)
        use = HarvestUse(1, replace(usage, cost_usd=cost), cost)
        self.use = self.use + use
        if cost:
            self._keep(provider, model, cost)
        return use

    def _keep(self, provider: str, model: str, cost: float) -> None:
        try:
            note_spent(self._home, self._clock(), provider, model, cost)
        except StorageError as error:
            log.warning("what a harvest has cost is not on disk: %s", error)

    @property
    def spent_usd(self) -> float:
        """What is known to have been paid."""
        return self.use.usage.cost_usd or 0.0


def note_spent(
    home: Path, at: datetime, provider: str, model: str, cost_usd: float, *, disk: Disk = OS_DISK
) -> None:
    """Put what one call has cost on disk.

    Args:
        at: UTC; cost_usd: > 0.

    Raises:
        StorageError: it was not added.
    """
    path = _path(home, at)
    if not path.exists():
        make_dirs(path.parent, disk=disk)
        _forget_old(path.parent, at)
    row = {"at": at.astimezone(UTC).isoformat(), "provider": provider, "model": model, "cost_usd": cost_usd}
    append_file(path, json.dumps(row, sort_keys=True).encode() + b"\n", disk=disk)


def harvests_spent_since(home: Path, start: datetime) -> float:
    """What the calls since then have cost, in US dollars. A row that cannot be read counts nothing.

    Args:
        start: UTC, at most two days ago: older rows are not kept.

    Raises:
        StorageError: a file is there and cannot be read.
    """
    total = 0.0
    for day in (start + timedelta(days=number) for number in range(_KEPT.days + 1)):
        path = _path(home, day)
        with reported("read", path):
            lines = path.read_bytes().split(b"\n") if path.exists() else []
        total += sum(_cost(line, start) for line in lines)
    return total


def _cost(line: bytes, start: datetime) -> float:
    try:
        row = json.loads(line)
        usd = float(row["cost_usd"])
        is_counted = datetime.fromisoformat(row["at"]) >= start
        return usd if is_counted and math.isfinite(usd) and usd > 0 else 0.0
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0.0


def _path(home: Path, at: datetime) -> Path:
    return paths.knowledge_dir(home) / _FOLDER / f"{at.astimezone(UTC):%Y-%m-%d}.jsonl"


def _forget_old(folder: Path, now: datetime) -> None:
    oldest = f"{(now - _KEPT).astimezone(UTC):%Y-%m-%d}"
    for path in folder.glob("*.jsonl"):
        if path.stem < oldest:
            path.unlink(missing_ok=True)
