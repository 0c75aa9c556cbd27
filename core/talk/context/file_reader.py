"""Reads the files of preset items: bounded, never a device, never outside, each problem typed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.key_files import mark_of
from core.kernel.language import as_sentences, tr
from core.kernel.opener import OddFileError, open_descriptor
from core.kernel.values.curation import (
    FileItem,
    FileMode,
    FileProblem,
    FileProblemKind,
    FileSnapshot,
    ItemFiles,
    Symbol,
)
from core.kernel.values.settings import FileLimits
from core.talk.context.globs import REMEDY, SKIPPED_FOLDERS, GlobFound, KeyGate, Places, expand, glob_base
from core.talk.context.ignores import ignores_at

# Content of a file from its bytes: text in UTF-8, or a problem with a reason and a remedy.

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
_REMEDY = tr("Save the file as UTF-8 to include it.")


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
        return Content(sha256=sha256, problem=problem)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        return Content(sha256=sha256, problem=_not_utf8(data, fault.start))
    if b"\r" not in data and not data.startswith(_BOM_UTF8):
        return Content(sha256=sha256, text=text, text_sha256=sha256)
    text = clean(text.removeprefix("\ufeff"))
    return Content(sha256=sha256, text=text, text_sha256=hashlib.sha256(text.encode()).hexdigest())


def _other_encoding(data: bytes) -> FileProblem | None:
    for mark, name in _OTHER_BOMS:
        if data.startswith(mark):
            detail = tr(
                "The byte order mark of the file says {name}, not UTF-8. {REMEDY}", name=name, REMEDY=_REMEDY
            )
            return FileProblem(FileProblemKind.NOT_UTF8, detail)
    return None


def _binary(data: bytes) -> FileProblem | None:
    """A NUL anywhere, or more than a tenth of control characters at the head."""
    place = data.find(b"\0")
    if place >= 0:
        return FileProblem(
            FileProblemKind.BINARY, tr("The file is binary: byte {place} is NUL.", place=place)
        )
    sample = data[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls <= len(sample) * _MAX_CONTROL_RATIO:
        return None
    share = round(100 * controls / len(sample))
    detail = tr(
        "The file is binary: {share} % of its first {sample:,} bytes are control characters.",
        share=share,
        sample=len(sample),
    )
    return FileProblem(FileProblemKind.BINARY, detail)


def _not_utf8(data: bytes, place: int) -> FileProblem:
    line = data.count(b"\n", 0, place) + 1
    detail = tr(
        "The file is not UTF-8: byte 0x{data:02X} at position {place}, line {line}. {REMEDY}",
        data=data[place],
        place=place,
        line=line,
        REMEDY=_REMEDY,
    )
    return FileProblem(FileProblemKind.NOT_UTF8, detail)


Outliner = Callable[[str, str], tuple[Symbol, ...]]
"""Makes the outline of a file from its path and text (`core.talk.context.outline.symbols_of`, or the worker process)."""

_SETTLED_NS = 2_000_000_000
_KINDS = (
    (stat.S_ISDIR, tr("a folder; to include its files, use a glob such as `folder/**`")),
    (stat.S_ISFIFO, tr("a named pipe")),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class _Known(msgspec.Struct, frozen=True):
    """A snapshot with the marks that its file had. `keys`: why it is taken for a file of keys, empty for any other file."""

    marks: tuple[int, int, int, int]
    shown: str
    snapshot: FileSnapshot
    has_symbols: bool
    keys: str = ""


class FileCache:
    """Snapshots by absolute path, so that a file is read again only when it changed.

    A file counts as unchanged when size, modification and change time and inode are the same. One that was
    modified within two seconds of being read is read once more the next time: clocks of file systems are
    coarse. One thread at a time.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def find(self, path: str, marks: tuple[int, int, int, int], shown: str) -> _Known | None:
        """Find what is known of an unchanged file."""
        known = self._known.get(path)
        return known if known is not None and known.marks == marks and known.shown == shown else None

    def store(self, path: str, known: _Known) -> None:
        """Hold a snapshot, unless its file is so fresh that a change could go unseen."""
        if time.time_ns() - max(known.marks[1], known.marks[2]) > _SETTLED_NS:
            self._known[path] = known
        else:
            self._known.pop(path, None)


