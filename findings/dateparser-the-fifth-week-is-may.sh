#!/usr/bin/env bash
# dateparser 1.5.0
#
# Plans name weeks and quarters: "2026-W05" (ISO 8601), "Q3 2026", "H2 2026". Today is the last of November 2026.
#
# Expected: the first day of the week or the quarter, or None, as for "2026-W31", "week 5 2026" and "1st quarter 2026".
# Seen: the letter is dropped and the number fitted in where it goes: the fifth week (from 26 January) is in May, the thirteenth (from 23
# March) is the 13th of November, the third day of the fifth week is the third of May. Quarters get the month in the middle and the day of today,
# the second half of the year is in February.
#
# Why it matters: week 31 is refused and week 13 is not, so the errors of a list of deadlines look like its gaps.
#
# Output seen:
#   2026-W05: 2026-05-30
#   2026-W13: 2026-11-13
#   2026-W31: None
#   2026-W05-3: 2026-05-03
#   Q3 2026: 2026-08-30
#   H2 2026: 2026-02-28
#   week 5 2026: None
#   1st quarter 2026: None
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dateparser==1.5.0 2>/dev/null

cat > read.py <<'PY'
from datetime import datetime
import dateparser

today = {"RELATIVE_BASE": datetime(2026, 11, 30, 12)}
for text in ("2026-W05", "2026-W13", "2026-W31", "2026-W05-3", "Q3 2026", "H2 2026", "week 5 2026", "1st quarter 2026"):
    found = dateparser.parse(text, settings=today)
    print(f"{text}: {found and found.date()}")
PY
venv/bin/python read.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
