"""Reaching a PostgreSQL that holds the index: every wait is bounded, and no message tells the password."""

from __future__ import annotations

import hashlib
import math
import os
import socket
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from core.kernel.figures import time_limit
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.retrieval import Corpus
from core.retrieval.index_store import SHELVES, ServerFaultError, Shelf
from core.retrieval.local_store import fts_tokens

# Tables of the index in PostgreSQL: one schema for a model, every table partitioned by corpus.

if TYPE_CHECKING:
    import psycopg

SCHEMA_VERSION = 5

_NAME = late(r"manual_slop_([1-9]\d{0,8})_[0-9a-f]{16}")

# Texts compare by code point as Python's do. A shelf's row counts its chunks and their tokens.
# `often`: frequencies past the 255 positions that a tsvector keeps of a lexeme. `word`: how many chunks hold a term, for to
# count them is to read them all.
_TABLES = """
CREATE SEQUENCE numbers;
CREATE TABLE shelf(
    corpus text NOT NULL,
    kind text NOT NULL,
    chunks bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (corpus, kind));
CREATE TABLE source(
    corpus text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('numbers'),
    scope text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    stamp text NOT NULL,
    sha256 text NOT NULL,
    title text NOT NULL,
    tags text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    description text NOT NULL,
    PRIMARY KEY (corpus, id),
    UNIQUE (corpus, scope, path)) PARTITION BY LIST (corpus);
CREATE TABLE chunk(
    corpus text NOT NULL,
    "row" bigint NOT NULL DEFAULT nextval('numbers'),
    kind text NOT NULL,
    source bigint NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    heading text NOT NULL,
    text text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    date text COLLATE "C" NOT NULL,
    speaker text NOT NULL,
    embedded boolean NOT NULL,
    size integer NOT NULL,
    words tsvector NOT NULL,
    often jsonb,
    PRIMARY KEY (corpus, "row")) PARTITION BY LIST (corpus);
CREATE INDEX ON chunk (source);
CREATE INDEX ON chunk ("row") WHERE NOT embedded;
CREATE INDEX ON chunk USING gin (words);
CREATE TABLE word(
    corpus text NOT NULL,
    kind text NOT NULL,
    term text COLLATE "C" NOT NULL,
    chunks bigint NOT NULL,
    PRIMARY KEY (corpus, kind, term)) PARTITION BY LIST (corpus);
CREATE TABLE vector(
    corpus text NOT NULL,
    "row" bigint NOT NULL,
    kind text NOT NULL,
    source bigint NOT NULL,
    numbers halfvec({dimension}) NOT NULL,
    PRIMARY KEY (corpus, "row")) PARTITION BY LIST (corpus);
"""

TABLES = ("source", "chunk", "word", "vector")
"""Those that are partitioned by corpus."""

_WORDY = {
    "source": ("path", "title", "tags", "description"),
    "chunk": ("heading", "text", "before", "after", "speaker", "words", "often"),
    "word": ("term",),
}
"""Columns of which the server keeps no statistics: it would write samples of them where no forgetting reaches."""


def schema_name(model: str, dimension: int) -> str:
    """Name of the schema for a model: another model, or another version of the tables, is another index."""
    digest = hashlib.sha256(f"{model}/{dimension}".encode()).hexdigest()[:16]
    return f"manual_slop_{SCHEMA_VERSION}_{digest}"


def index_version(name: str) -> int:
    """Version of the index in a schema, for any model. 0 for a schema that this program did not make."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found is not None else 0


def create_schema(connection: psycopg.Connection[tuple[Any, ...]], schema: str, dimension: int) -> None:
    """Make the tables where they are not there. In a transaction of the caller's."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
    if connection.execute("SELECT to_regclass(%s)", (f"{schema}.shelf",)).fetchone() != (None,):
        return
    connection.execute(f"SET LOCAL search_path TO {schema}, public".encode())
    for statement in _TABLES.format(dimension=int(dimension)).split(";\n"):
        if statement.strip():
            connection.execute(statement.encode())
    for table in TABLES:
        for corpus in Corpus:
            connection.execute(
                f"CREATE TABLE {table}_{corpus.value} PARTITION OF {table} FOR VALUES IN ('{corpus.value}')".encode()
            )
        for column in _WORDY.get(table, ()):
            connection.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0".encode())
    for shelf in SHELVES:
        connection.execute("INSERT INTO shelf VALUES (%s, %s, 0, 0)", (shelf.corpus.value, shelf.kind.value))


