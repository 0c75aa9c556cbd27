"""Words of a text and of a question: one way for all texts, in any script."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.words import TOKENIZER, fts_expression, indexed_text, query_terms, sentences, words


def _finds(text: str, query: str) -> bool:
    """Whether FTS5 finds all the terms of a question in a text."""
    db = sqlite3.connect(":memory:")
    try:
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5(words, content='', tokenize={TOKENIZER})")
        db.execute("INSERT INTO t(rowid, words) VALUES(1, ?)", (indexed_text(text),))
        terms = query_terms(query)
        asked = "SELECT count(*) FROM t WHERE t MATCH ?"
        return bool(terms) and all(
            db.execute(asked, (fts_expression((term,)),)).fetchone()[0] for term in terms
        )
    finally:
        db.close()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("备用钥匙放在冰箱里。", "冰箱"),
        ("昨日は冷蔵庫を買った。", "冷蔵庫"),
        ("昨日は冷蔵庫を買った。", "庫"),
        ("냉장고를 샀다", "냉장고"),
        ("ｶﾀｶﾅの本", "カタカナ"),
        ("ผมซื้อตู้เย็นเมื่อวาน", "ตู้เย็น"),
        ("मैंने किताब पढ़ी", "किताब"),
        ("iPhone版を使う", "iphone"),
        ("ＡＢＣ会社", "abc"),
        ("Łódź", "lodz"),
        ("Smørrebrød", "smorrebrod"),
        ("smorrebrod", "Smørrebrød"),
        ("Đà Nẵng", "da nang"),
        ("große Straße", "strasse"),
        ("ISPARTA'da ılık", "ilik"),
        ("İstanbul", "istanbul"),
        ("Ελλάς", "ελλασ"),
    ],
)
def test_a_word_is_found_where_it_stands(text: str, query: str) -> None:
    assert _finds(text, query)


@pytest.mark.parametrize(
    ("text", "query"), [("今天下雨，明天晴。", "冰箱"), ("バスに乗る", "ハス"), ("냉동실", "냉장고")]
)
def test_a_word_that_is_not_there_is_not_found(text: str, query: str) -> None:
    assert not _finds(text, query)


def test_a_run_is_asked_for_by_its_pairs_and_a_letter_by_itself() -> None:
    assert query_terms("冷蔵庫 猫") == ("冷蔵", "蔵庫", "猫")


@given(st.text(max_size=120))
def test_a_text_is_found_by_each_word_that_is_asked_of_it(text: str) -> None:
    assert set(query_terms(text)) <= set(words(text))


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=80))
def test_fts5_cuts_nothing_that_stands_between_two_blanks(text: str) -> None:
    db = sqlite3.connect(":memory:")
    try:
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5(words, content='', tokenize={TOKENIZER})")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        db.execute("INSERT INTO t(rowid, words) VALUES(1, ?)", (indexed_text(text),))
        assert db.execute("SELECT count(*) FROM v").fetchone()[0] == len(words(text))
    finally:
        db.close()


@given(st.text(st.sampled_from("aB3 _.!?-\n\t\x1f\x00'"), max_size=40))
def test_ascii_is_read_as_any_other_script(text: str) -> None:
    other = text + "\x00é"  # not ASCII, and no word or sentence of the text is another for it

    assert words(text) == words(other)[:-1]
    assert sentences(text)[:-1] == sentences(other)[:-1]
    assert "".join(sentences(text)) == text


def test_sentences_end_at_marks_and_lines() -> None:
    assert sentences("One. Two!\n\nThree\nFour 3.5") == ["One. ", "Two!\n\n", "Three\n", "Four 3.5"]
