"""Writing of an apply's parts, and taking them back, below the knowledge directory."""

from __future__ import annotations

from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, append_file, make_dirs, remove_file
from core.base.errors import StorageError
from core.knowledge.file_writer import change_file, cut_bytes, read_bytes
from core.knowledge.hunks import patched
from core.knowledge.parts import (
    BlockPlan,
    DraftPlan,
    PartPlan,
    PatchPlan,
    RowPlan,
    rows_data,
    with_new_blocks,
    with_part,
    without_part,
)


def write_part(home: Path, part: PartPlan, *, disk: Disk = OS_DISK) -> None:
    """Write a part that is new: nothing of it can be there.

    Raises:
        StorageError: some of it may be missing; `ensure_part` adds what is.
    """
    path = paths.knowledge_dir(home) / part.name
    if isinstance(part, RowPlan) and part.rows and _ends_whole(path):
        make_dirs(path.parent, disk=disk)
        append_file(path, rows_data(part.rows), disk=disk)
    elif isinstance(part, BlockPlan):
        make_dirs(path.parent, disk=disk)
        change_file(path, lambda data: with_new_blocks(data, part), disk=disk)
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


def _whole(path: Path, part: PatchPlan, data: bytes) -> bytes:
    """The file with all of a patch. Raises StorageError: some of its lines are not there any more."""
    made, left = patched(data, part.hunks)
    if left:
        raise StorageError(
            f"{part.name} has changed: what was to be replaced does not stand there any more as it was shown",
            remedy="Look at it again and repeat the change",
            where=str(path),
        )
    return made


def _remove_draft(path: Path, part: DraftPlan, disk: Disk) -> tuple[str, ...]:
    left = without_part(read_bytes(path), part)[1]
    if not left:
        remove_file(path, disk=disk)
    return left


def _ends_whole(path: Path) -> bool:
    """True if a log is missing, empty, or ends with a line's end."""
    data = read_bytes(path)
    return not data or data.endswith(b"\n")
