#!/usr/bin/env bash
# ibis-framework 12.0.0 (with duckdb 1.5.6, polars 2.1.0, SQLite of Python)
#
# One expression is run by three engines: how many different customers there are, and the amounts, which came as text, without the
# commas of their thousands. Some orders have no customer.
#
# Expected: the same answer of each, or an error, since "the same code for every backend" is what the package is for.
# Seen: with polars `nunique` counts the missing value as a customer, `replace` replaces only the first comma, and `find` says of a
# text that is missing that the word is not in it (-1) where the others have no answer. With duckdb and SQLite, which are written as
# SQL, all are as the manual has them. Nothing is raised.
#
# Why it matters: a query is tried with one engine and run with another. 1,234,567 becomes "1234,567", which a cast that is not
# strict makes empty.
#
# Output seen:
#   customers, duckdb: 3
#   customers, sqlite: 3
#   customers, polars: 4
#   without commas, duckdb: ['1234567', '90', '1000', None, '5', '2000000']
#   without commas, sqlite: ['1234567', '90', '1000', None, '5', '2000000']
#   without commas, polars: ['1234,567', '90', '1000', None, '5', '2000,000']
#   where is a comma, duckdb: [1, -1, 1, None, -1, 1]
#   where is a comma, sqlite: [1, -1, 1, None, -1, 1]
#   where is a comma, polars: [1, -1, 1, -1, -1, 1]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'ibis-framework[duckdb,polars,sqlite]==12.0.0' duckdb==1.5.6 polars==2.1.0 sqlglot==30.30.0 2>/dev/null

cat > count.py <<'PY'
import ibis, polars
orders = polars.DataFrame({"customer": ["Ann", None, "Ben", None, "Cem", "Ann"], "amount": ["1,234,567", "90", "1,000", None, "5", "2,000,000"]})
duck, lite, pole = ibis.duckdb.connect(), ibis.sqlite.connect(), ibis.polars.connect({"orders": orders})
for engine in (duck, lite):
    engine.con.execute("CREATE TABLE orders (customer VARCHAR, amount VARCHAR)")
    engine.con.executemany("INSERT INTO orders VALUES (?, ?)", orders.rows())
expressions = {
    "customers": lambda table: table.customer.nunique(),
    "without commas": lambda table: table.amount.replace(",", ""),
    "where is a comma": lambda table: table.amount.find(","),
}
for name, expression in expressions.items():
    for engine in (duck, lite, pole):
        result = engine.to_pyarrow(expression(engine.table("orders")))
        print(f"{name}, {engine.name}: {result.to_pylist() if hasattr(result, 'to_pylist') else result.as_py()}")
PY
venv/bin/python count.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
