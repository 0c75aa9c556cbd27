"""Context presets between TOML tables and values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.base.text import clean
from core.settings.checks import Flaw, unknown_keys, value_flaw
from core.settings.schema import ITEM_SETTINGS
from core.settings.toml_places import Place
from core.values.curation import FileItem, FileMode, LineRange, Preset

MAX_NAME_CHARS = 80
MAX_ITEMS = 10_000

_PREFIX = "presets.<name>.items."
_PLAIN = {s.key.removeprefix(_PREFIX): s for s in ITEM_SETTINGS if not s.key.endswith(("slices", "symbols"))}
ITEM_KEYS = tuple(setting.key.removeprefix(_PREFIX) for setting in ITEM_SETTINGS)
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?")


def name_flaw(name: str) -> str:
    """Reason why a text cannot name a preset, a persona or a system prompt, empty where it can."""
    if not name.strip():
        return "a name must not be empty"
    if len(name) > MAX_NAME_CHARS:
        return f"a name has at most {MAX_NAME_CHARS} characters, not {len(name)}"
    if not name.isprintable():
        return "a name must not hold line ends or control characters"
    return ""


def read_presets(data: Any) -> tuple[dict[str, Preset], list[Flaw]]:
    """Read `[presets]`.

    Args:
        data: the parsed table of tables, or whatever stands there instead.

    Returns:
        The presets without a grave flaw, in file order, and the flaws.
    """
    presets: dict[str, Preset] = {}
    flaws: list[Flaw] = []
    if not isinstance(data, Mapping):
        return {}, [Flaw(("presets",), "presets must be tables ([presets.<name>])")]
    for name, table in data.items():
        preset, found = read_preset(name, table)
        flaws += found
        if preset is not None:
            presets[name] = preset
    return presets, flaws


def read_preset(name: str, table: Any) -> tuple[Preset | None, list[Flaw]]:
    """Read one preset. Returns None in its place where a flaw is grave."""
    place: Place = ("presets", name)
    shown = f"presets.{name}"
    if reason := name_flaw(name):
        return None, [Flaw(place, f"{shown}: {reason}")]
    if not isinstance(table, Mapping):
        return None, [Flaw(place, f"{shown} must be a table with items")]
    rows = table.get("items", [])
    if not isinstance(rows, list) or len(rows) > MAX_ITEMS:
        return None, [Flaw((*place, "items"), f"{shown}.items must be a list of at most {MAX_ITEMS:,} files")]
    flaws = unknown_keys(table, ("items",), place, shown)
    items: list[FileItem] = []
    for index, row in enumerate(rows):
        item, found = _read_item(row, (*place, "items", index), f"{shown}.items[{index}]")
        flaws += found
        if item is not None:
            items.append(item)
    is_whole = not any(flaw.is_grave for flaw in flaws)
    return (Preset(name, tuple(items)) if is_whole else None), flaws


def _read_item(row: Any, place: Place, shown: str) -> tuple[FileItem | None, list[Flaw]]:
    if isinstance(row, str):
        row = {"path": row}
    if not isinstance(row, Mapping):
        return None, [Flaw(place, f'{shown} must be a path or a table ({{ path = "…" }})')]
    flaws = unknown_keys(row, ITEM_KEYS, place, shown)
    for key, setting in _PLAIN.items():
        if key in row and (reason := value_flaw(setting, row[key])):
            flaws.append(Flaw((*place, key), f"{shown}.{key} {reason}"))
    if "path" not in row:
        flaws.append(Flaw(place, f"{shown} has no path"))
    slices = _read_slices(row.get("slices", []))
    if slices is None:
        flaws.append(
            Flaw((*place, "slices"), f"{shown}.slices must be pairs of lines from 1 up ([[1, 20], [40, 60]])")
        )
    symbols = row.get("symbols", [])
    if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
        flaws.append(Flaw((*place, "symbols"), f"{shown}.symbols must be a list of names"))
    if any(flaw.is_grave for flaw in flaws):
        return None, flaws
    return _item(row, slices or (), tuple(clean(symbol) for symbol in symbols)), flaws


def _item(row: Mapping[str, Any], slices: tuple[LineRange, ...], symbols: tuple[str, ...]) -> FileItem:
    return FileItem(
        path=clean(row["path"]),
        mode=FileMode(row.get("mode", FileMode.WHOLE)),
        slices=slices,
        symbols=symbols,
        notes=clean(row.get("notes", "")),
        pinned=row.get("pinned", False),
        enabled=row.get("enabled", True),
        include_ignored=row.get("include_ignored", False),
    )


def _read_slices(rows: Any) -> tuple[LineRange, ...] | None:
    if not isinstance(rows, list):
        return None
    ranges = [_read_range(row) for row in rows]
    return None if None in ranges else tuple(found for found in ranges if found is not None)


def _read_range(row: Any) -> LineRange | None:
    if isinstance(row, str) and (found := _RANGE.fullmatch(row)):
        row = [int(found[1]), int(found[2] or found[1])]
    if not isinstance(row, list) or len(row) != 2:
        return None
    first, last = row
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        return None
    return LineRange(first, last)


def read_item(row: Any) -> FileItem | None:
    """One row of a preset as a value, or None where it is flawed."""
    return _read_item(row, (), "")[0]


def item_table(item: FileItem) -> dict[str, Any]:
    """An item as TOML data: what is a default is left out, the order of keys is fixed."""
    table: dict[str, Any] = {"path": item.path}
    if item.mode is not FileMode.WHOLE:
        table["mode"] = item.mode.value
    if item.slices:
        table["slices"] = [[part.first, part.last] for part in item.slices]
    if item.symbols:
        table["symbols"] = list(item.symbols)
    if item.notes:
        table["notes"] = item.notes
    if item.pinned:
        table["pinned"] = True
    if not item.enabled:
        table["enabled"] = False
    if item.include_ignored:
        table["include_ignored"] = True
    return table
