"""Sources of the index: what cannot be walked whole is said, and takes nothing out of the index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.values.retrieval import AskedPlaces, Corpus, SearchPlaces
from core.retrieval import sources
from core.retrieval.front_matter import FieldNames
from core.retrieval.navigation_files import survey
from core.retrieval.sources import judge
from tests.core.retrieval.test_navigation_worker import Room


def test_a_folder_with_too_many_files_is_said_and_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("x")

    with pytest.raises(SlopError, match="Too many files to search") as raised:
        list(sources.find_sources(tmp_path, SearchPlaces((str(tmp_path),)), Corpus.NOTES))

    assert raised.value.where == str(tmp_path)


@pytest.mark.parametrize("inside", ["ops", ""])
def test_a_folder_that_cannot_be_read_is_said_and_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    room = Room(tmp_path)
    (room.notes / "ops" / "deep").mkdir(parents=True)
    (room.notes / "ops" / "deep" / "disks.md").write_text("# Disks\n\nThe gateway is full.\n")
    (room.notes / "gone.md").write_text("# Gone\n")
    assert room.index().read == 2
    (room.notes / "gone.md").unlink()
    scan, shut = os.scandir, str(room.notes / inside)

    def denied(folder: str | os.PathLike[str]) -> Any:
        if os.fspath(folder) == os.path.normpath(shut):
            raise PermissionError(13, "Permission denied")
        return scan(folder)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", denied)
        report = room.index()
        problems = survey(judge(room.asked), room.home, FieldNames()).problems
    assert report.passed_over == ((inside or str(room.notes), "this folder cannot be read"),)
    assert report.removed == (1 if inside else 0), "of what lies where nobody can look nothing is known"
    assert [hit.path for hit in room.search("gateway").hits] == ["ops/deep/disks.md"]
    assert [problem for problem in problems if "cannot be read" in problem]
    room.shared.close()


def test_a_note_in_the_project_counts_among_the_notes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice in the index it takes twice the time and the place, and tells nobody more."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    room = Room(tmp_path)
    (room.notes / "tide.md").write_text("# Tide\n\nA zebra wades.\n")
    (room.notes / "plot.py").write_text("zebra = 1\n")
    (room.notes.parent / "readme.md").write_text("# Read me\n\nA zebra.\n")
    room.asked = replace(room.asked, corpora=(Corpus.NOTES, Corpus.PROJECT))
    counts = {one.corpus: one.files for one in room.index().counts}
    found = sorted((hit.corpus, hit.path) for hit in room.search("zebra").hits)

    assert counts == {Corpus.NOTES: 1, Corpus.PROJECT: 2}
    assert found == [
        (Corpus.NOTES, "tide.md"),
        (Corpus.PROJECT, "notes/plot.py"),
        (Corpus.PROJECT, "readme.md"),
    ]
    room.asked = replace(room.asked, corpora=(Corpus.PROJECT,))
    assert room.index().counts[0].files == 3, "nobody else has it"
    room.shared.close()


def test_a_folder_whose_path_is_no_text_does_not_count_and_is_said(tmp_path: Path) -> None:
    project = os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff")
    os.makedirs(f"{project}/notes")
    places = judge(AskedPlaces(("notes",), project, corpora=(Corpus.NOTES, Corpus.PROJECT)))
    assert places.scopes == ()
    assert [problem.partition(":")[0] for problem in places.problems] == ["notes", "the project folder"]