class Reader(msgspec.Struct, frozen=True):
    """Reader of items: all that one reading works with.

    Args:
        places: which folders may be read; limits: sizes and counts; cache: None reads everything.
        outline: makes outlines for the items that need them; gate: keeps files of keys out.
    """

    places: Places
    limits: FileLimits
    outline: Outliner
    gate: KeyGate
    cache: FileCache | None = None


def read_items(
    root: str,
    items: Sequence[FileItem],
    limits: FileLimits,
    allowed_roots: Sequence[str] = (),
    *,
    cache: FileCache | None = None,
    outline: Outliner | None = None,
    shown: Sequence[str] = (),
) -> tuple[ItemFiles, ...]:
    """Read the files of a preset. Disabled items are given back unread.

    Args:
        root: the project's root, absolute; allowed_roots: other folders that may be read.
        items: in preset order; cache: what was read before, updated in place.
        outline: makes outlines of files whose item needs them; None: in this process.
        shown: places that the person said hold no keys, absolute, links resolved.
    """
    if not items:
        return ()
    reader = _reader(root, limits, allowed_roots, cache, outline, shown)
    return tuple(
        read_with(reader, item) if item.enabled else ItemFiles(item=item, files=()) for item in items
    )


def read_item(
    root: str,
    item: FileItem,
    limits: FileLimits,
    allowed_roots: Sequence[str] = (),
    *,
    cache: FileCache | None = None,
    outline: Outliner | None = None,
    shown: Sequence[str] = (),
) -> ItemFiles:
    """Read the files of one item, enabled or not. Args as for `read_items`."""
    reader = _reader(root, limits, allowed_roots, cache, outline, shown)
    return read_with(reader, item)


def _reader(
    root: str,
    limits: FileLimits,
    allowed_roots: Sequence[str],
    cache: FileCache | None,
    outline: Outliner | None,
    shown: Sequence[str],
) -> Reader:
    places = Places(root, allowed_roots)
    return Reader(
        places=places,
        limits=limits,
        outline=outline or _own_outline,
        gate=KeyGate(places.root, shown),
        cache=cache,
    )


def read_with(reader: Reader, item: FileItem) -> ItemFiles:
    """Read the files of one item. Nothing is raised for a file: problems are values."""
    try:
        absolute = reader.places.absolute(item.path)
        if not item.is_glob or os.path.lexists(absolute):
            return ItemFiles(
                item=item, files=(_read_file(reader, absolute, needs_symbols=_needs_symbols(item)),)
            )
        return _read_glob(reader, item, absolute)
    except (OSError, ValueError) as fault:
        return ItemFiles(item=item, files=(), problem=_unreadable(fault))


def _needs_symbols(item: FileItem) -> bool:
    return item.mode is FileMode.OUTLINE or bool(item.symbols)


def _read_glob(reader: Reader, item: FileItem, absolute: str) -> ItemFiles:
    found = look_up_glob(reader.places, item, absolute, reader.limits)
    if found is None:
        return ItemFiles(item=item, files=(), problem=_outside(item.path))
    problem = None
    if found.is_too_many:
        problem = _too_many(item.path, reader.limits, found.visited)
    elif not found.paths:
        problem = _empty_glob(item.path, found.ignored)
    needs = _needs_symbols(item)
    files = tuple(_read_file(reader, path, needs_symbols=needs) for path in found.paths)
    return ItemFiles(
        item=item,
        files=files,
        problem=problem,
        ignored=found.ignored,
        rule_files=found.rule_files,
        rules_passed_over=found.rules_passed_over,
    )


