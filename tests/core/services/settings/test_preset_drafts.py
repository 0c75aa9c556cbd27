"""Unsaved work on presets survives a crash, and a broken file of it is said."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import StorageError
from core.kernel.values.curation import FileItem, FileMode, Preset
from core.services.settings.settings_writer import keep_working, merge_working, read_working, working_file

EDITED = Preset("a b", (FileItem("x.py", FileMode.OUTLINE, notes='say "x"\n'),))


def test_what_is_kept_is_read_by_the_next_start(tmp_path: Path) -> None:
    keep_working(tmp_path, tmp_path / "root", (EDITED, Preset("empty")))

    assert read_working(tmp_path, tmp_path / "root") == ((EDITED, Preset("empty")), ())


def test_projects_do_not_see_each_others_work_and_a_link_is_its_target(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to("one")
    keep_working(tmp_path, tmp_path / "one", (EDITED,))

    assert read_working(tmp_path, tmp_path / "two") == ((), ())
    assert read_working(tmp_path, tmp_path / "link") == ((EDITED,), ())


def test_nothing_unsaved_leaves_no_file(tmp_path: Path) -> None:
    keep_working(tmp_path, tmp_path, ())
    keep_working(tmp_path, tmp_path, (EDITED,))
    assert working_file(tmp_path, tmp_path).exists()
    keep_working(tmp_path, tmp_path, ())

    assert not working_file(tmp_path, tmp_path).exists()


def test_a_broken_file_is_said_and_kept(tmp_path: Path) -> None:
    path = working_file(tmp_path, tmp_path)
    path.parent.mkdir()
    path.write_text("broken")
    presets, faults = read_working(tmp_path, tmp_path)

    assert presets == ()
    assert [(fault.path, fault.line) for fault in faults] == [(str(path), 1)]
    assert path.read_text() == "broken"


def test_a_disk_without_room_keeps_the_work_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_working(tmp_path, tmp_path, (EDITED,))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError):
            keep_working(tmp_path, tmp_path, (Preset("other"),))
    assert read_working(tmp_path, tmp_path) == ((EDITED,), ())


def test_work_that_says_what_the_file_says_is_no_longer_unsaved() -> None:
    saved = {"a": Preset("a", (FileItem("x"),)), "b": Preset("b")}
    work = (Preset("a", (FileItem("x"),)), Preset("b", (FileItem("y"),)), Preset("c"))

    presets, unsaved = merge_working(saved, work)
    assert list(presets) == ["a", "b", "c"]
    assert presets["b"].items == (FileItem("y"),)
    assert unsaved == {"b", "c"}


_NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=10)


@given(st.dictionaries(_NAMES, st.lists(_NAMES, max_size=4), max_size=4))
def test_any_names_come_back(tmp_path_factory: pytest.TempPathFactory, data: dict[str, list[str]]) -> None:
    home = tmp_path_factory.mktemp("home")
    presets = tuple(Preset(name, tuple(FileItem(path) for path in paths)) for name, paths in data.items())
    keep_working(home, home, presets)

    assert read_working(home, home) == (presets, ())
