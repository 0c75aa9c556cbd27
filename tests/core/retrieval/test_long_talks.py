"""Three long discussions with what changed in them, and questions that nothing in them answers: by the real model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.retrieval.local_store import LocalStore
from core.retrieval.search import SearchRequest, search
from tests.bench.memory_ours import DISCUSSIONS, filled, recall
from tests.bench.memory_sets import Changed, LongLife, long_talks, ten_kinds
from tests.core.retrieval.test_quality import OwnModel

LEAST_BESIDE, LEAST_EMPTY, MOST_OLD_FIRST, LEAST_OF_TEN_KINDS = 0.85, 0.75, 0.15, 0.52


@pytest.fixture(scope="module")
def long() -> LongLife:
    return long_talks(0)


@pytest.fixture(scope="module")
def store(long: LongLife, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStore]:
    model = OwnModel()
    made = filled(tmp_path_factory.mktemp("long") / "index", long.life, model, model.model.tokens.starts)
    yield made
    made.close()


def test_what_was_told_among_long_replies_stands_beside_the_question(
    long: LongLife, store: LocalStore
) -> None:
    told = [recall(store, long.life, OwnModel(), one.text)[0] for one in long.life.questions]
    held = [bool(one.evidence & set(marks)) for one, marks in zip(long.life.questions, told, strict=True)]
    assert sum(held) >= LEAST_BESIDE * len(held)


def test_three_in_four_questions_without_an_answer_recall_nothing(long: LongLife, store: LocalStore) -> None:
    told = {text: recall(store, long.life, OwnModel(), text)[1] for text in long.life.strange}
    assert sum(not tokens for tokens in told.values()) >= LEAST_EMPTY * len(told), told


def test_an_old_value_never_goes_along_without_the_new_one(long: LongLife, store: LocalStore) -> None:
    for one in long.changed:
        marks, _ = recall(store, long.life, OwnModel(), one.text)
        assert one.new in marks or one.old not in marks, one.text


def test_of_what_changed_the_new_stands_first(long: LongLife, store: LocalStore) -> None:
    first = [_first(store, long, one) for one in long.changed]
    assert first.count("old") <= MOST_OLD_FIRST * len(first)


def _first(store: LocalStore, long: LongLife, one: Changed) -> str:
    asked = SearchRequest(query=one.text, corpora=DISCUSSIONS, count=60, by_evidence=True)
    for hit in search(store, OwnModel(), asked).hits:
        mark = long.life.talks[int(hit.path[5:])].turns[hit.lines.first - 1].mark
        if mark in {one.old, one.new}:
            return "old" if mark == one.old else "new"
    return ""


def test_ten_kinds_of_questions_about_another_s_long_discussions_have_their_evidence_beside_them(
    tmp_path: Path,
) -> None:
    model, life = OwnModel(), ten_kinds(0)
    store = filled(tmp_path / "index", life, model, model.model.tokens.starts)
    shares = [
        len(one.evidence & set(recall(store, life, model, one.text)[0])) / len(one.evidence)
        for one in life.questions
    ]
    store.close()
    assert sum(shares) >= LEAST_OF_TEN_KINDS * len(shares)