if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

CONNECT_S = 3.0
"""Longest wait for a connection, name look-up and log-in included."""

CREATE_S = 20.0
"""Longest wait for the tables of a new index."""

_SAID_CHARS = 200


class ServerAddress:
    """An address and where its password is found; neither `repr` nor a message tells it.

    Args:
        find: looks the password up, empty for none; may take its time.
    """

    def __init__(self, url: str, find: Callable[[], str] = str) -> None:
        self.url, self._find, self._password = url, find, ""

    def password(self) -> str:
        """The password as it is kept now."""
        self._password = self._find()
        return self._password

    def __repr__(self) -> str:
        return f"ServerAddress({self.shown!r})"

    @property
    def shown(self) -> str:
        """Host and database for a person."""
        with suppress(ValueError):
            parts = urlsplit(self.url)
            where = parts.hostname or tr("this machine")
            port = f":{parts.port}" if parts.port else ""
            return f"{where}{port}{parts.path}"
        return tr("the server")

    def fault(self, error: BaseException | str) -> ServerFaultError:
        """The error for a person, without the password."""
        said = one_line(str(error).split("\n", 1)[0], _SAID_CHARS)
        for secret in (self._password, self.url):
            said = said.replace(secret, "…") if secret else said
        return ServerFaultError(
            tr("The index on {server} does not answer: {reason}", server=self.shown, reason=said),
            remedy=tr("Check `[retrieval] server` and its password: `manual-slop key retrieval-server`"),
            where=self.shown,
        )


