"""Services of the rest of the program to the planning of caches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from core.values.cache import CachePrices
from core.values.provider import ProviderKind
from core.values.usage import Usage


class CacheSetup(msgspec.Struct, frozen=True):
    """Services of the rest of the program to planning.

    Args:
        prices: of a provider's kind and model at a time; kind: of a provider; key_id: names its key without telling.
        cost: of a usage in USD, None where unknown.
        counted: o200k tokens by sha256.
        label: a provider's name as the person knows it.
        may_store: whether contents may be made that are stored for rent: this program owns the home, and will tend them.
    """

    prices: Callable[[ProviderKind, str, str, datetime], CachePrices]
    kind: Callable[[str], ProviderKind]
    key_id: Callable[[str], str]
    cost: Callable[[str, str, Usage], float | None]
    counted: Callable[[], Mapping[str, int]]
    label: Callable[[str], str] = str
    may_store: Callable[[], bool] = lambda: True
