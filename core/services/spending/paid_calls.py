"""One call that was paid for, as bytes of the table of all: written with each, read by columns."""

from __future__ import annotations

import struct
from datetime import datetime

from core.kernel.values.usage import PaidKind, Usage

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
