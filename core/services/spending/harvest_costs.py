"""Costs of the harvest's calls, kept by day: they count towards the day's limit also after a restart, and in what was used."""

from __future__ import annotations

import json
import logging
import math
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import from_builtins, read_json
from core.kernel.disk import OS_DISK, Disk, append_file, make_dirs, reported
from core.kernel.errors import StorageError
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.values.harvest import HarvestUse
from core.kernel.values.usage import Payment, Usage
from core.services.spending.pricing import batch_price

_FOLDER = ".spent"
_DAYS = 2
"""A person's day reaches into two days of UTC."""
_KEPT = timedelta(days=800)
"""Usage is told for two years back."""

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

    def price(self, provider: str, model: str, usage: Usage) -> float | None:
        """Price of a call, None where unknown."""
        return usage.cost_usd if usage.cost_usd is not None else self._price(provider, model, usage)

    def __call__(self, provider: str, model: str, usage: Usage) -> HarvestUse:
        """Count a call. Its reply is worth more than the note of its price: where that fails, the run goes on.

        Returns:
            What this call used and cost, and the id of its note.
        """
        return self._count(provider, model, usage, self.price(provider, model, usage), secrets.token_hex(8))

    def batched(self, provider: str, model: str, usage: Usage, payment_id: str) -> HarvestUse:
        """As a call, for the answer to a request of a batch. `payment_id`: tells it from every other, for good."""
        return self._count(
            provider, model, usage, batch_price(self.price(provider, model, usage)), payment_id
        )

    def _count(
        self, provider: str, model: str, usage: Usage, cost: float | None, payment_id: str
    ) -> HarvestUse:
        use = HarvestUse(calls=1, usage=replace(usage, cost_usd=cost), cost_usd=cost, payment_id=payment_id)
        self.use = self.use + use
        if cost or usage != Usage():
            self._keep(provider, model, use)
        return use

    def _keep(self, provider: str, model: str, use: HarvestUse) -> None:
        call = HarvestCall(at=self._clock(), provider=provider, model=model, usage=use.usage)
        try:
            note_spent(self._home, call, payment_id=use.payment_id)
        except StorageError as error:
            log.warning("what a harvest has cost is not on disk: %s", error)

    @property
    def spent_usd(self) -> float:
        """Sum that is known to have been paid."""
        return self.use.usage.cost_usd or 0.0


class HarvestCall(msgspec.Struct, frozen=True):
    """A call of a harvest. `at`: UTC; `usage`: with its cost, None where nobody knows it."""

    at: datetime
    provider: str
    model: str
    usage: Usage


_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def note_spent(home: Path, call: HarvestCall, *, payment_id: str = "", disk: Disk = OS_DISK) -> None:
    """Put what one call has used and cost on disk.

    Args:
        payment_id: tells it from every other, so that it counts once.

    Raises:
        StorageError: it was not added.
    """
    path = _path(home, call.at)
    if not path.exists():
        make_dirs(path.parent, disk=disk)
        _forget_old(path.parent, call.at)
    usage = call.usage
    row: dict[str, Any] = {
        "at": call.at.astimezone(UTC).isoformat(),
        "provider": call.provider,
        "model": call.model,
    }
    told = {name: getattr(usage, name) for name in ("cost_usd", *_TOKENS)}
    row |= {name: figure for name, figure in told.items() if figure is not None}
    if payment_id:
        row["id"] = payment_id
    if usage.is_estimate:
        row["is_estimate"] = True
    append_file(path, json.dumps(row, sort_keys=True).encode() + b"\n", disk=disk)


def harvest_payments(home: Path, start: datetime) -> dict[str, Payment]:
    """Cost of each call since then, by its id. A row that cannot be read counts nothing.

    Args:
        start: UTC, at most two days ago: older rows are not kept.

    Raises:
        StorageError: a file is there and cannot be read.
    """
    found: dict[str, Payment] = {}
    for day in (start + timedelta(days=number) for number in range(_DAYS + 1)):
        path = _path(home, day)
        with reported("read", path):
            lines = read_file(path, BOOK_BYTES).split(b"\n") if path.exists() else []
        for number, line in enumerate(lines):
            payment = _payment(line, start)
            if payment is not None:
                found[payment[0] or f"{path.stem}/{number}"] = payment[1]
    return found


def harvest_files(home: Path) -> tuple[tuple[Path, int], ...]:
    """Files of what harvests have cost, with the size of each."""
    found = sorted((paths.knowledge_dir(home) / _FOLDER).glob("*.jsonl"))
    return tuple((path, path.stat().st_size) for path in found)


def harvest_calls(path: Path) -> Iterator[HarvestCall]:
    """Calls in one of these files, each once. A row that cannot be read is passed over.

    Raises:
        StorageError: it cannot be read.
    """
    with reported("read", path):
        lines = read_file(path, BOOK_BYTES).split(b"\n")
    seen: set[str] = set()
    for number, line in enumerate(lines):
        with suppress(ArithmeticError, ValueError, TypeError, KeyError, AttributeError):
            row = read_json(line)
            key = str(row.get("id", number))
            at = datetime.fromisoformat(row["at"])
            figures = {name: row.get(name) for name in ("cost_usd", *_TOKENS)}
            usage = from_builtins({**figures, "is_estimate": row.get("is_estimate") is True}, Usage)
            if key not in seen and at.tzinfo is not None:
                seen.add(key)
                yield HarvestCall(at=at, provider=str(row["provider"]), model=str(row["model"]), usage=usage)


def _payment(line: bytes, start: datetime) -> tuple[str, Payment] | None:
    try:
        row = read_json(line)
        usd = float(row["cost_usd"])
        if datetime.fromisoformat(row["at"]) < start or not (math.isfinite(usd) and usd > 0):
            return None
        return str(row.get("id", "")), Payment(usd, row.get("is_estimate") is True)
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return None


def _path(home: Path, at: datetime) -> Path:
    return paths.knowledge_dir(home) / _FOLDER / f"{at.astimezone(UTC):%Y-%m-%d}.jsonl"


def _forget_old(folder: Path, now: datetime) -> None:
    oldest = f"{(now - _KEPT).astimezone(UTC):%Y-%m-%d}"
    for path in folder.glob("*.jsonl"):
        if path.stem < oldest:
            path.unlink(missing_ok=True)
