"""Kinds of struct, bounded fields and their JSON, of which answers, bodies and queries are made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct

from core.values.usage import Upkeep, Usage, usage_data

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
        return cls(upkeep.pings, upkeep.prewarms, upkeep.rent_usd, UsageData.of(upkeep.usage))


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
        return msgspec.json.encode(data)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(data), ensure_ascii=False).encode("utf-8", "replace")
