"""Files that hold keys or passwords, recognised by their content, whatever their names."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from core.kernel.key_names import KEY_FOLDERS, folded, is_key_name
from core.kernel.opener import read_start
from core.kernel.patterns import late
from core.kernel.secrets import named_secrets

HEAD_BYTES = 65_536
"""Bytes of a file's beginning that are searched for keys."""
CODE_BYTES = 16_384
"""Bytes up to which a program's text or prose with a key may count as a file of keys; from a longer one the key alone is taken out."""
_CODE_LINES = 20
"""Lines to a key in a program's text or prose, up to which the file is taken for a file of keys."""
_SAMPLE_BYTES = 8_192
_MOST_ALONE = 4_096
"""Characters of a file that can be one value."""

_CODE_ENDS = frozenset(
    [
        ".py",
        ".pyi",
        ".pyx",
        ".ipynb",
        ".ts",
        ".tsx",
        ".mts",
        ".cts",
        ".js",
        ".jsx",
        ".mjs",
        ".cjs",
        ".vue",
        ".svelte",
        ".go",
        ".rs",
        ".java",
        ".kt",
        ".kts",
        ".scala",
        ".rb",
        ".php",
        ".pl",
        ".pm",
        ".lua",
        ".r",
        ".jl",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".cxx",
        ".hpp",
        ".cs",
        ".fs",
        ".vb",
        ".swift",
        ".m",
        ".mm",
        ".ex",
        ".exs",
        ".erl",
        ".hs",
        ".ml",
        ".clj",
        ".dart",
        ".zig",
        ".nim",
        ".sql",
        ".css",
        ".scss",
        ".less",
        ".html",
        ".htm",
        ".md",
        ".mdx",
        ".rst",
        ".adoc",
        ".tex",
        ".org",
        ".sh",
        ".bash",
        ".zsh",
        ".fish",
        ".ps1",
        ".bat",
        ".cmd",
        ".diff",
        ".patch",
        ".csv",
        ".tsv",
        ".log",
    ]
)
"""Ends of programs' texts, prose and tables: with one key they are no file of keys, with little else they are."""
_PROSE_NAMES = late(
    r"(?:readme|changelog|changes|license|copying|news|authors|contributing|metadata|pkg-info|record)\b.*"
)

_K8S_KIND = r"kind:[ \t]*[\"']?Secret[\"']?[ \t]*$"
_K8S_VALUES = r"(?:data|stringData):[ \t]*\n[ \t]+[\w.-]+:[ \t]*(?!\{\{)[\"']?[^\s{\"']{8,}"

_ROWS = {
    late(r"\A#\s*(?:Netscape )?HTTP Cookie File"): "a browser's cookies",
    late(
        r"(?:\"cookies\"\s*:|\A)\s*\[\s*\{(?=[^{}]{0,4000}\"httpOnly\"\s*:)(?=[^{}]{0,4000}\"value\"\s*:\s*\"[^\"]{16,})"
    ): "a browser's cookies, as Playwright and extensions save them",
    late(
        r"^\"?[\w.@+-]{1,64}\"?[:\t ]{1,4}\"?(?:\$[0-9a-z]{1,8}\$[^\s:]{8,400}|\{S?SHA\d*\}[^\s:]{8,400}|md5[0-9a-f]{32}\b"
        r"|SCRAM-SHA-256\$[^\s:]{8,400})",
        re.MULTILINE,
    ): "names with hashes of passwords",
    late(
        rf"^(?:{_K8S_VALUES}[\s\S]{{0,2000}}?^{_K8S_KIND}|{_K8S_KIND}[\s\S]{{0,2000}}?^{_K8S_VALUES})",
        re.MULTILINE,
    ): "a Secret of Kubernetes with its values",
}
"""Rows that are accounts, by which programs keep them, whatever the file's name."""

BY_LINK = "It is another name of a file that holds keys and passwords."


def content_reasons(name: str, data: bytes) -> tuple[str, ...]:
    """Reasons to take a file for one of keys by what stands in it, a sentence each. O(HEAD_BYTES).

    Args:
        name: of the file; data: its beginning, at least `HEAD_BYTES` where it has so many, and one more where it goes on.
    """
    is_code = _is_code(folded(name))
    if not data or (is_code and len(data) > CODE_BYTES):
        return ()
    text = _text(data[:HEAD_BYTES])
    return text_reasons(name, text, named_secrets(text) if text else [])


def _row_reasons(text: str, *, is_code: bool) -> tuple[str, ...]:
    """The reason of a file whose rows are accounts: a browser's cookies, or names with hashes of passwords."""
    rows = () if is_code else _ROWS.items()
    return tuple(f"It holds what looks like {kind}." for row, kind in rows if row.search(text))[:1]


