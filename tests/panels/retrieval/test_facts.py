"""Words and figures of retrieval."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    ChunkKind,
    Corpus,
    CorpusCount,
    IndexProgress,
    IndexReport,
    SearchAnswer,
    SearchHit,
    SearchMode,
)
from panels.retrieval import index
from tests.panels.retrieval import retrieval_states as rs


def test_a_snippet_begins_before_the_first_word_that_was_found_and_at_a_word() -> None:
    text = "before " * 60 + "the harbour flooded " + "after " * 60

    shown = index.snippet(text, ("Harbour",))

    assert shown.startswith("… before")
    assert 0 < shown.index("harbour") < 100
    assert len(shown) <= index.SNIPPET_CHARS + 2


def test_a_snippet_of_a_short_passage_is_all_of_it_on_one_line() -> None:
    assert index.snippet("one\n two\tthree", ("three",)) == "one two three"
    assert index.snippet("", ("x",)) == ""


def test_words_that_say_nothing_are_not_marked() -> None:
    assert index.marked_terms("Why did the Hafen-Tor flood? a K7") == (
        "Hafen",
        "Tor",
        "flood",
        "K7",
    )


@pytest.mark.parametrize(
    ("progress", "said", "share"),
    [
        (IndexProgress(), "Looking at files", 0.0),
        (IndexProgress(3, 12), "Reading 3 of 12 files", 0.25),
        (IndexProgress(12, 12, 30, 120), "Making vectors: 30 of 120", 0.25),
        (IndexProgress(12, 12, 30), "Making vectors: 30", 0.0),
    ],
)
def test_progress_says_what_is_done(progress: IndexProgress, said: str, share: float) -> None:
    assert index.progress_words(progress, is_paused=False) == said
    assert index.progress_share(progress) == share
    assert index.progress_words(progress, is_paused=True) == "Paused"


def test_a_corpus_without_vectors_says_so() -> None:
    assert index.count_words(CorpusCount(Corpus.NOTES, 2, 5, 5)) == "2 files · 5 passages · no vectors yet"
    assert index.count_words(CorpusCount(Corpus.DISCUSSIONS, 1)) == "1 discussion"


def test_a_passage_of_markdown_is_shown_without_its_marks_and_its_title_and_code_as_it_is() -> None:
    text = "# Storm surge\n\n**Tags:** sea\n\n## Why\nA `gale`."
    note = SearchHit(Corpus.NOTES, ChunkKind.PROSE, "a.md", "Storm surge", LineRange(1, 6), "", text, 1.0)
    code = SearchHit(Corpus.PROJECT, ChunkKind.CODE, "a.py", "a", LineRange(1, 1), "", "# x ** y", 1.0)

    assert index.plain(note).split() == ["Tags:", "sea", "Why", "A", "gale."]
    assert index.plain(code) == "# x ** y"


def test_front_matter_is_shown_only_where_it_alone_holds_a_word_that_was_asked_for() -> None:
    """What stood in front of it was all that one read of a note that its meaning had found."""
    text = "---\ntitle: Night train\ntags: [norway]\n---\n\n# Night train\n\nBook the sleeper early."
    note = SearchHit(Corpus.NOTES, ChunkKind.PROSE, "a.md", "Night train", LineRange(1, 8), "", text, 1.0)
    bare = replace(note, text="---\ntitle: Night train\n---\n")

    assert index.plain(note).split() == ["Book", "the", "sleeper", "early."]
    assert index.plain(note, ("sleeper", "norway")).split() == ["Book", "the", "sleeper", "early."]
    assert "tags: [norway]" in index.plain(note, ("norway",))
    assert "title: Night train" in index.plain(bare)


@pytest.mark.parametrize(
    ("mode", "mark"),
    [
        (SearchMode.HYBRID, "By words, and partly by meaning."),
        (SearchMode.KEYWORD, "By words only."),
        (SearchMode.NAVIGATION_ONLY, "By titles, tags and descriptions only."),
    ],
)
def test_an_answer_that_is_not_the_whole_one_says_what_answered(mode: SearchMode, mark: str) -> None:
    answer = SearchAnswer("sea", mode=mode, degraded=True, reason="It is away.", remedy="Wait")

    assert index.degraded_words(answer) == (mark, "It is away. Wait.")
    here = index.degraded_words(replace(answer, is_of_this_machine=True))
    assert here[0] == ("In the index on this machine." if mode is SearchMode.HYBRID else mark)


def test_a_file_has_one_place_whichever_folder_it_counts_in() -> None:
    """A note is opened by the path that is read, and two folders of notes are told apart."""
    state = rs.off()
    root = state.config.project.root
    assert root

    def place(scope: str, path: str) -> str:
        hit = SearchHit(Corpus.NOTES, ChunkKind.PROSE, path, "T", LineRange(1, 2), "T", "", 1.0, scope=scope)
        return index.hit_place(state, hit)

    assert place(f"{root}/notes", "home/boiler.md") == "notes/home/boiler.md · lines 1 to 2"
    assert place(root, "notes/home/boiler.md") == "notes/home/boiler.md · lines 1 to 2"
    assert place("/elsewhere/notes", "boiler.md") == "/elsewhere/notes/boiler.md · lines 1 to 2"
    assert place("", "concepts.md") == "concepts.md · lines 1 to 2"


def test_a_run_over_a_part_says_how_much_there_is_beside_it() -> None:
    counts = (CorpusCount(Corpus.NOTES, 26, 90), CorpusCount(Corpus.KNOWLEDGE, 1, 4))
    assert (
        index.run_words(IndexReport(0, 1, counts=counts, is_part=True))
        == "27 sources in the index, 0 read just now"
    )
    assert index.run_words(IndexReport(0, 27, counts=counts)) == "0 sources read, 27 unchanged"
