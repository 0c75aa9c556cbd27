"""The words that a person reads: all in the catalogues, translated whole, short."""

import ast
import string
from collections.abc import Iterator

import pytest

from core.kernel.language import LANGUAGES, language, speak, tr
from scripts import words

TAGS = sorted(LANGUAGES.keys() - {"en"})
PARTS = string.Formatter()


def fields_of(text: str) -> list[tuple[str, str, str]]:
    return sorted((name, form or "", to or "") for _, name, form, to in PARTS.parse(text) if name)


def takes_values() -> set[str]:
    """Texts that get values, so that braces in them are places."""
    found: set[str] = set()
    for file in words.sources():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tr" and node.keywords:
                assert isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
                found.add(node.args[0].value)
    return found


@pytest.mark.parametrize("tag", TAGS)
def test_every_text_is_translated_with_the_same_values(tag: str) -> None:
    known = words.known_of(tag)
    every = set().union(*words.texts_of().values())
    assert sorted(every - known.keys()) == [], "run `make words`, then translate what it names"
    with_values = takes_values()
    assert [text for text in sorted(with_values) if fields_of(text) != fields_of(known[text])] == []


@pytest.mark.parametrize("tag", TAGS)
def test_the_catalogues_are_those_of_the_sources(tag: str) -> None:
    known = words.known_of(tag)
    for room, texts in words.texts_of().items():
        file = words.WORDS / tag / f"{room}.po"
        assert file.read_bytes() == words.written(words.updated(tag, room, texts, known)), "run `make words`"
    assert words.binary_of(tag).read_bytes() == words.compiled(tag), "run `make words`"


@pytest.fixture
def german() -> Iterator[None]:
    before = language()
    speak("de")
    yield
    speak(before)


@pytest.mark.usefixtures("german")
def test_a_text_is_said_in_the_language_that_was_chosen() -> None:
    assert tr("Cancel") == "Abbrechen"
    assert tr("no text of this program") == "no text of this program"
    speak("en")
    assert tr("Cancel") == "Cancel"


def test_values_stand_in_their_places_and_braces_stay_without_values() -> None:
    assert tr("{count:,} of {total!r}", count=1200, total="x") == "1,200 of 'x'"
    assert tr("{name} stays") == "{name} stays"
