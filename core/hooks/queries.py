"""Queries for rows of each list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from msgspec import Meta

from core.hooks.fields import D, Query, Rows, filled

DEFAULT_LIMIT = 200
MAX_LIMIT = 5_000

R = TypeVar("R")


class PageQuery(Query, frozen=True):
    """`limit` rows of each list from `offset` on."""

    limit: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_LIMIT,
            description="At most so many rows of each list; its `total` says how many there are.",
        ),
    ] = DEFAULT_LIMIT
    offset: Annotated[
        int, Meta(ge=0, le=1_000_000_000, description="The first row of each list, counted from 0.")
    ] = 0

    def of(self, rows: Sequence[R]) -> Sequence[R]:
        """The rows of a list that are asked for."""
        return rows[self.offset : self.offset + self.limit]

    def part(self, rows: Sequence[R]) -> Rows[R]:
        """A part of a list, with how many there are in all."""
        return Rows(len(rows), self.of(rows))

    def cut(self, rows: Sequence[object], kind: type[D]) -> Rows[D]:
        """A part of a list as answers of a kind."""
        return Rows(len(rows), [filled(kind, row) for row in self.of(rows)])
