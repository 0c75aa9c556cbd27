"""Places of new items: the file and line of each, what is known already left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.knowledge import categories as c
from core.knowledge.duplicates import Known
from core.knowledge.files import file_id_for_path, notes_head
from core.knowledge.wording import item_body, line_of, safe_value
from core.values.knowledge import Category, Item, NewItem, NoteFile, NoteStatus


class FilePlan(msgspec.Struct, frozen=True):
    """Lines for one file. `head`: what it starts with where it is not there."""

    name: str
    head: bytes
    lines: tuple[c.CategoryLine, ...]


class AppendPlan(msgspec.Struct, frozen=True):
    """Plan of an append: lines by file, how many of each category, and what was known already.

    `items`: those that are new, as they will stand in their files.
    """

    files: tuple[FilePlan, ...]
    counts: Mapping[str, int]
    known: tuple[NewItem, ...] = ()
    items: tuple[Item, ...] = ()


def plan_append(items: Iterable[NewItem], known: Known, notes: Iterable[NoteFile]) -> AppendPlan:
    """Decide the lines. Reads only whether paths of notes exist; `known` is left as it is.

    Args:
        items: raw, of one conversation; known: everything that the category files and notes hold.
        notes: the note files there are, settled.
    """
    by_path = {note.path: note for note in notes if note.path}
    taken = {note.file_id: note for note in notes}
    lines: dict[str, list[c.CategoryLine]] = {}
    heads: dict[str, bytes] = {}
    counts = dict.fromkeys((category.value for category in Category), 0)
    repeated: list[NewItem] = []
    fresh = Known()
    for raw in items:
        name, item = _place(raw, by_path, taken)
        body = item_body(item)
        if not body:
            continue
        if any(index.exact(item.category, name, body) is not None for index in (known, fresh)):
            repeated.append(raw)
            continue
        fresh.add([Item(item.category, name, body, item.provenance, c.section_of(item.category))])
        lines.setdefault(name, []).append(c.CategoryLine(line_of(body, item), c.section_of(item.category)))
        heads.setdefault(name, _head(name, raw))
        counts[raw.category.value] += 1
    plans = tuple(FilePlan(name, heads[name], tuple(lines[name])) for name in sorted(lines))
    return AppendPlan(plans, counts, tuple(repeated), tuple(fresh.items))


def _place(
    item: NewItem, by_path: Mapping[str, NoteFile], taken: Mapping[str, NoteFile]
) -> tuple[str, NewItem]:
    """The file of an item; a note on a file that is not there becomes a fact that names it."""
    if item.category is not Category.FILES:
        return c.FILE_OF[item.category], item
    path = item.name
    if (note := by_path.get(path)) is not None:
        return c.note_name(note.file_id), item
    is_named = os.path.isabs(path) and ".." not in Path(path).parts
    file_id = file_id_for_path(path) if is_named else None
    if file_id is not None and (file_id not in taken or taken[file_id].status is NoteStatus.ATTACHED):
        return c.note_name(file_id), item
    shown = safe_value(path)
    text = f"{shown}: {item.text}" if shown and item.text.strip() else item.text
    return c.FACTS, replace(item, category=Category.FACTS, text=text, name="")


def _head(name: str, item: NewItem) -> bytes:
    return notes_head(item.name) if name.startswith(f"{c.NOTES_FOLDER}/") else c.new_file(name)
