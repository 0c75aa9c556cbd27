#!/usr/bin/env bash
# sqlglot 30.30.0, duckdb 2.0.1, SQLite of Python
#
# A search by LIKE in a query for SQLite, which is translated for DuckDB, and back, with `unsupported_level=RAISE`.
#
# Expected: the same rows. LIKE of SQLite does not tell capitals from small letters (of A to Z), that of DuckDB does; DuckDB has ILIKE
# for it, which sqlglot knows: for SQLite it writes LOWER on both sides of it.
# Seen: LIKE stays LIKE, both ways. From SQLite to DuckDB rows are missing; from DuckDB to SQLite there are some too many, and of what is
# NOT LIKE the other way round. GLOB, which does tell them apart, gives the same in both.
#
# Why it matters: the rows that come are right ones, so the missing ones are not looked for: customers, open invoices, a name on a list.
#
# Output seen:
#   sqlite text LIKE 'invoice%': 3, duckdb text LIKE 'invoice%': 1
#   sqlite text NOT LIKE 'invoice%': 1, duckdb text NOT LIKE 'invoice%': 3
#   sqlite text GLOB 'invoice*': 1, duckdb text GLOB 'invoice*': 1
#   duckdb text LIKE 'invoice%': 1, sqlite text LIKE 'invoice%': 3
#   duckdb text ILIKE 'invoice%': 3, sqlite LOWER(text) LIKE LOWER('invoice%'): 3
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check sqlglot==30.30.0 duckdb==2.0.1 2>/dev/null

cat > move.py <<'PY'
import sqlite3
import duckdb, sqlglot
engines = {"sqlite": sqlite3.connect(":memory:"), "duckdb": duckdb.connect()}
for engine in engines.values():
    engine.execute("CREATE TABLE notes (text VARCHAR)")
    engine.executemany("INSERT INTO notes VALUES (?)", [("Invoice open",), ("invoice paid",), ("INVOICE lost",), ("offer",)])
for read, write, condition in (
    ("sqlite", "duckdb", "text LIKE 'invoice%'"), ("sqlite", "duckdb", "text NOT LIKE 'invoice%'"), ("sqlite", "duckdb", "text GLOB 'invoice*'"),
    ("duckdb", "sqlite", "text LIKE 'invoice%'"), ("duckdb", "sqlite", "text ILIKE 'invoice%'"),
):
    query = f"SELECT COUNT(*) FROM notes WHERE {condition}"
    [written] = sqlglot.transpile(query, read=read, write=write, unsupported_level=sqlglot.ErrorLevel.RAISE)
    print(f"{read} {condition}: {engines[read].execute(query).fetchone()[0]}, {write} {written.split('WHERE ')[1]}: {engines[write].execute(written).fetchone()[0]}")
PY
venv/bin/python move.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
