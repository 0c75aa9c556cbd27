#!/usr/bin/env bash
# markitdown 0.1.9 (with pandas 3.1.1, openpyxl 3.1.5)
#
# A spreadsheet becomes Markdown for a model: order numbers, of which one cell is still empty, a customer's number that is
# stored as text with a leading zero, a country code and a yes or no.
#
# Expected: each cell as the spreadsheet holds it, and an empty cell empty.
# Seen: the sheet goes through a table of numbers. One empty cell makes the column fractions, and a long number among
# them makes every number of the column seven digits with an exponent, so 1000000001 and 1000000002 become one. Text that
# looks like a number loses its zero. The text NA (Namibia) and empty cells are both NaN. Yes becomes 1.0. A value with |
# adds a column to its row. A CSV file with the same cells keeps all of it.
#
# Why it matters: the model answers questions about orders and customers that do not exist.
#
# Output seen:
#   | order | customer | country | paid | note |
#   | 1.000000e+09 | 117.0 | NaN | 1.0 | a|b |
#   | 1.000000e+09 | 42.0 | DE | NaN | c |
#   | NaN | NaN | DE | 0.0 | d |
#   | 1.234568e+11 | 9.0 | FR | 1.0 | e |
#   as CSV: | 1000000001 | 00117 | NA | TRUE | a\|b |
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'markitdown[xlsx]==0.1.9' openpyxl==3.1.5 pandas==3.1.1

cat > try.py <<'PY'
import csv, openpyxl
from markitdown import MarkItDown
rows = [
    ["order", "customer", "country", "paid", "note"],
    [1000000001, "00117", "NA", True, "a|b"],
    [1000000002, "0042", "DE", None, "c"],
    [None, None, "DE", False, "d"],
    [123456789012, "009", "FR", True, "e"],
]
book = openpyxl.Workbook()
for row in rows:
    book.active.append(row)
book.save("orders.xlsx")
with open("orders.csv", "w", newline="") as file:
    csv.writer(file).writerows(["TRUE" if cell is True else "FALSE" if cell is False else cell for cell in row] for row in rows)
reader = MarkItDown()
lines = [line for line in reader.convert("orders.xlsx").markdown.splitlines() if line.startswith("|") and "---" not in line]
print(*lines, sep="\n")
print("as CSV:", next(line for line in reader.convert("orders.csv").markdown.splitlines() if "00117" in line))
PY
venv/bin/python -W ignore try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
