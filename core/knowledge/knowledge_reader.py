"""Reads knowledge as it is on disk, in one snapshot; makes, follows and removes the digest file."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, make_dirs, remove_file, reported, write_file, write_passing
from core.kernel.errors import SlopError, StorageError
from core.kernel.frame import clean
from core.kernel.language import tr, words_of
from core.kernel.opener import OddFileError, open_file, read_file
from core.kernel.values.knowledge import CategoryFile, DigestSwitch, Item, KnowledgeState, NoteFile
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge import categories, merges
from core.knowledge.categories import CATEGORY_NAMES, NOTES_FOLDER, Said, parse_file
from core.knowledge.evidence_rows import EVIDENCE_FILE, item_hash, unquoted
from core.knowledge.facts import fact_files
from core.knowledge.facts.fact_checks import INDEX_FILE
from core.knowledge.facts.fact_files import fact_count
from core.knowledge.file_writer import WITHDRAWALS_FILE, change_file, read_bytes, withdrawal_count, write_lock
from core.knowledge.layer7 import DIGEST_MAX_BYTES, project
from core.knowledge.note_files import read_notes
from core.knowledge.part_writer import keep_version, versions

# The digest file: made from the category files on demand, its presence the switch of layer 7.

__all__ = [
    "DIGEST_MAX_BYTES",
    "DIGEST_SECTIONS",
    "DigestFollower",
    "DigestResult",
    "DigestWrite",
    "regenerate_digest",
]

DIGEST_SECTIONS = (
    ("Open tasks", categories.TASKS),
    ("Open questions", categories.QUESTIONS),
    ("Decisions", categories.DECISIONS),
    ("Facts", categories.FACTS),
    ("Playbooks", categories.PLAYBOOKS),
)
"""Titles in their fixed order, each with its category file."""

DIGEST_FILE = "digest.md"
MADE_FILE = ".digest"
"""Hash of the digest as the program wrote it last: any other text is another hand's."""
_TAIL_BYTES = 1 << 16

_Stamp = tuple[int, int, int]


class DigestWrite(StrEnum):
    """Change of the file by a regeneration."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    LEFT_OFF = "left off"


class DigestResult(msgspec.Struct, frozen=True):
    """The outcome: the text that the file holds now, empty where there is none.

    Args:
        kept: where a text is kept that another hand wrote and that gave way, None where there was none.
    """

    path: Path
    text: str
    write: DigestWrite
    kept: Path | None = None


def regenerate_digest(
    home: Path | None = None, *, may_create: bool = True, keeps: bool = True, disk: Disk = OS_DISK
) -> DigestResult:
    """Bring `digest.md` up to date with the category files; written only when its bytes change.

    Args:
        home: by default `home_dir()`.
        may_create: False for everything that the person did not ask for: a missing file means off, and stays off.
        keeps: a text that another hand wrote stays as a version; False where words of it are forgotten.

    Returns:
        What the file holds now. It is deleted when there is nothing at all to say.

    Raises:
        StorageError: the old digest is as it was. LockedError: another program writes knowledge.
    """
    where = home or paths.home_dir()
    path = digest_file(where)
    if not may_create and not is_digest(path):
        return DigestResult(path=path, text="", write=DigestWrite.LEFT_OFF)
    make_dirs(path.parent, disk=disk)
    with write_lock(where, disk=disk):
        return _regenerate(where, path, may_create=may_create, keeps=keeps, disk=disk)


class DigestFollower:
    """Brings a digest that is on up to date when somebody saved a category file; never makes nor deletes one.

    A digest that a person wrote by hand stays until a category file changes, and is kept as a version then. Where nothing
    is known it is emptied: a file that an editor is just writing anew is empty for a moment too. Used by one thread at a time.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._seen: tuple[_Stamp, ...] | None = None

    def follow(self) -> Path | None:
        """Look at the category files; renew the digest where they changed since the last look, or before the first.

        Returns:
            Where a text is kept that another hand wrote and that gave way.

        Raises:
            StorageError, LockedError: it is as it was; it is tried again after the next change.
        """
        before, self._seen = self._seen, self._stamps()
        path = digest_file(self._home)
        digest = _stamp(path)
        is_newer = any(at > digest[-1] for *_, at in self._seen)
        if is_digest(path) and (is_newer if before is None else before != self._seen):
            with write_lock(self._home):
                return _renew(self._home, path, fresh_digest(self._home), keeps=True, disk=OS_DISK).kept
        return None

    def _stamps(self) -> tuple[_Stamp, ...]:
        directory = paths.knowledge_dir(self._home)
        names = (*(name for _, name in DIGEST_SECTIONS), categories.NOTES_FOLDER, INDEX_FILE)
        return tuple(_stamp(directory / name) for name in names)


