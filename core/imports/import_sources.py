"""Files that an import is asked to read: folders walked, archives unpacked, sessions followed, files read before passed over."""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import msgspec

from core import __version__
from core.imports.export_knowledge import MAX_BYTES as MAX_KNOWLEDGE_BYTES
from core.imports.export_knowledge import is_knowledge, knowledge_of
from core.kernel import paths
from core.kernel.codecs import from_json, packed_decoder_of, to_json, to_msgpack
from core.kernel.disk import make_dirs, write_passing
from core.kernel.language import english, joined, tr
from core.kernel.opener import OddFileError, open_file, read_file
from core.kernel.paths import imports_file
from core.kernel.patterns import late
from core.kernel.stored_texts import retold
from core.kernel.values.imports import ImportFault, KnownPlace, Offered, Transcript, TranscriptKind, Unread
from core.talk.transcripts.claude_code import branched_off
from core.talk.transcripts.databases import LOG_HEAD_BYTES, with_log
from core.talk.transcripts.databases import MAX_BYTES as MAX_DATABASE_BYTES
from core.talk.transcripts.text import EXPORT_AGAIN, Buffer
from core.talk.transcripts.transcript_reader import (
    PLAIN_ENDS,
    SHAPE_BYTES,
    read_stream,
    read_transcripts,
    recognised,
)

# Files that an import is asked to read: folders walked, archives unpacked within bounds, each file mapped.

MAX_ARCHIVE_BYTES = 8_000_000_000
"""All that an archive may unpack to."""

MAX_MEMBERS = 200_000
MAX_RATIO = 250
"""Bytes that one packed byte may stand for; text packs 3 to 20 times."""

RATIO_FROM_BYTES = 10_000_000
"""Smaller members may pack as well as they like."""

MAX_ARCHIVE_DEPTH = 3
"""Archives in archives."""

_PACKED = {".json", ".jsonl", ".html", *PLAIN_ENDS}
_COPY_BYTES = 1 << 20

KNOWN = tr(
    "Choose an export or a session of a known program (ChatGPT, Claude, Claude Code, Codex, Cursor, Gemini, OpenCode, aider, SpecStory, Cline, llm, Open WebUI, LibreChat, LM Studio, Cherry Studio, Zed, Grok, Copilot Chat, TypingMind, big-AGI, Jan, AnythingLLM, Google AI Studio, Continue, Goose, GitHub Copilot, Droid, pi, Amp, Crush, SillyTavern, llama.cpp), or a text file (.md, .txt)"
)
_ZIP = b"PK\x03\x04"

PIPE = "-"
"""Name of the standard input."""


class Origin(msgspec.Struct, frozen=True):
    """Origin of conversations: the file, its member in an archive, and the program that wrote it."""

    path: str
    kind: TranscriptKind
    member: str = ""

    @property
    def name(self) -> str:
        """The file's name for a person."""
        return PurePosixPath(self.member).name if self.member else Path(self.path).name


class OtherFile(msgspec.Struct, frozen=True):
    """A file that holds no conversation.

    Args:
        member: its name in an archive; is_knowledge: it holds instructions, documents or memories of a person.
    """

    path: str
    member: str = ""
    is_knowledge: bool = False
    offered: tuple[Offered, ...] = ()

    @property
    def name(self) -> str:
        """The file's name for a person, in an archive its own one."""
        return self.member or Path(self.path).name


class FileBegun(msgspec.Struct, frozen=True):
    """A file is read from here on. Once more where other files turn out to have a part in it.

    Args:
        marks: of it as it was opened; is_whole: False where its conversations hang on further files, so that it may stay as it
            is while they change.
    """

    path: Path
    marks: Marks
    is_whole: bool = True


class Unchanged(msgspec.Struct, frozen=True):
    """A file that an import before this one has read whole, and that did not change since. `faults`: what is wrong with it."""

    path: Path
    conversations: int
    faults: tuple[ImportFault, ...] = ()


