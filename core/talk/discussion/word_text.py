"""Text of a Word document (docx) as Markdown. Source: ECMA-376, part 1, WordprocessingML; its numbering in 17.9."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from core.kernel.language import capital
from core.talk.discussion.document_package import (
    DAMAGED,
    DocumentError,
    Package,
    Related,
    elements,
    pipe_table,
    whole,
)
from core.talk.discussion.office_text import chart_text
from core.talk.discussion.page_text import grouped, numeral

_MOST_DEPTH = 40
"""Tables in tables, and boxes in boxes, that are read."""
_MOST_SPAN = 63
"""Columns of a table of Word."""
_WITHIN = frozenset(
    {
        "ins",
        "moveTo",
        "smartTag",
        "sdt",
        "sdtContent",
        "fldSimple",
        "dir",
        "bdo",
        "customXml",
        "Choice",
    }
    | {
        "rubyBase",
        "ruby",
        "oMathPara",
        "object",
        "pict",
        "drawing",
        "inline",
        "anchor",
        "graphic",
    }
    | {"graphicData", "wsp", "wgp", "wpc", "grpSp", "txbx", "shape", "rect", "roundrect", "group", "textbox"}
)
"""Elements that are passed through on the way to the words in them."""
_SIGNS = {
    0xF0FE: "☒",
    0xF0FD: "☒",
    0xF0A8: "☐",
    0xF06F: "☐",
    0xF0FC: "✓",
    0xF0FB: "✗",
    0xF0B7: "•",
    0xF0E0: "→",
}
"""Signs of the font Wingdings that mean something."""
_SYMBOLS = dict(
    zip(
        (
            *range(0x41, 0x5B),
            *range(0x61, 0x7B),
            *(
                0x22,
                0x24,
                0x27,
                0x2D,
                0xA2,
                0xA3,
                0xA5,
                0xB0,
                0xB1,
                0xB2,
                0xB3,
                0xB4,
                0xB5,
                0xB6,
                0xB7,
                0xB8,
                0xB9,
            ),
            *(0xBA, 0xBB, 0xC7, 0xC8, 0xCE, 0xCF, 0xD1, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE5, 0xF2),
            *range(0xAB, 0xB0),
            *range(0xDB, 0xE0),
        ),
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ∀∃∋−′≤∞°±″≥×∝∂•÷≠≡≈∩∪∈∉∇∏√⋅¬∧∨∑∫↔←↑→↓⇔⇐⇑⇒⇓",
        strict=True,
    )
)
"""Signs of the font Symbol that are no digits and marks. Source: Unicode's mapping of Adobe's Symbol encoding."""
ACCEPTED = "[Tracked changes are shown as accepted.]"


class _ListLevel(NamedTuple):
    start: int
    form: str
    label: str
    is_legal: bool


class _Style(NamedTuple):
    """A style's own properties. `level`: of its heading, 0 for none."""

    base: str
    level: int
    numbered: tuple[str, int] | None


def word_text(package: Package) -> str:
    """Text of a document: headings and paragraphs with the numbers that Word shows, tables, notes, comments, links."""
    return _Word(package).text()


def _value(element: Any, path: str, otherwise: str = "") -> str:
    """Value that an element within another one gives."""
    found = element.find(path)
    return otherwise if found is None else str(found.get("val", ""))


def _is_on(element: Any) -> bool:
    return element is not None and element.get("val", "1") not in {"0", "false", "off", "none"}


