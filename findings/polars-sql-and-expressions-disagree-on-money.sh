#!/usr/bin/env bash
# polars 2.1.0 (duckdb 2.0.1 beside it)
#
# A thousand sales of 0.15 with a tax of 0.19, both columns Decimal with two places, "exact" as the type promises. The tax
# is asked for by an expression and by SQL, from the same frame.
#
# Expected: 0.15 * 0.19 is 0.0285, so 28.50 in all, whichever of the library's two languages asks.
# Seen: in an expression the product keeps the wider of the two scales, so each row is rounded to 0.03 before anything is
# added: 30.00. SQL on the same frame gives the product four places: 28.5000, as duckdb does. `sql_expr` of the same text
# follows SQL. And price * rate * n is 3000.00 where price * n * rate is 2850.00.
#
# Why it matters: a report that is rewritten from SQL to expressions (or whose factors are put in another order) shows
# five percent more, with a type that is there so that this does not happen. Nothing warns, and `Decimal` says nothing of it.
#
# Output seen:
#   expression: 30.00
#   sql: 28.5000
#   sql_expr: 28.5000
#   duckdb: 28.5000
#   price * rate * n: 3000.00
#   price * n * rate: 2850.00
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check polars==2.1.0 duckdb==2.0.1

cat > call.py <<'PY'
from decimal import Decimal
import duckdb
import polars as pl
sales = pl.DataFrame({"price": [Decimal("0.15")] * 1000, "rate": [Decimal("0.19")] * 1000, "n": [100] * 1000})
sales.write_parquet("sales.parquet")
price, rate, n = pl.col("price"), pl.col("rate"), pl.col("n")
print("expression:", sales.select((price * rate).sum()).item())
print("sql:", sales.sql("select sum(price * rate) from self").item())
print("sql_expr:", sales.select(pl.sql_expr("price * rate").sum()).item())
print("duckdb:", duckdb.sql("select sum(price * rate) from 'sales.parquet'").fetchall()[0][0])
print("price * rate * n:", sales.select((price * rate * n).sum()).item())
print("price * n * rate:", sales.select((price * n * rate).sum()).item())
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
