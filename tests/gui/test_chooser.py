"""Choosing files: folders open, files are picked, and what cannot be read is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.chooser import Chooser, Entry, first_folder, list_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("x")
    (tmp_path / "Zebra.txt").write_text("z" * 2500)
    (tmp_path / "apple.txt").write_text("a")
    (tmp_path / ".hidden").write_text("h")
    return tmp_path


def opened(folder: Path, picks: str) -> Chooser:
    chooser = Chooser(folder, picks)
    chooser.open(folder)
    return chooser


def names(chooser: Chooser) -> list[str]:
    return [entry.name for entry in chooser.shown()]


def test_folders_come_first_and_hidden_files_only_when_asked(folder: Path) -> None:
    chooser = opened(folder, "files")
    assert names(chooser) == ["src", "apple.txt", "Zebra.txt"]
    chooser.shows_hidden = True
    assert ".hidden" in names(chooser)
    chooser.wanted = "EBRA"
    assert names(chooser) == ["Zebra.txt"]


def test_pressing_a_folder_opens_it_and_a_file_picks_it(folder: Path) -> None:
    chooser = opened(folder, "files")
    chooser.press(Entry("apple.txt", is_folder=False))
    chooser.press(Entry("Zebra.txt", is_folder=False))
    chooser.press(Entry("apple.txt", is_folder=False))
    assert chooser.result() == (str(folder / "Zebra.txt"),)
    chooser.press(Entry("src", is_folder=True))
    assert (chooser.folder, chooser.result(), names(chooser)) == (folder / "src", (), ["main.py"])


def test_a_folder_chooser_shows_no_files_and_returns_where_it_is(folder: Path) -> None:
    chooser = opened(folder, "folder")
    assert names(chooser) == ["src"]
    assert chooser.result() == (str(folder),)


def test_saving_needs_a_name_without_slashes(folder: Path) -> None:
    chooser = opened(folder, "save")
    assert chooser.result() == ()
    chooser.name = "../x"
    assert chooser.result() == ()
    chooser.press(Entry("apple.txt", is_folder=False))
    assert chooser.result() == (str(folder / "apple.txt"),)


def test_typed_paths_lead_to_folders_and_files(folder: Path) -> None:
    chooser = opened(folder, "files")
    assert chooser.go(str(folder / "apple.txt")) == (str(folder / "apple.txt"),)
    assert chooser.go("src") == ()
    assert chooser.folder == folder / "src"
    assert chooser.go("..") == ()
    assert chooser.folder == folder
    chooser.go("nowhere")
    assert "nowhere: no such file or folder" in chooser.problem
    saver = opened(folder, "save")
    saver.go("src/new.md")
    assert saver.result() == (str(folder / "src" / "new.md"),)


def test_a_folder_that_cannot_be_listed_is_named_and_the_old_one_stays(folder: Path) -> None:
    chooser = opened(folder, "files")
    chooser.open(folder / "gone")
    assert "gone: no such file or directory" in chooser.problem
    assert chooser.folder == folder


def test_broken_links_are_listed_as_files(folder: Path) -> None:
    (folder / "dead").symlink_to(folder / "nothing")
    assert Entry("dead", is_folder=False) in list_folder(folder)


def test_sizes_are_in_words() -> None:
    assert [Entry("f", False, size).detail for size in (12, 2500, 3_400_000)] == ["12 B", "2 KB", "3.4 MB"]


def test_it_starts_where_the_last_file_was(folder: Path) -> None:
    assert first_folder(str(folder)) == (folder, "")
    assert first_folder(str(folder / "new.txt")) == (folder, "new.txt")
    assert first_folder(str(folder / "gone" / "x")) == (Path.home(), "")