class _Word:
    def __init__(self, package: Package) -> None:
        name = package.main
        self._package = package
        self._body = package.tree(name)
        if self._body is None or (body := self._body.find("body")) is None:
            raise DocumentError(DAMAGED)
        self._body = body
        self._related = package.related(name)
        kinds = {one.kind: one.target for one in self._related.values()}
        self._styles = _styles(package.tree(kinds.get("styles", "")))
        self._numbering = _Numbering(package.tree(kinds.get("numbering", "")))
        parts = (("footnote", "footnotes"), ("endnote", "endnotes"), ("comment", "comments"))
        self._notes = {kind: _by_id(package.tree(kinds.get(part, "")), kind) for kind, part in parts}
        self._of_notes = {kind: package.related(kinds[part]) for kind, part in parts if part in kinds}
        self._told: list[str] = []
        self._is_tracked = False

    def text(self) -> str:
        said = _joined(self._blocks(self._body, 0))
        first = [ACCEPTED] if self._is_tracked else []
        return "\n\n".join(filter(None, (*first, said, *self._told, *self._edges())))

    def _edges(self) -> Iterator[str]:
        """Texts at the head and foot of the pages, each once, but for numbers of pages alone."""
        told = set[str]()
        for kind in ("header", "footer"):
            for one in self._body.iter(f"{kind}Reference"):
                part = self._related.get(one.get("r:id", ""))
                tree = self._package.tree(part.target) if part is not None else None
                if part is None or tree is None:
                    continue
                said = edge(kind, self._said(tree, 0, self._package.related(part.target)))
                if said not in told:
                    told.add(said)
                    yield said

    def _said(self, element: Any, depth: int, related: dict[str, Related]) -> str:
        """Text of another part, whose links and charts are named by references of its own."""
        before, self._related = self._related, related
        try:
            return _joined(self._blocks(element, depth))
        finally:
            self._related = before

    def _blocks(self, element: Any, depth: int) -> Iterator[tuple[str, bool]]:
        """Blocks of text, and whether each is an item of a list."""
        if depth > _MOST_DEPTH:
            return
        for child in element:
            match child.tag:
                case "p":
                    yield self._paragraph(child, depth)
                case "tbl":
                    yield self._table(child, depth), False
                case "sdt" | "sdtContent" | "customXml" | "ins" | "moveTo":
                    yield from self._blocks(child, depth + 1)
                case _:
                    continue

    def _paragraph(self, element: Any, depth: int) -> tuple[str, bool]:
        boxes: list[str] = []
        said = self._line(element, depth, boxes).strip()
        about = element.find("pPr")
        style = _value(element, "pPr/pStyle")
        level = self._heading(about, style)
        label, indent, is_item = "", "", False
        numbered = self._numbered(about, style) if said else None
        if numbered is not None:
            label = self._numbering.label(*numbered)
            is_item = bool(label) and not level
            indent = "  " * numbered[1] if is_item else ""
        if said and level:
            said = "#" * min(level, 6) + " " + " ".join(filter(None, (label, " ".join(said.split()))))
        elif label:
            first, *others = said.split("\n")
            said = "\n".join((f"{indent}{label} {first}", *(f"{indent}  {line}" for line in others)))
        return "\n\n".join(filter(None, (said, *boxes))), is_item and not boxes

    def _heading(self, about: Any, style: str) -> int:
        own = about.find("outlineLvl") if about is not None else None
        if own is not None:
            return whole(own.get("val"), 9) + 1 if whole(own.get("val"), 9) < 9 else 0
        return next((one.level for one in self._chain(style) if one.level), 0)

    def _numbered(self, about: Any, style: str) -> tuple[str, int] | None:
        own = _numbered(about)
        given = next((one.numbered for one in self._chain(style) if one.numbered), None)
        if own is None:
            return given if given and given[0] != "0" else None
        number = own[0] or (given[0] if given else "")
        return (number, own[1]) if number and number != "0" else None

    def _chain(self, style: str) -> Iterator[_Style]:
        """A style and those that it is based on."""
        for _ in range(20):
            found = self._styles.get(style)
            if found is None:
                return
            yield found
            style = found.base

    def _line(self, element: Any, depth: int, boxes: list[str]) -> str:
        """Words of a paragraph; text in boxes that hang on it is put into `boxes`."""
        pieces: list[tuple[str, str]] = []
        self._runs(element, depth, pieces, boxes)
        alike = groupby((one for one in pieces if one[1]), key=itemgetter(0))
        return "".join(formed(form, "".join(text for _, text in run)) for form, run in alike)

    def _runs(self, element: Any, depth: int, pieces: list[tuple[str, str]], boxes: list[str]) -> None:
        if depth > _MOST_DEPTH:
            return
        for child in element:
            match child.tag:
                case "r":
                    self._run(child, depth, pieces, boxes)
                case "hyperlink":
                    self._link(child, depth, pieces, boxes)
                case "del" | "moveFrom":
                    self._is_tracked = True
                case "oMath":
                    pieces.append(("", _formula(child, 0)))
                case "AlternateContent":
                    chosen = (
                        child.find("Choice") if child.find("Choice") is not None else child.find("Fallback")
                    )
                    if chosen is not None:
                        self._runs(chosen, depth + 1, pieces, boxes)
                case "txbxContent":
                    boxes += filter(None, (_joined(self._blocks(child, depth + 1)),))
                case "chart" if (part := self._related.get(child.get("r:id", ""))) is not None:
                    boxes += filter(None, (chart_text(self._package.tree(part.target)),))
                case "docPr" if said := child.get("descr", "").strip():
                    pieces.append(("", f"[Picture: {' '.join(said.split())}]"))
                case "rt":
                    pieces.append(("", "("))
                    self._runs(child, depth + 1, pieces, boxes)
                    pieces.append(("", ")"))
                case tag if tag in _WITHIN:
                    self._is_tracked |= tag in {"ins", "moveTo"}
                    self._runs(child, depth + 1, pieces, boxes)
                case _:
                    continue

    def _link(self, element: Any, depth: int, pieces: list[tuple[str, str]], boxes: list[str]) -> None:
        said = self._line(element, depth + 1, boxes)
        related = self._related.get(element.get("r:id", ""))
        target = related.target if related is not None and "://" in related.target else ""
        pieces.append(
            ("", f"[{said}]({target})" if target and said.strip() and said.strip() != target else said)
        )

    def _run(self, run: Any, depth: int, pieces: list[tuple[str, str]], boxes: list[str]) -> None:
        about = run.find("rPr")
        form = ""
        if about is not None:
            if _is_on(about.find("vanish")):
                return
            form = {"superscript": "sup", "subscript": "sub"}.get(_value(about, "vertAlign"), "")
            if _is_on(about.find("strike")) or _is_on(about.find("dstrike")):
                form = "~~"
        for child in run:
            match child.tag:
                case "t":
                    pieces.append((form, child.text or ""))
                case "tab" | "ptab":
                    pieces.append((form, "\t"))
                case "br" | "cr":
                    pieces.append((form, "\n"))
                case "noBreakHyphen":
                    pieces.append((form, "-"))
                case "sym":
                    pieces.append((form, _sign(child.get("font", ""), child.get("char", ""))))
                case "footnoteReference" | "endnoteReference":
                    self._note(child.tag.removesuffix("Reference"), child.get("id", ""), depth, pieces)
                case "commentReference":
                    self._comment(child.get("id", ""), depth, pieces)
                case "ruby" | "drawing" | "pict" | "object" | "AlternateContent":
                    self._runs([child], depth + 1, pieces, boxes)
                case _:
                    continue

    def _note(self, kind: str, name: str, depth: int, pieces: list[tuple[str, str]]) -> None:
        note = self._notes[kind].pop(name, None)
        if note is None:
            return
        place = len(self._told)
        self._told.append("")
        said = self._said(note, depth + 1, self._of_notes[kind])
        self._told[place] = f"[^{place + 1}]: {said.strip()}"
        pieces.append(("", f"[^{place + 1}]"))

    def _comment(self, name: str, depth: int, pieces: list[tuple[str, str]]) -> None:
        note = self._notes["comment"].pop(name, None)
        if note is None:
            return
        if said := self._said(note, depth + 1, self._of_notes["comment"]).strip():
            by = f" by {note.get('author')}" if note.get("author") else ""
            pieces.append(("", f" [Comment{by}: {' '.join(said.split())}]"))

    def _table(self, table: Any, depth: int) -> str:
        rows: list[list[str]] = []
        for row in _inner(table, "tr"):
            given = [""] * min(whole(_value(row, "trPr/gridBefore"), 0), _MOST_SPAN)
            for cell in _inner(row, "tc"):
                is_below = _value(cell, "tcPr/vMerge", "restart") != "restart"
                given.append("" if is_below else _joined(self._blocks(cell, depth + 1)))
                given += [""] * (min(whole(_value(cell, "tcPr/gridSpan"), 1), _MOST_SPAN) - 1)
            rows.append(given)
        if len(rows) == 1 and len(rows[0]) == 1:
            return rows[0][0]
        return pipe_table(rows)


