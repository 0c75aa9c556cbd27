"""Copy-on-write for the mappings inside state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def with_entry(mapping: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """Return a copy of `mapping` in which `key` is `value`. O(n) in entries, order kept."""
    return {**mapping, key: value}


def without(mapping: Mapping[K, V], key: K) -> Mapping[K, V]:
    """Return a copy of `mapping` without `key`, or the same mapping when it is not there."""
    if key not in mapping:
        return mapping
    return {k: v for k, v in mapping.items() if k != key}