def fresh_digest(home: Path) -> str:
    """Digest as it would be if it were made now. Reads only the ends of the files that fit into it."""
    directory = paths.knowledge_dir(home)
    left = unquoted_in(home)
    sections = [(title, _borne(_newest(directory, name), name, left)) for title, name in DIGEST_SECTIONS]
    notes = _note_count(directory / categories.NOTES_FOLDER)
    return project(sections, note_count=notes, fact_count=fact_count(home))


def unquoted_in(home: Path) -> frozenset[str]:
    """Items and facts of a home that enter no request: `unquoted`. A log that cannot be read says nothing, and holds no send up."""
    with suppress(StorageError):
        return unquoted(read_bytes(paths.knowledge_dir(home) / EVIDENCE_FILE))
    return frozenset()


def _borne(items: Iterator[Said], name: str, left: frozenset[str]) -> Iterator[Said]:
    category = categories.category_of(name, categories.OPEN)
    return (one for one in items if not left or item_hash(category, one[0]) not in left)


def digest_file(home: Path) -> Path:
    """`digest.md` of a home."""
    return paths.knowledge_dir(home) / DIGEST_FILE


def is_digest(path: Path) -> bool:
    """True if the digest's switch is on: a file stands at the path. A link does not count, wherever it leads: who may write
    to its target would write into every request.
    """
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def instead_of_digest(path: Path) -> str:
    """Sentence about something else at the digest's path, with the remedy; else empty."""
    if is_digest(path) or not os.path.lexists(path):
        return ""
    what = tr("a link") if path.is_symlink() else tr("not a file")
    return tr(
        "Memory is off, because {name} is {what}. Remove {name}, then turn memory on: {path}",
        name=path.name,
        what=what,
        path=path,
    )


def read_digest(path: Path) -> bytes | None:
    """The digest's bytes, None where there is none. Raises StorageError."""
    if not is_digest(path):
        return None
    with reported("read", path):
        try:
            return read_file(path, follows_links=False)
        except FileNotFoundError:
            return None


def remove_digest(home: Path) -> Path | None:
    """Remove the digest. Returns where its text is kept, if another hand wrote it. Raises StorageError."""
    path = digest_file(home)
    kept = _keep_by_hand(home, read_digest(path), OS_DISK)
    remove_file(path)
    return kept


def digest_versions(home: Path) -> tuple[Path, ...]:
    """Kept texts of the digest that another hand wrote, the newest first."""
    return versions(home, DIGEST_FILE)


def _keep_by_hand(home: Path, data: bytes | None, disk: Disk) -> Path | None:
    """Keep a digest that the program did not write, before it goes: its words may stand nowhere else."""
    if not data or read_bytes(paths.knowledge_dir(home) / MADE_FILE) == _made_mark(data):
        return None
    return keep_version(home, DIGEST_FILE, f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}", data, disk=disk)


def _note_made(home: Path, data: bytes) -> None:
    """Note what the program wrote, so that another's words are told from ours. Lost in a crash, a copy more is kept."""
    with suppress(StorageError):
        write_passing(paths.knowledge_dir(home) / MADE_FILE, _made_mark(data))


def _made_mark(data: bytes) -> bytes:
    return f"{hashlib.sha256(data).hexdigest()}\n".encode()


def _regenerate(home: Path, path: Path, *, may_create: bool, keeps: bool, disk: Disk) -> DigestResult:
    before = read_digest(path)
    text = fresh_digest(home)
    data = text.encode()
    if before is None and not may_create:
        return DigestResult(path=path, text="", write=DigestWrite.LEFT_OFF)
    if before == data or (before is None and not data):
        return DigestResult(path=path, text=text, write=DigestWrite.UNCHANGED)
    if data and not may_create:
        return _renew(home, path, text, keeps=keeps, disk=disk)
    kept = _keep_by_hand(home, before, disk) if keeps else None
    if not data:
        remove_file(path, disk=disk)
        return DigestResult(path=path, text="", write=DigestWrite.DELETED, kept=kept)
    write_file(path, data, disk=disk, follows_links=False)
    _note_made(home, data)
    return DigestResult(path=path, text=text, write=DigestWrite.WRITTEN, kept=kept)


