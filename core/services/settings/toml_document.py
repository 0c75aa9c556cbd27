"""Edits of TOML text that leave every other byte as it was. Pure; the caller parses the result to be sure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from core.kernel.codecs import TomlError, read_toml
from core.kernel.patterns import late

# Places in TOML text: statements with their spans, and the line of any key. Pure.

Place = tuple[str | int, ...]
"""Keys and 0-based positions from the top: `("presets", "core", "items", 2, "mode")`."""

_TOKEN = late(
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
        yield Token(word=found[0], start=position, line=line)


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
            yield Statement(place=table, table=table, tokens=tokens, equals=None)
        elif "=" in words:
            at = words.index("=")
            yield Statement(place=(*table, *key_path(words[:at])), table=table, tokens=tokens, equals=at)


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
            stack.append(_Open(is_array=token.word == "[", place=place, inner=place))
        elif token.word in {"]", "}"}:
            stack.pop()
        elif token.word == "," and top is not None:
            top.is_due = True
            top.position += 1


_CONTROL = late(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Marks that a text over many lines cannot hold as they are; a line end stays."""


class CannotEditError(ValueError):
    """The text is laid out so that the edit has no safe place (an inline table, a dotted parent)."""


def inline(value: Any) -> str:
    """A value as TOML on one line. Strings are written with escapes, so that any text fits."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return "{ " + ", ".join(f"{bare(key)} = {inline(inner)}" for key, inner in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(inline(inner) for inner in value) + "]"
        case int() | float():
            return repr(value)
        case _:
            return str(value.isoformat())


def text_value(text: str) -> str:
    """A text as TOML: over as many lines as it has, so that a person can read and edit it there."""
    if "\n" not in text:
        return inline(text)
    shown = text.replace("\\", "\\\\").replace('"""', '""\\"')
    shown = _CONTROL.sub(lambda mark: f"\\u{ord(mark[0]):04x}", shown)
    return '"""\n' + (shown[:-1] + '\\"' if shown.endswith('"') else shown) + '"""'


def bare(key: str) -> str:
    """A key as TOML: bare where it may be, else in quotes."""
    is_bare = key != "" and all(mark.isascii() and (mark.isalnum() or mark in "-_") for mark in key)
    return key if is_bare else inline(key)


def dotted(place: Place) -> str:
    """A place as a header or a dotted key writes it; positions are left out."""
    return ".".join(bare(part) for part in place if isinstance(part, str))


