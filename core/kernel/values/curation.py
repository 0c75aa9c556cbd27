"""Curated files: items, presets, outlines and what was read of each file."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.kernel.language import tr


class FileMode(StrEnum):
    """Mode in which a file enters the context."""

    WHOLE = "whole"
    SLICES = "slices"
    OUTLINE = "outline"
    NOTES = "notes"


class LineRange(msgspec.Struct, frozen=True, order=True):
    """Lines `first` to `last`, 1-based, both included, first <= last."""

    first: int
    last: int


class FileItem(msgspec.Struct, frozen=True):
    """One entry of a preset.

    Args:
        path: POSIX path relative to the project's root, an absolute path, or a glob (`src/**/*.py`).
        slices: line ranges for mode `slices`; symbols: qualified names (`Class.method`) for the same mode.
        pinned: stays at the head of the preset whatever the order of the rest.
        include_ignored: a glob takes what `.gitignore` files leave out, too.
    """

    path: str
    mode: FileMode = FileMode.WHOLE
    slices: tuple[LineRange, ...] = ()
    symbols: tuple[str, ...] = ()
    notes: str = ""
    pinned: bool = False
    enabled: bool = True
    include_ignored: bool = False

    @property
    def is_glob(self) -> bool:
        """True if the path is a pattern that stands for many files."""
        return any(mark in self.path for mark in "*?[")


class Preset(msgspec.Struct, frozen=True):
    """A named, ordered list of file items."""

    name: str
    items: tuple[FileItem, ...] = ()


class Symbol(msgspec.Struct, frozen=True):
    """One definition or heading of a file: `name` qualified with dots, `signature` one line of its source."""

    name: str
    kind: str
    lines: LineRange
    signature: str
    depth: int = 0


class FileProblemKind(StrEnum):
    """Reason why a file has no text to send."""

    VANISHED = "vanished"
    BINARY = "binary"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    NOT_UTF8 = "not_utf8"
    NOT_A_FILE = "not_a_file"
    OUTSIDE = "outside"
    EMPTY_GLOB = "empty_glob"
    TOO_MANY = "too_many"
    KEYS = "keys"


class FileProblem(msgspec.Struct, frozen=True):
    """Fault of a file, in a sentence, with the remedy."""

    kind: FileProblemKind
    detail: str


class FileSnapshot(msgspec.Struct, frozen=True):
    """Result of one read of a file. `text` is decoded, LF line ends; empty where there is a problem.

    Args:
        path: as it is shown and sent: POSIX, relative to the project's root where it lies inside it.
        sha256: hex digest of the raw bytes, empty when nothing could be read.
        text_sha256: hex digest of `text` as UTF-8, empty where not known; the same as `sha256` for most files.
        mtime_ns: modification time, for noticing change.
        symbols: the outline, in file order; empty where no grammar knows the file.
        tokens: by the offline tokenizer for the whole text, or None while not yet counted.
    """

    path: str
    absolute_path: str
    sha256: str = ""
    text: str = ""
    size_bytes: int = 0
    mtime_ns: int = 0
    line_count: int = 0
    symbols: tuple[Symbol, ...] = ()
    tokens: int | None = None
    problem: FileProblem | None = None
    text_sha256: str = ""


class ItemFiles(msgspec.Struct, frozen=True):
    """The files that one item of a preset stands for, after the glob was expanded, sorted by path.

    `problem` is set where the item as a whole cannot be honoured (an empty glob, too many matches). `ignored`: files
    and folders that a glob left out by `.gitignore`; `rule_files`: the files of rules that it followed, or would;
    `rules_passed_over`: rules that it did not follow.
    """

    item: FileItem
    files: tuple[FileSnapshot, ...]
    problem: FileProblem | None = None
    ignored: int = 0
    rule_files: tuple[str, ...] = ()
    rules_passed_over: int = 0


class TextTable(StrEnum):
    """Table of the project's file that named texts stand in."""

    PERSONAS = "personas"
    SYSTEM_PROMPTS = "system_prompts"

    @property
    def word(self) -> str:
        """One of them, as a person calls it."""
        return tr("persona") if self is TextTable.PERSONAS else tr("system prompt")


class NamedText(msgspec.Struct, frozen=True):
    """A text with the name that it is known by: a prompt preset, a persona, an identity file.

    `source` is the file it came from, empty where it stands in settings.
    """

    name: str
    text: str
    source: str = ""


class HitKind(StrEnum):
    """Kind of what a mention names."""

    FILE = "file"
    FOLDER = "folder"
    SYMBOL = "symbol"


class FileHit(msgspec.Struct, frozen=True):
    """One way to go on with a mention. `path`: relative to the project's root, a folder's with a slash at its end."""

    path: str
    kind: HitKind
    symbol: str = ""
    detail: str = ""


class FilesLookedUp(msgspec.Struct, frozen=True):
    """Answer to a lookup.

    Args:
        text: what was asked for; hits: the best first; total: files of the project, symbols of the file, or files of the glob.
        problem: why there are none or not all, a sentence; is_glob: it was asked how many files a glob finds.
    """

    text: str
    hits: tuple[FileHit, ...] = ()
    total: int = 0
    problem: str = ""
    is_glob: bool = False
