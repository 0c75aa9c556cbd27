"""What a model has seen outlives the program, bounded, and never brings back a conversation that went."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agent.kept_bytes import MOST_SEEN, SEEN_FILE, SeenFiles
from core.app.forgetting.forgetting_places import Folder, place_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "discussion").mkdir()
    return tmp_path / "discussion" / "edits"


def test_what_was_seen_last_is_known_after_a_restart(folder: Path) -> None:
    seen = SeenFiles(folder)
    assert seen.get("/p/a.txt") == ""
    assert not folder.exists(), "nothing is made before there is something to keep"
    seen.note("/p/a.txt", "a" * 64)
    seen.note("/p/é.txt", "b" * 64)
    seen.note("/p/a.txt", "c" * 64)

    again = SeenFiles(folder)
    assert (again.get("/p/a.txt"), again.get("/p/é.txt"), again.get("/p/none")) == ("c" * 64, "b" * 64, "")
    assert [path.name for path in folder.iterdir()] == [SEEN_FILE]


def test_the_files_seen_last_are_remembered(folder: Path) -> None:
    seen = SeenFiles(folder)
    for number in range(MOST_SEEN):
        seen.note(f"/p/{number}", "a" * 64)
    seen.note("/p/0", "b" * 64)
    seen.note("/p/new", "b" * 64)

    again = SeenFiles(folder)
    assert [bool(again.get(f"/p/{name}")) for name in ("0", "1", "2", "new")] == [True, False, True, True]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"/p/a": 5}', b"\xff\xfe"])
def test_a_file_that_says_nothing_counts_as_nothing_seen(folder: Path, data: bytes) -> None:
    folder.mkdir()
    (folder / SEEN_FILE).write_bytes(data)
    seen = SeenFiles(folder)
    assert seen.get("/p/a") == ""
    seen.note("/p/a", "a" * 64)
    assert SeenFiles(folder).get("/p/a") == "a" * 64


def test_a_conversation_that_is_gone_does_not_come_back_by_a_file_that_is_read(folder: Path) -> None:
    seen = SeenFiles(folder)
    folder.parent.rmdir()
    seen.note("/p/a", "a" * 64)
    assert seen.get("/p/a") == "a" * 64
    assert not folder.parent.exists()


def test_it_is_forgotten_with_its_conversation() -> None:
    place = place_of(Folder.HOME, f"discussions/20261124-120000-abcdef/edits/{SEEN_FILE}")
    assert place is not None
    assert place.id == "discussions"
