"""The index worker keeps the index files of notes, and titles answer while the search index is away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from core.kernel import paths
from core.kernel.values.retrieval import (
    AskedPlaces,
    Corpus,
    EmbeddingServer,
    IndexReport,
    SearchAnswer,
    SearchFilters,
    SearchMode,
)
from core.retrieval.front_matter import FieldNames
from core.retrieval.remote_embedder import Embedder
from core.retrieval.retrieval_messages import (
    IndexEnded,
    RetrievalEvent,
    SearchAnswered,
    SearchMemory,
    ToolUsed,
    UpdateIndex,
    UseMemoryTool,
)
from core.retrieval.retrieval_worker import IndexHandler, Retrieving, SearchHandler
from core.retrieval.sources import SourceText, read_file_source


class WordModel:
    """Reads files in this process; its vectors say nothing."""

    name, dimension, is_warm = "words", 384, True

    def __init__(self, fields: FieldNames) -> None:
        self._fields = fields

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return np.ones((len(texts), self.dimension), np.int8)

    def read(
        self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
    ) -> SourceText:
        return read_file_source(
            corpus,
            path,
            str(file),
            _measure,
            known_sha256=known_sha256,
            fields=self._fields,
            tells_language=tells_language,
        )

    def close(self) -> None: ...


def _measure(text: str) -> list[int]:
    return [found.start() for found in re.finditer(r"\w+|[^\w\s]", text)]


def no_server(asked: EmbeddingServer) -> Embedder:
    """A server's embedder where none is named."""
    raise AssertionError(asked)


class Room:
    """Both workers over one home and a project with notes."""

    def __init__(self, base: Path) -> None:
        self.home, self.notes = base / "home", base / "project" / "notes"
        self.notes.mkdir(parents=True)
        self.home.mkdir()
        self.asked = AskedPlaces(("notes",), str(self.notes.parent), corpora=(Corpus.NOTES,))
        self.events: list[RetrievalEvent] = []
        self.shared = Retrieving(self.home, WordModel, no_server)
        self._index = IndexHandler(self.shared, self.events.append)
        self._search = SearchHandler(self.shared, self.events.append)

    def run_effect(self, *, is_anew: bool = False, only: tuple[Corpus, ...] = ()) -> UpdateIndex:
        return UpdateIndex(asked=self.asked, is_anew=is_anew, only=only)

    def index(self, *, is_anew: bool = False, only: tuple[Corpus, ...] = ()) -> IndexReport:
        self._index.handle(self.run_effect(is_anew=is_anew, only=only))
        ended = self.events[-1]
        assert isinstance(ended, IndexEnded)
        assert ended.report is not None, ended.problem
        return ended.report

    def search(self, query: str) -> SearchAnswer:
        self._search.handle(SearchMemory(query=query, count=10, filters=SearchFilters(), asked=self.asked))
        answered = self.events[-1]
        assert isinstance(answered, SearchAnswered)
        return answered.answer

    def tool(self, name: str, **arguments: str) -> str:
        self._search.handle(UseMemoryTool(name=name, arguments_json=json.dumps(arguments), asked=self.asked))
        used = self.events[-1]
        assert isinstance(used, ToolUsed)
        return used.text


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    room = Room(tmp_path)
    (room.notes / "retry.md").write_text("# Retry policy\n\n**Tags:** http\n\nThe gateway retries thrice.\n")
    (room.notes / "ops").mkdir()
    (room.notes / "ops" / "disks.md").write_text("# Disks\n")
    yield room
    room.shared.close()


def test_a_run_keeps_the_index_files_and_reads_none_of_them(room: Room) -> None:
    assert room.index().read == 2
    router = room.notes / "index.md"
    assert "- [Retry policy](retry.md): The gateway retries thrice. Tags: http\n" in router.read_text()
    before = router.stat().st_mtime_ns
    again = room.index()
    assert (again.read, again.unchanged, again.removed) == (0, 2, 0), "its own files wake nobody up"
    assert router.stat().st_mtime_ns == before
    assert [
        hit.path for hit in room.search("generated manual slop index folders").hits if "index" in hit.path
    ] == []


