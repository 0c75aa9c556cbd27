"""Files of prices: the person's `models.toml`, and newer price data that were taken on their act, kept with their date."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.kernel import paths
from core.kernel.codecs import read_json
from core.kernel.disk import make_dirs, write_file
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.opener import read_file, read_start
from core.kernel.values.provider import ModelProfile, PriceSource
from core.kernel.values.settings import ServerSettings
from core.kernel.web_addresses import is_loopback
from core.services.providers.late_packages import load_late
from core.services.providers.model_data import load_models
from core.services.spending.pricing import (
    PACKAGED_DAY,
    PACKAGED_SOURCE,
    TAKEN_SOURCE,
    PriceBook,
    TakenPrices,
    use_prices,
)

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

# The package's own names bring its updater, and with it asyncio and an HTTP client: 90 modules, 8 MB.
load_late("genai_prices")

URL_VARIABLE = "MANUAL_SLOP_PRICES_URL"
"""Names another address for newer prices, a mirror of yours; the library's own where it is not set."""

MOST_BYTES = 32_000_000
_HEAD_BYTES = 1_000
_NEEDED = frozenset({"anthropic", "google", "openai"})
"""Providers that any price data hold: an answer without them is something else."""

log = logging.getLogger(__name__)


def use_known_prices(models: Iterable[ModelProfile], kinds: Mapping[str, str]) -> PriceSource:
    """Go by the prices of these profiles, and by what was taken since the program's release.

    Args:
        kinds: the `ProviderKind` of each server.

    Returns:
        Their source; its mark is another one whenever a price may be.
    """
    known, taken = tuple(models), _taken(paths.prices_file())
    use_prices(PriceBook(models=known, kinds=dict(kinds), taken=taken))
    own = [(one.provider, one.id, one.rates) for one in known if one.rates is not None]
    mark = hashlib.sha256(repr((own, taken and taken.mark, sorted(kinds.items()))).encode()).hexdigest()
    if taken is None:
        return PriceSource(name=PACKAGED_SOURCE, as_of=PACKAGED_DAY, own=len(own), mark=mark)
    return PriceSource(name=TAKEN_SOURCE, as_of=taken.day, own=len(own), mark=mark)


def priced_models(servers: Mapping[str, ServerSettings]) -> tuple[ModelProfile, ...]:
    """All that is known of models, whose prices count from now on. For a command that runs without a controller.

    Raises:
        ConfigError: the person's `models.toml` is wrong.
    """
    models = load_models(paths.models_file())
    use_known_prices(models, {name: server.kind for name, server in servers.items()})
    return models


def take_newer_prices(now: datetime) -> str:
    """Fetch newer price data by the library's updater, and keep them with their date. Only ever on a person's act.

    Returns:
        What was taken, in a sentence.

    Raises:
        SlopError: they could not be fetched, or are no price data, or not kept: the prices stay as they were.
    """
    url = os.environ.get(URL_VARIABLE, "")
    data, found = _fetched(url)
    day, file = f"{now.astimezone(UTC):%Y-%m-%d}", paths.prices_file()
    head = {"taken_at": now.astimezone(UTC).isoformat(), "sha256": hashlib.sha256(data).hexdigest()}
    make_dirs(file.parent)
    write_file(file, json.dumps(head, sort_keys=True).encode() + b"\n" + data)
    models = sum(len(one.models) for one in found.providers)
    return tr(
        "The program downloaded prices of {models:,} models of {providers} providers, as of {day}.",
        models=models,
        providers=len(found.providers),
        day=day,
    )


def _fetched(url: str) -> tuple[bytes, DataSnapshot]:
    import httpx2
    from genai_prices import UpdatePrices

    class Updater(UpdatePrices):
        """The library's updater, which keeps the bytes that it takes; no more than anybody's price data are."""

        content = b""

        def fetch(self) -> DataSnapshot:
            with (
                httpx2.Client(trust_env=not is_loopback(self.url), timeout=self.request_timeout) as client,
                client.stream("GET", self.url) as response,
            ):
                response.raise_for_status()
                for part in response.iter_bytes():
                    self.content += part
                    if len(self.content) > MOST_BYTES:
                        raise ValueError(
                            tr("the answer has more than {MOST_BYTES:,} bytes", MOST_BYTES=MOST_BYTES)
                        )
            return _snapshot(self.content)

    updater = Updater(url=url) if url else Updater()
    if not (updater.url.startswith("https://") or is_loopback(updater.url)):
        raise SlopError(
            tr("The program downloads prices only over https"),
            remedy=tr("Correct {URL_VARIABLE}", URL_VARIABLE=URL_VARIABLE),
            where=updater.url,
        )
    try:
        found = updater.fetch()
        return updater.content, found
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        why = str(error).partition("\n")[0].removesuffix(".") or type(error).__name__
        remedy = tr("The prices are unchanged. Try again when you are online")
        raise SlopError(
            tr("The program could not download newer prices: {why}", why=why),
            remedy=remedy,
            where=updater.url,
        ) from error
    except (ValueError, TypeError, LookupError) as error:
        why = str(error).partition("\n")[0].removesuffix(".")
        remedy = tr("The prices are unchanged. Try again later")
        raise SlopError(
            tr("The answer holds no prices: {why}", why=why), remedy=remedy, where=updater.url
        ) from error


def _snapshot(data: bytes) -> DataSnapshot:
    """Price data as the library reads them. Raises ValueError, TypeError."""
    import genai_prices.types  # first, else the next line asks the package for it, which loads all
    from genai_prices.data_snapshot import DataSnapshot

    raw = read_json(data)
    if not isinstance(raw, list):
        raise ValueError(tr("this is not a list of providers"))  # noqa: TRY004 - of the data, as all faults of them
    providers = genai_prices.types._providers_from_raw(raw)  # noqa: SLF001 (as the library's own updater does)
    if missing := _NEEDED - {one.id for one in providers if one.models}:
        raise ValueError(
            tr(
                "the downloaded price list names no models of {providers}",
                providers=", ".join(sorted(missing)),
            )
        )
    return DataSnapshot(providers, from_auto_update=True)


def _taken(file: Path) -> TakenPrices | None:
    """Price data that were taken since the release; None where nothing was, or it cannot be read, which is logged."""
    try:
        head = read_json(read_start(file, _HEAD_BYTES).partition(b"\n")[0])
        day, mark = date.fromisoformat(str(head["taken_at"])[:10]).isoformat(), str(head["sha256"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("prices that were taken cannot be read: %s: %s", file, error)
        return None
    return TakenPrices(day=day, mark=mark, load=_loader(file, mark)) if day >= PACKAGED_DAY else None


@cache
def _loader(file: Path, mark: str) -> Callable[[], Any]:
    """Reads the price data of a file when they are first asked for; None where they are not what was kept."""

    @cache
    def load() -> DataSnapshot | None:
        try:
            data = read_file(file, MOST_BYTES + _HEAD_BYTES).partition(b"\n")[2]
            if hashlib.sha256(data).hexdigest() == mark:
                return _snapshot(data)
            log.warning("prices that were taken are not what was kept: %s", file)
        except (OSError, ValueError, TypeError, LookupError) as error:
            log.warning("prices that were taken cannot be read: %s: %s", file, error)
        return None

    return load
