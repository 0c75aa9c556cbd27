"""Structures inside state: copy-on-write mappings, leading runs that are the same, memos of sequences that mostly grow."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from operator import is_
from typing import Any, TypeVar

import msgspec

# Copy-on-write for the mappings inside state.

K = TypeVar("K")
V = TypeVar("V")
Made = TypeVar("Made")


def with_entry(mapping: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """Return a copy of `mapping` in which `key` is `value`. O(n) in entries, order kept."""
    return {**mapping, key: value}


def without(mapping: Mapping[K, V], key: K) -> Mapping[K, V]:
    """Return a copy of `mapping` without `key`, or the same mapping when it is not there."""
    if key not in mapping:
        return mapping
    return {k: v for k, v in mapping.items() if k != key}


# Leading run of two sequences that is the same, found fast where nearly all of it is.


def shared_run(one: tuple[object, ...], two: tuple[object, ...]) -> int:
    """Number of leading items that are the same: objects or, where the whole run up to the last is, equal ones.

    Args:
        one: of the last time; two: of this time. Most often the first is a run of the second, but for its last item.
    """
    most = min(len(one), len(two))
    for end in (most, most - 1):
        if end > 0 and one[:end] == two[:end]:
            return end
    return [*map(is_, one, two), False].index(False)


# Memo by which objects they are: to hash a large frozen value takes longer than what is spared.


class ByIdentity:
    """Results of frozen values, by the values' identity. It only saves time. Thread-safe.

    Args:
        most: results that are kept, each with the values that it was made of; beyond them all are forgotten.
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._made: dict[tuple[Hashable, ...], tuple[tuple[object, ...], Any]] = {}

    def of(self, values: tuple[object, ...], name: Hashable, make: Callable[[], Made]) -> Made:
        """Result of `make` for these values, which stay the same; `name`: all else that it hangs on."""
        key = (name, *map(id, values))
        held = self._made.get(key)
        if held is None:
            if len(self._made) >= self._most:
                self._made = {}
            held = self._made[key] = (values, make())
        made: Made = held[1]
        return made


# Memo of sequences that most often only grow: of a leading run that is the same nothing is made anew.

One = TypeVar("One")
State = TypeVar("State")


class _GrownRun(msgspec.Struct, frozen=True, gc=False):
    """Items, what was made of all of them in order, and for each item how much was made up to its end: an array, since
    of ten thousand items the integers alone would take as much as the tuples.
    """

    items: tuple[Any, ...] = ()
    made: tuple[Any, ...] = ()
    ends: Sequence[int] = ()


class GrownRuns:
    """Memo of runs by their names. It only saves time. Thread-safe: of two that make at once one is remembered."""

    def __init__(self) -> None:
        self._runs: dict[str, _GrownRun] = {}
        self._states: dict[str, tuple[tuple[Any, ...], Any]] = {}

    def each(
        self, name: str, items: tuple[One, ...], make: Callable[[One], tuple[Made, ...]]
    ) -> tuple[Made, ...]:
        """All that is made of the items, in order. O(items behind the leading run of the last time under this name).

        Args:
            name: tells it from others, `make` among them; make: pure, of the item alone.
        """
        last = self._runs.get(name, _GrownRun())
        if last.items is items:
            return last.made
        same = shared_run(last.items, items)
        kept = end = last.ends[same - 1] if same else 0
        fresh = [make(item) for item in items[same:]]
        ends = array("q", last.ends[:same])
        for one in fresh:
            end += len(one)
            ends.append(end)
        made = (*last.made[:kept], *chain.from_iterable(fresh))
        self._runs[name] = _GrownRun(items=items, made=made, ends=ends)
        return made

    def folded(
        self,
        name: str,
        items: tuple[One, ...],
        begin: Callable[[], State],
        copy: Callable[[State], State],
        take: Callable[[State, One], None],
    ) -> State:
        """The state after all items were taken in one by one. O(items behind those of the last time), else from the beginning.

        Args:
            begin: makes the first state; copy: makes one that `take` may change, what was given out stays as it is.
        """
        last = self._states.get(name)
        is_grown = last is not None and shared_run(last[0], items) == len(last[0])
        state, done = (copy(last[1]), len(last[0])) if last is not None and is_grown else (begin(), 0)
        for item in items[done:]:
            take(state, item)
        self._states[name] = items, state
        return state
