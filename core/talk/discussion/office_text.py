"""Text of slides (pptx), of workbooks (xlsx) and of charts as Markdown. Source: ECMA-376, part 1: PresentationML, SpreadsheetML,
DrawingML Charts.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from core.kernel.patterns import late
from core.talk.discussion.document_package import (
    CellBudget,
    Package,
    Related,
    elements,
    pipe_table,
    too_long,
    whole,
)
from core.talk.discussion.pdf_text import MAX_TEXT_CHARS

_MOST_DEPTH = 30
_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384


def slides_text(package: Package) -> str:
    """Slides in their order: title, texts and lists, tables, what pictures show, the speaker's notes."""
    related = package.related(package.main)
    tree = package.tree(package.main)
    authors = {
        one.get("id", ""): one.get("name", "")
        for part in related.values()
        if part.kind in {"commentAuthors", "authors"}
        for one in elements(
            package.tree(part.target), "cmAuthor" if part.kind == "commentAuthors" else "author"
        )
    }
    pages: list[str] = []
    for number, one in enumerate(elements(tree, "sldId"), 1):
        reference = related.get(one.get("r:id", ""))
        slide = package.tree(reference.target) if reference is not None else None
        if reference is None or slide is None:
            continue
        parts = package.related(reference.target)
        blocks = list(filter(None, _shapes(slide.find("cSld/spTree"), 0, package, parts)))
        hidden = " (hidden)" if slide.get("show") in {"0", "false"} else ""
        title = next((one.removeprefix(_TITLE) for one in blocks if one.startswith(_TITLE)), "")
        head = f"## Slide {number}{hidden}" + (f": {title}" if title else "")
        said = [_notes(package.tree(one.target)) for one in parts.values() if one.kind == "notesSlide"]
        spoken = [f"Notes: {note}" for note in said if note]
        for part in parts.values():
            if part.kind == "comments":
                spoken += _remarks(package.tree(part.target), authors)
        pages.append("\n\n".join((head, *(one for one in blocks if not one.startswith(_TITLE)), *spoken)))
    return "\n\n".join(pages)


_TITLE = "\ufdd0"
"""Stands before a slide's title: a code point that no text may hold."""


def _remarks(tree: Any, authors: dict[str, str]) -> Iterator[str]:
    """Comments on a slide, older and newer ones."""
    for one in elements(tree, "cm"):
        said = one.findtext("text") or _words(one.find("txBody"))
        if said.strip():
            yield _comment(authors.get(one.get("authorId", ""), ""), said)


def _comment(author: str, said: str, place: str = "") -> str:
    by, at = f" by {author}" if author else "", f" on {place}" if place else ""
    return f"[Comment{at}{by}: {' '.join(said.split())}]"


def _shapes(element: Any, depth: int, package: Package, parts: dict[str, Related]) -> Iterator[str]:
    if element is None or depth > _MOST_DEPTH:
        return
    for child in element:
        match child.tag:
            case "grpSp" | "AlternateContent" | "Choice":
                yield from _shapes(child, depth + 1, package, parts)
            case "sp" | "cxnSp":
                mark = child.find("nvSpPr/nvPr/ph")
                kind = mark.get("type", "") if mark is not None else ""
                said = _words(child.find("txBody"))
                if said and kind in {"title", "ctrTitle"}:
                    yield _TITLE + " ".join(said.split())
                elif said and kind not in {"sldNum", "dt", "ftr"}:
                    yield said
            case "graphicFrame":
                for table in child.iter("tbl"):
                    yield pipe_table(
                        [[_words(cell.find("txBody")) for cell in row.iter("tc")] for row in table.iter("tr")]
                    )
                yield from (_words(point.find("t")) for point in child.iter("pt"))  # a drawing of SmartArt
                for chart in child.iter("chart"):
                    if (part := parts.get(chart.get("r:id", ""))) is not None:
                        yield chart_text(package.tree(part.target))
            case "pic":
                about = child.find("nvPicPr/cNvPr")
                if about is not None and (said := " ".join(about.get("descr", "").split())):
                    yield f"[Picture: {said}]"
            case _:
                continue


