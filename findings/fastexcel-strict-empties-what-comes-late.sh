#!/usr/bin/env bash
# fastexcel 0.21.0, polars 2.1.0, which reads with it (pandas 3.1.1 with openpyxl 3.1.5 beside them)
#
# A sheet with 1200 amounts and, at its end, some that are not known ("n/a"), one with its currency ("12 EUR"), and one that is a day. It is read with
# `dtype_coercion="strict"`, which "will raise an error in case a column contains several dtypes", and by `polars.read_excel`.
#
# Expected: an error with "strict"; else text, or what pandas gives.
# Seen: the type is taken from the first rows, as is said, and what does not fit behind them becomes empty, with "strict" too. Nothing is raised and nothing
# counted. The same cells among the first rows raise an error, or make a column of text.
#
# Why it matters: a sum over the column looks right, and nobody sees that amounts are missing. polars' CSV reader raises an error in the same place.
#
# Output seen:
#   last: fastexcel, strict: [None, None, None, 7.5]
#   last: polars: [None, None, None, 7.5]
#   last: pandas: ['n/a', '12 EUR', '2026-11-30 00:00:00', '7.5']
#   first: fastexcel, strict: UnsupportedColumnTypeCombinationError
#   first: polars: ['n/a', '12 EUR', '2026-11-30 00:00:00', '7.5']
#   first: pandas: ['n/a', '12 EUR', '2026-11-30 00:00:00', '7.5']
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check fastexcel==0.21.0 polars==2.1.0 pandas==3.1.1 openpyxl==3.1.5 2>/dev/null

cat > read.py <<'PY'
import datetime, fastexcel, openpyxl, pandas, polars
late = ["n/a", "12 EUR", datetime.datetime(2026, 11, 30), 7.5]
for place in ("last", "first"):
    book = openpyxl.Workbook()
    known = [10.25] * 1200
    book.active.append(["order", "amount"])
    for order, value in enumerate(known + late if place == "last" else late + known):
        book.active.append([order, value])
    book.save("amounts.xlsx")
    readers = {
        "fastexcel, strict": lambda: fastexcel.read_excel("amounts.xlsx").load_sheet(0, dtype_coercion="strict").to_polars()["amount"].to_list(),
        "polars": lambda: polars.read_excel("amounts.xlsx")["amount"].to_list(),
        "pandas": lambda: pandas.read_excel("amounts.xlsx", keep_default_na=False)["amount"].map(str).to_list(),
    }
    for name, read in readers.items():
        try:
            values = read()
            print(f"{place}: {name}: {values[-4:] if place == 'last' else values[:4]}")
        except fastexcel.FastExcelError as error:
            print(f"{place}: {name}: {type(error).__name__}")
PY
venv/bin/python read.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