def _renew(home: Path, path: Path, text: str, *, keeps: bool, disk: Disk) -> DigestResult:
    """Write the digest over a file that is there at that instant: `rm` meanwhile wins."""
    data = text.encode()
    kept: Path | None = None

    def change(old: bytes) -> bytes:
        nonlocal kept
        if not is_digest(path) or old == data:
            return old
        kept = _keep_by_hand(home, old, disk) if keeps else None
        return data

    if is_digest(path) and change_file(path, change, disk=disk) == data and is_digest(path):
        _note_made(home, data)
        return DigestResult(path=path, text=text, write=DigestWrite.WRITTEN, kept=kept)
    return DigestResult(path=path, text="", write=DigestWrite.LEFT_OFF, kept=kept)


def _newest(directory: Path, name: str) -> Iterator[Said]:
    """Words and provenance of a file's items from its end; of a long file only the end is read, unless that is not enough."""
    path = directory / name
    count = 0
    if name != categories.TASKS and (tail := _tail(path)):
        for said in categories.newest_first(name, tail):
            count += 1
            yield said
    yield from islice(categories.newest_first(name, _bytes(path) or b""), count, None)


def _tail(path: Path) -> bytes:
    """The last whole lines of a long file, nothing of a short one."""
    with reported("read", path):
        try:
            with open_file(path) as file:
                if file.seek(0, os.SEEK_END) <= _TAIL_BYTES:
                    return b""
                file.seek(-_TAIL_BYTES, os.SEEK_END)
                return file.read().partition(b"\n")[2]
        except (FileNotFoundError, IsADirectoryError, OddFileError):
            return b""


def _note_count(folder: Path) -> int:
    """Notes in all note files."""
    with reported("read", folder):
        files = sorted(folder.glob("*.md")) if folder.is_dir() else []
        return sum(sum(1 for _ in categories.newest_first(f.name, _bytes(f) or b"")) for f in files)


def _stamp(path: Path) -> _Stamp:
    """Stamp that changes with a file: inode, size and time, nothing where there is none."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _bytes(path: Path) -> bytes | None:
    """The file's bytes, None where there is none; the reader of knowledge says what stands in its place."""
    with reported("read", path):
        try:
            return read_file(path, None)
        except (FileNotFoundError, IsADirectoryError, OddFileError):
            return None


# Reads knowledge as it is on disk: category files, notes, digest and switch, in one snapshot.

MAX_DRAFT_BYTES = 262_144
"""A larger file is no draft of ours."""

MAX_DIGEST_BYTES = 65_536
"""A digest that a person made longer than this by hand is not injected; ours has at most 4096."""


def read_categories(home: Path) -> tuple[CategoryFile, ...]:
    """The category files in the order of the digest; a missing one is empty.

    Raises:
        StorageError: one cannot be read.
    """
    directory = paths.knowledge_dir(home)
    return tuple(parse_file(name, read_bytes(directory / name)) for name in CATEGORY_NAMES)


ARCHIVE_FOLDER = "archive"
"""Below the knowledge directory: items that no request reads."""


def archive_names(home: Path) -> Iterator[tuple[str, str]]:
    """Every file of the archive: its name below the knowledge directory, and the file that its items are of."""
    folder = paths.knowledge_dir(home) / ARCHIVE_FOLDER
    for path in (*sorted(folder.glob("*.md")), *sorted((folder / NOTES_FOLDER).glob("*.md"))):
        name = path.relative_to(folder).as_posix()
        if name in CATEGORY_NAMES or name.startswith(f"{NOTES_FOLDER}/"):
            yield f"{ARCHIVE_FOLDER}/{name}", name


