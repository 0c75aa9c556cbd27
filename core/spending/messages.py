"""What was counted of money."""

from __future__ import annotations

from datetime import datetime

import msgspec


class SpentCounted(msgspec.Struct, frozen=True):
    """What all logged calls since the person's midnight have cost. `day_start`: that midnight, UTC."""

    day_start: datetime
    usd: float


SpendingEvent = SpentCounted
"""What has happened in this room."""
