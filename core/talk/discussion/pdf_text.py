"""Text of a PDF, page by page. Runs in a worker process: a hostile file may cost time, memory or the process."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from core.kernel.language import tr
from core.kernel.patterns import late

MAX_PAGES = 3_000
MAX_TEXT_CHARS = 5_000_000
MAX_MEMORY_BYTES = 1_000_000_000

Found = dict[str, Any]
"""JSON: `pages` and `text`, or `problem` and `remedy`."""

MAX_FIELDS = 5_000
"""Fields and notes of a page that are read."""
_NO_VALUES = frozenset({-1, 0, 1, 7})
"""Kinds of fields without a value: unknown ones, buttons, signatures."""
_NOTES = frozenset({1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
"""Kinds of remarks that hold words beside what they mark: on a place, a line, a figure, on marked or struck words, a stamp, a
drawing. Source: `FPDF_ANNOT_*` of pdfium's fpdf_annot.h.
"""
_PASSWORD = 1 << 13
_BROKEN = late("[\x02\ufffe\u00ad]\n?")
"""Hyphen at a line's end as pdfium tells it, from one that always stands there."""
_BROKEN_WORD = late(r"([^\W\d_]{1,100})[\x02\ufffe\u00ad]\n?([^\W\d_]{1,100})")
_LAST_PART = late(r"(?<=[^\W\d_A-Z]{2})[-\x02\ufffe\u00ad]\n?(\d[\d /]{0,11})?\Z")
_FIRST_PART = late(r"([^\W\d_]{2,100}+)(?!-)([,.;:!?)]{0,2})[ \n]?")
"""Parts of a word that two pages share: the end of one, its number aside, and the beginning of the next."""
_WORDS = late(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NO_PARTS = frozenset({"und", "oder", "bzw", "and", "or", "och", "eller", "lub", "nebo"})
"""Words behind a part that lacks its end for good: "Ein- und Ausgang"."""
_SELDOM_PARTS = frozenset({"bis", "to", "et", "ou", "y", "o", "e", "u", "en", "of", "i", "a"})
"""Such words that also end others ("Frau-en", "mol-to"): they stand for themselves in a document that has them elsewhere."""

_SPLIT = tr("Split the file, or attach only the pages that matter")


def read_pdf(data: bytes, *, is_sent: bool = True) -> Found:
    """Count the pages of a PDF and take their text, each under its number. A page may unpack to any size.

    Args:
        is_sent: it goes to a provider, and those refuse one that is encrypted even where anybody may open it.

    Returns:
        The text is empty where no page has any (a scan). Same bytes, same version of pdfium: same text.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as fault:
        return _unread(getattr(fault, "err_code", None))
    with document:
        if is_sent and pypdfium2.raw.FPDF_GetSecurityHandlerRevision(document) != -1:
            return _problem(
                tr("the PDF is encrypted, which providers refuse"), tr("Save a copy without protection")
            )
        pages = len(document)
        if not pages:
            return _problem(tr("the PDF has no pages"), tr("Attach another file"))
        if pages > MAX_PAGES:
            return _problem(
                tr("the PDF has {pages:,} pages, more than {MAX_PAGES:,}", pages=pages, MAX_PAGES=MAX_PAGES),
                _SPLIT,
            )
        return _text_of(document, pages)


def _text_of(document: Any, pages: int) -> Found:
    import pypdfium2

    texts: list[str] = []
    size = 0
    document.init_forms()  # before the first page is loaded: a form has its values from it
    for number in range(pages):
        try:
            text = _page_text(document[number], document.formenv)
        except pypdfium2.PdfiumError:
            return _problem(
                tr("the PDF is damaged at page {number}", number=number + 1),
                tr("Open the file and save it again, then attach the new file"),
            )
        size += len(text)
        if size > MAX_TEXT_CHARS:
            return _problem(
                tr("the PDF holds more than {MAX_TEXT_CHARS:,} characters", MAX_TEXT_CHARS=MAX_TEXT_CHARS),
                _SPLIT,
            )
        texts.append(text)
    if not any(texts):
        return {"pages": pages, "text": ""}
    texts = _whole_words(texts)
    told = (f"[Page {number}]\n{text}\n" for number, text in enumerate(texts, start=1))
    return {"pages": pages, "text": "\n".join(told)}


_IN_CHAINS = frozenset(
    [
        "a",
        "and",
        "at",
        "by",
        "for",
        "in",
        "of",
        "on",
        "or",
        "out",
        "the",
        "to",
        "up",
        "und",
        "de",
        "du",
        "en",
        "la",
        "le",
    ]
)
"""Words between two hyphens, as in state-of-the-art."""
_COMPOUND = late(
    r"(?:well|self|two|three)-(?!ness|ish|less|hood|some|same|fold|pence|ie|blech|papp)", re.IGNORECASE
)
"""Words that are whole before a hyphen, and that few words begin with that have none."""


def _page_text(page: Any, form: Any) -> str:
    text_page = _text_page(page)
    try:
        written = list(dict.fromkeys((*_written(page, form), *_links(page, text_page))))
        # Lone surrogates come out of broken fonts.
        text = _printed(text_page).encode("utf-8", "replace").decode()
    finally:
        text_page.close()
        page.close()
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    printed = "\n".join(lines).strip("\n")
    return "\n".join(filter(None, (printed, *written)))


def _text_page(page: Any) -> Any:
    """Text of a page in the order in which it is read: pdfium begins with the last line where lines run downwards."""
    import pypdfium2.raw as pdfium

    text_page = page.get_textpage()
    count = text_page.count_chars()
    step = max(1, count // _ANGLES)
    angles = [pdfium.FPDFText_GetCharAngle(text_page, at) for at in range(0, count, step)]
    rotation = page.get_rotation()
    turns = [(round(angle / (math.pi / 2)) + rotation // 90) % 4 for angle in angles if angle >= 0]
    if 2 * turns.count(1) <= len(turns):
        return text_page
    text_page.close()
    page.set_rotation((rotation + 90) % 360)
    return page.get_textpage()


_ANGLES = 40
"""Signs of a page whose direction is asked for."""


def _printed(text_page: Any) -> str:
    """Text of a page, a raised number with its sign behind `^`: ten to the sixth is not one hundred and six. A number beside the line, as
    raised ones and those of formulas are, ends no line; nor does a cell of a table whose next one stands on the same height.
    """
    shown: str = text_page.get_text_bounded()
    text: str = text_page.get_text_range()
    if "".join(text.split()) != "".join(shown.split()):
        return shown  # part of it lies outside of the page
    if not _is_plain(text):
        return text  # a place in it is none of a sign
    size, origin = cache(partial(_size, text_page)), partial(_origin, text_page)
    pieces: list[str] = []
    end = 0
    for found in _BESIDE.finditer(text):
        at = found.start()
        if at < end:
            continue
        if found[0] == "\r\n":
            (left, above), (right, below) = origin(at - 1), origin(at + 2)
            if above == below and left < right:
                pieces += (text[end:at], " ")
                end = at + 2
            continue
        if size(at) > 0.9 * size(at - 1):
            continue
        (_, own), (_, base) = origin(at), origin(at - 1)
        if abs(own - base) < 0.1 * size(at - 1):
            continue
        past = at + 1
        while text[past : past + 1].isdigit() and (size(past), origin(past)[1]) == (size(at), own):
            past += 1
        pieces += (text[end:at], "^" if own > base else "", text[at:past])
        goes_on = text.startswith("\r\n", past) and past + 2 < len(text)
        end = past + 2 * (goes_on and origin(past + 2)[1] == base)
    return "".join((*pieces, text[end:]))


_BESIDE = late(r"(?<=\S)(?:[-+\u2212\u2013](?=\d)|\d|\r\n(?=\S))")
"""A digit, or the sign before one, that stands beside a word, a number or a mark; and the end of a line."""


def _is_plain(text: str) -> bool:
    """True if each character is one unit of UTF-16, as pdfium counts."""
    return text.isascii() or max(text, default="") <= "\uffff"


def _size(text_page: Any, at: int) -> float:
    """Size of a sign of a page's text, in points; 0 for one that pdfium put in. Many programs write a font of size 1 and scale it."""
    import pypdfium2.raw as pdfium

    number, scale = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, at), pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text_page, number, scale)
    return round(float(pdfium.FPDFText_GetFontSize(text_page, number)) * math.hypot(scale.c, scale.d), 1)


