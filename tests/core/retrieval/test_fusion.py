"""Fusion: kinds normalised apart, weights by kind, the best chunk of each source, ties by path and line."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.retrieval import ChunkKind, Retriever
from core.retrieval.fusion import (
    VECTOR_WEIGHTS,
    ChunkPlace,
    KindScores,
    by_source,
    fuse,
    worth_showing,
)


def place(path: str, row: int = 1, line: int = 1) -> ChunkPlace:
    return ChunkPlace("shelf", row, path, line)


def test_scores_are_joined_by_the_weight_of_their_kind() -> None:
    a, b = place("a"), place("b", 2)
    ranked = fuse([KindScores(ChunkKind.PROSE, {a: 4.0, b: 1.0}, {a: 0.2, b: 0.6}, least=0.1)])
    scores = {one.candidate.path: one.score for one in ranked}
    weight = VECTOR_WEIGHTS[ChunkKind.PROSE]
    assert scores["a"] == pytest.approx((1 - weight) * 1.0 + weight * 0.2)
    assert scores["b"] == pytest.approx((1 - weight) * 0.25 + weight * 1.0)


def test_kinds_are_normalised_apart_and_merged_by_score() -> None:
    loud, quiet = place("loud"), place("quiet")
    ranked = fuse(
        [
            KindScores(ChunkKind.CODE, {loud: 100.0}, {}),
            KindScores(ChunkKind.KNOWLEDGE, {quiet: 0.5}, {}),
        ]
    )
    assert {one.candidate.path: one.score for one in ranked} == {"loud": 1.0, "quiet": 1.0}
    assert [one.candidate.path for one in ranked] == ["loud", "quiet"]


def test_a_kind_that_only_one_retriever_answered_is_ranked_by_it_alone() -> None:
    a, b = place("a"), place("b", 2)
    by_vector = fuse([KindScores(ChunkKind.CONVERSATION, {}, {a: 0.3, b: 0.5}, least=0.1)])
    assert [(one.candidate.path, one.score, one.found_by) for one in by_vector] == [
        ("b", 1.0, (Retriever.VECTOR,)),
        ("a", 0.5, (Retriever.VECTOR,)),
    ]


def test_meaning_alone_scores_no_more_than_its_cosine_is_worth() -> None:
    """Words that stand nowhere have a nearest passage, too: it is no find of 1.00, and the order stays."""
    a, b = place("a"), place("b", 2)
    far = fuse([KindScores(ChunkKind.PROSE, {}, {a: 0.187, b: 0.16}, least=0.05)])
    assert [one.candidate.path for one in far] == ["a", "b"]
    assert far[0].score == pytest.approx(0.187 / 0.5)
    assert far[1].score < far[0].score


def test_a_kind_that_holds_nothing_of_what_is_asked_for_does_not_come_first() -> None:
    asked, other, talk = place("migraine.md"), place("sleep.md", 2), place("a talk about something else")
    notes = KindScores(ChunkKind.PROSE, {asked: 3.0}, {asked: 0.6, other: 0.2}, least=0.1)
    talks = KindScores(ChunkKind.CONVERSATION, {}, {talk: 0.15}, least=0.05)
    assert [one.candidate for one in fuse([talks, notes])] == [asked, talk, other]

    by_meaning = [replace(notes, keyword={}), talks]
    ranked = fuse(by_meaning)
    scores = {one.candidate: one.score for one in ranked}
    assert scores[asked] == 1.0
    assert scores[talk] == pytest.approx(0.15 / 0.6)
    assert all(one.score == pytest.approx(one.vector, abs=1e-6) for one in ranked), "what is shown adds up"


def test_by_keywords_a_kind_counts_by_what_its_best_holds_of_the_query() -> None:
    note, talk = place("note"), place("a talk that shares one common word")
    notes = KindScores(ChunkKind.PROSE, {note: 0.3}, {}, held=2.0)
    talks = KindScores(ChunkKind.CONVERSATION, {talk: 9.0}, {}, held=0.5)
    assert [(one.candidate, one.score) for one in fuse([talks, notes])] == [(note, 1.0), (talk, 0.25)]
    assert [one.score for one in fuse([talks])] == [1.0]


def test_what_holds_none_of_the_words_and_is_far_off_is_not_found() -> None:
    near, far, worded = place("near"), place("far", 2), place("worded", 3)
    cosines = {near: 0.8, far: 0.19, worded: 0.01}
    notes = KindScores(ChunkKind.PROSE, {worded: 1.0}, cosines)
    assert {one.candidate for one in worth_showing(fuse([notes]))} == {near, worded}
    assert worth_showing(fuse([KindScores(ChunkKind.PROSE, {}, {far: 0.14})])) == ()
    assert len(worth_showing(fuse([KindScores(ChunkKind.PROSE, {}, {far: 0.19})]))) == 1


def test_a_source_comes_once_by_its_best_chunk_with_three_more() -> None:
    chunks = {place("long", row, row): float(10 - row) for row in range(1, 8)}
    ranked = fuse([KindScores(ChunkKind.PROSE, {**chunks, place("short", 9): 1.0}, {})])
    long, short = by_source(ranked, 10)
    assert (long.best.candidate.line, [one.candidate.line for one in long.also]) == (1, [2, 3, 4])
    assert short.best.candidate.path == "short"


def test_a_discussion_of_many_fitting_turns_is_shown_before_one_of_a_single_better_turn() -> None:
    """The order stays that of the best turns; a file gains nothing by its length."""
    broad = {place("broad", row, row): 5.0 for row in range(1, 9)}
    scores = {place("best", 20): 9.0, place("single", 21): 5.5, **broad}

    def shown(kind: ChunkKind) -> list[str]:
        found = by_source(fuse([KindScores(kind=kind, keyword=scores, vector={})]), 2)
        return [one.best.candidate.path for one in found]

    assert shown(ChunkKind.CONVERSATION) == ["best", "broad"]
    assert shown(ChunkKind.PROSE) == ["best", "single"]


def test_each_item_of_knowledge_is_a_source_and_its_own_parts_are_named() -> None:
    """What is known of one matter may all stand in `facts.md`."""
    items = {place("facts.md", 1, 7): 3.0, place("facts.md", 2, 9): 2.0, place("facts.md", 3, 7): 1.0}
    first, second = by_source(fuse([KindScores(ChunkKind.KNOWLEDGE, items, {})]), 10)
    assert (first.best.candidate.line, [one.candidate.row for one in first.also]) == (7, [3])
    assert (second.best.candidate.line, second.also) == (9, ())


def test_a_file_that_counts_in_several_corpora_and_folders_is_one_source() -> None:
    """A note lies in a folder of notes, in another one within it, and in a project that is searched itself."""
    readings = ("notes\0/p/notes\0sea/a.md", "notes\0/p/notes/sea\0a.md", "project\0/p\0notes/sea/a.md")
    chunks = {
        place(path, 10 * at + line, line): 1.0 / line for at, path in enumerate(readings) for line in (1, 2)
    }
    other = {place("project\0/p\0notes/sea/b.md", 90): 0.1, place("knowledge\0\0a.md", 91): 0.1}
    found = by_source(fuse([KindScores(ChunkKind.PROSE, {**chunks, **other}, {})]), 10)
    assert [one.best.candidate.path for one in found] == [
        readings[0],
        "knowledge\0\0a.md",
        "project\0/p\0notes/sea/b.md",
    ]
    assert [(one.candidate.path, one.candidate.line) for one in found[0].also] == [(readings[0], 2)]


def test_ties_go_by_path_then_line() -> None:
    tied = {place("b", 1, 5): 1.0, place("a", 2, 9): 1.0, place("a", 3, 2): 1.0}
    ranked = fuse([KindScores(ChunkKind.PROSE, tied, {})])
    assert [(one.candidate.path, one.candidate.line) for one in ranked] == [("a", 2), ("a", 9), ("b", 5)]
