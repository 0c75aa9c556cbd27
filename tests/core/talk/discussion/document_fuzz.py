"""Documents of each kind with something in them that no office program writes: each is read or said, and nothing raises."""

from __future__ import annotations

import io
import random
import zipfile
from copy import deepcopy
from typing import NamedTuple
from xml.etree import ElementTree as ET

from core.talk.discussion.document_text import DocumentError, document_text
from tests.core.talk.discussion.test_document_text import (
    NUMBERING,
    PAGE,
    ROWS,
    STYLES,
    book,
    item,
    open_document,
    p,
    packed,
    run,
    slides,
    word,
    workbook,
)
from tests.core.talk.discussion.test_rtf_text import TEXTEDIT
from tests.note_exports import CANVAS, DAY_ONE, KEEP, NOTEBOOK, OUTLINE, ROAM

WRONG = (
    "",
    "-1",
    "0",
    "9" * 12,
    "1e999",
    "nan",
    "\u00b2",
    "x",
    "F0B3",
    "D800",
    "rId99",
    "../../x",
    "#",
    "a" * 3_000,
)
"""Values that an attribute or a text gets in place of its own."""


class DocumentSeed(NamedTuple):
    """A document of a kind. `ending`: of its name, empty for an archive."""

    id: str
    data: bytes
    ending: str = ""


def _word() -> bytes:
    table = (
        f"<w:tbl><w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr><w:tc><w:tcPr><w:gridSpan w:val='2'/><w:vMerge w:val='restart'/>"
        f"</w:tcPr>{p('tall')}</w:tc></w:tr><w:tr><w:tc>{p('a')}</w:tc><w:tc>{p('b')}</w:tc></w:tr></w:tbl>"
    )
    notes = "<w:r><w:footnoteReference w:id='2'/></w:r><w:r><w:commentReference w:id='0'/></w:r>"
    formula = "<w:p><oMath><sSup><e><r><t>x</t></r></e><sup><r><t>2</t></r></sup></sSup></oMath></w:p>"
    sign = "<w:p><w:r><w:sym w:font='Symbol' w:char='F0B3'/></w:r></w:p>"
    link = f'<w:p><w:hyperlink r:id="hyperlink">{run("terms")}</w:hyperlink>{notes}</w:p>'
    return word(
        p("Rent", '<w:pStyle w:val="Own"/>')
        + p("Due", item(7, 1))
        + p("card", item(9, 2))
        + table
        + formula
        + sign
        + link,
        styles=STYLES,
        numbering=NUMBERING,
        footnotes=f"<w:footnote w:id='2'>{p('net')}</w:footnote>",
        comments=f"<w:comment w:id='0' w:author='Ada'>{p('check')}</w:comment>",
    )


def _sheets() -> bytes:
    cell = "<table:table-cell table:number-columns-repeated='2'><text:p>a</text:p></table:table-cell>"
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": "<o:d xmlns:o='o' xmlns:text='t' xmlns:table='b'><o:body><o:spreadsheet><table:table table:name='Costs'>"
            f"<table:table-row table:number-rows-repeated='3'><table:table-cell/>{cell}</table:table-row></table:table></o:spreadsheet>"
            "</o:body></o:d>",
        }
    )


_NOTE = "&lt;en-note>&lt;en-todo checked='true'/>Milk&lt;/en-note>"
SEEDS = (
    DocumentSeed("docx", _word()),
    DocumentSeed("pptx", slides()),
    DocumentSeed("xlsx", workbook(ROWS, ROWS)),
    DocumentSeed("odt", open_document()),
    DocumentSeed("ods", _sheets()),
    DocumentSeed("epub", book(PAGE)),
    DocumentSeed(
        "enex",
        f"<en-export><note><title>Shop</title><created>20260228T080000Z</created><tag>a</tag><content>{_NOTE}</content></note></en-export>".encode(),
        "enex",
    ),
    DocumentSeed("keep", KEEP, "json"),
    DocumentSeed("day one", DAY_ONE, "json"),
    DocumentSeed("canvas", CANVAS, "canvas"),
    DocumentSeed("notebook", NOTEBOOK, "ipynb"),
    DocumentSeed("roam", ROAM, "json"),
    DocumentSeed("opml", OUTLINE, "opml"),
    DocumentSeed("html", PAGE.encode(), "html"),
    DocumentSeed("rtf", TEXTEDIT, "rtf"),
)


def changed(seed: DocumentSeed, chance: random.Random) -> bytes:
    """The document with one thing changed: a value, an element, a part, or bytes of the file."""
    if seed.ending:
        return _other(seed.data, chance)
    if chance.random() < 0.1:
        return _torn(seed.data, chance)
    with zipfile.ZipFile(io.BytesIO(seed.data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(parts))
    if chance.random() < 0.05:
        del parts[name]
    else:
        parts[name] = _other(parts[name], chance)
    return packed(parts)


def _other(part: bytes, chance: random.Random) -> bytes:
    try:
        tree = ET.fromstring(part)
    except ET.ParseError:
        return _torn(part, chance)
    held = [(outer, inner) for outer in tree.iter() for inner in outer]
    if not held or chance.random() < 0.1:
        return _torn(part, chance)
    outer, one = chance.choice(held)
    match chance.randrange(5):
        case 0:
            outer.remove(one)
        case 1:
            outer.append(deepcopy(one))
        case 2:
            one.append(deepcopy(chance.choice(held)[1]))
        case 3 if one.attrib:
            one.set(chance.choice(list(one.attrib)), chance.choice(WRONG))
        case _:
            one.text = chance.choice(WRONG)
    return ET.tostring(tree)


def _torn(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return chance.choice(
        (
            data[:at],
            data[:at] + b"\xff\0" + data[at:],
            data[at:],
            data[:at] + data,
            data[:at] + data[at + 1 :],
        )
    )


def problem(seed: DocumentSeed, number: int) -> str:
    """Fault of a changed document, empty where it was read or refused with a reason and a remedy."""
    data = changed(seed, random.Random(f"{seed.id} {number}"))
    try:
        document_text(data, seed.ending)
    except DocumentError as error:
        return "" if error.why and error.remedy else f"{seed.id}, change {number}: refused without a word"
    except Exception as error:  # noqa: BLE001 - any is a fault of ours
        return f"{seed.id}, change {number}: {type(error).__name__}: {error}"
    return ""
