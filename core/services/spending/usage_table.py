"""Usage as a table of calls and in words, the same for the window, the command line and the Hook API."""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from core.kernel.figures import count, day_start, money, share, span, tokens
from core.kernel.language import tr
from core.kernel.values.usage import (
    PERIODS,
    WHOLE_REPLY_S,
    PaidKind,
    Usage,
    UsageBy,
    UsageQuery,
    UsageReport,
    UsageRow,
    UsageSum,
)
from core.services.spending.pricing import TokenPrices

# One call that was paid for, as bytes of the table of all: written with each, read by columns.

KINDS = tuple(PaidKind)
CALL = struct.Struct("<dIIBBqqqqqqddd")
"""Time, payer, discussion, kind, whether it is an estimate, tokens (-1: not told), cost and seconds (NaN: not known)."""
_UNTOLD = float("nan")


def pack_call(at: datetime, payer: int, discussion: int, kind: PaidKind, usage: Usage) -> bytes:
    """One call as bytes of the table. `payer`, `discussion`: their numbers."""
    return CALL.pack(
        at.timestamp(), payer, discussion, KINDS.index(kind), usage.is_estimate,
        _told(usage.input_tokens), _told(usage.output_tokens),
        _told(usage.cache_read_tokens), _told(usage.cache_write_tokens),
        _told(usage.cache_write_1h_tokens), _told(usage.cache_write_12h_tokens),
        _known(usage.cost_usd), _known(usage.time_to_first_token_s), _known(usage.duration_s),
    )  # fmt: skip


def _told(tokens: int | None) -> int:
    return -1 if tokens is None else tokens


def _known(figure: float | None) -> float:
    return _UNTOLD if figure is None else figure


# The table of all calls that were paid for, and its sums: columns of numbers, so that 100,000 calls take
# milliseconds. numpy is loaded when sums are asked for: 13 MB that a start does not need.

_COLUMNS = [
    ("at", "<f8"), ("payer", "<u4"), ("discussion", "<u4"), ("kind", "u1"), ("estimate", "u1"),
    ("input", "<i8"), ("output", "<i8"), ("read", "<i8"), ("write", "<i8"),
    ("hour", "<i8"), ("half_day", "<i8"),
    ("cost", "<f8"), ("first", "<f8"), ("took", "<f8"),
]  # fmt: skip
_EARLIEST = date(2015, 1, 1)
"""No call of this program is older."""
(
    _CALLS,
    _IN,
    _OUT,
    _READ,
    _WRITE,
    _COST,
    _UNPRICED,
    _GUESSES,
    _SAVED,
    _UNSAVED,
    _FIRST,
    _FIRSTS,
    _SPEED_S,
) = range(13)
_SPEED_TOKENS, _TOLD_IN = 13, 14

_EPOCH = date(1970, 1, 1).toordinal()
_ALL = ("all", 0)
MOST_KEPT = 8
"""Questions whose sums are kept."""

Array = Any
"""A numpy array."""


class Payer(msgspec.Struct, frozen=True):
    """Provider and model of a call."""

    provider: str
    model: str


