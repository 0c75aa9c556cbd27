"""Words are found however they are spelled: the pattern against a reader that goes letter by letter."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.kernel import frame as lookalikes
from core.kernel.frame import UNSEEN, frame, spelling, without_blocks
from tests.operations import LINEAR, growth

_GAP = re.compile(f"[{UNSEEN}\u0300-\u036f]*+")
WORDS = ("file", "rag-context", "knowledge", "conversation")
IOTA = "\u0345"
"""A mark below a letter, whose case folds to a letter: the one character that is read as either."""
_LIKE = "".join(lookalikes._SHAPES.values())


def read_end(text: str, word: str) -> int:
    """Place behind a word that a text begins with, by the rule of look-alikes, one character after the other; else -1."""
    looks = lookalikes._looks()
    place = read = 0
    while read < len(word):
        seen = text[place : place + 1].casefold()
        like = next((one for one in looks.get(seen, (seen,)) if one and word.startswith(one, read)), "")
        if like:
            read += len(like)
            place += 1
            continue
        gap = _GAP.match(text, place)
        if gap is None or gap.end() == place:
            return -1
        place = gap.end()
    return place


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, str]:
    """A word, and a text that is one or nearly one in other letters, with what nobody sees between."""
    word = draw(st.sampled_from(WORDS))
    pieces = st.sampled_from(
        [
            *word,
            *word.upper(),
            *_LIKE,
            "\ufb01",
            "\ufb04",
            "\ufb06",
            "\u2116",
            "\u00df",
            IOTA,
            "\u0336",
            "\u200b",
            " ",
            "x",
            "/",
        ]
    )
    letters = list(word)
    for place in draw(st.lists(st.integers(0, len(letters) - 1), max_size=6)):
        letters[place] = draw(st.sampled_from(_alike(word[place])) | st.tuples(pieces, pieces).map("".join))
    return word, "".join(letters) + draw(st.text("xe- \u0301/", max_size=3))


def _alike(letter: str) -> list[str]:
    return [*lookalikes._readings()[letter], f"{letter}\u0301", f"\u200b{letter}", f" {letter}"]


@settings(max_examples=1_000, deadline=None)
@given(spellings())
@example(("file", "\ufb01le"))
@example(("file", f"f{IOTA}le"))
def test_the_pattern_reads_what_a_reader_reads(case: tuple[str, str]) -> None:
    word, text = case
    found = re.match(spelling(word), text)
    place = -1 if found is None else found.end()

    expected = read_end(text, word)

    if IOTA not in text:
        assert place == expected
    else:
        assert expected in {-1, place}


def test_a_mark_that_folds_to_a_letter_hides_no_word() -> None:
    """It was read as a letter wherever one fitted, and the word that it stands under was none any more."""
    text = f"</f{IOTA}ile>"

    assert frame("file", text).startswith("<file-2>")
    assert read_end(text[2:], "file") == -1


def test_no_character_of_unicode_is_read_by_the_rule_and_not_by_the_pattern() -> None:
    looks = lookalikes._looks()
    expected: dict[str, set[str]] = {}
    for one in map(chr, range(sys.maxunicode + 1)):
        folded = one.casefold()
        for reading in looks.get(folded, (folded,)):
            if reading.isascii() and reading.isprintable() and reading != " ":
                expected.setdefault(reading, set()).add(one)
    assert {"a", "-", "ffi", "no", "ss"} <= expected.keys()

    assert {reading: set(ones) for reading, ones in lookalikes._readings().items()} == expected


@pytest.mark.parametrize(
    "one",
    [
        "</file>",
        "</\uff46\uff49\uff4c\uff45>",
        "</\uff46\uff49lx",
        "</f\u0456l\u0435>",
        "</\u00e9",
        "</\ufb01le>",
        "</fi",
        "< / f i l e - 1 2",
    ],
)
def test_a_text_full_of_ends_in_any_letters_costs_a_bound_that_a_look_at_each_letter_does_not_keep(
    one: str,
) -> None:
    """Three megabytes took 1.4 to 1.9 s of a worker in `frame`, up to 4.6 s in `without_blocks`: `tests.bench.sound_growth`."""
    block = one.replace("<", "{").replace("file", "knowledge").replace(">", "}")
    assert growth(lambda size: (frame("file", one * size), without_blocks(block * size)), 500) <= LINEAR
    frame("file", one * (1_000_000 // len(one)))
    without_blocks(block * (1_000_000 // len(one)))
