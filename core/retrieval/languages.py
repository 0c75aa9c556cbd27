"""Language of a text: English, which the smaller model knows alone, or another one."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from core.kernel.patterns import late
from core.retrieval.question_words import is_foreign_by_words

_READ_CHARS = 600
"""Characters of a text's beginning that tell its language."""

_LEAST_LETTERS = 8
_LEAST_SHARE = 0.45
"""Likelihood of the likeliest language, of all, from which on it is believed. Of 19,755 pieces of
English Markdown and Python, among them tables and commands, none reached it by mistake; of short questions in seven other
languages each did."""

_TIMES_ENGLISH = 8.0
_NONE = frozenset({"en", "zxx"})
"""English, and what is no language, as the library calls them."""

_LATIN = late(r"[A-Za-z\u00c0-\u024f]")
_LETTER = late(r"[^\W\d_]")
_loading = threading.Lock()


def is_foreign(text: str) -> bool:
    """True where a text is surely in another language than English, or in another script."""
    read = text[:_READ_CHARS]
    letters = len(_LETTER.findall(read))
    if letters - len(_LATIN.findall(read)) > letters / 3:
        return True
    if letters < _LEAST_LETTERS:
        return False
    identifier = _identifier()
    if identifier is None:
        return is_foreign_by_words(read)
    ranked: list[tuple[str, float]] = identifier.rank(read)
    likely, share = ranked[0]
    english = next((float(value) for name, value in ranked if name == "en"), 0.0)
    return likely not in _NONE and share >= _LEAST_SHARE and share >= _TIMES_ENGLISH * english


def _identifier() -> Any:
    with _loading:
        return _loaded()


@cache
def _loaded() -> Any:
    """The library's model, None where the extra `languages` is not installed: then nothing could be made of the answer."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ModuleNotFoundError:
        return None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
