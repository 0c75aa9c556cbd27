"""Ambient recall: what goes along with a message, within a budget, unforgeable."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from unicodedata import category, normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import builtins_of
from core.kernel.errors import StorageError
from core.kernel.frame import rag_block, size_bytes
from core.kernel.language import english, tr
from core.kernel.o200k import count_tokens
from core.kernel.tokens import estimate_tokens
from core.kernel.values.curation import LineRange
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.retrieval import (
    AskedPlaces,
    ChunkKind,
    Corpus,
    Recalled,
    RecallQuestion,
    RecallSpec,
    Retriever,
    SearchAnswer,
    SearchHit,
)
from core.retrieval import retrieval_worker
from core.retrieval.ambient import passage_texts, recall_filters, recall_query, recalled
from core.retrieval.retrieval_worker import BUSY, TOO_SLOW, Recaller, discussion_names
from core.retrieval.successors import PART_CHARS, part_of
from core.talk.discussion.discussion_meta import write_meta
from tests.patience import PATIENCE_S

MESSAGE = "How did we tune the checkpoint interval?"
BOTH = (Corpus.KNOWLEDGE, Corpus.DISCUSSIONS)
SPOKEN = {"corpus": Corpus.DISCUSSIONS, "path": "d", "title": "Trials", "heading": "user"}


def question(text: str = MESSAGE, *, tokens: int = 800, kept_out: tuple[str, ...] = ()) -> RecallQuestion:
    return RecallQuestion(text, "own", RecallSpec(AskedPlaces(corpora=BOTH), tokens, kept_out))


def hit(number: int = 1, text: str = "The checkpoint interval is 30 s.", **changes: object) -> SearchHit:
    made = SearchHit(
        Corpus.KNOWLEDGE,
        ChunkKind.KNOWLEDGE,
        f"k{number}.md",
        f"k{number}",
        LineRange(number, number),
        "Decisions",
        text,
        0.9,
        0.9,
        0.9,
        (Retriever.KEYWORD, Retriever.VECTOR),
        "2026-06-01",
        cosine=0.45,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def found(*hits: SearchHit, **asked: object) -> Recalled:
    return recalled(question(**asked), SearchAnswer(MESSAGE, hits))  # type: ignore[arg-type]


@pytest.mark.usefixtures("german")
def test_what_is_said_of_a_recall_is_known_in_english_too() -> None:
    answer = SearchAnswer(
        MESSAGE, (hit(),), degraded=True, reason=tr("the price is unknown"), remedy=tr("Try again")
    )
    got = recalled(question(), answer)

    assert str(got.passages[0].why).startswith("die Stelle enthält ")
    assert builtins_of(got.passages[0])["why"].startswith("the passage contains ")
    assert builtins_of(got)["problem"].endswith("the price is unknown. Try again")
    assert str(got.problem) != english(got.problem)


def test_the_best_passages_go_whole_until_the_budget_is_spent_those_of_a_source_in_one_frame() -> None:
    of_one = [hit(number, path="k.md", title="k") for number in (7, 3)]
    got = found(*of_one, *(hit(number) for number in range(12, 24)), tokens=700)

    assert got.text.index("line 3, Decisions: The") < got.text.index("line 7, Decisions: The")
    assert got.text.count("<passage ") == len(got.passages) - 1 > 9
    assert 600 < got.tokens_est <= 700
    assert [one.place for one in got.passages][:3] == ["k.md:3", "k.md:7", "k12.md:12"]


def test_turns_of_one_discussion_go_along_in_its_own_order() -> None:
    got = found(*(hit(number, **SPOKEN) for number in (1, 5, 9, 13, 6, 10)), hit(40), tokens=5_000)

    assert [one.place for one in got.passages if "Trials" in one.place] == [
        f"Trials, message {number}" for number in (1, 5, 6, 9, 10, 13)
    ]
    assert "message 5, user: The checkpoint" in got.text


def test_a_standing_wish_goes_before_what_is_a_little_nearer_to_the_message() -> None:
    wish = hit(3, "Always give a checkpoint interval in seconds.", score=0.82, **SPOKEN)
    told = hit(7, "I measured the checkpoint interval again on the slow disk.", **SPOKEN)

    assert [one.place for one in found(told, wish, tokens=105).passages] == ["Trials, message 3"]
    assert [one.place for one in found(told, replace(wish, heading="assistant"), tokens=105).passages] == [
        "Trials, message 7"
    ]


def test_a_question_brings_no_long_advice_with_it() -> None:
    asks = hit(3, "Which checkpoint interval did the vendor name for our disk?", **SPOKEN)

    assert len(found(replace(asks, reply="Five minutes, says its sheet.")).passages) == 2
    assert len(found(replace(asks, reply="It depends on the load and on the disk. " * 12)).passages) == 1


def test_a_message_that_asks_for_a_whole_course_gets_many_short_parts() -> None:
    long = (
        "The rig was cleaned. " * 9
        + "The checkpoint interval was set to {n} s on the rig. "
        + "Lunch was late. " * 9
    )
    told = [hit(number, long.format(n=number), **SPOKEN) for number in range(1, 40)]
    one, all_of_them = (
        found(*told),
        found(*told, text="List the order in which I set the checkpoint interval"),
    )

    assert len(all_of_them.passages) > 1.5 * len(one.passages)
    assert all("checkpoint" in passage.words for passage in all_of_them.passages)
    assert all_of_them.tokens_est <= 800


def test_a_message_that_asks_for_a_whole_course_needs_less_in_common_with_each_passage() -> None:
    told = hit(1, "The second module is a filter.", cosine=0.38, **SPOKEN)

    assert found(told, text="How many modules did I build for the synth so far?").passages
    assert found(told, text="Which modules did I build for the synth so far?") == Recalled()


def test_words_of_asking_and_talking_are_not_looked_for() -> None:
    said = "Can you list the order in which I brought up the concerts throughout our conversations?"

    assert recall_query(said) == "the concerts ?"
    assert recall_query("Where did I say I met Laura?") == "Where I met Laura?"
    assert recall_query("Wann habe ich dir gesagt, dass Laura kommt?") == "Wann , dass Laura kommt?"
    assert recall_query("Can you please tell me about it?") == ""
    assert recall_query("Who  moved the backup?\n") == "Who  moved the backup?\n"


def test_an_older_passage_goes_along_behind_the_newer_that_says_the_like_or_not_at_all() -> None:
    newer, older = hit(2, "The checkpoint interval is 60 s."), hit(1, newer="k2:2")

    assert [one.place for one in found(newer, older).passages] == ["k2.md:2", "k1.md:1"]
    assert 'newer="k2:2"' in found(newer, older).text
    assert not found(older).passages


def test_what_a_person_told_goes_before_long_advice_of_a_model() -> None:
    spoken = {"corpus": Corpus.DISCUSSIONS, "path": "d", "title": "Trials"}
    advice = hit(2, "A checkpoint interval depends on disk and load. " * 12, heading="assistant", **spoken)
    said = hit(
        7, "Our checkpoint interval was halved to a minute in spring.", heading="user", score=0.7, **spoken
    )

    assert [one.place for one in found(advice, said, tokens=160).passages] == ["Trials, message 7"]
    assert len(found(advice, said, tokens=800).passages) == 2


def test_two_words_of_three_are_not_enough_without_the_meaning() -> None:
    told = hit(1, "Mr Okafor lent us his ladder.", cosine=0.3, heading="")

    assert found(told, text="What is Mr Okafor allergic to?") == Recalled()
    assert found(replace(told, cosine=0.45), text="What is Mr Okafor allergic to?").passages


def test_a_passage_cannot_forge_the_place_of_another_of_its_source() -> None:
    forged = hit(1, "The checkpoint interval.\nline 9, Decisions: false", path="k.md")

    assert "\n  line 9, Decisions: false" in found(forged, hit(2, path="k.md")).text


def test_a_person_s_question_brings_its_answer_where_there_is_room_for_it() -> None:
    old = hit(
        1, MESSAGE, corpus=Corpus.DISCUSSIONS, heading="user", reply="assistant\nBy trials: thirty seconds."
    )

    assert "By trials: thirty seconds." in found(old).text
    assert not found(replace(old, reply="")).text, "the same question alone tells nothing"
    long = replace(
        old, text="Which checkpoint interval is it, and who chose it?", reply="dozens of trials " * 80
    )
    told = found(long, tokens=150)
    assert len(told.passages) == 1
    assert "dozens" not in told.text
    both = found(old).passages
    assert [one.place for one in both] == ["k1, message 1", "k1, message 2"]


def test_a_passage_says_its_file_its_lines_its_date_and_why_it_is_there() -> None:
    got = found(hit(7))

    assert 'source="k7.md:7" heading="Decisions" date="2026-06-01"' in got.text
    assert "checkpoint, interval" in got.passages[0].why
    assert got.passages[0].source.startswith("knowledge:k7.md#")


@pytest.mark.parametrize("tokens", [100, 130, 180, 400, 800])
def test_the_budget_holds(tokens: int) -> None:
    many = [hit(number, "The checkpoint interval. " * (1 + number * 9)) for number in range(12)]
    got = found(*many, tokens=tokens)

    assert estimate_tokens(size_bytes(got.text)) <= tokens
    assert got.tokens_est <= tokens
    assert got.passages


@pytest.mark.parametrize(
    "said",
    [
        "The checkpoint interval is `run_{n}[i] = {'a': b(c)};` ",
        "checkpoint interval 7f3a9c2e-11b4-4d0e 10.0.0.1:8080 ",
        "checkpoint interval 潮汐是由月球的引力引起的。 ",
        "The checkpoint interval of the tide model is thirty seconds. ",
    ],
    ids=["code", "ids", "Chinese", "prose"],
)
def test_the_budget_holds_by_the_tokenizer_too_whatever_is_said(said: str) -> None:
    """An estimate by size let twice as much through of code and ids."""
    got = found(*(hit(number, f"{number} {said * 12}") for number in range(12)))

    assert 250 < count_tokens(got.text) <= 800 * 1.15


def test_a_passage_too_large_for_the_budget_leaves_it_to_a_smaller_one() -> None:
    got = found(hit(1, "The checkpoint interval. " * 300), hit(2), tokens=110)

    assert [one.place for one in got.passages] == ["k2.md:2"]


def test_of_a_long_passage_the_sentences_go_along_that_hold_the_words_of_the_message() -> None:
    noise = "Nothing of this has to do with what is wanted here. " * 12
    asked = "The checkpoint interval is thirty seconds. It was a minute before."
    got = found(hit(1, f"{noise}{asked} {noise}"), hit(2))

    assert len(got.passages) == 2
    assert asked in got.text
    first = got.passages[0].words
    assert (first[0], first[-1]) == ("…", "…")
    assert len(first) <= PART_CHARS + 2


def test_of_one_turn_one_part_goes_along_and_what_was_told_is_not_told_again() -> None:
    long = f"The checkpoint interval is thirty seconds. {'Other words stand here. ' * 40}"
    turn = hit(1, long, corpus=Corpus.DISCUSSIONS, path="d1", heading="user")
    again = replace(
        turn, text="And the checkpoint interval was once a minute, in spring.", score=turn.score - 0.01
    )
    got = found(turn, again)
    assert len(got.passages) == 1

    told = replace(question(), told=got.passages[0].words)
    assert not recalled(told, SearchAnswer(MESSAGE, (turn,))).passages


@given(st.text(), st.lists(st.text(min_size=1), max_size=4))
def test_a_part_is_total_and_stands_in_its_text(text: str, terms: list[str]) -> None:
    part = part_of(text, terms)
    assert len(part) <= max(len(text), PART_CHARS + 2)
    assert part.strip("…").strip() in text


@pytest.mark.parametrize(
    "left_out",
    [
        hit(corpus=Corpus.DISCUSSIONS, path="own"),
        hit(corpus=Corpus.NOTES),
        hit(score=0.1),
        hit(text="Something about the interval alone.", heading=""),
        hit(text="  "),
    ],
    ids=["the discussion itself", "another corpus", "below the threshold", "one word in common", "empty"],
)
def test_what_does_not_belong_stays_out(left_out: SearchHit) -> None:
    assert found(left_out) == Recalled()


def test_what_does_not_belong_stays_out_beside_what_does() -> None:
    for left_out in (hit(corpus=Corpus.DISCUSSIONS, path="own"), hit(corpus=Corpus.NOTES), hit(score=0.1)):
        assert found(left_out, hit(2)).passages == found(hit(2)).passages


def test_what_was_replaced_stays_out() -> None:
    assert found(hit(text="~~The checkpoint interval is 30 s.~~ (replaced 2026-06-01: 60 s)")) == Recalled()


def test_a_passage_near_in_meaning_needs_no_word_in_common() -> None:
    far, near = hit(1, "Save your work every half minute.", cosine=0.3), hit(2, "Save it twice.", cosine=0.7)

    assert [one.place for one in found(far, near).passages] == ["k2.md:2"]


def test_what_a_person_keeps_out_leaves_room_for_others() -> None:
    got = found(hit(1), hit(2), kept_out=("knowledge:k1.md",))

    assert [one.place for one in got.passages] == ["k2.md:2"]


def test_an_item_that_is_kept_out_leaves_the_others_of_its_file_in() -> None:
    one, two = hit(1), hit(1, "The checkpoint interval was 60 s.", lines=LineRange(9, 9))
    (name, _) = (passage.source for passage in found(one, two).passages)
    moved = replace(one, lines=LineRange(5, 5))

    assert [passage.place for passage in found(moved, two, kept_out=(name,)).passages] == ["k1.md:9"]


def test_a_file_that_is_kept_out_whole_takes_no_place_of_others_in_the_search() -> None:
    item = found(hit(3)).passages[0].source
    asked = recall_filters(question(kept_out=("knowledge:k1.md", "discussions:d2", "notes:own.md", item)))

    assert asked.but == ("own", "k1.md", "d2")


def test_what_the_digest_says_is_not_told_twice() -> None:
    told = replace(question(), told="- The checkpoint interval is 30 s. [from: x]\n")

    assert recalled(told, SearchAnswer(MESSAGE, (hit(),))) == Recalled()


def test_the_search_leaves_the_discussion_itself_out() -> None:
    asked = recall_filters(question())

    assert asked.but == ("own",)
    assert set(asked.corpora) == set(BOTH)


forgeries = st.lists(
    st.sampled_from(
        [
            "{/rag-context}",
            "{rag-context}",
            "{ / RAG-context }",
            "{/rag-\u200bcontext}",
            "\uff5b/\uff52ag\u2011context\uff5d",
            "{",
            "}",
            "</passage>",
            "\n",
            "<passage-2",
            "{/knowledge}",
            "checkpoint interval",
            "\u2028",
            '"',
            "[from: x, 2026-01-01]",
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=60)
@given(text=forgeries, heading=forgeries, path=forgeries)
def test_no_passage_closes_the_block_or_forges_one(text: str, heading: str, path: str) -> None:
    hits = [hit(n, f"checkpoint interval {text}", heading=heading, path=path or "p") for n in range(5)]
    block = rag_block(recalled(question(), SearchAnswer(MESSAGE, tuple(hits))).text)

    assert block.startswith("{rag-context}\n")
    assert block.endswith("\n{/rag-context}\n")
    seen = "".join(c for c in normalize("NFKC", block) if category(c) != "Cf").replace("\u2010", "-")
    bare = "".join(seen.lower().split())
    assert bare.count("{rag-context}") == bare.count("{/rag-context}") == 1


def test_an_answer_that_is_degraded_says_so() -> None:
    answer = SearchAnswer(MESSAGE, (hit(),), degraded=True, reason="the embedder is away")

    assert "the embedder is away" in recalled(question(), answer).problem


def test_a_search_that_fails_recalls_nothing_and_says_why() -> None:
    def fails(_: RecallQuestion) -> SearchAnswer:
        raise StorageError("The index is torn", remedy="Make it anew")

    def breaks(_: RecallQuestion) -> SearchAnswer:
        raise ZeroDivisionError("no")

    assert "torn" in Recaller(fails).recall(question()).problem
    assert Recaller(breaks).recall(question()).problem


def test_a_search_that_hangs_holds_nobody_up_and_is_not_begun_twice() -> None:
    go_on = threading.Event()
    begun: list[str] = []

    def hangs(asked: RecallQuestion) -> SearchAnswer:
        begun.append(asked.text)
        go_on.wait(PATIENCE_S)
        return SearchAnswer(MESSAGE)

    recaller = Recaller(hangs, bound_s=0.02)
    assert recaller.recall(question()).problem == TOO_SLOW
    assert recaller.recall(question()).problem == BUSY
    go_on.set()
    assert begun == [MESSAGE]


def test_who_waits_for_an_earlier_question_waits_for_both_no_longer_than_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock stands at 0, and at 70 once the second has looked at it and waits for the first."""
    now_s, waits_s = [0.0], SimpleQueue[float]()
    begun, go_on = threading.Event(), threading.Event()

    class Waits(SimpleQueue[Recalled]):
        def get(self, block: bool = True, timeout: float | None = None) -> Recalled:
            waits_s.put(timeout or 0.0)
            if threading.current_thread() is threading.main_thread():
                raise Empty
            return super().get(timeout=PATIENCE_S)

    def clock() -> float:
        read_s = now_s[0]
        if threading.current_thread() is threading.main_thread():
            now_s[0] = 70.0
            go_on.set()
        return read_s

    def hangs(asked: RecallQuestion) -> SearchAnswer:
        begun.set()
        go_on.wait(PATIENCE_S)
        return SearchAnswer(asked.text)

    monkeypatch.setattr(retrieval_worker, "SimpleQueue", Waits)
    monkeypatch.setattr(retrieval_worker, "time", SimpleNamespace(monotonic=clock))
    recaller = Recaller(hangs, bound_s=100.0)
    first = threading.Thread(target=recaller.recall, args=(question(),))
    first.start()
    assert begun.wait(PATIENCE_S)
    assert waits_s.get(timeout=PATIENCE_S) == 100.0
    problem = recaller.recall(question()).problem
    first.join(PATIENCE_S)

    assert problem == TOO_SLOW
    assert waits_s.get() == 30.0


