#!/usr/bin/env bash
# dayjs 1.11.23 with its plugins duration and quarterOfYear
#
# A subscription runs for P1M, a duration of one month as an API sends it, from the first of February. It is added to the date and taken off.
# Elsewhere in the program someone loads the plugin that tells the quarter of a date.
#
# Expected: the first of March, and back, whatever else is loaded.
# Seen: it is so with the plugin for durations alone, or if that is loaded last. If the one for quarters comes last, `add` counts the month as
# the average of all, 30 days and 10 hours, and ends on 3 March at 10:00, while `subtract` goes by the calendar: there and back is not where
# one began, and a year added over a 29th of February is a day short. The manual says nothing of an order.
#
# Why it matters: an import in another module changes dates, and a midnight becomes a time of day.
#
# Output seen:
#   loaded: duration
#     2026-02-01 add P1M: 2026-03-01 00:00, and back: 2026-02-01 00:00
#     2028-01-01 add P1Y: 2029-01-01 00:00, and back: 2028-01-01 00:00
#   loaded: quarterOfYear, duration
#     2026-02-01 add P1M: 2026-03-01 00:00, and back: 2026-02-01 00:00
#     2028-01-01 add P1Y: 2029-01-01 00:00, and back: 2028-01-01 00:00
#   loaded: duration, quarterOfYear
#     2026-02-01 add P1M: 2026-03-03 10:00, and back: 2026-02-03 10:00
#     2028-01-01 add P1Y: 2028-12-31 00:00, and back: 2027-12-31 00:00
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit dayjs@1.11.23 >/dev/null 2>&1

cat > add.mjs <<'JS'
import dayjs from "dayjs";
const show = (date) => date.format("YYYY-MM-DD HH:mm");
const names = process.argv.slice(2);
for (const name of names) dayjs.extend((await import("dayjs/plugin/" + name + ".js")).default);
console.log("loaded: " + names.join(", "));
for (const [start, text] of [["2026-02-01", "P1M"], ["2028-01-01", "P1Y"]]) {
  const length = dayjs.duration(text);
  const later = dayjs(start).add(length);
  console.log("  " + start + " add " + text + ": " + show(later) + ", and back: " + show(later.subtract(length)));
}
JS
export TZ=UTC
(node add.mjs duration; node add.mjs quarterOfYear duration; node add.mjs duration quarterOfYear) | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
