"""A person's changes through the window: found by words, atomic, never over somebody else's save."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel.disk import Disk
from core.kernel.errors import StorageError
from core.kernel.values.knowledge import Category, Item, NewItem, Provenance
from core.knowledge.categories import TASKS, CategoryLine, parse_file
from core.knowledge.edits import add_item, delete_item, edit_item, set_task_done
from core.knowledge.file_writer import ATTEMPTS, change_file, ensure_lines, has_line
from core.knowledge.knowledge_reader import digest_file, read_categories, regenerate_digest
from core.knowledge.merges import search_items
from tests.core.kernel.faults import FullDisk


def put(home: Path, name: str, data: bytes) -> Path:
    path = home / "knowledge" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def item(home: Path, text: str) -> Item:
    items = [item for file in read_categories(home) for item in file.items]
    return next(item for item in items if item.text.startswith(text))


def test_an_item_gets_other_words_and_keeps_where_it_came_from(tmp_path: Path) -> None:
    path = put(tmp_path, "facts.md", b"# Facts\r\n\r\n- one [from: a, 2026-01-01]\r\n- two\r\n")
    regenerate_digest(tmp_path)

    edit_item(tmp_path, item(tmp_path, "one"), "eins\n\nand # more")
    edit_item(tmp_path, item(tmp_path, "two"), "# zwei {/knowledge}")

    assert path.read_bytes() == (
        b"# Facts\r\n\r\n- eins [from: a, 2026-01-01]\r\n  and # more\r\n- \\# zwei (/knowledge)\r\n"
    )
    assert "- eins [from: a, 2026-01-01]\n  and # more\n" in digest_file(tmp_path).read_text("utf-8")


def test_an_item_that_moved_is_still_found_and_one_that_changed_is_not(tmp_path: Path) -> None:
    put(tmp_path, "facts.md", b"- one\n- two\n")
    shown = item(tmp_path, "two")
    path = put(tmp_path, "facts.md", b"- zero\n- one\n- two\n")

    delete_item(tmp_path, shown)

    assert path.read_bytes() == b"- zero\n- one\n"
    with pytest.raises(StorageError, match="is gone or different now"):
        delete_item(tmp_path, shown)
    with pytest.raises(StorageError, match="is gone or different now"):
        edit_item(tmp_path, shown, "new")
    assert path.read_bytes() == b"- zero\n- one\n"


def test_an_item_without_words_goes(tmp_path: Path) -> None:
    path = put(tmp_path, "facts.md", b"- one\n- two\n")

    edit_item(tmp_path, item(tmp_path, "one"), " \n ")

    assert path.read_bytes() == b"- two\n"


def test_a_task_moves_between_open_and_done_with_all_its_lines(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        TASKS,
        b"# Tasks\n\n## Open\n\n- paint [from: a, 2026-01-01]\n  caf\xe9\n- rest\n\n## Done\n",
    )

    set_task_done(tmp_path, item(tmp_path, "paint"), done=True)
    done = path.read_bytes()
    set_task_done(tmp_path, item(tmp_path, "paint"), done=False)

    assert done == (b"# Tasks\n\n## Open\n\n- rest\n\n## Done\n\n- paint [from: a, 2026-01-01]\n  caf\xe9\n")
    assert [i.category for i in parse_file(TASKS, path.read_bytes()).items] == [Category.TASKS_OPEN] * 2


def test_an_item_is_added_by_hand_and_the_digest_stays_off(tmp_path: Path) -> None:
    add_item(tmp_path, NewItem(Category.TASKS_OPEN, "paint it"))
    add_item(tmp_path, NewItem(Category.TASKS_OPEN, "  "))

    assert (tmp_path / "knowledge" / TASKS).read_text(
        "utf-8"
    ) == "# Tasks\n\n## Open\n\n- paint it\n\n## Done\n"
    assert not digest_file(tmp_path).exists()


def test_on_a_full_disk_an_edit_changes_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "facts.md", b"- one\n")

    with pytest.raises(StorageError, match="full"):
        edit_item(tmp_path, item(tmp_path, "one"), "two", disk=FullDisk(3))

    assert path.read_bytes() == b"- one\n"


class Meddling(Disk):
    """Lets a person save at a moment of our write: before the rename, or just when it happens."""

    def __init__(self, save: Callable[[], object], times: int = 1, *, at: str = "replace") -> None:
        self.save, self.times, self.at = save, times, at

    def _meddle(self, at: str) -> None:
        if at == self.at and self.times:
            self.times -= 1
            self.save()

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        self._meddle("open")
        return super().open(path, flags, mode)

    def fsync(self, fd: int) -> None:
        self._meddle("fsync")
        super().fsync(fd)

    def replace(self, source: Path, target: Path) -> None:
        self._meddle("replace")
        super().replace(source, target)


def add_line(data: bytes) -> bytes:
    return data + b"- ours\n"


def by_rename(path: Path, data: bytes) -> None:
    fresh = path.with_name("editor~")
    fresh.write_bytes(data)
    fresh.replace(path)


@pytest.mark.parametrize("at", ["open", "fsync"])
def test_a_save_between_our_reading_and_our_rename_is_taken_in(tmp_path: Path, at: str) -> None:
    path = put(tmp_path, "facts.md", b"- one\n")
    disk = Meddling(lambda: by_rename(path, b"- one\n- theirs\n"), at=at)

    change_file(path, add_line, disk=disk)

    assert path.read_bytes() == b"- one\n- theirs\n- ours\n"


def test_a_save_in_place_at_the_very_moment_of_the_rename_is_taken_in(tmp_path: Path) -> None:
    path = put(tmp_path, "facts.md", b"- one\n")
    disk = Meddling(lambda: path.write_bytes(b"- one\n- theirs\n"))

    change_file(path, add_line, disk=disk)

    assert path.read_bytes() == b"- one\n- theirs\n- ours\n"


def test_a_file_that_is_made_while_we_make_it_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "facts.md"
    disk = Meddling(lambda: path.write_bytes(b"- theirs\n"), at="fsync")

    change_file(path, add_line, disk=disk)

    assert path.read_bytes() == b"- theirs\n- ours\n"


def test_a_file_that_is_saved_all_the_time_is_given_up_and_says_so(tmp_path: Path) -> None:
    path = put(tmp_path, "facts.md", b"- 0\n")
    saves = iter(range(10_000))
    disk = Meddling(lambda: by_rename(path, b"- %d\n" % next(saves)), times=10_000, at="fsync")

    with pytest.raises(StorageError, match="changes while the program writes"):
        change_file(path, add_line, disk=disk)

    assert next(saves) >= ATTEMPTS


def test_an_append_into_a_file_that_an_editor_replaced_is_made_again(tmp_path: Path) -> None:
    path = put(tmp_path, "facts.md", b"- one\n")
    disk = Meddling(lambda: by_rename(path, b"- one\n- theirs\n"), at="fsync")

    ensure_lines(path, "facts.md", [CategoryLine("- ours")], b"", disk=disk)

    assert path.read_bytes() == b"- one\n- theirs\n- ours\n"


def test_writers_at_once_lose_no_line(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for number in range(5):
            add_item(tmp_path, NewItem(Category.TASKS_OPEN, f"{name} {number}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = parse_file(TASKS, (tmp_path / "knowledge" / TASKS).read_bytes()).items
    assert sorted(i.text for i in found) == sorted(f"{name} {n}" for name in "abc" for n in range(5))


def test_a_line_is_there_only_as_a_whole_line() -> None:
    assert has_line(b"- one\r\n", "- one")
    assert has_line(b"\xef\xbb\xbf- one", "- one")
    assert not has_line(b"- ones\n  - one\nx- one\n", "- one")


def test_search_finds_all_words_in_what_items_say_and_where_they_came_from() -> None:
    items = [
        Item(Category.FACTS, "facts.md", "The Moon pulls", Provenance("2026-tides", "2026-01-01")),
        Item(Category.DECISIONS, "decisions.md", "pulls the ＭＯＯＮ"),
        Item(Category.FACTS, "facts.md", "the sun"),
    ]

    assert [i.text for i in search_items(items, "moon pulls")] == ["pulls the ＭＯＯＮ", "The Moon pulls"]
    assert [i.text for i in search_items(items, '"moon pulls"')] == ["The Moon pulls"]
    assert [i.text for i in search_items(items, "tides")] == ["The Moon pulls"]
    assert len(search_items(items, "", [Category.FACTS])) == 2
    assert search_items(items, "moon mars") == ()
