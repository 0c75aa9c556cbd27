"""The tokenizers of the embedding models give what the tokenizers give that the models learnt with."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.embedders import MODEL_FOLDER, ModelError, Tokens, Unigram, WordPieces

VOCABULARY: dict[str, int] = msgspec.json.decode((MODEL_FOLDER / "tokenizer.json").read_bytes())["model"][
    "vocab"
]
NAMES = {number: piece for piece, number in VOCABULARY.items()}
PIECES = (
    ("<s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁a", -4.0), ("a", -5.0), ("b", -5.0), ("ab", -7.5), ("▁ab", -9.5),
    ("ba", -9.0), ("c", -6.0), ("▁abc", -11.0), ("aa", -10.0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "pieces", "starts"),
    [
        ("The tide turns twice a day.", "the tide turns twice a day .", [0, 4, 9, 15, 21, 23, 26]),
        ("self._pieces[run] = found", "self . _ pieces [ run ] = found", [0, 4, 5, 6, 12, 13, 16, 18, 20]),
        ("Ein Café in Ünterägeri", "ein cafe in un ##tera ##ger ##i", [0, 4, 9, 12, 14, 18, 21]),
        ("漢字とかな", "漢 [UNK] と ##か ##な", [0, 1, 2, 3, 4]),
        ("İstanbul ﬁnal Å", "istanbul ﬁ ##nal a", [0, 9, 10, 14]),
        ("[MASK] is [not special]", "[MASK] is [ not special ]", [0, 7, 10, 11, 15, 22]),
        ("zero\u200bwidth\xad and\x00nul", "zero ##wi ##dt ##h and ##nu ##l", [0, 5, 7, 9, 12, 16, 18]),
        ("an unknowable ꙮ", "an un ##k ##now ##able [UNK]", [0, 3, 5, 6, 9, 14]),
        ("x" * 101, "[UNK]", [0]),
        ("a\xa0b\u2028c\x0bd", "a b cd", [0, 2, 4]),
        ("한글", "ᄒ ##ᅡ ##ᆫ ##ᄀ ##ᅳ ##ᆯ", [0, 0, 0, 1, 1, 1]),
        ("3,14 €", "3 , 14 €", [0, 1, 2, 5]),
        ("", "", []),
    ],
)
def test_word_pieces_are_those_of_tokenizers(text: str, pieces: str, starts: list[int]) -> None:
    """What stands here was said by tokenizers 0.23.3 with the model's own file."""
    made = WordPieces(VOCABULARY)

    assert [NAMES[number] for number in made.ids(text)] == pieces.split()
    assert made.starts(text) == starts


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []), (" ", [2]), ("ab", [3, 5]), ("ab abc", [3, 5, 10]), ("aaaa", [3, 4, 11]), ("a xy b", [3, 2, 1, 2, 5]),
        ("xyxy", [2, 1]), ("▁a ▁", [3, 2, 2]), ("ba ab", [2, 8, 3, 5]), ("<s>", [2, 0]),
    ],
)  # fmt: skip
def test_pieces_of_a_unigram_are_those_of_tokenizers(text: str, ids: list[int]) -> None:
    """As above: a run of unknown letters is one piece, and of two ways that are as good the earlier counts."""
    assert Unigram(PIECES, 1).ids(text) == ids


@given(st.text(max_size=200))
def test_a_text_has_the_same_pieces_the_second_time_and_as_many_places(text: str) -> None:
    made = WordPieces(VOCABULARY)
    ids, starts = made.ids(text), made.starts(text)

    assert (made.ids(text), made.starts(text)) == (ids, starts)
    assert len(ids) == len(starts)
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)


def test_the_model_is_given_its_marks_and_no_more_than_it_takes() -> None:
    short, long = Tokens().batch(["tide", "tide " * 1_000])

    assert [NAMES[number] for number in short] == ["[CLS]", "tide", "[SEP]"]
    assert len(long) == 256
    assert (NAMES[long[0]], NAMES[long[-1]]) == ("[CLS]", "[SEP]")


def test_a_damaged_tokenizer_is_said_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": [1]}')

    with pytest.raises(ModelError, match="The program cannot read") as said:
        Tokens(tmp_path).batch(["tide"])

    assert said.value.where == str(tmp_path / "tokenizer.json")
    assert Tokens(tmp_path).starts("high tide")
