"""Words of a home leave its index: in place where that can be seen done, else with the whole index; and leave a server."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from core.base import paths
from core.base.decoders import from_json
from core.base.disk import OS_DISK, Disk, make_dirs, remove_file, write_file
from core.base.opener import BOOK_BYTES, read_file
from core.retrieval.index_file import FILE_NAME, IndexFaultError, delete_index, stored_model
from core.retrieval.local_store import LocalStore
from core.retrieval.mirror import stores_of_home
from core.retrieval.sources import find_sources
from core.retrieval.store import HOME_CORPORA, ServerFaultError, SourceKey, SourceState, VectorStore
from core.values.retrieval import Corpus, SearchPlaces

TURN_S = 150.0
"""Longest wait for a run that reads a file, or has its passages embedded (`EMBED_S` at most)."""

_DEBTS, _DEBT = "forgetting", ".server.json"


class ServerDebt(msgspec.Struct, frozen=True):
    """A forgetting that a server was not told of yet. It holds no words.

    Args:
        id: of the forgetting; url: of the server; discussion_ids: conversations that went.
    """

    id: str
    url: str
    discussion_ids: tuple[str, ...] = ()


def erase_in_index(home: Path, discussion_ids: Collection[str]) -> tuple[int, bool]:
    """Take conversations that went, and knowledge as it stood before, out of each index on this machine, words and vectors.

    A run under way waits meanwhile: what it has read is not written afterwards. An index in which that cannot be done is
    deleted whole, and made anew from the files.

    Returns:
        How many sources went, and whether a whole index did.

    Raises:
        OSError: it could be neither erased nor deleted.
    """
    each = [_erase_in(folder, home, discussion_ids) for folder in paths.index_dirs(home)]
    return sum(count for count, _ in each), any(is_whole for _, is_whole in each)


def _erase_in(folder: Path, home: Path, discussion_ids: Collection[str]) -> tuple[int, bool]:
    try:
        model = stored_model(folder)
        if model is not None:
            store = LocalStore(folder, *model)
            with closing(store), store.turn(TURN_S):
                return store.forget(gone_keys(home, _states(store), discussion_ids)), False
    except (IndexFaultError, sqlite3.Error):
        pass  # it goes whole
    count = sum(1 for path in folder.iterdir() if path.name == FILE_NAME or path.suffix == ".i8")
    delete_index(folder)
    return count, True


def gone_keys(
    home: Path, known: Iterable[tuple[SourceKey, SourceState]], discussion_ids: Collection[str]
) -> list[SourceKey]:
    """Sources of a home that an index holds, and that are not there any more as it read them.

    A log only grows: of one that is there nothing is gone, unless it is named.
    """
    places = SearchPlaces(corpora=HOME_CORPORA)
    now = {
        file.key: file.stamp
        for corpus in HOME_CORPORA
        for found in find_sources(home, places, corpus)
        for file in found.files
    }
    return [
        key
        for key, state in known
        if key not in now
        or (key.path in discussion_ids if key.corpus is Corpus.DISCUSSIONS else now[key] != state.stamp)
    ]


def tell_server(home: Path, debt: ServerDebt, *, disk: Disk = OS_DISK) -> tuple[int, str]:
    """Take what went out of a server's tables; what cannot be done now is owed until it is, over restarts too.

    Returns:
        How many sources went, and why the server is told later, empty where it was told.

    Raises:
        StorageError: it was not told, and that could not be noted.
    """
    path = _path(home, debt)
    if not path.exists():
        make_dirs(path.parent, disk=disk)
        write_file(path, msgspec.json.encode(debt), disk=disk)
    count = 0
    try:
        for store in stores_of_home(home, debt.url):
            with closing(store):
                count += store.forget(gone_keys(home, _states(store), debt.discussion_ids), HOME_CORPORA)
    except ServerFaultError as error:
        return 0, error.what
    remove_file(path, disk=disk)
    return count, ""


def owed(home: Path) -> Iterator[ServerDebt]:
    """Forgettings that a server was not told of yet."""
    for path in sorted((home / _DEBTS).glob(f"*{_DEBT}")):
        with suppress(OSError, msgspec.MsgspecError):
            yield from_json(read_file(path, BOOK_BYTES), ServerDebt)


def pay(home: Path, *, disk: Disk = OS_DISK) -> tuple[str, ...]:
    """Tell servers what they were not told yet. Returns the forgettings that they know now, by id. Raises StorageError."""
    paid, away = [], set[str]()
    for debt in owed(home):
        if debt.url not in away:
            _, why = tell_server(home, debt, disk=disk)
            if why:
                away.add(debt.url)
            else:
                paid.append(debt.id)
    return tuple(paid)


def _states(store: VectorStore) -> Iterator[tuple[SourceKey, SourceState]]:
    for corpus in HOME_CORPORA:
        for path, state in store.sources(corpus, "").items():
            yield SourceKey(corpus, "", path), state


def _path(home: Path, debt: ServerDebt) -> Path:
    return home / _DEBTS / f"{debt.id}{_DEBT}"
