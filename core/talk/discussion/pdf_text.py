"""Text of a PDF, page by page. Runs in a worker process: a hostile file may cost time, memory or the process."""

from __future__ import annotations

from typing import Any

from core.kernel.machine import limit_memory

MAX_PAGES = 3_000
MAX_TEXT_CHARS = 5_000_000
MAX_MEMORY_BYTES = 1_000_000_000

Found = dict[str, Any]
"""JSON: `pages` and `text`, or `problem` and `remedy`."""

_SPLIT = "Split it, or attach the pages that matter"


def read_pdf(data: bytes) -> Found:
    """Count the pages of a PDF and take their text, each under its number.

    Returns:
        The text is empty where no page has any (a scan). Same bytes, same version of pdfium: same text.
    """
    import pypdfium2

    limit_memory(MAX_MEMORY_BYTES)  # a page may unpack to any size
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as fault:
        return _unread(getattr(fault, "err_code", None))
    with document:
        if pypdfium2.raw.FPDF_GetSecurityHandlerRevision(document) != -1:
            return _problem("is encrypted, which providers refuse", "Save a copy without protection")
        pages = len(document)
        if not pages:
            return _problem("has no pages", "Attach another file")
        if pages > MAX_PAGES:
            return _problem(f"has {pages:,} pages, more than {MAX_PAGES:,}", _SPLIT)
        return _text_of(document, pages)


def _text_of(document: Any, pages: int) -> Found:
    import pypdfium2

    texts: list[str] = []
    size = 0
    for number in range(pages):
        try:
            text = _page_text(document[number])
        except pypdfium2.PdfiumError:
            return _problem(f"is damaged at page {number + 1}", "Open and save it anew, then attach that")
        size += len(text)
        if size > MAX_TEXT_CHARS:
            return _problem(f"holds more than {MAX_TEXT_CHARS:,} characters", _SPLIT)
        texts.append(text)
    if not any(texts):
        return {"pages": pages, "text": ""}
    told = (f"[Page {number}]\n{text}\n" for number, text in enumerate(texts, start=1))
    return {"pages": pages, "text": "\n".join(told)}


def _page_text(page: Any) -> str:
    text_page = page.get_textpage()
    try:
        # Lone surrogates come out of broken fonts.
        text: str = text_page.get_text_bounded().encode("utf-8", "replace").decode()
    finally:
        text_page.close()
        page.close()
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return "\n".join(lines).strip("\n")


def _unread(code: int | None) -> Found:
    import pypdfium2

    if code == pypdfium2.raw.FPDF_ERR_PASSWORD:
        return _problem("asks for a password", "Save a copy without a password, then attach that")
    if code == pypdfium2.raw.FPDF_ERR_SECURITY:
        return _problem("is protected in a way that cannot be read", "Save a copy without protection")
    return _problem("is damaged, or no PDF", "Open and save it anew, then attach that")


def _problem(what: str, remedy: str) -> Found:
    return {"problem": what, "remedy": remedy}
