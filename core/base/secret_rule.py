"""One kind of secret: the literals that a find holds, and the judgement of a place at which one of them stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import msgspec


class Find(msgspec.Struct, frozen=True):
    """Outcome of one look.

    Args:
        start, end: place of the secret. `is_secret` False: looked at as far as `end`, and nothing found there.
        also: places of more that belong to it, in order, all behind it: cells of a column, pairs of a cookie.
    """

    start: int
    end: int
    is_secret: bool = True
    also: tuple[tuple[int, int], ...] = ()


Look = Callable[[str, int], Find | None]
"""Judgement of a position at which one of the rule's literals stands."""


class Rule(msgspec.Struct, frozen=True, eq=False):
    """One kind, for people `kind`. `literals`: what a find begins with, or holds; their case counts with `has_case`."""

    literals: tuple[str, ...]
    look: Look
    has_case: bool = False
    kind: str = "key or token of a service"


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """An expression, compiled when it is first asked for: all at once would hold up the first frame."""
    return re.compile(expression, re.ASCII)


def find_of(places: list[tuple[int, int]]) -> Find | None:
    """One find of all places of secrets, in order; none where there is none."""
    return Find(*places[0], also=tuple(places[1:])) if places else None
