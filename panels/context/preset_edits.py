"""Changes of a preset's items, and what is known of each item's files. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec.structs import replace

from core.kernel.values.curation import FileItem, FileMode, ItemFiles, LineRange, Preset
from core.kernel.values.stack import ContextReport, LayerId
from core.kernel.values.state import AppState
from core.talk.context.context_messages import ChangePreset, CreatePreset
from core.talk.context.curated_files import DEFAULT_PRESET, free_name
from panels.base.desk import Desk
from panels.base.selection import Memo


def change_item(desk: Desk, preset: Preset, item: FileItem, changed: FileItem) -> None:
    """Replace one item of a preset. Sends ChangePreset."""
    items = tuple(changed if known is item else known for known in preset.items)
    desk.send(ChangePreset(name=preset.name, items=items))


def move_item(desk: Desk, preset: Preset, index: int, target: int) -> None:
    """Put the item at `index` at `target`. Sends ChangePreset."""
    items = list(preset.items)
    if 0 <= index < len(items) and 0 <= target < len(items) and index != target:
        items.insert(target, items.pop(index))
        desk.send(ChangePreset(name=preset.name, items=tuple(items)))


def remove_item(desk: Desk, preset: Preset, item: FileItem) -> None:
    """Take an item out of a preset. Sends ChangePreset."""
    desk.send(
        ChangePreset(name=preset.name, items=tuple(known for known in preset.items if known is not item))
    )


def add_paths(desk: Desk, preset: Preset | None, paths: tuple[str, ...]) -> None:
    """Add files or globs that are not in the preset yet; without a preset, make one and use it."""
    root = desk.state.config.project.root
    known = {item.path for item in preset.items} if preset else set()
    fresh = dict.fromkeys(project_path(path, root) for path in paths)
    add_items(desk, preset, tuple(FileItem(path=path) for path in fresh if path and path not in known))


def add_items(desk: Desk, preset: Preset | None, items: tuple[FileItem, ...]) -> None:
    """Add items to a preset; without one, make one and use it. Sends ChangePreset, CreatePreset."""
    if not items:
        return
    if preset is not None:
        desk.send(ChangePreset(name=preset.name, items=(*preset.items, *items)))
        return
    name = free_name(desk.state.config.project.presets, DEFAULT_PRESET)
    desk.send(CreatePreset(name=name, items=items))  # the selected discussion uses it, where it comes about


def project_path(path: str, root: str) -> str:
    """A path as a preset keeps it: POSIX, relative to the project's root where it lies inside."""
    text = path.strip().strip("\"'")
    if not text:
        return ""
    pure = PurePath(text)
    if root and pure.is_absolute() and pure.is_relative_to(root):
        pure = pure.relative_to(root)
    return pure.as_posix()


def files_by_path(state: AppState, memo: Memo, preset: str) -> Mapping[str, ItemFiles]:
    """Files that each item of a preset stands for, by the item's path."""
    files = state.context.files.get(preset, ())
    return memo.get(("files", preset), (files,), lambda: {entry.item.path: entry for entry in files})


def tokens_by_file(memo: Memo, report: ContextReport | None) -> Mapping[str, int]:
    """Estimated tokens that each file takes in the context as it would be sent, by its path."""
    layer = (
        next((known for known in report.layers if known.layer is LayerId.FILE_DETAILS), None)
        if report
        else None
    )
    if layer is None:
        return {}
    segments = layer.segments
    return memo.get(
        "tokens by file", (segments,), lambda: {s.key.partition("/")[2]: s.tokens_est for s in segments}
    )


def item_tokens(item: FileItem, files: ItemFiles | None, sent: Mapping[str, int]) -> int | None:
    """Tokens of an item: as it is sent where the stack says so, else whole files, None while not counted."""
    if files is None:
        return None
    paths = [file.path for file in files.files]
    if paths and all(path in sent for path in paths):
        return sum(sent[path] for path in paths)
    if item.mode is not FileMode.WHOLE:
        return None
    counted = [file.tokens for file in files.files if file.problem is None]
    return None if None in counted else sum(tokens or 0 for tokens in counted)


def item_problem(item: FileItem, files: ItemFiles | None) -> str:
    """Fault of an item in a sentence, empty when all is well or nothing is known yet."""
    if files is None:
        return ""
    if files.problem is not None:
        return files.problem.detail
    bad = [file for file in files.files if file.problem is not None]
    if not bad:
        return ""
    first = bad[0].problem
    assert first is not None
    return (
        first.detail
        if not item.is_glob
        else f"{len(bad)} of {len(files.files)} files cannot be read: {first.detail}"
    )


def with_symbol(item: FileItem, symbol: str, *, is_ticked: bool) -> FileItem:
    """The item with a symbol ticked or not; a whole file becomes one of slices at its first tick."""
    symbols = tuple(s for s in item.symbols if s != symbol) + ((symbol,) if is_ticked else ())
    mode = FileMode.SLICES if is_ticked and item.mode is not FileMode.SLICES else item.mode
    return replace(item, symbols=symbols, mode=mode)


def with_lines(item: FileItem, lines: LineRange) -> FileItem:
    """The item with some lines sent of it; a whole file has them already."""
    if item.mode is FileMode.WHOLE:
        return item
    if item.mode is FileMode.SLICES and any(
        one.first <= lines.first and lines.last <= one.last for one in item.slices
    ):
        return item
    return replace(item, mode=FileMode.SLICES, slices=(*item.slices, lines))


# Line ranges as a person types them: `10-40, 55`.

_RANGE = re.compile(r"(\d{1,9})(?:\s*(?:-|–|:|\.\.)\s*(\d{1,9}))?")


def parse_lines(text: str) -> tuple[tuple[LineRange, ...], str]:
    """Read line ranges.

    Returns:
        The ranges sorted, overlapping ones joined; and what is wrong in a sentence, empty when all is well.
    """
    ranges = []
    for piece in (p.strip() for p in re.split(r"[,;\n]", text) if p.strip()):
        found = _RANGE.fullmatch(piece)
        if found is None:
            return (), f"{piece!r} is no range of lines; write 10-40, 55"
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last:
            return (), f"{piece!r} must start at 1 or later and end after it starts"
        ranges.append(LineRange(first, last))
    return _joined(sorted(ranges)), ""


def _joined(ranges: list[LineRange]) -> tuple[LineRange, ...]:
    out: list[LineRange] = []
    for one in ranges:
        if out and one.first <= out[-1].last + 1:
            out[-1] = LineRange(out[-1].first, max(out[-1].last, one.last))
        else:
            out.append(one)
    return tuple(out)


def format_lines(ranges: tuple[LineRange, ...]) -> str:
    """The ranges as they are typed."""
    return ", ".join(str(r.first) if r.first == r.last else f"{r.first}-{r.last}" for r in ranges)