def _sign(font: str, said: str) -> str:
    """A sign that is named by its font and its code in hexadecimal digits; empty for a mere ornament."""
    code = int(said, 16) if _CODE.fullmatch(said) else 0
    if not 0xF000 <= code < 0xF100:
        return "" if 0xE000 <= code < 0xF900 else chr(code)
    own = code - 0xF000
    if font == "Symbol":
        return _SYMBOLS.get(own, chr(own) if 0x20 <= own < 0x7F else "")
    return _SIGNS.get(code, "")


def _inner(element: Any, name: str) -> Iterator[Any]:
    """Rows of a table, or cells of a row, also where controls or tracked changes hold them."""
    for child in element:
        if child.tag == name:
            if name != "tr" or child.find("trPr/del") is None:
                yield child
        elif child.tag in {"sdt", "sdtContent", "customXml", "ins"}:
            yield from _inner(child, name)


def edge(kind: str, said: str) -> str:
    """A text at the head or foot of a page as it is told; empty for a number of the page alone."""
    return f"[{capital(kind)}] {said}" if any(map(str.isalpha, said)) else ""


def formed(form: str, text: str) -> str:
    """A text with its marks: `~~`, `sup`, `sub`, or none."""
    core = text.strip()
    if not form or not core:
        return text
    start, end = ("~~", "~~") if form == "~~" else (f"<{form}>", f"</{form}>")
    at = text.index(core)
    return f"{text[:at]}{start}{core}{end}{text[at + len(core) :]}"


