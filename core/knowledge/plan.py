"""Places of new items: the file and line of each, what is known already left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.knowledge import categories as c
from core.knowledge.duplicates import Known
from core.knowledge.files import file_id_for_path, notes_head
from core.knowledge.wording import item_body, line_of, safe_value
from core.values.knowledge import Category, Item, NewItem, NoteFile, NoteStatus, Placed


class FilePlan(msgspec.Struct, frozen=True):
    """Lines for one file. `head`: what it starts with where it is not there."""

    name: str
    head: bytes
    lines: tuple[c.CategoryLine, ...]


class AppendPlan(msgspec.Struct, frozen=True):
    """Plan of an append: lines by file, how many of each category are new, and where every item went, in order.

    `struck`: known items that were struck through with it, once it is written.
    """

    files: tuple[FilePlan, ...]
    counts: Mapping[str, int]
    placed: tuple[Placed, ...] = ()
    struck: int = 0

    @property
    def known(self) -> tuple[NewItem, ...]:
        """Items that were known already."""
        return tuple(one.raw for one in self.placed if not one.is_new)

    @property
    def items(self) -> tuple[Item, ...]:
        """Those that are new, as they will stand in their files."""
        return tuple(one.item for one in self.placed if one.is_new)


def plan_append(
    items: Iterable[NewItem], known: Known, notes: Iterable[NoteFile], seen: Iterable[NewItem] = ()
) -> AppendPlan:
    """Decide the lines. Reads only whether paths of notes exist; `known` is left as it is.

    Args:
        items: raw, of one conversation; known: everything that the category files and notes hold, and what left them:
            what was forgotten never comes again, what was deleted only by a person's own tick.
        notes: the note files there are, settled; seen: what is not written, and only counts where it is known.
    """
    by_path = {note.path: note for note in notes if note.path}
    taken = {note.file_id: note for note in notes}
    lines: dict[str, list[c.CategoryLine]] = {}
    heads: dict[str, bytes] = {}
    counts = dict.fromkeys((category.value for category in Category), 0)
    placed: list[Placed] = []
    fresh = Known()
    for raw, may_write in chain(((one, True) for one in items), ((one, False) for one in seen)):
        name, item = _place(raw, by_path, taken)
        body = item_body(item)
        if not body or known.is_forgotten(item.category, body):
            continue
        same = known.exact(item.category, name, body) or fresh.exact(item.category, name, body)
        if same is None and not raw.is_confirmed and known.deleted_on(item.category, body):
            continue
        if same is not None:
            placed.append(Placed(raw, same, is_new=False))
        if same is not None or not may_write:
            continue
        new = Item(item.category, name, body, item.provenance, c.section_of(item.category))
        placed.append(Placed(raw, new, is_new=True))
        fresh.add([new])
        lines.setdefault(name, []).append(c.CategoryLine(line_of(body, item), c.section_of(item.category)))
        heads.setdefault(name, _head(name, raw))
        counts[raw.category.value] += 1
    plans = tuple(FilePlan(name, heads[name], tuple(lines[name])) for name in sorted(lines))
    return AppendPlan(plans, counts, tuple(placed))


def _place(
    item: NewItem, by_path: Mapping[str, NoteFile], taken: Mapping[str, NoteFile]
) -> tuple[str, NewItem]:
    """The file of an item; a note on a file that is not there becomes a fact that names it."""
    if item.category is not Category.FILES:
        return c.FILE_OF[item.category], item
    path = item.name
    if (note := by_path.get(path)) is not None:
        return c.note_name(note.file_id), item
    is_named = os.path.isabs(path) and ".." not in Path(path).parts and not item.is_outside
    file_id = file_id_for_path(path) if is_named else None
    if file_id is not None and (file_id not in taken or taken[file_id].status is NoteStatus.ATTACHED):
        return c.note_name(file_id), item
    shown = safe_value(path)
    text = f"{shown}: {item.text}" if shown and item.text.strip() else item.text
    return c.FACTS, replace(item, category=Category.FACTS, text=text, name="")


def _head(name: str, item: NewItem) -> bytes:
    return notes_head(item.name) if name.startswith(f"{c.NOTES_FOLDER}/") else c.new_file(name)
