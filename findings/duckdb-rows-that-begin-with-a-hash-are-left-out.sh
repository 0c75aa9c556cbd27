#!/usr/bin/env bash
# duckdb 2.0.1 (pandas 3.1.1 and polars 2.1.0 beside it)
#
# Bookings as a CSV file. The first column is the number of an order, and one that came by the web shop is written #1002.
#
# Expected: all rows, with text as the type of that column, as the two other readers give; the list of what `read_csv` detects by
# itself (delimiter, quotes, escape, types, header) has no comments in it, and the option `comment` is empty unless it is given.
# Seen: the rows that begin with # are taken for comments and are left out, without a word, if what is left looks like numbers. One
# order that begins with letters, or the option `comment = ''`, brings them back.
#
# Why it matters: the sum is too small, the number of rows too, and the type of the column is the one that was hoped for. Whether
# a file loses rows depends on what its other rows hold.
#
# Output seen:
#   a.csv duckdb: [(1001, 10), (1003, 30), (1004, 40)], BIGINT
#   a.csv duckdb, comment = '': [('1001', 10), ('#1002', 500), ('1003', 30), ('1004', 40)], VARCHAR
#   a.csv pandas 580, polars 580
#   b.csv duckdb: [('1001', 10), ('#1002', 500), ('1003', 30), ('B-1004', 40)], VARCHAR
#   b.csv duckdb, comment = '': [('1001', 10), ('#1002', 500), ('1003', 30), ('B-1004', 40)], VARCHAR
#   b.csv pandas 580, polars 580

set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check duckdb==2.0.1 pandas==3.1.1 polars==2.1.0 2>/dev/null

cat > read.py <<'PY'
import duckdb, pandas, polars
def read(path, how="read_csv($p)"):
    table = duckdb.sql(f"SELECT * FROM {how.replace('$p', repr(path))}")
    return f"{table.fetchall()}, {table.types[0]}"
for name, last in (("a.csv", "1004,40\n"), ("b.csv", "B-1004,40\n")):
    with open(name, "w") as file:
        file.write("number,euros\n1001,10\n#1002,500\n1003,30\n" + last)
    print(f"{name} duckdb:", read(name))
    print(f"{name} duckdb, comment = '':", read(name, "read_csv($p, comment = '')"))
    print(f"{name} pandas {pandas.read_csv(name).euros.sum()}, polars {polars.read_csv(name, infer_schema_length=None)['euros'].sum()}")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