def _joined(blocks: Iterator[tuple[str, bool]]) -> str:
    """Blocks apart by a blank line, items of a list by none."""
    pieces: list[str] = []
    was_item = False
    for said, is_item in blocks:
        if said:
            pieces += ("\n" if was_item and is_item else "\n\n") if pieces else "", said
            was_item = is_item
    return "".join(pieces)


def _by_id(tree: Any, kind: str) -> dict[str, Any]:
    return {one.get("id", ""): one for one in elements(tree, kind)}


def _styles(tree: Any) -> dict[str, _Style]:
    found: dict[str, _Style] = {}
    for one in elements(tree, "style"):
        name = _value(one, "name").lower()
        level = whole(_value(one, "pPr/outlineLvl"), 9) + 1
        if name.startswith("heading ") and name[8:].isdigit():
            level = int(name[8:])
        elif name == "title":
            level = 1
        found[one.get("styleId", "")] = _Style(
            base=_value(one, "basedOn"), level=level if level < 10 else 0, numbered=_numbered(one.find("pPr"))
        )
    return found


def _numbered(about: Any) -> tuple[str, int] | None:
    """Id of a list and the level in it, as properties of a paragraph say it."""
    told = about.find("numPr") if about is not None else None
    if told is None:
        return None
    return _value(told, "numId"), min(whole(_value(told, "ilvl"), 0), 8)


# Numbers of lists and headings, as Word counts them.


