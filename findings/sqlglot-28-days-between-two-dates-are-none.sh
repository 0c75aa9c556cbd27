#!/usr/bin/env bash
# sqlglot 30.30.0, duckdb 2.0.1, SQLite of Python
#
# Days and months between two dates, in a query for DuckDB that is translated for SQLite with `unsupported_level=RAISE`.
#
# Expected: the same numbers, or the error that is raised for what cannot be said in SQLite. sqlglot knows that dates are text
# there: it writes a difference by `date_diff('day', …)` with JULIANDAY.
# Seen: a plain difference of two dates is left as it is, and SQLite subtracts the years of the two texts: 28 days are 0, and a day at
# the turn of the year is 1 as 365 are. Months become days by 30.0, cut, so a month of 28 days is none and seven years are 85 months.
# With a schema and annotated types it is the same.
#
# Why it matters: numbers come out, small and plausible, and each is of another thing: rent for no month, an invoice that is not due.
#
# Output seen:
#   SELECT stop - start AS n FROM rents ORDER BY stop NULLS LAST, start DESC
#     duckdb [28, 364, 1, 2557], sqlite [0, 0, 1, 7], with types [0, 0, 1, 7]
#   SELECT CAST((JULIANDAY(stop) - JULIANDAY(start)) AS INTEGER) AS n FROM rents ORDER BY stop NULLS LAST, start DESC
#     duckdb [28, 364, 1, 2557], sqlite [28, 364, 1, 2557], with types [28, 364, 1, 2557]
#   SELECT CAST((JULIANDAY(stop) - JULIANDAY(start)) / 30.0 AS INTEGER) AS n FROM rents ORDER BY stop NULLS LAST, start DESC
#     duckdb [1, 11, 1, 84], sqlite [0, 12, 0, 85], with types [0, 12, 0, 85]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check sqlglot==30.30.0 duckdb==2.0.1 2>/dev/null

cat > translate.py <<'PY'
import sqlite3
import duckdb, sqlglot
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
rows = [("2026-02-01", "2026-03-01"), ("2026-12-31", "2027-01-01"), ("2026-01-01", "2026-12-31"), ("2026-01-01", "2033-01-01")]
lite, duck = sqlite3.connect(":memory:"), duckdb.connect()
for base in (lite, duck):
    base.execute("CREATE TABLE rents (start DATE, stop DATE)")
    base.executemany("INSERT INTO rents VALUES (?, ?)", rows)
for wanted in ("stop - start", "date_diff('day', start, stop)", "date_diff('month', start, stop)"):
    query = f"SELECT {wanted} AS n FROM rents ORDER BY stop, start DESC"
    raising = {"unsupported_level": sqlglot.ErrorLevel.RAISE}
    [written] = sqlglot.transpile(query, read="duckdb", write="sqlite", **raising)
    tree = qualify(sqlglot.parse_one(query, read="duckdb"), schema={"rents": {"start": "DATE", "stop": "DATE"}}, dialect="duckdb")
    typed = annotate_types(tree, schema={"rents": {"start": "DATE", "stop": "DATE"}}, dialect="duckdb").sql("sqlite", **raising)
    print(written)
    numbers = [[n for (n,) in base.execute(text).fetchall()] for base, text in ((duck, query), (lite, written), (lite, typed))]
    print("  duckdb {}, sqlite {}, with types {}".format(*numbers))
PY
venv/bin/python translate.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
