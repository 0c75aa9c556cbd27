"""Rent of storing, as it falls due: a row for each content that is stored for a discussion, booked to its end once.

Source: ai.google.dev "Pricing" (read 2026-10-14): a token and hour of storage, from making to deletion or expiry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.base.ids import make_id
from core.values.cache import CachePrices, StoredRent
from core.values.provider import StoredContent

BOOKED_EVERY = timedelta(minutes=15)
"""A content that is held for long is booked so often, so that the limits see its rent."""

_HOUR = timedelta(hours=1)

Prices = Callable[[str, str], CachePrices]
"""Of a provider's model now."""

Rents = tuple[StoredRent, ...]


class RentDue(msgspec.Struct, frozen=True):
    """Rent that was not in the books yet. `cost_usd`: None where the price is unknown; `input_usd`: of a fresh token.

    `record_id`: of the record that tells it, the same whenever it is made; `at`: when it was settled; `is_estimate`: the
    provider did not say when it ended.
    """

    discussion_id: str
    provider: str
    model: str
    cost_usd: float | None
    input_usd: float | None = None
    record_id: str = ""
    at: datetime | None = None
    is_estimate: bool = False


def with_content(
    rents: Rents,
    provider: str,
    content: StoredContent,
    used_at: datetime | None = None,
    since: datetime | None = None,
) -> Rents:
    """Rows with a content as it is stored now.

    Args:
        used_at: start of the request that used it, None where none did.
        since: when the rent of one that has no row begins, None: with its making.
    """
    known = next((row for row in rents if row.name == content.name), None)
    if known is None:
        made = since or content.created_at
        known = StoredRent(provider, content.model, content.name, content.tokens, made, content.expires_at)
    row = replace(known, expires_at=content.expires_at, used_at=used_at or known.used_at, ending_at=None)
    return (*(other for other in rents if other.name != row.name), row)


def without(rents: Rents, names: Collection[str], now: datetime) -> Rents:
    """Rows after contents were deleted: their rent ends now, if it has not ended before."""
    return tuple(
        replace(row, expires_at=min(row.expires_at, row.ending_at or now, now)) if row.name in names else row
        for row in rents
    )


def found_gone(rents: Rents, names: Collection[str], now: datetime) -> Rents:
    """Rows after contents were found to be gone before their time: their rent has ended by now, nobody knows when."""
    return tuple(
        replace(row, expires_at=row.ending_at or now, ending_at=row.ending_at or now)
        if row.name in names and now < row.expires_at
        else row
        for row in rents
    )


def ending(rents: Rents, names: Collection[str], now: datetime | None) -> Rents:
    """Rows after their deletion was asked for and not answered yet; None: it was."""
    return tuple(replace(row, ending_at=now) if row.name in names else row for row in rents)


def settled(
    discussion_id: str, rents: Rents, prices: Prices, now: datetime
) -> tuple[Rents, tuple[RentDue, ...]]:
    """Book what is due: of what has ended or was used since, and of what is held for long. What has ended goes.

    Of one that ended nobody knows when, what was booked since its last use may be too much: nothing more is, and that is
    marked.
    """
    kept: list[StoredRent] = []
    due: list[RentDue] = []
    for row in rents:
        is_guessed = row.ending_at is not None and now >= row.expires_at
        end = min(now, row.expires_at, row.ending_at or now) if is_guessed else min(now, row.expires_at)
        was_used = row.used_at is not None and row.used_at > row.paid_until
        if end <= row.paid_until and not (is_guessed and row.used_at != row.paid_until):
            if now < row.expires_at:
                kept.append(row)
            continue
        if now < row.expires_at and not was_used and now - row.paid_until < BOOKED_EVERY:
            kept.append(row)
            continue
        price = prices(row.provider, row.model)
        cost = rent_usd(price, row.tokens, max(timedelta(), end - row.paid_until))
        record_id = make_id(end, f"rent/{row.name}/{row.paid_until.timestamp()}")
        due.append(
            RentDue(discussion_id, row.provider, row.model, cost, price.input_usd, record_id, now, is_guessed)
        )
        if now < row.expires_at:
            kept.append(replace(row, paid_until=end))
    return tuple(kept), tuple(due)


def rent_usd(prices: CachePrices, tokens: int, stored: timedelta) -> float | None:
    """Rent of so many tokens for so long, None where the price is unknown."""
    return tokens * prices.storage_usd * (stored / _HOUR) if prices.storage_usd else None
