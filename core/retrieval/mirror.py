"""The index on a server brought to what the one on this machine says: nothing is read or embedded a second time."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from core.providers.key_names import SERVER_KEY
from core.providers.keys import KeyStore
from core.retrieval.chunker import embedded_text
from core.retrieval.counts import scopes
from core.retrieval.local_store import LocalStore
from core.retrieval.postgres_connection import ServerAddress, index_schemas
from core.retrieval.postgres_store import PostgresStore
from core.retrieval.store import ServerFaultError, SourceKey, SourceState
from core.values.retrieval import IndexProgress, SearchPlaces

_MUCH = 10
"""Share of the sources, one in so many, from which on what was written is counted anew by the server."""


def server_store(home: Path, url: str, model: str, dimension: int) -> PostgresStore:
    """The index on a server, its password from the keyring. Nothing is reached yet."""
    return PostgresStore(_address(home, url), model, dimension, owner=_owner(home))


def stores_of_home(home: Path, url: str) -> Iterator[PostgresStore]:
    """Every index that a server has of a home, one for each model that was ever in use. Raises ServerFaultError."""
    for schema in index_schemas(_address(home, url)):
        yield PostgresStore.of_schema(_address(home, url), schema, _owner(home))


def _address(home: Path, url: str) -> ServerAddress:
    def find() -> str:
        return KeyStore(home).find(SERVER_KEY, ()).value

    return ServerAddress(url, find)


def _owner(home: Path) -> str:
    return hashlib.sha256(f"{socket.gethostname()}\0{home.resolve()}".encode()).hexdigest()[:16]


def mirror(
    here: LocalStore,
    server: PostgresStore,
    places: SearchPlaces,
    on_progress: Callable[[IndexProgress], None] = lambda _: None,
    *,
    is_anew: bool = False,
) -> str:
    """Bring the server to what this machine's index says. Why it could not be, empty where it could.

    Args:
        is_anew: also what the server has already.

    Raises:
        SlopError: the index here cannot be read, or `on_progress` stopped it; what is done stays done.
    """
    try:
        for corpus, scope in scopes(places):
            ours, theirs = here.sources(corpus, scope), server.sources(corpus, scope)
            server.remove(SourceKey(corpus, scope, path) for path in theirs.keys() - ours.keys())
            written = 0
            for done, (path, state) in enumerate(sorted(ours.items())):
                if not is_anew and _is_same(state, theirs.get(path)):
                    continue
                on_progress(IndexProgress(done, len(ours), doing=path))
                key = SourceKey(corpus, scope, path)
                with here.turn():  # what is forgotten meanwhile does not follow the word that it is
                    chunks = here.chunks(key)
                    if chunks or not state.chunks:
                        vectors = {
                            embedded_text(chunk): vector for chunk, vector in chunks if vector is not None
                        }
                        server.put(key, state, [chunk for chunk, _ in chunks], vectors)
                        written += 1
            if written * _MUCH >= len(ours) > 0:
                server.analyse(corpus)
    except ServerFaultError as error:
        return error.what
    return ""


def _is_same(ours: SourceState, theirs: SourceState | None) -> bool:
    return theirs is not None and (ours.sha256, ours.head, ours.chunks, ours.bare) == (
        theirs.sha256,
        theirs.head,
        theirs.chunks,
        theirs.bare,
    )