def connect(address: ServerAddress, schema: str, dimension: int) -> Connection:
    """Connect, with the tables of a schema there.

    Raises:
        ServerFaultError: as `reach`, no pgvector, no right to make tables.
    """
    connection = reach(address)
    try:
        with bounded(connection, address, CONNECT_S):
            row = connection.execute("SELECT to_regclass(%s)", (f"{schema}.shelf",)).fetchone()
        if row == (None,):
            with bounded(connection, address, CREATE_S), connection.transaction():
                number = int.from_bytes(hashlib.sha256(schema.encode()).digest()[:7])
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (number,))
                create_schema(connection, schema, dimension)
        with bounded(connection, address, CONNECT_S):
            _prepare(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def index_schemas(address: ServerAddress) -> tuple[str, ...]:
    """Every index of this version that a server has, one for each model.

    Indexes of earlier versions that are this role's own go whole: nobody reads them any more, and their words would stay.

    Raises:
        ServerFaultError: as `reach`.
    """
    connection = reach(address)
    try:
        with bounded(connection, address, CONNECT_S):
            rows = connection.execute(
                "SELECT nspname, pg_has_role(nspowner, 'USAGE') FROM pg_namespace ORDER BY nspname"
            ).fetchall()
            for name, is_own in rows:
                if is_own and 0 < index_version(name) < SCHEMA_VERSION:
                    connection.execute(f"DROP SCHEMA {name} CASCADE".encode())
    finally:
        connection.close()
    return tuple(name for name, _ in rows if index_version(name) == SCHEMA_VERSION)


def reach(address: ServerAddress) -> Connection:
    """Connect.

    Raises:
        ServerFaultError: refused, silent for `CONNECT_S`, a wrong password.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise ServerFaultError(
            tr("The packages for an index on a server are not installed"),
            remedy=tr("Install manual-slop[postgres]"),
        ) from error
    done: list[Connection] = []
    failed: list[BaseException] = []
    is_late = threading.Event()

    def work() -> None:
        try:
            connection = _connected(address)
            if is_late.is_set():
                connection.close()
            done.append(connection)
        except BaseException as error:  # noqa: BLE001 (told to the one who waits)
            failed.append(error)

    thread = threading.Thread(target=work, name="index server", daemon=True)
    thread.start()
    thread.join(CONNECT_S)
    if failed:
        raise address.fault(failed[0]) from None
    if not done:
        is_late.set()
        raise address.fault(tr("no answer within {CONNECT_S}", CONNECT_S=time_limit(CONNECT_S)))
    return done[0]


@contextmanager
def bounded(connection: Connection, address: ServerAddress, seconds: float) -> Iterator[None]:
    """Cut the connection when what is done with it takes longer.

    Raises:
        ServerFaultError: that, or any other error of the server's.
    """
    import psycopg

    is_late = threading.Event()

    def cut() -> None:
        is_late.set()
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (psycopg.Error, OSError, ValueError) as error:
        raise address.fault(
            tr("no answer within {seconds}", seconds=time_limit(seconds)) if is_late.is_set() else error
        ) from None
    finally:
        timer.cancel()


def _connected(address: ServerAddress) -> Connection:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        given = conninfo_to_dict(address.url)
    except psycopg.Error:
        raise ValueError(tr("the program cannot read the address of the index server")) from None
    if given.pop("password", None):
        raise ValueError(
            tr("the address of the index server holds a password; store the password in the keyring")
        )
    given |= {"connect_timeout": str(int(CONNECT_S)), "application_name": "manual-slop"}
    if password := address.password():
        given["password"] = password
    return psycopg.connect(make_conninfo("", **given), autocommit=True)


def _prepare(connection: Connection, schema: str) -> None:
    from pgvector.psycopg import register_vector

    row = connection.execute(
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    of_vectors = str(row[0]) if row else "public"
    connection.execute("SELECT set_config('search_path', %s, false)", (f'{schema}, "{of_vectors}"',))
    connection.execute("SELECT set_config('jit', 'off', false)")  # compiling a search takes longer than it
    connection.execute(
        "SELECT set_config('work_mem', '64MB', false)"
    )  # a million scores are sorted in memory
    register_vector(connection)


# Words in PostgreSQL: kept as a `tsvector`, and scored by FTS5's BM25 from frequencies and lengths.


K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
"""Constants of FTS5's `bm25()`."""

_FIRST = 4
"""Chunks, for each one that is wanted, that the rarest words are looked up in before the others."""

MOST_POSITIONS, LAST_POSITION = 255, 16_383
"""Positions of one lexeme that a `tsvector` keeps, and the highest position."""

_FREQUENCIES = "SELECT term, chunks FROM word WHERE corpus = %s AND kind = %s AND term = ANY(%s)"

# Scores stand in the select list and not in a join: a common word has most chunks, and to sort and group their terms takes
# longer than to read them. The sum goes in the order of the tsvector, which is the same for all chunks.
_KEYWORD = """
WITH phrase AS MATERIALIZED (
    SELECT "row", sum({score}) AS score
    FROM unnest(%(rows)s::bigint[], %(phrases)s::text[], %(times)s::float8[]) p("row", term, times)
        JOIN chunk c USING ("row") CROSS JOIN LATERAL (SELECT p.term AS lexeme) u
    WHERE c.corpus = %(corpus)s GROUP BY "row"),
scored AS (
    SELECT c."row", coalesce((
        SELECT sum({score})
        FROM unnest(ts_filter(setweight(c.words, 'A', %(terms)s::text[]), '{{a}}')) u CROSS JOIN LATERAL
            (SELECT coalesce((c.often ->> u.lexeme)::int, cardinality(u.positions))::float8 AS times) t), 0)
        + coalesce((SELECT phrase.score FROM phrase WHERE phrase."row" = c."row"), 0) AS score
    FROM chunk c
    WHERE c.corpus = %(corpus)s AND c.kind = %(kind)s AND (c.words @@ %(any)s::tsquery OR c."row" = ANY(%(rows)s))
        {narrowed}
    ORDER BY score DESC FETCH FIRST %(count)s ROWS WITH TIES)
SELECT c."row", scored.score, c.first, s.path, s.scope
FROM scored JOIN chunk c ON c.corpus = %(corpus)s AND c."row" = scored."row"
    JOIN source s ON s.corpus = %(corpus)s AND s.id = c.source
ORDER BY scored.score DESC, s.scope, s.path, c.first, c."row" LIMIT %(count)s
"""
_SCORE = (
    f"(%(weights)s::float8[])[array_position(%(asked)s::text[], u.lexeme)] * times * {K1 + 1}::float8"
    f" / (times + {K1 * (1 - B)}::float8 + {K1 * B}::float8 * c.size / %(mean)s)"
)


def as_tsvector(tokens: Sequence[str]) -> tuple[str, Any]:
    """Tokens as a `tsvector` in its text form, and the frequencies that it has no room for."""
    from psycopg.types.json import Jsonb

    at: dict[str, list[int]] = defaultdict(list)
    for position, token in enumerate(tokens, 1):
        at[token].append(position)
    more = {
        token: len(positions)
        for token, positions in at.items()
        if len(positions) > MOST_POSITIONS or positions[-1] > LAST_POSITION
    }
    words = " ".join(
        f"{_quoted(token)}:{','.join(str(min(one, LAST_POSITION)) for one in positions[:MOST_POSITIONS])}"
        for token, positions in at.items()
    )
    return words, Jsonb(more) if more else None


class Narrowing(NamedTuple):
    """SQL that narrows a search, with its values: what the source of a chunk is to be, and of a chunk `c` its date."""

    sources: str
    dates: str
    values: Mapping[str, object]


class _WeighedWords(NamedTuple):
    """Words of a query with their weights: how often each is said, times its inverse document frequency.

    Args:
        rows: chunks that have a word, by the word, the rarest first; values: all that the statement needs of them.
    """

    rows: Mapping[str, int]
    weights: Mapping[str, float]
    values: Mapping[str, object]

    def rarest(self, count: int) -> list[str]:
        """The rarest words, until they stand in `count` chunks."""
        found: list[str] = []
        for term, rows in self.rows.items():
            found.append(term)
            count -= rows
            if count <= 0:
                break
        return found

    def needed(self, least: float) -> list[str]:
        """The words without which no chunk scores `least`: the most common ones together may stay below it."""
        kept = list(self.rows)
        while kept:
            least -= self.weights[kept[-1]] * (K1 + 1)
            if least <= 0:
                break
            kept.pop()
        return kept


def _weighed(db: Connection, shelf: Shelf, said: Mapping[tuple[str, ...], int]) -> _WeighedWords:
    corpus, kind = shelf.corpus.value, shelf.kind.value
    row = db.execute(
        "SELECT chunks, tokens FROM shelf WHERE corpus = %s AND kind = %s", (corpus, kind)
    ).fetchone()
    chunks, tokens = row or (0, 0)
    single = [phrase[0] for phrase in said if len(phrase) == 1]
    known: dict[str, int] = dict(db.execute(_FREQUENCIES, (corpus, kind, single)).fetchall())
    rows = dict(sorted(((term, int(known.get(term, 0))) for term in single), key=lambda one: one[1]))
    hits = [hit for phrase in said if len(phrase) > 1 for hit in _phrase_hits(db, shelf, phrase)]
    having = Counter(name for _, name, _ in hits) | Counter(rows)
    weights = {_name(phrase): times * _idf(chunks, having[_name(phrase)]) for phrase, times in said.items()}
    return _WeighedWords(
        rows=rows,
        weights=weights,
        values={
            "corpus": corpus,
            "kind": kind,
            "terms": single,
            "rows": [row for row, _, _ in hits],
            "phrases": [name for _, name, _ in hits],
            "times": [times for _, _, times in hits],
            "asked": list(weights),
            "weights": list(weights.values()),
            "mean": tokens / chunks if chunks and tokens else 1.0,
        },
    )


def _idf(chunks: int, having: int) -> float:
    """Inverse document frequency as FTS5 has it: never below a little more than nothing."""
    idf = math.log((chunks - having + 0.5) / (having + 0.5)) if chunks >= having else 0.0
    return idf if idf > 0 else LEAST_IDF


def _phrase_hits(db: Connection, shelf: Shelf, phrase: Sequence[str]) -> Iterator[tuple[int, str, float]]:
    """Rows with a word that FTS5 sees as several tokens, and how often they have it."""
    rows = db.execute(
        'SELECT c."row", u.lexeme, u.positions FROM chunk c,'
        " unnest(ts_filter(setweight(c.words, 'A', %s::text[]), '{a}')) u"
        " WHERE c.corpus = %s AND c.kind = %s AND c.words @@ %s::tsquery",
        (list(phrase), shelf.corpus.value, shelf.kind.value, " <-> ".join(map(_quoted, phrase))),
    ).fetchall()
    at: dict[int, dict[str, set[int]]] = defaultdict(dict)
    for row, lexeme, positions in rows:
        at[row][lexeme] = set(positions)
    for row, found in at.items():
        starts = (
            start
            for start in found[phrase[0]]
            if all(start + step in found[token] for step, token in enumerate(phrase))
        )
        yield row, _name(phrase), float(sum(1 for _ in starts))


def count_words(db: Connection, corpus: str, chunks: Mapping[tuple[str, str], int]) -> None:
    """Count chunks that came: how many by kind and term."""
    rows = sorted((kind, term, count) for (kind, term), count in chunks.items())
    db.execute(
        "INSERT INTO word SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::bigint[])"
        " ON CONFLICT (corpus, kind, term) DO UPDATE SET chunks = word.chunks + excluded.chunks",
        (corpus, *(list(column) for column in zip(*rows, strict=True))) if rows else (corpus, [], [], []),
    )


def uncount_words(db: Connection, corpus: str, source: int) -> None:
    """Count the chunks of a source no more: it is about to lose them. A term that none holds is gone."""
    none_left = db.execute(
        "WITH less AS (SELECT kind, term, count(*) AS chunks FROM chunk, unnest(tsvector_to_array(words)) term"
        " WHERE corpus = %(corpus)s AND source = %(source)s GROUP BY kind, term)"
        " UPDATE word SET chunks = word.chunks - less.chunks FROM less"
        " WHERE word.corpus = %(corpus)s AND word.kind = less.kind AND word.term = less.term"
        " RETURNING word.kind, word.term, word.chunks",
        {"corpus": corpus, "source": source},
    ).fetchall()
    gone = [(kind, term) for kind, term, chunks in none_left if chunks <= 0]
    db.execute(
        "DELETE FROM word USING unnest(%s::text[], %s::text[]) gone(kind, term)"
        " WHERE word.corpus = %s AND word.kind = gone.kind AND word.term = gone.term",
        ([kind for kind, _ in gone], [term for _, term in gone], corpus),
    )


def frequency(db: Connection, shelf: Shelf, term: str, most: int) -> int:
    """Chunks of a shelf that hold a term, counted up to `most`."""
    phrase = fts_tokens().of(term)
    if not phrase:
        return 0
    if len(phrase) == 1:
        rows = db.execute(_FREQUENCIES, (shelf.corpus.value, shelf.kind.value, list(phrase))).fetchall()
        return min(int(rows[0][1]), most) if rows else 0
    row = db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM chunk c"
        " WHERE c.corpus = %s AND c.kind = %s AND c.words @@ %s::tsquery LIMIT %s) one",
        (shelf.corpus.value, shelf.kind.value, " <-> ".join(map(_quoted, phrase)), most),
    ).fetchone()
    return int(row[0]) if row else 0


