"""View of the help: the panel that has the keyboard, and the pages that were read."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from panels.base.view import Kept


class HelpView(msgspec.Struct):
    """The room's own state.

    Args:
        is_asked: F1 was pressed, and the pane that has the keyboard is looked for; pane: that one.
        page: the page that is shown; read: pages before it, the newest last.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    is_asked: bool = False
    pane: str = ""
    page: str = ""
    read: tuple[str, ...] = ()
