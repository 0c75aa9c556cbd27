"""The language in which the program speaks. English stands in the sources; `assets/words` has a catalogue a language."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` takes longer to load than `--help` may
if TYPE_CHECKING:
    from collections.abc import Callable

LANGUAGE_VARIABLE = "MANUAL_SLOP_LANGUAGE"
LANGUAGES = {"en": "English", "de": "Deutsch"}
"""By its tag, what a language calls itself."""

_FOLDER = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "assets", "words")


def tr(text: str, /, **values: object) -> str:
    """A text in the person's language, with its values put in.

    Args:
        text: the English text, a literal: `{name}` stands for a value, as in `str.format`. Without values, braces stand for
            themselves. A text that no translation has stays English.
        values: the values by name.
    """
    said = text if _SPOKEN.translated is None else _SPOKEN.translated(text)
    return said.format(**values) if values else said


def capital(text: str) -> str:
    """The text as a sentence begins; its other letters stay, for German writes nouns with capitals."""
    return text[:1].upper() + text[1:]


def language() -> str:
    """The tag of the language that the program speaks now."""
    named = os.environ.get(LANGUAGE_VARIABLE, "")
    return named if named in LANGUAGES else "en"


def speak(tag: str) -> None:
    """Speak a language from now on, also in child processes. Texts that modules hold were made when they were loaded."""
    if tag in LANGUAGES:
        os.environ[LANGUAGE_VARIABLE] = tag
    _SPOKEN.translated = _catalogue(language())


def _catalogue(tag: str) -> Callable[[str], str] | None:
    if tag == "en":
        return None
    from gettext import translation

    return translation("manual_slop", _FOLDER, [tag], fallback=True).gettext


class _Spoken:
    """The language that is spoken: `translated` gives an English text's translation, and is None for English."""

    def __init__(self) -> None:
        self.translated = _catalogue(language())


_SPOKEN = _Spoken()
