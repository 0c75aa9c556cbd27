"""Drafts of words for knowledge: kept in the view until the state shows them, whatever comes between."""

from __future__ import annotations

from collections.abc import Hashable

from core.app.messages import Command
from core.base.text import clean
from core.knowledge import categories as names
from core.knowledge.messages import AddKnowledgeItem, EditKnowledgeItem
from core.knowledge.wording import item_body, safe_value
from core.values.knowledge import Category, CategoryFile, Item, KnowledgeState, NewItem, NoteFile
from core.values.state import AppState
from core.values.updates import is_under_way
from panels.base.desk import Desk
from panels.base.memo import Same
from panels.knowledge.view import Draft, ItemDraft, ItemKey, KnowledgeView, NewDraft


def item_key(item: Item) -> ItemKey:
    """Key of an item, wherever it stands."""
    return item.file, item.text, item.provenance, names.is_done(item.section)


def shown_text(item: Item) -> str:
    """An item's words as a person reads and edits them: continued lines without their indent."""
    return "\n".join(line.strip() for line in item.text.split("\n"))


def edited_text(text: str) -> str:
    """The words that an item has after an edit, as its file is read; empty where nothing is left."""
    lines = [safe for line in clean(text).strip().split("\n") if (safe := safe_value(line.rstrip()))]
    return "\n  ".join(lines)


def begin_edit(view: KnowledgeView, item: Item) -> None:
    """Open an item for editing."""
    view.edits = {item_key(item): ItemDraft(item, shown_text(item))} | view.edits
    view.settled = None
    view.shape += 1


def begin_new(view: KnowledgeView, category: Category) -> None:
    """Open the form of a category, with what was typed there before."""
    draft = view.new.setdefault(category, NewDraft(category))
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
    """Send a draft; it stays until the state shows it. One that changes nothing is closed."""
    view = desk.view.of(KnowledgeView)
    if not can_save(desk.state, draft):
        return
    match draft:
        case ItemDraft(item=item):
            draft.sent = edited_text(draft.text)
            if draft.sent == item.text or draft.text == shown_text(item):
                view.drop(draft)
                return
            draft.command_id = desk.ask(EditKnowledgeItem(item, draft.text))
            draft.sent_items = items_in(desk.state.knowledge, item.file)
        case NewDraft(category=category):
            draft.sent = item_body(NewItem(category, draft.text, name=draft.name))
            draft.command_id = desk.ask(AddKnowledgeItem(category, draft.text, draft.name))
            draft.sent_items = items_in(desk.state.knowledge, names.FILE_OF[category])


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
    file = draft.item.file if isinstance(draft, ItemDraft) else names.FILE_OF[draft.category]
    items = items_in(knowledge, file)
    if draft.sent and items is not draft.sent_items and _is_shown(items, draft):
        view.drop(draft)
        return
    if not isinstance(draft, ItemDraft):
        return
    here = names.find_item(CategoryFile(file, items=items), draft.item)
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
