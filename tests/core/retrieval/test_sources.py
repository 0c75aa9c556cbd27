"""Sources of the index: what cannot be walked whole is said, and takes nothing out of the index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.base.errors import SlopError
from core.retrieval import sources
from core.retrieval.judged_places import judge
from core.values.retrieval import AskedPlaces, Corpus, SearchPlaces


def test_a_folder_with_too_many_files_is_said_and_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("x")

    with pytest.raises(SlopError, match="too many files") as raised:
        list(sources.find_sources(tmp_path, SearchPlaces((str(tmp_path),)), Corpus.NOTES))

    assert raised.value.where == str(tmp_path)


def test_a_folder_whose_path_is_no_text_does_not_count_and_is_said(tmp_path: Path) -> None:
    project = os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff")
    os.makedirs(f"{project}/notes")
    places = judge(AskedPlaces(("notes",), project, corpora=(Corpus.NOTES, Corpus.PROJECT)))
    assert places.scopes == ()
    assert [problem.partition(":")[0] for problem in places.problems] == ["notes", "the project"]
