#!/usr/bin/env bash
# parse-duration 2.1.9
#
# Times that people type: half an hour as a fraction, a range, a clock's 1:30. They are asked for in milliseconds and in hours.
#
# Expected: half an hour, or null, as for "half an hour". Other noise is said to be passed over ("duration: 1h:20min").
# Seen: a number without a unit counts in the unit of the answer. "1/2 hour" is an hour for the 2 and one more unit for the 1: three hours
# when it is asked for in hours, two hours and a millisecond when it is not. A range is the sum of its ends, and with "1½" the half
# and its unit are lost: a millisecond. The same text has another length in each unit.
#
# Why it matters: a field for a person's time takes these texts and gives a number each time, and null is what a program looks for.
#
# Output seen:
#   30 min: 1800000 ms, 30 min, 0.5 h
#   half an hour: null ms, null min, null h
#   1/2 hour: 7200001 ms, 121 min, 3 h
#   1½ hours: 1 ms, 1 min, 1 h
#   1-2 hours: 7200001 ms, 121 min, 3 h
#   5-10 minutes: 600005 ms, 15 min, 5.166666666666667 h
#   1:30: 1.03 ms, 1.5 min, 1.5 h
#   1:30 h: 108000001 ms, 1801 min, 31 h
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit parse-duration@2.1.9 >/dev/null 2>&1

cat > read.mjs <<'JS'
import parse from "parse-duration";
for (const text of ["30 min", "half an hour", "1/2 hour", "1½ hours", "1-2 hours", "5-10 minutes", "1:30", "1:30 h"]) {
  const [ms, m, h] = [parse(text), parse(text, "m"), parse(text, "h")];
  console.log(text + ": " + ms + " ms, " + m + " min, " + h + " h");
}
JS
node read.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