def _origin(text_page: Any, at: int) -> tuple[float, float]:
    """Place of a sign's left end on its base line, from the page's lower left corner, in points."""
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_double(), ctypes.c_double()
    number = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, at)
    pdfium.FPDFText_GetCharOrigin(text_page, number, x, y)
    return round(float(x.value), 1), round(float(y.value), 1)


def _written(page: Any, form: Any) -> Iterator[str]:
    """Lines of what was filled in on a page: fields of its form with their values, and texts laid over it."""
    import pypdfium2.raw as pdfium

    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_FIELDS)):
        note = pdfium.FPDFPage_GetAnnot(page, number)
        if not note:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(note)
            if kind in _NOTES:
                said = _said(lambda *to, note=note: pdfium.FPDFAnnot_GetStringValue(note, b"Contents", *to))
                yield f"[Note] {said}" if said else ""
            elif kind == pdfium.FPDF_ANNOT_FREETEXT:
                yield _said(lambda *to, note=note: pdfium.FPDFAnnot_GetStringValue(note, b"Contents", *to))
            elif kind == pdfium.FPDF_ANNOT_WIDGET and form:
                yield _field(note, form)
        finally:
            pdfium.FPDFPage_CloseAnnot(note)


def _links(page: Any, text_page: Any) -> Iterator[str]:
    """Links of a page to addresses that do not stand in its text, each with the words that it lies on."""
    import pypdfium2.raw as pdfium

    shown = ""
    place, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(MAX_FIELDS):
        if not pdfium.FPDFLink_Enumerate(page, place, link):
            return
        action, box = pdfium.FPDFLink_GetAction(link), pdfium.FS_RECTF()
        size = pdfium.FPDFAction_GetURIPath(page.pdf, action, None, 0) if action else 0
        if not 1 < size <= _MOST_ADDRESS or not pdfium.FPDFLink_GetAnnotRect(link, box):
            continue
        buffer = ctypes.create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(page.pdf, action, buffer, size)
        address = buffer.value.decode("utf-8", "replace").strip()
        shown = shown or "".join(text_page.get_text_bounded().split())
        bare = _SCHEME.sub("", address).rstrip("/")
        if bare not in shown and "".join(address.split()) == address:
            said = text_page.get_text_bounded(box.left, box.bottom, box.right, box.top)
            yield f"[Link] {' '.join(said.split())}: {address}" if said.strip() else f"[Link] {address}"


