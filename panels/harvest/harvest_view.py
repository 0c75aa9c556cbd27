"""View of the Harvest panel: the part in front, filters, what is left out, words typed into proposed items."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from core.kernel.values.harvest import BatchReport, HarvestLook
from core.kernel.values.settings import KnowledgeSettings
from panels.base.view import Kept, one_of

HarvestTab = Literal["conversations", "preview", "applied", "ledger"]
SHOWN_PROBLEMS = 3
"""Problems of batches that are said in full."""
HARVEST_TABS: tuple[HarvestTab, ...] = ("conversations", "preview", "applied", "ledger")


class ItemEdit(msgspec.Struct):
    """Words that are being typed into a proposed item, and have not been taken over yet.

    `revision` changes when the program changes them; `wants_focus` until they have had the keyboard.
    """

    head: str
    body: str
    revision: int = 0
    wants_focus: bool = True


class HarvestView(msgspec.Struct):
    """The panel's own state.

    Args:
        looked_with: the settings that the last look was asked for with, None before the first; has_looked: a look was there.
        left_out: paths of candidates that are not ticked; met: of those that were listed before, met_look: when they were last.
        batched_seen: the report whose unanswered conversations were unticked; waits_for_batch: Collect was pressed, and what
            comes of it is to be shown.
        query, kind: filter of the conversations; item_query, show, by: of the preview; ledger_query, status: of the
            ledger. Empty: everything.
        edits: by the id of the item; typing, had_keyboard: the item whose words have the keyboard, in this frame and in
            the one before; error: key of a setting and why what was typed is not taken.
    """

    kept: ClassVar[tuple[Kept, ...]] = (Kept(key="harvest_tab", name="tab", read=one_of(*HARVEST_TABS)),)

    tab: HarvestTab = "conversations"
    looked_with: KnowledgeSettings | None = None
    has_looked: bool = False
    are_settings_open: bool = False
    left_out: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()
    met_look: HarvestLook | None = None
    batched_seen: BatchReport | None = None
    waits_for_batch: bool = False
    query: str = ""
    kind: str = ""
    item_query: str = ""
    show: str = ""
    by: Literal["conversation", "category"] = "conversation"
    edits: dict[str, ItemEdit] = msgspec.field(default_factory=dict)
    typing: str = ""
    had_keyboard: str = ""
    ledger_query: str = ""
    status: str = ""
    error: tuple[str, str] = ("", "")

    def tick_anew(self) -> None:
        """Forget what was ticked: the next list begins as the first did."""
        self.left_out = self.met = frozenset()
        self.met_look = None

    def begin_frame(self) -> None:
        """Forget which words have the keyboard: they tell so themselves when they are drawn."""
        self.had_keyboard, self.typing = self.typing, ""
