"""Sources of the index: what cannot be walked whole is said, and takes nothing out of the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.errors import SlopError
from core.retrieval import sources
from core.values.retrieval import Corpus, SearchPlaces


def test_a_folder_with_too_many_files_is_said_and_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("x")

    with pytest.raises(SlopError, match="too many files") as raised:
        list(sources.find_sources(tmp_path, SearchPlaces((str(tmp_path),)), Corpus.NOTES))

    assert raised.value.where == str(tmp_path)
