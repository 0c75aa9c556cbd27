"""Wording of figures, in window, terminal and reports alike: money, sizes, tokens, ages, spans. Pure.

A KB is 1,000 bytes everywhere, as in the SI and on a disk's label; an MB is 1,000 KB, a GB 1,000 MB.
What is not known is never shown as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from core.kernel.language import joined, tr

Form = Literal["window", "terminal", "report"]
"""Place of a figure: in the window; in the CLI's lines and tables; in the harvest's report, a fixed form."""

PRICE_UNKNOWN = tr("price unknown")
NOT_REPORTED = tr("not reported")
KB = 1_000

_SHORT_AGES = (
    (1, 1, tr("{count} min")),
    (60, 60, tr("{count} h")),
    (1_440, 1_440, tr("{count} d")),
    (43_200, 43_200, tr("{count} mo")),
    (525_600, 525_600, tr("{count} y")),
)
_AGES = (
    (1, 1, tr("{count} min")),
    (60, 60, tr("{count} h")),
    (2_880, 1_440, tr("{count} days")),
    (86_400, 43_200, tr("{count} months")),
    (1_036_800, 525_600, tr("{count} years")),
)
"""From how many minutes on, minutes in the unit, so many of the unit."""
MONTHS = (
    (tr("January"), tr("Jan")),
    (tr("February"), tr("Feb")),
    (tr("March"), tr("Mar")),
    (tr("April"), tr("Apr")),
    (tr("May"), tr("May")),
    (tr("June"), tr("Jun")),
    (tr("July"), tr("Jul")),
    (tr("August"), tr("Aug")),
    (tr("September"), tr("Sep")),
    (tr("October"), tr("Oct")),
    (tr("November"), tr("Nov")),
    (tr("December"), tr("Dec")),
)
"""The months, each whole and short."""


def dollars(usd: float, digits: int | None = None) -> str:
    """A sum with so many digits behind the point: `$0.42`, `$1,234.50`; by default two, below a cent what it takes: `$0.0005`."""
    if digits is None:
        if not 0 < abs(usd) < 0.01:
            return dollars(usd, 2)
        return dollars(usd, min(1 - math.floor(math.log10(abs(usd))), 12)).rstrip("0")
    return f"${usd:,.{digits}f}"


def rate(usd: float) -> str:
    """A price of a unit, as vendors write theirs: `$5`, `$0.25`."""
    return f"${usd:.4g}"


def money(usd: float | None, form: Form = "window", *, is_estimate: bool = False) -> str:
    """A cost in US dollars with the digits that matter; `price unknown` for None.

    Args:
        usd: at least 0.
        form: window: `$0`, `<$0.001`, `$0.031`, `$1.94`; terminal: `free`, `$0.0012`, `$1.24`; report, which only
            estimates: `~$0.00`, `<$0.01`, `~$0.42`.
        is_estimate: marked `≈`: it is in the books at our estimate, in part at least.
    """
    if is_estimate and usd and form != "report":
        return f"≈{money(usd, form)}"
    if usd is None:
        return PRICE_UNKNOWN
    if form == "report":
        return "<$0.01" if 0 < usd < 0.005 else f"~{dollars(usd, 2)}"
    if form == "terminal":
        return "free" if usd == 0 else dollars(usd, 2 if usd >= 1 else 4)
    if usd <= 0:
        return "$0"
    return "<$0.001" if usd < 0.001 else dollars(usd, 3 if usd < 0.1 else 2)


def about_usd(usd: float | None) -> str:
    """A cost that is expected, beside the name of what costs it: `about $0.031`, `free`; `price unknown` for None."""
    return money(None) if usd is None else tr("free") if usd == 0 else tr("about {usd}", usd=money(usd))


def estimated(usd: float | None) -> str:
    """A cost that is expected: `est. $0.031`; `price unknown` for None."""
    return money(None) if usd is None else tr("est. {usd}", usd=money(usd))


def price(usd: float | None) -> str:
    """The price of what a button does, rounded: `free`, `est. $0.42`; `price unknown` for None."""
    if not usd:
        return money(None) if usd is None else tr("free")
    return tr("est. {usd}", usd=money(usd, "report").removeprefix("~"))


def size(size_bytes: int, form: Form = "window") -> str:
    """Bytes in one unit: `812 B`, `12 KB`, `34.5 MB`; in terminal and report two digits at least, `1.5 KB`, `34 MB`.

    The report leaves out the gap: `2.3MB`.
    """
    gap = "" if form == "report" else " "
    if size_bytes < KB:
        return f"{size_bytes}{gap}B"
    amount, units = size_bytes / KB, ["KB", "MB", "GB"]
    while amount >= KB - 0.5 and len(units) > 1:
        amount, units = amount / KB, units[1:]
    is_whole = units[0] == "KB" if form == "window" else amount >= 9.95
    return f"{amount:.{0 if is_whole else 1}f}{gap}{units[0]}"


def tokens(count: int | None) -> str:
    """A count of tokens in at most five characters: `512`, `18.4k`, `200k`, `1.2M`; `not reported` for None."""
    if count is None:
        return NOT_REPORTED
    if count < 1_000:
        return str(count)
    if count < 99_950:
        return f"{count / 1_000:.1f}k"
    if count < 999_500:
        return f"{count / 1_000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def tokens_est(count: int | None, form: Form = "window", *, is_exact: bool = False) -> str:
    """As `tokens`, marked `≈` where the figure is an estimate; in the report whole thousands, `~600K`."""
    if count is None or is_exact:
        return tokens(count)
    if form != "report":
        return f"≈{tokens(count)}"
    return f"~{count / 1_000:.0f}K" if 1_000 <= count < 999_500 else f"~{tokens(count)}"


def share(part: float, whole: float, digits: int = 0) -> str:
    """A part in per cent: `42 %`, `<1 %`, `0 %`; 100 is said of the whole alone. `digits`: behind the point, at most."""
    if whole <= 0 or part <= 0:
        return "0 %"
    percent = 100 * part / whole
    if percent < 1:
        return "<1 %"
    if percent < 100:
        percent = min(percent, 100 - 10**-digits)
    text = f"{percent:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + " %"


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 turn`, `1,204 turns`."""
    return joined(" ", (f"{number:,}", one if number == 1 else many or one + "s"))


