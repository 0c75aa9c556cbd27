"""Text of an OpenDocument file (odt, ods, odp) as Markdown. Source: OASIS OpenDocument 1.3, part 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from core.talk.discussion.document_package import (
    DAMAGED,
    LOCKED,
    CellBudget,
    DocumentError,
    Package,
    elements,
    pipe_table,
    whole,
)
from core.talk.discussion.page_text import numeral
from core.talk.discussion.word_text import ACCEPTED, edge, formed

_MOST_DEPTH = 40
_PASSED = frozenset(
    {"tracked-changes", "annotation-end", "sequence-decls", "variable-decls", "forms", "settings"}
)


class _TextStyle(NamedTuple):
    """Look of a style's text: `mark` is `~~`, `sup`, `sub` or empty. `base`: name of the style that it is based on."""

    base: str = ""
    mark: str = ""
    is_hidden: bool = False


class _ListNumbers(NamedTuple):
    """Numbers of a list's items: what stands before and behind each, how the first one is written, and where they start."""

    before: str
    first: str
    behind: str
    start: int

    def of(self, number: int) -> str:
        return f"{self.before}{numeral(number, self.first)}{self.behind}"


def open_document_text(package: Package) -> str:
    """Text of a document: headings, lists with their numbers, tables, notes, comments, links; sheets; slides."""
    return _Reader(package).text()


class _Reader:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._tree = package.tree("content.xml")
        locks = package.tree("META-INF/manifest.xml")
        if any(True for _ in elements(locks, "encryption-data")):
            raise DocumentError(*LOCKED)
        if self._tree is None:
            raise DocumentError(DAMAGED)
        self._pages = package.tree("styles.xml")
        trees = [one for one in (self._pages, self._tree) if one is not None]
        self._styles = {one.get("name", ""): _style(one) for tree in trees for one in tree.iter("style")}
        self._lists = {one.get("name", ""): _marks(one) for tree in trees for one in tree.iter("list-style")}
        self._notes: list[str] = []
        self._counts: dict[tuple[str, int], int] = {}
        self._budget = CellBudget()

    def text(self) -> str:
        body = self._tree.find("body")
        said = _joined(self._blocks(body, 0)) if body is not None else ""
        first = [ACCEPTED] if any(True for _ in self._tree.iter("changed-region")) else []
        return "\n\n".join(filter(None, (*first, said, *self._notes, *self._edges(body))))

    def _edges(self, body: Any) -> Iterator[str]:
        """Texts at the head and foot of a text's pages, each once."""
        told = set[str]()
        if body is None or body.find("text") is None:
            return  # sheets and slides have those that their program put there
        for page in elements(self._pages, "master-page"):
            for one in page:
                kind = one.tag.partition("-")[0]
                said = edge(kind, _joined(self._blocks(one, 0))) if kind in {"header", "footer"} else ""
                if said not in told:
                    told.add(said)
                    yield said

    def _blocks(self, element: Any, depth: int) -> Iterator[str]:
        if depth > _MOST_DEPTH:
            return
        slides = 0
        is_workbook = element.tag == "spreadsheet"
        for child in element:
            match child.tag:
                case "h":
                    level = whole(child.get("outline-level"), 1)
                    said = " ".join(self._line(child, depth).split())
                    yield f"{'#' * min(level, 6)} {said}" if said else ""
                case "p":
                    boxes: list[str] = []
                    yield self._line(child, depth, boxes).strip()
                    yield from boxes
                case "list":
                    yield "\n".join(self._items(child, "", 1, depth))
                case "table":
                    table = self._table(child, depth)
                    yield f"## {child.get('name', '')}\n\n{table}" if is_workbook and table else table
                case "page" if element.tag == "presentation":
                    slides += 1
                    name = child.get("name", "")
                    yield f"## Slide {slides}" + ("" if not name or name == f"page{slides}" else f": {name}")
                    yield from self._blocks(child, depth + 1)
                case "notes":
                    said = _joined(self._blocks(child, depth + 1))
                    yield f"Notes: {said}" if said else ""
                case "image" | "page-thumbnail":
                    continue
                case "object":
                    held = self._package.tree(f"{child.get('href', '').removeprefix('./')}/content.xml")
                    yield from self._chart(held, depth)
                case tag if tag not in _PASSED:
                    yield from _pictured(child)
                    yield from self._blocks(child, depth + 1)
                case _:
                    continue

    def _chart(self, tree: Any, depth: int) -> Iterator[str]:
        """Title of a chart, and the table of its data; nothing for another object."""
        for chart in elements(tree, "chart"):
            if chart.find("plot-area") is None:
                continue
            title = chart.find("title")
            said = _joined(self._blocks(title, depth + 1)) if title is not None else ""
            yield f"[Chart: {said}]" if said else "[Chart]"
            yield from (self._table(table, depth + 1) for table in chart.iter("table"))

    def _items(self, element: Any, style: str, level: int, depth: int) -> Iterator[str]:
        if depth > _MOST_DEPTH:
            return
        style = element.get("style-name", "") or style
        marks = self._lists.get(style, {}).get(level)
        before = marks.start - 1 if marks is not None else 0
        goes_on = element.get("continue-numbering") == "true" or element.get("continue-list")
        number = self._counts.get((style, level), before) if goes_on else before
        for item in element:
            if item.tag not in {"list-item", "list-header"}:
                continue
            shown = "-"
            if item.tag == "list-item":
                number = whole(item.get("start-value"), number + 1)
                self._counts[style, level] = number
                shown = marks.of(number) if marks is not None else "-"
            indent = "  " * (level - 1)
            for child in item:
                if child.tag == "list":
                    yield from self._items(child, style, level + 1, depth + 1)
                elif child.tag in {"p", "h"} and (said := self._line(child, depth).strip()):
                    first, *others = said.split("\n")
                    yield f"{indent}{shown} {first}" if shown else f"{indent}  {first}"
                    yield from (f"{indent}  {line}" for line in others)
                    shown = ""

    def _line(self, element: Any, depth: int, boxes: list[str] | None = None) -> str:
        """Words of a paragraph; texts in boxes on it are put into `boxes`."""
        held: list[str] = [] if boxes is None else boxes
        said = self._words(element, depth, held)
        return said if boxes is not None else " ".join(filter(None, (said, *held)))

    def _words(self, element: Any, depth: int, boxes: list[str]) -> str:
        if depth > _MOST_DEPTH:
            return ""
        pieces = [_blank(element.text)]
        for child in element:
            pieces += (self._word(child, depth, boxes), _blank(child.tail))
        return "".join(pieces)

    def _word(self, child: Any, depth: int, boxes: list[str]) -> str:
        match child.tag:
            case "s":
                return " " * min(whole(child.get("c"), 1), 200)
            case "tab":
                return "\t"
            case "line-break":
                return "\n"
            case "note":
                body = child.find("note-body")
                place = len(self._notes)
                self._notes.append("")
                said = _joined(self._blocks(body, depth + 1)) if body is not None else ""
                self._notes[place] = f"[^{place + 1}]: {said}"
                return f"[^{place + 1}]"
            case "annotation":
                by = child.findtext("creator")
                said = " ".join(_joined(self._blocks(child, depth + 1)).split())
                return f" [Comment{f' by {by}' if by else ''}: {said}]" if said else ""
            case "frame" | "custom-shape" | "g" | "rect":
                boxes += filter(None, (*_pictured(child), _joined(self._blocks(child, depth + 1))))
                return ""
            case "a":
                said, target = self._words(child, depth + 1, boxes), child.get("href", "")
                return f"[{said}]({target})" if "://" in target and said.strip() not in {"", target} else said
            case "ruby":
                base, above = child.find("ruby-base"), child.findtext("ruby-text") or ""
                said = self._words(base, depth + 1, boxes) if base is not None else ""
                return f"{said}({above})" if above else said
            case tag if tag in _PASSED or tag in {"bookmark", "soft-page-break", "note-citation"}:
                return ""
            case _:
                pass
        said = self._words(child, depth + 1, boxes)
        if child.tag != "span" or not said.strip():
            return said
        look = self._look(child.get("style-name", ""))
        return "" if look.is_hidden else formed(look.mark, said)

    def _look(self, name: str) -> _TextStyle:
        """The first of a style, and those that it is based on, that has a look of its own."""
        for _ in range(20):
            style = self._styles.get(name)
            if style is None or style.mark or style.is_hidden:
                return style or _TextStyle()
            name = style.base
        return _TextStyle()

    def _table(self, element: Any, depth: int) -> str:
        rows: list[list[str]] = []
        for row in _rows(element, 0):
            given: list[str] = []
            repeats, empty = _times(row, "number-rows-repeated"), 0
            for cell in row:
                if cell.tag not in {"table-cell", "covered-table-cell"}:
                    continue
                said = _joined(self._blocks(cell, depth + 1)) if cell.tag == "table-cell" else ""
                times = _times(cell, "number-columns-repeated")
                if not said:
                    empty += times
                    continue
                self._budget.take("", empty * repeats)
                self._budget.take(said, times * repeats)
                given += [""] * empty + [said] * times
                empty = 0
            rows += [given] * (repeats if given else 0)
        return pipe_table(rows)