def _name(phrase: Sequence[str]) -> str:
    return " ".join(phrase)


def _quoted(token: str) -> str:
    """A token as a lexeme in the text of a tsvector or tsquery."""
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def best_chunks(
    db: Connection,
    shelf: Shelf,
    said: Mapping[tuple[str, ...], int],
    narrowing: Narrowing,
    count: int,
) -> list[tuple[Any, ...]]:
    """The best chunks with any of the words: row, score, first line, path and scope, the best first, ties by path and line.

    Args:
        said: tokens of each word, and how often it was said.
    """
    asked = _weighed(db, shelf, said)
    sql = _KEYWORD.format(
        score=_SCORE, narrowed=f"AND c.source {narrowing.sources}{narrowing.dates}"
    ).encode()
    given = {**narrowing.values, **asked.values, "count": count}

    def best(terms: Sequence[str]) -> list[tuple[Any, ...]]:
        return db.execute(sql, given | {"any": " | ".join(map(_quoted, terms))}).fetchall()

    first = asked.rarest(_FIRST * count)
    rows = best(first)
    needed = asked.needed(float(rows[-1][1]) if len(rows) == count else 0.0)
    return rows if set(needed) <= set(first) else best(needed)


# Vectors in PostgreSQL: the same int8 numbers as `halfvec`, which holds them exactly, and their dot
# products with a query.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# A vector has its source beside it: to look that up in the chunks would read all of them, texts included.
_BEST = """
WITH dots AS MATERIALIZED (
    SELECT v."row", -(v.numbers <#> %(query)s) AS dot
    FROM vector v {dated}
    WHERE v.corpus = %(corpus)s AND v.kind = %(kind)s AND v.source {sources} {dates}),
best AS (SELECT "row", dot FROM dots WHERE dot <> 0 ORDER BY dot DESC FETCH FIRST %(count)s ROWS WITH TIES),
cut AS (
    SELECT best."row", best.dot, c.first, s.path, s.scope
    FROM best JOIN chunk c ON c.corpus = %(corpus)s AND c."row" = best."row"
        JOIN source s ON s.corpus = %(corpus)s AND s.id = c.source
    ORDER BY best.dot DESC, s.scope, s.path, c.first, c."row" LIMIT %(count)s)
SELECT found.*, (SELECT min(dot) FROM dots WHERE dot <> 0)
FROM (SELECT * FROM cut UNION
    SELECT c."row", dots.dot, c.first, s.path, s.scope
    FROM chunk c JOIN dots ON dots."row" = c."row" AND dots.dot <> 0
        JOIN source s ON s.corpus = %(corpus)s AND s.id = c.source
    WHERE c.corpus = %(corpus)s AND c."row" = ANY(%(also)s)) found
"""
_DATED = 'JOIN chunk c ON c.corpus = %(corpus)s AND c."row" = v."row"'


