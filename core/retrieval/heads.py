"""Title, tags, date and description of a note from what it already has: no note is ever converted.

In this order: YAML front matter, `**Tags:**` and `**Date:**` lines, the first heading, the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from core.base.text import one_line
from core.context.outline.headings import first_heading
from core.facts.yaml_reader import YamlFault, read_yaml
from core.values.retrieval import SourceHead

TITLE_CHARS, DESCRIPTION_CHARS, TAG_CHARS, MAX_TAGS = 120, 200, 40, 12

_HEAD_CHARS = 65_536
"""Of a note, that are read for what it says of itself."""

_FRONT = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^[ \t>*-]*\*\*([^*\n:]{1,30}):?\*\*:?[ \t]*(.+)$", re.MULTILINE)
_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_SENTENCE = re.compile(r"(.+?(?:[.!?](?=\s|$)|[。！？]))", re.DOTALL)
_LINK = r"\[([^\]]{0,500})\]\([^)]{0,1000}\)"  # bounded: a note of brackets was read again from each of them
_MARKUP = re.compile(rf"!{_LINK.replace('(', '(?:', 1)}|[*_`]+|{_LINK}|^[#>\-+*]+[ \t]*", re.MULTILINE)


class FieldNames(msgspec.Struct, frozen=True):
    """Names under which notes say their tags and their date, in lower case."""

    tags: tuple[str, ...] = ("tags",)
    date: tuple[str, ...] = ("date", "data")


def note_head(text: str, name: str, fields: FieldNames = FieldNames()) -> SourceHead:  # noqa: B008 (frozen)
    """Title, tags, date and description of a note. Total: what is not understood counts as not said.

    Args:
        text: LF line ends; name: of its file, for a note without a title.
    """
    start = text[:_HEAD_CHARS]
    front, body = _front(start)
    said = {key.strip().lower(): value.strip() for key, value in _FIELD.findall(body)}
    title = (
        _text(front.get("title")) or first_heading(body) or name.rpartition("/")[2].rpartition(".")[0] or name
    )
    return SourceHead(
        one_line(title, TITLE_CHARS),
        _tags(front, said, fields),
        _date(front, said, fields),
        one_line(_text(front.get("description")) or _first_sentence(body), DESCRIPTION_CHARS),
    )


def _front(text: str) -> tuple[Mapping[str, Any], str]:
    """Front matter by lower-case key, and what stands behind it."""
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    read = read_yaml(found[1])
    if isinstance(read, YamlFault) or not isinstance(read, dict):
        return {}, text[found.end() :]
    return {str(key).strip().lower(): value for key, value in read.items()}, text[found.end() :]


def _text(value: object) -> str:
    is_text = isinstance(value, str | int | float | date) and not isinstance(value, bool)
    return str(value).strip() if is_text else ""


def _tags(front: Mapping[str, Any], said: Mapping[str, str], fields: FieldNames) -> tuple[str, ...]:
    for source in (front, said):
        for name in fields.tags:
            value = source.get(name)
            words = value if isinstance(value, list) else re.split(r"[,;]|\s+#", _text(value))
            tags = [_text(word).strip(" #`*").lower()[:TAG_CHARS] for word in words]
            if any(tags):
                return tuple(dict.fromkeys(one_line(tag, TAG_CHARS) for tag in tags if tag))[:MAX_TAGS]
    return ()


def _date(front: Mapping[str, Any], said: Mapping[str, str], fields: FieldNames) -> str:
    for source in (front, said):
        for name in fields.date:
            if day := _DAY.search(str(source.get(name, ""))[:100]):
                return day[0]
    return ""


def _first_sentence(body: str) -> str:
    for block in re.split(r"\n[ \t]*\n", body[:8_000]):
        lines = [
            line
            for line in block.strip().split("\n")
            if line.strip() and not line.lstrip().startswith(("#", "```", "|", "<!--"))
        ]
        plain = _MARKUP.sub(lambda m: m[1] or "", "\n".join(lines)).strip()
        if plain and not _FIELD.match(block.strip()):
            sentence = _SENTENCE.match(plain)
            return " ".join((sentence[1] if sentence else plain).split())
    return ""
