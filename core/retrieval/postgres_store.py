"""The index on a PostgreSQL with pgvector, for a team or a corpus that outgrows this machine. Scores as the local one gives.

Terms are ours (`tokens.py`), kept as a `tsvector` with positions; BM25 is computed from document frequencies and
lengths by FTS5's formula; vectors are the same int8 numbers, as `halfvec`, which holds them exactly.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchFilters, SourceHead
from core.retrieval.chunker import embedded_text, keyword_text
from core.retrieval.embedding import DIMENSION, cosine
from core.retrieval.fusion import ChunkPlace
from core.retrieval.index_store import (
    BY_NAME,
    HOME_CORPORA,
    Scan,
    ServerFaultError,
    Shelf,
    SourceKey,
    SourceState,
    StoredChunk,
    asked_tag,
    folder_starts,
    joined_tags,
    tags_of,
)
from core.retrieval.local_store import fts_tokens
from core.retrieval.postgres_connection import (
    TABLES,
    Narrowing,
    ServerAddress,
    as_tsvector,
    best_chunks,
    best_vectors,
    bounded,
    bytes_of,
    connect,
    count_words,
    frequency,
    give_vectors,
    schema_name,
    uncount_words,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.retrieval.postgres_connection import Connection

T = TypeVar("T")

READ_S, WRITE_S, ERASE_S = 5.0, 60.0, 600.0
"""Longest wait for an answer, for a source to be written, and for tables to be written anew."""

AWAY_S = 15.0
"""Seconds for which a server that was away is not asked again."""

_CHUNK = 'c."row", c.first, c.last, c.heading, c.text, c.before, c.after, c.date, c.speaker'
_SOURCE = "s.scope, s.path, s.title, s.tags, s.date, s.description"


class PostgresStore:
    """One index on a server. Thread-safe: each thread has its connection; writers of one index wait for each other.

    Args:
        address: of the server; model: name of what makes its vectors; dimension: components of one.
        owner: of knowledge and discussions, which on a shared server belong to one person's home; one word.

    Raises, every method: ServerFaultError, within `CONNECT_S` and one of the waits above.
    """

    def __init__(
        self, address: ServerAddress, model: str, dimension: int = DIMENSION, *, owner: str = ""
    ) -> None:
        self._address, self._dimension, self._owner = address, dimension, owner
        self._schema = schema_name(model, dimension)
        self._own = threading.local()
        self._opened: list[Connection] = []
        self._lock = threading.Lock()
        self._away: tuple[float, ServerFaultError] | None = None

    @classmethod
    def of_schema(cls, address: ServerAddress, schema: str, owner: str) -> PostgresStore:
        """An existing index, for any model."""
        store = cls(address, "", owner=owner)
        store._schema = schema
        return store

    def ready(self) -> None:
        """Raise where the server is known to be away, or cannot be reached now."""
        with self._reading() as db:
            db.execute("SELECT 1")

    def sources(self, corpus: Corpus, scope: str) -> dict[str, SourceState]:
        """State of each source of a corpus by its path."""
        with self._reading() as db:
            rows = db.execute(
                'SELECT s.path, s.stamp, s.sha256, s.title, s.tags, s.date, s.description, count(c."row"),'
                " count(*) FILTER (WHERE NOT c.embedded)"
                " FROM source s LEFT JOIN chunk c ON c.corpus = s.corpus AND c.source = s.id"
                " WHERE s.corpus = %s AND s.scope = %s GROUP BY s.corpus, s.id",
                (corpus.value, self._scope(scope)),
            ).fetchall()
        return {
            path: SourceState(
                stamp=stamp,
                sha256=sha256,
                head=SourceHead(title=title, tags=tags_of(tags), date=date, description=about),
                chunks=chunks,
                bare=bare,
            )
            for path, stamp, sha256, title, tags, date, about, chunks, bare in rows
        }

    def put(
        self,
        key: SourceKey,
        state: SourceState,
        chunks: Sequence[Chunk],
        vectors: Mapping[str, bytes] | None = None,
    ) -> None:
        """Take a source with all its chunks; what it had before is gone. A text that it had before keeps its vector.

        Args:
            vectors: those that are known already, by the text that they were made of.
        """
        head, corpus = state.head, key.corpus.value
        values = [
            _kept(one)
            for one in (
                state.stamp,
                state.sha256,
                head.title,
                joined_tags(head.tags),
                head.date,
                head.description,
            )
        ]

        def work(db: Connection) -> None:
            kept = {_kept(text): vector for text, vector in (vectors or {}).items()}
            number = self._source(db, key)
            if number is None:
                row = db.execute(
                    "INSERT INTO source(corpus, scope, path, stamp, sha256, title, tags, date, description)"
                    " VALUES(%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id",
                    (corpus, self._scope(key.scope), _kept(key.path), *values),
                ).fetchone()
                assert row is not None
                number = int(row[0])
            else:
                for kind, heading, text, speaker, numbers in db.execute(
                    "SELECT c.kind, c.heading, c.text, c.speaker, v.numbers FROM chunk c"
                    ' JOIN vector v ON v.corpus = c.corpus AND v."row" = c."row" WHERE c.corpus = %s AND c.source = %s',
                    (corpus, number),
                ):
                    chunk = Chunk(
                        kind=ChunkKind(kind),
                        lines=LineRange(1, 1),
                        text=text,
                        heading=heading,
                        speaker=speaker,
                    )
                    kept[embedded_text(chunk)] = bytes_of(numbers)
                _drop_chunks(db, corpus, number)
                db.execute(
                    "UPDATE source SET stamp = %s, sha256 = %s, title = %s, tags = %s, date = %s, description = %s"
                    " WHERE corpus = %s AND id = %s",
                    (*values, corpus, number),
                )
            _add(db, corpus, number, chunks, kept)

        self._write(work)

    def touch(self, key: SourceKey, stamp: str) -> None:
        """Note that a source was checked and is unchanged."""
        self._write(
            lambda db: db.execute(
                "UPDATE source SET stamp = %s WHERE corpus = %s AND scope = %s AND path = %s",
                (stamp, key.corpus.value, self._scope(key.scope), _kept(key.path)),
            )
        )

    def remove(self, keys: Iterable[SourceKey]) -> int:
        """Take sources out. The number of those that were there."""

        def work(db: Connection) -> int:
            removed = 0
            for key in keys:
                number = self._source(db, key)
                if number is not None:
                    _drop_chunks(db, key.corpus.value, number)
                    db.execute("DELETE FROM source WHERE corpus = %s AND id = %s", (key.corpus.value, number))
                    removed += 1
            return removed

        return self._write(work)

    def forget(self, keys: Iterable[SourceKey], corpora: Iterable[Corpus] = ()) -> int:
        """Take sources out so that no word of theirs stays in a table. The number of those that were there.

        The tables are written anew; what the server keeps besides (its journal, copies) is its keeper's.

        Args:
            corpora: those whose tables are written anew in any case, for what was taken out of them before.
        """
        keys = tuple(keys)
        removed = self.remove(keys)
        with self._bounded(ERASE_S) as db:
            for corpus in dict.fromkeys(one.value for one in (*corpora, *(key.corpus for key in keys))):
                for table in TABLES:
                    db.execute(f"VACUUM (FULL) {table}_{corpus}".encode())
        return removed

    def analyse(self, corpus: Corpus) -> None:
        """Have the server count a corpus, as it does by itself some time: until then it plans every search badly."""
        with self._bounded(ERASE_S) as db:
            for table in TABLES:
                db.execute(f"VACUUM (ANALYZE) {table}_{corpus.value}".encode())

    def bare(self, count: int) -> list[tuple[ChunkPlace, Chunk]]:
        """Up to `count` chunks that have no vector yet."""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT c.corpus, c.kind, {_CHUNK} FROM chunk c WHERE NOT c.embedded"
                ' ORDER BY c.corpus, c."row" LIMIT %s',
                (count,),
            ).fetchall()
        found = []
        for corpus, kind, *row in rows:
            shelf = Shelf(Corpus(corpus), ChunkKind(kind))
            found.append(
                (ChunkPlace(shelf=shelf.name, row=row[0], path="", line=row[1]), _chunk(shelf.kind, row))
            )
        return found

    def is_bare(self, shelves: Iterable[Shelf], scopes: Sequence[str]) -> bool:
        """True if a chunk of these shelves that counts in the scopes has no vector yet."""
        bare = (
            "SELECT 1 FROM chunk c JOIN source s ON s.corpus = c.corpus AND s.id = c.source"
            " WHERE NOT c.embedded AND c.corpus = %s AND c.kind = %s AND s.scope = ANY(%s) LIMIT 1"
        )
        with self._reading() as db:
            for shelf in shelves:
                allowed = [self._scope(one) for one in _allowed(shelf, scopes)]
                if db.execute(bare, (shelf.corpus.value, shelf.kind.value, allowed)).fetchone() is not None:
                    return True
        return False

    def give(self, vectors: Mapping[ChunkPlace, bytes]) -> None:
        """Give chunks their vectors; those that are gone are passed over."""
        rows = [(*BY_NAME[place.shelf], place.row, vector) for place, vector in vectors.items()]

        self._write(lambda db: give_vectors(db, rows))

    def keyword(
        self, shelf: Shelf, terms: Sequence[str], scopes: Sequence[str], filters: SearchFilters, count: int
    ) -> dict[ChunkPlace, float]:
        """BM25 of the best chunks with any of the terms, higher is better."""
        said = Counter(map(tuple, fts_tokens().of_each(terms)))
        said.pop((), None)
        if not said:
            return {}
        with self._reading() as db:
            rows = best_chunks(db, shelf, said, self._narrowed(shelf, scopes, filters), count)
        return {
            self._place(shelf, row, line, scope, path): float(score) for row, score, line, path, scope in rows
        }

    def frequency(self, shelf: Shelf, term: str, most: int) -> int:
        """Chunks of a shelf that hold a term, counted up to `most`."""
        with self._reading() as db:
            return frequency(db, shelf, term, most)

    def vector(
        self,
        shelf: Shelf,
        query: NDArray[np.int8],
        scopes: Sequence[str],
        filters: SearchFilters,
        count: int,
        also: Iterable[ChunkPlace],
    ) -> Scan:
        """Cosines of the best chunks, and of `also`."""
        with self._reading() as db:
            rows = best_vectors(
                db, shelf, query, self._narrowed(shelf, scopes, filters), count, [one.row for one in also]
            )
        scores = {
            self._place(shelf, row, line, scope, path): cosine(int(dot))
            for row, dot, line, path, scope, _ in rows
        }
        return Scan(scores, cosine(int(rows[0][5])) if rows else 0.0)

    def read(self, candidates: Iterable[ChunkPlace]) -> dict[ChunkPlace, StoredChunk]:
        """Chunks as they were stored; those that are gone are missing."""
        wanted: dict[Shelf, dict[int, ChunkPlace]] = defaultdict(dict)
        for one in candidates:
            wanted[BY_NAME[one.shelf]][one.row] = one
        found: dict[ChunkPlace, StoredChunk] = {}
        with self._reading() as db:
            for shelf, places in wanted.items():
                for row in db.execute(
                    f"SELECT {_CHUNK}, {_SOURCE} FROM chunk c JOIN source s ON s.corpus = c.corpus AND s.id = c.source"
                    ' WHERE c.corpus = %s AND c.kind = %s AND c."row" = ANY(%s)',
                    (shelf.corpus.value, shelf.kind.value, list(places)),
                ):
                    scope, path, title, tags, date, about = row[9:]
                    found[places[row[0]]] = StoredChunk(
                        source=SourceKey(corpus=shelf.corpus, scope=self._said_scope(scope), path=path),
                        head=SourceHead(title=title, tags=tags_of(tags), date=date, description=about),
                        chunk=_chunk(shelf.kind, row[:9]),
                    )
        return found

    def count(self, shelf: Shelf) -> int:
        """Chunks of a shelf."""
        with self._reading() as db:
            row = db.execute(
                "SELECT chunks FROM shelf WHERE corpus = %s AND kind = %s",
                (shelf.corpus.value, shelf.kind.value),
            ).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Let the connections go."""
        with self._lock:
            for db in self._opened:
                db.close()
            self._opened.clear()
            self._own = threading.local()

    def _scope(self, scope: str) -> str:
        """Scope as it is stored: what belongs to a home has its owner's."""
        return _kept(scope) if scope else f"\n{self._owner}"

    def _said_scope(self, stored: str) -> str:
        return "" if stored.startswith("\n") else stored

    def _place(self, shelf: Shelf, row: int, line: int, scope: str, path: str) -> ChunkPlace:
        key = SourceKey(corpus=shelf.corpus, scope=self._said_scope(scope), path=path)
        return ChunkPlace(shelf=shelf.name, row=row, path=key.text, line=line)

    def _source(self, db: Connection, key: SourceKey) -> int | None:
        row = db.execute(
            "SELECT id FROM source WHERE corpus = %s AND scope = %s AND path = %s",
            (key.corpus.value, self._scope(key.scope), _kept(key.path)),
        ).fetchone()
        return None if row is None else int(row[0])

    def _narrowed(self, shelf: Shelf, scopes: Sequence[str], filters: SearchFilters) -> Narrowing:
        allowed = _allowed(shelf, scopes)
        values: dict[str, object] = {"scopes": [self._scope(one) for one in allowed]}
        parts, dates = ["s.scope = ANY(%(scopes)s)"], []
        if filters.folder.strip("/"):
            below = []
            for number, (scope, start) in enumerate(folder_starts(filters.folder, allowed)):
                within = f"s.scope = %(scope{number})s AND " if scope else ""
                below.append(f"({within}starts_with(s.path, %(start{number})s))")
                values |= {f"scope{number}": self._scope(scope), f"start{number}": _kept(start)}
            parts.append(f"({' OR '.join(below)})")
        if filters.tag:
            parts.append("strpos(s.tags, %(tag)s) > 0")
            values["tag"] = f"\n{_kept(asked_tag(filters.tag))}\n"
        if filters.but:
            parts.append("s.path <> ALL(%(but)s)")
            values["but"] = [_kept(one) for one in filters.but]
        for name, sign, day in (("after", ">=", filters.after), ("before", "<=", filters.before)):
            if day:
                dates.append(
                    f" AND (c.date <> '' AND c.date {sign} %({name})s OR c.date = '' AND c.source IN (SELECT d.id"
                    f" FROM source d WHERE d.corpus = %(corpus)s AND d.date <> '' AND d.date {sign} %({name})s))"
                )
                values[name] = _kept(day)
        sources = f"IN (SELECT s.id FROM source s WHERE s.corpus = %(corpus)s AND {' AND '.join(parts)})"
        return Narrowing(sources=sources, dates="".join(dates), values=values)

    def _connection(self) -> Connection:
        """This thread's connection, a new one where it is broken."""
        db: Connection | None = getattr(self._own, "db", None)
        if db is None or db.closed:
            if self._away is not None and time.monotonic() < self._away[0]:
                raise self._away[1]
            try:
                db = connect(self._address, self._schema, self._dimension)
            except ServerFaultError as error:
                self._away = time.monotonic() + AWAY_S, error
                raise
            self._away = None
            with self._lock:
                self._opened = [one for one in self._opened if not one.closed] + [db]
            self._own.db = db
        return db

    @contextmanager
    def _bounded(self, seconds: float) -> Iterator[Connection]:
        db = self._connection()
        with bounded(db, self._address, seconds):
            yield db

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._bounded(READ_S) as db:
            yield db

    def _write(self, work: Callable[[Connection], T]) -> T:
        with self._bounded(WRITE_S) as db, db.transaction():
            # Writers of one index wait for each other: the counts of a shelf are one row.
            db.execute("LOCK TABLE shelf IN SHARE ROW EXCLUSIVE MODE")
            return work(db)


