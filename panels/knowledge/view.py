"""View of the Knowledge panel: what is folded, what is being typed, what was asked for and not seen yet."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import msgspec

from core.values.knowledge import Category, Item, Provenance
from panels.base.memo import Same
from panels.base.window_field import Kept, one_of

PROPOSED = "proposed"
"""Tab of what other programs propose."""

FIRST_SHOWN = 100
"""Items of a section that are listed at first; more are asked for."""

ItemKey = tuple[str, str, Provenance | None, bool]
"""Item's name: its file, its words, its source, whether it is done. Its line changes with every edit above
it.
"""


class ItemDraft(msgspec.Struct):
    """Other words for an item, being typed.

    Args:
        item: as it stood when the person began; text: what they typed.
        sent: the text that was sent, empty before; command_id: of what was sent, empty before.
        sent_items: the file's items at that time; is_found: whether the item stands there still.
        wants_focus: the keyboard goes to it when it is drawn next; row: where it was drawn last, -1 before.
    """

    item: Item
    text: str
    sent: str = ""
    command_id: str = ""
    sent_items: tuple[Item, ...] = ()
    is_found: bool = True
    wants_focus: bool = True
    row: int = -1


class NewDraft(msgspec.Struct):
    """An item that is being written. `name`: of a playbook; the rest as in `ItemDraft`."""

    category: Category
    text: str = ""
    name: str = ""
    sent: str = ""
    command_id: str = ""
    sent_items: tuple[Item, ...] = ()
    wants_focus: bool = True
    row: int = -1


Draft = ItemDraft | NewDraft

EDITOR_KEYS = "Ctrl+Enter saves, Escape cancels"
"""Rule of every editor of the panel, told beside its buttons."""


class FactDraft(msgspec.Struct):
    """Other words for a structured fact, being typed. `was`: as it was shown; the rest as the fields hold it."""

    fact_id: str
    was: str
    text: str
    confidence: str
    tags: str
    command_id: str = ""
    wants_focus: bool = True

    @property
    def number(self) -> float | None:
        """The confidence, None while what was typed is none."""
        try:
            value = float(self.confidence)
        except ValueError:
            return None
        return value if 0 <= value <= 1 else None


class MergeWords(msgspec.Struct):
    """Words of a merged item that have the keyboard. `group_id`: of the merge that they are of."""

    group_id: str


class ProposalWords(msgspec.Struct):
    """Words of a proposal that have the keyboard. `proposal_id`: of the one that they are of."""

    proposal_id: str


Typing = Draft | FactDraft | MergeWords | ProposalWords


class KnowledgeView(msgspec.Struct):
    """The panel's own state.

    Args:
        closed: sections that are folded; shown: how many items of a section are listed, where more were asked for.
        whole: long items that are shown to their end, by file and line.
        shape: counts changes of what is folded, listed or being written.
        edits: by item; new: by category; asked: the command of a tick or a deletion that was asked for.
        settled: the state that the drafts were last compared with; live: drafts by the id of their item in it.
        typing: the draft that has the keyboard; had_keyboard: that had it in the last frame; row: that is being drawn.
        show_new: the category whose form is to be scrolled to.
        merge_edits: words of merged items that are being typed, by group; merge_offer: the category whose merge is offered
            with its price, before a model is asked.
        proposal_edits: words of proposals that are being typed, by id; proposals_asked: commands of a yes, by id.
        fact_domain, fact_category, fact_tag, fact_query: filters of facts, each empty for all; fact_edits: by id.
        asked_of: what was known when the open history was asked for, None before: where that changes, it is asked again.
    """

    kept: ClassVar[tuple[Kept, ...]] = (Kept("knowledge_tab", "tab", one_of("items", "digest", "facts")),)

    tab: str = "items"
    query: str = ""
    closed: set[str] = msgspec.field(default_factory=lambda: {"tasks_done"})
    shown: dict[str, int] = msgspec.field(default_factory=dict)
    whole: set[tuple[str, int]] = msgspec.field(default_factory=set)
    shape: int = 0
    edits: dict[ItemKey, ItemDraft] = msgspec.field(default_factory=dict)
    new: dict[Category, NewDraft] = msgspec.field(default_factory=dict)
    asked: dict[Hashable, str] = msgspec.field(default_factory=dict)
    settled: Same | None = None
    live: dict[int, ItemDraft] = msgspec.field(default_factory=dict)
    typing: Typing | None = None
    had_keyboard: Typing | None = None
    row: int = 0
    show_new: Category | None = None
    fact_domain: str = ""
    fact_category: str = ""
    fact_tag: str = ""
    fact_query: str = ""
    fact_edits: dict[str, FactDraft] = msgspec.field(default_factory=dict)
    asked_of: Same | None = None
    merge_edits: dict[str, str] = msgspec.field(default_factory=dict)
    merge_offer: Category | None = None
    proposal_edits: dict[str, str] = msgspec.field(default_factory=dict)
    proposals_asked: dict[str, str] = msgspec.field(default_factory=dict)

    def begin_frame(self) -> None:
        """Forget which draft has the keyboard: it tells so itself when it is drawn."""
        self.had_keyboard, self.typing = self.typing, None

    def fold(self, section: str) -> None:
        """Fold a section, or unfold it."""
        self.closed.symmetric_difference_update({section})
        self.shape += 1

    def drop(self, draft: Typing) -> None:
        """Forget a draft: the person gave it up, or it is kept now."""
        self.shape += 1
        self.live = {at: kept for at, kept in self.live.items() if kept is not draft}
        match draft:
            case ItemDraft():
                self.edits = {key: kept for key, kept in self.edits.items() if kept is not draft}
            case NewDraft():
                self.new.pop(draft.category, None)
            case FactDraft():
                self.fact_edits.pop(draft.fact_id, None)
            case MergeWords():
                self.merge_edits.pop(draft.group_id, None)
            case ProposalWords():
                self.proposal_edits.pop(draft.proposal_id, None)
