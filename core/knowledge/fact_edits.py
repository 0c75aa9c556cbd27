"""A person's own changes to structured facts: each finds its fact by id and words, and every other byte stays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from core.base import paths
from core.base.disk import OS_DISK, Disk, make_dirs
from core.base.errors import SlopError, StorageError
from core.evidence.quotes import item_hash
from core.evidence.strikes import is_struck
from core.facts.checks import flaws_of, id_parts
from core.facts.fact_file import FactFile, FactItem, parse_file
from core.facts.item_edit import removed
from core.facts.places import AGENTS_FOLDER, REPOSITORIES_FOLDER, FactPlace, file_of, new_file, place_of
from core.facts.write_back import with_facts, with_item_text
from core.knowledge.edits import ItemThereError, delete_item, restore_item
from core.knowledge.fact_past import HomePast
from core.knowledge.fact_store import sync_facts
from core.knowledge.file_writer import change_file, read_bytes
from core.knowledge.locks import write_lock
from core.knowledge.messages import RestoreFact
from core.knowledge.reader import read_categories
from core.knowledge.twins import fact_words
from core.knowledge.withdrawals import withdrawing
from core.knowledge.wording import safe_value
from core.values.knowledge import Item


def edit_fact(
    home: Path,
    fact_id: str,
    was: str,
    text: str,
    confidence: float,
    tags: tuple[str, ...],
    *,
    disk: Disk = OS_DISK,
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
        raise SlopError(f"This cannot be saved: {flaws[0][1]}", remedy="Change it", where=str(path))
    _change(home, path, lambda data: with_facts(place, data, [fact], ""), disk)
    sync_facts(home, disk=disk)


def delete_fact(home: Path, fact_id: str, was: str, *, disk: Disk = OS_DISK) -> RestoreFact:
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
        taken.append(RestoreFact(fact_id, name, file.text[item.start : item.end], item.start))
        return removed(file, item).encode()

    name, place, _, _ = _standing(home, fact_id, was)
    items = tuple(delete_item(home, item, disk=disk) for item in _same_items(home, fact_id, was))
    with withdrawing(home, disk=disk):
        _change(home, paths.knowledge_dir(home) / name, without, disk)
        sync_facts(home, disk=disk)
    return replace(taken[-1], items=items)


def restore_fact(home: Path, deleted: RestoreFact, *, disk: Disk = OS_DISK) -> None:
    """Put a fact's item back where it stood, or at the end of its section where its file has changed.

    What went from category files with it comes back too, unless somebody has written it again.

    Raises:
        SlopError: it is no fact of that file. StorageError: a fact has its id now, or it could not be written.
            LockedError: another program writes knowledge.
    """
    place = place_of(deleted.file)
    path = paths.knowledge_dir(home) / deleted.file
    if place is None:
        raise SlopError(f"{deleted.file!r} is no file of facts", remedy="Write the fact by hand")

    def with_item(data: bytes) -> bytes:
        file = parse_file(place, data or new_file(place, "").encode())
        if any(item.id == deleted.fact_id for item in file.items):
            raise StorageError(f"{deleted.fact_id} is there already", where=str(path))
        found = with_item_text(file, deleted.fact_id, deleted.item, deleted.at)
        if found is None:
            raise SlopError(
                f"{deleted.fact_id} cannot be put back as it was", remedy="Write it by hand", where=str(path)
            )
        return found.encode()

    make_dirs(path.parent, disk=disk)
    _change(home, path, with_item, disk)
    sync_facts(home, ours=(deleted.fact_id,), disk=disk)
    for item in reversed(deleted.items):
        with suppress(ItemThereError):
            restore_item(home, item, disk=disk)


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
        f"{fact_id} has changed: it is not there any more as it was shown",
        remedy="Look at it again and repeat the change",
        where=str(paths.knowledge_dir(home)),
    )


def _change(home: Path, path: Path, change: Callable[[bytes], bytes], disk: Disk) -> None:
    with write_lock(home, disk=disk):
        change_file(path, change, disk=disk)


def _homes_of(fact_id: str) -> tuple[str, ...]:
    parts = id_parts(fact_id)
    if parts is None:
        return ()
    return tuple(
        file_of(parts[0], parts[1], folder=folder) for folder in (REPOSITORIES_FOLDER, AGENTS_FOLDER)
    )