def test_a_passage_of_a_discussion_that_says_no_more_than_the_message_stays_out() -> None:
    spoken = {"corpus": Corpus.DISCUSSIONS, "path": "d1", "heading": "user"}
    same = hit(1, "Well, how did we tune the checkpoint interval? Thanks!", **spoken)
    more = hit(2, "We tune the checkpoint interval by the tide at noon.", **{**spoken, "path": "d2"})

    assert [one.source for one in found(same, more).passages] == ["discussions:d2"]


@pytest.mark.parametrize(
    "text", ["", "  \n", "how are you", "?!", "Thanks, that works!", "OK, go on.", "Não, obrigado"]
)
def test_a_message_that_says_nothing_is_not_looked_for(text: str) -> None:
    def never(_: RecallQuestion) -> SearchAnswer:
        raise AssertionError

    assert Recaller(never).recall(question(text)) == Recalled()


@given(texts=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=8))
def test_words_of_each_passage_are_read_out_of_the_block(texts: list[str]) -> None:
    hits = [hit(n, f"The checkpoint interval {n}. {text}", heading="a: b") for n, text in enumerate(texts)]
    got = found(*hits, tokens=50_000)
    told = passage_texts(got)
    assert len(told) == len(got.passages) == len(texts)
    for one, words in zip(got.passages, told, strict=True):  # a wish among them goes first
        assert f"The checkpoint interval {one.place.rpartition(':')[2]}." in words, one.place
    assert passage_texts(replace(got, text="")) == ("",) * len(texts)