def test_notes_added_edited_renamed_and_removed_are_listed_by_the_next_run(room: Room) -> None:
    room.index()
    ops = room.notes / "ops"
    (ops / "new.md").write_text("# New one\n")
    room.index()
    assert "[New one](new.md)" in (ops / "index.md").read_text()
    (ops / "new.md").write_text("# Edited, now\n")
    room.index()
    assert "[Edited, now](new.md)" in (ops / "index.md").read_text()
    (ops / "new.md").rename(room.notes / "moved.md")
    room.index()
    assert "new.md" not in (ops / "index.md").read_text()
    assert "[Edited, now](moved.md)" in (room.notes / "index.md").read_text()
    (ops / "disks.md").unlink()
    room.index()
    assert list(ops.iterdir()) == [], "an empty folder loses its index"


def test_an_index_file_that_somebody_changed_or_removed_is_put_right_by_the_next_run(room: Room) -> None:
    for number in range(150):
        (room.notes / "ops" / f"n{number}.md").write_text(
            f"# Note {number}\n\nA sentence about it, and its number.\n"
        )
    room.index()
    files = {path: path.read_bytes() for path in room.notes.rglob("index*.md")}
    assert room.notes / "ops" / "index.2.md" in files, "it has pages"
    for path, data in files.items():
        path.write_bytes(data + b"- [Bad](bad.md)\n")
        room.index()
        assert path.read_bytes() == data
        path.unlink()
        room.index()
        assert path.read_bytes() == data


def test_names_of_fields_are_the_settings(room: Room) -> None:
    (room.notes / "pt.md").write_text("# Nota\n\n**Etiquetas:** rede\n\nTexto.\n")
    before = room.index()
    room.asked = replace(room.asked, tag_fields=("etiquetas",), date_fields=("data",))
    after = room.index()
    assert (before.read, after.read, after.vectors) == (3, 3, 0), (
        "read by other names, with the vectors of before"
    )
    assert "[Nota](pt.md): Texto. Tags: rede" in (room.notes / "index.md").read_text()


def test_a_hand_written_index_is_searched_like_any_note(room: Room) -> None:
    (room.notes / "index.md").write_text("# Start here\n\nAbout zeppelins.\n")
    room.index()
    assert [hit.path for hit in room.search("zeppelins").hits][:1] == ["index.md"]
    assert (room.notes / "index.md").read_text().startswith("# Start here")


def test_a_folder_in_the_place_of_an_index_file_stops_no_run(room: Room) -> None:
    room.notes.joinpath("ops", "index.md").mkdir()
    report = room.index()
    assert report.read == 2
    assert (room.notes / "index.md").exists()


def test_titles_answer_when_the_search_index_cannot_be_read(room: Room) -> None:
    folder = paths.index_dir(room.home)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("no folder")
    answer = room.search("retry")
    assert (answer.mode, answer.degraded) == (SearchMode.NAVIGATION_ONLY, True)
    assert [hit.path for hit in answer.hits] == ["retry.md"]
    assert answer.reason


@pytest.mark.usefixtures("german")
def test_a_model_hears_in_english_why_titles_alone_answer(room: Room) -> None:
    answer = room.tool("search_notes", query="retry")
    assert answer.startswith(
        "Found by titles, tags and descriptions only: The search index does not exist yet"
    )


def test_titles_answer_while_the_search_index_is_made_anew(room: Room) -> None:
    room.index()
    room.shared.renew(room.shared.model(FieldNames()))
    answer = room.search("http")
    assert (answer.mode, answer.degraded, answer.reason) == (
        SearchMode.NAVIGATION_ONLY,
        True,
        "The search index does not exist yet",
    )
    assert [hit.path for hit in answer.hits] == ["retry.md"]
    room.index(is_anew=True)
    assert room.search("http").mode is SearchMode.HYBRID


def test_a_note_that_has_the_words_as_its_alias_goes_before_those_that_link_to_it(room: Room) -> None:
    (room.notes / "Mixer.md").write_text(
        "---\naliases: [Quirl]\n---\n# Mixer\n\nIt mixes water and air in the hall.\n"
    )
    (room.notes / "Shopping.md").write_text(
        "# Shopping\n\nBuy the [[Mixer|Quirl]]. The Quirl, a Quirl, Quirl.\n"
    )
    room.index()

    assert [hit.title for hit in room.search("quirl").hits] == ["Mixer", "Shopping"]