class KnowledgeReader:
    """Reads snapshots; files that did not change are not parsed again. Used by one thread at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._parsed: dict[str, CategoryFile] = {}
        self._categories: tuple[CategoryFile, ...] = ()
        self._last_notes: tuple[NoteFile, ...] = ()
        self._archived: tuple[Item, ...] = ()

    def read(
        self, settings: KnowledgeSettings, candidates: Iterable[str] = (), *, with_categories: bool = True
    ) -> KnowledgeState:
        """Read knowledge as it is now. What cannot be read is said in `problems`, and the rest is there.

        Args:
            candidates: absolute paths that files with notes may have moved to.
            with_categories: False leaves the category files as they were read before, which is soon done.
        """
        problems: list[str] = []
        withdrawals = withdrawal_count(self._home)
        if with_categories:
            self._categories = tuple(self._file(name, name, problems) for name in CATEGORY_NAMES)
            self._archived = self._archive(problems)
        notes = self._notes(candidates, problems)
        digest, size = self._digest(problems)
        is_read = bool(self._categories)
        has_items = (
            not is_read or any(one.items for one in self._categories) or any(one.items for one in notes)
        )
        return KnowledgeState(
            categories=self._categories,
            notes=notes,
            digest=digest or "",
            digest_bytes=size,
            switch=switch_of(settings, has_digest=digest is not None, has_items=has_items),
            watched=watch_paths(self._home, notes),
            problems=tuple(problems),
            withdrawals=withdrawals,
            drafts=self._drafts(),
            archived=self._archived,
        )

    def _archive(self, problems: list[str]) -> tuple[Item, ...]:
        """Items of the archive; each names the file that it came from, and its lines in the archive's."""
        files = [self._file(name, of, problems) for name, of in archive_names(self._home)]
        found = tuple(item for file in files for item in file.items)
        return self._archived if found == self._archived else found

    def _drafts(self) -> dict[str, str]:
        """Drafts by the marks in them; one that cannot be read is left out."""
        folder = paths.knowledge_dir(self._home) / merges.FOLDER
        found: dict[str, str] = {}
        for path in sorted(folder.glob(f"*{merges.SUFFIX}")) if folder.is_dir() else ():
            with suppress(OSError):
                text = read_file(path, MAX_DRAFT_BYTES).decode("utf-8", "replace")
                found |= dict.fromkeys(merges.marks_in(text), str(path))
        return found

    def _file(self, name: str, of: str, problems: list[str]) -> CategoryFile:
        """A file below the knowledge directory. `of`: the file that its items are of."""
        try:
            data = read_bytes(paths.knowledge_dir(self._home) / name)
        except SlopError as error:
            problems.append(words_of(error))
            return CategoryFile(name=of, problem=words_of(error))
        before = self._parsed.get(name)
        if before is None or before.data != data:
            self._parsed[name] = parse_file(of, data)
        if self._parsed[name].problem:
            problems.append(self._parsed[name].problem)
        return self._parsed[name]

    def _notes(self, candidates: Iterable[str], problems: list[str]) -> tuple[NoteFile, ...]:
        try:
            found = read_notes(self._home, candidates)
        except SlopError as error:
            problems.append(words_of(error))
            return ()
        problems.extend(note.problem for note in found if note.problem)
        if found != self._last_notes:
            self._last_notes = found
        return self._last_notes

    def _digest(self, problems: list[str]) -> tuple[str | None, int]:
        """The digest's text and size; None where there is no file, or none that can be injected."""
        path = digest_file(self._home)
        try:
            data = read_digest(path)
        except SlopError as error:
            problems.append(words_of(error))
            return None, 0
        if data is None:
            if problem := instead_of_digest(path):
                problems.append(problem)
            return None, 0
        if len(data) > MAX_DIGEST_BYTES:
            problems.append(
                tr(
                    "digest.md has {data:,} bytes, over {MAX_DIGEST_BYTES:,}; the program does not send it",
                    data=len(data),
                    MAX_DIGEST_BYTES=MAX_DIGEST_BYTES,
                )
            )
            return None, len(data)
        return clean(data.decode("utf-8-sig", "replace")), len(data)


def switch_of(settings: KnowledgeSettings, *, has_digest: bool, has_items: bool = True) -> DigestSwitch:
    """State of layer 7's switch: on if the file says so, and configuration does not forbid it. Without items
    there is no file to make.
    """
    if not settings.digest_enabled:
        return DigestSwitch.OFF_BY_CONFIGURATION
    if has_digest:
        return DigestSwitch.ON
    return DigestSwitch.OFF_BY_DELETION if has_items else DigestSwitch.OFF_WITHOUT_KNOWLEDGE


def watch_paths(home: Path, notes: Iterable[NoteFile] = ()) -> tuple[str, ...]:
    """Absolute paths whose change calls for another reading: the files, those not there yet, their folders, and the files
    that notes are bound to: what they hold is noted while it is seen.
    """
    directory = paths.knowledge_dir(home)
    folder = directory / NOTES_FOLDER
    named = (*CATEGORY_NAMES, "digest.md", "ledger.json", WITHDRAWALS_FILE)
    folders = (NOTES_FOLDER, merges.FOLDER, ARCHIVE_FOLDER, f"{ARCHIVE_FOLDER}/{NOTES_FOLDER}")
    found = {str(directory / name) for name in (*named, *folders)}
    found |= {str(directory / name) for name, _ in archive_names(home)}
    noted = {str(folder / f"{note.file_id}.md") for note in notes} | {
        note.path for note in notes if note.path
    }
    return tuple(sorted(found | noted | set(fact_files.watch_paths(home))))
