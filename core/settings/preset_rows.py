"""The rows of a preset in the project's file: which of them stay as the person wrote them, and their TOML text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from core.settings.preset_table import ITEM_KEYS, item_table, read_item
from core.settings.toml_arrays import array_elements
from core.settings.toml_edit import dotted, inline, remove_key, set_value
from core.settings.toml_places import Place, statements
from core.values.curation import FileItem

INDENT = "\n    "


class PresetRow(msgspec.Struct, frozen=True):
    """A row as it will stand.

    Args:
        data: its TOML data; old_index: the row of the file that it was, or None; is_same: unchanged, so that its
            text stays.
    """

    data: Any
    old_index: int | None
    is_same: bool


def plan_rows(old: Sequence[Any], items: Iterable[FileItem]) -> tuple[PresetRow, ...]:
    """Match items with the rows of the file by path, so that what a person added to a row stays with it.

    Args:
        old: the rows as plain data; items: what the preset holds now.
    """
    free: dict[str, list[int]] = {}
    for index, row in enumerate(old):
        free.setdefault(_path_of(row), []).append(index)
    rows = []
    for item in items:
        matches = free.get(item.path, [])
        if not matches:
            rows.append(PresetRow(item_table(item), None, is_same=False))
            continue
        index = next((i for i in matches if read_item(old[i]) == item), matches[0])
        matches.remove(index)
        is_same = read_item(old[index]) == item
        rows.append(PresetRow(old[index] if is_same else _merged(old[index], item), index, is_same=is_same))
    return tuple(rows)


def is_unchanged(old: Sequence[Any], rows: Sequence[PresetRow]) -> bool:
    """True if the rows are those of the file, in its order."""
    return len(old) == len(rows) and all(row.is_same and row.old_index == i for i, row in enumerate(rows))


def _path_of(row: Any) -> str:
    path = row.get("path", "") if isinstance(row, Mapping) else row
    return path if isinstance(path, str) else ""


def _merged(old: Any, item: FileItem) -> dict[str, Any]:
    """The item's keys in the file's order, new ones behind, keys that the program does not know kept."""
    new = item_table(item)
    if not isinstance(old, Mapping):
        return new
    kept = {key: new.get(key, value) for key, value in old.items() if key in new or key not in ITEM_KEYS}
    return {**kept, **{key: value for key, value in new.items() if key not in kept}}


def array_text(old: str, rows: Sequence[PresetRow]) -> str:
    """An array of rows, one a line. Comments that stand in the file's array keep their places by its rows.

    Args:
        old: TOML of the array in the file, empty where there is none.
    """
    elements, last = array_elements(old) if old else ((), ())
    lines: list[str] = []
    carried: list[str] = []
    used = {row.old_index for row in rows}
    orphans = {i: element.above for i, element in enumerate(elements) if i not in used}
    done = 0
    for row in rows:
        element = elements[row.old_index] if row.old_index is not None else None
        text = element.text if element is not None and row.is_same else inline(row.data)
        if element is not None and row.old_index is not None:
            while done < row.old_index:
                carried += orphans.pop(done, [])
                done += 1
            lines += [*carried, *element.above]
            carried = []
        trailing = element.behind if element is not None else ""
        lines.append(f"{text},{' ' + trailing if trailing else ''}")
    lines += [comment for index in sorted(orphans) for comment in orphans[index]]
    lines += [*carried, *last]
    return "[" + "".join(INDENT + line for line in lines) + ("\n]" if lines else "]")


def tables_text(name: str, blocks: Sequence[str], rows: Sequence[PresetRow]) -> str:
    """The same rows as `[[presets.<name>.items]]` tables; tables that stay keep their text.

    Args:
        name: of the preset; blocks: the text of each table in the file, header included.
    """
    return "\n".join(_table_text(name, blocks, row).rstrip() + "\n" for row in rows)


def _table_text(name: str, blocks: Sequence[str], row: PresetRow) -> str:
    place: Place = ("presets", name, "items", 0)
    block = f"[[{dotted(place)}]]\n" if row.old_index is None else blocks[row.old_index]
    if row.is_same:
        return block
    old = {statement.place[-1] for statement in statements(block) if not statement.is_header}
    for key in old - set(row.data):
        block = remove_key(block, (*place, key))
    for key, value in row.data.items():
        block = set_value(block, (*place, key), inline(value))
    return block
