"""Offers that a value may carry for a person to say yes to."""

from __future__ import annotations

import msgspec


class OfferedCommand(msgspec.Struct, frozen=True):
    """A command that a notice or a refusal offers, of whatever room: rooms that carry it need not know the room."""
