"""Looks of the index worker: what would be read, what the index holds, and index files of notes checked and mended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.kernel.values.retrieval import AskedPlaces, Corpus, CorpusCount, NavigationReport
from core.retrieval.retrieval_messages import CheckNavigation, LookAtSources, NavigationSurveyed, SourcesFound
from tests.core.retrieval.test_navigation_worker import Room


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    room = Room(tmp_path)
    (room.notes / "tides.md").write_text("# Tides\n\nTwice a day.\n")
    (room.notes / "old").mkdir()
    (room.notes / "old" / "piers.md").write_text("# Piers\n")
    yield room
    room.shared.close()


def _surveyed(room: Room, asked: AskedPlaces, *, mends: bool = False) -> NavigationReport:
    project = str(room.notes.parent)
    room._index.handle(CheckNavigation(asked=asked, around=(project, f"{project}/none"), mends=mends))
    event = room.events[-1]
    assert isinstance(event, NavigationSurveyed)
    return event.report


def test_a_run_says_what_the_index_holds(room: Room) -> None:
    assert room.index().counts == (CorpusCount(Corpus.NOTES, 2, 2, 0),)


def test_what_would_be_read_is_counted_by_corpus_and_what_does_not_count_is_said(room: Room) -> None:
    project = str(room.notes.parent)
    asked = AskedPlaces(("notes", "../elsewhere"), project, corpora=(Corpus.NOTES, Corpus.DISCUSSIONS))
    room._index.handle(LookAtSources(asked=asked))

    event = room.events[-1]
    assert isinstance(event, SourcesFound)
    assert event.preview.counts == (CorpusCount(Corpus.NOTES, 2), CorpusCount(Corpus.DISCUSSIONS))
    (problem,) = event.preview.places.problems
    assert problem.startswith("../elsewhere: it is outside")


def test_index_files_are_told_apart_and_mended_when_asked(room: Room) -> None:
    assert len(_surveyed(room, room.asked).stale) == 2
    assert _surveyed(room, room.asked).routers == ()
    mended = _surveyed(room, room.asked, mends=True)
    (router,) = mended.routers
    assert mended == NavigationReport(2, routers=(router,))
    assert router.path == os.path.join(os.path.realpath(room.notes), "index.md")
    assert router.text.startswith("# notes\n\n2 notes here and below.")
    assert "[Tides](tides.md): Twice a day." in router.text

    (room.notes / "tides.md").write_text("# High water\n")
    (stale,) = _surveyed(room, room.asked).stale
    assert stale == os.path.join(os.path.realpath(room.notes), "index.md")
    none = _surveyed(room, AskedPlaces())
    assert (none.fresh, len(none.orphans)) == (0, 2)
    assert _surveyed(room, AskedPlaces(), mends=True) == NavigationReport()
    assert sorted(path.name for path in room.notes.rglob("*.md")) == ["piers.md", "tides.md"]