def look_up_glob(places: Places, item: FileItem, absolute: str, limits: FileLimits) -> GlobFound | None:
    """The names that a glob finds, None if it is outside the places. Raises OSError, ValueError."""
    base, parts = glob_base(absolute.replace(os.sep, "/"))
    folder = os.path.realpath(base)
    if not places.is_allowed(folder):
        return None
    ignores = None if item.include_ignored else ignores_at(folder, places.root_of(folder))
    return expand(folder, parts, limits.max_glob_files, ignores)


def _own_outline(path: str, text: str) -> tuple[Symbol, ...]:
    from core.talk.context.outline import symbols_of

    return symbols_of(path, text)


def _read_file(reader: Reader, absolute: str, *, needs_symbols: bool) -> FileSnapshot:
    shown = reader.places.shown(absolute)
    try:
        path, status = reader.places.resolve(absolute)
        if not reader.places.is_allowed(path):
            return FileSnapshot(path=shown, absolute_path=path, problem=_outside(shown))
        if status is None:
            return FileSnapshot(path=shown, absolute_path=path, problem=_vanished())
        return _read_known(reader, path, shown, status, needs_symbols=needs_symbols)
    except FileNotFoundError:
        return FileSnapshot(path=shown, absolute_path=absolute, problem=_vanished())
    except (OSError, ValueError) as fault:
        return FileSnapshot(path=shown, absolute_path=absolute, problem=_unreadable(fault))


def _read_known(
    reader: Reader, path: str, shown: str, status: os.stat_result, *, needs_symbols: bool
) -> FileSnapshot:
    """The snapshot of a path that is allowed and there: from the cache, or read now."""
    marks = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    known = reader.cache.find(path, marks, shown) if reader.cache else None
    if known is None:
        problem = _refused(status, reader.limits)
        keys = ""
        if problem is None and (found := reader.gate.place_reasons(path, mark_of(status))):
            snapshot, keys = _stated(path, shown, status, None), found[0]
        elif problem is not None:
            snapshot = _stated(path, shown, status, problem)
        else:
            snapshot, keys = _read(reader, path, shown, status)
        known = _Known(marks=marks, shown=shown, snapshot=snapshot, has_symbols=False, keys=keys)
    if known.keys:  # not kept: it may be shown by the next time
        return _stated(path, shown, status, _of_keys(known.keys))
    if needs_symbols and not known.has_symbols:
        symbols = reader.outline(path, known.snapshot.text)
        known = replace(known, snapshot=replace(known.snapshot, symbols=symbols), has_symbols=True)
    if reader.cache:
        reader.cache.store(path, known)
    return known.snapshot


def _read(reader: Reader, path: str, shown: str, status: os.stat_result) -> tuple[FileSnapshot, str]:
    """The snapshot, and why it is taken for a file of keys."""
    limit = reader.limits.max_file_bytes
    try:
        descriptor = open_descriptor(path, os.O_RDONLY, follows_links=False)
    except OddFileError as fault:  # it took the file's place since the look at it
        odd = FileProblem(
            FileProblemKind.NOT_A_FILE, tr("The file cannot be read: {strerror}.", strerror=fault.strerror)
        )
        return _stated(path, shown, status, odd), ""
    try:
        opened = os.fstat(descriptor)
        problem = _refused(opened, reader.limits)
        data = b"" if problem else _read_all(descriptor, opened.st_size, limit)
    finally:
        os.close(descriptor)
    if problem is None and len(data) > limit:
        problem = _too_large(len(data), reader.limits)
    if problem is not None:
        return _stated(path, shown, status, problem), ""
    if found := reader.gate.reasons(path, mark_of(opened), data):
        return _stated(path, shown, status, None), found[0]
    content = read_content(data)
    lines = content.text.count("\n") + (1 if content.text and not content.text.endswith("\n") else 0)
    snapshot = FileSnapshot(
        path=shown,
        absolute_path=path,
        sha256=content.sha256,
        text=content.text,
        size_bytes=len(data),
        mtime_ns=opened.st_mtime_ns,
        line_count=lines,
        problem=content.problem,
        text_sha256=content.text_sha256,
    )
    return snapshot, ""


