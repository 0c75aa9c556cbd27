"""How long a test waits for what always comes: on a machine under any load, and never for nothing."""

from __future__ import annotations

PATIENCE_S = 180.0
"""Longest wait in seconds for another thread or process. Idle, what is waited for takes milliseconds; the embedded
model took over 60 s at a load of 25 on two cores."""
