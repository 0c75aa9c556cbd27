"""Texts of the program that a file kept, which are English, in the person's language: found again by the catalogue's forms."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from core.kernel.language import language, translation_of

_FIELD = re.compile(r"\{\{|\}\}|\{(\w+)(![rsa])?(?::[^{}]*)?\}")
_SENTENCES = re.compile(r"(?<=[.;])\s+")
_LEAST_LETTERS = 6
"""Letters that a form must have beside its values: fewer would fit any text."""


def retold(text: str) -> str:
    """A text that the program wrote in English before, in the person's language. What it does not know stays.

    Args:
        text: whole, as `tr` made it inside `in_english`; sentences of which are known one by one are told one by one.
    """
    return _retold(text, language()) if text and translation_of() is not None else text


@lru_cache(maxsize=1_024)
def _retold(text: str, tag: str) -> str:
    parts = _SENTENCES.split(text)
    told = [_known(part, tag) for part in parts]
    if None not in told:
        return " ".join(filter(None, told))
    return _known(text, tag) or " ".join(known or part for known, part in zip(told, parts, strict=True))


def _known(text: str, tag: str) -> str | None:
    exact, forms = _forms(tag)
    if text in exact:
        return exact[text]
    for form in forms:
        if all(piece in text for piece in form.pieces) and (found := form.pattern.fullmatch(text)):
            values = zip(form.names, found.groups(), strict=True)
            return _filled(form.told, {name: _known(value, tag) or value for name, value in values})
    return None


def _filled(told: str, values: dict[str, str]) -> str:
    return _FIELD.sub(lambda field: values.get(field[1], field[0][:1]), told)


class _Form(NamedTuple):
    """A text with values: the pieces around them, their names, and what it is in the person's language."""

    pieces: tuple[str, ...]
    names: tuple[str, ...]
    told: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Made when a text has all its pieces: of a thousand forms few ever meet one."""
        return re.compile("(.*?)".join(map(re.escape, self.pieces)), re.DOTALL)


@lru_cache(maxsize=1)
def _forms(tag: str) -> tuple[dict[str, str], list[_Form]]:
    """The texts without values, and the forms of those with values, those with most letters of their own first."""
    catalogue = getattr(translation_of(), "__self__", None)
    assert catalogue is not None, tag
    exact: dict[str, str] = {text: told for text, told in catalogue._catalog.items() if text and told}  # noqa: SLF001 - gettext has no other list
    rows = []
    for text, told in exact.items():
        own = _FIELD.sub("", text)
        fields = tuple(field[1] for field in _FIELD.finditer(text) if field[1])
        if fields and len(re.findall("[A-Za-z]", own)) >= _LEAST_LETTERS:
            rows.append((len(own), _Form(pieces=_pieces(text), names=fields, told=told)))
    rows.sort(key=lambda row: -row[0])
    return exact, [form for _, form in rows]


def _pieces(text: str) -> tuple[str, ...]:
    """Pieces of a form around its values, its braces as they are written out."""
    pieces, at = [""], 0
    for field in _FIELD.finditer(text):
        pieces[-1] += text[at : field.start()]
        if field[1]:
            pieces.append("")
        else:
            pieces[-1] += field[0][0]
        at = field.end()
    return (*pieces[:-1], pieces[-1] + text[at:])