def _read_all(descriptor: int, expected: int, limit: int) -> bytes:
    """The whole file in one read where it did not grow; at most one byte over the limit."""
    data = os.read(descriptor, min(expected, limit) + 1)
    if len(data) == expected:
        return data
    parts = [data]
    while parts[-1] and sum(map(len, parts)) <= limit:
        parts.append(os.read(descriptor, 1 << 20))
    return b"".join(parts)


def _stated(path: str, shown: str, status: os.stat_result, problem: FileProblem | None) -> FileSnapshot:
    """A file of which only size and time are known."""
    size, changed = status.st_size, status.st_mtime_ns
    return FileSnapshot(path=shown, absolute_path=path, size_bytes=size, mtime_ns=changed, problem=problem)


def _refused(status: os.stat_result, limits: FileLimits) -> FileProblem | None:
    """Reason why a file is not opened, or not read: it is no regular file, or too large."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), tr("not a regular file"))
        return FileProblem(FileProblemKind.NOT_A_FILE, tr("This is {kind}.", kind=kind))
    return _too_large(status.st_size, limits) if status.st_size > limits.max_file_bytes else None


def _too_large(size: int, limits: FileLimits) -> FileProblem:
    detail = tr(
        "The file has {size:,} bytes; the limit is {max_file_bytes:,}. Choose a smaller file, or raise `max_file_bytes` under [files] in the user settings.",
        size=size,
        max_file_bytes=limits.max_file_bytes,
    )
    return FileProblem(FileProblemKind.TOO_LARGE, detail)


def _of_keys(why: str) -> FileProblem:
    return FileProblem(
        FileProblemKind.KEYS,
        tr("{why} The program does not send the file. {REMEDY}.", why=why, REMEDY=REMEDY),
    )


def _vanished() -> FileProblem:
    return FileProblem(FileProblemKind.VANISHED, tr("There is no such file."))


def _outside(path: str) -> FileProblem:
    detail = tr(
        "{path!r} leads outside the project. Copy the file in, or add its folder to `allowed_roots` under [project].",
        path=path,
    )
    return FileProblem(FileProblemKind.OUTSIDE, detail)


def _unreadable(fault: OSError | ValueError) -> FileProblem:
    if isinstance(fault, ValueError):
        return FileProblem(FileProblemKind.UNREADABLE, tr("The path holds characters that no file name has."))
    if fault.errno == errno.ELOOP:
        return FileProblem(FileProblemKind.UNREADABLE, tr("The path is a loop of symbolic links."))
    reason = fault.strerror or type(fault).__name__
    return FileProblem(FileProblemKind.UNREADABLE, tr("The file cannot be read: {reason}.", reason=reason))


def _too_many(pattern: str, limits: FileLimits, visited: int) -> FileProblem:
    detail = tr(
        "{pattern!r} is too wide: over {max_glob_files:,} files match, or the search takes too long. The search stopped after {visited:,} entries, and the program sends none of these files. Narrow the pattern, or raise `max_glob_files` under [files] in the user settings.",
        pattern=pattern,
        max_glob_files=limits.max_glob_files,
        visited=visited,
    )
    return FileProblem(FileProblemKind.TOO_MANY, detail)


def _empty_glob(pattern: str, ignored: int) -> FileProblem:
    skipped = ", ".join(sorted(SKIPPED_FOLDERS))
    detail = tr(
        "{pattern!r} matches no file. The program enters hidden folders and {skipped} only when you name them.",
        pattern=pattern,
        skipped=skipped,
    )
    if ignored:
        excluded = tr(
            ".gitignore excludes {ignored:,} matches; `include_ignored = true` includes them.",
            ignored=ignored,
        )
        detail = as_sentences(detail, excluded)
    return FileProblem(FileProblemKind.EMPTY_GLOB, detail)
