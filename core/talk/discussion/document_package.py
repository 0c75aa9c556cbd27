"""The parts of an office file or a book: unpacked within bounds, their XML with plain names."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from core.kernel.language import tr
from core.kernel.patterns import late
from core.talk.discussion.page_text import cell_text, table_lines
from core.talk.discussion.pdf_text import MAX_TEXT_CHARS

MAX_PART_BYTES = 64_000_000
"""Bound of what one part of a document may unpack to."""
MAX_ALL_BYTES = 256_000_000
MAX_PARTS = 20_000
MAX_CELLS = 400_000
"""Cells of a workbook that are read."""
DAMAGED = tr("the file is damaged")
LOCKED = tr("the document has a password"), tr("Save a copy without a password, then use that")
_AS_PDF = tr("Save it as PDF or text in its program, then use that")


class DocumentError(ValueError):
    """A document that gives no text: the reason in a phrase, and the remedy in a sentence."""

    def __init__(self, why: str, remedy: str = _AS_PDF) -> None:
        super().__init__(why)
        self.why, self.remedy = why, remedy


def too_long() -> DocumentError:
    """Error of a document that holds more text than is read."""
    return DocumentError(
        tr("the document holds more than {MAX_TEXT_CHARS:,} characters", MAX_TEXT_CHARS=MAX_TEXT_CHARS),
        tr("Split the file, or use only the part that matters"),
    )


class CellBudget:
    """Room that a workbook's cells have left: a few bytes can name one long text in very many cells."""

    def __init__(self) -> None:
        self._cells, self._chars = MAX_CELLS, MAX_TEXT_CHARS

    def take(self, said: str, times: int = 1) -> None:
        """Take so many cells with the same text. Raises DocumentError past the bound."""
        self._cells -= times
        self._chars -= len(said) * times
        if self._cells < 0:
            raise DocumentError(
                tr("the document holds more than {MAX_CELLS:,} cells", MAX_CELLS=MAX_CELLS),
                tr("Split the file, or use only the part that matters"),
            )
        if self._chars < 0:
            raise too_long()


_ENTITY = late(rb"<!ENTITY|<\0!\0E\0N\0T\0I\0T\0Y")
_OF_PACKAGE = re.compile(r"\{[^}]*(?:relationships)\}")


class Related(NamedTuple):
    """Reference of a part: `kind` is the last word of the relation's type; `target` a part's name, or an address."""

    kind: str
    target: str


class Package:
    """The parts of a document that is an archive, unpacked within bounds. Raises DocumentError past them."""

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except ValueError as fault:  # of places before the beginning of a torn file
            raise zipfile.BadZipFile(str(fault)) from fault
        members = self._archive.infolist()
        if len(members) > MAX_PARTS:
            raise DocumentError(tr("the document has more than {MAX_PARTS:,} parts", MAX_PARTS=MAX_PARTS))
        if any(one.flag_bits & 1 for one in members):
            raise DocumentError(*LOCKED)
        self.names = {one.filename.replace("\\", "/").lstrip("/"): one for one in members}
        self._left = MAX_ALL_BYTES

    @property
    def main(self) -> str:
        """Name of the part that an Office file begins with, empty where it says none."""
        related = self.related("")
        return next((one.target for one in related.values() if one.kind == "officeDocument"), "")

    def part(self, name: str) -> bytes:
        """Bytes of a part, empty where there is none."""
        member = self.names.get(name)
        if member is None:
            return b""
        most = MAX_PART_BYTES if self._left >= MAX_PART_BYTES else MAX_ALL_BYTES
        with self._archive.open(member) as file:
            data = file.read(min(MAX_PART_BYTES, self._left) + 1)
        if len(data) > min(MAX_PART_BYTES, self._left):
            raise DocumentError(
                tr("the document unpacks to more than {most:,} bytes", most=most),
                tr("Split the file, or use only the part that matters"),
            )
        self._left -= len(data)
        return data

    def text(self, name: str) -> str:
        """A part as text."""
        return self.part(name).decode("utf-8", "replace")

    def tree(self, name: str) -> Any:
        """A part's XML with plain names: `p` for `w:p`, `r:id` for what refers to another part. None where there is none."""
        data = self.part(name)
        return plain_tree(data) if data else None

    def related(self, name: str) -> dict[str, Related]:
        """References of a part, by the id that it uses; of the package itself for an empty name."""
        tree = self.tree(join(dirname(name), "_rels", f"{name.rpartition('/')[2]}.rels"))
        if tree is None:
            return {}
        return {
            one.get("Id", ""): Related(
                kind=one.get("Type", "").rpartition("/")[2],
                target=one.get("Target", "")
                if one.get("TargetMode") == "External"
                else self.found_at(name, one.get("Target", "")),
            )
            for one in tree
        }

    def found_at(self, name: str, target: str) -> str:
        """Name of the part that another one names by a path of its own."""
        path = normpath(join("/", dirname(name), unquote(target.partition("#")[0]))).lstrip("/")
        return path if path in self.names else normpath(join("/", dirname(name), target)).lstrip("/")


def plain_tree(data: bytes) -> Any:
    """XML with plain names.

    Raises:
        DocumentError: it declares entities, which no office program writes; ParseError: it is no XML.
    """
    if _ENTITY.search(data) is not None:
        raise DocumentError(tr("the file declares entities of XML, as no program that makes documents does"))
    root = ET.fromstring(data)  # noqa: S314 - no entities, and expat bounds what it makes of them
    for one in root.iter():
        if isinstance(one.tag, str):
            one.tag = one.tag.rpartition("}")[2]
        if any("}" in name for name in one.attrib):
            plain = {
                ("r:" if _OF_PACKAGE.match(name) else "") + name.rpartition("}")[2]: value
                for name, value in one.attrib.items()
            }
            one.attrib.clear()
            one.attrib.update(plain)
    return root


def elements(tree: Any, name: str) -> Iterator[Any]:
    """Elements of a tree by their name; none where there is no tree."""
    return iter(()) if tree is None else tree.iter(name)


def whole(said: str | None, otherwise: int) -> int:
    """A number that an attribute gives in plain digits, or another one."""
    is_number = said is not None and said.isascii() and said.isdigit() and len(said) < 10
    return int(said) if said is not None and is_number else otherwise


def pipe_table(rows: list[list[str]]) -> str:
    """Rows of a table as Markdown, without the empty rows and columns at its edges; the first row is its head.

    A table of one cell is the text of that cell.

    Raises:
        DocumentError: it would hold more text than is read.
    """
    if max(map(len, rows), default=0) * len(rows) * len("| ") > MAX_TEXT_CHARS:
        raise too_long()
    rows = [list(map(cell_text, row)) for row in rows]
    while rows and not any(rows[-1]):
        rows.pop()
    width = max(
        (len(row) - next((n for n, cell in enumerate(reversed(row)) if cell), len(row)) for row in rows),
        default=0,
    )
    if width * len(rows) <= 1:
        return rows[0][0].replace("\\|", "|") if width else ""
    return "\n".join(table_lines(rows, width))