class UsageTable:
    """Calls, and the sums that were asked for: of a question asked again only new calls are added.

    Args:
        prices: of a model's input tokens today, None where nobody knows them.
    """

    def __init__(self, prices: Callable[[Payer], TokenPrices | None]) -> None:
        self._prices = prices
        self._chunks: list[tuple[Array, Array]] = []
        self._new: list[bytes] = []
        self._sums: dict[UsageQuery, _Sums] = {}
        self._days = _Days()
        self.payers: dict[int, Payer] = {}

    def add(self, calls: bytes) -> None:
        """Add calls, as of `paid_calls.pack_call`, one after another."""
        if calls:
            self._new.append(calls)

    def report(self, query: UsageQuery, names: Mapping[int, tuple[str, str]], now: datetime) -> UsageReport:
        """Add up. `names`: id and name of each discussion by its number; `now`: UTC."""
        import numpy as np

        if self._new:
            calls = np.frombuffer(b"".join(self._new), np.dtype(_COLUMNS))
            self._new.clear()
            self._chunks.append((calls, self._figures_of(calls)))
        sums = self._sums.get(query)
        if sums is None:
            self._join()
            sums = self._sums[query] = _Sums()
            while len(self._sums) > MOST_KEPT:
                del self._sums[next(iter(self._sums))]
        for calls, figures in self._chunks[sums.seen :]:
            self._add_to(sums, query, calls, figures, now)
        sums.seen = len(self._chunks)
        return self._told(query, sums, names)

    def _join(self) -> None:
        """Make one chunk of all; sums that miss some of them are made anew when they are asked for."""
        import numpy as np

        if len(self._chunks) < 2:
            return
        self._sums = {query: sums for query, sums in self._sums.items() if sums.seen == len(self._chunks)}
        calls = np.concatenate([calls for calls, _ in self._chunks])
        figures = np.concatenate([figures for _, figures in self._chunks], axis=1)
        self._chunks = [(calls, figures)]
        for sums in self._sums.values():
            sums.seen = 1

    def _figures_of(self, calls: Array) -> Array:
        """Figures to be summed, a row each, with a column for each call."""
        import numpy as np

        out = np.zeros((_TOLD_IN + 1, len(calls)))
        out[_CALLS] = 1
        for row, name in ((_IN, "input"), (_OUT, "output"), (_READ, "read"), (_WRITE, "write")):
            out[row] = np.maximum(calls[name], 0)
        out[_TOLD_IN] = np.where(calls["read"] >= 0, out[_IN], 0.0)
        cost, first = calls["cost"], calls["first"]
        is_priced, has_first = ~np.isnan(cost), ~np.isnan(first)
        out[_COST] = np.where(is_priced, cost, 0.0)
        out[_UNPRICED], out[_GUESSES] = ~is_priced, calls["estimate"]
        out[_SAVED], out[_UNSAVED] = self._saved(calls, out)
        out[_FIRST], out[_FIRSTS] = np.where(has_first, first, 0.0), has_first
        behind = calls["took"] - first
        is_timed = (behind > WHOLE_REPLY_S) & (out[_OUT] > 0)
        out[_SPEED_S] = np.where(is_timed, behind, 0.0)
        out[_SPEED_TOKENS] = np.where(is_timed, out[_OUT], 0.0)
        return out

    def _saved(self, calls: Array, figures: Array) -> tuple[Array, Array]:
        """Savings of caches in each call, and whether that is not known."""
        import numpy as np

        saved, unknown = np.zeros(len(calls)), np.zeros(len(calls), bool)
        uses_cache = (figures[_READ] > 0) | (figures[_WRITE] > 0)
        for number in np.unique(calls["payer"][uses_cache]):
            of_payer = uses_cache & (calls["payer"] == number)
            payer = self.payers.get(int(number))
            rates = None if payer is None else self._prices(payer)
            if rates is None or rates.read_usd is None:
                unknown |= of_payer
                continue
            saved[of_payer] = figures[_READ, of_payer] * (rates.input_usd - rates.read_usd)
            hour, half_day = (np.maximum(calls[name][of_payer], 0) for name in ("hour", "half_day"))
            lives = np.maximum(figures[_WRITE, of_payer] - hour - half_day, 0), hour, half_day
            for written, usd in zip(lives, rates.write_usd or (rates.input_usd,) * 3, strict=True):
                saved[of_payer] -= written * (usd - rates.input_usd)
        is_upkeep = calls["kind"] == KINDS.index(PaidKind.UPKEEP)
        return np.where(is_upkeep, -figures[_COST], saved), unknown & ~is_upkeep

    def _add_to(self, sums: _Sums, query: UsageQuery, calls: Array, figures: Array, now: datetime) -> None:
        import numpy as np

        if query.since or query.until:
            wanted = _between(calls["at"], query)
            calls, figures = calls[wanted], figures[:, wanted]
        if not len(calls):
            return
        days = self._days.of(calls["at"], now)
        sums.odd += int((days < 0).sum())
        sums.add(_ALL, figures.sum(axis=1))
        for place, by in (("row", query.by), ("series", query.per)):
            keys, places = _places(_numbers(calls, days, by))
            by_place = np.stack([np.bincount(places, row, len(keys)) for row in figures], axis=1)
            for at in np.flatnonzero(np.bincount(places, minlength=len(keys))):
                sums.add((place, int(keys[at])), by_place[at])

    def _told(self, query: UsageQuery, sums: _Sums, names: Mapping[int, tuple[str, str]]) -> UsageReport:
        def rows(place: str, by: UsageBy) -> list[UsageRow]:
            found: dict[tuple[str, str], Array] = {}
            for key, figures in sums.by_key.items():
                if key[0] == place:
                    named = _named(by, key[1], self.payers, names)
                    found[named] = found[named] + figures if named in found else figures
            return [UsageRow(key=key, label=label, sum=_sum(one)) for (key, label), one in found.items()]

        told = rows("row", query.by)
        if query.by in PERIODS:
            told.sort(key=lambda row: row.key)
        else:
            told.sort(key=lambda row: (-row.sum.cost_usd, -row.sum.input_tokens, row.label))
        series = sorted((row for row in rows("series", query.per) if row.key), key=lambda row: row.key)
        total = sums.by_key.get(_ALL)
        return UsageReport(
            query=query,
            total=UsageSum() if total is None else _sum(total),
            rows=tuple(told),
            series=tuple(series),
            odd_dates=sums.odd,
        )


