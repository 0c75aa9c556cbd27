"""A person's own changes to items: each finds its item by what it says, never by where it stood, and rewrites atomically."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.base import paths
from core.base.disk import OS_DISK, Disk, make_dirs
from core.base.errors import SlopError, StorageError
from core.base.text import clean
from core.evidence.files import add_events
from core.evidence.quotes import item_hash
from core.knowledge import categories as c
from core.knowledge.digest import regenerate_digest
from core.knowledge.fact_store import sync_facts
from core.knowledge.file_writer import change_file
from core.knowledge.ledger import timestamp
from core.knowledge.locks import write_lock
from core.knowledge.messages import RestoreItem
from core.knowledge.provenance import format_tag
from core.knowledge.withdrawals import withdrawing
from core.knowledge.wording import item_line, safe_value
from core.values.evidence import ItemEvent, ItemEventKind
from core.values.knowledge import Category, Item, NewItem


class ItemThereError(StorageError):
    """An item that was to be put back stands there again."""


_BOM = b"\xef\xbb\xbf"


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
    _change_item(
        home,
        item,
        lambda data, now: c.with_item(data, now, f"- {head}{tag}{rest}"),
        disk,
        _edited(item, words),
    )


def delete_item(home: Path, item: Item, *, disk: Disk = OS_DISK) -> RestoreItem:
    """Take an item out of its file; the structured facts that were made of it enter no prompt any more.

    Returns:
        The command that puts it back.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written.
    """
    taken: list[RestoreItem] = []

    def without(data: bytes, now: Item) -> bytes:
        rest = c.without_item(data, now)
        lines = data.split(b"\n")
        at = len(b"".join(line + b"\n" for line in lines[: now.first_line - 1]))
        gone = b"\n".join(lines[now.first_line - 1 : now.last_line])
        gone += b"\n" if now.last_line < len(lines) else b""
        if at > len(rest):  # it was the last line, without an end
            at, gone = len(rest), data[len(rest) :]
        if now.first_line == 1 and gone.startswith(_BOM):
            at, gone = len(_BOM), gone.removeprefix(_BOM)
        taken.append(RestoreItem(now, gone, at, _hash(rest)))
        return rest

    told = _event(ItemEventKind.DELETED, item)
    with withdrawing(home, disk=disk):
        _change_item(home, item, without, disk, (told,))
    return taken[-1]


def restore_item(home: Path, deleted: RestoreItem, *, disk: Disk = OS_DISK) -> None:
    """Put an item back where it stood, or at the end of its section where its file has changed.

    Raises:
        SlopError: these are no lines of that item. ItemThereError: it stands there again. StorageError: it could not
            be written.
    """
    item, name = deleted.item, deleted.item.file
    alone = c.parse_file(name, _heading(name, item.section) + deleted.lines).items
    is_known = name in c.CATEGORY_NAMES or name.startswith(f"{c.NOTES_FOLDER}/")
    if not is_known or ".." in Path(name).parts or len(alone) != 1 or alone[0].text != item.text:
        raise SlopError(f"These are no lines of an item of {name!r}", remedy="Write the item by hand")

    def back(data: bytes) -> bytes:
        at = deleted.at if _hash(data) == deleted.sha256 and deleted.at <= len(data) else -1
        if c.find_item(c.parse_file(name, data), item) is not None:
            raise ItemThereError("This item is there already", where=str(paths.knowledge_dir(home) / name))
        add_events(home, [_event(ItemEventKind.RESTORED, item)], disk=disk)
        return c.with_item_back(name, data, deleted.lines, item.section, at)

    _change(home, name, back, disk)


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
    _change_item(home, item, moved, disk, _edited(item, replace(item, category=category)))


def _change_item(
    home: Path,
    item: Item,
    change: Callable[[bytes, Item], bytes],
    disk: Disk,
    events: tuple[ItemEvent, ...] = (),
) -> None:
    """Change an item that stands there still. `events`: what is told of it.

    They are told before the file is written: a crash in between leaves a word about an item that is not there, and
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
        if not told:
            told.extend(events)
            add_events(home, told, disk=disk)
        return change(data, now)

    _change(home, item.file, found, disk)


def _edited(before: Item, after: Item) -> tuple[ItemEvent, ...]:
    was, item = (item_hash(one.category, one.text) for one in (before, after))
    if was == item:
        return ()
    return (replace(_event(ItemEventKind.EDITED, after), was=(was,)),)


def _event(kind: ItemEventKind, item: Item) -> ItemEvent:
    at, name = timestamp(datetime.now(UTC)), item_hash(item.category, item.text)
    return ItemEvent(kind, at, name, item.category.value, item.text)


def _heading(name: str, section: str) -> bytes:
    return f"## {section}\n\n".encode() if name == c.TASKS and section else b""


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _change(home: Path, name: str, change: Callable[[bytes], bytes], disk: Disk) -> None:
    """Rewrite a file, bring its structured facts in step, then the digest up to date where it is on."""
    path = paths.knowledge_dir(home) / name
    make_dirs(path.parent, disk=disk)
    with write_lock(home, disk=disk):
        change_file(path, change, disk=disk)
    sync_facts(home, disk=disk)
    regenerate_digest(home, may_create=False, disk=disk)