def _rows(element: Any, depth: int) -> Iterator[Any]:
    for child in element:
        if child.tag == "table-row":
            yield child
        elif child.tag in {"table-header-rows", "table-rows", "table-row-group"} and depth < _MOST_DEPTH:
            yield from _rows(child, depth + 1)


def _times(element: Any, name: str) -> int:
    said = element.get(name, "1")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 9 else 1


def _pictured(frame: Any) -> Iterator[str]:
    """Description of a picture by its maker."""
    if frame.find("image") is not None:
        said = frame.findtext("desc") or frame.findtext("title") or ""
        if said.strip():
            yield f"[Picture: {' '.join(said.split())}]"


def _blank(text: str | None) -> str:
    """Text as ODF means it: a run of blanks is one."""
    return "" if not text else " ".join(f"\0{text}\0".split()).replace("\0", "")


def _style(style: Any) -> _TextStyle:
    base, about = style.get("parent-style-name", ""), style.find("text-properties")
    if about is None:
        return _TextStyle(base=base)
    place = about.get("text-position", "").split(" ")[0]
    mark = "~~" if about.get("text-line-through-style", "none") != "none" else ""
    if place == "super" or (place.endswith("%") and not place.startswith(("-", "0"))):
        mark = "sup"
    elif place == "sub" or place.startswith("-"):
        mark = "sub"
    return _TextStyle(base=base, mark=mark, is_hidden=about.get("display") == "none")


def _marks(style: Any) -> dict[int, _ListNumbers]:
    """The marks of each level of a list that has numbers."""
    found: dict[int, _ListNumbers] = {}
    for one in style:
        level, form = whole(one.get("level"), 0), one.get("num-format", "")
        if one.tag == "list-level-style-number" and level and form:
            found[level] = _ListNumbers(
                before=one.get("num-prefix", ""),
                first=form,
                behind=one.get("num-suffix", ""),
                start=whole(one.get("start-value"), 1),
            )
    return found


def _joined(blocks: Iterator[str]) -> str:
    return "\n\n".join(filter(None, blocks))
