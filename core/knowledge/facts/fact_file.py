"""A file of facts as sections: its front matter, its items with their places, and every other byte as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from core.kernel.frame import atx_heading
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.facts import Fact, FactProblem
from core.knowledge.facts.fact_checks import (
    FactPlace,
    Flaw,
    fact_of,
    flaws_of,
    head_flaws,
    id_parts,
    inherited_fields,
)
from core.knowledge.facts.yaml_forms import YamlFault, read_item, read_yaml

MAX_PROBLEMS = 500
"""Problems of one file that are kept; the rest is counted."""

_BOM = "\ufeff"
_HEAD = late(r"---[ \t]*\r?\n((?:(?!---[ \t]*\r?(?:\n|\Z)).*\n)*+)---[ \t]*\r?(?:\n|\Z)")
_FENCE = late(r"^(?:`{3,}|~{3,})", re.MULTILINE)
_STARTS = ("- ", "-\t", "-\n", "-\r")
_OWN_START = "- id: "
_INDENTED = late(r"[ \t]+-[ \t]+[\"']?id[\"']?[ \t]*:")
_ID_LINE = late(r"(?:^-[ \t]+|^[ \t]+|[{,][ \t]*)id[ \t]*:[ \t]*[\"']?([^\s\"',}]+)", re.MULTILINE)


class FactItem(msgspec.Struct, frozen=True, gc=False):
    """An item of a file.

    Args:
        id: empty where none is told; start, end: in the file's text; fact: None where it is wrong; line: 1-based.
    """

    id: str
    start: int
    end: int
    fact: Fact | None
    line: int


class FactFile(msgspec.Struct, frozen=True):
    """A file as it was read.

    Args:
        text: the truth, byte for byte (UTF-8); items: in their order; problems: in the order of their lines.
        is_broken: nothing of it can be used, so that what it said last holds; head_end: of the front matter, in `text`.
    """

    place: FactPlace
    text: str = ""
    items: tuple[FactItem, ...] = ()
    problems: tuple[FactProblem, ...] = ()
    is_broken: bool = False
    head_end: int = 0

    @property
    def facts(self) -> list[Fact]:
        """The facts that may enter the index, in their order."""
        return [item.fact for item in self.items if item.fact is not None]


def parse_file(place: FactPlace, data: bytes) -> FactFile:
    """Read a file of facts. Raises nothing. O(n)."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return broken(place, line, tr("this is not UTF-8 text; save the file as UTF-8"))
    start = len(_BOM) if text.startswith(_BOM) else 0
    match = _HEAD.match(text, start)
    if match is None:
        is_open = text.startswith("---", start)
        said = (
            tr("the front matter has no end: close it with a --- line")
            if is_open
            else tr("the front matter is missing: begin the file with a --- line")
        )
        return broken(place, 1, said, text)
    head = read_yaml(match[1])
    if problems := _head_problems(place, match[1], head):
        return msgspec.structs.replace(broken(place, 1, "", text), problems=problems)
    return _Scan(place, text, head).file(match.end())


def loose_items(place: FactPlace, data: bytes) -> FactFile:
    """The items of a file whose front matter may be broken, or that is no UTF-8 throughout (as surrogates in its text).

    For taking items out by their ids: nothing of it may enter the index.
    """
    text = data.decode("utf-8", "surrogateescape")
    match = _HEAD.match(text, len(_BOM) if text.startswith(_BOM) else 0)
    return _Scan(place, text, read_yaml(match[1]) if match is not None else None).file(0)


def broken(place: FactPlace, line: int, text: str, whole: str = "") -> FactFile:
    """A file without any usable part."""
    return FactFile(
        place=place,
        text=whole,
        problems=(FactProblem(file=place.name, line=line, text=text),),
        is_broken=True,
    )


def _head_problems(place: FactPlace, text: str, row: Any) -> tuple[FactProblem, ...]:
    if isinstance(row, YamlFault):
        return (
            FactProblem(
                file=place.name,
                line=row.line + 2,
                text=tr("the front matter has a fault: {fault}", fault=row.text),
            ),
        )
    lines = text.split("\n")
    return tuple(
        FactProblem(file=place.name, line=1 if not key else 2 + _line_in(lines, key), text=said)
        for key, said in head_flaws(row, place)
    )


