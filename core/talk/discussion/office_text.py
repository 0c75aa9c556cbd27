"""Text of slides (pptx) and of workbooks (xlsx) as Markdown. Source: ECMA-376, part 1: PresentationML, SpreadsheetML."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

from core.kernel.patterns import late
from core.talk.discussion.document_package import CellBudget, Package, elements, pipe_table, whole

_MOST_DEPTH = 30
_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384


def slides_text(package: Package) -> str:
    """Slides in their order: title, texts and lists, tables, what pictures show, the speaker's notes."""
    related = package.related(package.main)
    tree = package.tree(package.main)
    pages: list[str] = []
    for number, one in enumerate(elements(tree, "sldId"), 1):
        reference = related.get(one.get("r:id", ""))
        slide = package.tree(reference.target) if reference is not None else None
        if reference is None or slide is None:
            continue
        blocks = list(filter(None, _shapes(slide.find("cSld/spTree"), 0)))
        hidden = " (hidden)" if slide.get("show") in {"0", "false"} else ""
        title = next((one.removeprefix(_TITLE) for one in blocks if one.startswith(_TITLE)), "")
        head = f"## Slide {number}{hidden}" + (f": {title}" if title else "")
        notes = [one.target for one in package.related(reference.target).values() if one.kind == "notesSlide"]
        said = [_notes(package.tree(note)) for note in notes]
        spoken = [f"Notes: {note}" for note in said if note]
        pages.append("\n\n".join((head, *(one for one in blocks if not one.startswith(_TITLE)), *spoken)))
    return "\n\n".join(pages)


_TITLE = "\ufdd0"
"""Stands before a slide's title: a code point that no text may hold."""


def _shapes(element: Any, depth: int) -> Iterator[str]:
    if element is None or depth > _MOST_DEPTH:
        return
    for child in element:
        match child.tag:
            case "grpSp" | "AlternateContent" | "Choice":
                yield from _shapes(child, depth + 1)
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


# Workbooks: each sheet a table of what its cells hold; days as ISO 8601, and shares as percent.

_DAYS = frozenset({*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)})
"""Numbers of formats that mean a day or a time. Source: ECMA-376, part 1, 18.8.30."""
_SHARES, _SPANS = frozenset({9, 10}), frozenset({46})
"""Those that mean a share, and hours that go on past a day."""
_PLAIN = late(r'"[^"]*"|\\.|\[[^\]]*\]|_.')
"""Parts of a format that are written as they stand, or have a meaning of their own."""
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
    about = tree.find("workbookPr")
    epoch = datetime(1904, 1, 1) if about is not None and about.get("date1904") in {"1", "true"} else None  # noqa: DTZ001
    budget = CellBudget()
    told: list[str] = []
    for sheet in tree.iter("sheet"):
        where = related.get(sheet.get("r:id", ""))
        data = package.part(where.target) if where is not None and where.kind == "worksheet" else b""
        if not data:
            continue
        cells: dict[int, dict[int, str]] = {}
        for row, column, said in _cells(data, shared, forms, epoch):
            if said:
                budget.take(said)
                cells.setdefault(row, {})[column] = said
        hidden = " (hidden)" if sheet.get("state", "visible") != "visible" else ""
        head = f"## {sheet.get('name', '')}{hidden}"
        if cells:
            columns = sorted(set[int]().union(*cells.values()))
            rows = [[row.get(column, "") for column in columns] for _, row in sorted(cells.items())]
            told.append(f"{head}\n\n{pipe_table(rows)}")
    return "\n\n".join(told)


def _rich(element: Any) -> str:
    """Text of a cell, without the readings that stand over Japanese words."""
    spans = (one.findtext("t") or "" for one in element.findall("r"))
    return _unescaped((element.findtext("t") or "") + "".join(spans))


def _unescaped(said: str) -> str:
    """Text whose signs that XML cannot hold stand as `_x000D_`. Source: ECMA-376, part 1, 22.9.2.19 (ST_Xstring)."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), said) if "_x" in said else said


def _forms(tree: Any) -> list[str]:
    """Meaning of the numbers of each style of cells: `day`, `span` of hours, `share`, or empty for a plain one."""
    if tree is None:
        return []
    own = {one.get("numFmtId", ""): one.get("formatCode", "") for one in tree.iter("numFmt")}
    styles = tree.find("cellXfs")
    return [_form(one.get("numFmtId", "0"), own) for one in (styles if styles is not None else ())]


def _form(number: str, own: dict[str, str]) -> str:
    if number not in own:
        code = int(number) if number.isdigit() else 0
        return "day" if code in _DAYS else "share" if code in _SHARES else "span" if code in _SPANS else ""
    plain = _PLAIN.sub("", own[number]).partition(";")[0].lower()
    if "%" in plain:
        return "share"
    if re.search(r"\[(?:h+|m+|s+)\]", own[number], re.IGNORECASE) is not None:
        return "span"
    return "day" if re.search("[ymdhs]", plain.replace("general", "")) else ""


def _cells(
    data: bytes, shared: list[str], forms: list[str], epoch: datetime | None
) -> Iterator[tuple[int, int, str]]:
    """Row, column (from 1) and text of the cells of a sheet."""
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
        elif tag == "row":
            one.clear()


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _value(cell: Any, shared: list[str], forms: list[str], epoch: datetime | None) -> str:
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
    form = forms[int(style)] if style.isdigit() and int(style) < len(forms) else ""
    return _number(said, form, epoch)


_MOST_DAYS = 2_958_466
"""Days from 1900 to the end of the year 9999; from 1904 there are 1462 fewer."""


def _number(said: str, form: str, epoch: datetime | None) -> str:
    try:
        value = float(said)
    except ValueError:
        return said
    if form == "day" and 0 <= value < (_MOST_DAYS if epoch is None else _MOST_DAYS - 1_462):
        return _day(value, epoch)
    if form == "span" and 0 <= value < _MOST_DAYS:
        minutes, seconds = divmod(round(value * 86_400), 60)
        return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    if form == "share":
        return f"{value * 100:.15g}%"
    return said if said.lstrip("-").isdigit() else f"{value:.15g}"  # as many digits as Excel shows


def _day(value: float, epoch: datetime | None) -> str:
    """A day, a time, or both. Excel counts a 29 February in 1900, so that days before March 1900 are one off."""
    if epoch is None and value < 1:
        moment = datetime(1900, 1, 1) + timedelta(seconds=round(value * 86_400))  # noqa: DTZ001
        return f"{moment:%H:%M:%S}".removesuffix(":00")
    start = epoch or datetime(1899, 12, 31 if value < 60 else 30)  # noqa: DTZ001
    moment = start + timedelta(seconds=round(value * 86_400))
    text = moment.isoformat(" ")
    return text.removesuffix(" 00:00:00") if text.endswith("00:00:00") else text.removesuffix(":00")
