"""Rent that is to be written into the log of the discussion that it was paid for."""

from __future__ import annotations

from datetime import datetime

import msgspec


class OwedRent(msgspec.Struct, frozen=True):
    """Rent that was settled and is not known to stand in the discussion's log: it is written, again if need be.

    `record_id`: of its record, whoever writes it; `is_estimate`: the provider did not say when it ended.
    """

    record_id: str
    at: datetime
    cost_usd: float
    is_estimate: bool = False
