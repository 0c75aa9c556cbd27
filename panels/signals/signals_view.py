"""View of the Signals panel: which signals are unfolded."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from panels.base.view import Kept


class SignalsView(msgspec.Struct):
    """The panel's own state. `open_signals`: ids of those that are shown whole."""

    kept: ClassVar[tuple[Kept, ...]] = ()

    open_signals: frozenset[str] = frozenset()
