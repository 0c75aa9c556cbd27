"""A text while it is edited, as data: caret, selection, undo."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui import text_buffer
from gui.text_buffer import TextBuffer

FAMILY = "👩\u200d👩\u200d👧"
ACUTE = "e\u0301"


def at(marked: str) -> TextBuffer:
    """A buffer from a text with `|` for the caret, or `[` and `]` around a selection with the caret last."""
    if "[" in marked:
        anchor, caret = marked.index("["), marked.index("]") - 1
        return text_buffer.marked(text_buffer.filled(marked.replace("[", "").replace("]", "")), anchor, caret)
    return text_buffer.moved(text_buffer.filled(marked.replace("|", "")), marked.index("|"))


def shown(buffer: TextBuffer) -> str:
    """The text with its caret or selection, as `at` takes it."""
    start, end = buffer.span
    if start == end:
        return f"{buffer.text[:start]}|{buffer.text[start:]}"
    return f"{buffer.text[:start]}[{buffer.text[start:end]}]{buffer.text[end:]}"


def test_a_text_put_there_has_its_caret_at_the_end() -> None:
    assert shown(text_buffer.filled("earlier words")) == "earlier words|"


@pytest.mark.parametrize(
    ("before", "direction", "by_word", "after"),
    [
        ("ab|c", -1, False, "a|bc"),
        ("ab|c", 1, False, "abc|"),
        (f"a{FAMILY}|b", -1, False, f"a|{FAMILY}b"),
        (f"a|{ACUTE}b", 1, False, f"a{ACUTE}|b"),
        ("🇩🇪🇫🇷|", -1, False, "🇩🇪|🇫🇷"),
        ("a👍🏽|", -1, False, "a|👍🏽"),
        ("one two|", -1, True, "one |two"),
        ("one |two", -1, True, "|one two"),
        ("|one two", 1, True, "one| two"),
        ("one| (two)", 1, True, "one (|two)"),
        ("a\n|b", -1, True, "|a\nb"),
        ("a[bc]d", -1, False, "a|bcd"),
        ("a[bc]d", 1, False, "abc|d"),
        ("|x", -1, False, "|x"),
        ("x|", 1, True, "x|"),
    ],
)
def test_the_caret_steps_by_what_a_person_sees(
    before: str, direction: int, by_word: bool, after: str
) -> None:
    assert shown(text_buffer.stepped(at(before), direction, by_word=by_word)) == after


@pytest.mark.parametrize(
    ("before", "direction", "by_word", "after"),
    [
        ("ab|c", -1, False, "a|c"),
        ("ab|c", 1, False, "ab|"),
        ("one two|", -1, True, "one |"),
        ("|one two", 1, True, "| two"),
        ("a[bc]d", -1, True, "a|d"),
        (f"a{FAMILY}|", -1, False, "a|"),
        (f"|{ACUTE}b", 1, False, "|b"),
        ("|", -1, False, "|"),
    ],
)
def test_erasing_takes_the_selection_or_a_neighbour(
    before: str, direction: int, by_word: bool, after: str
) -> None:
    assert shown(text_buffer.erased(at(before), direction, by_word=by_word)) == after


def test_typing_replaces_what_is_selected() -> None:
    assert shown(text_buffer.typed(at("a[bc]d"), "X")) == "aX|d"


def test_undo_goes_word_by_word_however_the_characters_arrived() -> None:
    by_letter = text_buffer.filled("")
    for char in "one two  three":
        by_letter = text_buffer.typed(by_letter, char)
    for written in (by_letter, text_buffer.typed(text_buffer.filled(""), "one two  three")):
        past = [written]
        while past[-1].done:
            past.append(text_buffer.undone(past[-1]))
        assert [buffer.text for buffer in past] == ["one two  three", "one two  ", "one ", ""]


def test_a_paste_is_undone_as_a_whole_and_brings_back_what_it_replaced() -> None:
    pasted = text_buffer.pasted(at("say [this] now"), "a\r\nb c d")
    assert shown(pasted) == "say a\nb c d| now"
    typed = text_buffer.typed(pasted, "e")
    assert shown(text_buffer.undone(typed)) == "say a\nb c d| now"
    assert shown(text_buffer.undone(text_buffer.undone(typed))) == "say [this] now"


def test_a_text_that_the_program_puts_there_is_undone_as_a_whole_and_an_emptied_one_has_no_past() -> None:
    """Quote, Take back, a paste as text and the history: Ctrl+Z gives back what stood there before."""
    buffer = text_buffer.typed(text_buffer.filled(""), "my words")
    quoted = text_buffer.put(buffer, "my words\n\n> theirs\n\n")
    assert shown(quoted) == "my words\n\n> theirs\n\n|"
    back = text_buffer.undone(text_buffer.typed(text_buffer.undone(text_buffer.typed(quoted, "x")), "y"))
    assert shown(text_buffer.undone(back)) == "my words|"
    assert text_buffer.undone(text_buffer.undone(text_buffer.undone(back))).text == ""
    assert text_buffer.put(quoted, "") == text_buffer.filled("")
    assert text_buffer.put(text_buffer.filled(""), "a draft") == text_buffer.filled("a draft")
    assert text_buffer.undone(text_buffer.put(text_buffer.filled("a draft"), "another")).text == "a draft"


def test_what_was_undone_comes_back_until_something_else_is_typed() -> None:
    buffer = text_buffer.typed(text_buffer.filled(""), "one two")
    back = text_buffer.undone(buffer)
    assert shown(text_buffer.redone(back)) == "one two|"
    assert text_buffer.redone(text_buffer.typed(back, "x")).text == "one x"


def test_words_typed_in_two_places_are_two_steps() -> None:
    buffer = text_buffer.typed(text_buffer.moved(text_buffer.typed(text_buffer.filled(""), "ab"), 0), "c")
    assert text_buffer.undone(buffer).text == "ab"


def test_letters_erased_one_after_the_other_are_one_step_to_the_words_start() -> None:
    buffer = text_buffer.filled("one two")
    for _ in range(5):
        buffer = text_buffer.erased(buffer, -1)
    assert buffer.text == "on"
    assert text_buffer.undone(buffer).text == "one"
    assert text_buffer.undone(text_buffer.undone(buffer)).text == "one two"


def test_an_enormous_past_is_forgotten_but_the_last_step_stays() -> None:
    buffer = text_buffer.filled("")
    for _ in range(30):
        buffer = text_buffer.pasted(buffer, "x" * 400_000)
    assert 1 <= len(buffer.done) <= 11
    assert len(text_buffer.undone(buffer).text) == 29 * 400_000


@given(st.lists(st.sampled_from(["a", "b", " ", "\n", "漢", "<", ">", "W", "D", "[", "P", "U", "R"])))
def test_undoing_everything_gives_back_the_beginning(keys: list[str]) -> None:
    """Undone to the first step and redone to the last, whatever was done between."""
    buffer = start = text_buffer.filled("first words")
    for key in keys:
        match key:
            case "<" | ">":
                buffer = text_buffer.stepped(buffer, -1 if key == "<" else 1, by_word=True)
            case "W" | "D":
                buffer = text_buffer.erased(buffer, -1 if key == "W" else 1)
            case "[":
                buffer = text_buffer.stepped(buffer, -1, by_word=True, selects=True)
            case "P":
                buffer = text_buffer.pasted(buffer, "pasted\nlines")
            case "U":
                buffer = text_buffer.undone(buffer)
            case "R":
                buffer = text_buffer.redone(buffer)
            case _:
                buffer = text_buffer.typed(buffer, key)
        assert 0 <= buffer.caret <= len(buffer.text)
        assert 0 <= buffer.anchor <= len(buffer.text)
    while buffer.undone:
        buffer = text_buffer.redone(buffer)
    end = buffer.text
    while buffer.done:
        buffer = text_buffer.undone(buffer)
    assert buffer.text == start.text
    while buffer.undone:
        buffer = text_buffer.redone(buffer)
    assert buffer.text == end
