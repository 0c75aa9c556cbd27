"""The stamp of an input: when it came, and the ids that are made for it."""

from __future__ import annotations

from datetime import datetime

import msgspec

from core.base.ids import make_id


class Stamp(msgspec.Struct, frozen=True):
    """Time and seed of a command or event.

    Args:
        at: the controller's clock, UTC.
        seed: fresh randomness as text; ids are derived from it, so a playbook is repeatable.
    """

    at: datetime
    seed: str

    def make_id(self, number: int = 0) -> str:
        """The `number`-th id of this input, `YYYYMMDD-HHMMSS-` and six letters."""
        return make_id(self.at, f"{self.seed}/{number}")
