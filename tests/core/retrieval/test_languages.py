"""Any language: a note is found from another one; which model makes the index, and what answers while it changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.kernel import paths
from core.kernel.values.retrieval import Corpus, SearchMode
from core.retrieval import languages
from core.retrieval.embedders import (
    E5,
    E5_MAX_TOKENS,
    E5_NAME,
    MODEL_NAME,
    E5FileError,
    ModelError,
    read_e5,
    words_file,
)
from core.retrieval.embedding import DIMENSION, index_name, instruction_of
from core.retrieval.languages import is_foreign
from core.retrieval.retrieval_worker import ENGLISH_ALONE, ON_THE_WAY
from tests.core.retrieval.languages_set import crossed
from tests.core.retrieval.test_navigation_worker import Room, WordModel

LEAST_FIRST, LEAST_IN_THREE = 0.75, 0.88


class OfLanguages:
    """The model for any language, in this process."""

    name, dimension, is_warm = E5_NAME, DIMENSION, True

    def __init__(self) -> None:
        self.model = E5(threads=1)

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return self.model.embed(texts)


@pytest.fixture(scope="module")
def model() -> OfLanguages:
    return OfLanguages()


def test_a_note_in_one_of_six_languages_is_found_from_the_five_others(
    model: OfLanguages, tmp_path: Path
) -> None:
    found = crossed(tmp_path, model, turns=(0, 3))
    assert sum(one.place == 0 for one in found) >= LEAST_FIRST * len(found)
    assert sum(one.place < 3 for one in found) >= LEAST_IN_THREE * len(found)


@pytest.mark.parametrize(
    "text",
    ["", " ", "x", "名" * 40, "a" * 280, "word " * 4_000, "Straße 漢字 слово एक שלום", "a\0b"],
)
def test_any_text_gets_a_vector(model: OfLanguages, text: str) -> None:
    (vector,) = model.model.vectors([f"passage: {text}"])
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-3


def test_a_long_text_is_cut_at_what_the_model_takes(model: OfLanguages) -> None:
    whole, cut = "passage: " + "harbour " * 2 * E5_MAX_TOKENS, "passage: " + "harbour " * E5_MAX_TOKENS
    one, other = model.model.vectors([whole, cut])
    assert float(one @ other) > 0.999


@pytest.mark.parametrize("data", [b"", b"E5S1", b"GGUF" * 40, b"E5S1" + bytes(100)])
def test_another_file_in_its_place_is_said(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"damaged|The program cannot read"):
        E5(path).embed(["x"])
    with pytest.raises(E5FileError):
        read_e5(data)


def test_a_checkout_has_the_table_of_words() -> None:
    assert words_file() is not None


@pytest.mark.parametrize(
    "text",
    [
        "Wann fährt die Fähre?",
        "Quand part le ferry ?",
        "¿Cuándo sale el barco?",
        "港口的价格",
        "Сколько стоит стоянка?",
        "كم يكلف الرصيف؟",
        "Ile kosztuje postój w porcie?",
    ],
)
def test_another_language_is_told_from_a_short_question(text: str) -> None:
    assert is_foreign(text)


def test_words_of_grammar_tell_a_language_where_the_library_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    languages._loaded.cache_clear()
    try:
        assert is_foreign("Wo steht das, und warum ist es nicht da?")
        assert is_foreign("我在哪里能找到第二把钥匙")
        assert not is_foreign("When does the ferry leave?")
    finally:
        languages._loaded.cache_clear()


@pytest.mark.parametrize(
    "text",
    ["", "ok", "When does the ferry leave?", "who owns retry.py", "postgres index", "`ls -la /tmp`", "π"],
)
def test_english_and_what_is_no_language_is_none(text: str) -> None:
    assert is_foreign(text) == (text == "π")


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("box/multilingual-e5-large", "query: ", "passage: "),
        ("box/intfloat/e5-base-v2", "query: ", "passage: "),
        ("ollama/nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("x/bge-base-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("x/bge-m3", "", ""),
        ("x/gte-base", "", ""),
        ("ollama/all-minilm", "", ""),
        ("openai/text-embedding-3-small", "", ""),
        (MODEL_NAME, "", ""),
    ],
)
def test_a_model_gets_the_words_that_it_wants(model: str, query: str, passage: str) -> None:
    assert instruction_of(model) == (query, passage)
    assert (index_name(model) == model) == (not query and not passage)


class Wide:
    """A model for any language whose vectors say nothing; `asked` is what it was given."""

    name, dimension, is_warm = E5_NAME, DIMENSION, True

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        self.asked += texts
        self.meanwhile()
        return np.ones((len(texts), self.dimension), np.int8)


class TwoModels(WordModel):
    """Both models of the program."""

    of_languages: Wide | None = None

    def is_foreign(self, text: str) -> bool:
        return is_foreign(text)


@pytest.fixture
def wide() -> Wide:
    return Wide()


@pytest.fixture
def room(tmp_path: Path, wide: Wide, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(TwoModels, "of_languages", wide)
    monkeypatch.setattr("tests.core.retrieval.test_navigation_worker.WordModel", TwoModels)
    room = Room(tmp_path)
    (room.notes / "retry.md").write_text("# Retry policy\n\nThe gateway retries thrice.\n")
    yield room
    room.shared.close()


def test_english_alone_stays_with_the_smaller_model(room: Room, wide: Wide) -> None:
    assert room.index().vectors == 1
    answer = room.search("how often does the gateway retry?")
    assert (answer.degraded, [hit.path for hit in answer.hits], wide.asked) == (False, ["retry.md"], [])


def test_a_note_in_another_language_has_an_index_made_for_any_and_the_old_one_answers_meanwhile(
    room: Room, wide: Wide
) -> None:
    room.index()
    (room.notes / "port.md").write_text("# Hafen\n\nDer Hafen kostet fünf Euro am Tag.\n")
    meanwhile = []
    wide.meanwhile = lambda: meanwhile.append(room.search("how often does the gateway retry?"))
    report = room.index()
    wide.meanwhile = lambda: None

    assert report.vectors == 2, "both notes, by one model"
    assert all(text.startswith("passage: ") for text in wide.asked)
    assert [(one.reason, one.hits[0].path) for one in meanwhile] == [(ON_THE_WAY, "retry.md")]
    assert meanwhile[0].mode is SearchMode.HYBRID
    answer = room.search("retry")
    assert (answer.degraded, wide.asked[-1]) == (False, "query: retry")
    assert not paths.index_dir(room.home).exists(), "the index for English alone is gone"
    assert len(paths.index_dirs(room.home)) == 1
    assert room.index().read == 0


def test_a_question_in_another_language_has_it_made_too(room: Room, wide: Wide) -> None:
    room.index()
    answer = room.search("Wie oft wiederholt das Programm eine Anfrage?")
    assert (answer.reason, answer.needs_run) == (ENGLISH_ALONE, True)
    assert room.index(only=(Corpus.NOTES,)).vectors == 1, "all of it, whatever had changed"
    answer = room.search("Wie oft wiederholt das Programm eine Anfrage?")
    assert (answer.degraded, answer.needs_run) == (False, False)
    assert wide.asked[-1].startswith("query: ")


def test_made_anew_it_stays_an_index_for_any_language(room: Room, wide: Wide) -> None:
    (room.notes / "port.md").write_text("Der Hafen kostet fünf Euro am Tag.\n")
    room.index()
    wide.asked.clear()
    assert room.index(is_anew=True).vectors == 2
    assert len(wide.asked) == 2


def test_without_the_model_for_it_the_answer_says_what_to_install(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TwoModels, "of_languages", None)
    (room.notes / "port.md").write_text("Der Hafen kostet fünf Euro am Tag.\n")
    assert room.index().vectors == 2, "words and what English there is are found all the same"
    answer = room.search("Was kostet der Liegeplatz im Hafen?")
    assert (answer.reason, answer.needs_run) == (ENGLISH_ALONE, False)
    assert "manual-slop[languages]" in answer.remedy


def test_a_run_that_is_stopped_leaves_the_old_index_to_answer(room: Room, wide: Wide) -> None:
    room.index()
    (room.notes / "port.md").write_text("Der Hafen kostet fünf Euro am Tag.\n")
    wide.meanwhile = room._index.cancel
    room._index.handle(room.run_effect())
    wide.meanwhile = lambda: None
    assert room.search("gateway").reason in {"", ON_THE_WAY}
    assert [hit.path for hit in room.search("gateway").hits] == ["retry.md"]
    room._index.prepare()
    room.index()
    assert not room.search("gateway").degraded


def _bag(_self: object, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
    """Vectors by the words that a text holds."""
    made = np.zeros((len(texts), DIMENSION), np.int8)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            made[row, sum(word.encode()) % DIMENSION] = 60
    return made


def test_likeness_is_told_by_the_model_that_runs_and_starts_none(
    room: Room, wide: Wide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TwoModels, "embed", _bag)
    assert room.shared.likeness(["The gateway retries thrice."], ["How the gateway retries"]) == ()
    room.index()
    room.search("how often does the gateway retry?")
    near, far = room.shared.likeness(
        ["Fine.", "The gateway retries thrice."], ["the gateway retries thrice", "mud by the old pier"]
    )

    assert max(near) == near[1] > max(far)
    assert wide.asked == []
    room.shared.likeness(["Der Hafen kostet fünf Euro am Tag."], ["Das Wasser im Hafen steigt am Abend."])
    assert len(wide.asked) == 2
    assert room.shared.likeness([], ["nothing was said"]) == ()