Found = tuple[Origin, Transcript] | OtherFile | ImportFault | FileBegun | Unchanged
Known = Callable[[Path, "Marks"], Unchanged | None]
"""A file that did not change since it was read, None for all others."""


def conversations(
    given: tuple[str, ...], pipe: BinaryIO | None = None, known: Known = lambda _path, _marks: None
) -> Iterator[Found]:
    """Conversations of files and folders, one after another; what cannot be read is told, and the rest goes on.

    Args:
        given: paths of files and folders, `-` for `pipe`. A text file counts as a conversation where it is named itself.
    """
    for name in given:
        if name == PIPE:
            if pipe is not None:
                yield from _of_pipe(pipe)
            continue
        path = Path(name).expanduser()
        if path.is_dir():
            for file, about in walked(path):
                yield from _of_file(file, known, about)
        else:
            yield from _of_file(path, known)


def walked(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Files in a fixed order; links are not followed, hidden folders are passed over. A file is all that is at its path."""
    with suppress(OSError):
        if stat.S_ISREG((status := folder.stat()).st_mode):
            yield folder, status
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            with suppress(OSError):
                if stat.S_ISREG((status := path.lstat()).st_mode):
                    yield path, status


_SHOWN_NAME, _SENT_NAME = "ui_messages.json", "api_conversation_history.json"
"""Names of a task of Cline as its window showed it, and as its model was sent it."""
_ABOUT = late(r"(.+)\.(?:meta|settings)\.json$")


def _is_told_beside(path: Path) -> bool:
    """True for a file that only says more of a session whose own file stands beside it, as those of Claude Code and Droid do."""
    about = _ABOUT.match(path.name)
    own = f"{about[1]}.jsonl" if about is not None else _SENT_NAME if path.name == _SHOWN_NAME else ""
    return bool(own) and path.with_name(own).is_file()


def _of_file(path: Path, known: Known, walked_as: os.stat_result | None = None) -> Iterator[Found]:
    """Conversations of one file. `walked_as`: as a walk met it, None where it was named itself."""
    is_named = walked_as is None
    if not is_named and (_IN_STORAGE.search(path.as_posix()) is not None or _is_told_beside(path)):
        return
    try:
        has_log = log_beside(path) is not None
        before = None if has_log else known(path, _marks(path, walked_as or path.stat()))
        if before is not None and (before.conversations or not is_named):
            yield before
            return
        with open_file(path) as file:
            about = os.fstat(file.fileno())
            yield FileBegun(path=path, marks=_marks(path, about))
            if has_log:
                yield from _of_database(path, file, about.st_mtime)
            elif _is_stored(path):
                yield from _of_storage(path)
            elif zipfile.is_zipfile(file):
                yield from _of_archive(_Archive(str(path)), file)
            else:
                origin = Origin(path=str(path), kind=TranscriptKind.UNKNOWN)
                yield from _of_open(origin, file, is_named=is_named)
    except OddFileError as error:
        yield ImportFault(
            place=str(path), why=error.strerror or tr("this is not a file"), remedy=error.remedy
        )
    except zipfile.BadZipFile as error:
        yield ImportFault(
            place=str(path),
            why=tr("the archive is damaged: {error}", error=error),
            remedy=tr("Download the file again"),
        )
    except OSError as error:
        yield ImportFault(
            place=str(path),
            why=error.strerror or str(error),
            remedy=tr("Check that the file exists and that you may read it"),
        )


# A database whose program runs: what it wrote last stands in a log beside it.

_LOG, _READS = "-wal", 3
_DATABASES = frozenset({".db", ".sqlite", ".sqlite3"})


def log_beside(path: Path) -> os.stat_result | None:
    """The write-ahead log of a database, None if it is missing or empty."""
    if path.suffix not in _DATABASES:
        return None
    try:
        status = Path(f"{path}{_LOG}").lstat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) and status.st_size else None


def _of_database(path: Path, file: BinaryIO, changed: float) -> Iterator[Found]:
    """Conversations of a database and its log, read once more where the program began the log anew meanwhile."""
    data = log = b""
    for _ in range(_READS):
        file.seek(0)
        log, data = _log_of(path, MAX_DATABASE_BYTES), file.read(MAX_DATABASE_BYTES + 1)
        if _log_of(path, LOG_HEAD_BYTES) == log[:LOG_HEAD_BYTES]:
            break
    kind = recognised(data := with_log(data, log))
    origin = Origin(path=str(path), kind=kind)
    if kind is TranscriptKind.UNKNOWN:
        yield _unknown(origin, data, is_named=True)
        return
    yield from _told(origin, read_transcripts(kind, data), datetime.fromtimestamp(changed, UTC))


def _log_of(path: Path, most_bytes: int) -> bytes:
    try:
        with open_file(f"{path}{_LOG}") as file:
            return file.read(most_bytes)
    except OSError:
        return b""


# OpenCode before its database: a session, each of its messages and each part of them is a file of its own.

_STORED = late(r"/storage/session/[^/]+/ses_\w+\.json$")
_IN_STORAGE = late(r"/storage/(?:message/ses_\w+|part/msg_\w+)/\w+\.json$")
_MAX_STORED_BYTES = 64_000_000


def _is_stored(path: Path) -> bool:
    return _STORED.search(path.as_posix()) is not None


def _of_storage(path: Path) -> Iterator[Found]:
    """The session of a file, with its messages from the folders beside it."""
    messages, parts = path.parents[2] / "message" / path.stem, path.parents[2] / "part"
    told = [
        {"info": _stored(message), "parts": [_stored(part) for part, _ in walked(parts / message.stem)]}
        for message, _ in walked(messages)
    ]
    session = to_json({"info": _stored(path), "messages": told})
    origin = Origin(path=str(path), kind=TranscriptKind.OPENCODE)
    yield from _told(origin, read_transcripts(TranscriptKind.OPENCODE, session))


def _stored(path: Path) -> msgspec.Raw:
    """A file's JSON, an empty object where it holds none."""
    try:
        return from_json(read_file(path, _MAX_STORED_BYTES), msgspec.Raw)
    except (OSError, ValueError, RecursionError):
        return msgspec.Raw(b"{}")


def _of_open(
    origin: Origin, file: BinaryIO, *, is_named: bool, at: datetime | None = None
) -> Iterator[Found]:
    """Conversations of an open file, which is mapped: its size costs no memory. `at`: of a member of an archive."""
    about = os.fstat(file.fileno())
    if about.st_size == 0:
        yield OtherFile(path=origin.path, member=origin.member)
        return
    with _mapped(file) as data:
        kind = recognised(data, (origin.member or origin.path) if is_named else "")
        if kind is TranscriptKind.UNKNOWN:
            yield _unknown(origin, data, is_named=is_named)
            return
        changed = at or datetime.fromtimestamp(about.st_mtime, UTC)
        with ExitStack() as trunks:
            is_session = kind is TranscriptKind.CLAUDE_CODE and not is_named and not origin.member
            before, is_complete = _trunks(Path(origin.path), data, trunks) if is_session else ([], True)
            if not is_complete:
                path = Path(origin.path)
                yield FileBegun(path=path, marks=_marks(path, about), is_whole=False)
            found = read_transcripts(kind, data, before)
            yield from _told(msgspec.structs.replace(origin, kind=kind), found, changed)


_MOST_TRUNKS = 16


def _trunks(path: Path, data: mmap.mmap, opened: ExitStack) -> tuple[list[mmap.mmap], bool]:
    """Sessions beside a session's file that it was branched off from, where their rows are not in it; the first one first.

    False where one of them is not there: it may come later.
    """
    found: list[mmap.mmap] = []
    names = {path.stem}
    while (
        (name := branched_off(found[0] if found else data))
        and name not in names
        and len(found) < _MOST_TRUNKS
    ):
        names.add(name)
        try:
            file = opened.enter_context(open_file(path.with_name(f"{name}.jsonl"), follows_links=False))
            found.insert(0, opened.enter_context(_mapped(file)))
        except (OSError, ValueError):
            return found, False
    return found, True


def _unknown(origin: Origin, data: Buffer, *, is_named: bool) -> Found:
    """A file that holds no conversation: named for what it is where it belongs to an export."""
    head = bytes(data[:SHAPE_BYTES])
    if is_knowledge(head):
        told = knowledge_of(bytes(data[:MAX_KNOWLEDGE_BYTES]))
        return OtherFile(path=origin.path, member=origin.member, is_knowledge=True, offered=told)
    if _LINKS.search(head[:4096]) is not None and b'"mapping"' not in head:
        return ImportFault(
            place=_shown(origin),
            why=tr("the file lists the files of an export but contains none of them"),
            remedy=LINKED,
        )
    if is_named:
        why, remedy = _what(head)
        return ImportFault(place=_shown(origin), why=why, remedy=remedy)
    return OtherFile(path=origin.path, member=origin.member)


_LINKS = late(
    rb'"(?:files|archives|parts|exports)"\s*:\s*\[\s*\{[^\[\]]*?"(?:url|download_url|href|link)"\s*:'
)
LINKED = tr("Download the files that this file links to, and choose those")


def _what(head: bytes) -> tuple[str, str]:
    """Reason why a file that was named holds no conversation, and the remedy, by its first bytes."""
    if head.startswith(_ZIP):
        return tr("the archive is cut off: its table of contents, at its end, is missing"), EXPORT_AGAIN
    return tr("the file is not a conversation of a known program"), KNOWN


def _told(
    origin: Origin, found: Iterator[Transcript | Unread], at: datetime | None = None
) -> Iterator[Found]:
    """Conversations with where they come from. `at`: of the file, for those that say no date."""
    for one in found:
        if isinstance(one, Unread):
            yield ImportFault(
                place=joined(": ", filter(None, (_shown(origin), one.place))),
                why=one.why,
                remedy=one.remedy,
                is_cut=one.is_cut,
                file=_shown(origin),
            )
        elif one.at is None and at is not None and not any(said.at is not None for said in one.messages):
            yield origin, msgspec.structs.replace(one, at=at, is_undated=True)
        else:
            yield origin, one


def _of_pipe(pipe: BinaryIO) -> Iterator[Found]:
    """Conversations that come through a pipe: arrays one at a time, all else once it is whole."""
    start = pipe.read(SHAPE_BYTES)
    kind = recognised(start)
    kind = TranscriptKind.PLAIN if kind is TranscriptKind.UNKNOWN and start.strip() else kind
    if not start.strip():
        yield ImportFault(place=tr("standard input"), why=tr("no input came"))
        return
    yield from _told(Origin(path=PIPE, kind=kind), read_stream(kind, _Joined(start, pipe)))


class _Joined:
    """A stream whose first bytes were read already."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start, self._rest = start, rest

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        if size < 0:
            part, self._start = self._start, b""
            return part + self._rest.read()
        if not self._start:
            return self._rest.read(size)
        part, self._start = self._start[:size], self._start[size:]
        return part


class _Archive:
    """An archive, and those that it lies in. `left`: bytes that all of them may still unpack to."""

    def __init__(self, path: str, within: str = "", depth: int = 0, left: int | None = None) -> None:
        self.path, self.within, self.depth = path, within, depth
        self.left = MAX_ARCHIVE_BYTES if left is None else left

    def member(self, name: str) -> Origin:
        """A file of the archive, under its own name."""
        return Origin(path=self.path, kind=TranscriptKind.UNKNOWN, member=f"{self.within}{name}")


def _of_archive(outer: _Archive, file: BinaryIO) -> Iterator[Found]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        place = f"{outer.path}, {outer.within.removesuffix(', ')}" if outer.within else outer.path
        if problem := _problem(members, outer.left):
            yield ImportFault(
                place=place, why=problem, remedy=tr("Unpack the archive yourself and choose the files")
            )
            return
        is_empty = True
        for member in sorted(members, key=lambda one: one.filename):
            if member.is_dir():
                continue
            origin = outer.member(member.filename)
            ending = PurePosixPath(member.filename).suffix.lower()
            if ending not in _PACKED and ending != ".zip":
                yield OtherFile(path=outer.path, member=origin.member)
                continue
            is_empty = False
            if member.flag_bits & 0x1:
                yield ImportFault(
                    place=_shown(origin),
                    why=tr("the file is encrypted"),
                    remedy=tr("Unpack the archive with its password"),
                )
                continue
            yield from _of_member(archive, member, origin, outer)
        if is_empty:
            yield ImportFault(place=place, why=tr("no file in the archive can hold a conversation"))


def _of_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, origin: Origin, outer: _Archive
) -> Iterator[Found]:
    folder = paths.cache_dir()
    make_dirs(folder)
    with tempfile.TemporaryFile(dir=folder) as unpacked:  # nameless: gone with its reading, also after a kill
        try:
            is_whole = _unpack(archive, member, unpacked)
        except (
            zipfile.BadZipFile,
            EOFError,
            NotImplementedError,
            ValueError,
            RuntimeError,
            zlib.error,
        ) as error:
            yield ImportFault(
                place=_shown(origin),
                why=tr("the file cannot be unpacked: {error}", error=error),
                remedy=tr("Download the archive again"),
            )
            return
        if not is_whole:
            yield ImportFault(
                place=_shown(origin),
                why=tr("the file unpacks to more than the archive says"),
                remedy=tr("Do not unpack this archive: someone may have tampered with it"),
            )
            return
        unpacked.flush()
        if PurePosixPath(member.filename).suffix.lower() != ".zip":
            yield from _of_open(origin, unpacked, is_named=False, at=_member_time(member))
            return
        outer.left -= member.file_size
        inner = _Archive(outer.path, f"{origin.member}, ", outer.depth + 1, outer.left)
        if inner.depth > MAX_ARCHIVE_DEPTH or not zipfile.is_zipfile(unpacked):
            why = (
                tr("the file is not an archive")
                if inner.depth <= MAX_ARCHIVE_DEPTH
                else tr("the file is nested in too many archives")
            )
            yield ImportFault(
                place=_shown(origin), why=why, remedy=tr("Unpack the archive yourself and choose the files")
            )
            return
        try:
            yield from _of_archive(inner, unpacked)
        except zipfile.BadZipFile as error:
            yield ImportFault(
                place=_shown(origin),
                why=tr("the file is damaged: {error}", error=error),
                remedy=tr("Download the file again"),
            )
        outer.left = inner.left


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: BinaryIO) -> bool:
    """Unpack a member as far as it says that it goes. Returns whether that was all of it."""
    left = member.file_size
    with archive.open(member) as packed:
        while part := packed.read(_COPY_BYTES):
            left -= len(part)
            if left < 0:
                return False
            target.write(part)
    return True


def _member_time(member: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*member.date_time, tzinfo=UTC)
    except ValueError:
        return None


def _problem(members: list[zipfile.ZipInfo], left: int) -> str:
    """Sentence about an archive that is no export, before anything of it is unpacked; empty where all is well."""
    if len(members) > MAX_MEMBERS:
        return tr(
            "the archive holds {members:,} files, more than {MAX_MEMBERS:,}",
            members=len(members),
            MAX_MEMBERS=MAX_MEMBERS,
        )
    total = sum(one.file_size for one in members)
    if total > left:
        return tr("the archive unpacks to {total:,} bytes, more than {left:,}", total=total, left=left)
    for one in members:
        if one.file_size > RATIO_FROM_BYTES and one.file_size > MAX_RATIO * max(1, one.compress_size):
            return tr(
                "{name!r} in the archive unpacks to over {MAX_RATIO} times its size",
                name=PurePosixPath(one.filename).name,
                MAX_RATIO=MAX_RATIO,
            )
    return ""


@contextmanager
def _mapped(file: BinaryIO) -> Iterator[mmap.mmap]:
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        yield data
    finally:
        with suppress(BufferError):  # raw values of it are held somewhere: it goes with them
            data.close()


def _shown(origin: Origin) -> str:
    return f"{origin.path}, {origin.member}" if origin.member else origin.path


# Places that are followed: where known programs keep their sessions, and which of those a person said yes
# to.


def known_places(environ: Mapping[str, str], user: Path) -> tuple[KnownPlace, ...]:
    """Places of the programs that are known, there or not. `user`: the person's own folder."""
    from platformdirs import user_config_path

    def of(variable: str, otherwise: Path) -> Path:
        return Path(environ.get(variable) or otherwise).expanduser().absolute()

    data = of("XDG_DATA_HOME", user / ".local" / "share")
    llm = of("LLM_USER_PATH", user_config_path("io.datasette.llm", appauthor=False, roaming=True))
    found = (
        ("claude-code", "Claude Code", of("CLAUDE_CONFIG_DIR", user / ".claude") / "projects"),
        ("codex", "Codex CLI", of("CODEX_HOME", user / ".codex") / "sessions"),
        ("gemini", "Gemini CLI", of("GEMINI_CLI_HOME", user) / ".gemini" / "tmp"),
        ("opencode", "OpenCode", data / "opencode" / "opencode.db"),
        ("zed", "Zed", data / "zed" / "threads" / "threads.db"),
        ("goose", "Goose", data / "goose" / "sessions" / "sessions.db"),
        ("llm", "llm", llm / "logs.db"),
    )
    return tuple(KnownPlace(name=name, label=label, path=str(path)) for name, label, path in found)


def mark_of(places: Iterable[str]) -> str:
    """Mark of all files at these places, of their names, sizes and dates: the same as long as nothing came, grew or went."""
    digest = hashlib.sha256()
    for place in places:
        for path, about in walked(Path(place)):
            for one in filter(None, (about, log_beside(path))):
                digest.update(os.fsencode(path) + f"\0{one.st_size}\0{one.st_mtime_ns}\0".encode())
    return digest.hexdigest()


# Files that an import has read whole, so that the next one passes over what did not change since. Derived:
# it may be removed.

READERS = 5
"""Raised where readers find more in a file than before: then all files are read again."""

MAX_FILES = 200_000
MAX_MEMORY_BYTES = 200_000_000


class RememberedFile(msgspec.Struct, frozen=True):
    """A file at its last import, and the result of that import.

    Args:
        digest: of its bytes, SHA-256; conversations: in it, 0 for a file that holds none.
        discussion_ids: that they became, or were already.
        faults: what is wrong with it, in English: each import tells it.
    """

    marks: Marks
    digest: bytes
    conversations: int = 0
    discussion_ids: tuple[str, ...] = ()
    faults: tuple[ImportFault, ...] = ()


class _Kept(msgspec.Struct, frozen=True):
    version: str
    files: dict[str, RememberedFile]


class ImportMemory:
    """Files that were read before, by a hash of their names: no word of a person stands in it."""

    def __init__(self, home: Path) -> None:
        self._path = imports_file(home)
        self._files = self._loaded()
        self.is_changed = False

    def unchanged(self, path: Path, marks: Marks, is_there: Callable[[str], bool]) -> RememberedFile | None:
        """A file as it was read, None where it is another now, or a discussion of it is not here any more.

        Args:
            is_there: tells whether a discussion is here.
        """
        kept = self._files.get(_key(path))
        if kept is None or kept.marks[0] != marks[0] or not all(map(is_there, kept.discussion_ids)):
            return None
        if kept.marks == marks:
            return kept
        if _digest(path) != kept.digest:
            return None
        kept = msgspec.structs.replace(kept, marks=marks)
        self._keep(path, kept)
        return kept

    def remember(
        self,
        path: Path,
        marks: Marks,
        *,
        conversations: int,
        discussion_ids: tuple[str, ...],
        faults: Sequence[ImportFault],
    ) -> None:
        """Keep what came of a file that was read whole, unless it changed meanwhile."""
        digest = _digest(path)
        try:
            now = _marks(path, path.stat())
        except OSError:
            return
        if digest and now == marks:
            read = RememberedFile(
                marks=marks,
                digest=digest,
                conversations=conversations,
                discussion_ids=discussion_ids,
                faults=tuple(_in_english(one) for one in faults),
            )
            self._keep(path, read)

    def save(self) -> None:
        """Write it, where anything changed. What cannot be written costs the next import its time alone."""
        if self.is_changed:
            newest = dict(list(self._files.items())[-MAX_FILES:])
            make_dirs(self._path.parent)
            write_passing(self._path, to_msgpack(_Kept(version=_VERSION, files=newest)))
            self.is_changed = False

    def _keep(self, path: Path, read: RememberedFile) -> None:
        key = _key(path)
        self._files.pop(key, None)
        self._files[key] = read
        self.is_changed = True

    def _loaded(self) -> dict[str, RememberedFile]:
        try:
            kept = packed_decoder_of(_Kept).decode(read_file(self._path, MAX_MEMORY_BYTES))
        except (OSError, msgspec.DecodeError):
            return {}
        return dict(kept.files) if kept.version == _VERSION else {}


_VERSION = f"{__version__} {READERS}"


Marks = tuple[int, int, int, int]
"""Size, times (ns since 1970) and place of a file, of which a program that restores it cannot set all. A session of many files
has their sum in place of its first time.
"""


def _marks(path: Path, about: os.stat_result) -> Marks:
    changed = int.from_bytes(_beside(path)[:8]) >> 1 if _is_stored(path) else about.st_mtime_ns
    return about.st_size, changed, about.st_ctime_ns, about.st_ino


def _beside(session: Path) -> bytes:
    """SHA-256 of the names, sizes and times of the files that hold the messages of a session of OpenCode."""
    digest = hashlib.sha256()
    storage = session.parents[2]
    for name in _listed(storage / "message" / session.stem, digest):
        _listed(storage / "part" / name.removesuffix(".json"), digest)
    return digest.digest()


def _listed(folder: Path, digest: Any) -> list[str]:
    """Names of the files of a folder, in order, each noted in the digest with its size and times."""
    try:
        with os.scandir(folder) as found:
            files = sorted((one.name, one.stat(follow_symlinks=False)) for one in found)
    except OSError:
        return []
    for name, about in files:
        digest.update(
            f"{name}\0{about.st_size}\0{about.st_mtime_ns}\0{about.st_ctime_ns}\n".encode("utf-8", "replace")
        )
    return [name for name, _ in files]


def _in_english(fault: ImportFault) -> ImportFault:
    return msgspec.structs.replace(
        fault, place=english(fault.place), why=english(fault.why), remedy=english(fault.remedy)
    )


def told_again(fault: ImportFault) -> ImportFault:
    """A fault that was kept in English, in the language of now."""
    head, sep, rest = fault.place.rpartition(fault.file + ": ")
    return msgspec.structs.replace(
        fault, place=head + sep + retold(rest), why=retold(fault.why), remedy=retold(fault.remedy)
    )


def _key(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]


def _digest(path: Path) -> bytes:
    """SHA-256 of a file's bytes, empty where it cannot be read."""
    try:
        with open_file(path) as file:
            digest = hashlib.file_digest(file, "sha256")
        if _is_stored(path):
            digest.update(_beside(path))
        return digest.digest()
    except OSError:
        return b""
