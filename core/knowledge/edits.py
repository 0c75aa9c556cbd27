"""A person's own changes to items: each finds its item by what it says, never by where it stood, and rewrites atomically."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, make_dirs
from core.kernel.errors import SlopError, StorageError
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.values.facts import ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, Item, NewItem
from core.knowledge import categories
from core.knowledge.categories import format_tag, item_line, safe_value
from core.knowledge.evidence_parts import fact_words
from core.knowledge.evidence_rows import is_struck, item_hash
from core.knowledge.fact_store import HomePast, sync_facts
from core.knowledge.facts.fact_checks import (
    AGENTS_FOLDER,
    REPOSITORIES_FOLDER,
    FactPlace,
    file_of,
    flaws_of,
    id_parts,
    new_file,
    place_of,
)
from core.knowledge.facts.fact_file import FactFile, FactItem, parse_file
from core.knowledge.facts.item_edit import removed, with_facts, with_item_text
from core.knowledge.file_writer import change_file, read_bytes, withdrawing, write_lock
from core.knowledge.history_text import TO_ARCHIVE
from core.knowledge.knowledge_messages import RestoreFact, RestoreItem
from core.knowledge.knowledge_reader import ARCHIVE_FOLDER, read_categories, regenerate_digest
from core.knowledge.ledger import timestamp
from core.knowledge.memory_log import add_events


class ItemThereError(StorageError):
    """An item that was to be put back stands there again."""


_BOM = b"\xef\xbb\xbf"


def add_item(home: Path, item: NewItem, *, disk: Disk = OS_DISK) -> None:
    """Add an item that a person wrote; one without words is not added. Not for notes, which a harvest places.

    Raises:
        StorageError: it was not added. LockedError: another program writes knowledge.
    """
    name = categories.FILE_OF[item.category]
    line = categories.CategoryLine(item_line(item), categories.section_of(item.category))
    if line.text:
        _change(
            home,
            name,
            lambda data: categories.with_lines(name, data or categories.new_file(name), [line]),
            disk,
        )


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
        lambda data, now: categories.with_item(data, now, f"- {head}{tag}{rest}"),
        disk,
        _edited(item, words),
    )


def delete_item(
    home: Path,
    item: Item,
    *,
    reason: str = "",
    keep: Callable[[Item, bytes], None] = lambda _item, _lines: None,
    disk: Disk = OS_DISK,
) -> RestoreItem:
    """Take an item out of its file; the structured facts that were made of it enter no prompt any more.

    Args:
        reason: for its history; keep: is given the item as it stands and its lines, before they go.

    Returns:
        The command that puts it back.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written.
    """
    taken: list[RestoreItem] = []

    def without(data: bytes, now: Item) -> bytes:
        rest = categories.without_item(data, now)
        lines = data.split(b"\n")
        at = len(b"".join(line + b"\n" for line in lines[: now.first_line - 1]))
        gone = b"\n".join(lines[now.first_line - 1 : now.last_line])
        gone += b"\n" if now.last_line < len(lines) else b""
        if at > len(rest):  # it was the last line, without an end
            at, gone = len(rest), data[len(rest) :]
        if now.first_line == 1 and gone.startswith(_BOM):
            at, gone = len(_BOM), gone.removeprefix(_BOM)
        keep(now, gone)
        taken.append(RestoreItem(item=now, lines=gone, at=at, sha256=_hash(rest)))
        return rest

    told = replace(_event(ItemEventKind.DELETED, item), reason=reason)
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
    alone = categories.parse_file(name, _heading(name, item.section) + deleted.lines).items
    is_known = name in categories.CATEGORY_NAMES or name.startswith(f"{categories.NOTES_FOLDER}/")
    if not is_known or ".." in Path(name).parts or len(alone) != 1 or alone[0].text != item.text:
        raise SlopError(
            tr("These lines are not an item of {name!r}", name=name), remedy=tr("Write the item by hand")
        )

    def back(data: bytes) -> bytes:
        at = deleted.at if _hash(data) == deleted.sha256 and deleted.at <= len(data) else -1
        if categories.find_item(categories.parse_file(name, data), item) is not None:
            raise ItemThereError(tr("This item exists already"), where=str(paths.knowledge_dir(home) / name))
        add_events(home, [_event(ItemEventKind.RESTORED, item)], disk=disk)
        return categories.with_item_back(name, data, deleted.lines, item.section, at)

    _change(home, name, back, disk)


def set_task_done(home: Path, item: Item, *, done: bool, disk: Disk = OS_DISK) -> None:
    """Move a task between `## Open` and `## Done`, with its provenance and continued lines.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written.
    """
    section = categories.DONE if done else categories.OPEN

    def moved(data: bytes, now: Item) -> bytes:
        lines = data.split(b"\n")[now.first_line - 1 : now.last_line]
        text = b"\n".join(line.rstrip(b"\r") for line in lines).decode("utf-8", "surrogateescape")
        return categories.with_lines(
            categories.TASKS, categories.without_item(data, now), [categories.CategoryLine(text, section)]
        )

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
        now = categories.find_item(categories.parse_file(item.file, data), item)
        if now is None:
            raise StorageError(
                tr("{file} has changed: this item is gone or different now", file=item.file),
                remedy=tr("Look at the present version and repeat the change"),
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
    return ItemEvent(kind=kind, at=at, item=name, category=item.category.value, text=item.text)


def _heading(name: str, section: str) -> bytes:
    return f"## {section}\n\n".encode() if name == categories.TASKS and section else b""


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


# A person's own changes to structured facts: each finds its fact by id and words, and every other byte
# stays.


def edit_fact(
    home: Path,
    fact_id: str,
    was: str,
    text: str,
    confidence: float,
    tags: tuple[str, ...],
) -> None:
    """Give a fact other words, confidence or tags, in its file, and bring that in step; every other byte stays.

    Items that it was made of take its new words on, as after an edit by hand.

    Args:
        was: its words as the person saw them.

    Raises:
        SlopError: that would break a rule of facts. StorageError: it does not stand there any more as it was shown, or
            could not be written. LockedError: another program writes knowledge.
    """
    name, place, _, item = _standing(home, fact_id, was)
    assert item.fact is not None
    fact = replace(item.fact, text=safe_value(text), confidence=confidence, tags=tags)
    path = paths.knowledge_dir(home) / name
    if flaws := flaws_of(fact, place):
        raise SlopError(
            tr("The program cannot save this fact: {flaws}", flaws=flaws[0][1]),
            remedy=tr("Change it"),
            where=str(path),
        )
    _fact_edits_change(home, path, lambda data: with_facts(place, data, [fact], ""))
    sync_facts(home)


def delete_fact(home: Path, fact_id: str, was: str) -> RestoreFact:
    """Take a fact's item out of its file, and the fact out of the index and of prompts. Its number is not given again.

    Items of category files that it was made of and that say the same go with it.

    Args:
        was: its words as the person saw them.

    Returns:
        The command that puts it back.

    Raises:
        StorageError: it does not stand there any more as it was shown, or could not be written. LockedError: another
            program writes knowledge.
    """
    taken: list[RestoreFact] = []

    def without(data: bytes) -> bytes:
        file = parse_file(place, data)
        item = _item(file, fact_id, was)
        if item is None:
            raise _changed(home, fact_id)
        taken.append(
            RestoreFact(fact_id=fact_id, file=name, item=file.text[item.start : item.end], at=item.start)
        )
        return removed(file, item).encode()

    name, place, _, _ = _standing(home, fact_id, was)
    items = tuple(delete_item(home, item) for item in _same_items(home, fact_id, was))
    with withdrawing(home):
        _fact_edits_change(home, paths.knowledge_dir(home) / name, without)
        sync_facts(home)
    return replace(taken[-1], items=items)


def restore_fact(home: Path, deleted: RestoreFact) -> None:
    """Put a fact's item back where it stood, or at the end of its section where its file has changed.

    What went from category files with it comes back too, unless somebody has written it again.

    Raises:
        SlopError: it is no fact of that file. StorageError: a fact has its id now, or it could not be written.
            LockedError: another program writes knowledge.
    """
    place = place_of(deleted.file)
    path = paths.knowledge_dir(home) / deleted.file
    if place is None:
        raise SlopError(
            tr("{file!r} is not a file of facts", file=deleted.file),
            remedy=tr("Write the fact into a file of facts yourself"),
        )

    def with_item(data: bytes) -> bytes:
        file = parse_file(place, data or new_file(place, "").encode())
        if any(item.id == deleted.fact_id for item in file.items):
            raise StorageError(tr("{fact_id} exists already", fact_id=deleted.fact_id), where=str(path))
        found = with_item_text(file, deleted.fact_id, deleted.item, deleted.at)
        if found is None:
            raise SlopError(
                tr("The program cannot restore {fact_id} as it was", fact_id=deleted.fact_id),
                remedy=tr("Write the fact into a file of facts yourself"),
                where=str(path),
            )
        return found.encode()

    make_dirs(path.parent)
    _fact_edits_change(home, path, with_item)
    sync_facts(home, ours=(deleted.fact_id,))
    for item in reversed(deleted.items):
        with suppress(ItemThereError):
            restore_item(home, item)


def _same_items(home: Path, fact_id: str, text: str) -> list[Item]:
    """Items that a fact was made of, where they stand and say what it says."""
    names = HomePast(home).twins().items.get(fact_id, frozenset())
    found = [item for file in read_categories(home) for item in file.items] if names else []
    return [
        item
        for item in found
        if item_hash(item.category, item.text) in names
        and not is_struck(item.text)
        and fact_words(item.category, item.text) == text
    ]


def _standing(home: Path, fact_id: str, was: str) -> tuple[str, FactPlace, FactFile, FactItem]:
    """The file and item of a fact that says these words. Raises StorageError: there is none."""
    for name in _homes_of(fact_id):
        place, path = place_of(name), paths.knowledge_dir(home) / name
        if place is not None and path.exists():
            file = parse_file(place, read_bytes(path))
            if (item := _item(file, fact_id, was)) is not None:
                return name, place, file, item
    raise _changed(home, fact_id)


def _item(file: FactFile, fact_id: str, was: str) -> FactItem | None:
    items = (one for one in file.items if one.id == fact_id and one.fact is not None)
    item = next(items, None)
    return item if item is not None and item.fact is not None and item.fact.text == was else None


def _changed(home: Path, fact_id: str) -> StorageError:
    return StorageError(
        tr("{fact_id} has changed: the fact is gone or different now", fact_id=fact_id),
        remedy=tr("Look at the present version and repeat the change"),
        where=str(paths.knowledge_dir(home)),
    )


def _fact_edits_change(home: Path, path: Path, change: Callable[[bytes], bytes]) -> None:
    with write_lock(home):
        change_file(path, change)


def _homes_of(fact_id: str) -> tuple[str, ...]:
    parts = id_parts(fact_id)
    if parts is None:
        return ()
    return tuple(
        file_of(parts[0], parts[1], folder=folder) for folder in (REPOSITORIES_FOLDER, AGENTS_FOLDER)
    )


# Items put aside: no request reads them until a person takes them back. `knowledge/archive/` has a file for each category file or
# notes of which something was put aside, with the lines of the items byte for byte; a person may read and edit it like the others.


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
