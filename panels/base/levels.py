"""Levels of notices as they are shown: the same sign wherever one stands."""

from __future__ import annotations

from core.values.state import Level
from panels.base.ui import Tone

LEVEL_ICONS: dict[Level, tuple[str, Tone]] = {
    Level.INFO: ("circle-info", "accent"),
    Level.WARNING: ("triangle-exclamation", "warn"),
    Level.ERROR: ("circle-exclamation", "error"),
}
