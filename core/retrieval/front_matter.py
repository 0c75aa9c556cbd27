"""Fields that stand before the text of a note, by the conventions of the programs that write notes.

YAML between dashes (Obsidian, Joplin, Dendron, Jekyll, Quarto), TOML between pluses (Hugo, Zola), an object of JSON (Hugo),
keywords and drawers (Org), attributes (AsciiDoc, reStructuredText), lines of `key: value` (TiddlyWiki, MultiMarkdown, Pelican).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from core.kernel.decoders import TomlError, read_json, read_toml
from core.kernel.patterns import late
from core.knowledge.facts.yaml_forms import YamlFault, read_yaml

MAX_BLOCKS = 4
"""Blocks one behind the other that are read: programs that add their own put it before a person's."""

MAX_WORDS = 1_000
"""Characters of a value that is no YAML, which counts as the words that it is."""

MAX_LINES = 400
"""Lines of a block that has no end of its own."""

_KNOWN_KEYS = frozenset(
    {"title", "tags", "tag", "date", "created", "modified", "keywords", "category", "categories", "author"}
)
"""Lines of `key: value` have one of these keys, or they are a text."""

_LISTS = frozenset({"tags", "tag", "keywords", "categories", "aliases"})
"""Fields to which each block adds; of any other field the last block's value counts."""

_TABLES = frozenset({"date", "taxonomies", "taxonomy", "myst", "html_meta", "metadata"})
"""Tables whose fields count as the note's own."""

