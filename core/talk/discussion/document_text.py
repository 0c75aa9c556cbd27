"""Text of a document that is no plain text: a PDF, an office file, rich text, a book, a page. Runs in a worker process: a hostile file may
cost time, memory or the process.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree as ET

from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.patterns import late
from core.talk.discussion.document_package import (
    DAMAGED,
    DocumentError,
    Package,
    elements,
    plain_tree,
    too_long,
)
from core.talk.discussion.note_exports import export_text
from core.talk.discussion.page_text import page_source, page_text
from core.talk.discussion.pdf_text import MAX_MEMORY_BYTES, MAX_TEXT_CHARS, Found, read_pdf

__all__ = ["MAX_MEMORY_BYTES", "DocumentError", "document_text", "read_document"]

_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of Word, Excel and PowerPoint files of before 2007, and of their newer ones with a password."""
_ZIP = b"PK\x03\x04"


def read_document(data: bytes, ending: str = "", *, is_sent: bool = True) -> Found:
    """Text of a PDF, an office file, rich text or a book, and of a PDF the number of its pages. Same bytes: same text.

    Args:
        ending: as `document_text` takes it; is_sent: as `read_pdf` takes it.
    """
    if data.startswith(b"%PDF-"):
        return read_pdf(data, is_sent=is_sent)
    try:
        return {"pages": 0, "text": document_text(data, ending)}
    except DocumentError as fault:
        return {"problem": fault.why, "remedy": fault.remedy}


