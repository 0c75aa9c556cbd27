"""Room of knowledge in the window, and the view of its panel."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import msgspec

from core.app.app_messages import Command
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.values.knowledge import (
    Category,
    CategoryFile,
    Item,
    KnowledgeState,
    NewItem,
    NoteFile,
    Provenance,
)
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_under_way
from core.knowledge import categories
from core.knowledge.categories import item_body, safe_value
from core.knowledge.knowledge_messages import AddKnowledgeItem, EditKnowledgeItem, RegenerateDigest
from panels.base.desk import LEAST_PX, Action, Desk, HubPanel, Room
from panels.base.view import Dialog, Same
from panels.base.window_fields import Kept, one_of

# View of the Knowledge panel: what is folded, what is being typed, what was asked for and not seen yet.

PROPOSED = "proposed"
"""Tab of what other programs propose."""

ARCHIVE = "archive"
"""Tab of items that no request contains until the person takes them back."""

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

EDITOR_KEYS = tr("Ctrl+Enter saves, Escape cancels")
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
        """The confidence, None while the typed text is not a number."""
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

    kept: ClassVar[tuple[Kept, ...]] = (
        Kept(key="knowledge_tab", name="tab", read=one_of("items", "digest", "facts")),
    )

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
        """Forget which draft has the keyboard; the draft reports that again when it is drawn."""
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


# Drafts of words for knowledge: kept in the view until the state shows them, whatever comes between.


def item_key(item: Item) -> ItemKey:
    """Key of an item, independent of its place."""
    return item.file, item.text, item.provenance, categories.is_done(item.section)


def shown_text(item: Item) -> str:
    """An item's words as a person reads and edits them: continued lines without their indent."""
    return "\n".join(line.strip() for line in item.text.split("\n"))


def edited_text(text: str) -> str:
    """The words that an item has after an edit, as its file is read; empty where nothing is left."""
    lines = [safe for line in clean(text).strip().split("\n") if (safe := safe_value(line.rstrip()))]
    return "\n  ".join(lines)


def begin_edit(view: KnowledgeView, item: Item) -> None:
    """Open an item for editing."""
    view.edits = {item_key(item): ItemDraft(item=item, text=shown_text(item))} | view.edits
    view.settled = None
    view.shape += 1


def begin_new(view: KnowledgeView, category: Category) -> None:
    """Open the form of a category, with what was typed there before."""
    draft = view.new.setdefault(category, NewDraft(category=category))
    draft.wants_focus = True
    view.show_new = category
    view.closed.discard(category.value)
    view.shape += 1


def can_save(state: AppState, draft: Draft) -> bool:
    """True if a draft says something and is not on its way."""
    has_words = bool(draft.text.strip())
    if isinstance(draft, NewDraft) and draft.category is Category.PLAYBOOKS:
        has_words = has_words and bool(draft.name.strip())
    return has_words and not state.program.is_home_read_only and not is_under_way(state, draft.command_id)


def save(desk: Desk, draft: Draft) -> None:
    """Send a draft, which stays until the state shows it. Close a draft without a change."""
    view = desk.view.of(KnowledgeView)
    if not can_save(desk.state, draft):
        return
    match draft:
        case ItemDraft(item=item):
            draft.sent = edited_text(draft.text)
            if draft.sent == item.text or draft.text == shown_text(item):
                view.drop(draft)
                return
            draft.command_id = desk.ask(EditKnowledgeItem(item=item, text=draft.text))
            draft.sent_items = items_in(desk.state.knowledge, item.file)
        case NewDraft(category=category):
            draft.sent = item_body(NewItem(category=category, text=draft.text, name=draft.name))
            draft.command_id = desk.ask(AddKnowledgeItem(category=category, text=draft.text, name=draft.name))
            draft.sent_items = items_in(desk.state.knowledge, categories.FILE_OF[category])


def ask(desk: Desk, about: Item | NoteFile, command: Command) -> None:
    """Send a change of an item or of notes, once: another waits until the state has answered."""
    if can_ask(desk, about):
        desk.view.of(KnowledgeView).asked[_asked_key(about)] = desk.ask(command)


def can_ask(desk: Desk, about: Item | NoteFile) -> bool:
    """True if an item or notes can be changed just now."""
    asked = desk.view.of(KnowledgeView).asked
    is_free = not asked or not is_under_way(desk.state, asked.get(_asked_key(about), ""))
    return is_free and not desk.state.program.is_home_read_only


