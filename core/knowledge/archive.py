"""Items put aside: each in a file beside the category files that no request reads, until a person takes it back.

`knowledge/archive/` has a file for each category file or notes of which something was put aside. Its lines are those of the
item, byte for byte; a person may read and edit them like the others.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, make_dirs
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.values.knowledge import Item
from core.knowledge import categories
from core.knowledge.edits import ItemThereError, delete_item, restore_item
from core.knowledge.file_writer import change_file, read_bytes, write_lock
from core.knowledge.history_text import TO_ARCHIVE
from core.knowledge.knowledge_messages import RestoreItem
from core.knowledge.knowledge_reader import ARCHIVE_FOLDER


def archive_item(home: Path, item: Item, *, disk: Disk = OS_DISK) -> None:
    """Put an item into the archive: written there first, then taken out of its file, so that a kill loses nothing.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written. LockedError: another program
            writes knowledge.
    """
    path = paths.knowledge_dir(home) / ARCHIVE_FOLDER / item.file
    make_dirs(path.parent, disk=disk)

    def kept(now: Item, lines: bytes) -> None:
        def change(data: bytes) -> bytes:
            if categories.find_item(categories.parse_file(item.file, data), now) is not None:
                return data  # a kill came between the two files
            return categories.with_item_back(
                item.file, data or categories.new_file(item.file, path.stem), lines, now.section, -1
            )

        change_file(path, change, disk=disk)

    delete_item(home, item, reason=TO_ARCHIVE, keep=kept, disk=disk)


def take_back(home: Path, item: Item, *, disk: Disk = OS_DISK) -> None:
    """Put an item of the archive back into its file, at the end of its section, and out of the archive then.

    Raises:
        StorageError: it is in the archive no more, or could not be written. LockedError: another program writes knowledge.
    """
    path = paths.knowledge_dir(home) / ARCHIVE_FOLDER / item.file
    data = read_bytes(path)
    now = categories.find_item(categories.parse_file(item.file, data), item)
    if now is None:
        raise StorageError(
            tr("This item is not in the archive any more"),
            remedy=tr("Open the list of archived items again"),
            where=str(path),
        )
    lines = b"\n".join(data.split(b"\n")[now.first_line - 1 : now.last_line]) + b"\n"
    with suppress(ItemThereError):  # it was written anew meanwhile, or a kill came between the two files
        restore_item(home, RestoreItem(item=now, lines=lines, at=-1, sha256=""), disk=disk)

    def without(data: bytes) -> bytes:
        left = categories.find_item(categories.parse_file(item.file, data), item)
        return data if left is None else categories.without_item(data, left)

    with write_lock(home, disk=disk):
        change_file(path, without, disk=disk)
