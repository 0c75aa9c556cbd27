"""View of the Retrieval panel: the part in front, the words that are looked for, what narrows them, what is unfolded."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

import msgspec

from core.kernel.values.retrieval import AskedPlaces
from panels.base.view import Kept, one_of

TABS = ("search", "index", "recall")


class RetrievalView(msgspec.Struct):
    """The panel's own state.

    Args:
        query: the words in the box; has_keyboard: the box had it in the frame before; command_id: of the last question, empty before one.
        corpus, folder, tag, after, before: what narrows the search, each empty for all; are_filters_open: they are shown.
        flaw: why what was typed is not taken, with the field that it is about.
        unfolded: hits whose further passages are shown, by corpus, scope and path.
        looked_with: the places that were last looked at; checked_at: the run after which index files were last checked.
    """

    kept: ClassVar[tuple[Kept, ...]] = (Kept(key="retrieval_tab", name="tab", read=one_of(*TABS)),)

    tab: str = "search"
    query: str = ""
    has_keyboard: bool = False
    command_id: str = ""
    corpus: str = ""
    folder: str = ""
    tag: str = ""
    after: str = ""
    before: str = ""
    are_filters_open: bool = False
    flaw: tuple[str, str] = ("", "")
    unfolded: set[tuple[str, str, str]] = msgspec.field(default_factory=set)
    looked_with: AskedPlaces | None = None
    checked_at: datetime | None = None