def _words(body: Any) -> str:
    """Paragraphs of a text; those of a deeper level as items of a list."""
    lines: list[str] = []
    for paragraph in elements(body, "p"):
        said = "".join(
            one.text or "" if one.tag == "t" else "\n" if one.tag == "br" else "" for one in paragraph.iter()
        ).strip()
        about = paragraph.find("pPr")
        level = whole(about.get("lvl"), 0) if about is not None else 0
        is_item = level or (about is not None and any(one.tag in {"buChar", "buAutoNum"} for one in about))
        if said:
            lines.append(f"{'  ' * min(level, 8)}- {said}" if is_item else said)
    return "\n".join(lines)


def _notes(tree: Any) -> str:
    if tree is None:
        return ""
    bodies = (
        one
        for one in tree.iter("sp")
        if (mark := one.find("nvSpPr/nvPr/ph")) is not None and mark.get("type") == "body"
    )
    return "\n".join(filter(None, (_words(one.find("txBody")) for one in bodies)))


# Charts: what they show stands in them as a table, beside the workbook that it came from.

_MOST_SERIES, _MOST_POINTS = 200, 20_000


class _Series(NamedTuple):
    """Name, categories (or places to the right) and values of a series, the latter two by their number."""

    name: str
    over: dict[int, str]
    values: dict[int, str]


def chart_text(tree: Any) -> str:
    """Title of a chart, and a table of its data: a row a category, a column a series; series with places of their own one
    behind the other. Empty for one without data.
    """
    if tree is None:
        return ""
    epoch = _epoch(tree.find("date1904"), "val", "1")
    series = [_series(one, epoch) for _, one in zip(range(_MOST_SERIES), tree.iter("ser"), strict=False)]
    title = " ".join("".join(one.text or "" for one in elements(tree.find("chart/title"), "t")).split())
    tables: list[str] = []
    for over, run in groupby(series, key=lambda one: one.over):
        alike = list(run)
        places = sorted(set(over).union(*(one.values for one in alike)))
        if len(places) * len(alike) > MAX_TEXT_CHARS // len("| "):
            raise too_long()
        rows = [[over.get(at, ""), *(one.values.get(at, "") for one in alike)] for at in places]
        if rows:
            tables.append(pipe_table([["", *(one.name for one in alike)], *rows]))
    return "\n\n".join((f"[Chart: {title}]" if title else "[Chart]", *tables)) if tables else ""


def _epoch(element: Any, name: str, otherwise: str) -> datetime | None:
    """First day of the days that a file counts: 1904 where it says so, None for that of 1900."""
    is_1904 = element is not None and element.get(name, otherwise) in {"1", "true"}
    return datetime(1904, 1, 1) if is_1904 else None  # noqa: DTZ001


def _series(element: Any, epoch: datetime | None) -> _Series:
    over = element.find("cat") if element.find("cat") is not None else element.find("xVal")
    values = element.find("val") if element.find("val") is not None else element.find("yVal")
    name = " ".join(one.findtext("v") or "" for one in elements(element.find("tx"), "pt"))
    return _Series(
        name=name or element.findtext("tx/v") or "", over=_points(over, epoch), values=_points(values, epoch)
    )


def _points(element: Any, epoch: datetime | None) -> dict[int, str]:
    """Points of a series as its chart kept them, numbers in the form that they are shown in."""
    if element is None:
        return {}
    level = next(element.iter("lvl"), element)  # of several levels of categories the innermost
    found: dict[int, str] = {}
    numbers = element.find("numRef/numCache")
    numbers = element.find("numLit") if numbers is None else numbers
    form = _form_of(numbers.findtext("formatCode") or "") if numbers is not None else _NumberForm()
    for _, one in zip(range(_MOST_POINTS), level.iter("pt"), strict=False):
        said, code = one.findtext("v") or "", one.get("formatCode")
        own = _form_of(code) if code else form
        found[whole(one.get("idx"), 0)] = said if numbers is None else _number(said, own, epoch)
    return found


# Workbooks: each sheet a table of what its cells hold; days as ISO 8601, shares as percent, and numbers with their units.

