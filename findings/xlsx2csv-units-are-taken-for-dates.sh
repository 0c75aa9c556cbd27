#!/usr/bin/env bash
# xlsx2csv 0.8.6 (the workbook is made by openpyxl 3.1.5)
#
# A sheet whose numbers have their unit in the format, as Excel offers it: 5 shown as 5 d, 1.5 as 1.5 hours, a share of 50%.
#
# Expected: the number, with its unit or without. Text in quotes is no code of a format.
# Seen: a d, h, m, s or y in the quoted unit makes the number a date. 5 days are 4, one and a half hours are "12ours", three
# metres are 1, a share of one half is noon. What stands in the file is the format with its quotes and a number that is not
# the cell's. Units without these letters (EUR, kg) do no harm.
#
# Output seen:
#   5 as 0 "d": 0 "04"
#   1.5 as 0.0 "hours": 0.0 "12ours"
#   3 as 0 "m": 0 "01"
#   0.5 as "share: "0%: 12:00
#   1250 as 0 "kg": 1250
#   99.5 as 0.00 "EUR": 99.50000000
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check xlsx2csv==0.8.6 openpyxl==3.1.5 2>/dev/null

cat > make.py <<'PY'
import csv, subprocess
import openpyxl

CELLS = ((5, '0 "d"'), (1.5, '0.0 "hours"'), (3, '0 "m"'), (0.5, '"share: "0%'), (1250, '0 "kg"'), (99.5, '0.00 "EUR"'))
book = openpyxl.Workbook()
for number, (value, form) in enumerate(CELLS, 1):
    cell = book.active.cell(number, 1, value)
    cell.number_format = form
book.save("units.xlsx")
text = subprocess.run(["venv/bin/xlsx2csv", "units.xlsx"], capture_output=True, text=True, check=True).stdout
for (value, form), row in zip(CELLS, csv.reader(text.splitlines())):
    print(f"{value} as {form}: {row[0]}")
PY
venv/bin/python make.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