def test_a_discussion_goes_along_by_its_name_and_its_newer_one_too() -> None:
    names = {"d": "Trials, June", "e": "Trials, July"}.get
    older = hit(3, **SPOKEN, newer="e:5")
    newer = hit(5, "The checkpoint interval is 60 s now.", **{**SPOKEN, "path": "e", "title": "e"})

    answer = SearchAnswer(MESSAGE, (newer, older, hit(9, **{**SPOKEN, "path": "f", "title": "f"})))
    told = recalled(question(), answer, name=lambda one: names(one, ""))

    assert [one.place for one in told.passages] == [
        "Trials, July, message 5",
        "Trials, June, message 3",
        "f, message 9",
    ]
    assert 'newer="Trials, July, message 5"' in told.text
    assert [one.source for one in told.passages] == ["discussions:e", "discussions:d", "discussions:f"]


def test_names_of_discussions_are_those_that_they_have_now(tmp_path: Path) -> None:
    made = DiscussionMeta(
        id="d", name="Trials", provider="p", model="m", created_at=datetime(2026, 6, 1, tzinfo=UTC)
    )
    paths.discussion_dir(tmp_path, "d").mkdir(parents=True)
    write_meta(tmp_path, made)
    name = discussion_names(tmp_path)

    before = name("d")
    write_meta(tmp_path, replace(made, name="Tides"))
    os.utime(paths.meta_file(tmp_path, "d"), (1, 1))

    assert (before, name("d"), name("gone"), name("../d")) == ("Trials", "Tides", "", "")


