"""The tables of a project's file as values: checked, whether they count or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from core.kernel.codecs import from_builtins
from core.kernel.figures import first_of
from core.kernel.frame import clean, one_line
from core.kernel.language import spliced, tr
from core.kernel.patterns import late
from core.kernel.values.curation import FileItem, FileMode, LineRange, Preset
from core.kernel.values.settings import Policies, PolicyAnswer, ProjectPolicies, ToolSettings
from core.services.settings.settings_checks import (
    ANSWERS,
    SECRET_NAMES,
    Flaw,
    is_mcp_key,
    setting_for,
    unknown_keys,
    value_flaw,
)
from core.services.settings.settings_schema import ITEM_SETTINGS, VENDORS, SettingScope, Value
from core.services.settings.toml_document import (
    Place,
    array_elements,
    dotted,
    inline,
    remove_key,
    set_value,
    statements,
)


class TextSource(msgspec.Struct, frozen=True):
    """A text that stands in the project's file (`text`), or in a file that it names (`file`)."""

    name: str
    text: str = ""
    file: str = ""


class ProjectTables(msgspec.Struct, frozen=True):
    """Tables of a `manual_slop.toml`, checked, whether they count or not. Paths as they were written.

    Args:
        prompts: texts of the project's own prompt files by name, which stand beside its file and not in it.
    """

    name: str = ""
    domain: str = ""
    context: tuple[TextSource, ...] = ()
    has_identity: bool = True
    memory: tuple[str, ...] = ()
    allowed_roots: tuple[str, ...] = ()
    presets: Mapping[str, Preset] = msgspec.field(default_factory=dict)
    personas: Mapping[str, TextSource] = msgspec.field(default_factory=dict)
    system_prompts: Mapping[str, TextSource] = msgspec.field(default_factory=dict)
    values: Mapping[str, Value] = msgspec.field(default_factory=dict)
    prompts: Mapping[str, str] = msgspec.field(default_factory=dict)
    raw: Mapping[str, Any] = msgspec.field(default_factory=dict)


# Rules for what a project's file may never have, and what it asks for in spite of them, in sentences.

_SHOWN = 5
_ASKING = frozenset({"ask", "refuse", "deny", "never", "off", False})


def held_back(data: ProjectTables, own_servers: Iterable[str]) -> tuple[str, ...]:
    """Say what of a project's file never counts, trusted or not. What it may have is in `asked_values`.

    Args:
        data: the file as read; own_servers: the person's servers as `server_of` names them, which a project cannot change.
    """
    taken = frozenset(own_servers)
    refused = [key for key in data.values if not may_set(key, taken) and not _may_tighten(key)]
    twins = sorted({key.split(".")[2] for key in refused if is_mcp_key(key) and server_of(key) in taken})
    own = [key for key in refused if server_of(key) not in taken and not key.startswith("providers.")]
    servers = sorted({key.split(".")[1] for key in refused if key.startswith("providers.")})
    said = [
        tr("The project asks to change the Hook API; no project may do that.") if "hooks" in data.raw else "",
        tr("The project's file holds a key, which the program does not use. Remove the key from the file.")
        if _holds_secret(data.raw)
        else "",
        tr("The project loosens approvals of tools; no project may do that.")
        if _loosens(data.raw.get("tools"))
        else "",
        _named(tr("The project changes settings that only you may change"), own),
        _named(tr("The project changes your providers or a vendor's; no project may do that"), servers),
        _named(
            tr("The project has MCP servers with your servers' names; the program uses only yours"), twins
        ),
    ]
    return tuple(sentence for sentence in said if sentence)


def may_set(key: str, own_servers: frozenset[str]) -> bool:
    """True if a project may set this key, once a person was shown it."""
    setting = setting_for(key)
    if setting is None or setting.scope in {SettingScope.USER, SettingScope.TIGHTENED}:
        return False
    name = server_of(key)
    return not name or (name not in VENDORS and name not in own_servers)


def server_of(key: str) -> str:
    """The server that a key is of: a provider's id, `mcp.servers.NAME` of an MCP server, empty for other keys."""
    parts = key.split(".")
    if parts[0] == "providers":
        return parts[1]
    return ".".join(parts[:3]) if is_mcp_key(key) else ""


def _may_tighten(key: str) -> bool:
    """True if a project's word for this key counts where it is the stricter one."""
    setting = setting_for(key)
    return setting is not None and setting.scope is SettingScope.TIGHTENED


def _named(title: str, names: Iterable[str]) -> str:
    listed = [one_line(name, 120) for name in names]
    if not listed:
        return ""
    count = f" ({len(listed)})" if len(listed) > 1 else ""
    return spliced("{}{}: {}.", title, count, first_of(listed, _SHOWN))


def _holds_secret(node: Any) -> bool:
    """True if a key that names a secret holds a text, below the tables that hold settings."""
    if isinstance(node, Mapping):
        return any(
            (name.lower() in SECRET_NAMES and isinstance(value, str) and value != "") or _holds_secret(value)
            for name, value in node.items()
            if name not in {"presets", "personas", "system_prompts"}
        )
    return isinstance(node, list) and any(_holds_secret(item) for item in node)


def _loosens(tools: Any) -> bool:
    """True if a `[tools]` table holds a policy that is not one of asking or refusing."""
    if isinstance(tools, Mapping):
        return any(_loosens(value) for value in tools.values())
    return isinstance(tools, str | bool) and tools not in _ASKING


# Policies that count in a folder: the person's own, nearest folder first, under what the project's file
# tightens.

_STRICTNESS = tuple(PolicyAnswer)