def document_text(data: bytes, ending: str = "") -> str:
    """A document as Markdown: headings, lists with their numbers, tables, struck text, notes and links.

    Args:
        ending: of the file's name, which tells a page from other text; an archive is known by its content.

    Raises:
        DocumentError: it cannot be read, or holds no text.
    """
    try:
        text = _text(data, ending)
    except DocumentError:
        raise
    except (ET.ParseError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as fault:
        raise DocumentError(DAMAGED, tr("Open the file and save it again, then use the new file")) from fault
    except (ValueError, LookupError, ArithmeticError, RuntimeError) as fault:
        raise DocumentError(tr("the program cannot read this document")) from fault
    if len(text) > MAX_TEXT_CHARS:
        raise too_long()
    if not text.strip():
        raise DocumentError(
            tr("the document holds no text, only pictures or nothing"),
            tr("Save its pages as pictures or as a PDF, then use those"),
        )
    return text


def _text(data: bytes, ending: str) -> str:
    if data.startswith(_OLD):
        raise DocumentError(
            tr("the file has an old Office format (.doc, .xls, .ppt) or a password"),
            tr("Save it as .docx, .xlsx, .pptx or PDF without a password, then use that"),
        )
    if data.startswith(RTF):
        return clean(rtf_text(data))
    if data.startswith(_ZIP):
        package = Package(data)
        return clean(_reader_of(package)(package)).strip() + "\n"
    if ending == "enex":
        return "\n\n".join(_evernote(data))
    if ending == "opml":
        return "\n".join(_outline(data))
    if ending in {"json", "canvas", "ipynb"}:
        return clean(export_text(data, ending))
    return page_text(data, "")


def _reader_of(package: Package) -> Callable[[Package], str]:
    """The reader of an archive's kind, by what stands in it."""
    kind = package.text("mimetype").strip()
    if kind == "application/epub+zip" or "META-INF/container.xml" in package.names:
        return _book
    if kind.startswith("application/vnd.oasis.opendocument."):
        from core.talk.discussion.open_document_text import open_document_text

        return open_document_text
    main = package.main.rpartition("/")[2]
    if main.startswith("document"):
        from core.talk.discussion.word_text import word_text

        return word_text
    if main.startswith(("presentation", "workbook")):
        from core.talk.discussion.office_text import slides_text, workbook_text

        return slides_text if main.startswith("presentation") else workbook_text
    raise DocumentError(
        tr("the archive is none of docx, pptx, xlsx, odt, odp, ods and epub"),
        tr("Unpack it and use the files that matter"),
    )


# Books: the pages of an EPUB in their order.

_EMPTY = late(
    r"<((?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)[A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>"
)
"""An element that XML closes in itself, and HTML does not."""
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def _book(package: Package) -> str:
    container = package.tree("META-INF/container.xml")
    places = (package.found_at("", one.get("full-path", "")) for one in elements(container, "rootfile"))
    place = next((one for one in places if one in package.names), "")
    tree = package.tree(place) if place else None
    if tree is None:
        raise DocumentError(tr("the book names no pages"))
    locks = package.tree("META-INF/encryption.xml")
    if any(one.get("Algorithm", "") not in _FONTS_ONLY for one in elements(locks, "EncryptionMethod")):
        raise DocumentError(
            tr("the book is locked to the shop's own reader (DRM)"),
            tr("Get a copy without a lock from where it was bought"),
        )
    told = {one.get("id", ""): one for one in tree.iter("item")}
    pages: list[str] = []
    for reference in tree.iter("itemref"):
        item = told.get(reference.get("idref", ""))
        if item is None or "nav" in item.get("properties", "").split():
            continue
        data = package.part(package.found_at(place, item.get("href", "")))
        if data and (text := _page(page_source(data, "")).strip()):
            pages.append(text)
    about = [_said(tree, "title"), _said(tree, "creator")]
    head = "\n".join(filter(None, (f"# {about[0]}" if about[0] else "", about[1])))
    return "\n\n".join(filter(None, (head, *pages)))


def _said(tree: Any, name: str) -> str:
    return next((" ".join((one.text or "").split()) for one in tree.iter(name) if one.text), "")


def _page(source: str) -> str:
    """A page of XHTML."""
    return page_text(_EMPTY.sub(r"<\1\2></\1>", source), "")


# Evernote: an export holds many notes, each a page of its own.


def _evernote(data: bytes) -> Iterator[str]:
    for note in plain_tree(data).iter("note"):
        title, content = note.findtext("title") or "", note.findtext("content") or ""
        tags = ", ".join(one.text or "" for one in note.findall("tag"))
        day = re.sub(r"^(\d{4})(\d\d)(\d\d)T.*", r"\1-\2-\3", note.findtext("created") or "")
        page = re.sub(r"<en-todo\b([^<>]*?)/?>(?:</en-todo>)?", _box, content)
        about = (f"Created: {day}" if day else "", f"Tags: {tags}" if tags else "")
        address = note.findtext("note-attributes/source-url") or ""
        head = "\n".join(filter(None, (f"# {' '.join(title.split())}", *about, address)))
        yield f"{head}\n\n{_page(page).strip()}\n"


# OPML: outlines of Logseq, Workflowy, OmniOutliner and others, a line each, with its note. Source: opml.org, OPML 2.0.


def _outline(data: bytes) -> Iterator[str]:
    tree = plain_tree(data)
    if title := _said(tree, "title"):
        yield f"# {title}\n"
    waiting = [(0, one) for one in reversed(tree.findall("body/outline"))]
    while waiting:
        depth, line = waiting.pop()
        for text in filter(None, (line.get("text") or line.get("title"), line.get("_note"))):
            yield f"{'  ' * depth}- {' '.join(clean(text).split())}"
        waiting += ((min(depth + 1, _MAX_DEPTH), one) for one in reversed(line.findall("outline")))


_MAX_DEPTH = 30


def _box(found: re.Match[str]) -> str:
    is_done = 'checked="true"' in found[1]
    return f'<input type="checkbox"{" checked" if is_done else ""}> '


# Text of a rich text file (RTF) of Word, WordPad, TextEdit or LibreOffice. Source: Microsoft, RTF Specification 1.9.1.


RTF = b"{\\rtf"
"""First bytes of a rich text file."""

_MARKS = late(
    r"\\\\|(?P<note>(?:\\\*)?\\footnote(?![a-z]))|(?P<deleted>\\deleted1?(?![a-z0-9]))|"
    r"(?P<hidden>\\v1?(?![a-z0-9])(?=[^{}]{0,2000}\})(?![^{}]{0,2000}\\v0))|"
    r"(?P<shape>\\shp(?:grp)?(?![a-z])|\\\*\\shpinst)|(?P<box>\\shptxt ?)"
    r"|(?P<raised>\\super1?(?![a-z0-9])(?:\\[a-z]{1,20}-?\d{0,6}){0,20} )(?=[-+\d])"
    r"|\{\\\*(?P<field>\\fldinst)(?![a-z])(?:[^{}\"]{0,20}\{?[^{}\"]{0,300}HYPERLINK\s+\"(?P<address>[^\"{}\\\s]{1,2000}))?",
    re.IGNORECASE,
)
"""Words of control for which striprtf does not do what a reader needs, and a backslash of the text, behind which none begins."""
_LINES = late(r"\n{3,}")


def rtf_text(data: bytes) -> str:
    """Words of the document, a table row a line with `|` behind each cell.

    Footnotes stand at their place behind `[Note]`, raised numbers behind `^`, texts of boxes on lines of their own, addresses of
    links before their words. Words that a reviewer deleted, and hidden ones, are left out.

    Raises:
        ValueError, LookupError: it is not read.
    """
    from striprtf.striprtf import rtf_to_text

    to_text: Callable[..., str] = rtf_to_text
    source = _MARKS.sub(_as_read, data.decode("latin-1"))
    try:
        text = to_text(source, errors="replace")
    except TypeError as fault:  # of a word of control without the number that it needs
        raise ValueError(str(fault)) from fault
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # halves of an emoji
    return _LINES.sub("\n\n", "\n".join(line.rstrip() for line in whole.split("\n"))).strip() + "\n"


def _as_read(found: re.Match[str]) -> str:
    if found["field"]:
        return _link(found["address"] or "", found) + found[0].replace(found["field"], f"{found['field']} ")
    match found.lastgroup:
        case "note":
            return " [Note] "
        case "deleted":
            return r"\*\deleted"
        case "hidden":
            return r"\*\v"
        case "shape":
            return r"\shape"  # striprtf leaves out all that stands in a shape
        case "box":
            return r"\par "
        case "raised":
            return f"{found[0]}^"
        case _:
            return found[0]


def _link(address: str, found: re.Match[str]) -> str:
    """A link's address, unless its words say it."""
    shown = found.string[found.end() : found.end() + _NEAR + len(address)]
    bare = address.removeprefix("mailto:").rstrip("/")
    return f"[Link {address}] " if bare and bare not in shown else ""


_NEAR = 400
"""Characters behind a link's address among which its words begin."""
