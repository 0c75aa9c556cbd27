"""A person's own changes to items: each finds its item by what it says, never by where it stood, and rewrites atomically."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.base import paths
from core.base.disk import OS_DISK, Disk, make_dirs
from core.base.errors import StorageError
from core.base.text import clean
from core.evidence.files import add_events
from core.evidence.quotes import item_hash
from core.knowledge import categories as c
from core.knowledge.digest import regenerate_digest
from core.knowledge.file_writer import change_file
from core.knowledge.ledger import timestamp
from core.knowledge.locks import write_lock
from core.knowledge.provenance import format_tag
from core.knowledge.withdrawals import withdrawing
from core.knowledge.wording import item_line, safe_value
from core.values.evidence import ItemEvent, ItemEventKind
from core.values.knowledge import Category, Item, NewItem


def add_item(home: Path, item: NewItem, *, disk: Disk = OS_DISK) -> None:
    """Add an item that a person wrote; one without words is not added. Not for notes, which a harvest places.

    Raises:
        StorageError: it was not added. LockedError: another program writes knowledge.
    """
    name = c.FILE_OF[item.category]
    line = c.CategoryLine(item_line(item), c.section_of(item.category))
    if line.text:
        _change(home, name, lambda data: c.with_lines(name, data or c.new_file(name), [line]), disk)


def edit_item(home: Path, item: Item, text: str, *, disk: Disk = OS_DISK) -> None:
    """Give an item other words; its provenance stays. Lines after the first are continued, indented.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written.
    """
    lines = [line.rstrip() for line in clean(text).strip().split("\n") if line.strip()]
    if not lines:
        delete_item(home, item, disk=disk)
        return
    head = safe_value(lines[0])
    tag = f" {format_tag(item.provenance)}" if item.provenance is not None else ""
    rest = "".join(f"\n  {safe_value(line)}" for line in lines[1:])
    words = replace(item, text=head + rest)
    _change_item(home, item, lambda data, now: c.with_item(data, now, f"- {head}{tag}{rest}"), disk, words)


def delete_item(home: Path, item: Item, *, disk: Disk = OS_DISK) -> None:
    """Take an item out of its file.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written.
    """
    with withdrawing(home, disk=disk):
        _change_item(home, item, c.without_item, disk)


def set_task_done(home: Path, item: Item, *, done: bool, disk: Disk = OS_DISK) -> None:
    """Move a task between `## Open` and `## Done`, with its provenance and continued lines.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written.
    """
    section = c.DONE if done else c.OPEN

    def moved(data: bytes, now: Item) -> bytes:
        lines = data.split(b"\n")[now.first_line - 1 : now.last_line]
        text = b"\n".join(line.rstrip(b"\r") for line in lines).decode("utf-8", "surrogateescape")
        return c.with_lines(c.TASKS, c.without_item(data, now), [c.CategoryLine(text, section)])

    category = Category.TASKS_DONE if done else Category.TASKS_OPEN
    _change_item(home, item, moved, disk, replace(item, category=category))


def _change_item(
    home: Path, item: Item, change: Callable[[bytes, Item], bytes], disk: Disk, becomes: Item | None = None
) -> None:
    """Change an item that stands there still. `becomes`: what takes over what it stands on, None for nothing.

    That is told before the file is written: a crash in between leaves a word about an item that is not there, and
    none that has lost what it stands on.
    """
    told: list[ItemEvent] = []

    def found(data: bytes) -> bytes:
        now = c.find_item(c.parse_file(item.file, data), item)
        if now is None:
            raise StorageError(
                f"{item.file} has changed: this item is not there any more as it was shown",
                remedy="Look at it again and repeat the change",
                where=str(paths.knowledge_dir(home) / item.file),
            )
        if becomes is not None and not told:
            told.extend(_edited(item, becomes))
            add_events(home, told, disk=disk)
        return change(data, now)

    _change(home, item.file, found, disk)


def _edited(before: Item, after: Item) -> tuple[ItemEvent, ...]:
    was, item = (item_hash(one.category, one.text) for one in (before, after))
    if was == item:
        return ()
    at = timestamp(datetime.now(UTC))
    words = after.category.value, after.text
    return (ItemEvent(ItemEventKind.EDITED, at, item, *words, was=(was,)),)


def _change(home: Path, name: str, change: Callable[[bytes], bytes], disk: Disk) -> None:
    """Rewrite a file, then bring the digest up to date where it is on."""
    path = paths.knowledge_dir(home) / name
    make_dirs(path.parent, disk=disk)
    with write_lock(home, disk=disk):
        change_file(path, change, disk=disk)
    regenerate_digest(home, may_create=False, disk=disk)