def line_start(text: str, at: int) -> int:
    """Offset of the start of the line that holds offset `at`."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Offset behind the line end of the line that holds offset `at`."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def set_value(text: str, place: Place, value: str) -> str:
    """Give a key a value.

    Args:
        text: TOML that parses; place: of the key; value: TOML of the value, over many lines or on one.

    Returns:
        The text with the value replaced where the key stands, else with the key behind its table's last one,
        else with a new table at the end.

    Raises:
        CannotEditError: the key lies inside an inline table.
    """
    found = list(statements(text))
    for statement in found:
        if not statement.is_header and statement.place == place:
            start = statement.value_tokens[0].start
            return text[:start] + value + text[statement.end :]
        if not statement.is_header and statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    return _insert(text, found, place, value)


def _insert(text: str, found: list[Statement], place: Place, value: str) -> str:
    parent = place[:-1]
    beside = [
        s
        for s in found
        if (s.place[:-1] == parent and not s.is_header) or (s.is_header and s.place == parent)
    ]
    if beside:
        last = beside[-1]
        at = line_end(text, last.end)
        return _put_line(text, at, f"{dotted(place[len(last.table) :])} = {value}\n")
    if parent:
        return append_block(text, f"[{dotted(parent)}]\n{dotted(place[-1:])} = {value}\n")
    first_header = next((s for s in found if s.is_header), None)
    at = len(text) if first_header is None else _above_comments(text, first_header.start)
    gap = "" if first_header is None else "\n"
    return _put_line(text, at, f"{dotted(place)} = {value}\n{gap}")


def append_block(text: str, block: str) -> str:
    """Put a block at the end, behind an empty line."""
    if not text:
        return block
    end = text if text.endswith("\n") else text + "\n"
    return end + ("" if end.endswith("\n\n") else "\n") + block


def _put_line(text: str, at: int, line: str) -> str:
    before = text[:at]
    return (before if not before or before.endswith("\n") else before + "\n") + line + text[at:]


def _above_comments(text: str, at: int) -> int:
    """The start of the run of comment lines right above the line of `at`."""
    start = line_start(text, at)
    while start > 0:
        above = line_start(text, start - 1)
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def remove_key(text: str, place: Place) -> str:
    """Take a key out with its line; one that is not there is no error. Raises CannotEditError."""
    for statement in statements(text):
        if statement.is_header:
            continue
        if statement.place == place:
            return text[: line_start(text, statement.start)] + text[line_end(text, statement.end) :]
        if statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    return text


def remove_table(text: str, place: Place) -> str:
    """Take a table out with everything below it. Comments behind its last key stay, as do those above its header.

    Raises:
        CannotEditError: it lies inside an inline table.
    """
    size = len(place)
    cuts: list[tuple[int, int]] = []
    found = list(statements(text))
    for statement in found:
        if statement.place[:size] == place:
            cuts.append((line_start(text, statement.start), line_end(text, statement.end)))
        elif not statement.is_header and statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    return _cut(text, _joined(text, cuts))


def _joined(text: str, cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cuts with nothing but comments and empty lines between them are one: those lines belong to the table."""
    joined: list[tuple[int, int]] = []
    for start, end in cuts:
        between = text[joined[-1][1] : start] if joined else ""
        if joined and not any(
            line.strip() and not line.lstrip().startswith("#") for line in between.splitlines()
        ):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _cut(text: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in reversed(cuts):
        before, behind = text[:start], text[end:]
        if (not before or before.endswith("\n\n")) and behind.startswith("\n"):
            behind = behind[1:]
        text = before + behind
    return text


def rename_table(text: str, place: Place, name: str) -> str:
    """Give a table another last name, wherever it and what is below it are written. Raises CannotEditError."""
    size = len(place)
    edits: list[tuple[int, int, str]] = []
    for statement in statements(text):
        if statement.place[:size] == place and (statement.is_header or len(statement.table) < size):
            renamed = (*place[:-1], name, *statement.place[size:])
            edits.append(_renamed(statement, renamed))
        elif not statement.is_header and statement.place == place[: len(statement.place)]:
            raise CannotEditError(dotted(statement.place))
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


def _renamed(statement: Statement, place: Place) -> tuple[int, int, str]:
    if statement.equals is None:
        is_array = statement.tokens[1].word == "["
        return statement.start, statement.end, f"[[{dotted(place)}]]" if is_array else f"[{dotted(place)}]"
    last = statement.tokens[statement.equals - 1]
    return statement.start, last.start + len(last.word), dotted(place[len(statement.table) :])


# The elements of a TOML array as text, with the comments around each. Pure.


class ArrayElement(msgspec.Struct):
    """One element. `above`: the comments before it; `text`: as it stands; `behind`: the comment on its last line."""

    above: list[str]
    start: int
    end: int
    text: str = ""
    behind: str = ""


class _ArrayWalk(msgspec.Struct):
    """Position in an array: `can_follow` while a comment still stands behind the last element."""

    elements: list[ArrayElement] = msgspec.field(default_factory=list)
    waiting: list[str] = msgspec.field(default_factory=list)
    depth: int = 0
    is_open: bool = False
    can_follow: bool = False


def array_elements(text: str) -> tuple[tuple[ArrayElement, ...], tuple[str, ...]]:
    """Split an array.

    Args:
        text: TOML of one array, brackets included, that parses.

    Returns:
        Its elements in order, and the comments behind the last of them.
    """
    walk = _ArrayWalk()
    for token in words(text):
        word, end = token.word, token.start + len(token.word)
        is_inside = walk.depth > 1
        if word in {"]", "}"}:
            walk.depth -= 1
        if word == "\n" or word.startswith("#"):
            if not is_inside:
                _pass_line(walk, word.strip())
        elif word == "," and not is_inside:
            walk.is_open, walk.can_follow = False, not (walk.elements[-1].behind or walk.waiting)
        elif walk.depth > 0:
            _extend(walk, token.start, end)
        if word in {"[", "{"}:
            walk.depth += 1
    for element in walk.elements:
        element.text = text[element.start : element.end]
    return tuple(walk.elements), tuple(walk.waiting)


def _pass_line(walk: _ArrayWalk, comment: str) -> None:
    """A line's end, or the comment before it: it belongs to the element on its line, or to the next one."""
    if comment and walk.can_follow:
        walk.elements[-1].behind = comment
    elif comment:
        walk.waiting.append(comment)
    walk.can_follow = False


def _extend(walk: _ArrayWalk, start: int, end: int) -> None:
    """A word of an element: the first one opens it."""
    if not walk.is_open:
        walk.elements.append(ArrayElement(above=walk.waiting, start=start, end=end))
        walk.waiting = []
    walk.elements[-1].end = end
    walk.is_open = walk.can_follow = True
