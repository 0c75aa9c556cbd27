#!/usr/bin/env bash
# polars 2.1.0 (duckdb 2.0.1 runs the same query, pandas 3.1.1 the same expression)
#
# A day becomes the number 20261105, an hour the minutes since midnight, as `year * 10000 + month * 100 + day` and `hour * 60 + minute`.
# The same in SQL. And how much longer a text has become, as the difference of two lengths.
#
# Expected: what all engines of SQL and pandas give.
# Seen: `dt.month`, `dt.day`, `dt.hour` and their like are whole numbers of 8 bits, a plain number beside them becomes one too,
# and the product wraps around without a word: November times 100 is 76. From February on the day is a number of another day, or of
# none, and from three in the afternoon on the minutes are below zero. A text that is two letters shorter is four billion letters longer.
#
# Why it matters: keys that are made so no longer fit together or are the same for two days, sums by hour are wrong, and January and
# the morning, on which it is tried, are right. pandas has 32 bits there, and code that was moved from it runs.
#
# Output seen:
#   polars: [(20260105, -106), (20259949, 14), (20260081, 26)]
#   pandas: [(20260105, 150), (20260205, 270), (20261105, 1050)]
#   polars SQL: [(20260105, -106, 1), (20259949, 14, 4294967295), (20260081, 26, 4294967294)]
#   duckdb SQL: [(20260105, 150, 1), (20260205, 270, -1), (20261105, 1050, -2)]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check polars==2.1.0 duckdb==2.0.1 pandas==3.1.1 2>/dev/null

cat > number.py <<'PY'
from datetime import datetime
import duckdb, pandas, polars
times = [datetime(2026, 1, 5, 2, 30), datetime(2026, 2, 5, 4, 30), datetime(2026, 11, 5, 17, 30)]
table = polars.DataFrame({"time": times, "old": ["a", "abc", "abc"], "new": ["ab", "ab", "a"]})
def numbers(part):
    return part.year * 10000 + part.month * 100 + part.day, part.hour * 60 + part.minute
class Parts:
    def __getattr__(self, name):
        return getattr(polars.col("time").dt, name)()
days, minutes = numbers(Parts())
print("polars:", table.select(days.alias("day"), minutes.alias("minute")).rows())
print("pandas:", [tuple(row) for row in zip(*(column.tolist() for column in numbers(pandas.Series(times).dt)))])
query = """SELECT EXTRACT(YEAR FROM time) * 10000 + EXTRACT(MONTH FROM time) * 100 + EXTRACT(DAY FROM time) AS day,
    EXTRACT(HOUR FROM time) * 60 + EXTRACT(MINUTE FROM time) AS minute, LENGTH(new) - LENGTH(old) AS longer FROM docs"""
print("polars SQL:", polars.SQLContext(docs=table).execute(query, eager=True).rows())
duckdb.sql("CREATE TABLE docs (time TIMESTAMP, old VARCHAR, new VARCHAR)")
duckdb.executemany("INSERT INTO docs VALUES (?, ?, ?)", table.rows())
print("duckdb SQL:", duckdb.sql(query).fetchall())
PY
venv/bin/python number.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