def first_of(names: Sequence[str], most: int) -> str:
    """Names in a row, the first `most` of them with the count of the rest: `a, b and 3 more`."""
    row, more = joined(", ", names[:most]), len(names) - most
    return tr("{names} and {more:,} more", names=row, more=more) if more > 0 else row


def age(then: datetime, now: datetime | None, form: Form = "window") -> str:
    """Age of a time, in one unit: `3 h`, `12 days` (`12 d` in the terminal).

    A time ahead of now is `now` (a clock that was set back), and so is every time while now is not known.
    """
    minutes = int((now - then).total_seconds() // 60) if now is not None else 0
    for least, unit, name in reversed(_SHORT_AGES if form == "terminal" else _AGES):
        if minutes >= least:
            return name.format(count=minutes // unit)
    return tr("now")


def clock(at: datetime) -> str:
    """The time of day where the person is: `14:02`."""
    return f"{at.astimezone():%H:%M}"


def moment(at: datetime, now: datetime | None) -> str:
    """A time as short as it can be told apart: `14:02` today, `yesterday 14:05`, `12 Mar`, `12 Mar 2025`."""
    local = at.astimezone()
    if now is None:
        return f"{local:%H:%M}"
    today = now.astimezone().date()
    if local.date() == today:
        return f"{local:%H:%M}"
    if local.date() == today - timedelta(days=1):
        return tr("yesterday {local:%H:%M}", local=local)
    return day(local.date(), now)


def day(on: date, now: datetime | None) -> str:
    """A day as short as it can be told apart: `12 Mar`, `12 Mar 2025`."""
    said = tr("{day} {month}", day=on.day, month=MONTHS[on.month - 1][1])
    return said if now is not None and on.year == now.astimezone().year else f"{said} {on.year}"


def span(span_s: float, form: Form = "window") -> str:
    """A span: `3.2 s`, `48 s`, `3m 12s`, `12 h 2 min`; in the terminal always in tenths of a second."""
    if span_s < 10 or form != "window":
        return f"{max(0.0, span_s):.1f} s"
    if span_s < 60:
        return f"{span_s:.0f} s"
    if span_s >= 3_600:
        return left(span_s)
    return f"{int(span_s) // 60}m {int(span_s) % 60:02d}s"


def time_limit(limit_s: float) -> str:
    """A time that something was given, in a sentence: `0.2 s`, `90 s`, `2 minutes`, `1 hour`."""
    minutes, rest = divmod(limit_s, 60)
    if minutes < 2 or rest:
        return f"{limit_s:g} s"
    return (
        count(int(minutes), tr("minute"), tr("minutes"))
        if minutes % 60
        else count(int(minutes) // 60, tr("hour"), tr("hours"))
    )


def lifetime(ttl_s: float) -> str:
    """A lifetime in words: `5 min`, `1 h`."""
    minutes = round(ttl_s / 60)
    return (
        f"{minutes // 60} h" if minutes >= 60 and minutes % 60 == 0 else tr("{minutes} min", minutes=minutes)
    )


def left(left_s: float) -> str:
    """Time left, as a figure: `4 min`, `1 h 2 min`, `<1 min`, `3 days`."""
    minutes = max(0, int(left_s)) // 60
    if minutes < 1:
        return tr("<1 min")
    if minutes < 60:
        return tr("{minutes} min", minutes=minutes)
    if minutes >= 2 * 1_440:
        return tr("{minutes} days", minutes=minutes // 1_440)
    rest = tr(" {minutes} min", minutes=minutes % 60) if minutes % 60 else ""
    return f"{minutes // 60} h{rest}"


_UNTIL = (
    (2_880, 1_440, tr("in 1 day"), tr("in {count} days")),
    (60, 60, tr("in 1 hour"), tr("in {count} hours")),
    (1, 1, tr("in 1 minute"), tr("in {count} minutes")),
)
"""From so many minutes on, a time counts in units of so many minutes: one of them, and several."""


def in_time(left_s: float) -> str:
    """Time until something, as a person says it: `in 4 minutes`, `in 1 hour`, `in less than a minute`."""
    minutes = max(0, int(left_s)) // 60
    for least, unit, one, several in _UNTIL:
        if minutes >= least:
            found = minutes // unit
            return one if found == 1 else several.format(count=f"{found:,}")
    return tr("in less than a minute")


def at_moment(at: datetime, now: datetime | None) -> str:
    """A past or coming time in a sentence: `at 14:02`, `yesterday 14:05`, `on 12 Mar`."""
    said, on = moment(at, now), at.astimezone().date()
    today = on if now is None else now.astimezone().date()
    if on == today - timedelta(days=1):
        return said
    return tr("at {time}", time=said) if on == today else tr("on {day}", day=said)


def countdown(left_s: float) -> str:
    """Time left: `4:32`, `1:02:33`; `0:00` when it is over."""
    left = max(0, int(left_s))
    minutes, hours = left // 60 % 60, left // 3600
    return f"{hours}:{minutes:02d}:{left % 60:02d}" if hours else f"{minutes}:{left % 60:02d}"


# Days of the person: when one begins. A day has 23 or 25 hours where the clock changes.

SHORTEST_DAY = timedelta(hours=22)
"""No day is as short: what is less than this behind a midnight is of the same day."""


def day_start(day: date) -> datetime:
    """The first moment of a day where the person is, UTC: by the clock as it went then, not as it goes now.

    Where it goes forward at midnight there is no such hour, and where it goes back to midnight there are two.
    """
    both = [datetime.combine(day, time(fold=fold)).astimezone(UTC) for fold in (0, 1)]
    return min((at for at in both if at.astimezone().date() == day), default=both[-1])


def midnight(now: datetime) -> datetime:
    """The last midnight where the person is, UTC."""
    return day_start(now.astimezone().date())