class _Numbering:
    def __init__(self, tree: Any) -> None:
        self._kinds: dict[str, dict[int, _ListLevel]] = {}
        self._list: dict[str, tuple[str, dict[int, _ListLevel], dict[int, int]]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()
        named: dict[str, str] = {}
        linked: dict[str, str] = {}
        for one in elements(tree, "abstractNum"):
            name = one.get("abstractNumId", "")
            self._kinds[name] = _levels(one)
            if link := _value(one, "styleLink"):
                named[link] = name
            linked[name] = _value(one, "numStyleLink")
        for one in elements(tree, "num"):
            name = _value(one, "abstractNumId")
            name = named.get(linked.get(name, ""), name)
            changed: dict[int, _ListLevel] = {}
            starts: dict[int, int] = {}
            for override in one.iter("lvlOverride"):
                level = whole(override.get("ilvl"), 0)
                changed |= _levels(override)
                if (start := override.find("startOverride")) is not None:
                    starts[level] = whole(start.get("val"), 1)
            self._list[one.get("numId", "")] = (name, changed, starts)

    def label(self, number: str, level: int) -> str:
        """Count one more item of a list, and tell its mark: `-`, `3.`, `4.2`, `(a)`; empty for none."""
        if number not in self._list:
            return ""
        name, changed, starts = self._list[number]
        levels = {**self._kinds.get(name, {}), **changed}
        own = levels.get(level)
        if own is None:
            return ""
        counts = self._counts.setdefault(name, {})
        if level in starts and (number, level) not in self._begun:
            counts[level] = starts[level]
        else:
            counts[level] = counts.get(level, own.start - 1) + 1
        self._begun.add((number, level))
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]
        if own.form == "bullet":
            return "-"
        said = own.label
        for place in range(level + 1):
            if f"%{place + 1}" in said:
                at = levels.get(place, own)
                value = counts.setdefault(place, at.start)
                said = said.replace(f"%{place + 1}", _number(value, "decimal" if own.is_legal else at.form))
        return said.strip()


def _levels(element: Any) -> dict[int, _ListLevel]:
    found: dict[int, _ListLevel] = {}
    for one in element.iter("lvl"):
        found[whole(one.get("ilvl"), 0)] = _ListLevel(
            start=whole(_value(one, "start", "0"), 1),
            form=_value(one, "numFmt"),
            label=_value(one, "lvlText"),
            is_legal=_is_on(one.find("isLgl")),
        )
    return found


_NUMERALS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}


def _number(value: int, form: str) -> str:
    match form:
        case "none":
            return ""
        case "decimalZero":
            return f"{value:02}"
        case _:
            return numeral(value, _NUMERALS.get(form, ""))


# Formulas: OMML in one line, as `core.talk.discussion.page_text` writes MathML.

_CODE = re.compile("[0-9A-Fa-f]{1,4}")
_PARTS = {"sSup": "^", "sSub": "_", "f": "/", "limLow": "_", "limUpp": "^"}


def _formula(element: Any, depth: int) -> str:
    if depth > _MOST_DEPTH or element.tag.endswith("Pr"):
        return ""
    if element.tag == "t":
        return element.text or ""
    parts = [said for child in element if (said := _formula(child, depth + 1)).strip()]
    match element.tag, parts:
        case ("sSup" | "sSub" | "f" | "limLow" | "limUpp") as tag, [first, second]:
            return grouped(first) + _PARTS[tag] + grouped(second)
        case "sSubSup", [first, second, third]:
            return f"{grouped(first)}_{grouped(second)}^{grouped(third)}"
        case "rad", [*degree, inner]:
            return f"{''.join(degree)}√({inner})"
        case "d", _:
            start, end = _value(element, "dPr/begChr", "("), _value(element, "dPr/endChr", ")")
            return f"{start}{', '.join(parts)}{end}"
        case "nary", _:
            ends = ((mark, _under(element, name, depth)) for mark, name in (("_", "sub"), ("^", "sup")))
            bounds = "".join(mark + grouped(said) for mark, said in ends if said)
            return f"{_value(element, 'naryPr/chr', '∫')}{bounds} {_under(element, 'e', depth)}"
        case "m" | "eqArr", _:
            return "; ".join(parts)
        case "func", _:
            return " ".join(parts)
        case "mr", _:
            return ", ".join(parts)
        case _:
            return "".join(parts)


def _under(element: Any, name: str, depth: int) -> str:
    """Formula in a child, empty where there is none."""
    child = element.find(name)
    return "" if child is None else _formula(child, depth + 1).strip()
