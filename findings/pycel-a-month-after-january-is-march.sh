#!/usr/bin/env bash
# pycel 1.0b30 (formulas 1.3.4 beside it), workbook written by openpyxl 3.1.5
#
# A rent is due a month after the last of January. The sheet says `EDATE(start,1)`.
#
# Expected: the last of February, 2026-02-28, as Excel has it: a month that is too short ends the date on its last day.
# Seen: 2026-03-03. The days that February does not have are counted on into March; the same a month before the last of March, and the 31st of May
# becomes the first of July. `EOMONTH` of the same library is right. Nothing is raised.
#
# Why it matters: a date due moves into another month, and with it the sum of that month; from the 28th on, only, so that a trial with the 15th shows nothing.
#
# Output seen:
#   =EDATE(DATE(2026,1,15),1) pycel 2026-02-15 | formulas 2026-02-15
#   =EDATE(DATE(2026,1,31),1) pycel 2026-03-03 | formulas 2026-02-28
#   =EDATE(DATE(2026,3,31),-1) pycel 2026-03-03 | formulas 2026-02-28
#   =EDATE(DATE(2026,5,31),1) pycel 2026-07-01 | formulas 2026-06-30
#   =EOMONTH(DATE(2026,1,31),1) pycel 2026-02-28 | formulas 2026-02-28
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pycel==1.0b30 formulas==1.3.4 openpyxl==3.1.5 >/dev/null 2>&1

cat > test.py <<'PY'
import datetime
import warnings

warnings.simplefilter("ignore")
import formulas
import openpyxl
import pycel

lines = ["=EDATE(DATE(2026,1,15),1)", "=EDATE(DATE(2026,1,31),1)", "=EDATE(DATE(2026,3,31),-1)", "=EDATE(DATE(2026,5,31),1)", "=EOMONTH(DATE(2026,1,31),1)"]
book = openpyxl.Workbook()
for row, line in enumerate(lines, 1):
    book.active.cell(row, 1).value = line
book.save("rents.xlsx")
compiler = pycel.ExcelCompiler("rents.xlsx")


def day(serial):
    return datetime.date(1899, 12, 30) + datetime.timedelta(days=int(serial))


for row, line in enumerate(lines, 1):
    print(line, "pycel", day(compiler.evaluate(f"Sheet!A{row}")), "| formulas", day(formulas.Parser().ast(line)[1].compile()()))
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
