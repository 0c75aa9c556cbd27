"""The digest: its order, its bound, its bytes, and its file as the switch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import paths
from core.errors import StorageError
from core.knowledge.digest import (
    DIGEST_SECTIONS,
    DigestFollower,
    DigestWrite,
    digest_file,
    fresh_digest,
    regenerate_digest,
)
from core.knowledge_text import categories as c
from core.knowledge_text.projection import (
    DIGEST_MAX_BYTES,
    FIRST_SHARE,
    HEAD,
    TRUNCATED,
    digest_line,
    project,
)
from core.store.atomic import Disk
from tests.core.store.faults import CountingDisk, DyingDisk, ReadOnlyDisk

TITLES = [title for title, _ in DIGEST_SECTIONS]
LONG = "word " * 200


def write(home: Path, name: str, text: str) -> None:
    path = paths.knowledge_dir(home) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def test_sections_stand_in_their_order_and_items_newest_first(tmp_path: Path) -> None:
    write(tmp_path, c.FACTS, "# Facts\n- f1 [from: a, 2026-01-01]\n- f2\n")
    write(tmp_path, c.TASKS, "# Tasks\n## Open\n- t1\n- t2\n## Done\n- t3\n")
    write(tmp_path, c.QUESTIONS, "- q1\n  more\n")

    done = regenerate_digest(tmp_path)

    assert done.text == (
        f"{HEAD}\n## Open tasks\n- t2\n- t1\n\n## Open questions\n- q1\n  more\n\n## Facts\n- f2\n- f1\n"
    )
    assert digest_file(tmp_path).read_text("utf-8") == done.text
    assert TITLES == ["Open tasks", "Open questions", "Decisions", "Facts", "Playbooks"]


def test_a_hundred_open_tasks_do_not_starve_the_facts() -> None:
    tasks = [f"task {n} {'x' * 80}" for n in range(100)]

    text = project([("Open tasks", tasks), ("Facts", ["a fact", "another"])])

    assert "- a fact\n- another\n" in text
    assert len(text.encode()) > DIGEST_MAX_BYTES - 100
    assert text.endswith(TRUNCATED)


def test_an_item_over_its_bound_is_cut_at_a_word() -> None:
    line = digest_line(LONG)

    assert line.endswith("word…\n")
    assert len(line.encode()) <= 600 + len("- …\n".encode())
    assert digest_line("x" * 601) == f"- {'x' * 600}…\n"
    assert digest_line("x" * 600) == f"- {'x' * 600}\n"


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=900), max_size=30),
        min_size=5,
        max_size=5,
    )
)
def test_the_bound_the_shares_and_the_order_hold_for_any_items(sections: list[list[str]]) -> None:
    given_items = list(zip(TITLES, sections, strict=True))

    text = project(given_items)

    assert len(text.encode()) <= DIGEST_MAX_BYTES
    assert project(given_items) == text
    is_whole = True
    for title, items in given_items:
        lines = [digest_line(item) for item in items]
        shown = 0
        while shown < len(lines) and f"\n## {title}\n" + "".join(lines[: shown + 1]) in text:
            shown += 1
        is_whole = is_whole and shown == len(lines)
        sizes = [len(line.encode()) for line in lines]
        share = next((n for n in range(len(sizes), 0, -1) if sum(sizes[:n]) <= FIRST_SHARE), 0)
        assert shown >= share
    assert is_whole is not text.endswith(TRUNCATED)


def test_what_exactly_fits_is_not_called_truncated() -> None:
    room = DIGEST_MAX_BYTES - len((HEAD + "\n## Facts\n").encode())
    items = ["x" * 97] * (room // 100)
    items.append("y" * (room - 100 * len(items) - 3))

    text = project([("Facts", items)])

    assert len(text.encode()) == DIGEST_MAX_BYTES
    assert not text.endswith(TRUNCATED)
    assert project([("Facts", [*items[:-1], items[-1] + "y"])]).endswith(TRUNCATED)


def test_an_item_cannot_close_the_block() -> None:
    assert "{/knowledge}" not in project([("Facts", ["x {/knowledge} y"])])


def test_notes_alone_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "files/1:2.md", "# /a\n\n- one\n- two\n")

    assert regenerate_digest(tmp_path).text == f"{HEAD}\n(no items; 2 notes on files)\n"


def test_with_nothing_at_all_the_digest_goes(tmp_path: Path) -> None:
    write(tmp_path, "digest.md", "old")

    assert regenerate_digest(tmp_path).write is DigestWrite.DELETED
    assert not digest_file(tmp_path).exists()
    assert regenerate_digest(tmp_path).write is DigestWrite.UNCHANGED


def test_it_is_written_only_when_its_bytes_change(tmp_path: Path) -> None:
    write(tmp_path, c.FACTS, "- one\n")
    regenerate_digest(tmp_path)
    disk = CountingDisk()

    assert regenerate_digest(tmp_path, disk=disk).write is DigestWrite.UNCHANGED
    assert disk.calls == []


def test_nothing_but_the_person_turns_it_on(tmp_path: Path) -> None:
    write(tmp_path, c.FACTS, "- one\n")

    assert regenerate_digest(tmp_path, may_create=False).write is DigestWrite.LEFT_OFF
    assert not digest_file(tmp_path).exists()
    assert regenerate_digest(tmp_path).write is DigestWrite.WRITTEN
    write(tmp_path, c.FACTS, "- one\n- two\n")
    assert regenerate_digest(tmp_path, may_create=False).write is DigestWrite.WRITTEN


class RemovingDisk(Disk):
    """A person deletes the digest while the new one is being written beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        self._path.unlink(missing_ok=True)


