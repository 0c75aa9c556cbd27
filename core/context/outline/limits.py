"""Bounds of an outline."""

from __future__ import annotations

MAX_SYMBOLS = 5_000
SIGNATURE_CHARS = 200
SIGNATURE_BYTES = 2_000
"""Source that is looked at for one name, signature or heading."""
