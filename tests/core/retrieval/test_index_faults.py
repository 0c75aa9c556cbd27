"""Faults of the index, of its files and of what it reads: each is said or mended, and something answers."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from core.kernel import paths
from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    Chunk,
    ChunkKind,
    Corpus,
    EmbeddingServer,
    IndexReport,
    SearchFilters,
    SearchMode,
)
from core.retrieval import index_file, index_run, sources
from core.retrieval.embedders import MODEL_FOLDER, MiniLM, ModelError, Tokens
from core.retrieval.front_matter import FieldNames
from core.retrieval.index_file import FILE_NAME, IndexFaultError
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.remote_embedder import EmbedError
from core.retrieval.retrieval_messages import (
    IndexEnded,
    IndexProgressed,
    RetrievalEvent,
    SearchAnswered,
    SearchMemory,
    UpdateIndex,
)
from core.retrieval.retrieval_worker import IndexHandler, Retrieving, SearchHandler
from core.retrieval.sources import SourceText
from tests.core.kernel.faults import FullDisk
from tests.core.retrieval.test_navigation_worker import Room, WordModel, no_server

KEY = SourceKey(Corpus.NOTES, "", "a.md")
DIMENSION = 8
NOBODY = 65_534


def index_of(room: Room) -> Path:
    return paths.index_dir(room.home) / FILE_NAME


def found(room: Room, query: str = "gateway") -> list[str]:
    answer = room.search(query)
    assert answer.mode is SearchMode.HYBRID, answer.reason
    return [hit.path for hit in answer.hits]


def test_notes_that_cannot_be_looked_through_either_are_said(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_FILES", 1)
    (room.notes / "more.md").write_text("# More\n")
    answer = room.search("retry")
    assert (answer.mode, answer.degraded, answer.hits) == (SearchMode.NAVIGATION_ONLY, True, ())
    assert "The search index does not exist yet" in answer.reason
    assert "Too many files to search" in answer.reason


def test_an_index_that_another_program_holds_is_said_and_titles_answer(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "BUSY_S", 0.05)
    room.index()
    (room.notes / "new.md").write_text("# New\n")
    other = sqlite3.connect(index_of(room), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(AssertionError, match="locked"):
        room.index()
    assert found(room) == ["retry.md"], "reading goes on"
    other.execute("ROLLBACK")
    room.shared.close()
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    answer = room.search("retry")
    assert (answer.mode, "locked" in answer.reason) == (SearchMode.NAVIGATION_ONLY, True)
    assert [hit.path for hit in answer.hits] == ["retry.md"]
    other.close()
    assert room.index().read == 1


def test_an_index_that_another_program_made_anew_is_never_written_by_the_rows_of_the_one_before(
    room: Room,
) -> None:
    room.index()
    before = room.shared.store(room.shared.model(FieldNames()))
    other = Retrieving(room.home, WordModel, no_server)
    other.renew(other.model(FieldNames()))
    (room.notes / "retry.md").write_text("# Another\n\nThe zeppelin lands.\n")
    IndexHandler(other, lambda _: None).handle(room.run_effect())
    files = {path.name: path.read_bytes() for path in index_of(room).parent.glob("*.i8")}

    with pytest.raises(IndexFaultError, match="The search index is gone"):
        before.touch(KEY, "x")
    with pytest.raises(IndexFaultError, match="The search index is gone"):
        before.put(KEY, SourceState("s", "0"), [])
    with pytest.raises(IndexFaultError, match="The search index is gone"), before.turn():
        pass
    assert room.search("gateway").hits == (), "words of before are found no more"
    assert found(room, "zeppelin") == ["retry.md"]
    assert {path.name: path.read_bytes() for path in index_of(room).parent.glob("*.i8")} == files
    other.close()


def chunk(text: str) -> Chunk:
    return Chunk(ChunkKind.PROSE, LineRange(1, 1), text)


def given(store: LocalStore) -> None:
    store.give({place: bytes([1]) * DIMENSION for place, _ in store.bare(100)})


def test_a_full_disk_is_said_and_what_was_indexed_stays(tmp_path: Path) -> None:
    disk = FullDisk(10**6)
    store = LocalStore(tmp_path, "m", DIMENSION, disk=disk)
    store.put(KEY, SourceState("s", "0"), [chunk("one"), chunk("two")])
    disk.room = DIMENSION + 3
    with pytest.raises(IndexFaultError, match="is full") as no_room:
        given(store)
    assert "Make room" in no_room.value.remedy, "to delete it would help nobody"
    assert len(store.bare(9)) == 2, "half a vector is none"
    disk.room = 10**6
    store.mend_vectors()
    given(store)
    assert store.bare(9) == []
    with store._reading() as db:
        db.execute("PRAGMA max_page_count = 1")
    with pytest.raises(IndexFaultError, match="is full") as no_room:
        store.put(KEY, SourceState("t", "1"), [chunk("word " * 10_000)])
    assert "Make room" in no_room.value.remedy
    assert store.sources(Corpus.NOTES, "")["a.md"].stamp == "s"
    store.mend_vectors()
    given(store)
    assert [vector for _, vector in store.chunks(KEY)] == [bytes([1]) * DIMENSION] * 2
    store.close()


def test_a_model_that_is_missing_or_truncated_is_said(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((MODEL_FOLDER / "tokenizer.json").read_bytes())
    with pytest.raises(ModelError, match="The embedding model is missing"):
        MiniLM(tmp_path).embed(["x"])
    (tmp_path / "model.onnx").write_bytes((MODEL_FOLDER / "model.onnx").read_bytes()[:-1])
    with pytest.raises(ModelError, match="damaged"):
        MiniLM(tmp_path).embed(["x"])


def test_without_a_tokenizer_texts_are_still_cut_no_longer_than_with_it(tmp_path: Path) -> None:
    text = "Über die retryPolicy: backoff=2**n, 漢字 and `x`.\n" * 3
    starts = Tokens(tmp_path).starts(text)
    assert len(starts) >= len(Tokens().starts(text))
    assert starts == sorted(set(starts))


class NoModel(WordModel):
    """Its vectors fail, or make no sense."""

    answer: object = EmbedError("The embedding model is missing", remedy="Install Manual Slop again")

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        if isinstance(self.answer, Exception):
            raise self.answer
        assert isinstance(self.answer, tuple)
        return np.zeros((len(texts), *self.answer), np.int8)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (NoModel.answer, "The embedding model is missing"),
        ((384,), "did not return a vector"),
        ((7,), "1 x 7 numbers"),
        ((), "1 numbers"),
    ],
)
def test_keywords_answer_where_the_model_does_not(
    room: Room, monkeypatch: pytest.MonkeyPatch, answer: object, said: str
) -> None:
    monkeypatch.setattr(NoModel, "answer", answer)
    room.shared._make = NoModel
    report = room.index()
    assert report.read == 1
    assert report.no_vectors
    told = room.search("gateway")
    assert (told.mode, told.degraded) == (SearchMode.KEYWORD, True)
    assert said in told.reason
    assert [hit.path for hit in told.hits] == ["retry.md"]


class SlowModel(WordModel):
    """Is given up over some batches of texts, as a machine with other work is."""

    left = 2

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        self.left -= 1
        if len(texts) > index_run.EMBED_BATCH or self.left < 0:
            raise EmbedError("The embedder took longer than 2 minutes")
        return super().embed(texts, timeout_s=timeout_s)


def test_what_a_slow_model_has_made_stays_and_the_next_run_goes_on(room: Room) -> None:
    for number in range(index_run.EMBED_BATCH * 3):
        (room.notes / f"{number}.md").write_text(f"Word {number}.\n")
    room.shared._make = SlowModel
    report = room.index()
    assert (report.vectors, "took longer than" in report.no_vectors) == (index_run.EMBED_BATCH * 2, True)
    room.shared.close()
    report = room.index()
    assert (report.vectors, report.no_vectors) == (index_run.EMBED_BATCH + 1, "")


def test_making_vectors_is_told_from_its_first_moment_on(room: Room) -> None:
    room.index()
    told = [event.progress for event in room.events if isinstance(event, IndexProgressed)]
    assert any((one.vectors, one.bare) == (0, 1) for one in told)
    assert all(one.vectors <= one.bare for one in told if one.vectors)


def passed_over(report: IndexReport) -> dict[str, str]:
    return dict(report.passed_over)


def test_files_that_cannot_be_searched_are_said_and_the_rest_is(
    room: Room, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes = room.notes
    monkeypatch.setattr(sources, "MAX_NOTE_BYTES", 5_000)
    (notes / "large.md").write_text("word\n" * 1_500)
    (notes / "binary.md").write_bytes(b"\0\1\2" * 100)
    (notes / "generated.txt").write_text("zeppelin," * 500)
    (notes / "utf16.md").write_text("zeppelin", "utf-16")
    (notes / os.fsdecode(b"odd\xff.md")).write_text("zeppelin")
    (notes / "empty.md").write_text("")
    (notes / "loop.md").symlink_to("loop.md")
    (notes / "around").symlink_to(notes)
    (tmp_path / "secret.md").write_text("zeppelin")
    (notes / "leads-out.md").symlink_to(tmp_path / "secret.md")
    (notes / "leads-in.md").symlink_to("retry.md")
    os.mkfifo(notes / "pipe.md")
    said = passed_over(room.index())
    assert said.keys() == {"large.md", "odd?.md", "binary.md", "utf16.md", "generated.txt"}
    assert said["large.md"] == "the file has 7,500 bytes"
    assert said["odd?.md"] == "the file's name is not UTF-8 text"
    assert "the file's lines are so long that a program must have written it" in said["generated.txt"]
    assert sorted(found(room)) == ["leads-in.md", "retry.md"]
    assert [hit for hit in room.search("zeppelin").hits if hit.keyword > 0] == []


def test_a_note_that_grew_past_its_bound_is_found_no_more(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.index()
    monkeypatch.setattr(sources, "MAX_NOTE_BYTES", 10)
    (room.notes / "small.md").write_text("zebra")
    report = room.index()
    assert (report.read, report.removed, list(passed_over(report))) == (1, 1, ["retry.md"])
    assert found(room, "zebra") == ["small.md"]
    assert found(room) == []


def test_a_file_that_changes_while_it_is_read_is_read_again(room: Room) -> None:
    note = room.notes / "retry.md"

    class Racing(WordModel):
        def read(
            self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
        ) -> SourceText:
            reading = super().read(corpus, path, file, known_sha256, tells_language=tells_language)
            if note.read_text() == "zebra":
                note.write_text("a zeppelin came meanwhile")
            return reading

    room.shared._make = Racing
    note.write_text("zebra")
    room.index()
    assert room.search("zeppelin").hits[0].text == "a zeppelin came meanwhile"


def test_a_change_that_keeps_size_and_time_is_seen_and_so_is_one_within_a_tick_of_the_clock(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "YOUNG_NS", -(10**18))
    note = room.notes / "retry.md"
    note.write_text("zebra")
    room.index()
    status = note.stat()
    note.write_text("koala")
    os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert room.index().read == 1

    monkeypatch.setattr(sources, "YOUNG_NS", 10**18)
    for place in (sources, index_run):
        monkeypatch.setattr(place, "stamp_of", lambda _: "same")
    room.index()
    note.write_text("panda")
    assert room.index().read == 1
    assert found(room, "panda") == ["retry.md"]


def test_a_note_that_could_not_be_read_is_read_by_the_next_run(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "YOUNG_NS", -(10**18))
    with monkeypatch.context() as patch:
        patch.setattr(sources, "read_file", lambda *_: (_ for _ in ()).throw(OSError(5, "no")))
        assert passed_over(room.index()) == {"retry.md": "no"}
    assert room.index().read == 1
    assert found(room) == ["retry.md"]


def test_two_notes_with_one_title_are_two_and_one_without_is_called_by_its_file(room: Room) -> None:
    (room.notes / "again.md").write_text("# Retry policy\n\nThe gateway, once more.\n")
    (room.notes / "bare-words.md").write_text("gateway")
    room.index()
    titles = {hit.path: hit.title for hit in room.search("gateway").hits}
    assert titles == {
        "retry.md": "Retry policy",
        "again.md": "Retry policy",
        "bare-words.md": "bare-words",
    }


@pytest.mark.parametrize(
    "query",
    [
        '"', "'; DROP TABLE source; --", "a AND OR NOT", "NEAR(gateway, 2)", "words:gateway*", "^gateway",
        "(((", "-gateway", "gateway " * 12_500, "x" * 100_000, "what is the of", "検索 ゲートウェイ", "поиск", "\0", "🙂",
        "\ud800",
    ],
)  # fmt: skip
def test_no_query_is_a_fault(room: Room, query: str) -> None:
    room.index()
    answer = room.search(query)
    assert (answer.mode, answer.degraded) == (SearchMode.HYBRID, False)
    if "gateway" in query:
        assert [hit.path for hit in answer.hits] == ["retry.md"]
        assert (answer.hits[0].keyword or 0) > 0


def test_a_run_that_fails_says_so_and_ends(room: Room) -> None:
    class Failing(WordModel):
        def __init__(self, fields: FieldNames) -> None:
            raise RuntimeError("no memory")

    room.shared._make = Failing
    with pytest.raises(RuntimeError):
        room._index.handle(room.run_effect())
    assert isinstance(room.events[-1], IndexEnded)
    assert "no memory" in room.events[-1].problem


def test_a_whole_index_on_a_disk_that_takes_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with as_nobody(), tempfile.TemporaryDirectory() as name:
        base = Path(name)
        monkeypatch.setenv("XDG_CACHE_HOME", str(base / "cache"))
        room = Room(base)
        (room.notes / "retry.md").write_text("# Retry policy\n\nThe gateway retries thrice.\n")
        room.index()
        room.shared.close()
        folder = index_of(room).parent
        kept = {path.name: path.read_bytes() for path in folder.iterdir()}
        for path in (*folder.iterdir(), folder):
            path.chmod(0o500)
        try:
            assert found(room) == ["retry.md"]
            with pytest.raises(AssertionError, match=r"permission denied|full or read-only"):
                room.index()
            assert found(room) == ["retry.md"]
            room.shared.close()
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept
        finally:
            folder.chmod(0o700)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Rights as a person has them: nothing is read-only to root."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_programs_of_different_models_each_keep_their_index(room: Room) -> None:
    class Away(WordModel):
        name = "away"

        def interrupt(self) -> None: ...

    other = Retrieving(room.home, WordModel, lambda _: Away(FieldNames()))
    asked = replace(room.asked, embedder=EmbeddingServer("box", "away", 384))
    (room.notes / "retry.md").write_text("# Retry policy\n\n" + "The gateway retries thrice. " * 25)
    (count,) = room.index().counts
    here = room.shared.store(room.shared.model(FieldNames()))
    ended: list[RetrievalEvent] = []
    IndexHandler(other, ended.append).handle(UpdateIndex(asked=asked))
    assert isinstance(ended[-1], IndexEnded)
    assert ended[-1].report is not None
    assert (count.chunks, ended[-1].report.counts[0].chunks) == (1, 2), "shorter: nobody has its tokenizer"
    assert here.is_there()
    assert room.index().unchanged == 1
    IndexHandler(other, ended.append).handle(UpdateIndex(asked=asked))
    assert isinstance(ended[-1], IndexEnded)
    assert ended[-1].report is not None
    assert (ended[-1].report.read, ended[-1].report.vectors) == (0, 0)
    other.close()
    room.shared.close()

    mine, theirs = paths.index_dirs(room.home)
    for path in theirs.iterdir():
        os.utime(path, (0, 0))
    room.index()
    assert paths.index_dirs(room.home) == (mine,), "given up long ago"


def test_folders_that_the_settings_left_leave_the_index_with_every_word(room: Room) -> None:
    inner = room.notes.parent / "inner" / "notes"
    inner.mkdir(parents=True)
    (inner / "a.md").write_text("# Inner\n\nA zeppelin lands.\n")
    gone = room.home.parent / "elsewhere"
    gone.mkdir()
    (gone / "b.md").write_text("# Elsewhere\n\nA quagga grazes.\n")
    before = room.asked
    room.asked = replace(before, roots=("notes", "inner/notes", str(gone)), allowed=(str(gone),))
    assert room.index().read == 3

    room.asked = before
    (inner.parent / "manual_slop.toml").write_text("")
    assert room.index().removed == 0, "another project's own, and a folder elsewhere that others may name"
    (inner.parent / "manual_slop.toml").unlink()
    shutil.rmtree(gone)
    assert room.index().removed == 2
    assert found(room) == ["retry.md"]
    room.shared.close()
    left = b"".join(path.read_bytes() for path in index_of(room).parent.iterdir())
    assert b"zeppelin" not in left
    assert b"quagga" not in left


def test_before_there_is_any_vector_the_answer_is_of_words_and_says_so(room: Room) -> None:
    class Silent(WordModel):
        def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
            if len(texts) == 1 and "gateway retries" not in texts[0]:
                return super().embed(texts, timeout_s=timeout_s)
            raise EmbedError("The server is away")

    room.shared.close()
    silent = Retrieving(room.home, Silent, no_server)
    events: list[RetrievalEvent] = []
    IndexHandler(silent, events.append).handle(room.run_effect())
    SearchHandler(silent, events.append).handle(
        SearchMemory(query="retry", count=10, filters=SearchFilters(), asked=room.asked)
    )
    assert isinstance(events[-1], SearchAnswered)
    answer = events[-1].answer
    assert (answer.mode, answer.degraded, answer.reason) == (
        SearchMode.KEYWORD, True, "No passage has a vector yet",
    )  # fmt: skip
    assert [hit.path for hit in answer.hits] == ["retry.md"]
    silent.close()
