"""Writing of an apply's parts, and taking them back, below the knowledge directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, append_file, make_dirs, remove_file, write_file
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.values.knowledge import Item, Placed
from core.knowledge.categories import find_item, parse_file, with_tag
from core.knowledge.evidence_rows import struck
from core.knowledge.file_writer import change_file, cut_bytes, read_bytes
from core.knowledge.parts import (
    BlockPlan,
    DraftPlan,
    PartPlan,
    PatchPlan,
    RowPlan,
    SwapPlan,
    patched,
    rows_data,
    with_new_blocks,
    with_part,
    without_part,
)


def at_once(parts: Iterable[PartPlan]) -> Iterator[tuple[PartPlan, ...]]:
    """The parts in their order, those together that one rewrite of their file takes in."""
    pending: list[PartPlan] = []
    for part in parts:
        may_join = isinstance(part, BlockPlan | SwapPlan)
        if pending and not (may_join and pending[-1].name == part.name):
            yield tuple(pending)
            pending.clear()
        if may_join:
            pending.append(part)
        else:
            yield (part,)
    if pending:
        yield tuple(pending)


def write_parts(home: Path, parts: tuple[PartPlan, ...], *, disk: Disk = OS_DISK) -> None:
    """Write parts that are new, which `at_once` gave: nothing of them can be there.

    Raises:
        StorageError: some of it may be missing; `ensure_part` adds what is.
    """
    part = parts[0]
    path = paths.knowledge_dir(home) / part.name
    if isinstance(part, RowPlan) and part.rows:
        make_dirs(path.parent, disk=disk)
        append_file(path, rows_data(part.rows), disk=disk)
    elif isinstance(part, BlockPlan | SwapPlan):
        make_dirs(path.parent, disk=disk)
        change_file(path, lambda data: reduce(_with_new, parts, data), disk=disk)
    elif isinstance(part, PatchPlan):
        change_file(path, lambda data: _whole(path, part, data), disk=disk)
    else:
        ensure_part(home, part, disk=disk)


def ensure_part(home: Path, part: PartPlan, *, disk: Disk = OS_DISK) -> None:
    """Have a part on disk, once. May be asked again after a crash.

    Raises:
        StorageError: some of it may be missing; the file is whole.
    """
    path = paths.knowledge_dir(home) / part.name
    make_dirs(path.parent, disk=disk)
    change_file(path, lambda data: with_part(data, part), disk=disk)


def take_part_back(home: Path, part: PartPlan, *, disk: Disk = OS_DISK) -> tuple[str, ...]:
    """Have nothing of a part on disk; what a person changed since stays.

    Returns:
        The texts that were changed or removed since.

    Raises:
        StorageError: some of it may be there still; ask again.
    """
    path = paths.knowledge_dir(home) / part.name
    if not path.exists():
        return ()
    if (
        isinstance(part, RowPlan)
        and not part.stays
        and cut_bytes(path, read_bytes(path), rows_data(part.rows), disk=disk)
    ):
        return ()
    if isinstance(part, DraftPlan):
        return _remove_draft(path, part, disk)
    left: list[tuple[str, ...]] = []

    def change(data: bytes) -> bytes:
        rest, texts = without_part(data, part)
        left.append(texts)
        return rest

    change_file(path, change, disk=disk)
    return left[-1]


def _with_new(data: bytes, part: PartPlan) -> bytes:
    return with_new_blocks(data, part) if isinstance(part, BlockPlan) else with_part(data, part)


def _whole(path: Path, part: PatchPlan, data: bytes) -> bytes:
    """The file with all of a patch. Raises StorageError: some of its lines are not there any more."""
    made, left = patched(data, part.hunks)
    if left:
        raise StorageError(
            tr("{name} has changed: the text to replace is gone or different now", name=part.name),
            remedy=tr("Look at the present version and repeat the change"),
            where=str(path),
        )
    return made


def _remove_draft(path: Path, part: DraftPlan, disk: Disk) -> tuple[str, ...]:
    left = without_part(read_bytes(path), part)[1]
    if not left:
        remove_file(path, disk=disk)
    return left


# Versions of a category file: how it was before each of the last ten merges. Of the digest: how another hand wrote it.

FOLDER = "versions"
KEPT_VERSIONS = 10
"""Versions that are kept of each file."""


def version_path(home: Path, name: str, apply_id: str) -> Path:
    """Path of a category file as it was before an apply."""
    return paths.knowledge_dir(home) / FOLDER / Path(name).stem / f"{apply_id}.md"


def versions(home: Path, name: str) -> tuple[Path, ...]:
    """Kept versions of a file, the newest first."""
    folder = version_path(home, name, "").parent
    return tuple(sorted(folder.glob("*.md"), reverse=True)) if folder.is_dir() else ()


def version_names(home: Path) -> Iterator[tuple[str, str]]:
    """Every kept version of a category file: its name below the knowledge directory, and the file that it was."""
    for path in sorted((paths.knowledge_dir(home) / FOLDER).glob("*/*.md")):
        if path.parent.name != "digest":
            yield f"{FOLDER}/{path.parent.name}/{path.name}", f"{path.parent.name}.md"


def keep_version(home: Path, name: str, apply_id: str, data: bytes, *, disk: Disk = OS_DISK) -> Path:
    """Keep a file as it is now; of older ones the last ten stay.

    Raises:
        StorageError: it was not kept.
    """
    path = version_path(home, name, apply_id)
    make_dirs(path.parent, disk=disk)
    write_file(path, data, disk=disk)
    for old in versions(home, name)[KEPT_VERSIONS:]:
        remove_file(old, disk=disk)
    return path


# Known items that new ones replace: struck through where they stand, so that an undo can bring them back.


def swaps_of(home: Path, placed: Iterable[Placed], day: str) -> dict[Placed, SwapPlan]:
    """The lines that are struck through, by the new item that replaces each; an item is replaced once.

    Args:
        day: `YYYY-MM-DD`, of the pointer.

    Raises:
        StorageError: a file cannot be read.
    """
    found: dict[Placed, SwapPlan] = {}
    for one in placed:
        known = one.raw.replaces
        if known is None or not one.is_new:
            continue
        before = _lines(home, known.item)
        if before and before not in {swap.before for swap in found.values()}:
            after = f"- {with_tag(struck(known.item.text, one.item.text, day), known.item.provenance)}"
            found[one] = SwapPlan(name=known.item.file, before=before, after=after)
    return found


def _lines(home: Path, wanted: Item) -> str:
    """An item's lines as they stand now, empty where it is gone or is no text."""
    data = read_bytes(paths.knowledge_dir(home) / wanted.file)
    item = find_item(parse_file(wanted.file, data), wanted)
    if item is None:
        return ""
    lines = data.split(b"\n")[item.first_line - 1 : item.last_line]
    try:
        return "\n".join(line.removesuffix(b"\r").decode() for line in lines).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return ""
