"""The tab of the archive in the Knowledge panel: items that no request contains, and the way back for each."""

from __future__ import annotations

from collections.abc import Hashable

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.knowledge import Item
from core.knowledge.knowledge_messages import TakeBackItem
from panels.base.desk import Desk, ListRows
from panels.base.ui import Ui
from panels.knowledge.item import prose, provenance
from panels.knowledge.knowledge_room import KnowledgeView, ask, can_ask, item_key, shown_text
from panels.knowledge.rows import archived_found

CARD_PX, GAP_PX, LINE_PX, CHAR_PX = 56.0, 8.0, 19.0, 7.2


def archive_section(desk: Desk) -> None:
    """Draw the tab. O(visible). Sends TakeBackItem."""
    ui, every = desk.ui, desk.state.knowledge.archived
    if not every:
        ui.text("none", tr("The archive holds no knowledge item."), tone="muted", wraps=True)
        return
    items = archived_found(desk.state.knowledge, desk.view.of(KnowledgeView), desk.view.memo)
    if not items:
        ui.text("none", tr("Nothing matches."), tone="muted", style="small")
        return
    kept = fmt.count(len(items), tr("item"), tr("items"))
    what = (
        tr("{found:,} of {count}", found=len(items), count=fmt.count(len(every), tr("item"), tr("items")))
        if len(items) < len(every)
        else tr("The archive keeps {kept}. No request contains an archived item.", kept=kept)
    )
    ui.text(
        "what",
        what,
        tone="muted",
        style="small",
        wraps=True,
    )
    ui.virtual_list("archived", ArchiveRows(desk, items))


class ArchiveRows(ListRows[Item]):
    """The archive, for a virtual list."""

    def key(self, index: int) -> Hashable:
        """An item's name, and its line: the archive may keep the same words twice."""
        return item_key(self.rows[index]), self.rows[index].first_line

    def estimate_px(self, index: int, width: float) -> float:
        """A guess by the length of the words."""
        return CARD_PX + LINE_PX * (1 + len(self.rows[index].text) * CHAR_PX // max(80.0, width - 40))

    def draw(self, index: int, ui: Ui) -> None:
        """Draw an item with its way back."""
        item = self.rows[index]
        with ui.surface("card", "card", padding=(12, 8)), ui.group("lines", gap=5):
            prose(ui, "text", shown_text(item))
            with ui.row("foot", gap=4):
                provenance(self.desk, ui, item.provenance)
                ui.push()
                if ui.button(
                    "take back",
                    tr("Take back"),
                    icon="rotate-left",
                    is_small=True,
                    is_enabled=can_ask(self.desk, item),
                    tip=tr("Put this item back into {file}", file=item.file),
                ):
                    ask(self.desk, item, TakeBackItem(item))
        ui.gap(GAP_PX)