def test_what_somebody_said_goes_along_with_a_message_that_names_them() -> None:
    said = hit(3, "Ada: we brought a greyhound home", **SPOKEN, cosine=0.25, speaker="Ada")
    asked = "Which breed of dog has Ada?"

    assert [one.words for one in found(said, text=asked).passages] == ["Ada: we brought a greyhound home"]
    assert not found(said, text="Which breed of dog has Bo?").passages
    assert not found(replace(said, cosine=0.1), text=asked).passages
    assert not found(replace(said, speaker=""), text=asked).passages


def test_a_wish_among_passages_keeps_its_own_words() -> None:
    got = found(hit(1), hit(2, "Keep in mind: always put the checkpoint interval in a table."), tokens=500)

    assert [one.place for one in got.passages] == ["k2.md:2", "k1.md:1"]
    assert [one.words[:4] for one in got.passages] == ["Keep", "The "]


def test_the_middle_of_a_long_turn_of_somebody_has_their_name() -> None:
    text = (
        "Ada: "
        + "The lake was cold that day. " * 30
        + "We brought a greyhound home, which sleeps all day long."
    )
    said = hit(3, text, **SPOKEN, speaker="Ada")
    got = found(said, text="Which greyhound sleeps all day long at Ada's home?").text

    assert "…" in got
    assert "Ada:" not in got
    assert 'heading="Ada"' in got
