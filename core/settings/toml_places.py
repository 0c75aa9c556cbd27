"""Places in TOML text: statements with their spans, and the line of any key. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.base.toml import TomlError, read_toml

Place = tuple[str | int, ...]
"""Keys and 0-based positions from the top: `("presets", "core", "items", 2, "mode")`."""

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}'
    r'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|#[^\n]*|[\[\]{},=\n]|[^\s\[\]{},=#\"']+",
    re.DOTALL,
)


class Token(msgspec.Struct, frozen=True):
    """A word, mark or string of the text; `line` is 1-based."""

    word: str
    start: int
    line: int


class Statement(msgspec.Struct, frozen=True):
    """A table header or an assignment.

    Args:
        place: what it opens or assigns; table: the header that it stands under, itself for a header.
        tokens: without comments; equals: index of the `=` token, None for a header.
    """

    place: Place
    table: Place
    tokens: tuple[Token, ...]
    equals: int | None

    @property
    def is_header(self) -> bool:
        """True if it opens a table."""
        return self.equals is None

    @property
    def start(self) -> int:
        """Offset of its first character."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Offset behind its last character; a comment behind it is not part of it."""
        last = self.tokens[-1]
        return last.start + len(last.word)

    @property
    def value_tokens(self) -> tuple[Token, ...]:
        """The tokens of an assignment's value."""
        return () if self.equals is None else self.tokens[self.equals + 1 :]


def words(text: str) -> Iterator[Token]:
    """Every word, mark, string, comment and line end of TOML that parses, in file order."""
    line, position = 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", position, found.start())
        position = found.start()
        yield Token(found[0], position, line)


def statements(text: str) -> Iterator[Statement]:
    """The headers and assignments of TOML that parses, in file order."""
    table: Place = ()
    counts: dict[Place, int] = {}
    for tokens in _runs(text):
        words = [token.word for token in tokens]
        if words[0] == "[":
            table = _resolve(key_path(words), counts)
            if words[1] == "[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            yield Statement(table, table, tokens, None)
        elif "=" in words:
            at = words.index("=")
            yield Statement((*table, *key_path(words[:at])), table, tokens, at)


def _runs(text: str) -> Iterator[tuple[Token, ...]]:
    """The tokens of each statement; comments left out."""
    tokens: list[Token] = []
    depth = 0
    for token in words(text):
        if token.word == "\n":
            if depth <= 0 and tokens:
                yield tuple(tokens)
                tokens, depth = [], 0
        elif not token.word.startswith("#"):
            depth += (token.word in {"[", "{"}) - (token.word in {"]", "}"})
            tokens.append(token)
    if tokens:
        yield tuple(tokens)


def _resolve(path: Place, counts: dict[Place, int]) -> Place:
    """A header below an array of tables belongs to the newest table of it."""
    resolved: Place = ()
    for part in path[:-1]:
        resolved = (*resolved, part)
        if resolved in counts:
            resolved = (*resolved, counts[resolved])
    return (*resolved, *path[-1:])


def key_path(words: Sequence[str]) -> tuple[str, ...]:
    """The parts of a dotted key or of a header, from its words."""
    node: Any
    try:
        node = read_toml("".join(word for word in words if word not in {"[", "]"}) + " = 0")
    except TomlError:
        return ()
    path: list[str] = []
    while isinstance(node, dict):
        key = next(iter(node))
        path.append(key)
        node = node[key]
    return tuple(path)


def line_of(text: str, place: Place) -> int | None:
    """As `lines_of`, of one place."""
    return lines_of(text, (place,))[0]


def lines_of(text: str, places: Sequence[Place]) -> tuple[int | None, ...]:
    """The 1-based lines where keys, tables or items of arrays stand, or those of the nearest parts around them.

    Args:
        text: TOML that parses, read once; places: what is looked for.

    Returns:
        A line for each place, None where not even its outermost part is there.
    """
    wanted = {place[:length] for place in places for length in range(1, len(place) + 1)}
    lines: dict[Place, int] = {}
    for found, line in _places(text) if wanted else ():
        if found in wanted:
            lines.setdefault(found, line)
            if len(lines) == len(wanted):
                break
    return tuple(
        next((lines[part] for n in range(len(place), 0, -1) if (part := place[:n]) in lines), None)
        for place in places
    )


def _places(text: str) -> Iterator[tuple[Place, int]]:
    """Every header, key and item of an array with its line."""
    for statement in statements(text):
        around = 1 if statement.is_header else len(statement.table) + 1
        for length in range(around, len(statement.place)):
            yield statement.place[:length], statement.tokens[0].line
        yield statement.place, statement.tokens[0].line
        yield from _inner_places(statement.place, statement.value_tokens)


class _Open(msgspec.Struct):
    """An array or inline table that is being walked."""

    is_array: bool
    place: Place
    inner: Place
    position: int = 0
    is_due: bool = True


def _inner_places(base: Place, tokens: Sequence[Token]) -> Iterator[tuple[Place, int]]:
    """Places inside a value, at any depth."""
    stack: list[_Open] = []
    for index, token in enumerate(tokens):
        top = stack[-1] if stack else None
        if top is not None and top.is_due and token.word not in {"]", "}", ","}:
            top.is_due = False
            if top.is_array:
                top.inner = (*top.place, top.position)
            else:
                end = next(i for i in range(index, len(tokens)) if tokens[i].word == "=")
                top.inner = (*top.place, *key_path([part.word for part in tokens[index:end]]))
            yield top.inner, token.line
        if token.word in {"[", "{"}:
            place = base if top is None else top.inner
            stack.append(_Open(token.word == "[", place, place))
        elif token.word in {"]", "}"}:
            stack.pop()
        elif token.word == "," and top is not None:
            top.is_due = True
            top.position += 1
