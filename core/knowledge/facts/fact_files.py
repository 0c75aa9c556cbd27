"""Files of facts on disk: which there are, their bytes, and the folder's own two files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.codecs import msgpack_encoder, packed_decoder_of
from core.kernel.disk import OS_DISK, Disk, create_file, make_dirs, reported, write_file, write_passing
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.opener import BOOK_BYTES, OddFileError, read_file, read_start
from core.kernel.values.facts import FactProblem
from core.knowledge.facts.fact_checks import (
    FOLDERS,
    GLOBAL_FOLDER,
    GLOBAL_STEMS,
    INDEX_FILE,
    SCHEMA_FILE,
    place_of,
)
from core.knowledge.facts.fact_index import total_facts

MAX_FILE_BYTES = 64_000_000
"""Largest file of facts that the program reads: people edit no larger one."""

_HEAD_BYTES = 400


class StoredFile(msgspec.Struct, frozen=True):
    """A file as it stands on disk. `problem`: why it cannot be read, empty when all is well."""

    data: bytes = b""
    size_bytes: int = 0
    mtime_ns: int = 0
    sha256: str = ""
    problem: str = ""


class StoredFiles(msgspec.Struct, frozen=True):
    """All files of facts, by name below the knowledge directory; `problems`: names that hold none."""

    files: Mapping[str, StoredFile]
    problems: tuple[FactProblem, ...] = ()


def read_files(home: Path) -> StoredFiles:
    """Read every file of facts. One that cannot be read says why, and the others are there.

    Raises:
        StorageError: a folder cannot be listed.
    """
    directory = paths.knowledge_dir(home)
    found: dict[str, StoredFile] = {}
    problems = []
    for folder in FOLDERS:
        for name in _names(directory / folder):
            path = f"{folder}/{name}"
            if place_of(path) is None:
                problems.append(FactProblem(file=path, line=1, text=_misnamed(folder)))
            else:
                found[path] = read_stored(directory / path)
    return StoredFiles(found, tuple(problems))


def read_stored(path: Path) -> StoredFile:
    """Read a file with its hash; total."""
    try:
        status = path.stat()
        data = read_file(path, MAX_FILE_BYTES)
    except OddFileError as error:
        return StoredFile(problem=str(error.strerror))
    except OSError as error:
        return StoredFile(problem=tr("the file cannot be read: {reason}", reason=error.strerror or error))
    return StoredFile(
        data=data,
        size_bytes=status.st_size,
        mtime_ns=status.st_mtime_ns,
        sha256=hashlib.sha256(data).hexdigest(),
    )


def index_path(home: Path) -> Path:
    """`index.json` of a home."""
    return paths.knowledge_dir(home) / INDEX_FILE


def read_index_bytes(home: Path) -> bytes:
    """The bytes of the index, empty if there is no index.

    Raises:
        StorageError: it is there and cannot be read.
    """
    path = index_path(home)
    with reported("read", path):
        try:
            return read_file(path, BOOK_BYTES)
        except FileNotFoundError:
            return b""


def fact_count(home: Path) -> int:
    """Facts in the index, by its first line; 0 where there is none or somebody else wrote it."""
    try:
        return total_facts(read_start(index_path(home), _HEAD_BYTES))
    except OSError:
        return 0


def write_index(home: Path, data: bytes, *, disk: Disk = OS_DISK) -> None:
    """Replace the index. Raises StorageError: the old one stands."""
    make_dirs(paths.knowledge_dir(home), disk=disk)
    write_file(index_path(home), data, disk=disk)


def ensure_schema(home: Path, *, disk: Disk = OS_DISK) -> None:
    """Have `SCHEMA.md` in the knowledge directory; one that is there stays as it is. The next sync tries again."""
    path = paths.knowledge_dir(home) / SCHEMA_FILE
    if os.path.lexists(path):
        return
    with suppress(StorageError):
        make_dirs(path.parent, disk=disk)
        create_file(path, files("core.knowledge.facts").joinpath(SCHEMA_FILE).read_bytes(), disk=disk)


def watch_paths(home: Path) -> tuple[str, ...]:
    """Absolute paths whose change calls for a sync: the folders, the files that are there, and the index. Never fails."""
    directory = paths.knowledge_dir(home)
    found = [str(directory / INDEX_FILE)]
    for folder in FOLDERS:
        found.append(str(directory / folder))
        with suppress(StorageError):
            found += [str(directory / folder / name) for name in _names(directory / folder)]
    return tuple(found)


def _names(folder: Path) -> list[str]:
    with reported("read", folder):
        try:
            names = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
    return sorted(name for name in names if name.endswith((".yaml", ".yml")) and not name.startswith("."))


def _misnamed(folder: str) -> str:
    if folder == GLOBAL_FOLDER:
        return tr(
            "the program reads no facts from this file: {GLOBAL_FOLDER}/ holds only {GLOBAL_STEMS}, each .yaml",
            GLOBAL_FOLDER=GLOBAL_FOLDER,
            GLOBAL_STEMS=", ".join(GLOBAL_STEMS),
        )
    return tr(
        "the program reads no facts from this file. Name the file after a domain (a-z, 0-9, . _ -) with .yaml, not `global`"
    )


# Derived table of the last sync, in the cache's folder: files by their hash and items by theirs. Safe to
# delete.

VERSION = 1
RULES = 1
"""Rules by which files are judged and rows written: what a sync of others left is settled anew."""

ItemHashes = list[tuple[str, bytes]]
"""Ids with `content_hash` of what the sync saw, empty for an item that was broken."""


class FileMemory(msgspec.Struct, frozen=True):
    """A file as the last sync read it. `items`: encoded, read where they are needed."""

    size_bytes: int
    mtime_ns: int
    sha256: str
    items: msgspec.Raw
    problems: tuple[FactProblem, ...] = ()

    @property
    def hashes(self) -> dict[str, bytes]:
        """The items by id."""
        return dict(_items(self.items))


class SyncTable(msgspec.Struct, frozen=True):
    """Content that the last sync saw.

    Args:
        index_sha256: of `index.json` as it was left; day: of the sync; fresh_until: the last day on which no further
            fact is stale; past: stamp of the ledger and the logs;
            told_at: the time of the sync, ISO 8601 UTC; rules: `RULES` of it.
        files: by name; highest: numbers given, by `domain:category`; problems: of no one file.
    """

    version: int = 0
    index_sha256: str = ""
    day: str = ""
    fresh_until: str = ""
    past: str = ""
    told_at: str = ""
    rules: int = 0
    files: Mapping[str, FileMemory] = msgspec.field(default_factory=dict)
    highest: Mapping[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[FactProblem, ...] = ()


_items = packed_decoder_of(ItemHashes).decode
_encode = msgpack_encoder().encode


def item_hashes(items: ItemHashes) -> msgspec.Raw:
    """Items as a `FileMemory` holds them."""
    return msgspec.Raw(_encode(items))


def read_table(home: Path) -> SyncTable | None:
    """The table of a home, None where there is none that can be read."""
    try:
        table = packed_decoder_of(SyncTable).decode(read_file(paths.facts_file(home), BOOK_BYTES))
        return table if table.version == VERSION else None
    except (OSError, msgspec.DecodeError, ValueError):
        return None


def write_table(home: Path, table: SyncTable) -> None:
    """Keep the table. One that cannot be kept costs the next sync its time, and nothing else."""
    path = paths.facts_file(home)
    with suppress(StorageError):
        make_dirs(path.parent)
        write_passing(path, _encode(msgspec.structs.replace(table, version=VERSION)))
