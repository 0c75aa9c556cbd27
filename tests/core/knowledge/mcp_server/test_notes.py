"""Notes as a client gets them: while search is on, below the folders of notes, and no discussion among them."""

from __future__ import annotations

from pathlib import Path

from core.kernel.values.retrieval import AskedPlaces, Corpus, EmbeddingServer
from core.retrieval.front_matter import FieldNames
from core.retrieval.remote_embedder import EmbedError
from core.retrieval.retrieval_worker import OFF, Model, Retrieving, ServedNotes, served_places


def no_model(_fields: FieldNames) -> Model:
    raise EmbedError("No model is started to read a note")


def no_server(_server: EmbeddingServer) -> Model:
    raise EmbedError("No server is asked")


def served(home: Path, asked: AskedPlaces | None) -> ServedNotes:
    return ServedNotes(lambda: asked, lambda: Retrieving(home, no_model, no_server))


def test_nothing_is_served_while_search_is_off(isolated_home: Path) -> None:
    notes = served(isolated_home, None)

    assert notes.tools() == ()
    assert notes.answer("read_note", {"path": "tides.md"}).text == OFF


def test_a_note_is_read_below_its_folder_alone(isolated_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tides.md").write_text("High tide is at nine.\n")
    (tmp_path / "other.md").write_text("Not a note.\n")
    notes = served(isolated_home, AskedPlaces((str(folder),), str(tmp_path), corpora=(Corpus.NOTES,)))

    assert [one.name for one in notes.tools()] == ["read_note", "search_notes"]
    assert "High tide is at nine." in notes.answer("read_note", {"path": "tides.md"}).text
    for path in ("../other.md", str(tmp_path / "other.md"), "/etc/passwd"):
        assert notes.answer("read_note", {"path": path}).is_error
    assert notes.answer("read_note", {"path": 5}).is_error
    assert notes.answer("write_note", {}).is_error


def test_no_discussion_is_found_by_a_search_of_notes() -> None:
    asked = AskedPlaces(corpora=(Corpus.NOTES, Corpus.DISCUSSIONS, Corpus.KNOWLEDGE))

    assert served_places(asked).corpora == (Corpus.NOTES, Corpus.KNOWLEDGE)
