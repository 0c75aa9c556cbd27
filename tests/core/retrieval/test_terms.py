"""Terms: the words that FTS5 would see, without those that say nothing, and no character of theirs is syntax."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.words import MAX_TERMS, TOKENIZER, fts_expression, query_terms
from core.retrieval.local_store import fts_tokens


def test_stop_words_are_left_out_and_a_query_of_them_alone_keeps_none() -> None:
    assert query_terms("How do I read the File?") == ("read", "file")
    assert query_terms("what is it that you have") == ()


@given(st.text(max_size=300))
def test_no_query_is_a_fault_of_syntax(query: str) -> None:
    terms = query_terms(query)
    db = sqlite3.connect(":memory:")
    try:
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5(words, tokenize={TOKENIZER})")
        db.execute("INSERT INTO t VALUES(?)", (query,))
        if terms:
            db.execute("SELECT count(*) FROM t WHERE t MATCH ?", (fts_expression(terms),)).fetchone()
    finally:
        db.close()


def test_words_of_other_scripts_are_terms_and_a_long_query_is_bounded() -> None:
    assert query_terms("naïve Größe 検索") == ("naive", "grosse", "検索")
    assert len(query_terms(" ".join(f"word{n}" for n in range(100_000)))) == MAX_TERMS


def test_tokens_of_many_texts_are_those_of_each_alone() -> None:
    texts = ["Tides, moving", "", "tide 3.5 Füße 月", "x " * 300]

    assert fts_tokens().of_each(texts) == [fts_tokens().of(one) for one in texts]


def test_a_text_that_sqlite_refuses_leaves_nothing_for_the_next() -> None:
    with pytest.raises(UnicodeEncodeError):
        fts_tokens().of_each(["tide", "\ud800"])

    assert fts_tokens().of("moon") == ["moon"]
