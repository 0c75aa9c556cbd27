"""Choosing files: folders open, files are picked, and what cannot be read is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.describe import Chooser, Entry, first_folder, list_folder


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


APPLE, ZEBRA, SRC = (
    Entry("apple.txt", is_folder=False),
    Entry("Zebra.txt", is_folder=False),
    Entry("src", is_folder=True),
)


def test_one_press_selects_and_the_second_opens(folder: Path) -> None:
    chooser = opened(folder, "files")
    assert chooser.press(SRC, 1.0) == ()
    assert (chooser.folder, chooser.result(), chooser.opens_folder) == (folder, (), True)
    assert chooser.press(APPLE, 1.2) == ()
    assert chooser.result() == (str(folder / "apple.txt"),)
    assert chooser.press(APPLE, 1.3) == (str(folder / "apple.txt"),)
    chooser.press(SRC, 2.0)
    chooser.press(SRC, 2.2)
    assert (chooser.folder, names(chooser)) == (folder / "src", ["main.py"])


def test_two_presses_that_slow_frames_read_far_apart_open_a_file(folder: Path) -> None:
    chooser = opened(folder, "files")

    assert chooser.press(APPLE, 1.0) == ()
    assert chooser.press(APPLE, 2.0, made_s=1.4) == (str(folder / "apple.txt"),)


def test_two_presses_far_apart_or_on_two_entries_open_nothing(folder: Path) -> None:
    chooser = opened(folder, "files")
    assert [chooser.press(APPLE, at) for at in (1.0, 1.6)] == [(), ()]
    assert [chooser.press(one, 3.0) for one in (SRC, APPLE, SRC)] == [(), (), ()]
    assert chooser.folder == folder


def test_ctrl_adds_a_file_and_takes_it_out_again(folder: Path) -> None:
    chooser = opened(folder, "files")
    chooser.press(APPLE, 1.0)
    chooser.press(ZEBRA, 1.1, is_adding=True)
    assert chooser.result() == (str(folder / "apple.txt"), str(folder / "Zebra.txt"))
    chooser.press(APPLE, 1.2, is_adding=True)
    assert chooser.result() == (str(folder / "Zebra.txt"),)
    chooser.press(APPLE, 3.0)
    assert chooser.result() == (str(folder / "apple.txt"),)


def test_enter_takes_what_is_selected_else_the_first_that_fits_the_filter(folder: Path) -> None:
    chooser = opened(folder, "files")
    assert chooser.enter() == ()
    chooser.wanted = "zeb"
    assert chooser.enter() == (str(folder / "Zebra.txt"),)
    chooser = opened(folder, "files")
    chooser.press(SRC, 1.0)
    assert chooser.enter() == ()
    assert chooser.folder == folder / "src"


def test_a_folder_chooser_shows_no_files_and_returns_where_it_is(folder: Path) -> None:
    chooser = opened(folder, "folder")
    assert names(chooser) == ["src"]
    assert chooser.result() == (str(folder),)
    chooser.press(SRC, 1.0)
    assert chooser.result() == (str(folder / "src"),)
    assert not chooser.opens_folder
    chooser.press(SRC, 1.2)
    assert chooser.result() == (str(folder / "src"),)


def test_a_path_in_the_place_of_the_name_is_followed(folder: Path) -> None:
    """The button was grey without a word: many a dialog takes a path there."""
    chooser = opened(folder, "save")
    chooser.rename(str(folder / "src" / "new.md"))
    assert chooser.result() == ()
    assert chooser.has_typed_path
    assert chooser.accept() == (str(folder / "src" / "new.md"),)
    chooser.rename("../apple.txt")
    assert chooser.accept() == ()
    assert chooser.is_replacing, "it is looked for where it will be"
    assert chooser.accept() == (str(folder / "apple.txt"),)
    chooser.rename("nowhere/x")
    assert chooser.accept() == ()
    assert "There is no file or folder" in chooser.problem
    chooser.rename("src/")
    assert chooser.accept() == ()
    assert (chooser.folder, chooser.name) == (folder / "src", "")


def test_saving_needs_a_name_without_slashes(folder: Path) -> None:
    chooser = opened(folder, "save")
    assert chooser.result() == ()
    chooser.name = "../x"
    assert chooser.result() == ()
    assert chooser.press(APPLE, 1.0) == ()
    assert chooser.result() == (str(folder / "apple.txt"),)
    chooser.press(SRC, 2.0)
    assert chooser.enter() == ()
    assert chooser.enter() == (str(folder / "src" / "apple.txt"),)


def test_a_file_is_replaced_only_when_that_was_asked(folder: Path) -> None:
    chooser = opened(folder, "save")
    assert [chooser.press(APPLE, at) for at in (1.0, 1.1)] == [(), ()]
    assert (chooser.is_replacing, chooser.problem) == (True, "'apple.txt' already exists. Replace it?")
    chooser.name = "Zebra.txt"
    assert chooser.accept() == ()
    assert chooser.accept() == (str(folder / "Zebra.txt"),)


def test_typed_paths_lead_to_folders_and_files(folder: Path) -> None:
    chooser = opened(folder, "files")
    assert chooser.go(str(folder / "apple.txt")) == (str(folder / "apple.txt"),)
    assert chooser.go("src") == ()
    assert chooser.folder == folder / "src"
    assert chooser.go("..") == ()
    assert chooser.folder == folder
    chooser.go("nowhere")
    assert "There is no file or folder" in chooser.problem
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


def test_a_slash_begins_a_path_whose_folders_open_as_it_is_typed(folder: Path) -> None:
    chooser = opened(Path("/"), "files")
    chooser.filter(f"{folder}/")
    assert (chooser.folder, names(chooser)) == (folder, ["src", "apple.txt", "Zebra.txt"])
    chooser.filter(f"{folder}/.h")
    assert names(chooser) == [".hidden"]
    chooser.filter(f"{folder}/src/ma")
    assert (chooser.folder, names(chooser)) == (folder / "src", ["main.py"])
    assert chooser.enter() == (str(folder / "src" / "main.py"),)


def test_a_path_to_nowhere_shows_nothing_and_stays_where_it_was(folder: Path) -> None:
    chooser = opened(folder, "files")
    chooser.filter("/no/such/place/x")
    assert (chooser.folder, names(chooser), chooser.wanted) == (folder, [], "/no/such/place/x")
