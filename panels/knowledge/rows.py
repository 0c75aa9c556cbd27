"""The rows of the Knowledge panel's list, pure: sections, newest first, filtered, as far as they are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from core.knowledge import categories as names
from core.knowledge.search import folded, query_words
from core.values.knowledge import Category, CategoryFile, Item, KnowledgeState, NoteFile
from panels.base.memo import Memo
from panels.knowledge.view import FIRST_SHOWN, ItemDraft, KnowledgeView, NewDraft

SECTIONS: tuple[tuple[Category, str, str], ...] = (
    (Category.TASKS_OPEN, "Open tasks", "list-check"),
    (Category.TASKS_DONE, "Done tasks", "circle-check"),
    (Category.QUESTIONS, "Questions", "circle-question"),
    (Category.DECISIONS, "Decisions", "scale-balanced"),
    (Category.FACTS, "Facts", "lightbulb"),
    (Category.PLAYBOOKS, "Playbooks", "list-ol"),
    (Category.FILES, "Notes on files", "file-lines"),
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
    """Stands before the sections while nothing is known: what this is, and how it is filled."""


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
    if names.FILE_OF[category] != names.TASKS:
        return items
    return memo.get(
        ("known tasks", category), (items,), lambda: tuple(i for i in items if i.category is category)
    )


def counts(knowledge: KnowledgeState, memo: Memo) -> dict[Category, int]:
    """Number of items in each category."""
    return {category: len(items_of(knowledge, memo, category)) for category, _, _ in SECTIONS}


def _file(knowledge: KnowledgeState, category: Category) -> CategoryFile:
    wanted = names.FILE_OF[category]
    return next((f for f in knowledge.categories if f.name == wanted), CategoryFile(wanted))


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
        file = CategoryFile("") if category is Category.FILES else _file(knowledge, category)
        name = file.name if file.data or file.problem else ""
        if words and not matching and form is None:
            continue
        is_open = category.value not in view.closed
        rows.append(
            KnowledgeHeading(
                category, title, icon, total, matching if words else None, is_open, name, file.problem
            )
        )
        if form is not None:
            forms[category] = len(rows)
            rows.append(form)
        if is_open:
            rows += _cut(category.value, body, view)
    if not (count or words or view.new):
        rows.insert(0, Nothing())
    return Listing(tuple(rows), forms, count, found)


def _cut(section: str, body: Sequence[Row], view: KnowledgeView) -> Sequence[Row]:
    limit = view.shown.get(section, FIRST_SHOWN)
    if len(body) <= limit:
        return body
    return (*body[:limit], More(section, limit, len(body) - limit))


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
