"""Words of a text and of a question: one way for notes, turns, knowledge and code, in any script.

Scripts that put no blanks between words (Chinese, Japanese, Thai and their like; Korean, whose words carry their particles)
are looked for by each letter and by each pair of neighbours: a word is found wherever it stands in a run. Pairs alone
would find no word of one letter; three letters together would find no word of two, which most words of Chinese are.
Measured on 4,000 passages of Chinese of 500 letters each, 6.0 MB (2026-11-29): letters and pairs take 10.4 MB of FTS5, pairs
alone 5.8, its own `trigram` 11.3; a question takes 1.4 ms, and the index twice the time of `trigram`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from core.kernel.patterns import late
from core.kernel.search_terms import date_words, month_words

MAX_TERMS = 64
"""Different words of a query that are looked for; of a longer one the first ones are."""

MAX_QUERY_CHARS = 20_000
"""Characters of a query that are read."""

_UNPARTED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7a3"  # Hangul
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
"""Letters of scripts that put no blanks between words, with their marks."""

_ANY_UNPARTED = late(f"[{_UNPARTED}]")
_RUNS = late(f"([{_UNPARTED}]+)|([^{_UNPARTED}]+)")
_WORD = late("(?:[^\\W_]|[\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84])+")
"""A word: letters and digits of any script, the vowel signs of India's among them, which are no letters to Python."""

_ASCII_WORD = late("[a-z0-9]+")
"""The same in lower-case ASCII, in half the time."""

SENTENCE_ENDS = late(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
"""Ends of the sentences and lines of a text."""

_ASCII_ENDS = late(r"\s(?:(?<=[.!?]\s)\s*|(?<=\n)\n*)")
"""The same in ASCII: each begins with a blank, so that only these are looked at."""


class _BaseLetters(dict[int, int | str | None]):
    """Base letter of each letter once accents are parted from it, none for an accent. Each is worked out when it is first met."""

    def __missing__(self, code: int) -> int | None:
        base = self[code] = None if unicodedata.combining(chr(code)) else code
        return base


_BASE_LETTERS = _BaseLetters(
    (ord(letter), base)
    for letter, base in {
        "ł": "l",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ŧ": "t",
        "ı": "i",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ŋ": "n",
    }.items()
)
"""Letters that are no other letter with an accent, and that people type as one. `ß` is folded by `casefold`."""

TOKENIZER = "\"porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'\""
"""Tokenizer of FTS5 as it is written in SQL: it stems English, and cuts nothing that `indexed_text` gives it."""

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "herself",
        "him",
        "himself",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "me",
        "more",
        "most",
        "my",
        "myself",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "ourselves",
        "out",
        "over",
        "own",
        "same",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "themselves",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
        "yourself",
        "yourselves",
    ]
)
"""English words that say nothing of what is looked for. In other languages rarity alone decides."""


def words(text: str) -> list[str]:
    """The words of a text in order, folded: no case, no accents, one form of each letter. O(n)."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    plain = unicodedata.normalize("NFKC", text)
    if _ANY_UNPARTED.search(plain) is None:
        return _WORD.findall(_folded(plain))
    return [
        word
        for run in _RUNS.finditer(plain)
        for word in (_parted(run[1]) if run[1] else _WORD.findall(_folded(run[2])))
    ]


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, each with what stands behind it up to the next. O(n)."""
    pattern = _ASCII_ENDS if text.isascii() else SENTENCE_ENDS
    ends = [0, *(found.end() for found in pattern.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def indexed_text(text: str) -> str:
    """The words of a text with a blank between each two, as FTS5 is given them: it then cuts where we do."""
    return " ".join(words(text))


def query_terms(query: str) -> tuple[str, ...]:
    """The different words that are looked for, in order of the query; none where it says nothing.

    Words of the list above are left out. A query of such words alone keeps none. Of a run of letters without blanks the
    pairs are looked for, and the letter itself where it stands alone. A day in numbers, and a month that another language
    names, is looked for by its English words, too.
    """
    said: dict[str, None] = {}
    plain = unicodedata.normalize("NFKC", query[:MAX_QUERY_CHARS])
    for run in _RUNS.finditer(plain):
        said |= dict.fromkeys(_pairs(run[1]) or [run[1]] if run[1] else _WORD.findall(_folded(run[2])))
    days = (*date_words(plain).split(), *month_words(said))
    asked = [word for word in said if word not in STOP_WORDS][: MAX_TERMS - len(days[:MAX_TERMS])]
    return tuple(dict.fromkeys((*asked, *days[:MAX_TERMS])))


def fts_expression(terms: tuple[str, ...]) -> str:
    """The terms as an expression of FTS5: any of them, each a string, so that no character of theirs is syntax."""
    return " OR ".join(f'"{term}"' for term in terms)


def _folded(text: str) -> str:
    """A text without case and accents."""
    return unicodedata.normalize("NFD", text.casefold()).translate(_BASE_LETTERS)


def _parted(run: str) -> Iterator[str]:
    yield from run
    yield from _pairs(run)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]