def test_rm_wins_over_a_renewal_under_way(tmp_path: Path) -> None:
    write(tmp_path, c.FACTS, "- one\n")
    regenerate_digest(tmp_path)
    write(tmp_path, c.FACTS, "- one\n- two\n")

    done = regenerate_digest(tmp_path, may_create=False, disk=RemovingDisk(digest_file(tmp_path)))

    assert done.write is DigestWrite.LEFT_OFF
    assert not digest_file(tmp_path).exists()


def test_a_save_in_an_editor_is_followed_while_the_digest_is_on(tmp_path: Path) -> None:
    write(tmp_path, c.FACTS, "- one\n")
    regenerate_digest(tmp_path)
    follower = DigestFollower(tmp_path)
    follower.follow()
    for text in ("- one\n- two\n", "", "- three\n"):  # the second as an editor leaves it for a moment
        write(tmp_path, c.FACTS, text)
        follower.follow()
        assert digest_file(tmp_path).read_text(encoding="utf-8") == fresh_digest(tmp_path)

    digest_file(tmp_path).unlink()
    write(tmp_path, c.FACTS, "- four\n")
    follower.follow()
    assert not digest_file(tmp_path).exists()


def test_what_was_saved_before_the_program_began_is_followed_and_a_hand_made_digest_is_not(
    tmp_path: Path,
) -> None:
    write(tmp_path, c.FACTS, "- one\n")
    regenerate_digest(tmp_path)
    newer = digest_file(tmp_path).stat().st_mtime + 1
    write(tmp_path, c.FACTS, "- two\n")
    os.utime(paths.knowledge_dir(tmp_path) / c.FACTS, (newer, newer))

    DigestFollower(tmp_path).follow()
    assert "- two\n" in digest_file(tmp_path).read_text(encoding="utf-8")

    write(tmp_path, "digest.md", "by hand\n")
    os.utime(digest_file(tmp_path), (newer + 1, newer + 1))
    follower = DigestFollower(tmp_path)
    for _ in range(2):
        follower.follow()
        assert digest_file(tmp_path).read_text(encoding="utf-8") == "by hand\n"


def test_following_what_did_not_change_the_digest_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path, c.TASKS, "# Tasks\n\n## Open\n\n- one\n\n## Done\n")
    regenerate_digest(tmp_path)
    follower = DigestFollower(tmp_path)
    follower.follow()
    before = digest_file(tmp_path).stat()
    write(tmp_path, c.TASKS, "# Tasks\n\nMy words.\n\n## Open\n\n- one\n\n## Done\n\n- old\n")

    follower.follow()

    after = digest_file(tmp_path).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_home_is_found_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path))
    write(tmp_path, c.DECISIONS, "- one\n")

    assert regenerate_digest().path == tmp_path / "knowledge" / "digest.md"


@pytest.mark.parametrize("name", [c.FACTS, c.TASKS])
def test_a_long_file_gives_what_the_whole_of_it_would(tmp_path: Path, name: str) -> None:
    lines = [f"- item {n} {'é' * (n % 90)}\n" + "  more\n" * (n % 3) for n in range(3_000)]
    write(tmp_path, name, "".join(lines))
    whole = [item.text for item in c.parse_file(name, (tmp_path / "knowledge" / name).read_bytes()).items]
    title = next(title for title, file in DIGEST_SECTIONS if file == name)

    assert fresh_digest(tmp_path) == project([(title, whole[::-1])])


def test_a_long_file_with_one_old_item_shows_it(tmp_path: Path) -> None:
    write(tmp_path, c.FACTS, "- old\n- also old\n" + "prose\n" * 20_000)

    assert fresh_digest(tmp_path) == project([("Facts", ["also old", "old"])])


@pytest.mark.parametrize("disk", [ReadOnlyDisk(), DyingDisk()])
def test_a_failing_disk_leaves_the_old_digest(tmp_path: Path, disk: ReadOnlyDisk | DyingDisk) -> None:
    write(tmp_path, c.FACTS, "- one\n")
    before = regenerate_digest(tmp_path).text
    write(tmp_path, c.FACTS, "- two\n")

    with pytest.raises(StorageError):
        regenerate_digest(tmp_path, disk=disk)

    assert digest_file(tmp_path).read_text("utf-8") == before