_DAYS = frozenset({*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)})
"""Numbers of formats that mean a day or a time. Source: ECMA-376, part 1, 18.8.30."""
_SHARES, _SPANS = frozenset({9, 10}), frozenset({46})
"""Those that mean a share, and hours that go on past a day."""
_TWO_DECIMALS = frozenset({2, 4, 7, 8, 10, 39, 40, 43, 44})
"""Those that show hundredths."""
_PLAIN = late(r'"[^"]*"|\\.|\[[^\]]*\]|_.')
"""Parts of a format that are written as they stand, or have a meaning of their own."""
_SIGNS = late(
    r'"(?P<quoted>[^"]*)"|\\(?P<sign>.)|_.|\*.|\[\$(?P<money>[^\]-]*)[^\]]*\]|\[(?P<rule>[^\]]*)\]'
    r"|(?P<digits>general|[0#?.,]+(?:e[+-][0#?]+)?)|(?P<plain>.)",
    re.IGNORECASE,
)
"""Signs of one section of a format of numbers. Source: ECMA-376, part 1, 18.8.31."""
_ESCAPED = late("_x([0-9A-Fa-f]{4})_")
_CELL = re.compile(r"([A-Z]{1,3})(\d{1,7})")


def workbook_text(package: Package) -> str:
    """Sheets in their order, each as a table."""
    tree = package.tree(package.main)
    if tree is None:
        return ""
    related = package.related(package.main)
    kinds = {one.kind: one.target for one in related.values()}
    shared = [_rich(one) for one in elements(package.tree(kinds.get("sharedStrings", "")), "si")]
    forms = _forms(package.tree(kinds.get("styles", "")))
    epoch = _epoch(tree.find("workbookPr"), "date1904", "0")
    budget = CellBudget()
    told: list[str] = []
    for sheet in tree.iter("sheet"):
        where = related.get(sheet.get("r:id", ""))
        if where is None or where.kind != "worksheet" or not (data := package.part(where.target)):
            continue
        cells: dict[int, dict[int, str]] = {}
        links: dict[tuple[int, int], str] = {}
        for row, column, said in _cells(data, shared, forms, epoch, links):
            if said:
                budget.take(said)
                cells.setdefault(row, {})[column] = said
        _link(cells, links, package.related(where.target), budget)
        hidden = " (hidden)" if sheet.get("state", "visible") != "visible" else ""
        head = f"## {sheet.get('name', '')}{hidden}"
        remarks, drawn = _beside(package, where.target)
        if cells:
            columns = sorted(set[int]().union(*cells.values()))
            rows = [[row.get(column, "") for column in columns] for _, row in sorted(cells.items())]
            told.append(f"{head}\n\n{pipe_table(rows)}")
        elif remarks or drawn:
            told.append(head)
        told += (*remarks, *drawn)
    return "\n\n".join(told)


def _link(
    cells: dict[int, dict[int, str]],
    links: dict[tuple[int, int], str],
    parts: dict[str, Related],
    budget: CellBudget,
) -> None:
    """Put the address of its page or mail behind the text of each cell that is a link."""
    for (row, column), key in links.items():
        target, said = parts[key].target if key in parts else "", cells.get(row, {}).get(column, "")
        if said and said != target and target.startswith(("http://", "https://", "mailto:")):
            cells[row][column] = f"[{said}]({target})"
            budget.take(target)


def _beside(package: Package, sheet: str) -> tuple[list[str], list[str]]:
    """Comments on a sheet's cells, and texts of the boxes and charts that lie on it."""
    parts = package.related(sheet).values()
    threads = [
        (one.get("ref", ""), one.findtext("text") or "")
        for part in parts
        if part.kind == "threadedComment"
        for one in elements(package.tree(part.target), "threadedComment")
    ]
    notes = [
        (one.get("ref", ""), "".join(said.text or "" for said in one.iter("t")))
        for part in parts
        if part.kind == "comments" and not threads
        for one in elements(package.tree(part.target), "comment")
    ]
    remarks = [_comment("", said, place) for place, said in (*threads, *notes) if said.strip()]
    drawn: list[str] = []
    for drawing in (part.target for part in parts if part.kind == "drawing"):
        tree, on_it = package.tree(drawing), package.related(drawing)
        drawn += filter(None, (_words(box) for box in elements(tree, "txBody")))
        for chart in elements(tree, "chart"):
            held = on_it.get(chart.get("r:id", ""))
            said = chart_text(package.tree(held.target)) if held is not None else ""
            drawn += [said.partition("\n")[0]] if said.startswith("[Chart: ") else []
    return remarks, drawn


def _rich(element: Any) -> str:
    """Text of a cell, without the readings that stand over Japanese words."""
    spans = (one.findtext("t") or "" for one in element.findall("r"))
    return _unescaped((element.findtext("t") or "") + "".join(spans))