def _drop_chunks(db: Connection, corpus: str, source: int) -> None:
    uncount_words(db, corpus, source)
    db.execute(
        "DELETE FROM vector v USING chunk c WHERE v.corpus = %(corpus)s AND c.corpus = %(corpus)s"
        ' AND c.source = %(source)s AND v."row" = c."row"',
        {"corpus": corpus, "source": source},
    )
    rows = db.execute(
        "WITH gone AS (DELETE FROM chunk WHERE corpus = %s AND source = %s RETURNING kind, size)"
        " SELECT kind, count(*), sum(size) FROM gone GROUP BY kind",
        (corpus, source),
    ).fetchall()
    for kind, chunks, tokens in rows:
        _count(db, corpus, kind, -chunks, -tokens)


def _count(db: Connection, corpus: str, kind: str, chunks: int, tokens: int) -> None:
    db.execute(
        "UPDATE shelf SET chunks = chunks + %s, tokens = tokens + %s WHERE corpus = %s AND kind = %s",
        (chunks, tokens, corpus, kind),
    )


def _add(
    db: Connection, corpus: str, source: int, chunks: Sequence[Chunk], kept: Mapping[str, bytes]
) -> None:
    numbers = db.execute("SELECT nextval('numbers') FROM generate_series(1, %s)", (len(chunks),)).fetchall()
    rows, vectors = [], []
    sizes: Counter[str] = Counter()
    having: Counter[tuple[str, str]] = Counter()
    tokens = fts_tokens()
    for (number,), chunk in zip(numbers, chunks, strict=True):
        found = tokens.of(keyword_text(chunk))
        words, often = as_tsvector(found)
        kind, vector = chunk.kind.value, kept.get(_kept(embedded_text(chunk)))
        texts = (chunk.heading, chunk.text, chunk.before, chunk.after, chunk.date, chunk.speaker)
        rows.append(
            (
                corpus,
                number,
                kind,
                source,
                chunk.lines.first,
                chunk.lines.last,
                *map(_kept, texts),
                len(found),
                words,
                often,
            )
        )
        sizes[kind] += len(found)
        having.update((kind, term) for term in set(found))
        if vector is not None:
            vectors.append((corpus, kind, int(number), vector))
    with db.cursor() as cursor:
        cursor.executemany(
            'INSERT INTO chunk(corpus, "row", kind, source, first, last, heading, text, before, after, date, speaker, embedded,'
            " size, words, often) VALUES(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, false, %s, %s::tsvector, %s)",
            rows,
        )
    count_words(db, corpus, having)
    give_vectors(db, vectors)
    for kind, count in Counter(chunk.kind.value for chunk in chunks).items():
        _count(db, corpus, kind, count, sizes[kind])


def _kept(text: str) -> str:
    """A text as PostgreSQL keeps it: it has no NUL."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _chunk(kind: ChunkKind, row: Sequence[Any]) -> Chunk:
    _, first, last, heading, text, before, after, date, speaker = row
    return Chunk(
        kind=kind,
        lines=LineRange(first, last),
        text=text,
        heading=heading,
        before=before,
        after=after,
        date=date,
        speaker=speaker,
    )


def _allowed(shelf: Shelf, scopes: Sequence[str]) -> Sequence[str]:
    """Scopes in which chunks of a shelf count."""
    return ("",) if shelf.corpus in HOME_CORPORA else scopes
