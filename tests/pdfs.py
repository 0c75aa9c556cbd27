"""PDFs for tests: real ones through pdfium, and hostile ones written by hand."""

from __future__ import annotations

import ctypes
import hashlib
import io
import zlib
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_PERMISSIONS = -4
_ID = b"0123456789abcdef"


def make_pdf(*pages: str) -> bytes:
    """A PDF that pdfium writes, a line of text a page; blank for a page without text."""
    document = pypdfium2.PdfDocument.new()
    for text in pages:
        page = document.new_page(400, 200)
        for number, line in enumerate(text.split("\n") if text else ()):
            _add_line(document, page, line, 160 - 20 * number)
        page.gen_content()
    out = io.BytesIO()
    document.save(out)
    document.close()
    return out.getvalue()


def _add_line(document: Any, page: Any, text: str, y: float) -> None:
    font = pdfium.FPDFText_LoadStandardFont(document, b"Helvetica")
    item = pdfium.FPDFPageObj_CreateTextObj(document, font, ctypes.c_float(12))
    encoded = ctypes.create_string_buffer((text + "\0").encode("utf-16-le"))
    pdfium.FPDFText_SetText(item, ctypes.cast(encoded, ctypes.POINTER(ctypes.c_ushort)))
    pdfium.FPDFPageObj_Transform(item, 1, 0, 0, 1, 20, y)
    pdfium.FPDFPage_InsertObject(page, item)
    pdfium.FPDFFont_Close(font)


def pages_of(data: bytes) -> int | None:
    """Pages of a PDF as a vendor reads it, None where it does not: damaged or encrypted."""
    try:
        with pypdfium2.PdfDocument(data) as document:
            is_open = pdfium.FPDF_GetSecurityHandlerRevision(document) == -1
            return len(document) if is_open else None
    except pypdfium2.PdfiumError:
        return None


def ascii_pdf(text: str = "Tides turn") -> bytes:
    """A PDF whose source is plain ASCII, as a text editor would show it."""
    return _written(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode(), b"")


def drawn_pdf(content: bytes, of_page: bytes = b"") -> bytes:
    """A PDF of one page that is drawn by the operators given, with further entries of the page; `/F1` is Helvetica."""
    return _written(content, b"", of_page=of_page)


def form_pdf(
    fields: dict[str, str], *, checked: dict[str, bool] | None = None, over: str = "", flags: int = 0
) -> bytes:
    """A PDF with a form: text fields with their values, boxes, and a text laid over the page."""
    box = b"/Type /Annot /Rect [20 20 120 40] /P 3 0 R"
    notes = [
        b"<< %s /Subtype /Widget /FT /Tx /Ff %d /T (%s) /V (%s) >>"
        % (box, flags, name.encode(), value.encode())
        for name, value in fields.items()
    ]
    for name, is_on in (checked or {}).items():
        state = b"/On" if is_on else b"/Off"
        looks = b"/AP << /N << /On 6 0 R /Off 6 0 R >> >>"
        notes.append(
            b"<< %s /Subtype /Widget /FT /Btn /T (%s) /V %s /AS %s %s >>"
            % (box, name.encode(), state, state, looks)
        )
    fields_of = b" ".join(notes)
    free = b"<< %s /Subtype /FreeText /Contents (%s) >>" % (box, over.encode()) if over else b""
    look = b"<< /Type /XObject /Subtype /Form /BBox [0 0 10 10] /Length 0 >>\nstream\n\nendstream"
    return _written(
        b"BT /F1 12 Tf 20 100 Td (A form) Tj ET",
        b"",
        of_page=b" /Annots [%s %s]" % (fields_of, free),
        of_catalog=b" /AcroForm << /Fields [%s] >>" % fields_of,
        more=(look,),
    )


def encrypted_pdf(password: str = "") -> bytes:
    """A PDF under the standard security handler, 40 bits; without a password it opens for everybody."""
    key_of_owner = hashlib.md5(_PAD, usedforsecurity=False).digest()[:5]
    padded = (password.encode() + _PAD)[:32]
    owner = _rc4(key_of_owner, padded)
    seed = padded + owner + _PERMISSIONS.to_bytes(4, "little", signed=True) + _ID
    user = _rc4(hashlib.md5(seed, usedforsecurity=False).digest()[:5], _PAD)
    told = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P %d >>" % (
        owner.hex().encode(),
        user.hex().encode(),
        _PERMISSIONS,
    )
    return _written(b"", b"/Encrypt %s /ID [<%s> <%s>]" % (told, _ID.hex().encode(), _ID.hex().encode()))


def bomb_pdf(megabytes: int) -> bytes:
    """A small PDF whose one page unpacks to `megabytes` of text drawing, packed twice."""
    line = b"BT /F1 12 Tf 20 100 Td (Tides turn every six hours and twelve minutes.) Tj ET\n"
    packer = zlib.compressobj()
    block = packer.compress(line * (1_000_000 // len(line))) + packer.flush(zlib.Z_FULL_FLUSH)
    head, body = block[:2], block[2:]
    once = head + body * megabytes + packer.flush()
    return _written(zlib.compress(once), b"", b"/Filter [/FlateDecode /FlateDecode]")


def _written(
    content: bytes,
    trailer: bytes,
    filters: bytes = b"",
    *,
    of_page: bytes = b"",
    of_catalog: bytes = b"",
    more: tuple[bytes, ...] = (),
) -> bytes:
    stream = b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), filters, content)
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R%s >>" % of_catalog,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font %s >>%s >>"
        % (b"<< /F1 5 0 R >>", of_page),
        stream,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *more,
    )
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        start,
    )
    return bytes(out)


def _rc4(key: bytes, data: bytes) -> bytes:
    state, swap = list(range(256)), 0
    for index in range(256):
        swap = (swap + state[index] + key[index % len(key)]) % 256
        state[index], state[swap] = state[swap], state[index]
    out, first, second = bytearray(), 0, 0
    for byte in data:
        first = (first + 1) % 256
        second = (second + state[first]) % 256
        state[first], state[second] = state[second], state[first]
        out.append(byte ^ state[(state[first] + state[second]) % 256])
    return bytes(out)