def policies_at(
    tools: ToolSettings,
    root: str,
    project: Mapping[str, Value],
    resolved: Callable[[str], str],
    *,
    is_unread: bool = False,
) -> Policies:
    """Policies of a project's folder. Pure but for `resolved`.

    Args:
        is_unread: a file that may hold policies cannot be read: nothing goes without a question.
        root: absolute, links resolved; project: values of its file by dotted key, trusted or not: they only tighten.
        resolved: a folder as the person wrote it, as an absolute path without links.
    """
    said: dict[str, Any] = {name: getattr(tools, name) for name in Policies.__struct_fields__}
    found = ((PurePath(resolved(folder)), rows) for folder, rows in tools.folders.items())
    above = [row for row in found if PurePath(root).is_relative_to(row[0])]
    for _, of_folder in sorted(above, key=lambda row: len(row[0].parts)):
        said |= of_folder
    answers = {name: project.get(f"tools.{name}") for name in ANSWERS}
    said["shown"] = [resolved(_from(root, place)) for place in said["shown"]]
    own = from_builtins(said, Policies)
    if is_unread:
        own = tightened(own, ProjectPolicies(**dict.fromkeys(ANSWERS, PolicyAnswer.ASK)))
    return tightened(own, from_builtins(answers, ProjectPolicies))


def tightened(own: Policies, project: ProjectPolicies) -> Policies:
    """A person's policies under what the project's file says: the stricter of both, rules dropped where it asks."""

    def stricter(ours: PolicyAnswer, theirs: PolicyAnswer | None) -> PolicyAnswer:
        return max(ours, theirs or ours, key=_STRICTNESS.index)

    return Policies(
        reads=stricter(own.reads, project.reads),
        edits=stricter(own.edits, project.edits),
        commands=stricter(own.commands, project.commands),
        network=stricter(own.network, project.network),
        prefixes=own.prefixes if project.commands in {None, PolicyAnswer.ALLOW} else (),
        hosts=own.hosts if project.network in {None, PolicyAnswer.ALLOW} else (),
        shown=own.shown,
    )


def _from(root: str, place: str) -> str:
    """A place as it was written, from the project's folder where it says no other."""
    return (
        place
        if place.startswith(("~", "/", "\\")) or PurePath(place).is_absolute()
        else str(PurePath(root) / place)
    )


# Context presets between TOML tables and values.

MAX_NAME_CHARS = 80
MAX_ITEMS = 10_000

_PREFIX = "presets.<name>.items."
_PLAIN = {s.key.removeprefix(_PREFIX): s for s in ITEM_SETTINGS if not s.key.endswith(("slices", "symbols"))}
ITEM_KEYS = tuple(setting.key.removeprefix(_PREFIX) for setting in ITEM_SETTINGS)
_RANGE = late(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?")


def name_flaw(name: str) -> str:
    """Reason why a text cannot name a preset, a persona or a system prompt, empty where it can."""
    if not name.strip():
        return tr("a name must not be empty")
    if len(name) > MAX_NAME_CHARS:
        return tr(
            "a name has at most {MAX_NAME_CHARS} characters, not {name}",
            MAX_NAME_CHARS=MAX_NAME_CHARS,
            name=len(name),
        )
    if not name.isprintable():
        return tr("a name must not hold line breaks or control characters")
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
        return {}, [Flaw(place=("presets",), reason=tr("presets must be tables ([presets.<name>])"))]
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
        return None, [Flaw(place=place, reason=spliced("{}: {}", shown, reason))]
    if not isinstance(table, Mapping):
        return None, [Flaw(place=place, reason=tr("{shown} must be a table with items", shown=shown))]
    rows = table.get("items", [])
    if not isinstance(rows, list) or len(rows) > MAX_ITEMS:
        return None, [
            Flaw(
                place=(*place, "items"),
                reason=tr(
                    "{shown}.items must be a list of at most {MAX_ITEMS:,} files",
                    shown=shown,
                    MAX_ITEMS=MAX_ITEMS,
                ),
            )
        ]
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
        return None, [
            Flaw(place=place, reason=tr('{shown} must be a path or a table ({{ path = "…" }})', shown=shown))
        ]
    flaws = unknown_keys(row, ITEM_KEYS, place, shown)
    for key, setting in _PLAIN.items():
        if key in row and (reason := value_flaw(setting, row[key])):
            flaws.append(Flaw(place=(*place, key), reason=spliced("{}.{} {}", shown, key, reason)))
    if "path" not in row:
        flaws.append(Flaw(place=place, reason=tr("{item} has no path", item=shown)))
    slices = _read_slices(row.get("slices", []))
    if slices is None:
        flaws.append(
            Flaw(
                place=(*place, "slices"),
                reason=tr(
                    "{shown}.slices must be pairs of line numbers from 1 up ([[1, 20], [40, 60]])",
                    shown=shown,
                ),
            )
        )
    symbols = row.get("symbols", [])
    if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
        flaws.append(
            Flaw(place=(*place, "symbols"), reason=tr("{shown}.symbols must be a list of names", shown=shown))
        )
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


# The rows of a preset in the project's file: which of them stay as the person wrote them, and their TOML
# text.

INDENT = "\n    "


class PresetRow(msgspec.Struct, frozen=True):
    """A row of the preset after the change.

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
            rows.append(PresetRow(data=item_table(item), old_index=None, is_same=False))
            continue
        index = next((i for i in matches if read_item(old[i]) == item), matches[0])
        matches.remove(index)
        is_same = read_item(old[index]) == item
        rows.append(
            PresetRow(
                data=old[index] if is_same else _merged(old[index], item), old_index=index, is_same=is_same
            )
        )
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
