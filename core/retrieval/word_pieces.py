"""Tokenizers of the embedding models: the word pieces of BERT and a unigram of scored pieces, each exactly as its model learnt."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from core.kernel.patterns import late

_MOST_WORDS = 50_000
"""Words whose pieces are remembered: text repeats its words, so most of them are cut once."""

_MOST_CHARS_KEPT = 64
_LONGEST_WORD = 100
"""Letters of a word beyond which it is unknown. Source: tokenizer.json of the model, `max_input_chars_per_word`."""

_RUN = late("[^\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_PLAIN = late("[0-9A-Za-z]+|.")
_SPECIAL = late(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_BLANK = "▁"
_MARKED_WORD = late(f"{_BLANK}[^{_BLANK}]*|[^{_BLANK}]+")
_UNKNOWN_PENALTY = 10.0

Pieces = tuple[tuple[int, ...], tuple[int, ...]]
"""Ids, and the place in the text where each begins."""


class WordPieces:
    """Cuts text as BERT does: letters without case and accents, signs and ideographs alone, the longest known piece first.

    Args:
        ids: number of each piece; one that goes on with a word begins with `##`.

    Source: `BertNormalizer`, `BertPreTokenizer` and `WordPiece` of tokenizers 0.23.3: the same ids and places.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._longest = max(map(len, ids), default=0)
        self._known: dict[str, Pieces] = {}

    def ids(self, text: str) -> list[int]:
        """Ids of the pieces of a text."""
        return [piece for _, run in _runs(text) for piece in self._pieces(run)[0]]

    def starts(self, text: str) -> list[int]:
        """Start of each piece of a text, in characters."""
        return [begin + start for begin, run in _runs(text) for start in self._pieces(run)[1]]

    def _pieces(self, run: str) -> Pieces:
        found = self._known.get(run)
        if found is None:
            cut = [piece for word, places in _words(run) for piece in self._cut(word, places)]
            found = tuple(one for one, _ in cut), tuple(place for _, place in cut)
            if len(self._known) >= _MOST_WORDS:
                self._known.clear()
            if len(run) <= _MOST_CHARS_KEPT:
                self._known[run] = found
        return found

    def _cut(self, word: str, places: Sequence[int]) -> list[tuple[int, int]]:
        unknown = [(self._ids["[UNK]"], places[0])]
        if len(word) > _LONGEST_WORD:
            return unknown
        found: list[tuple[int, int]] = []
        at, mark = 0, ""
        while at < len(word):
            ends = range(min(len(word), at + self._longest), at, -1)
            end = next((end for end in ends if mark + word[at:end] in self._ids), None)
            if end is None:
                return unknown
            found.append((self._ids[mark + word[at:end]], places[at]))
            at, mark = end, "##"
        return found


def _runs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of a text that are cut apart, and where each begins: between blanks, and of plain letters each word and each sign."""
    for run in _RUN.finditer(text):
        begin, letters = run.start(), run.group()
        if letters.isascii() and letters.isprintable() and "[" not in letters:
            for word in _PLAIN.finditer(letters):
                yield begin + word.start(), word.group()
        else:
            yield begin, letters


def _words(run: str) -> Iterator[tuple[str, list[int]]]:
    """Words of a run without blanks, folded, and the place of each of their letters."""
    at = 0
    for special in _SPECIAL.finditer(run):
        yield from _plain_words(run, at, special.start())
        yield special.group(), [special.start()] * len(special.group())
        at = special.end()
    yield from _plain_words(run, at, len(run))


def _plain_words(run: str, begin: int, end: int) -> Iterator[tuple[str, list[int]]]:
    word, places = "", list[int]()
    for place in range(begin, end):
        folded, is_alone = _folded(run[place])
        for letter in folded:
            if is_alone or _is_sign(letter):
                if word:
                    yield word, places
                    word, places = "", []
                yield letter, [place]
            else:
                word += letter
                places.append(place)
    if word:
        yield word, places


@cache
def _folded(letter: str) -> tuple[str, bool]:
    """A character without case and accents, empty where it is dropped; True where it is a word by itself."""
    code = ord(letter)
    if code in {0, 0xFFFD} or unicodedata.category(letter) in {"Cc", "Cf", "Co", "Cs"}:
        return "", False
    bare = (one for one in unicodedata.normalize("NFD", letter) if unicodedata.category(one) != "Mn")
    return "".join(one.lower() for one in bare), any(low <= code <= high for low, high in _IDEOGRAPHS)


@cache
def _is_sign(letter: str) -> bool:
    is_ascii_sign = letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != " "
    return is_ascii_sign or unicodedata.category(letter).startswith("P")


class Unigram:
    """Cuts text into the pieces whose scores sum highest; what no piece covers is unknown, a run of it once.

    Args:
        pieces: each with its score, numbered from 0; unknown: the number that stands for anything else.

    Source: `Unigram` and `Metaspace` of tokenizers 0.23.3: the same ids.
    """

    def __init__(self, pieces: Sequence[tuple[str, float]], unknown: int) -> None:
        self._pieces = {piece: (number, score) for number, (piece, score) in enumerate(pieces)}
        self._longest = max((len(piece) for piece, _ in pieces), default=0)
        self._unknown = unknown, min((score for _, score in pieces), default=0.0) - _UNKNOWN_PENALTY
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Ids of the pieces of a text. A blank belongs to the word after it, and stands before the first one too."""
        marked = text.replace(" ", _BLANK)
        if marked and not marked.startswith(_BLANK):
            marked = _BLANK + marked
        return [piece for word in _MARKED_WORD.findall(marked) for piece in self._cut(word)]

    def _cut(self, word: str) -> list[int]:
        found = self._known.get(word)
        if found is None:
            found = self._best(word)
            if len(self._known) >= _MOST_WORDS:
                self._known.clear()
            if len(word) <= _MOST_CHARS_KEPT:
                self._known[word] = found
        return found

    def _best(self, word: str) -> list[int]:
        """Go from left to right, and keep of each place the best way to it; then back from the end."""
        size, pieces, unknown = len(word), self._pieces, self._unknown
        score_to = [0.0, *([float("-inf")] * size)]
        begin_of, piece_to = [0] * (size + 1), [0] * (size + 1)
        for start in range(size):
            so_far, next_place = score_to[start], start + 1
            for end in range(next_place, min(size, start + self._longest) + 1):
                known = pieces.get(word[start:end], unknown if end == next_place else None)
                if known is not None and so_far + known[1] > score_to[end]:
                    score_to[end], begin_of[end], piece_to[end] = so_far + known[1], start, known[0]
        found: list[int] = []
        at = size
        while at > 0:
            if piece_to[at] != unknown[0] or found[-1:] != [unknown[0]]:
                found.append(piece_to[at])
            at = begin_of[at]
        return found[::-1]