class _Sums:
    """Sums of one question, and how many chunks of the table are in them."""

    def __init__(self) -> None:
        self.seen = self.odd = 0
        self.by_key: dict[tuple[str, int], Array] = {}

    def add(self, key: tuple[str, int], figures: Array) -> None:
        """Add figures to a key's."""
        before = self.by_key.get(key)
        self.by_key[key] = figures if before is None else before + figures


class _Days:
    """The person's days as numbers, by the clock as it went on each."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._first = _EARLIEST

    def of(self, times: Array, now: datetime) -> Array:
        """The day of each time as its ordinal; -1 before 2015 and after tomorrow."""
        import numpy as np

        last = now.astimezone().date() + timedelta(days=1)
        earliest = datetime.fromtimestamp(max(float(times.min()), day_start(_EARLIEST).timestamp())).date()  # noqa: DTZ006 (the person's)
        earliest = min(earliest, last)
        if not self._starts or earliest < self._first:
            self._first, self._starts = earliest, []
        day = self._first + timedelta(days=len(self._starts))
        while day <= last + timedelta(days=1):
            self._starts.append(day_start(day).timestamp())
            day += timedelta(days=1)
        found = np.searchsorted(self._starts, times, side="right") - 1
        is_odd = (found < 0) | (times >= self._starts[(last - self._first).days + 1])
        return np.where(is_odd, -1, found + self._first.toordinal())


def _between(times: Array, query: UsageQuery) -> Array:
    import numpy as np

    wanted = np.ones(len(times), bool)
    if query.since:
        wanted &= times >= day_start(date.fromisoformat(query.since)).timestamp()
    if query.until:
        wanted &= times < day_start(date.fromisoformat(query.until) + timedelta(days=1)).timestamp()
    return wanted


MOST_SPREAD = 100_000


def _places(numbers: Array) -> tuple[Array, Array]:
    """Keys in order, and the place of each number among them; without sorting where the numbers lie close together."""
    import numpy as np

    lowest, highest = int(numbers.min()), int(numbers.max())
    if highest - lowest > MOST_SPREAD:
        return np.unique(numbers, return_inverse=True)
    return np.arange(lowest, highest + 1), numbers - lowest


def _numbers(calls: Array, days: Array, by: UsageBy) -> Array:
    """Number by which calls are told apart; -1 for a text that is no day."""
    import numpy as np

    match by:
        case UsageBy.DAY:
            return days
        case UsageBy.WEEK:
            return np.where(days < 0, -1, days - (days - 1) % 7)
        case UsageBy.MONTH:
            since_epoch = (days - _EPOCH).astype("datetime64[D]")
            firsts = since_epoch.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + _EPOCH
            return np.where(days < 0, -1, firsts)
        case UsageBy.KIND:
            return calls["kind"].astype(np.int64)
        case UsageBy.DISCUSSION:
            return calls["discussion"].astype(np.int64)
        case _:
            return calls["payer"].astype(np.int64)


def _named(
    by: UsageBy, number: int, payers: Mapping[int, Payer], names: Mapping[int, tuple[str, str]]
) -> tuple[str, str]:
    """Key and label of a number."""
    if by in PERIODS:
        if number < 0:
            return "", ""
        day = date.fromordinal(number)
        return (
            (day.isoformat(), f"{day:%Y-%m}") if by is UsageBy.MONTH else (day.isoformat(), day.isoformat())
        )
    if by is UsageBy.KIND:
        return KINDS[number].value, KINDS[number].value
    if by is UsageBy.DISCUSSION:
        return names.get(number, ("", tr("Requests outside any discussion")))
    payer = payers.get(number, Payer("", ""))
    if by is UsageBy.PROVIDER:
        return payer.provider, payer.provider or tr("Unknown provider")
    return f"{payer.provider}/{payer.model}", payer.model or tr("Unknown model")


def _sum(figures: Array) -> UsageSum:
    whole: Sequence[float] = figures.tolist()
    return UsageSum(
        calls=round(whole[_CALLS]),
        input_tokens=round(whole[_IN]),
        told_input_tokens=round(whole[_TOLD_IN]),
        output_tokens=round(whole[_OUT]),
        cache_read_tokens=round(whole[_READ]),
        cache_write_tokens=round(whole[_WRITE]),
        cost_usd=_usd(whole[_COST]),
        unpriced=round(whole[_UNPRICED]),
        estimates=round(whole[_GUESSES]),
        saved_usd=_usd(whole[_SAVED]),
        unsaved=round(whole[_UNSAVED]),
        first_token_s=whole[_FIRST] / whole[_FIRSTS] if whole[_FIRSTS] else None,
        tokens_per_s=whole[_SPEED_TOKENS] / whole[_SPEED_S] if whole[_SPEED_S] > 0 else None,
    )


def _usd(summed: float) -> float:
    """Dollars without what adding floats leaves behind: 0.1 + 0.2 is 0.3, and a loss of nothing is 0. To 1e-12, as figures are shown."""
    return round(summed, 12) + 0.0


# Usage in words and as a table for a spreadsheet: the same for the window, the command line and the Hook
# API.

HEAD = ("", "requests", "cost", "saved", "hits", "in", "out", "speed")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is a formula to a spreadsheet."""