_MOST_ADDRESS = 2_000
_SCHEME = late("^(?:https?://|mailto:)")


def _field(note: Any, form: Any) -> str:
    """A field with its value, empty for one that says nothing, or a password."""
    import pypdfium2.raw as pdfium

    kind = pdfium.FPDFAnnot_GetFormFieldType(form, note)
    if kind in _NO_VALUES or pdfium.FPDFAnnot_GetFormFieldFlags(form, note) & _PASSWORD:
        return ""
    name = _said(lambda *to: pdfium.FPDFAnnot_GetFormFieldAlternateName(form, note, *to))
    name = name or _said(lambda *to: pdfium.FPDFAnnot_GetFormFieldName(form, note, *to))
    if kind == pdfium.FPDF_FORMFIELD_CHECKBOX:
        return f"{name}: {'yes' if pdfium.FPDFAnnot_IsChecked(form, note) else 'no'}"
    if kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON:
        if not pdfium.FPDFAnnot_IsChecked(form, note):
            return ""
        value = _said(lambda *to: pdfium.FPDFAnnot_GetFormFieldExportValue(form, note, *to))
    else:
        value = _said(lambda *to: pdfium.FPDFAnnot_GetFormFieldValue(form, note, *to))
    return f"{name}: {value}" if value else ""


def _said(give: Callable[..., int]) -> str:
    """A text that pdfium gives in UTF-16: its size first, then itself."""
    import pypdfium2.raw as pdfium

    size = min(give(None, 0), 2 * MAX_TEXT_CHARS)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    give(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    text = buffer.raw[: size - 2].decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _whole_words(texts: list[str]) -> list[str]:
    """The pages with each word that was broken at a line's end whole.

    A hyphen stays where the document writes the word with one elsewhere, or where what follows is no small letter; between
    capitals it goes, unless the document has a part as a word of its own.
    """
    _join_pages(texts)
    if not any(_BROKEN.search(text) for text in texts):
        return texts
    known = {word.lower() for text in texts for word in _WORDS.findall(_BROKEN.sub(" ", text))}
    elsewhere = {word.lower() for text in texts for word in _WORDS.findall(_BROKEN_WORD.sub(" ", text))}

    def joined(found: re.Match[str]) -> str:
        first, second = found[1], found[2]
        plain, with_hyphen = f"{first}{second}", f"{first}-{second}"
        if plain.lower() in known:
            return plain
        if second in _NO_PARTS or (second in _SELDOM_PARTS and second in elsewhere):
            return f"{first}- {second}"
        is_chain = first.lower() in _IN_CHAINS and found.string[: found.start()].endswith("-")
        if is_chain or _COMPOUND.match(with_hyphen) is not None:
            return with_hyphen
        parts = {first.lower(), second.lower()}
        if first.isupper() and second.isupper() and elsewhere.isdisjoint(parts):
            return plain
        return with_hyphen if with_hyphen.lower() in known or not second[:1].islower() else plain

    return [_BROKEN.sub("-", _joined(text, joined)) for text in texts]


def _join_pages(texts: list[str]) -> None:
    """Put what a page's first word is the end of on the page before."""
    for number, text in enumerate(texts[:-1]):
        last, first = _LAST_PART.search(text[-150:]), _FIRST_PART.match(texts[number + 1])
        if last is not None and first is not None and first[1].islower():
            at, foot = max(0, len(text) - 150) + last.start(), f"\n{last[1]}" if last[1] else ""
            texts[number] = f"{text[:at]}\x02{first[1]}{first[2]}{foot}"
            texts[number + 1] = texts[number + 1][first.end() :]


def _joined(text: str, join: Callable[[re.Match[str]], str]) -> str:
    """The text with its broken words joined, also those that several lines break."""
    while (made := _BROKEN_WORD.sub(join, text)) != text:
        text = made
    return text


def _unread(code: int | None) -> Found:
    import pypdfium2

    if code == pypdfium2.raw.FPDF_ERR_PASSWORD:
        return _problem(
            tr("the PDF asks for a password"), tr("Save a copy without a password, then attach that")
        )
    if code == pypdfium2.raw.FPDF_ERR_SECURITY:
        return _problem(
            tr("the PDF is protected in a way that the program cannot read"),
            tr("Save a copy without protection"),
        )
    return _problem(
        tr("the file is damaged, or not a PDF"),
        tr("Open the file and save it again, then attach the new file"),
    )


def _problem(what: str, remedy: str) -> Found:
    return {"problem": what, "remedy": remedy}