_YAML_BLOCK = late(r"(?:[ \t]*\n)*---[ \t]*\n(.*?)(?<=\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
"""A block between two lines of dashes: the first begins a note, blank lines aside."""
_TOML_BLOCK = late(r"(?:[ \t]*\n)*\+\+\+[ \t]*\n(.*?)(?<=\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_JSON_BLOCK = late(r"\{[ \t]*\n.*?\n\}[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = late(r"[^\s#\-'\"\[{&*!|>%@`][^:\n]*:(?:[ \t]|$)|['\"][^'\"\n]*['\"]:(?:[ \t]|$)")
"""Begin of a field at the left edge."""
_MARKED_VALUE = late(r"^([ \t]*(?:-|[\w-]{1,40}:)[ \t]+)(#[^\s#\n][^\n]*)$", re.MULTILINE)
"""A value that begins with the mark of a tag, which YAML takes for a comment."""
_ORG_KEYWORD = late(r"#\+(\w{1,40}):(.*)")
_ATTRIBUTE = late(r":([\w][\w -]{0,39}):(?:[ \t]+(.*)|[ \t]*)$")
_ADOC_TITLE = late(r"(?:(?://[^\n]*)?\n)*= (\S[^\n]*)")
_RST_TITLE = late(r"(?:([=#*~^-])\1{2,}[ \t]*\n)?( ?)(\S[^\n]*)\n([=#*~^\"'+-])\4{2,}[ \t]*\n")
_HEADER = late(r"([A-Za-z][\w .-]{0,39}):(?:[ \t]+(.*)|[ \t]*)$")


class NoteFields(msgspec.Struct, frozen=True):
    """Fields that stand before the text of a note.

    Args:
        fields: by lower-case key; bad_lines: numbers in the note, from 1, of fields that are no YAML.
        end: characters up to the text behind it.
    """

    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    bad_lines: tuple[int, ...] = ()
    end: int = 0


class FrontField(NamedTuple):
    """A field of a block: line from 0 in the block, key, value, and whether its block's language cannot say it."""

    line: int
    key: str
    value: Any
    is_bad: bool = False


class FrontBlock(NamedTuple):
    """Fields of a block; start, end: characters of the note up to its first line and behind its last one."""

    fields: tuple[FrontField, ...]
    start: int
    end: int


def read_front_matter(text: str) -> NoteFields:
    """Read the blocks at the begin of a note, of a field that two of them have the later one; tags and aliases add up. Total.

    A field that is no YAML counts as the words behind its colon, where it is one line; the others count as they are.

    Args:
        text: LF line ends.
    """
    fields: dict[str, Any] = {}
    bad: list[int] = []
    end = 0
    for _ in range(MAX_BLOCKS):
        block = next(filter(None, (read(text, end) for read in _BLOCKS)), None)
        if block is None:
            break
        line = text.count("\n", 0, block.start) + 1
        own: dict[str, Any] = {}
        for field in block.fields:
            bad += [line + field.line] if field.is_bad else []
            if field.key:
                own[field.key] = field.value
        fields |= {key: _joined(fields.get(key), value, key) for key, value in own.items()}
        end = block.end
    return NoteFields(fields=fields, bad_lines=tuple(bad), end=end)


def header_lines(text: str, start: int) -> FrontBlock | None:
    """Lines of `key: value` with one of the known keys at a place in a text, up to a blank line; None where there are none."""
    fields: list[FrontField] = []
    end = start
    for number, (line, past) in enumerate(_lines(text, start)):
        found = _HEADER.match(line)
        if found is not None:
            fields.append(
                FrontField(line=number, key=found[1].strip().lower(), value=(found[2] or "").strip())
            )
        elif line.strip() or not fields:
            return None
        else:
            break
        end = past
    is_known = any(field.key in _KNOWN_KEYS and field.value for field in fields)
    return FrontBlock(fields=tuple(fields), start=start, end=end) if is_known else None


def _joined(before: Any, value: Any, key: str) -> Any:
    if key not in _LISTS or before is None:
        return value
    return [
        *(before if isinstance(before, list) else [before]),
        *(value if isinstance(value, list) else [value]),
    ]


def _yaml(text: str, end: int) -> FrontBlock | None:
    found = _YAML_BLOCK.match(text, end)
    if found is None or (end and not _says_fields(found[1])):
        return None
    return FrontBlock(fields=tuple(_yaml_fields(found[1])), start=found.start(1), end=found.end())


def _toml(text: str, end: int) -> FrontBlock | None:
    found = _TOML_BLOCK.match(text, end)
    if found is None:
        return None
    try:
        fields = _flat(read_toml(found[1]))
    except TomlError:
        fields = {}
    return _block_of(fields, found.start(), found.end())


def _json(text: str, end: int) -> FrontBlock | None:
    found = None if end else _JSON_BLOCK.match(text)
    if found is None:
        return None
    try:
        value = read_json(found[0])
    except (ValueError, RecursionError):
        return None
    return _block_of(_flat(value), 0, found.end()) if isinstance(value, dict) else None


def _org(text: str, end: int) -> FrontBlock | None:
    """Keywords at the top of an Org file, and the drawer of its properties."""
    fields: dict[str, Any] = {}
    is_drawer, begin = False, end
    for line, past in _lines(text, begin):
        bare = line.strip()
        if bare.upper() in {":PROPERTIES:", ":END:"}:
            is_drawer, end = bare.upper() != ":END:", past
        elif (found := (_ATTRIBUTE if is_drawer else _ORG_KEYWORD).match(bare)) is not None:
            fields.setdefault(found[1].lower(), (found[2] or "").strip())
            end = past
        elif bare:
            break
    if not fields:
        return None
    tags = [tag for tag in str(fields.pop("filetags", "")).split(":") if tag.strip()]
    return _block_of({**fields, **({"tags": tags} if tags else {})}, begin, end)


def _adoc(text: str, end: int) -> FrontBlock | None:
    """Title and attributes of AsciiDoc."""
    title = None if end else _ADOC_TITLE.match(text)
    if title is None:
        return None
    fields: dict[str, Any] = {"title": title[1].strip()}
    end = title.end()
    for number, (line, past) in enumerate(_lines(text, end)):
        if number and not line.strip():
            break
        if (found := _ATTRIBUTE.match(line)) is not None:
            fields.setdefault(found[1].lower(), (found[2] or "").strip())
        end = past
    return _block_of(fields, 0, end)


def _rst(text: str, end: int) -> FrontBlock | None:
    """Title and field list of reStructuredText."""
    if end:
        return None
    title = _RST_TITLE.match(text)
    start = end = title.end() if title is not None else 0
    fields: dict[str, Any] = {"title": title[3].strip()} if title is not None else {}
    for line, past in _lines(text, start):
        if (found := _ATTRIBUTE.match(line)) is not None:
            fields.setdefault(found[1].lower(), (found[2] or "").strip())
            end = past
        elif line.strip():
            break
    return _block_of(fields, start, end) if end > start else None


def _headers(text: str, end: int) -> FrontBlock | None:
    return header_lines(text, 0) if not end else None


_BLOCKS: tuple[Callable[[str, int], FrontBlock | None], ...] = (
    _yaml,
    _toml,
    _json,
    _org,
    _adoc,
    _rst,
    _headers,
)
"""Readers of a block at a place in a note, in the order in which they are asked."""


def _lines(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Lines from a place on, each with the characters of the text up to the next one."""
    at = start
    for _ in range(MAX_LINES):
        if at >= len(text):
            return
        stop = text.find("\n", at)
        line = text[at:] if stop < 0 else text[at:stop]
        at = min(at + len(line) + 1, len(text))
        yield line, at


def _block_of(fields: Mapping[str, Any], start: int, end: int) -> FrontBlock:
    return FrontBlock(
        fields=tuple(FrontField(line=0, key=key, value=value) for key, value in fields.items()),
        start=start,
        end=end,
    )


def _flat(found: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
    """Fields by lower-case key, those of some tables among them."""
    fields: dict[str, Any] = {}
    for name, value in found.items():
        key = str(name).strip().lower()
        if isinstance(value, dict) and key in _TABLES and depth < 3:
            fields |= {inner: one for inner, one in _flat(value, depth + 1).items() if inner not in fields}
        else:
            fields[key] = value
    return fields


def _says_fields(block: str) -> bool:
    """True for a block of fields; two rules of Markdown with words between them are none."""
    lines = [line for line in block.split("\n") if line.strip() and line[0] not in "# \t-"]
    return bool(lines) and all(map(_FIELD.match, lines))


def _yaml_fields(block: str) -> Iterator[FrontField]:
    block = _MARKED_VALUE.sub(_as_words, block)
    whole = read_yaml(block)
    if isinstance(whole, dict):
        yield from (FrontField(line=0, key=key, value=value) for key, value in _flat(whole).items())
        return
    if not isinstance(whole, YamlFault):
        return
    for first, part in _yaml_parts(block):
        value = read_yaml(part)
        is_bad = isinstance(value, YamlFault)
        if is_bad and "\t" in part:
            value = read_yaml(part.expandtabs(2))
        if isinstance(value, YamlFault) and "\n" in part.strip():
            value = read_yaml(part.split("\n", 1)[0])  # a line that is no field stands behind it
        if isinstance(value, dict):
            yield from (
                FrontField(line=first, key=key, value=one, is_bad=is_bad) for key, one in _flat(value).items()
            )
        elif value is not None:
            key, colon, words = part.partition(":")
            is_line = (
                bool(colon)
                and len(words) <= MAX_WORDS
                and "\n" not in part.strip()
                and "\t" not in key.strip()
            )
            name = key.strip(" '\"").lower() if is_line and words.strip() else ""
            yield FrontField(line=first, key=name, value=_unquoted(words.strip()), is_bad=True)


def _unquoted(words: str) -> str:
    """A value without the quotes around it, which a quote within made no YAML."""
    is_quoted = len(words) > 1 and words[0] == words[-1] and words[0] in "'\""
    return words[1:-1] if is_quoted else words


def _as_words(found: re.Match[str]) -> str:
    value = found[2].rstrip().replace("'", "''")
    return f"{found[1]}'{value}'"


def _yaml_parts(block: str) -> Iterator[tuple[int, str]]:
    """Each field with the lines that belong to it, and the line that it begins at."""
    lines = block.split("\n")
    starts = [at for at, line in enumerate(lines) if at == 0 or _FIELD.match(line)]
    for start, past in zip(starts, [*starts[1:], len(lines)], strict=True):
        part = "\n".join(lines[start:past])
        if part.strip():
            yield start, part
