"""View of the Signals panel: which signals are unfolded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from panels.base.window_field import Kept


@dataclass(slots=True)
class SignalsView:
    """The panel's own state. `open_signals`: ids of those that are shown whole."""

    kept: ClassVar[tuple[Kept, ...]] = ()

    open_signals: frozenset[str] = frozenset()
