"""Words in PostgreSQL: kept as a `tsvector`, and scored by FTS5's BM25 from frequencies and lengths."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from core.retrieval.store import Shelf
from core.retrieval.tokens import FtsTokens

if TYPE_CHECKING:
    from core.retrieval.postgres_connection import Connection

K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
"""Constants of FTS5's `bm25()`."""

_FIRST = 4
"""Chunks, for each one that is wanted, that the rarest words are looked up in before the others."""

MOST_POSITIONS, LAST_POSITION = 255, 16_383
"""Of one lexeme that a `tsvector` keeps, and the highest that there is."""

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
        rows,
        weights,
        {
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
    with FtsTokens() as tokens:
        phrase = tokens.of(term)
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