def _asked_key(about: Item | NoteFile) -> Hashable:
    return item_key(about) if isinstance(about, Item) else about.file_id


def settle(state: AppState, view: KnowledgeView) -> None:
    """Close the drafts that the state shows, and find out which items are still there. O(items) after a change."""
    now = Same(state.knowledge.categories, state.knowledge.notes)
    if view.settled == now:
        return
    view.settled, view.live = now, {}
    view.asked = {key: at for key, at in view.asked.items() if is_under_way(state, at)}
    drafts: list[Draft] = [*view.edits.values(), *view.new.values()]
    for draft in drafts:
        _settle(state.knowledge, view, draft)


def _settle(knowledge: KnowledgeState, view: KnowledgeView, draft: Draft) -> None:
    file = draft.item.file if isinstance(draft, ItemDraft) else categories.FILE_OF[draft.category]
    items = items_in(knowledge, file)
    if draft.sent and items is not draft.sent_items and _is_shown(items, draft):
        view.drop(draft)
        return
    if not isinstance(draft, ItemDraft):
        return
    here = categories.find_item(CategoryFile(name=file, items=items), draft.item)
    if draft.is_found is not (here is not None):
        draft.is_found = here is not None
        view.shape += 1
    if here is not None:
        view.live[id(here)] = draft


def _is_shown(items: tuple[Item, ...], draft: Draft) -> bool:
    match draft:
        case ItemDraft(item=item):
            return any(i.text == draft.sent and i.provenance == item.provenance for i in items)
        case NewDraft(category=category):
            was = sum(i.text == draft.sent and i.category is category for i in draft.sent_items)
            return sum(i.text == draft.sent and i.category is category for i in items) > was


def items_in(knowledge: KnowledgeState, name: str) -> tuple[Item, ...]:
    """The items of a file, also of notes, as the state has them."""
    for file in knowledge.categories:
        if file.name == name:
            return file.items
    for note in knowledge.notes:
        if note.items and note.items[0].file == name:
            return note.items
    return ()


# Room of knowledge in the window.

# Actions on the knowledge from the menus.

ACTIONS: tuple[Action, ...] = (
    Action(id="regenerate_digest", menu=tr("Tools"), group=2, label=tr("Regenerate digest"), run=lambda d: d.send(RegenerateDigest()), icon="book-open",
           is_enabled=lambda d: not d.state.program.is_home_read_only),
)  # fmt: skip


FACTS_PX = 500.0


def _panel(desk: Desk) -> None:
    from panels.knowledge.knowledge_panel import knowledge_panel

    knowledge_panel(desk)


def _least_px(desk: Desk) -> float:
    """More where filters and what is broken stand over the facts."""
    return FACTS_PX if desk.view.of(KnowledgeView).tab == "facts" else LEAST_PX


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.knowledge.knowledge_dialogs import knowledge_dialog

    knowledge_dialog(desk, dialog)


def _begin(desk: Desk) -> None:
    """Ctrl+Enter belongs to what is being written in the panel, before it sends a message."""
    own = desk.view.of(KnowledgeView)
    own.begin_frame()
    draft = own.had_keyboard
    if draft is not None and desk.view.dialog is None and desk.ui.shortcut("Ctrl+Enter"):
        from panels.knowledge.knowledge_panel import save_typed  # loaded with the panel

        save_typed(desk, draft)


def _escape(desk: Desk) -> bool:
    own = desk.view.of(KnowledgeView)
    if own.had_keyboard is None:
        return False
    own.drop(own.had_keyboard)
    return True


ROOM = Room(
    actions=ACTIONS,
    view=KnowledgeView,
    panels=(
        HubPanel(
            id="knowledge",
            words=tr("memory facts decisions tasks digest"),
            title=tr("Knowledge"),
            guide="knowledge",
            about=tr(
                "Read and edit the items that you kept from conversations. Models read a short digest of them."
            ),
            draw=_panel,
            least_px=_least_px,
            tab_guide=lambda d: "facts" if d.view.of(KnowledgeView).tab == "facts" else "",
        ),
    ),
    dialogs=dict.fromkeys(("delete_item", "attach_notes", "item_history", "graduate_playbook"), _dialog),
    begin=_begin,
    escape=_escape,
)
