"""The index on this machine: SQLite with FTS5, vectors in flat files beside it, and its rows as values. A cache."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.kernel.disk import OS_DISK, Disk, make_dirs
from core.kernel.language import tr
from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchFilters, SourceHead
from core.kernel.words import TOKENIZER, fts_expression
from core.retrieval.chunker import embedded_text, keyword_text
from core.retrieval.embedding import DIMENSION
from core.retrieval.fusion import ChunkPlace
from core.retrieval.index_file import (
    FILE_NAME,
    TORN_NAME,
    Connections,
    IndexFaultError,
    RowError,
    erase_words,
    fault_of,
    identity_of,
    note_reading,
    note_torn,
    open_index,
    taken_turn,
)
from core.retrieval.index_store import (
    BY_NAME,
    SHELVES,
    Scan,
    Shelf,
    SourceKey,
    SourceState,
    StoredChunk,
    asked_tag,
    folder_starts,
    joined_tags,
    tags_of,
)
from core.retrieval.nearness import Scale
from core.retrieval.vectors import VectorFile, mark_of

# Rows of the index on this machine as values: a file that was torn gives figures for texts, and nothing for
# either.

_AT_ONCE = 500
"""Rows that one statement asks for."""


def require_dense(db: sqlite3.Connection, shelf: Shelf) -> None:
    """Raise RowError where a row of a shelf is numbered higher than any was: its vector would lie anywhere."""
    most, count = db.execute(f"SELECT max(row), count(*) FROM chunk_{shelf.name}").fetchone()
    free, least = db.execute(f"SELECT count(*), min(row) FROM free_{shelf.name}").fetchone()
    if (most or 0) > count + free or (1 if least is None else least) < 1:
        raise RowError(f"row {most} of {count + free}")


def stored_chunk(kind: ChunkKind, row: Sequence[object]) -> Chunk:
    """A chunk from its columns. Raises RowError."""
    _, _, first, last, heading, text, before, after, date, speaker, _ = row
    return Chunk(
        kind=kind,
        lines=LineRange(whole(first), whole(last)),
        text=said(text),
        heading=said(heading),
        before=said(before),
        after=said(after),
        date=said(date),
        speaker=said(speaker),
    )


def stored_head(title: object, tags: object, date: object, description: object) -> SourceHead:
    """Head of a source from its columns. Raises RowError."""
    return SourceHead(
        title=said(title), tags=tags_of(said(tags)), date=said(date), description=said(description)
    )


def stored_state(row: Sequence[object], chunks: int, bare: int) -> SourceState:
    """State of a source from its stamp, its hash, its head and its problem. Raises RowError."""
    stamp, sha256, title, tags, date, description, problem = row
    head = stored_head(title, tags, date, description)
    return SourceState(
        stamp=said(stamp), sha256=said(sha256), head=head, chunks=chunks, bare=bare, problem=said(problem)
    )


def said(value: object) -> str:
    """A text of a row. Raises RowError."""
    if not isinstance(value, str):
        raise RowError(f"a text is {value!r:.40}")
    return value


def whole(value: object) -> int:
    """A whole number of a row. Raises RowError."""
    if not isinstance(value, int):
        raise RowError(f"a number is {value!r:.40}")
    return value


def stored_corpus(value: object) -> Corpus:
    """A corpus by its name in a row. Raises RowError."""
    try:
        return Corpus(said(value))
    except ValueError as error:
        raise RowError(f"a corpus is {value!r:.40}") from error


def place_path(shelf: Shelf, scope: str, path: str) -> str:
    """Path of the places of a source's chunks."""
    return SourceKey(corpus=shelf.corpus, scope=scope, path=path).text


def best_of(scores: dict[ChunkPlace, float], count: int) -> dict[ChunkPlace, float]:
    """The `count` chunks with the highest scores, ties by path and line. Fewer chunks come back as they are."""
    if len(scores) <= count:
        return scores
    order = sorted(scores, key=lambda one: (-scores[one], one.path, one.line, one.row))
    return {one: scores[one] for one in order[:count]}


