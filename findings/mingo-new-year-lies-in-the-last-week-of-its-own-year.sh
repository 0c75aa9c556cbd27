#!/usr/bin/env bash
# mingo 7.2.7 (Python's calendar beside it)
#
# Sales are counted by week with MongoDB's `$isoWeek` and `$isoWeekYear`, which belong together, and by `$week`; and a month is added by `$dateAdd`.
#
# Expected: 1 January 2027 is in week 53 of 2026, and 30 December 2024 in the first of 2025. `$week` counts Sundays from 0 and has at most 53. A month
# after 31 January is the last of February: MongoDB's manual says of `$dateAdd` that the last day of the month is taken.
# Seen: the year of the week is the year of the day, so new year is put at the end of its own year and the last days of 2024 at its beginning. `$week` is one
# too high from the first Sunday on in years that do not begin with one, and starts again in December. A month after January is in March.
#
# Why it matters: the first and last days of a year go into weeks that are a year away; sums by week look right for the rest.
#
# Output seen:
#   mingo 2024-12-29: week 52 of 2024, Sundays 53
#   mingo 2024-12-30: week 1 of 2024, Sundays 1
#   mingo 2026-01-01: week 1 of 2026, Sundays 0
#   mingo 2026-01-04: week 1 of 2026, Sundays 2
#   mingo 2026-06-15: week 25 of 2026, Sundays 25
#   mingo 2026-12-31: week 53 of 2026, Sundays 53
#   mingo 2027-01-01: week 53 of 2027, Sundays 0
#   mingo 2026-01-31 and a month: 2026-03-03
#   mingo 2024-02-29 and a year: 2025-03-01
#   mingo 2026-03-31 and a quarter: 2026-07-01
#   Python 2024-12-29: week 52 of 2024, Sundays 52
#   Python 2024-12-30: week 1 of 2025, Sundays 52
#   Python 2026-01-01: week 1 of 2026, Sundays 0
#   Python 2026-01-04: week 1 of 2026, Sundays 1
#   Python 2026-06-15: week 25 of 2026, Sundays 24
#   Python 2026-12-31: week 53 of 2026, Sundays 52
#   Python 2027-01-01: week 53 of 2026, Sundays 0
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit mingo@7.2.7 >/dev/null 2>&1

cat > week.mjs <<'JS'
import { aggregate } from "mingo";

const value = (expression) => aggregate([{}], [{ $project: { value: expression } }])[0].value;
for (const day of ["2024-12-29", "2024-12-30", "2026-01-01", "2026-01-04", "2026-06-15", "2026-12-31", "2027-01-01"]) {
  const date = new Date(day);
  console.log(`mingo ${day}: week ${value({ $isoWeek: date })} of ${value({ $isoWeekYear: date })}, Sundays ${value({ $week: date })}`);
}
for (const [day, unit] of [["2026-01-31", "month"], ["2024-02-29", "year"], ["2026-03-31", "quarter"]]) {
  const later = value({ $dateAdd: { startDate: new Date(day), unit, amount: 1 } });
  console.log(`mingo ${day} and a ${unit}: ${later.toISOString().slice(0, 10)}`);
}
JS
cat > week.py <<'PY'
from datetime import date
for day in ("2024-12-29", "2024-12-30", "2026-01-01", "2026-01-04", "2026-06-15", "2026-12-31", "2027-01-01"):
    year, week, _ = date.fromisoformat(day).isocalendar()
    print(f"Python {day}: week {week} of {year}, Sundays {int(date.fromisoformat(day).strftime('%U'))}")
PY
(TZ=UTC node week.mjs; python3 week.py) | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