def _unescaped(said: str) -> str:
    """Text whose signs that XML cannot hold stand as `_x000D_`. Source: ECMA-376, part 1, 22.9.2.19 (ST_Xstring)."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), said) if "_x" in said else said


class _NumberForm(NamedTuple):
    """Meaning of a number: `day`, `span` of hours, `share`, or empty for a plain one, with what is shown before and behind it.

    Args:
        digits: those that a plain one has at least before its point, as a postal code or a part's number has.
        decimals: those that one has at least behind it, as an amount of money has; what has more keeps them.
    """

    kind: str = ""
    before: str = ""
    behind: str = ""
    digits: int = 0
    decimals: int = 0


def _forms(tree: Any) -> list[_NumberForm]:
    """Meaning of the numbers of each style of cells."""
    if tree is None:
        return []
    own = {one.get("numFmtId", ""): one.get("formatCode", "") for one in tree.iter("numFmt")}
    styles = tree.find("cellXfs")
    return [_form(one.get("numFmtId", "0"), own) for one in (styles if styles is not None else ())]


def _form(number: str, own: dict[str, str]) -> _NumberForm:
    if number not in own:
        code = int(number) if number.isdigit() else 0
        kind = "day" if code in _DAYS else "share" if code in _SHARES else "span" if code in _SPANS else ""
        return _NumberForm(kind=kind, decimals=2 if code in _TWO_DECIMALS else 0)
    return _form_of(own[number])


def _form_of(code: str) -> _NumberForm:
    """Meaning of numbers of a format: its first section counts, which is that of positive ones."""
    plain = _PLAIN.sub("", code).partition(";")[0].lower()
    if "%" in plain:
        found = re.search(r"\.(0+)", plain)
        return _NumberForm(
            kind="share", decimals=min(len(found[1]), _MOST_DIGITS) if found is not None else 0
        )
    if re.search(r"\[(?:h+|m+|s+)\]", code, re.IGNORECASE) is not None:
        return _NumberForm(kind="span")
    if re.search("[ymdhs]", re.sub("general|e[+-]", "", plain)):
        return _NumberForm(kind="day")
    return _with_unit(code)


def _with_unit(code: str) -> _NumberForm:
    """Words and signs of money before and behind the digits. None where the digits are parted by signs, stand for thousands or
    millions, or depend on the number, nor where negative ones have other words: what is shown is another number then.
    """
    sections: list[list[re.Match[str]]] = [[]]
    for found in _SIGNS.finditer(code):
        if found["plain"] == ";":
            sections.append([])
        else:
            sections[-1].append(found)
    own = _section(sections[0])
    of_negatives = _section(sections[1]) if len(sections) > 1 and sections[1] else own
    is_same = all(
        one.strip(_MINUS) == other.strip(_MINUS)
        for one, other in ((own.before, of_negatives.before), (own.behind, of_negatives.behind))
    )
    return own if is_same else own._replace(before="", behind="")


_MINUS = "-+() "
"""Signs by which a format marks negative numbers."""


def _section(signs: list[re.Match[str]]) -> _NumberForm:
    """One section of a format: its words, and the digits that it shows at least."""
    around, digits = ["", ""], list[str]()
    for found in signs:
        if found["rule"] and found["rule"][0] in "<>=":
            return _NumberForm()
        if found["digits"]:
            digits.append(found["digits"].lower())
        else:
            around[bool(digits)] += found["quoted"] or found["sign"] or found["money"] or found["plain"] or ""
    is_other = any("e" in one for one in digits) or "/" in around[1]  # a power of ten, a fraction
    least = 0 if is_other else sum(one.partition(".")[0].count("0") for one in digits)
    form = _NumberForm(digits=min(least, _MOST_DIGITS))
    if len(digits) != 1 or _SCALED.search(digits[0]) is not None:
        return form
    if not is_other:
        form = form._replace(decimals=min(digits[0].partition(".")[2].count("0"), _MOST_DIGITS))
    before, behind = (said if any(map(_is_unit, said)) else "" for said in around)
    return form._replace(before=before.lstrip(), behind=behind.rstrip())


_MOST_DIGITS = 30
_SCALED = late(r",(?:\.|$)")
"""Commas behind the last digit before the point, each of which divides by a thousand."""


def _is_unit(sign: str) -> bool:
    return sign.isalnum() or unicodedata.category(sign) in {"Sc", "So"} or sign in "%‰°'\"/"


def _cells(
    data: bytes,
    shared: list[str],
    forms: list[_NumberForm],
    epoch: datetime | None,
    links: dict[tuple[int, int], str],
) -> Iterator[tuple[int, int, str]]:
    """Row, column (from 1) and text of the cells of a sheet. `links`: gets the ids of the cells that are links."""
    row = column = 0
    for event, one in ET.iterparse(io.BytesIO(data), ("start", "end")):  # noqa: S314 - expat bounds what it makes of it
        tag = one.tag.rpartition("}")[2]
        if event == "start":
            if tag == "row":
                said = one.get("r", "")
                row, column = int(said) if said.isdigit() else row + 1, 0
            continue
        if tag == "c":
            place = _CELL.fullmatch(one.get("r", ""))
            row, column = (int(place[2]), _column(place[1])) if place else (row, column + 1)
            if 0 < row <= _MAX_ROWS and 0 < column <= _MAX_COLUMNS:
                yield row, column, _value(one, shared, forms, epoch)
        elif tag == "hyperlink" and (place := _CELL.match(one.get("ref", ""))):
            key = next((value for name, value in one.items() if name.endswith("}id")), "")
            if len(links) < _MOST_LINKS:
                links[int(place[2]), _column(place[1])] = key
        elif tag == "row":
            one.clear()


_MOST_LINKS = 10_000


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _value(cell: Any, shared: list[str], forms: list[_NumberForm], epoch: datetime | None) -> str:
    parts = {child.tag.rpartition("}")[2]: child for child in cell}
    said = (parts["v"].text or "") if "v" in parts else ""
    kind, style = cell.get("t", "n"), cell.get("s", "0")
    if kind == "s":
        return shared[int(said)] if said.isdigit() and int(said) < len(shared) else ""
    if kind == "inlineStr":
        return _unescaped("".join(one.text or "" for one in cell.iter() if one.tag.rpartition("}")[2] == "t"))
    if not said and "f" in parts:
        return f"={parts['f'].text}" if parts["f"].text else ""  # no program has calculated it yet
    if kind == "b":
        return "TRUE" if said == "1" else "FALSE" if said else ""
    if kind != "n" or not said:
        return _unescaped(said)
    form = forms[int(style)] if style.isdigit() and int(style) < len(forms) else _NumberForm()
    return _number(said, form, epoch)


_MOST_DAYS = 2_958_466
"""Days from 1900 to the end of the year 9999; from 1904 there are 1462 fewer."""


def _number(said: str, form: _NumberForm, epoch: datetime | None) -> str:
    try:
        value = float(said)
    except ValueError:
        return said
    if form.kind == "day" and 0 <= value < (_MOST_DAYS if epoch is None else _MOST_DAYS - 1_462):
        return _day(value, epoch)
    if form.kind == "span" and 0 <= value < _MOST_DAYS:
        minutes, seconds = divmod(round(value * 86_400), 60)
        return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    if form.kind == "share":
        return f"{_with_decimals(f'{value * 100:.15g}', form.decimals)}%"
    shown = said if said.lstrip("-").isdigit() else f"{value:.15g}"  # as many digits as Excel shows
    if form.digits > 1 and "e" not in shown:
        shown = shown.zfill(form.digits + len(shown) - len(shown.lstrip("-").partition(".")[0]))
    shown = _with_decimals(shown, form.decimals)
    minus = "-" if shown.startswith("-") and form.before else ""
    return f"{minus}{form.before}{shown.removeprefix(minus)}{form.behind}"


def _with_decimals(shown: str, least: int) -> str:
    """A number with the zeros behind its point that its format shows; more digits than those stay, for they are its value."""
    whole, _, behind = shown.partition(".")
    return shown if "e" in shown or len(behind) >= least else f"{whole}.{behind.ljust(least, '0')}"


def _day(value: float, epoch: datetime | None) -> str:
    """A day, a time, or both. Excel counts a 29 February in 1900, so that days before March 1900 are one off."""
    if epoch is None and value < 1:
        moment = datetime(1900, 1, 1) + timedelta(seconds=round(value * 86_400))  # noqa: DTZ001
        return f"{moment:%H:%M:%S}".removesuffix(":00")
    start = epoch or datetime(1899, 12, 31 if value < 60 else 30)  # noqa: DTZ001
    moment = start + timedelta(seconds=round(value * 86_400))
    text = moment.isoformat(" ")
    return text.removesuffix(" 00:00:00") if text.endswith("00:00:00") else text.removesuffix(":00")