def best_vectors(
    db: Connection,
    shelf: Shelf,
    query: NDArray[np.int8],
    narrowing: Narrowing,
    count: int,
    also: Sequence[int],
) -> list[tuple[Any, ...]]:
    """The best chunks of a shelf and `also`: row, dot product, first line, path, scope, and the least dot of all."""
    from pgvector import HalfVector

    sql = _BEST.format(
        dated=_DATED if narrowing.dates else "", sources=narrowing.sources, dates=narrowing.dates
    )
    given = {
        "corpus": shelf.corpus.value,
        "kind": shelf.kind.value,
        "query": HalfVector(query.astype("float16")),
        "count": count,
        "also": list(also),
    }
    return db.execute(sql.encode(), {**given, **narrowing.values}).fetchall()


def give_vectors(db: Connection, vectors: Iterable[tuple[str, str, int, bytes]]) -> None:
    """Give rows of a corpus and kind their vectors; those that are gone are passed over."""
    import numpy as np
    from pgvector import HalfVector

    with db.cursor() as cursor:
        cursor.executemany(
            'WITH there AS (UPDATE chunk SET embedded = true WHERE corpus = %s AND kind = %s AND "row" = %s'
            ' RETURNING corpus, "row", kind, source) INSERT INTO vector(corpus, "row", kind, source, numbers)'
            ' SELECT corpus, "row", kind, source, %s FROM there'
            ' ON CONFLICT (corpus, "row") DO UPDATE SET numbers = excluded.numbers',
            [
                (corpus, kind, row, HalfVector(np.frombuffer(vector, np.int8).astype(np.float16)))
                for corpus, kind, row, vector in vectors
            ],
        )


def bytes_of(numbers: Any) -> bytes:
    """A stored vector as int8."""
    import numpy as np

    return np.asarray(numbers.to_list()).astype(np.int8).tobytes()
