"""Derived table of the last sync, in the cache's folder: files by their hash and items by theirs. Safe to delete."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from core.base import paths
from core.base.decoders import packed_decoder_of
from core.base.disk import make_dirs, write_passing
from core.base.errors import StorageError
from core.base.opener import BOOK_BYTES, read_file
from core.values.facts import FactProblem

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
_encode = msgspec.msgpack.Encoder().encode


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
