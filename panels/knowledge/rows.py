"""The rows of the Knowledge panel's list, pure: sections, newest first, filtered, as far as they are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import msgspec

from core.kernel.ids import time_of_id
from core.kernel.language import tr
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.knowledge import Category, CategoryFile, Item, KnowledgeState, NoteFile
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState, TrashItem
from core.knowledge import categories
from core.knowledge.categories import source_name
from core.knowledge.harvest.modes import harvest_reader
from core.knowledge.merges import folded, query_words
from panels.base import view as selection
from panels.base.view import Memo
from panels.knowledge.knowledge_room import FIRST_SHOWN, ItemDraft, KnowledgeView, NewDraft

SECTIONS: tuple[tuple[Category, str, str], ...] = (
    (Category.TASKS_OPEN, tr("Open tasks"), "list-check"),
    (Category.TASKS_DONE, tr("Done tasks"), "circle-check"),
    (Category.QUESTIONS, tr("Questions"), "circle-question"),
    (Category.DECISIONS, tr("Decisions"), "scale-balanced"),
    (Category.FACTS, tr("Facts"), "lightbulb"),
    (Category.PLAYBOOKS, tr("Playbooks"), "list-ol"),
    (Category.FILES, tr("Notes on files"), "file-lines"),
)
"""Category, title and icon, in the order of the list."""


class KnowledgeHeading(msgspec.Struct, frozen=True):
    """The head of a section. `found`: how many match the filter, None without one; `file`, `problem`: of its file, empty
    while there is none, and while all is well.
    """

    category: Category
    title: str
    icon: str
    count: int
    found: int | None
    is_open: bool
    file: str = ""
    problem: str = ""


class More(msgspec.Struct, frozen=True):
    """The end of what is listed of a section. `left`: how many more there are."""

    section: str
    listed: int
    left: int


class Nothing(msgspec.Struct, frozen=True):
    """Text in an empty Knowledge panel: the purpose of knowledge, and ways to add items."""


Row = Nothing | KnowledgeHeading | Item | NoteFile | More | ItemDraft | NewDraft


class Listing(msgspec.Struct, frozen=True):
    """The list: its rows, where each category's form stands, and the counts."""

    rows: tuple[Row, ...]
    forms: Mapping[Category, int]
    count: int
    found: int


def listing(knowledge: KnowledgeState, view: KnowledgeView, memo: Memo) -> Listing:
    """The rows to show. The same object while nothing changed that they depend on.

    O(items) once after a change of the items or the filter, then O(1).
    """
    parts = (knowledge.categories, knowledge.notes, view.query, view.shape)
    return memo.get("knowledge rows", parts, lambda: _listing(knowledge, view, memo))


def items_of(knowledge: KnowledgeState, memo: Memo, category: Category) -> Sequence[Item]:
    """A category's items in the order of its file, oldest first; notes in the order of their files."""
    if category is Category.FILES:
        notes = knowledge.notes
        return memo.get("known notes", (notes,), lambda: tuple(i for note in notes for i in note.items))
    items = _file(knowledge, category).items
    if categories.FILE_OF[category] != categories.TASKS:
        return items
    return memo.get(
        ("known tasks", category), (items,), lambda: tuple(i for i in items if i.category is category)
    )


def _file(knowledge: KnowledgeState, category: Category) -> CategoryFile:
    wanted = categories.FILE_OF[category]
    return next((f for f in knowledge.categories if f.name == wanted), CategoryFile(name=wanted))


def _listing(knowledge: KnowledgeState, view: KnowledgeView, memo: Memo) -> Listing:
    words = query_words(view.query)
    lost = [draft for draft in view.edits.values() if not draft.is_found]
    rows: list[Row] = [*lost]
    forms: dict[Category, int] = {}
    count = found = 0
    for category, title, icon in SECTIONS:
        total = len(items_of(knowledge, memo, category))
        body, matching = _body(knowledge, view, memo, category, words)
        count, found = count + total, found + matching
        form = view.new.get(category)
        file = CategoryFile(name="") if category is Category.FILES else _file(knowledge, category)
        name = file.name if file.data or file.problem else ""
        if words and not matching and form is None:
            continue
        is_open = category.value not in view.closed
        rows.append(
            KnowledgeHeading(
                category=category,
                title=title,
                icon=icon,
                count=total,
                found=matching if words else None,
                is_open=is_open,
                file=name,
                problem=file.problem,
            )
        )
        if form is not None:
            forms[category] = len(rows)
            rows.append(form)
        if is_open:
            rows += _cut(category.value, body, view)
    if not (count or words or view.new):
        rows.insert(0, Nothing())
    return Listing(rows=tuple(rows), forms=forms, count=count, found=found)


def _cut(section: str, body: Sequence[Row], view: KnowledgeView) -> Sequence[Row]:
    limit = view.shown.get(section, FIRST_SHOWN)
    if len(body) <= limit:
        return body
    return (*body[:limit], More(section=section, listed=limit, left=len(body) - limit))


def _body(
    knowledge: KnowledgeState, view: KnowledgeView, memo: Memo, category: Category, words: tuple[str, ...]
) -> tuple[Sequence[Row], int]:
    """The rows of a section, newest first, and how many items of it match."""
    items = items_of(knowledge, memo, category)
    if words:
        items = memo.get(
            ("known found", category), (items, view.query), lambda: _matching(items, words, memo, category)
        )
    if category is not Category.FILES:
        return memo.get(("known newest", category), (items,), lambda: items[::-1]), len(items)
    rows = memo.get(
        "known note rows",
        (knowledge.notes, items, view.query),
        lambda: _note_rows(knowledge.notes, items, words),
    )
    return rows, sum(isinstance(row, Item) for row in rows) if words else len(items)


