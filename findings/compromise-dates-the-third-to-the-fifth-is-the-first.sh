#!/usr/bin/env bash
# compromise-dates 3.9.0 with compromise 14.17.0 (finds the dates of an English text)
#
# A stay is written day first: "3 to 5 march 2026". The package finds ranges of dates, and with the month first it does.
#
# Expected: from the 3rd to the 5th, whichever stands first, the month or the days; or no date.
# Seen: the first of March, one day: a day that stands nowhere in the text. So with "from", and with a hyphen. "between 3 and 5" is the 5th
# alone. With "3rd to 5th of march" it is right. No error, and one date comes back each time.
#
# Why it matters: a booking for three days is entered as one, in most of Europe's order of writing, on the wrong day.
#
# Output seen:
#   march 3 to 5 2026: 2026-03-03 to 2026-03-05
#   3rd to 5th of march 2026: 2026-03-03 to 2026-03-05
#   3 to 5 march 2026: 2026-03-01 to 2026-03-01
#   from 3 to 5 march 2026: 2026-03-01 to 2026-03-01
#   3-5 march 2026: 2026-03-01 to 2026-03-01
#   between 3 and 5 march 2026: 2026-03-05 to 2026-03-05
#   5 march 2026: 2026-03-05 to 2026-03-05
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit compromise@14.17.0 compromise-dates@3.9.0 >/dev/null 2>&1

cat > test.mjs <<'JS'
import nlp from "compromise";
import dates from "compromise-dates";

nlp.extend(dates);
const day = (text) => text.slice(0, 10);
for (const text of ["march 3 to 5 2026", "3rd to 5th of march 2026", "3 to 5 march 2026", "from 3 to 5 march 2026", "3-5 march 2026", "between 3 and 5 march 2026", "5 march 2026"])
  console.log(`${text}:`, nlp(text).dates({ today: "2026-02-01", timezone: "UTC" }).get().map((found) => `${day(found.start)} to ${day(found.end)}`).join(", "));
JS
TZ=UTC node test.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
