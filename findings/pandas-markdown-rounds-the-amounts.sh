#!/usr/bin/env bash
# pandas 3.1.1, tabulate 0.10.0
#
# A frame of orders is handed to a model, or put into a report, by `to_markdown()`: amounts, and part numbers that are text.
#
# Expected: what the frame holds, as `to_string` and `to_csv` write it.
# Seen: amounts are kept to six digits: 1234567.89 and 1234572.11 are both 1.23457e+06, and of 1000000.01 the cent is gone. Text that
# looks like a number is taken for one: the part number 1e5 is 100000, 007 is 7, and the version 3.10 is 3.1. If one text of the column
# looks like no number, all of them stay as they are.
#
# Why it matters: two amounts look equal that are not, the sum of the table is not that of the orders, and a part or a version is
# another one. Small amounts and words, which examples have, are right.
#
# Output seen:
#   |      amount |   part |   version |
#   |------------:|-------:|----------:|
#   | 1.23457e+06 | 100000 |       3.1 |
#   | 1.23457e+06 |  12000 |       3.9 |
#   | 1e+06       |      7 |       3.1 |
#       amount part version
#   1234567.89  1e5    3.10
#   1234572.11 12e3     3.9
#   1000000.01  007     3.1
#   |   amount | part   | version   |
#   |---------:|:-------|:----------|
#   |    19.99 | 1e5    | 3.10      |
#   |     4.6  | none   | 3.9b1     |
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pandas==3.1.1 tabulate==0.10.0 2>/dev/null

cat > show.py <<'PY'
import pandas
orders = pandas.DataFrame({"amount": [1234567.89, 1234572.11, 1000000.01], "part": ["1e5", "12e3", "007"], "version": ["3.10", "3.9", "3.1"]})
print(orders.to_markdown(index=False))
print(orders.to_string(index=False))
small = pandas.DataFrame({"amount": [19.99, 4.6], "part": ["1e5", "none"], "version": ["3.10", "3.9b1"]})
print(small.to_markdown(index=False))
PY
venv/bin/python show.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