def _matching(
    items: Sequence[Item], words: tuple[str, ...], memo: Memo, category: Category
) -> tuple[Item, ...]:
    texts = memo.get(("known folded", category), (items,), lambda: [folded(item) for item in items])
    first, *others = words
    found = [index for index, text in enumerate(texts) if first in text]
    for word in others:
        found = [index for index in found if word in texts[index]]
    return tuple([items[index] for index in found])


def archived_found(knowledge: KnowledgeState, view: KnowledgeView, memo: Memo) -> tuple[Item, ...]:
    """Items of the archive that the filter finds; all without one. O(items) once after a change of either."""
    items, words = knowledge.archived, query_words(view.query)
    return memo.get(
        "archived found",
        (items, view.query),
        lambda: tuple(one for one in items if all(word in folded(one) for word in words)) if words else items,
    )


def _note_rows(notes: tuple[NoteFile, ...], found: Sequence[Item], words: tuple[str, ...]) -> tuple[Row, ...]:
    """Each file with its notes, those that need the person first; with a filter, files that match keep all."""
    matching = {id(item) for item in found}
    rows: list[Row] = []
    for note in sorted(notes, key=lambda n: (n.status.value != "orphaned", n.path or n.heading)):
        path = (note.path or note.heading).casefold()
        is_named = all(word in path for word in words)
        items = [item for item in reversed(note.items) if is_named or id(item) in matching]
        if items or (is_named and words) or not words:
            rows += [note, *items]
    return tuple(rows)


# Sources of items: the conversation behind a source's name, while there is one.


class SourcePlace(Enum):
    """Place of a conversation."""

    LIST = "list"
    ARCHIVE = "archive"
    TRASH = "trash"
    GONE = "gone"


class ItemSource(msgspec.Struct, frozen=True):
    """A conversation that items came from. `id` is empty where it is gone."""

    place: SourcePlace
    name: str
    id: str = ""


def source_of(state: AppState, memo: Memo, name: str) -> ItemSource:
    """The conversation that provenance calls `name`. O(1) while nobody renames or deletes."""
    found = state.harvest.look.sources.get(name)
    trash = memo.get(
        "source trash",
        (state.discussions.trash,),
        lambda: {item.discussion_id: item for item in state.discussions.trash},
    )
    for discussion_id in (found, _by_source(state, memo).get(name)):
        if discussion_id is None:
            continue
        if (summary := state.discussions.summaries.get(discussion_id)) is not None:
            place = SourcePlace.ARCHIVE if summary.meta.archived else SourcePlace.LIST
            return ItemSource(place=place, name=summary.meta.name, id=discussion_id)
        if (item := trash.get(discussion_id)) is not None:
            return ItemSource(place=SourcePlace.TRASH, name=item.name or name, id=discussion_id)
    return ItemSource(place=SourcePlace.GONE, name=name)


def _by_source(state: AppState, memo: Memo) -> Mapping[str, str]:
    """Ids by the name that a harvest would give now; conversations in the list win over those in the trash."""
    metas = memo.get("source metas", (), dict[str, tuple[DiscussionMeta, str]])
    return memo.get(
        "source ids",
        (state.discussions.summaries, state.discussions.trash),
        lambda: {**_trash_names(state.discussions.trash), **_names(state.discussions.summaries, metas)},
    )


def _names(
    summaries: Mapping[str, DiscussionSummary], known: dict[str, tuple[DiscussionMeta, str]]
) -> dict[str, str]:
    """Ids by source; names that did not change since the last time are not made again."""
    for discussion_id, summary in summaries.items():
        kept = known.get(discussion_id)
        if kept is None or kept[0] is not summary.meta:
            name = source_name(summary.meta.created_at, summary.meta.name)
            known[discussion_id] = (summary.meta, name)
    return {known[discussion_id][1]: discussion_id for discussion_id in summaries}


def _trash_names(trash: tuple[TrashItem, ...]) -> dict[str, str]:
    made = ((item, time_of_id(item.discussion_id)) for item in trash)
    return {source_name(at, item.name): item.discussion_id for item, at in made if at is not None}


# The model that reads conversations and items, in words: why it cannot, and who gets to see what it reads.


def reader_fault(state: AppState) -> str:
    """Reason why the model that would read cannot, with the remedy; empty when it can."""
    provider, model = harvest_reader(state)
    status = state.config.providers.get(provider)
    if status is None:
        return (
            tr("There is no provider {provider!r}: choose another model.", provider=provider)
            if state.config.providers
            else ""
        )
    if not status.is_ready:
        return status.advice or tr(
            "{label} is not ready: choose another model or set the provider up.", label=status.label
        )
    return "" if model else tr("{label} has no model: choose another model.", label=status.label)


def where_it_goes(state: AppState) -> str:
    """Words for who gets to see the conversations."""
    provider, _ = harvest_reader(state)
    status = state.config.providers.get(provider)
    if status is not None and status.kind is ProviderKind.EMBEDDED:
        return tr("The conversations stay on this machine.")
    return tr(
        "The conversations go to {provider}, without the secrets in them.",
        provider=selection.provider_label(state, provider),
    )
