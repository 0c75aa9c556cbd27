"""Watching real folders: edits, saves by renaming, folders that go and come back, and the fall back to polling."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
import watchfiles

from core.app import watcher
from core.app.watcher import FileWatch
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S


class Seen:
    """Collects what a watch reports."""

    def __init__(self) -> None:
        self.changes: SimpleQueue[tuple[str, ...]] = SimpleQueue()
        self.troubles: list[str] = []
        self.watch = FileWatch(self.changes.put, self.troubles.append)

    def start(self, *paths: Path) -> None:
        self.watch.watch(str(path) for path in paths)
        assert self.watch.wait_until_watching(WAIT_S)

    def wait_for(self, path: Path) -> None:
        """Until `path` is reported; fails after a while."""
        try:
            while str(path) not in self.changes.get(timeout=WAIT_S):
                pass
        except Empty:
            pytest.fail(f"{path.name} was not reported")


@pytest.fixture
def seen() -> Iterator[Seen]:
    seen = Seen()
    yield seen
    seen.watch.stop()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "src" / "a.py"
    made.parent.mkdir()
    made.write_text("one")
    return made


def write(file: Path) -> None:
    file.write_text("two")


def rename_save(file: Path) -> None:
    fresh = file.with_name("a.py~")
    fresh.write_text("three")
    fresh.replace(file)


@pytest.mark.parametrize("change", [write, rename_save, Path.unlink])
def test_a_change_of_a_watched_file_is_reported(
    seen: Seen, file: Path, change: Callable[[Path], object]
) -> None:
    seen.start(file)
    change(file)

    seen.wait_for(file)


def test_a_new_file_beside_a_watched_one_is_reported_since_a_glob_may_take_it(seen: Seen, file: Path) -> None:
    seen.start(file)
    (file.parent / "new.py").write_text("x")

    seen.wait_for(file.parent / "new.py")


def test_edits_of_a_neighbour_that_nobody_watches_are_not_reported(seen: Seen, file: Path) -> None:
    other = file.parent / "log.txt"
    other.write_text("1")
    seen.start(file)
    other.write_text("22")
    write(file)

    assert seen.changes.get(timeout=WAIT_S) == (str(file),)


def test_a_folder_that_is_deleted_and_made_again_is_watched_again(seen: Seen, file: Path) -> None:
    seen.start(file)
    shutil.rmtree(file.parent)
    seen.wait_for(file)
    file.parent.mkdir()
    file.write_text("back")
    seen.wait_for(file)
    assert seen.watch.wait_until_watching(WAIT_S)
    write(file)

    seen.wait_for(file)


def test_a_folder_made_again_at_once_is_watched_also_where_it_has_the_number_of_the_one_that_went(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File systems give a new folder the inode of one that was just deleted."""
    monkeypatch.setattr(watcher, "_identities", lambda folders: dict.fromkeys(folders, (1, 1)))
    seen = Seen()

    made_again = threading.Event()

    def on_change(paths: tuple[str, ...]) -> None:
        if file.exists():
            seen.changes.put(paths)
        elif not file.parent.exists():
            file.parent.mkdir()
            made_again.set()

    seen.watch = FileWatch(on_change, seen.troubles.append)
    seen.start(file)
    shutil.rmtree(file.parent)
    try:
        assert made_again.wait(WAIT_S)
        file.write_text("back")
        seen.wait_for(file)
    finally:
        seen.watch.stop()


def test_a_file_in_a_folder_that_is_not_there_yet_is_seen_when_it_comes(seen: Seen, tmp_path: Path) -> None:
    settings = tmp_path / "later" / "manual_slop.toml"
    seen.start(settings)
    settings.parent.mkdir()
    settings.write_text("x = 1")

    seen.wait_for(settings)


def test_other_paths_replace_the_earlier_ones(seen: Seen, file: Path, tmp_path: Path) -> None:
    second = tmp_path / "b.py"
    second.write_text("1")
    seen.start(file)
    seen.start(second)
    write(file)
    second.write_text("22")

    assert seen.changes.get(timeout=WAIT_S) == (str(second),)


def test_where_the_system_watches_no_more_files_they_are_polled_and_it_is_said(
    seen: Seen, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = watchfiles.watch

    def limited(*paths: str, force_polling: bool, **options: object) -> object:
        if not force_polling:
            raise OSError(28, "inotify watch limit reached")
        return plain(*paths, force_polling=True, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(watchfiles, "watch", limited)
    os.utime(file, ns=(1, 1))  # who polls compares seconds
    seen.start(file)
    file.write_text("longer than before")

    seen.wait_for(file)
    assert len(seen.troubles) == 1
    assert "the program checks them every second" in seen.troubles[0]


def test_too_many_folders_are_said_and_the_first_are_watched(
    seen: Seen, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "MAX_FOLDERS", 1)
    (tmp_path / "z").mkdir()
    seen.start(file, tmp_path / "z" / "b.py")
    write(file)

    seen.wait_for(file)
    assert seen.troubles == ["The program should watch 2 folders; it watches only 1."]


def test_stopping_ends_the_thread_and_watching_nothing_costs_nothing(seen: Seen, file: Path) -> None:
    seen.watch.watch([])
    assert seen.watch._thread is None
    seen.start(file)
    seen.watch.stop()
    seen.watch.stop()

    assert seen.watch._thread is not None
    assert not seen.watch._thread.is_alive()
    seen.watch.watch([str(file.parent)])
    assert not seen.watch._thread.is_alive()


def test_a_change_between_two_rounds_when_nobody_watches_is_not_lost(
    seen: Seen, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen.start(file)
    real = watchfiles.watch

    def late(*folders: str, **options: object) -> object:
        write(file)
        return real(*folders, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(watchfiles, "watch", late)
    seen.start(file, tmp_path / "other.py")

    seen.wait_for(file)
