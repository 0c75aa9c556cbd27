"""Of two that say the like the newer goes first and the older knows it: own pairs in five languages, in four forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.kernel.values.retrieval import ChunkKind, SearchHit
from core.retrieval.fusion import ChunkPlace, KindScores, by_source, fuse
from core.retrieval.successors import AgedText, newer_first, with_successors
from tests.core.retrieval.updates import FORMS, Later, answered, later, made, seen, updates

LEAST_NEW_FIRST, MOST_UNMARKED, MOST_TAKEN = 20, 4, 1
"""Of the 24 pairs, by words alone: newer ones first, older ones without a mark, later ones of another thing that took a place."""

LEAST_LATER, MOST_FALSE = 78, 16
"""Of 89 pairs newer ones first; of 61 that both hold, older ones that are marked all the same."""


def place(path: str, row: int = 1, line: int = 1) -> ChunkPlace:
    return ChunkPlace("shelf", row, path, line)


@pytest.mark.parametrize("form", FORMS)
def test_what_changed_stands_before_what_it_was_in_five_languages(tmp_path: Path, form: str) -> None:
    known = updates()
    store = made(tmp_path / "index", form, [(one.old, one.new, one.beside) for one in known], None)
    told = [seen(one, answered(store, form, one.ask, None)) for one in known]
    store.close()

    assert Counter(one.first for one in told)["new"] >= LEAST_NEW_FIRST
    assert sum(not one.is_old_marked for one in told) <= MOST_UNMARKED
    assert sum(one.is_beside_taken for one in told) <= MOST_TAKEN


def test_what_only_comes_to_what_is_known_takes_no_ones_place(tmp_path: Path) -> None:
    known = later()
    store = made(tmp_path / "index", "discussions", [(one.old, one.new) for one in known], None)
    told = [answered(store, "discussions", one.ask, None).hits for one in known]
    store.close()

    def is_marked(one: Later, hits: Sequence[SearchHit]) -> bool:
        return any(hit.text == one.old and hit.newer for hit in hits)

    def is_new_first(one: Later, hits: Sequence[SearchHit]) -> bool:
        return next((hit.text for hit in hits if hit.text in {one.old, one.new}), "") == one.new

    pairs = list(zip(known, told, strict=True))
    assert sum(is_new_first(*one) for one in pairs if one[0].takes_place) >= LEAST_LATER
    assert sum(is_marked(*one) for one in pairs if not one[0].takes_place) <= MOST_FALSE


@pytest.mark.parametrize(
    ("question", "is_successor"),
    [("Which cities did I visit?", False), ("Where did I go?", True), ("cities", False)],
)
def test_the_like_of_another_thing_takes_a_place_where_one_value_is_asked_for(
    question: str, is_successor: bool
) -> None:
    old, new = place("a", 1, 1), place("b", 2, 2)
    ranked = fuse([KindScores(kind=ChunkKind.CONVERSATION, keyword={old: 9.0, new: 4.0}, vector={})])
    words = {
        old: AgedText("In spring I did go by train to Oslo", "2026-01-01"),
        new: AgedText("In spring I did go by train to Bergen", "2026-02-01"),
    }

    assert (newer_first(ranked, words, question)[1] == {old: new}) is is_successor


def test_an_older_one_below_its_newer_is_marked_too_and_each_of_three_knows_the_newest() -> None:
    first, second, third = place("a", 1, 1), place("b", 2, 2), place("c", 3, 3)
    words = {
        first: AgedText("The build server runs at port 8080", "2026-01-01"),
        second: AgedText("The build server runs at port 8181", "2026-02-01"),
        third: AgedText("The build server runs at port 9090", "2026-03-01"),
    }
    ranked = fuse(
        [KindScores(kind=ChunkKind.CONVERSATION, keyword={third: 9.0, first: 5.0, second: 4.0}, vector={})]
    )

    order, newer = newer_first(ranked, words)

    assert order[0].candidate == third
    assert newer == {first: third, second: third}


def test_what_is_said_later_of_another_thing_takes_no_ones_place() -> None:
    old, other = place("a", 1, 1), place("b", 2, 2)
    words = {
        old: AgedText("Our rate limit at the weather service is 60 calls a minute", "2026-01-01"),
        other: AgedText("Our rate limit at the map service is 20 calls a minute", "2026-02-01"),
    }
    ranked = fuse([KindScores(kind=ChunkKind.CONVERSATION, keyword={old: 9.0, other: 4.0}, vector={})])

    assert newer_first(ranked, words, "What is our rate limit at the weather service?")[1] == {}


@pytest.mark.parametrize(
    ("later", "is_successor"),
    [("The west gate closes at 20:00 now", False), ("The gate in the east is shut at 20:00 now", True)],
)
def test_another_thing_named_where_the_asked_one_stood_takes_no_place(later: str, is_successor: bool) -> None:
    old, new = place("a", 1, 1), place("b", 2, 2)
    words = {
        old: AgedText("The east gate closes at 22:00", "2026-01-01"),
        new: AgedText(later, "2026-02-01"),
    }
    ranked = fuse([KindScores(kind=ChunkKind.CONVERSATION, keyword={old: 9.0, new: 4.0}, vector={})])

    assert (newer_first(ranked, words, "When does the east gate close?")[1] == {old: new}) is is_successor


@pytest.mark.parametrize(
    ("question", "is_successor"),
    [("Tell me about the gate", False), ("When does the gate open?", True)],
)
def test_a_change_of_another_side_takes_no_place_where_no_one_value_is_asked_for(
    question: str, is_successor: bool
) -> None:
    old, new = place("a", 1, 1), place("b", 2, 2)
    words = {
        old: AgedText("The gate opens at seven every morning", "2026-01-01"),
        new: AgedText("We changed the code of the gate to 8802 because of thieves", "2026-02-01"),
    }
    ranked = fuse([KindScores(kind=ChunkKind.CONVERSATION, keyword={old: 9.0, new: 4.0}, vector={})])

    assert (newer_first(ranked, words, question)[1] == {old: new}) is is_successor


def test_a_part_of_a_note_is_not_newer_for_standing_further_down() -> None:
    above, below = place("a", 1, 1), place("a", 2, 20)
    ranked = fuse([KindScores(kind=ChunkKind.PROSE, keyword={above: 9.0, below: 4.0}, vector={})])
    words = {
        above: AgedText("the build port is 8080 here", "2026-01-01", is_in_order=False),
        below: AgedText("the build port is 9090 here", "2026-01-01", is_in_order=False),
    }

    assert newer_first(ranked, words) == (ranked, {})


def test_the_newer_one_is_shown_where_its_source_has_better_passages() -> None:
    """Three further passages of a source are shown: the fourth is shown where it took the place of one that is."""
    best = {place("long", row, row): 20.0 - row for row in range(1, 5)}
    old, new = place("short", 8, 1), place("long", 9, 9)
    ranked = fuse([KindScores(kind=ChunkKind.PROSE, keyword={**best, new: 6.0, old: 5.0}, vector={})])
    sources = by_source(ranked, 10)
    assert new not in {one.candidate for one in sources[0].also}

    shown = with_successors(sources, ranked, {old: new}, 10)

    assert [one.candidate for one in shown[0].also][-1] == new
    assert shown[1] == sources[1]


def test_the_newer_one_is_shown_where_its_source_is_not() -> None:
    places = {place(name, row, 1): 9.0 - row for row, name in enumerate("abcd", 1)}
    new = place("e", 5, 1)
    ranked = fuse([KindScores(kind=ChunkKind.PROSE, keyword={**places, new: 1.0}, vector={})])
    old = next(one for one in places if one.path == "c")

    shown = with_successors(by_source(ranked, 4), ranked, {old: new}, 4)

    assert [one.best.candidate.path for one in shown] == ["a", "b", "e", "c"]


def test_of_two_that_say_the_like_the_newer_goes_first_and_the_older_knows_it() -> None:
    old, new, other = place("a", 1, 1), place("b", 2, 2), place("c", 3, 3)
    words = {
        old: AgedText("The build server runs at port 8080", "2026-01-01"),
        new: AgedText("The build server now runs at port 9090", "2026-02-01"),
        other: AgedText("The harbour master is called Ada", "2026-03-01"),
    }
    ranked = fuse(
        [KindScores(kind=ChunkKind.CONVERSATION, keyword={old: 9.0, other: 5.0, new: 4.0}, vector={})]
    )

    order, newer = newer_first(ranked, words)

    assert [one.candidate for one in order] == [new, old, other]
    assert newer == {old: new}
    assert order[0].score >= order[1].score


def test_turns_of_one_discussion_age_by_their_number_and_unlike_ones_not_at_all() -> None:
    first, last = place("a", 1, 1), place("a", 2, 7)
    ranked = fuse([KindScores(kind=ChunkKind.CONVERSATION, keyword={first: 9.0, last: 4.0}, vector={})])
    like = {
        first: AgedText("the build port is 8080 here", ""),
        last: AgedText("the build port is 9090 here", ""),
    }
    unlike = {
        first: AgedText("the build port is 8080 here", ""),
        last: AgedText("somebody else came by train", ""),
    }

    assert [one.candidate for one in newer_first(ranked, like)[0]] == [last, first]
    assert newer_first(ranked, unlike) == (ranked, {})


def test_two_that_answer_the_same_question_need_less_in_common() -> None:
    old, new = place("a", 1, 1), place("b", 2, 2)
    ranked = fuse([KindScores(kind=ChunkKind.CONVERSATION, keyword={old: 9.0, new: 4.0}, vector={})])
    words = {
        old: AgedText("The builder asks 18,400 euros for the bathroom with the walk-in shower", "2026-01-01"),
        new: AgedText("His second offer for the bathroom, said the builder, is 15,900 euros", "2026-02-01"),
    }
    asked = "How much does the builder want for the bathroom?"

    assert newer_first(ranked, words)[1] == {}
    assert newer_first(ranked, words, asked)[1] == {old: new}


def test_a_reply_renews_no_word_of_a_person() -> None:
    said, echoed = place("a", 1, 1), place("a", 2, 2)
    ranked = fuse([KindScores(kind=ChunkKind.CONVERSATION, keyword={said: 9.0, echoed: 4.0}, vector={})])
    words = {
        said: AgedText("the build port is 8080 here", "", "user"),
        echoed: AgedText("so the build port is 8080 here", "", "assistant"),
    }

    assert newer_first(ranked, words) == (ranked, {})
