"""Terms of a query: words as FTS5's `unicode61` sees them, without those that say nothing."""

from __future__ import annotations

import re
import unicodedata

MAX_TERMS = 64
"""Different words of a query that are looked for; of a longer one the first ones are."""

MAX_QUERY_CHARS = 20_000
"""Characters of a query that are read."""

_WORD = re.compile(r"[^\W_]+")

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
    """The words of a text as `unicode61` with `remove_diacritics 2` folds them, in order. O(n)."""
    folded = unicodedata.normalize("NFD", text.lower())
    bare = "".join(c for c in folded if not unicodedata.combining(c)) if not folded.isascii() else folded
    return _WORD.findall(bare)


def query_terms(query: str) -> tuple[str, ...]:
    """The different words that are looked for, in order of the query; none where it says nothing.

    Words of the list above are left out. A query of such words alone keeps none.
    """
    said = dict.fromkeys(words(query[:MAX_QUERY_CHARS]))
    return tuple([word for word in said if word not in STOP_WORDS][:MAX_TERMS])


def fts_expression(terms: tuple[str, ...]) -> str:
    """The terms as an expression of FTS5: any of them, each a string, so that no character of theirs is syntax."""
    return " OR ".join(f'"{term}"' for term in terms)