class _Scan:
    """One pass over a file's body."""

    def __init__(self, place: FactPlace, text: str, head: Any) -> None:
        self._place, self._text = place, text
        self._inherited = inherited_fields(head, place)
        self._items: list[FactItem] = []
        self._problems: list[FactProblem] = []
        self._passed_over = 0
        self._line, self._counted = 1, 0
        self._fence_ends: dict[int, int] | None = None
        self._first_lines: dict[str, int] = {}
        self._doubled: set[str] = set()

    def file(self, start: int) -> FactFile:
        """Read from `start` to the end."""
        at, text = start, self._text
        while at < len(text):
            own = read_item(text, at) if text.startswith(_OWN_START, at) else None
            if own is not None:
                self._add(own[0].id, at, own[1], own[0], flaws_of(own[0], self._place))
                at = own[1]
            elif text.startswith(_STARTS, at):
                end = item_end(text, at)
                self._read(at, end)
                at = end
            else:
                fence_end = self._after_fence(at)
                if not fence_end and _INDENTED.match(text, at):
                    self._say(
                        at,
                        0,
                        tr(
                            "this item is indented, and nobody reads it; put its `- id:` at the start of the line"
                        ),
                    )
                at = fence_end or _next_line(text, at)
        if self._passed_over:
            said = (
                tr("1 more problem in this file")
                if self._passed_over == 1
                else tr("{passed_over:,} more problems in this file", passed_over=self._passed_over)
            )
            self._problems.append(FactProblem(file=self._place.name, line=self._line, text=said))
        return FactFile(
            place=self._place,
            text=text,
            items=self._without_doubled(),
            problems=tuple(self._problems),
            head_end=start,
        )

    def _read(self, start: int, end: int) -> None:
        """Have YAML read an item that is in no form of ours."""
        text = self._text[start:end]
        read = read_yaml(text)
        if isinstance(read, YamlFault):
            said = _ID_LINE.search(text)
            self._say(start, read.line, read.text)
            self._items.append(
                FactItem(
                    id=_known_id(said[1] if said else ""),
                    start=start,
                    end=end,
                    fact=None,
                    line=self._line_at(start),
                )
            )
            return
        row = read[0] if isinstance(read, list) and len(read) == 1 else None
        if not isinstance(row, Mapping):
            self._say(
                start, 0, tr("this item is not a fact: it has no fields (id: …); write prose without `- `")
            )
            self._items.append(FactItem(id="", start=start, end=end, fact=None, line=self._line_at(start)))
            return
        fact, flaws = fact_of(row, self._inherited)
        if fact is not None:
            flaws = flaws_of(fact, self._place)
        self._add(_known_id(row.get("id")), start, end, fact, flaws)

    def _add(self, fact_id: str, start: int, end: int, fact: Fact | None, flaws: list[Flaw]) -> None:
        if flaws:
            lines = self._text[start:end].split("\n")
            for key, said in flaws:
                self._say(start, _line_in(lines, key), said)
            fact = None
        line = self._line_at(start)
        if fact_id and (first := self._first_lines.setdefault(fact_id, line)) != line:
            self._doubled.add(fact_id)
            self._say(
                start,
                0,
                tr(
                    "the id {fact_id} is also at line {first}; the index leaves both facts out",
                    fact_id=fact_id,
                    first=first,
                ),
            )
        self._items.append(FactItem(id=fact_id, start=start, end=end, fact=fact, line=line))

    def _say(self, start: int, line: int, text: str) -> None:
        if len(self._problems) >= MAX_PROBLEMS:
            self._passed_over += 1
            return
        self._problems.append(FactProblem(file=self._place.name, line=self._line_at(start) + line, text=text))

    def _after_fence(self, at: int) -> int:
        """End of the fenced block that starts here, 0 where none does, or where it never ends."""
        if not self._text.startswith(("```", "~~~"), at):
            return 0
        if self._fence_ends is None:
            self._fence_ends = _fence_ends(self._text)
        end = self._fence_ends.get(at)
        return _next_line(self._text, end) if end is not None else 0

    def _line_at(self, start: int) -> int:
        """The line of a place, 1-based: of none before the last one that was asked for, so that all are counted once."""
        self._line += self._text.count("\n", self._counted, start)
        self._counted = start
        return self._line

    def _without_doubled(self) -> tuple[FactItem, ...]:
        if not self._doubled:
            return tuple(self._items)
        return tuple(
            msgspec.structs.replace(item, fact=None) if item.id in self._doubled else item
            for item in self._items
        )


def item_end(text: str, start: int) -> int:
    """End of the item that starts here: behind its last indented line; blank lines count between two of its own."""
    at = end = _next_line(text, start)
    while at < len(text):
        after = _next_line(text, at)
        line = text[at:after]
        if line[0] in " \t" and not line.isspace():
            end = after
        elif not line.isspace():
            break
        at = after
    return end


def headings(text: str, items: tuple[FactItem, ...]) -> Iterator[tuple[str, int, int]]:
    """Headings of the first and second level outside of items: title, where its line starts and where it ends."""
    spans = iter([*((item.start, item.end) for item in items), (len(text) + 1, len(text) + 1)])
    first, last = next(spans)
    for match in _HEADING.finditer(text):
        while match.start() >= last:
            first, last = next(spans)
        heading = atx_heading(match[0])
        if match.start() < first and heading is not None:
            yield heading[1], match.start(), match.end()


_HEADING = late(r"^#{1,2}[ \t].*$", re.MULTILINE)


def _known_id(value: Any) -> str:
    return value if isinstance(value, str) and id_parts(value) is not None else ""


def _line_in(lines: list[str], key: str) -> int:
    """The line of a field within a piece, 0 where it is not told."""
    if not key:
        return 0
    field = re.compile(rf"(?:-[ \t]+|[ \t]*|.*[{{,][ \t]*)[\"']?{key}[\"']?[ \t]*:")
    return next((number for number, line in enumerate(lines) if field.match(line)), 0)


def _next_line(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _fence_ends(text: str) -> dict[int, int]:
    """For each line that may open a fenced block, the start of the next one with a mark as long. O(n)."""
    ends: dict[int, int] = {}
    open_ones: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
    for match in _FENCE.finditer(text):
        size, longer = len(match[0]), open_ones[match[0][0]]
        while longer and longer[-1][0] <= size:
            ends[longer.pop()[1]] = match.start()
        longer.append((size, match.start()))
    return ends
