"""Content of a file from its bytes: text in UTF-8, or a problem with a reason and a remedy."""

from __future__ import annotations

import hashlib

import msgspec

from core.base.text import clean
from core.values.curation import FileProblem, FileProblemKind

_BOM_UTF8 = b"\xef\xbb\xbf"
_OTHER_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32, little-endian"),
    (b"\x00\x00\xfe\xff", "UTF-32, big-endian"),
    (b"\xff\xfe", "UTF-16, little-endian"),
    (b"\xfe\xff", "UTF-16, big-endian"),
)
_CONTROLS = bytes(set(range(32)) - {8, 9, 10, 12, 13, 27})
_SAMPLE_BYTES = 2_048
_MAX_CONTROL_RATIO = 0.1
_REMEDY = "Save it as UTF-8 to include it."


class Content(msgspec.Struct, frozen=True):
    """The content of a file. `text` has LF line ends and no byte order mark; empty where there is a problem."""

    sha256: str
    text: str = ""
    text_sha256: str = ""
    problem: FileProblem | None = None


def read_content(data: bytes) -> Content:
    """Judge and decode the bytes of a file. Each byte is hashed once and decoded once.

    The encoding is never guessed: what is not UTF-8 is a problem that says what was seen.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    problem = _other_encoding(data) or _binary(data)
    if problem is not None:
        return Content(sha256, problem=problem)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        return Content(sha256, problem=_not_utf8(data, fault.start))
    if b"\r" not in data and not data.startswith(_BOM_UTF8):
        return Content(sha256, text, sha256)
    text = clean(text.removeprefix("\ufeff"))
    return Content(sha256, text, hashlib.sha256(text.encode()).hexdigest())


def _other_encoding(data: bytes) -> FileProblem | None:
    for mark, name in _OTHER_BOMS:
        if data.startswith(mark):
            detail = f"The file is in {name}, by its byte order mark, not in UTF-8. {_REMEDY}"
            return FileProblem(FileProblemKind.NOT_UTF8, detail)
    return None


def _binary(data: bytes) -> FileProblem | None:
    """A NUL anywhere, or more than a tenth of control characters at the head."""
    place = data.find(b"\0")
    if place >= 0:
        return FileProblem(FileProblemKind.BINARY, f"The file is binary: byte {place} is NUL.")
    sample = data[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls <= len(sample) * _MAX_CONTROL_RATIO:
        return None
    share = round(100 * controls / len(sample))
    detail = f"The file is binary: {share} % of its first {len(sample):,} bytes are control characters."
    return FileProblem(FileProblemKind.BINARY, detail)


def _not_utf8(data: bytes, place: int) -> FileProblem:
    line = data.count(b"\n", 0, place) + 1
    detail = f"The file is not UTF-8: byte 0x{data[place]:02X} at position {place}, line {line}. {_REMEDY}"
    return FileProblem(FileProblemKind.NOT_UTF8, detail)
