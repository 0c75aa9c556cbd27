#!/usr/bin/env bash
# pycel 1.0b30 (formulas 1.3.4 and xlcalculator 0.5.0 beside it), workbook written by openpyxl 3.1.5
#
# In a spreadsheet the sign before a number binds more tightly than the power: Excel documents it so, and `=-2^2` is 4 there, other than in most languages.
#
# Expected: a library that runs a workbook's formulas in Python keeps the workbook's rule.
# Seen: -4 from pycel, for a number and for a cell, and in the middle of a formula; Python's own order of operators is kept. formulas and xlcalculator say 4. Where the minus
# stands between two values (`5-2^2`), all agree, as they must. That powers go from the left (`2^3^2` is 64) pycel knows.
#
# Why it matters: an error's square, a variance or a distance comes out negative, from a workbook whose own cells say otherwise.
#
# Output seen:
#   =-2^2 pycel -4 | formulas 4 | xlcalculator 4
#   =-A1^2 pycel -4 | formulas 4 | xlcalculator 4
#   =10+(-A1^2) pycel 6 | formulas 14 | xlcalculator 14
#   =5-A1^2 pycel 1 | formulas 1 | xlcalculator 1
#   =2^3^2 pycel 64 | formulas 64 | xlcalculator 64
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pycel==1.0b30 formulas==1.3.4 xlcalculator==0.5.0 openpyxl==3.1.5 >/dev/null 2>&1

cat > test.py <<'PY'
import warnings

warnings.simplefilter("ignore")
import formulas
import openpyxl
import pycel
from xlcalculator import Evaluator, ModelCompiler

lines = ["=-2^2", "=-A1^2", "=10+(-A1^2)", "=5-A1^2", "=2^3^2"]
book = openpyxl.Workbook()
book.active["A1"] = 2
for row, line in enumerate(lines, 1):
    book.active.cell(row, 3).value = line
book.save("errors.xlsx")
compiler = pycel.ExcelCompiler("errors.xlsx")
model = formulas.ExcelModel().loads("errors.xlsx").finish()
solved = model.calculate()
other = Evaluator(ModelCompiler().read_and_parse_archive("errors.xlsx"))
for row, line in enumerate(lines, 1):
    seen = [compiler.evaluate(f"Sheet!C{row}"), solved[f"'[errors.xlsx]SHEET'!C{row}"].value[0, 0], other.evaluate(f"Sheet!C{row}")]
    print(line, "pycel", int(seen[0]), "| formulas", int(seen[1]), "| xlcalculator", int(seen[2]))
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
