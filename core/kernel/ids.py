"""Ids of discussions and records: a time that people can read, and six letters."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

from core.kernel.patterns import late

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PAIRS = tuple(a + b for b in _LETTERS for a in _LETTERS)
"""Every two letters: an import makes an id for each message."""
_TRIPLES = len(_PAIRS) * len(_LETTERS)

_ID = late(r"(\d{8}-\d{6})-[a-z]{6}")


def make_id(at: datetime, seed: str) -> str:
    """Make an id: `YYYYMMDD-HHMMSS-` and six letters.

    Args:
        at: the time, aware (a naive one is taken as UTC).
        seed: whatever parts this id from others of the same second; the letters derive from it alone.

    Returns:
        The same id for the same second and seed.
    """
    number = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    number, first = divmod(number, _TRIPLES)
    return f"{_second(at)}-{_triple(first)}{_triple(number % _TRIPLES)}"


def _triple(number: int) -> str:
    last, pair = divmod(number, len(_PAIRS))
    return _PAIRS[pair] + _LETTERS[last]


@lru_cache(maxsize=256)
def _second(at: datetime) -> str:
    moment = at.astimezone(UTC) if at.tzinfo else at
    return f"{moment.year:04d}{moment:%m%d-%H%M%S}"


def is_id(text: str) -> bool:
    """True if `text` has the form of an id."""
    return _ID.fullmatch(text) is not None


def time_of_id(text: str) -> datetime | None:
    """The second at which an id was made, UTC, or None where `text` is no id."""
    match = _ID.match(text)
    if match is None:
        return None
    try:
        return datetime.strptime(match[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


# The stamp of an input: when it came, and the ids that are made for it.


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
