"""Kinds of struct, bounded fields and their JSON, of which answers, bodies and queries are made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from msgspec import Meta, Struct

from core.kernel.codecs import builtins_of, to_json
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.values.usage import Upkeep, Usage, usage_data

MAX_NAME_CHARS = 200
MAX_CHOSEN = 100_000

Count = Annotated[int, Meta(ge=0)]
Figure = Count | None
Money = float | None
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""ISO 8601 with its offset. Text, for msgspec would write `Z` where `+00:00` always stood."""
Counts = dict[str, Count]
Name = Annotated[str, Meta(max_length=MAX_NAME_CHARS)]
PathText = Annotated[str, Meta(min_length=1, max_length=4096)]
Texts = Annotated[tuple[str, ...], Meta(max_length=MAX_CHOSEN)]


class Data(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer, or a part of one: every field is always said."""


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request, or a part of one: these fields and no others."""


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    """Query behind a path's `?`."""


D = TypeVar("D", bound=Data)
T = TypeVar("T")


class Rows(Data, Generic[T], frozen=True):
    """A part of a list: how many there are in all, and the rows from the query's offset on."""

    total: Count
    rows: Sequence[T]


class UsageData(Data, frozen=True):
    """Tokens, time and money of a turn. Null: not reported, or not known.

    `is_estimate`: the provider did not say all of it; the rest, and the cost, are this program's estimate.
    """

    input_tokens: Figure
    output_tokens: Figure
    cache_read_tokens: Figure
    cache_write_tokens: Figure
    reasoning_tokens: Figure
    cost_usd: Money
    is_estimate: bool
    time_to_first_token_s: Money
    duration_s: Money

    @classmethod
    def of(cls, usage: Usage) -> UsageData:
        """The same as the CLI prints."""
        return cls(**usage_data(usage))


class UpkeepData(Data, frozen=True):
    """Keepalive pings and prewarms: how many, and what they used. It is part of the usage beside it."""

    pings: Count
    prewarms: Count
    rent_usd: float
    usage: UsageData

    @classmethod
    def of(cls, upkeep: Upkeep) -> UpkeepData:
        """The same as the CLI prints."""
        return cls(
            pings=upkeep.pings,
            prewarms=upkeep.prewarms,
            rent_usd=upkeep.rent_usd,
            usage=UsageData.of(upkeep.usage),
        )


def filled(kind: type[D], source: object, **more: Any) -> D:
    """An answer from a value of the state.

    Args:
        source: holds fields of the same names; more: the fields that it does not hold, or holds as something else.
    """
    same = {name: getattr(source, name) for name in kind.__struct_fields__ if name not in more}
    return kind(**{name: _plain(value) for name, value in {**same, **more}.items()})


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def encode(data: Struct | Mapping[str, Any]) -> bytes:
    """An answer's JSON as UTF-8. A name of a file may hold lone surrogates, which become `?`."""
    try:
        return to_json(data)
    except UnicodeEncodeError:
        return json.dumps(builtins_of(data), ensure_ascii=False).encode("utf-8", "replace")


# Refusal of a request: a status, a stable code, a sentence and a remedy.


class FaultData(Data, frozen=True):
    """Reason: a stable word for programs, a sentence and a remedy for people."""

    code: str
    message: str
    remedy: str


class ErrorData(Data, frozen=True):
    """The body of every answer that is an error."""

    error: FaultData


class RefusedError(SlopError):
    """A request that is not carried out.

    Args:
        status: HTTP status; code: stable word for programs; what: a plain sentence; headers: more of the answer's.
    """

    def __init__(
        self,
        status: int,
        code: str,
        what: str,
        remedy: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, remedy=remedy)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    @property
    def data(self) -> ErrorData:
        """The answer's body."""
        return error_data(self.code, self.what, self.remedy)


def error_data(code: str, message: str, remedy: str = "") -> ErrorData:
    """The body of an answer that is an error."""
    return ErrorData(FaultData(code=code, message=message, remedy=remedy))


def for_a_person() -> RefusedError:
    """Something that a person alone decides. A command of a model could read the ordinary token, and ask with it."""
    return RefusedError(
        403,
        "needs_person",
        tr(
            "Only a person may do this. Programs cannot approve or refuse tool calls, or trust or open folders. Programs cannot change tools, modes and policies, or give keys. Programs cannot choose where words and keys go, or which files are read. Programs cannot write prompts and personas, or raise or pass limits. Programs cannot hold notices back, or add other programs' proposals to knowledge. Programs cannot forget, drop words of a draft, or replace files. Programs cannot drop items of a preset"
        ),
        tr(
            "Do this in the window or on a terminal. Or use the token of `manual-slop --headless --hooks --approvals-fd N`"
        ),
    )


def unknown(what: str, name: str, remedy: str = "") -> RefusedError:
    """Something named that is not there."""
    return RefusedError(
        404, "not_found", tr("There is no {what} {name!r}", what=what, name=name[:80]), remedy
    )


# Queries for rows of each list.

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