def _alone_reasons(name: str, text: str) -> tuple[str, ...]:
    """The reason of a file that is one value, which the file's name names: `token`, `db_password.txt`."""
    value = text[: _MOST_ALONE + 1].strip()
    if not value or len(text) > _MOST_ALONE or len(value.split()) > 1:
        return ()
    stem = os.path.splitext(folded(name))[0].lstrip(".")
    found = named_secrets(f"{stem} = {value}\n")
    return (f"It holds what looks like a {found[0][2]}, and its name says so.",) if found else ()


def text_reasons(name: str, text: str, found: list[tuple[int, int, str]]) -> tuple[str, ...]:
    """As `content_reasons`, of a text whose secrets were found already (`named_secrets`)."""
    is_code = _is_code(folded(name))
    if is_code and len(text) > CODE_BYTES:
        return ()
    head = [one for one in found if one[0] < HEAD_BYTES]
    return (
        found_reasons(head, text[:HEAD_BYTES], is_code=is_code)
        or _alone_reasons(name, text)
        or _row_reasons(text[:HEAD_BYTES], is_code=is_code)
    )


def found_reasons(found: list[tuple[int, int, str]], text: str, *, is_code: bool) -> tuple[str, ...]:
    """The reason that secrets of a text are for the file that it stands in."""
    if not found:
        return ()
    if is_code and sum(bool(line.strip()) for line in text.split("\n")) > _CODE_LINES * len(found):
        return ()
    start, _, kind = found[0]
    return (f"It holds what looks like a {kind} (line {text.count(chr(10), 0, start) + 1}).",)


def may_hold_keys(name: str, size_bytes: int) -> bool:
    """True for a file of which the content could be a reason; others need not be opened."""
    return size_bytes > 0 and not (size_bytes > CODE_BYTES and _is_code(folded(name)))


class FileMark(msgspec.Struct, frozen=True, gc=False):
    """Marks by which a file is known to be as it was."""

    device: int
    inode: int
    size_bytes: int
    modified_ns: int
    changed_ns: int
    links: int

    @property
    def identity(self) -> tuple[int, int]:
        """The same for all names of a file."""
        return self.device, self.inode


def mark_of(status: os.stat_result) -> FileMark:
    """Mark of a file by its status."""
    return FileMark(
        device=status.st_dev,
        inode=status.st_ino,
        size_bytes=status.st_size,
        modified_ns=status.st_mtime_ns,
        changed_ns=status.st_ctime_ns,
        links=status.st_nlink,
    )


class KeyContents:
    """Verdicts on the content of files, kept while the files are as they were. Thread-safe: entries are whole values."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[FileMark, tuple[str, ...]]] = {}
        self.read_bytes = 0

    def reasons(self, path: str, status: os.stat_result | None = None) -> tuple[str, ...]:
        """Reasons to take a file for one of keys by what stands in it. Raises nothing: one that cannot be read gives none.

        Args:
            path: absolute; a link is not followed. status: as it was seen just now.
        """
        try:
            status = os.lstat(path) if status is None else status
            if not stat.S_ISREG(status.st_mode):
                return ()
            mark, name = mark_of(status), os.path.basename(path)
            if not may_hold_keys(name, mark.size_bytes):
                return ()
            known = self._known.get(path)
            if known is not None and known[0] == mark:
                return known[1]
            data = read_start(path, HEAD_BYTES + 1, follows_links=False)
        except OSError:
            return ()
        self.read_bytes += len(data)
        found = content_reasons(name, data)
        self._known[path] = mark, found
        return found


def linked_keys(folders: Iterable[str]) -> frozenset[tuple[int, int]]:
    """Identities of files of keys, told by their names, that have other names as well.

    Args:
        folders: absolute; each is listed, none below it.
    """
    found: set[tuple[int, int]] = set()
    for folder in folders:
        is_of_keys = folded(os.path.basename(folder)) in KEY_FOLDERS
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if (is_of_keys or is_key_name(folded(entry.name))) and entry.is_file(follow_symlinks=False):
                    mark = mark_of(entry.stat(follow_symlinks=False))
                    if mark.links > 1:
                        found.add(mark.identity)
    return frozenset(found)


def _is_code(name: str) -> bool:
    return os.path.splitext(name)[1] in _CODE_ENDS or _PROSE_NAMES.fullmatch(name) is not None


def _text(data: bytes) -> str:
    """Text of a file's beginning; empty if these bytes are no text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data[: len(data) // 2 * 2].decode("utf-16", "replace")
    if b"\0" in data[:_SAMPLE_BYTES]:
        return ""
    return data.decode("utf-8", "replace")