def sum_cells(one: UsageSum) -> tuple[str, ...]:
    """Requests, cost, saved, hit rate, tokens in and out, and speed, as a person reads them."""
    return (
        f"{one.calls:,}",
        cost_text(one),
        saved_text(one),
        "" if one.hit_rate is None else share(one.cache_read_tokens, one.told_input_tokens),
        tokens(one.input_tokens),
        tokens(one.output_tokens),
        _rate(one),
    )


def _rate(one: UsageSum) -> str:
    return "" if one.tokens_per_s is None else tr("{tokens:,.0f} tokens/s", tokens=one.tokens_per_s)


def cost_text(one: UsageSum) -> str:
    """The known cost; more where some of it is not known."""
    known = money(one.known_cost_usd, is_estimate=bool(one.estimates))
    return (
        tr("{known} + {unpriced:,} unknown", known=known, unpriced=one.unpriced)
        if one.unpriced and one.known_cost_usd is not None
        else known
    )


def saved_text(one: UsageSum) -> str:
    """Savings of caching; `-$0.02` where it took more than it gave."""
    if one.unsaved and one.saved_usd <= 0:
        return tr("unknown")
    return f"-{money(-one.saved_usd)}" if one.saved_usd < 0 else money(one.saved_usd)


def speed_text(one: UsageSum) -> str:
    """`41 tokens/s, first after 0.8 s`; empty where no call told."""
    first = (
        ""
        if one.first_token_s is None
        else tr("first token after {first_token_s}", first_token_s=span(one.first_token_s))
    )
    return ", ".join(filter(None, (_rate(one), first)))


def report_notes(report: UsageReport) -> Iterator[str]:
    """Sentences about what the sums do not hold."""
    total = report.total
    if total.unpriced == 1:
        yield tr("1 request has no known price and adds nothing to the cost.")
    elif total.unpriced:
        yield tr(
            "{unpriced:,} requests have no known price and add nothing to the cost.", unpriced=total.unpriced
        )
    if total.unsaved:
        yield tr(
            "The program does not know what caching saved in {requests}.",
            requests=count(total.unsaved, tr("request"), tr("requests")),
        )
    if report.odd_dates == 1:
        yield tr(
            "1 request has a date before 2015 or after tomorrow. The total includes that request, but no day does. {remedy}",
            remedy=_CLOCK,
        )
    elif report.odd_dates:
        yield tr(
            "{odd_dates:,} requests have a date before 2015 or after tomorrow. The total includes these requests, but no day does. {remedy}",
            odd_dates=report.odd_dates,
            remedy=_CLOCK,
        )


_CLOCK = tr("Check your computer's clock.")


def report_data(report: UsageReport) -> dict[str, Any]:
    """The report as the plain data that the CLI prints and the Hook API answers with."""
    return {
        "by": report.query.by.value,
        "since": report.query.since,
        "until": report.query.until,
        "total": sum_data(report.total),
        "rows": [{"key": row.key, "label": row.label, **sum_data(row.sum)} for row in report.rows],
        "odd_dates": report.odd_dates,
    }


def sum_data(one: UsageSum) -> dict[str, Any]:
    """A sum as plain data. Costs are what is known of them; `unpriced_calls` come on top."""
    return {
        "calls": one.calls,
        "input_tokens": one.input_tokens,
        "output_tokens": one.output_tokens,
        "cache_read_tokens": one.cache_read_tokens,
        "cache_write_tokens": one.cache_write_tokens,
        "hit_rate": one.hit_rate,
        "cost_usd": one.known_cost_usd,
        "unpriced_calls": one.unpriced,
        "estimated_calls": one.estimates,
        "saved_usd": one.saved_usd,
        "saving_unknown_calls": one.unsaved,
        "time_to_first_token_s": one.first_token_s,
        "tokens_per_s": one.tokens_per_s,
    }


def report_csv(report: UsageReport) -> str:
    """A row each, for a spreadsheet: RFC 4180, a head first. What is not known is an empty cell, never 0."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow((report.query.by.value, "label", *sum_data(report.total)))
    for row in report.rows:
        writer.writerow((_cell(row.key), _cell(row.label), *sum_data(row.sum).values()))
    return out.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
