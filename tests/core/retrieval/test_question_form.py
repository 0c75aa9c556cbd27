"""Form of a message: what speaks of the talk is not looked for, courses, single values and wishes are told apart, in many languages."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.kernel.words import query_terms
from core.retrieval.question_words import (
    LANGUAGES,
    asks_for_course,
    asks_for_value,
    is_foreign_by_words,
    is_wish,
    subject_of,
    telling_terms,
)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Do you remember my sister's name?", "my sister's name?"),
        ("Remind me which port we chose", "which port we chose"),
        ("Kannst du mir sagen, wo der Schlüssel ist?", "wo der Schlüssel ist?"),
        ("Weißt du noch, wie meine Schwester heißt?", "wie meine Schwester heißt?"),
        ("Qu’est-ce que je t’ai dit sur mon propriétaire ?", "mon propriétaire ?"),
        ("你还记得我妹妹的名字吗?", "我妹妹的名字吗?"),
        ("私が前に言った鍵の場所は?", "鍵の場所は?"),
        ("ماذا قلت لك عن المفتاح؟", "المفتاح؟"),
        ("How do I log messages within these requests?", "How do I log messages within these requests?"),
        ("What is in the order?", "What is in the order?"),
        ("Sort the list in order of size", "Sort the list in order of size"),
        ("Please", "Please"),
    ],
)
def test_what_speaks_of_the_talk_is_no_subject(text: str, subject: str) -> None:
    assert subject_of(text) == subject


@pytest.mark.parametrize(
    "text",
    [
        "How often do I water the plants?",
        "Can you list the order in which I brought up the concerts?",
        "Fasse unsere Gespräche über den Garten zusammen",
        "In welcher Reihenfolge habe ich die Bücher erwähnt?",
        "Combien de livres ai-je achetés ?",
        "¿Cuántos libros compré?",
        "Сколько книг я купил?",
        "كم كتابا اشتريت؟",
        "لخص محادثاتنا عن الحديقة",
        "我总共买了多少本书?",
        "私は何回京都に行きましたか?",
        "책을 몇 권 샀어요?",
    ],
)
def test_a_whole_course_is_asked_for(text: str) -> None:
    assert asks_for_course(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where is my resume?",
        "Resume the download",
        "Why is there no total on the invoice?",
        "Send my résumé to Ada",
        "Что мне больше всего нравится?",
    ],
)
def test_a_word_of_two_languages_asks_for_no_course(text: str) -> None:
    assert not asks_for_course(text)


@pytest.mark.parametrize(
    "text",
    [
        "Cancel the order for the red bicycle",
        "Sort the list in order of size",
        "What is the sequence number of the packet?",
        "Summary judgment was granted in the case of the mill",
        "Write a quick sort that works across threads",
        "Why was the overview page slow?",
        "Combien coûte le billet ?",
        "Сколько стоит билет?",
        "كم الساعة؟",
        "几点开会?",
        "这个多少钱?",
        "会議は何時ですか",
        "몇 시에 만나요?",
    ],
)
def test_no_course_is_asked_for(text: str) -> None:
    assert not asks_for_course(text)


@pytest.mark.parametrize(
    "text",
    [
        "Always put the unit behind the number",
        "Tables are fine. Never commit on Fridays",
        "Don't use emojis",
        "I always want metric units",
        "Schreib Zahlen immer mit Einheit",
        "Bitte keine Emojis",
        "Ab heute bitte auf Deutsch",
        "Toujours mettre l'unité",
        "请始终用表格",
        "いつも表で答えてください",
        "من الآن فصاعدا اكتب بالعربية",
        "أفضل الشاي على القهوة",
    ],
)
def test_what_holds_for_all_that_comes_is_a_wish(text: str) -> None:
    assert is_wish(text)


@pytest.mark.parametrize(
    "text",
    [
        "The server never sleeps",
        "It always rains in Bergen",
        "I always forget the name of the port",
        "Do you always use tabs?",
        "What happens in the future?",
        "Immer wenn es regnet, fällt der Strom aus",
        "Il est toujours en retard",
        "他总是迟到",
        "彼はいつも遅れる",
    ],
)
def test_what_is_told_of_others_is_no_wish(text: str) -> None:
    assert not is_wish(text)


@pytest.mark.parametrize(
    ("text", "is_of_value"),
    [
        ("How many commits are there?", True),
        ("Which version of Django does it run on?", True),
        ("Which cities did I visit?", False),
        ("What does the web shop need?", False),
        ("How deep is the pond?", True),
        ("What does the yoga course cost?", True),
        ("What did my suitcase weigh in May?", True),
        ("What do we earn our money with?", False),
        ("Was wiegt mein Koffer?", True),
        ("How short are the trials?", True),
        ("Wie tief ist der Teich?", True),
        ("Wann ist die Probe?", True),
        ("Was blüht im Garten?", False),
        ("Quel est le code du portail ?", True),
        ("Quelles courses ai-je courues ?", False),
        ("Am I allergic to peanuts?", True),
        ("Ist der Pool im Winter offen?", True),
        ("Can you suggest a restaurant in Oslo?", False),
        ("Kannst du mir ein Buch empfehlen?", False),
        ("我住在哪里?", True),
        ("我喜欢做什么?", False),
    ],
)
def test_one_value_is_asked_for(text: str, is_of_value: bool) -> None:
    assert asks_for_value(text) is is_of_value


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Welche Bäume habe ich im Garten gepflanzt?", ("baume", "garten", "gepflanzt")),
        ("Quels arbres ai-je plantés dans le jardin ?", ("arbres", "plantes", "jardin")),
        ("بأي لغة كتبت الملف في المشروع على الخادم", ("باي", "لغة", "كتبت", "الملف", "المشروع", "الخادم")),
        ("我妹妹的名字吗?", ("妹妹", "名字")),
        ("Where did I leave my hat?", ("leave", "hat")),
        ("der das", ("der", "das")),
        ("Which OS runs on my NAS?", ("os", "runs", "nas")),
        ("Is the MIT license in the bin folder?", ("mit", "license", "bin", "folder")),
        ("What does Gemini AI Plus cost?", ("gemini", "ai", "plus", "cost")),
    ],
)
def test_mere_grammar_tells_nothing(text: str, terms: tuple[str, ...]) -> None:
    assert telling_terms(query_terms(text), text) == terms


def test_a_language_is_told_by_its_words_of_grammar() -> None:
    foreign = ("Wann läuft die Sicherung der Bilder?", "Où est la clé du garage ?", "когда у меня встреча?")

    assert all(map(is_foreign_by_words, foreign))
    assert not any(
        map(
            is_foreign_by_words,
            ("When does the backup of the photos run?", "Which OS runs on my NAS?", "Where is my hat?", ""),
        )
    )


def test_no_expression_takes_longer_than_its_text() -> None:
    """Each reads a long message of nothing but its own beginnings."""
    for said in (
        "how many ",
        "in the order ",
        "did I say ",
        "how a ",
        "wie hat sich ",
        "必ず",
        "いつも",
        "fass ",
    ):
        text = said * 4_000
        assert isinstance(asks_for_course(text), bool)
        assert isinstance(is_wish(text[:2_000]), bool)
        assert subject_of(text)


def test_every_language_has_words_for_each() -> None:
    assert all(one.talk and one.course and one.value and one.wish for one in LANGUAGES)


@pytest.mark.parametrize(
    ("expression", "signs"), [(wish, one.wish_signs) for one in LANGUAGES for wish in one.wish]
)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_each_wish_holds_a_sign_by_which_its_text_is_read(
    expression: str, signs: tuple[str, ...], data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(re.compile(expression)))

    assert any(sign in text for sign in signs)
