"""How figures, money and times read in the window. What is not known is never shown as 0."""

from __future__ import annotations

from datetime import datetime, timedelta

from core.values.usage import Usage

PRICE_UNKNOWN = "price unknown"
NOT_REPORTED = "not reported"


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


def tokens_est(count: int | None, *, is_exact: bool = False) -> str:
    """As `tokens`, marked `≈` where the figure is an estimate."""
    return tokens(count) if is_exact or count is None else f"≈{tokens(count)}"


def cost(usd: float | None) -> str:
    """Money in US dollars: `$0.031`, `$1.94`, `<$0.001`; `price unknown` for None."""
    if usd is None:
        return PRICE_UNKNOWN
    if usd <= 0:
        return "$0"
    if usd < 0.001:
        return "<$0.001"
    return f"${usd:.3f}" if usd < 0.1 else f"${usd:,.2f}"


def size(size_bytes: int) -> str:
    """A size in bytes: `812 B`, `12 KB`, `3.4 MB`."""
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1_000:.0f} KB"
    return f"{size_bytes / 1_000_000:.1f} MB"


def share(part: float, whole: float) -> str:
    """A part in per cent: `42 %`, `<1 %`, `0 %`."""
    if whole <= 0 or part <= 0:
        return "0 %"
    percent = 100 * part / whole
    return "<1 %" if percent < 1 else f"{percent:.0f} %"


def clock(at: datetime) -> str:
    """The time of day where the person is: `14:02`."""
    return f"{at.astimezone():%H:%M}"


def moment(at: datetime, now: datetime | None) -> str:
    """A time as short as it can be told apart: `14:02` today, `yesterday`, `12 Mar`, `12 Mar 2025`."""
    local = at.astimezone()
    if now is None:
        return f"{local:%H:%M}"
    today = now.astimezone().date()
    if local.date() == today:
        return f"{local:%H:%M}"
    if local.date() == today - timedelta(days=1):
        return "yesterday"
    day = f"{local.day} {local:%b}"
    return day if local.year == today.year else f"{day} {local.year}"


def seconds(span_s: float) -> str:
    """A span: `3.2 s`, `48 s`, `3m 12s`."""
    if span_s < 10:
        return f"{max(0.0, span_s):.1f} s"
    if span_s < 60:
        return f"{span_s:.0f} s"
    return f"{int(span_s) // 60}m {int(span_s) % 60:02d}s"


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 turn`, `1,204 turns`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def usage_line(usage: Usage) -> str:
    """What a reply used, in a line: `512 tok · $0.011 · cached 11.9k`."""
    parts = [
        f"{tokens(usage.output_tokens)} tok" if usage.output_tokens is not None else "usage not reported"
    ]
    parts.append(cost(usage.cost_usd))
    if usage.cache_read_tokens:
        parts.append(f"cached {tokens(usage.cache_read_tokens)}")
    return " · ".join(parts)


def usage_details(usage: Usage) -> str:
    """Every figure of a reply, one a line, for a tooltip."""
    rows = [
        ("sent", tokens(usage.input_tokens)),
        ("read from cache", tokens(usage.cache_read_tokens)),
        ("written to cache", tokens(usage.cache_write_tokens)),
        ("reply", tokens(usage.output_tokens)),
        ("of it reasoning", tokens(usage.reasoning_tokens)),
        ("cost", cost(usage.cost_usd)),
    ]
    if usage.time_to_first_token_s is not None:
        rows.append(("first token after", seconds(usage.time_to_first_token_s)))
    if usage.duration_s is not None:
        rows.append(("whole reply after", seconds(usage.duration_s)))
    if usage.request_id:
        rows.append(("request", usage.request_id))
    if usage.miss_reason:
        rows.append(("cache miss", usage.miss_reason))
    return "\n".join(f"{name}: {value}" for name, value in rows)
