"""Vectors in PostgreSQL: the same int8 numbers as `halfvec`, which holds them exactly, and their dot products with a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from core.retrieval.store import Shelf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.retrieval.postgres_connection import Connection
    from core.retrieval.postgres_words import Narrowing

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
