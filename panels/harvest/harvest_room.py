"""Room of the harvest in the window, and the view of its panel."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.values.harvest import BatchReport, HarvestLook
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.harvest.harvest_messages import LookForHarvest, UndoHarvest
from panels.base.desk import LEAST_PX, Action, Desk, HubPanel, Room
from panels.base.view import Dialog
from panels.base.window_fields import Kept, one_of

# View of the Harvest panel: the part in front, filters, what is left out, words typed into proposed items.

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
        looked_with: the settings that the last look was asked for with, None before the first; looked_among: how many
            discussions there were then; has_looked: a look was there.
        left_out: paths of candidates that are not ticked; met: of those that were listed before, met_look: when they were last.
        batched_seen: the report whose unanswered conversations were unticked; waits_for_batch: Collect was pressed, and what
            comes of it is to be shown.
        query, kind: filter of the conversations; item_query, show, by: of the preview; ledger_query, status: of the
            ledger. Empty: everything.
        edits: by the id of the item; typing, had_keyboard: the item whose words have the keyboard, in this frame and in
            the one before; after: what happens to conversations, as chosen here; error: key of a setting and why what was typed is not taken.
    """

    kept: ClassVar[tuple[Kept, ...]] = (Kept(key="harvest_tab", name="tab", read=one_of(*HARVEST_TABS)),)

    tab: HarvestTab = "conversations"
    looked_with: KnowledgeSettings | None = None
    looked_among: int = 0
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
    after: str = ""
    error: tuple[str, str] = ("", "")

    def has_looked_with(self, now: KnowledgeSettings) -> bool:
        """True if the last look was asked for with these settings: what happens to a conversation afterwards is no part."""
        before = self.looked_with
        return before is not None and replace(before, after_harvest="") == replace(now, after_harvest="")

    def tick_anew(self) -> None:
        """Forget what was ticked: the next list begins as the first did."""
        self.left_out = self.met = frozenset()
        self.met_look = None

    def begin_frame(self) -> None:
        """Forget which words have the keyboard: they tell so themselves when they are drawn."""
        self.had_keyboard, self.typing = self.typing, ""


# Room of the harvest in the window.

# Actions on the harvest from the menus.


def _look(desk: Desk) -> None:
    own = desk.view.of(HarvestView)
    desk.view.show_hub("harvest")
    own.tab = "conversations"
    own.looked_with = desk.state.config.settings.knowledge
    own.looked_among = len(desk.state.discussions.summaries)
    desk.send(LookForHarvest())


def _undo(desk: Desk) -> None:
    desk.view.show_hub("harvest")
    desk.view.of(HarvestView).tab = "applied"
    desk.send(UndoHarvest())


def _can_undo(desk: Desk) -> bool:
    harvest = desk.state.harvest
    if harvest.is_busy or desk.state.program.is_home_read_only:
        return False
    if harvest.looked_at is None:  # not known yet: only what is known can have been harvested
        known = desk.state.knowledge
        return any(one.items for one in known.categories) or any(one.items for one in known.notes)
    return any(not one.undone_at for one in harvest.look.applies)


ACTIONS: tuple[Action, ...] = (
    Action(id="undo_harvest", menu=tr("Edit"), group=0, label=tr("Undo last harvest"), run=_undo, icon="rotate-left", is_enabled=_can_undo),
    Action(id="look_harvest", menu=tr("Tools"), group=3, label=tr("Look for conversations to harvest"), run=_look, icon="wheat-awn",
           is_enabled=lambda d: not d.state.harvest.is_busy),
)  # fmt: skip


PREVIEW_PX = 560.0
BATCH_PX, BUTTONS_PX = 44.0, 36.0
"""Height of what is said of a batch, in two lines, and of the buttons below those that are open."""


def _panel(desk: Desk) -> None:
    from panels.harvest.harvest_panel import harvest_panel

    harvest_panel(desk)


def _least_px(desk: Desk) -> float:
    """More where batches stand over the conversations; of the preview items are high."""
    if desk.view.of(HarvestView).tab == "preview":
        return PREVIEW_PX
    harvest = desk.state.harvest
    told = harvest.batched or BatchReport()
    closed = sum(not one.is_open for one in told.batches)
    lines = len(harvest.look.batches) + closed + min(SHOWN_PROBLEMS, len(told.problems))
    return LEAST_PX + BATCH_PX * lines + (BUTTONS_PX if harvest.look.batches else 0.0)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.harvest.harvest_panel import harvest_dialog

    harvest_dialog(desk, dialog)


def _begin(desk: Desk) -> None:
    """Ctrl+Enter belongs to the words that are being typed in the preview, before it sends a message."""
    own = desk.view.of(HarvestView)
    own.begin_frame()
    if own.had_keyboard and desk.view.dialog is None and desk.ui.shortcut("Ctrl+Enter"):
        from panels.harvest.preview import keep_words  # loaded with the panel

        keep_words(desk, own.had_keyboard)


def _escape(desk: Desk) -> bool:
    own = desk.view.of(HarvestView)
    return bool(own.had_keyboard) and own.edits.pop(own.had_keyboard, None) is not None


ROOM = Room(
    actions=ACTIONS,
    view=HarvestView,
    panels=(
        HubPanel(
            id="harvest",
            words=tr("extract memory import old conversations"),
            title=tr("Harvest"),
            guide="knowledge",
            about=tr(
                "Let a model read old conversations and propose items to keep. You confirm each item, and can undo it."
            ),
            draw=_panel,
            least_px=_least_px,
        ),
    ),
    dialogs=dict.fromkeys(
        (
            "harvest_give_up",
            "harvest_discard",
            "harvest_folder",
            "harvest_files",
            "harvest_cancel_batches",
        ),
        _dialog,
    ),
    begin=_begin,
    escape=_escape,
)
