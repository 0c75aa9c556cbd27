#!/usr/bin/env bash
# duckdb 2.0.1 (Python and polars 2.1.0 beside it)
#
# How many whole boxes or whole coins go into an amount: `amount // size`, the operator that the manual calls "division (integer)".
#
# Expected: a whole number, rounded down or toward zero, as for whole numbers: 7 // 2 is 3.
# Seen: if one side is a decimal or a float, `//` is the same as `/`: 5.50 // 2.00 is 2.75. The rest of `%` is that of whole division, so
# (a // b) * b + a % b is more than a.
#
# Why it matters: amounts of money are decimals. Boxes are counted in quarters, a sum of them is too large, and prices that are whole
# euros, or cents as whole numbers, on which a query is tried, are right.
#
# Output seen:
#   INTEGER 7, 2: // 3, % 1, put together 7, / 3.5; Python 3, polars 3 and 3
#   DECIMAL(9, 2) 5.50, 2.00: // 2.75, % 1.50, put together 7.0, / 2.75; Python 2, polars 2.00 and 2
#   DECIMAL(9, 2) 6.00, 2.00: // 3.0, % 0.00, put together 6.0, / 3.0; Python 3, polars 3.00 and 3
#   DOUBLE 5.5, 2.0: // 2.75, % 1.5, put together 7.0, / 2.75; Python 2.0, polars 2.0 and 2
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check duckdb==2.0.1 polars==2.1.0 2>/dev/null

cat > divide.py <<'PY'
from decimal import Decimal
import duckdb, polars
for kind, a, b in (("INTEGER", 7, 2), ("DECIMAL(9, 2)", Decimal("5.50"), Decimal("2.00")), ("DECIMAL(9, 2)", Decimal("6.00"), Decimal("2.00")), ("DOUBLE", 5.5, 2.0)):
    whole, rest, back, plain = duckdb.execute(
        f"SELECT a // b, a % b, (a // b) * b + a % b, a / b FROM (SELECT $1::{kind} AS a, $2::{kind} AS b)", [a, b]).fetchone()
    frame = polars.DataFrame({"a": [a], "b": [b]})
    other = frame.select(polars.col("a") // polars.col("b")).item(), polars.SQLContext(t=frame).execute("SELECT a // b AS n FROM t", eager=True).item()
    print(f"{kind} {a}, {b}: // {whole}, % {rest}, put together {back}, / {plain}; Python {a // b}, polars {other[0]} and {other[1]}")
PY
venv/bin/python divide.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
