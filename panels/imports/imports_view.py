"""View of the import dialog: which conversations the person left out."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from core.kernel.values.imports import ImportReport
from panels.base.view import Kept


class ImportView(msgspec.Struct):
    """The dialog's own state.

    Args:
        left_out: discussions that the unticked conversations would become; of: the report that they were unticked in.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    left_out: frozenset[str] = frozenset()
    of: ImportReport | None = None
