"""The language in which the program speaks. English stands in the sources; `assets/words` has a catalogue a language.

A person reads texts in the own language; models, files and protocols get English. A translated text is a `Translated`, which knows
its English. Three doors turn it back: `english()` for one text, `in_english()` for all that a thread writes in it, and
`core.kernel.codecs`, which every encoder of JSON and MessagePack uses.
"""

from __future__ import annotations

import os
from _contextvars import ContextVar

TYPE_CHECKING = False  # `typing` takes longer to load than `--help` may
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self

LANGUAGE_VARIABLE = "MANUAL_SLOP_LANGUAGE"
LANGUAGES = {"en": "English", "de": "Deutsch"}
"""By its tag, what a language calls itself."""

_FOLDER = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "assets", "words")


_IN_ENGLISH: ContextVar[bool] = ContextVar("in_english", default=False)


class Translated(str):
    """A translated text, which knows what it says in English: inside `in_english()` it is written in English."""

    __slots__ = ("_text", "_values")
    _text: str
    _values: dict[str, object]

    @classmethod
    def of(cls, translated: str, text: str, values: dict[str, object]) -> Self:
        """`text`: the English one, into which `values` are put."""
        said = cls(translated)
        said._text, said._values = text, values
        return said

    @property
    def english(self) -> str:
        """The same text in English, its values too."""
        values = {name: english(value) for name, value in self._values.items()}
        return self._text.format(**values) if values else self._text

    def __str__(self) -> str:
        """Itself, so that `str(error)` keeps what its words are in English."""
        return self.english if _IN_ENGLISH.get() else self

    def __repr__(self) -> str:
        return str.__repr__(str(self))

    def __format__(self, form: str) -> str:
        return str.__format__(str(self), form)

    def removesuffix(self, suffix: str, /) -> Self:
        """As `str.removesuffix`."""
        return self._changed(lambda text: text.removesuffix(suffix))

    def rstrip(self, chars: str | None = None, /) -> Self:
        """As `str.rstrip`."""
        return self._changed(lambda text: text.rstrip(chars))

    def strip(self, chars: str | None = None, /) -> Self:
        """As `str.strip`."""
        return self._changed(lambda text: text.strip(chars))

    def join(self, parts: Iterable[str], /) -> Self:
        """As `str.join`."""
        texts = list(parts)
        told = self.english.join(map(english, texts))
        return self.of(str.__str__(self).join(texts), "{text}", {"text": told})

    def format(self, *values: object, **named: object) -> Self:
        """As `str.format`."""
        whole = str.__str__(self).format(*values, **named)
        told = {name: english(value) for name, value in named.items()}
        return self.of(whole, "{text}", {"text": self.english.format(*map(english, values), **told)})

    def __add__(self, other: str, /) -> Self:
        return self.of(str.__str__(self) + other, "{text}", {"text": self.english + english(other)})

    def __radd__(self, other: str, /) -> Self:
        return self.of(other + str.__str__(self), "{text}", {"text": other + self.english})

    def with_capital(self) -> Self:
        """The same text as `capital` makes it."""
        return self._changed(capital)

    def _changed(self, change: Callable[[str], str]) -> Self:
        return self.of(change(str.__str__(self)), "{text}", {"text": change(self.english)})

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str.__str__(self),)


def tr(text: str, /, **values: object) -> str:
    """A text in the person's language, with its values put in.

    Args:
        text: the English text, a literal: `{name}` stands for a value, as in `str.format`. Without values, braces stand for
            themselves. A text that no translation has stays English.
        values: the values by name.
    """
    if _SPOKEN.translated is None or _IN_ENGLISH.get():
        return text.format(**values) if values else text
    kept = {name: _told(value) for name, value in values.items()}
    said = _SPOKEN.translated(text)
    return Translated.of(said.format(**kept) if kept else said, text, kept)


def joined(between: str, parts: Iterable[str]) -> str:
    """Texts as one, as `str.join` does, which keeps what each says in English."""
    return _made(between.join, list(parts))


def all_of(parts: Iterable[str]) -> str:
    """Texts as a list of what holds together: `a`, `a and b`, `a, b and c`."""
    return _listed(tr(" and "), parts)


def any_of(parts: Iterable[str]) -> str:
    """Texts as a list of choices: `a`, `a or b`, `a, b or c`."""
    return _listed(tr(" or "), parts)


def _listed(last: str, parts: Iterable[str]) -> str:
    *most, end = [*parts] or [""]
    return joined("", (joined(", ", most), last, end)) if most else end


def as_sentences(*parts: str, is_closed: bool = False) -> str:
    """Parts as sentences in a row, without the empty ones. One that ends with its own mark, as a question does, gets no full stop.

    Args:
        is_closed: the last one gets its full stop too.
    """

    def in_a_row(texts: list[str]) -> str:
        ended = [
            one if str.endswith(one, _MARKS) else f"{str.__str__(one)}."
            for one in texts[: len(texts) if is_closed else -1]
        ]
        return " ".join([*ended, *texts[len(ended) :]])

    return _made(in_a_row, [part for part in parts if part])


_MARKS = (".", "!", "?", "…")


def spliced(form: str, /, *values: object) -> str:
    """Texts put into a form, as `str.format` does, which keeps what they say in English. An f-string would lose that.

    Args:
        form: signs around the texts (`{}: {}.`), the same in every language.
    """
    return _made(lambda texts: form.format(*texts), [*map(_told, values)])


def _made(make: Callable[[list[Any]], str], texts: list[Any]) -> str:
    """A text that is made of others, and in English of these in English."""
    whole = make(texts)
    if not any(isinstance(one, Translated) for one in texts):
        return whole
    return Translated.of(whole, "{text}", {"text": make([*map(english, texts)])})


def english(value: object) -> Any:
    """The English of a text or an error of the program, for a model, a file or a protocol. Other values stay."""
    if isinstance(value, BaseException):
        value = words_of(value)
    return value.english if isinstance(value, Translated) else value


def words_of(error: BaseException) -> str:
    """The words of an error, as `str` gives them, which keep what they say in English."""
    words = error.args[0] if len(error.args) == 1 and type(error).__str__ is BaseException.__str__ else None
    return words if isinstance(words, Translated) else str(error)


def _told(value: object) -> object:
    """A value to keep: an error by its words, since it holds the frames that it came through."""
    return words_of(value) if isinstance(value, BaseException) else value


class in_english:  # noqa: N801 - a context manager; `contextlib` takes longer to load than `--help` may
    """Texts that this thread makes or writes inside are English: those of models, files and protocols."""

    def __enter__(self) -> None:
        self._before = _IN_ENGLISH.set(True)

    def __exit__(self, *failure: object) -> None:
        _IN_ENGLISH.reset(self._before)


def capital(text: str) -> str:
    """The text as a sentence begins; its other letters stay, for German writes nouns with capitals."""
    if isinstance(text, Translated):
        return text.with_capital()
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


def translation_of() -> Callable[[str], str] | None:
    """Function that translates an English text into the language that is spoken; None for English."""
    return _SPOKEN.translated


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


# Texts of the program that a file kept, which are English, in the person's language: found again by the
# catalogue's forms.
