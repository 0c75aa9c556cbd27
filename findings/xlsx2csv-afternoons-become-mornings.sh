#!/usr/bin/env bash
# xlsx2csv 0.8.6 (the workbook is made by openpyxl 3.1.5)
#
# Appointments and hours worked: a date with its time, and a sum of hours beyond a day ("[h]:mm:ss").
#
# Expected: 18:05 is 18:05, 30 hours and a quarter are 30:15:00.
# Seen: behind a date the hour is written by a clock of twelve, without "PM", so that the evening cannot be told from the morning, and the
# hours lose their days. A time alone is right.
#
# Output seen:
#   2026-03-01 18:05:00 as m/d/yy h:mm: 03/01/26 06:05
#   2026-03-01 06:05:00 as m/d/yy h:mm: 03/01/26 06:05
#   18:05:00 as h:mm: 18:05
#   1 day, 6:15:00 as [h]:mm:ss: 06:15
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check xlsx2csv==0.8.6 openpyxl==3.1.5 2>/dev/null

cat > make.py <<'PY'
import csv, subprocess
from datetime import datetime, time, timedelta
import openpyxl

CELLS = (
    (datetime(2026, 3, 1, 18, 5), "m/d/yy h:mm"), (datetime(2026, 3, 1, 6, 5), "m/d/yy h:mm"), (time(18, 5), "h:mm"),
    (timedelta(hours=30, minutes=15), "[h]:mm:ss"),
)
book = openpyxl.Workbook()
for number, (value, form) in enumerate(CELLS, 1):
    cell = book.active.cell(number, 1, value)
    cell.number_format = form
book.save("times.xlsx")
text = subprocess.run(["venv/bin/xlsx2csv", "times.xlsx"], capture_output=True, text=True, check=True).stdout
for (value, form), row in zip(CELLS, csv.reader(text.splitlines())):
    print(f"{value} as {form}: {row[0]}")
PY
venv/bin/python make.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
