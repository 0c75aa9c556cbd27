"""Tables of the index in PostgreSQL: one schema for a model, every table partitioned by corpus."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from core.retrieval.store import SHELVES
from core.values.retrieval import Corpus

if TYPE_CHECKING:
    import psycopg

SCHEMA_VERSION = 2

_NAME = re.compile(r"manual_slop_([1-9]\d{0,8})_[0-9a-f]{16}")

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
    "chunk": ("heading", "text", "before", "after", "words", "often"),
    "word": ("term",),
}
"""Columns of which the server keeps no statistics: it would write samples of them where no forgetting reaches."""


def schema_name(model: str, dimension: int) -> str:
    """Name of the schema for a model: another model, or another version of the tables, is another index."""
    digest = hashlib.sha256(f"{model}/{dimension}".encode()).hexdigest()[:16]
    return f"manual_slop_{SCHEMA_VERSION}_{digest}"


def index_version(name: str) -> int:
    """Version of the index that a schema holds, whatever its model; 0 for a schema that is none of ours."""
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