def named(db: sqlite3.Connection, shelf: Shelf, rows: Iterable[int]) -> list[ChunkPlace]:
    """Candidates of rows; those that hold no chunk are left out."""
    found = rows_read(db, shelf, "row, first, source", rows)
    paths = {
        number: place_path(shelf, scope, path)
        for number, scope, path in sources_read(db, "id, scope, path", (one[2] for one in found))
    }
    name = shelf.name
    return [
        ChunkPlace(shelf=name, row=row, path=paths[source], line=line)
        for row, line, source in found
        if source in paths
    ]


def rows_read(
    db: sqlite3.Connection, shelf: Shelf, columns: str, rows: Iterable[int]
) -> list[tuple[Any, ...]]:
    """Columns of chunks, in the order of the rows; those that hold no chunk are left out."""
    return _selected(db, f"SELECT {columns} FROM chunk_{shelf.name} WHERE row", rows)


def sources_read(db: sqlite3.Connection, columns: str, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
    """Columns of sources. A search finds many chunks of few: each is read once, and joined to none."""
    return _selected(db, f"SELECT {columns} FROM source WHERE id", set(numbers))


def _selected(db: sqlite3.Connection, select: str, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
    wanted = sorted(numbers)
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        found += db.execute(f"{select} IN ({', '.join('?' * len(part))})", part).fetchall()
    return found


# Filters of a search as SQL of the index on this machine.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def _scopes(db: sqlite3.Connection, corpus: Corpus) -> Iterator[str]:
    """The folders that a corpus' sources count in, a look each."""
    scope = ""
    sql = "SELECT min(scope) FROM source WHERE corpus = ? AND scope "
    found = db.execute(f"{sql}>= ?", (corpus.value, scope)).fetchone()[0]
    while found is not None:
        yield (scope := found)
        found = db.execute(f"{sql}> ?", (corpus.value, scope)).fetchone()[0]


def narrowed(
    db: sqlite3.Connection, shelf: Shelf, scopes: Sequence[str], filters: SearchFilters
) -> tuple[str, list[str]]:
    """SQL that selects the rows of a shelf that a search may find, empty for all.

    A chunk has its own day, as a turn has, else its source's, as a note has.
    """
    table = f"chunk_{shelf.name}"
    sources: list[str] = []
    values: list[str] = []
    if not set(scopes).issuperset(_scopes(db, shelf.corpus)):
        sources, values = [f"scope IN ({', '.join('?' * len(scopes))})"], list(scopes)
    chunks: list[str] = []
    dates: list[str] = []
    if filters.folder.strip("/"):
        below = []
        for scope, start in folder_starts(filters.folder, scopes):
            below.append(f"({'scope = ? AND ' if scope else ''}substr(path, 1, length(?)) = ?)")
            values += [*([scope] if scope else []), start, start]
        sources.append(f"({' OR '.join(below)})")
    if filters.tag:
        sources.append("instr(tags, ?) > 0")
        values.append(f"\n{asked_tag(filters.tag)}\n")
    if filters.but:
        sources.append(f"path NOT IN ({', '.join('?' * len(filters.but))})")
        values += filters.but
    for sign, day in ((">=", filters.after), ("<=", filters.before)):
        if day:
            chunks.append(
                f"({table}.date <> '' AND {table}.date {sign} ? OR {table}.date = '' AND source IN"
                f" (SELECT id FROM source WHERE date <> '' AND date {sign} ?))"
            )
            dates += [day, day]
    if sources:
        chunks.insert(0, f"source IN (SELECT id FROM source WHERE {' AND '.join(sources)})")
    if not chunks:
        return "", []
    where = " AND ".join(chunks)
    return f"SELECT row FROM {table} WHERE {where}", [*values, *dates]


def rows_of(db: sqlite3.Connection, clause: str, values: Sequence[str]) -> NDArray[np.intp]:
    """Rows that a clause of `narrowed` selects, in no order; as one text, which takes less than half as long as row by row."""
    import numpy as np

    listed: str | None = db.execute(f"SELECT group_concat(row) FROM ({clause})", values).fetchone()[0]
    return np.fromstring(listed, np.intp, sep=",") if listed else np.zeros(0, np.intp)


# Tokens as FTS5 makes them (`porter unicode61`), by FTS5 itself: another backend stores and asks for the
# same terms.

_MOST_BYTES = 2_000
"""A longer token stands as its SHA-256: a lexeme of PostgreSQL has at most 2,046 bytes."""

_KEPT_WORDS, _KEPT_CHARS = 20_000, 40
"""Words whose tokens are kept, about 5 MB, and characters of the longest of them."""


class FtsTokens:
    """Makes tokens of texts. Thread-safe."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._known: dict[str, list[str]] = {}
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.execute(f"CREATE VIRTUAL TABLE text USING fts5(words, content='', tokenize={TOKENIZER})")
        self._db.execute("CREATE VIRTUAL TABLE token USING fts5vocab(text, instance)")

    def of(self, text: str) -> list[str]:
        """The tokens of a text, in order. About 2 µs each."""
        return self.of_each([text])[0]

    def of_each(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text, in order. Those of a word are kept: a blank parts tokens whatever stands around it."""
        parts = [text.split() for text in texts]
        with self._turn:
            if len(self._known) > _KEPT_WORDS:
                self._known.clear()
            new = {word for part in parts for word in part} - self._known.keys()
            made = self._made(sorted(new))
            self._known |= {word: found for word, found in made.items() if len(word) <= _KEPT_CHARS}
            made |= {word: self._known[word] for part in parts for word in part if word in self._known}
        return [[token for word in part for token in made[word]] for part in parts]

    def _made(self, words: Sequence[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {word: [] for word in words}
        try:
            self._db.executemany("INSERT INTO text(rowid, words) VALUES(?, ?)", enumerate(words))
            for at, term in self._db.execute("SELECT doc, term FROM token ORDER BY doc, offset"):
                found[words[at]].append(_bounded(str(term)))
        finally:
            self._db.execute("INSERT INTO text(text) VALUES('delete-all')")
        return found


@cache
def fts_tokens() -> FtsTokens:
    """The one of this program: a search would take longer to make one than to use it."""
    return FtsTokens()


def _bounded(token: str) -> str:
    data = token.encode()
    return token if len(data) <= _MOST_BYTES else hashlib.sha256(data).hexdigest()


# The index on this machine: SQLite with FTS5, vectors in flat files beside it. A cache: made from the files
# alone.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_DELETED = tr("The search index is gone")
_TIES = 100
"""Chunks beyond those that are wanted that are looked at at once, for they may score as the last of these does."""

_COLUMNS = "row, source, first, last, heading, text, before, after, date, speaker, embedded"


class LocalStore:
    """One index in one folder. Thread-safe: writing is one thread's turn, and a connection is one thread's at a time; a
    thread that is over leaves none behind.

    Args:
        folder: private to the index; model: name of what makes its vectors; dimension: components of one.

    Raises, every method: IndexFaultError.
    """

    def __init__(self, folder: Path, model: str, dimension: int = DIMENSION, *, disk: Disk = OS_DISK) -> None:
        self._folder, self._model = folder, f"{model}/{dimension}"
        self._writing = threading.RLock()
        self._connections = Connections(self._opened)
        self._mended: tuple[tuple[int, ...], ...] = ()
        self._identity: tuple[int, int] | None = None
        self._vectors = {shelf: VectorFile(folder / f"{shelf.name}.i8", dimension, disk) for shelf in SHELVES}

    def is_there(self) -> bool:
        """False once its file was deleted, also where another program has made one anew in its place; or was found torn."""
        if self._identity is None:
            return True
        is_same = identity_of(self._folder / FILE_NAME) == self._identity
        return is_same and not (self._folder / TORN_NAME).exists()

    def is_whole(self) -> bool:
        """False until a run has read everything; true also where that cannot be told, which the search will say."""
        try:
            with self._reading() as db:
                return db.execute("SELECT 1 FROM model WHERE is_whole > 0").fetchone() is not None
        except IndexFaultError:
            return True

    def is_embedded(self) -> bool:
        """True once a run has given every chunk its vector; a chunk that came since may have none yet."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM model WHERE is_whole > 1").fetchone() is not None

    def note_whole(self, *, is_embedded: bool = False) -> None:
        """Note that a run has read everything, or has given every chunk its vector, too."""
        reached = 2 if is_embedded else 1
        self._write(lambda db: db.execute("UPDATE model SET is_whole = max(is_whole, ?)", (reached,)))

    def scale(self) -> Scale | None:
        """The scale of its model's cosines; None before it was measured."""
        with self._reading() as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'scale'").fetchone():
                return None
            row = db.execute("SELECT alike, unlike FROM scale").fetchone()
            return Scale(alike=float(row[0]), unlike=float(row[1])) if row else None

    def note_scale(self, scale: Scale) -> None:
        """Keep the scale of its model's cosines. An index that was made before there was one keeps its vectors."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("CREATE TABLE IF NOT EXISTS scale(alike REAL NOT NULL, unlike REAL NOT NULL)")
            db.execute("DELETE FROM scale")
            db.execute("INSERT INTO scale VALUES(?, ?)", (scale.alike, scale.unlike))

        self._write(work)

    def note_reading(self, how: str) -> None:
        """Note how files are read, as names of fields: what was read in another way counts as changed."""
        self._write(lambda db: note_reading(db, how))

    def mend_vectors(self) -> None:
        """Have chunks that lost their vectors get them again, and let no row keep one that is nobody's, or another's.

        A crash may leave either, and a file that was cut or replaced. Looked for once, and again after a write that
        failed, or where somebody else wrote in the files or put others in their place.
        """
        if self._mended == (stamps := self._stamps()):
            return

        def work(db: sqlite3.Connection) -> None:
            for shelf, vectors in self._vectors.items():
                table = f"chunk_{shelf.name}"
                require_dense(db, shelf)
                rows = db.execute(f"SELECT row, embedded FROM {table} WHERE embedded != 0")
                lost, stray = vectors.compare((row, whole(mark)) for row, mark in rows)
                db.executemany(f"UPDATE {table} SET embedded = 0 WHERE row = ?", [(row,) for row in lost])
                vectors.erase([*lost, *stray])

        self._mended = stamps
        self._write(work)

    def sources(self, corpus: Corpus, scope: str) -> dict[str, SourceState]:
        """State of each source of a corpus by its path."""
        counts: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
        with self._reading() as db:
            for shelf in SHELVES:
                if shelf.corpus is corpus:
                    for source, chunks, embedded in db.execute(
                        f"SELECT source, count(*), sum(embedded != 0) FROM chunk_{shelf.name} GROUP BY source"
                    ):
                        before = counts[source]
                        counts[source] = before[0] + chunks, before[1] + chunks - whole(embedded)
            rows = db.execute(
                "SELECT id, path, stamp, sha256, title, tags, date, description, problem FROM source"
                " WHERE corpus = ? AND scope = ?",
                (corpus.value, scope),
            ).fetchall()
            return {said(path): stored_state(row, *counts[number]) for number, path, *row in rows}

    def scopes(self) -> list[tuple[Corpus, str]]:
        """Each corpus with each folder that it has sources of; empty for what belongs to the home."""
        with self._reading() as db:
            rows = db.execute("SELECT DISTINCT corpus, scope FROM source ORDER BY corpus, scope").fetchall()
            return [(stored_corpus(corpus), said(scope)) for corpus, scope in rows]

    def put(self, key: SourceKey, state: SourceState, chunks: Sequence[Chunk]) -> None:
        """Take a source with all its chunks; what it had before is gone. A text that it had before keeps its vector."""
        head = state.head
        tags = joined_tags(head.tags)
        row = (state.stamp, state.sha256, head.title, tags, head.date, head.description, state.problem)

        def work(db: sqlite3.Connection) -> None:
            found = _source(db, key)
            kept: dict[str, bytes] = {}
            if found is None:
                number = db.execute(
                    "INSERT INTO source(corpus, scope, path, stamp, sha256, title, tags, date, description, problem)"
                    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (key.corpus.value, key.scope, key.path, *row),
                ).lastrowid
            else:
                number = found
                kept = self._kept(db, key.corpus, number)
                self._drop_chunks(db, key.corpus, number)
                db.execute(
                    "UPDATE source SET stamp = ?, sha256 = ?, title = ?, tags = ?, date = ?, description = ?, problem = ?"
                    " WHERE id = ?",
                    (*row, number),
                )
            written: dict[Shelf, dict[int, bytes]] = defaultdict(dict)
            for chunk in chunks:
                shelf, vector = Shelf(key.corpus, chunk.kind), kept.get(embedded_text(chunk))
                at = _add(db, shelf, int(number or 0), chunk, 0 if vector is None else mark_of(vector))
                if vector is not None:
                    written[shelf][at] = vector
            for shelf, given in written.items():
                self._vectors[shelf].write(given)

        self._write(work)

    def chunks(self, key: SourceKey) -> list[tuple[Chunk, bytes | None]]:
        """The chunks of a source, each with its vector where it has one."""
        found: list[tuple[Chunk, bytes | None]] = []
        with self._reading() as db:
            number = _source(db, key)
            for shelf in SHELVES:
                if shelf.corpus is key.corpus and number is not None:
                    rows = db.execute(
                        f"SELECT {_COLUMNS} FROM chunk_{shelf.name} WHERE source = ?", (number,)
                    ).fetchall()
                    vectors = self._vectors[shelf].read(row[0] for row in rows if row[-1])
                    found += [(stored_chunk(shelf.kind, row), vectors.get(row[0])) for row in rows]
        return found

    def touch(self, key: SourceKey, stamp: str) -> None:
        """Note that a source was checked and is unchanged."""
        self._write(lambda db: _touched(db, key, stamp))

    def remove(self, keys: Iterable[SourceKey]) -> int:
        """Take sources out. The number of those that were there."""

        def work(db: sqlite3.Connection) -> int:
            removed = 0
            for key in keys:
                number = _source(db, key)
                if number is not None:
                    self._drop_chunks(db, key.corpus, number)
                    db.execute("DELETE FROM source WHERE id = ?", (number,))
                    removed += 1
            return removed

        return self._write(work)

    @contextmanager
    def turn(self, wait_s: float | None = None) -> Iterator[None]:
        """Have the files of the index to oneself, as in `turns`. Raises IndexFaultError: the index was deleted meanwhile."""
        if self._identity is None:
            make_dirs(self._folder)
        self._require_there()
        with taken_turn(self._folder, wait_s):
            self._require_there()
            yield

    def forget(self, keys: Iterable[SourceKey]) -> int:
        """Take sources out so that no word of theirs stays in a file. The number of those that were there."""
        with self._writing:
            removed = self.remove(keys)
            with self._reading() as db:
                erase_words(db)
            return removed

    def bare(self, count: int) -> list[tuple[ChunkPlace, Chunk]]:
        """Up to `count` chunks that have no vector yet."""
        found: list[tuple[ChunkPlace, Chunk]] = []
        with self._reading() as db:
            for shelf in SHELVES:
                rows = db.execute(
                    f"SELECT {_COLUMNS} FROM chunk_{shelf.name} WHERE embedded = 0 LIMIT ?",
                    (count - len(found),),
                )
                found += [
                    (
                        ChunkPlace(shelf=shelf.name, row=row[0], path="", line=row[2]),
                        stored_chunk(shelf.kind, row),
                    )
                    for row in rows
                ]
        return found

    def is_bare(self, shelves: Iterable[Shelf], scopes: Sequence[str]) -> bool:
        """True if a chunk of these shelves that counts in the scopes has no vector yet."""
        with self._reading() as db:
            for shelf in shelves:
                table, counts = f"chunk_{shelf.name}", f"scope IN ({', '.join('?' * len(scopes))})"
                own = f"EXISTS(SELECT 1 FROM source WHERE source.id = {table}.source AND {counts})"
                bare = f"{table} INDEXED BY bare_of_{shelf.name}"  # left alone, a search reads every row
                sql = f"SELECT 1 FROM {bare} WHERE embedded = 0 AND {own} LIMIT 1"
                if db.execute(sql, tuple(scopes)).fetchone() is not None:
                    return True
        return False

    def bare_count(self) -> int:
        """Number of chunks that have no vector yet."""
        count = "SELECT count(*) FROM chunk_{} WHERE embedded = 0"
        with self._reading() as db:
            return sum(int(db.execute(count.format(one.name)).fetchone()[0]) for one in SHELVES)

    def give(self, vectors: Mapping[ChunkPlace, bytes]) -> None:
        """Give chunks their vectors; those that are gone are passed over."""

        def work(db: sqlite3.Connection) -> None:
            written: dict[Shelf, dict[int, bytes]] = defaultdict(dict)
            for candidate, vector in vectors.items():
                changed = db.execute(
                    f"UPDATE chunk_{candidate.shelf} SET embedded = ? WHERE row = ?",
                    (mark_of(vector), candidate.row),
                )
                if changed.rowcount:
                    written[BY_NAME[candidate.shelf]][candidate.row] = vector
            for shelf, given in written.items():
                self._vectors[shelf].write(given)

        self._write(work)

    def keyword(
        self, shelf: Shelf, terms: Sequence[str], scopes: Sequence[str], filters: SearchFilters, count: int
    ) -> dict[ChunkPlace, float]:
        """BM25 of the best chunks with any of the terms, higher is better."""
        if not terms:
            return {}
        words = f"words_{shelf.name}"
        with self._reading() as db:
            clause, values = narrowed(db, shelf, scopes, filters)
            score, asked = f"-bm25({words})", (fts_expression(tuple(terms)), *values)
            where = f"{words} MATCH ?{f' AND +{words}.rowid IN ({clause})' if clause else ''}"
            sql = f"SELECT rowid, {score} AS score FROM {words} WHERE {where} ORDER BY score DESC LIMIT ?"
            scores = dict(db.execute(sql, (*asked, count + _TIES)).fetchall())
            places = named(db, shelf, scores)
            last = list(scores.values())[-1:]
            if len(scores) == count + _TIES and sum(one > last[0] for one in scores.values()) < count:
                # More may score as the last of the best: the first of them by name are wanted.
                sql = (
                    f"SELECT row, first, scope, path FROM {words} JOIN chunk_{shelf.name} ON row = {words}.rowid"
                    f" JOIN source ON source.id = source WHERE {where} AND {score} = ?"
                    " ORDER BY scope, path, first, row LIMIT ?"
                )
                tied = [
                    ChunkPlace(shelf=shelf.name, row=row, path=place_path(shelf, scope, path), line=line)
                    for row, line, scope, path in db.execute(sql, (*asked, last[0], count))
                ]
                places = [one for one in places if scores[one.row] > last[0]] + tied
                scores |= {one.row: last[0] for one in tied}
        return best_of({place: scores[place.row] for place in places}, count)

    def frequency(self, shelf: Shelf, term: str, most: int) -> int:
        """Chunks of a shelf that hold a term, counted up to `most`."""
        words = f"words_{shelf.name}"
        sql = f"SELECT count(*) FROM (SELECT 1 FROM {words} WHERE {words} MATCH ? LIMIT ?)"
        with self._reading() as db:
            return int(db.execute(sql, (fts_expression((term,)), most)).fetchone()[0])

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
            clause, values = narrowed(db, shelf, scopes, filters)
            rows = rows_of(db, clause, values) if clause else None
            with self._guarded():
                known = {one.row: one for one in also}
                scores, least = self._vectors[shelf].best(query, count, rows, known)
            places = {one.row: one for one in named(db, shelf, scores.keys() - known.keys())} | known
        cosines = {places[row]: score for row, score in scores.items() if row in places}
        best = best_of(cosines, count)
        return Scan(best | {one: cosines[one] for one in known.values() if one in cosines}, least)

    def read(self, candidates: Iterable[ChunkPlace]) -> dict[ChunkPlace, StoredChunk]:
        """Chunks as they were stored; those that are gone are missing."""
        by_shelf: dict[str, dict[int, ChunkPlace]] = defaultdict(dict)
        for candidate in candidates:
            by_shelf[candidate.shelf][candidate.row] = candidate
        found: dict[ChunkPlace, StoredChunk] = {}
        with self._reading() as db:
            for name, places in by_shelf.items():
                shelf = BY_NAME[name]
                rows = rows_read(db, shelf, _COLUMNS, places)
                sources = {
                    number: (
                        SourceKey(corpus=shelf.corpus, scope=said(scope), path=said(path)),
                        stored_head(title, tags, date, about),
                    )
                    for number, scope, path, title, tags, date, about in sources_read(
                        db, "id, scope, path, title, tags, date, description", (row[1] for row in rows)
                    )
                }
                for row in rows:
                    if row[1] in sources:
                        key, head = sources[row[1]]
                        chunk = stored_chunk(shelf.kind, row)
                        found[places[row[0]]] = StoredChunk(source=key, head=head, chunk=chunk)
        return found

    def count(self, shelf: Shelf) -> int:
        """Chunks of a shelf."""
        with self._reading() as db:
            return int(db.execute(f"SELECT count(*) FROM chunk_{shelf.name}").fetchone()[0])

    def close(self) -> None:
        """Let files and connections go."""
        self._connections.close()
        self._identity = None
        for vectors in self._vectors.values():
            vectors.close()

    def _kept(self, db: sqlite3.Connection, corpus: Corpus, source: int) -> dict[str, bytes]:
        """Vectors of a source by the texts that they were made of."""
        kept: dict[str, bytes] = {}
        for shelf in SHELVES:
            if shelf.corpus is corpus:
                rows = db.execute(
                    f"SELECT {_COLUMNS} FROM chunk_{shelf.name} WHERE source = ? AND embedded != 0", (source,)
                ).fetchall()
                vectors = self._vectors[shelf].read([row[0] for row in rows])
                kept |= {
                    embedded_text(stored_chunk(shelf.kind, row)): vectors[row[0]]
                    for row in rows
                    if row[0] in vectors
                }
        return kept

    def _drop_chunks(self, db: sqlite3.Connection, corpus: Corpus, source: int) -> None:
        for shelf in SHELVES:
            if shelf.corpus is not corpus:
                continue
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM chunk_{shelf.name} WHERE source = ?", (source,)
            ).fetchall()
            words = f"words_{shelf.name}"
            db.executemany(
                f"INSERT INTO {words}({words}, rowid, words) VALUES('delete', ?, ?)",
                [(row[0], keyword_text(stored_chunk(shelf.kind, row))) for row in rows],
            )
            db.executemany(f"INSERT INTO free_{shelf.name} VALUES(?)", [(row[0],) for row in rows])
            db.execute(f"DELETE FROM chunk_{shelf.name} WHERE source = ?", (source,))
            self._vectors[shelf].erase(row[0] for row in rows)

    def _opened(self) -> sqlite3.Connection:
        with self._writing:
            self._require_there()
            db = open_index(self._folder, self._model)
            if self._identity is None:
                self._identity = identity_of(self._folder / FILE_NAME)
        return db

    def _require_there(self) -> None:
        """Raise where the files are another index by now: its rows are not ours, and its vectors lie at our paths."""
        if not self.is_there():
            raise IndexFaultError(_DELETED, where=str(self._folder))

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError) as error:
            raise fault_of(self._folder, error) from error

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._guarded(), self._connections.lent() as db:
                yield db
        except IndexFaultError as fault:
            note_torn(self._folder, fault)
            raise

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._writing, self._guarded(), self._connections.lent() as db:
            db.execute("BEGIN IMMEDIATE")
            is_ours, self._mended = self._mended == self._stamps(), ()  # vectors are in files of their own
            try:
                self._require_there()
                result = work(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            self._mended = self._stamps() if is_ours else ()
            return result

    def _stamps(self) -> tuple[tuple[int, ...], ...]:
        return tuple(one.stamp() for one in self._vectors.values())


def _source(db: sqlite3.Connection, key: SourceKey) -> int | None:
    row = db.execute(
        "SELECT id FROM source WHERE corpus = ? AND scope = ? AND path = ?",
        (key.corpus.value, key.scope, key.path),
    ).fetchone()
    return None if row is None else int(row[0])


def _touched(db: sqlite3.Connection, key: SourceKey, stamp: str) -> None:
    db.execute(
        "UPDATE source SET stamp = ? WHERE corpus = ? AND scope = ? AND path = ?",
        (stamp, key.corpus.value, key.scope, key.path),
    )


def _add(db: sqlite3.Connection, shelf: Shelf, source: int, chunk: Chunk, mark: int) -> int:
    free = db.execute(f"SELECT min(row) FROM free_{shelf.name}").fetchone()[0]
    if free is not None:
        db.execute(f"DELETE FROM free_{shelf.name} WHERE row = ?", (free,))
    row = db.execute(
        f"INSERT INTO chunk_{shelf.name}({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            free,
            source,
            chunk.lines.first,
            chunk.lines.last,
            chunk.heading,
            chunk.text,
            chunk.before,
            chunk.after,
            chunk.date,
            chunk.speaker,
            mark,
        ),
    ).lastrowid
    number = int(row or 0)
    db.execute(f"INSERT INTO words_{shelf.name}(rowid, words) VALUES(?, ?)", (number, keyword_text(chunk)))
    return number
