"""Front matter of notes: what can be read of it, and the lines that cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from core.knowledge.facts.yaml_forms import YamlFault, read_yaml

_BLOCK = re.compile(r"(?:[ \t]*\n)*---[ \t]*\n(.*?)(?<=\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
"""A block between two lines of dashes: the first begins a note, blank lines aside."""

_FIELD = re.compile(r"[^\s#\-'\"\[{&*!|>%@`][^:\n]*:(?:[ \t]|$)|['\"][^'\"\n]*['\"]:(?:[ \t]|$)")
"""Begin of a field at the left edge."""

MAX_BLOCKS = 4
"""Blocks one behind the other that are read: programs that add their own put it before a person's."""


MAX_WORDS = 1_000
"""Characters of a value that is no YAML, which counts as the words that it is."""


class NoteFields(msgspec.Struct, frozen=True):
    """Fields that stand before the text of a note.

    Args:
        fields: by lower-case key; bad_lines: numbers in the note, from 1, of fields that are no YAML.
        end: characters up to the text behind it.
    """

    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    bad_lines: tuple[int, ...] = ()
    end: int = 0


def read_front_matter(text: str) -> NoteFields:
    """Read the blocks at the begin of a note, of a field that two of them have the later one. Total.

    A field that is no YAML counts as the words behind its colon, where it is one line; the others count as they are.

    Args:
        text: LF line ends.
    """
    fields: dict[str, Any] = {}
    bad: list[int] = []
    end = 0
    for _ in range(MAX_BLOCKS):
        found = _BLOCK.match(text, end)
        if found is None or (end and not _says_fields(found[1])):
            break
        line = text.count("\n", 0, found.start(1)) + 1
        for first, key, value, is_bad in _fields(found[1]):
            bad += [line + first] if is_bad else []
            if key:
                fields[key] = value
        end = found.end()
    return NoteFields(fields=fields, bad_lines=tuple(bad), end=end)


def _says_fields(block: str) -> bool:
    """True for a block of fields; two rules of Markdown with words between them are none."""
    lines = [line for line in block.split("\n") if line.strip() and line[0] not in "# \t-"]
    return bool(lines) and all(map(_FIELD.match, lines))


def _fields(block: str) -> Iterator[tuple[int, str, Any, bool]]:
    """Line from 0, key, value of each field, and whether it is no YAML."""
    whole = read_yaml(block)
    if isinstance(whole, dict):
        yield from ((0, str(key).strip().lower(), value, False) for key, value in whole.items())
        return
    if not isinstance(whole, YamlFault):
        return
    for first, part in _parts(block):
        value = read_yaml(part)
        if isinstance(value, dict):
            yield from ((first, str(key).strip().lower(), one, False) for key, one in value.items())
        elif isinstance(value, YamlFault) or value is not None:
            key, colon, words = part.partition(":")
            is_line = (
                bool(colon)
                and len(words) <= MAX_WORDS
                and "\n" not in part.strip()
                and "\t" not in key.strip()
            )
            yield first, key.strip(" '\"").lower() if is_line and words.strip() else "", words.strip(), True


def _parts(block: str) -> Iterator[tuple[int, str]]:
    """Each field with the lines that belong to it, and the line that it begins at."""
    lines = block.split("\n")
    starts = [at for at, line in enumerate(lines) if at == 0 or _FIELD.match(line)]
    for start, past in zip(starts, [*starts[1:], len(lines)], strict=True):
        part = "\n".join(lines[start:past])
        if part.strip():
            yield start, part
