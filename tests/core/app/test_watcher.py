"""The watcher on a real folder: edits, saves by renaming, settings told apart from curated files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from core.app.app_messages import Event
from core.app.watcher import FileWatch, Watcher
from core.kernel.values.updates import PathsChanged, Watched
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S


class Desk:
    """A watcher on a curated file and a settings file in different folders."""

    def __init__(self, root: Path) -> None:
        self.curated = root / "src" / "a.py"
        self.settings = root / "manual_slop.toml"
        self.curated.parent.mkdir()
        self.curated.write_text("x = 1\n", encoding="utf-8")
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.watches: list[FileWatch] = []
        self.watcher = Watcher(self.events.put, make_watch=self._make)
        self.watcher.watch((str(self.curated),), (str(self.settings),))
        assert self.watches[0].wait_until_watching(WAIT_S)
        self.first = {self.events.get(timeout=WAIT_S) for _ in range(2)}

    def _make(self, *callbacks: Callable[..., None]) -> FileWatch:
        self.watches.append(FileWatch(*callbacks))
        return self.watches[-1]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.watcher.stop()


def test_what_is_newly_watched_is_looked_at_once_more(desk: Desk) -> None:
    assert {event.watched for event in desk.first if isinstance(event, PathsChanged)} == {
        Watched.CONTEXT,
        Watched.SETTINGS,
    }


def test_an_edit_of_a_curated_file_is_reported_and_is_a_signal(desk: Desk) -> None:
    desk.curated.write_text("x = 2\n", encoding="utf-8")
    assert desk.events.get(timeout=WAIT_S) == PathsChanged(Watched.CONTEXT, (str(desk.curated),))
    assert desk.events.get(timeout=WAIT_S) == PathsChanged(Watched.CURATED, (str(desk.curated),))


def test_a_save_by_renaming_is_reported(desk: Desk) -> None:
    fresh = desk.curated.with_suffix(".tmp")
    fresh.write_text("x = 3\n", encoding="utf-8")
    os.replace(fresh, desk.curated)
    event = desk.events.get(timeout=WAIT_S)
    assert isinstance(event, PathsChanged)
    assert event.watched is Watched.CONTEXT
    assert str(desk.curated) in event.names


def test_a_settings_file_that_appears_is_reported_as_settings(desk: Desk) -> None:
    desk.settings.write_text("[project]\n", encoding="utf-8")
    assert desk.events.get(timeout=WAIT_S) == PathsChanged(Watched.SETTINGS, (str(desk.settings),))


def test_a_watcher_that_is_off_watches_nothing(tmp_path: Path) -> None:
    made: list[FileWatch] = []

    def make(*callbacks: Callable[..., None]) -> FileWatch:
        made.append(FileWatch(*callbacks))
        return made[-1]

    watcher = Watcher(lambda _event: None, is_on=False, make_watch=make)
    watcher.watch((str(tmp_path),), ())
    watcher.stop()
    assert made == []


def test_logs_that_grow_and_discussions_that_come_are_told_by_their_ids(tmp_path: Path) -> None:
    events: SimpleQueue[Event] = SimpleQueue()
    watches: list[FileWatch] = []

    def make(*callbacks: Callable[..., None]) -> FileWatch:
        watches.append(FileWatch(*callbacks))
        return watches[-1]

    discussions = tmp_path / "discussions"
    (discussions / "d1").mkdir(parents=True)
    log = discussions / "d1" / "log.jsonl"
    log.write_text("{}\n", encoding="utf-8")
    (discussions / "d1" / "cache.json").write_text("{}", encoding="utf-8")
    watcher = Watcher(events.put, make_watch=make)
    watcher.watch((), (), str(tmp_path), ("d1",))
    assert watches[0].wait_until_watching(WAIT_S)
    assert events.get(timeout=WAIT_S) == PathsChanged(Watched.DISCUSSIONS, ("d1",))
    assert events.get(timeout=WAIT_S) == PathsChanged(Watched.RESERVES)
    assert events.get(timeout=WAIT_S) == PathsChanged(Watched.INBOX)

    (discussions / "d1" / "draft.txt").write_text("not told", encoding="utf-8")
    with log.open("a", encoding="utf-8") as stream:
        stream.write("{}\n")
    assert events.get(timeout=WAIT_S) == PathsChanged(Watched.DISCUSSIONS, ("d1",))
    (discussions / "d1" / "draft.txt").replace(
        discussions / "d1" / "cache.json"
    )  # another program's last act
    assert events.get(timeout=WAIT_S) == PathsChanged(Watched.CACHES, ("d1",))
    (discussions / ".new-d2.tmp").mkdir()
    (discussions / ".new-d2.tmp").rename(discussions / "d2")
    assert events.get(timeout=WAIT_S) == PathsChanged(Watched.DISCUSSIONS, ("d2",))
    (tmp_path / "reserves").mkdir()
    (tmp_path / "reserves" / "reserves.json").write_text("{}", encoding="utf-8")
    while (event := events.get(timeout=WAIT_S)) != PathsChanged(Watched.RESERVES):
        assert event == PathsChanged(
            Watched.DISCUSSIONS, ("d2",)
        )  # a folder that came is told once more when it is watched
    watcher.stop()


def test_knowledge_files_and_notes_are_told_apart_and_temporary_files_left_out(tmp_path: Path) -> None:
    events: SimpleQueue[Event] = SimpleQueue()
    watcher = Watcher(events.put, make_watch=lambda *_: FileWatch(lambda _paths: None))
    notes = tmp_path / "knowledge" / "files"
    digest = str(tmp_path / "knowledge" / "digest.md")
    watcher.watch((), (), knowledge_paths=(digest, str(notes)))

    facts = str(notes / "tides.yaml")
    draft = str(notes / "ship.md.draft")
    names = (digest, str(notes / "1:2.md"), str(notes / ".1:2.md.tmp"), facts, draft, str(tmp_path / "x.md"))
    watcher._changed(names)

    assert events.get(timeout=WAIT_S) == PathsChanged(
        Watched.KNOWLEDGE, (digest, str(notes / "1:2.md"), facts, draft)
    )
    assert events.empty()
    watcher.stop()


class StillWatch:
    """A watch that reports only what a test says."""

    def __init__(self, *callbacks: Callable[..., None]) -> None:
        self.report = callbacks[0]

    def watch(self, paths: object) -> None:
        pass


def test_a_discussion_that_came_while_nobody_watched_is_found_by_listing(tmp_path: Path) -> None:
    events: list[Event] = []
    watches: list[StillWatch] = []

    def make(*callbacks: Callable[..., None]) -> FileWatch:
        watches.append(StillWatch(*callbacks))
        return watches[-1]  # type: ignore[return-value]

    discussions = tmp_path / "discussions"
    (discussions / "d1").mkdir(parents=True)
    watcher = Watcher(events.append, make_watch=make)
    watcher.watch((), (), str(tmp_path), ())
    (discussions / "d2").mkdir()
    (discussions / "d1").rmdir()

    watches[0].report((str(discussions),))
    watches[0].report((str(discussions),))

    assert events == [PathsChanged(Watched.DISCUSSIONS, ("d1", "d2"))]


def test_a_discussion_that_went_by_name_and_came_back_unseen_is_found_by_listing(tmp_path: Path) -> None:
    events: list[Event] = []
    watches: list[StillWatch] = []

    def make(*callbacks: Callable[..., None]) -> FileWatch:
        watches.append(StillWatch(*callbacks))
        return watches[-1]  # type: ignore[return-value]

    one = tmp_path / "discussions" / "d1"
    one.mkdir(parents=True)
    watcher = Watcher(events.append, make_watch=make)
    watcher.watch((), (), str(tmp_path), ())

    one.rmdir()
    watches[0].report((str(one),))
    one.mkdir()
    watches[0].report((str(one.parent),))

    assert events == [PathsChanged(Watched.DISCUSSIONS, ("d1",))] * 2
