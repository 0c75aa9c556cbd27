#!/usr/bin/env bash
# cron-schedule 6.0.0 (croner 11.0.1 and cron-parser 5.10.6 beside it)
#
# Expressions of cron with what many libraries add to it: the last Friday (5L), the second Friday (5#2), the working day nearest to
# the 15th (15W), every quarter of an hour from the fifth minute (5/15).
#
# Expected: the dates, or an error. The package's manual says nothing of the additions, and it refuses "L" and "?" ("L is NaN").
# Seen: each part is read as far as its digits go. 5L and 5#2 are every Friday, 15W is the 15th, also on a Sunday, 5/15 is once an hour,
# and 1.5 is 1. Nothing is raised.
#
# Why it matters: a monthly run of payments is weekly, and the check that an expression is valid has passed.
#
# Output seen:
#   0 9 L * *
#     cron-schedule: refused
#     croner: 01-31T09:00 02-28T09:00 03-31T09:00
#     cron-parser: 01-31T09:00 02-28T09:00 03-31T09:00
#   0 9 * * 5L
#     cron-schedule: 01-02T09:00 01-09T09:00 01-16T09:00
#     croner: 01-30T09:00 02-27T09:00 03-27T09:00
#     cron-parser: 01-30T09:00 02-27T09:00 03-27T09:00
#   0 9 * * 5#2
#     cron-schedule: 01-02T09:00 01-09T09:00 01-16T09:00
#     croner: 01-09T09:00 02-13T09:00 03-13T09:00
#     cron-parser: 01-09T09:00 02-13T09:00 03-13T09:00
#   0 9 15W * *
#     cron-schedule: 01-15T09:00 02-15T09:00 03-15T09:00
#     croner: 01-15T09:00 02-16T09:00 03-16T09:00
#     cron-parser: refused
#   5/15 9 * * *
#     cron-schedule: 01-01T09:05 01-02T09:05 01-03T09:05
#     croner: refused
#     cron-parser: 01-01T09:05 01-01T09:20 01-01T09:35
#   0 1.5 * * *
#     cron-schedule: 01-01T01:00 01-02T01:00 01-03T01:00
#     croner: refused
#     cron-parser: refused
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit cron-schedule@6.0.0 croner@11.0.1 cron-parser@5.10.6 >/dev/null 2>&1

cat > list.mjs <<'JS'
import { parseCronExpression } from "cron-schedule";
import { Cron } from "croner";
import { CronExpressionParser } from "cron-parser";
const start = new Date("2026-01-01T00:00:00Z");
const readers = {
  "cron-schedule": (text) => parseCronExpression(text).getNextDates(3, start),
  croner: (text) => new Cron(text, { timezone: "UTC" }).nextRuns(3, start),
  "cron-parser": (text) => CronExpressionParser.parse(text, { currentDate: start, tz: "UTC" }).take(3).map((date) => date.toDate()),
};
for (const text of ["0 9 L * *", "0 9 * * 5L", "0 9 * * 5#2", "0 9 15W * *", "5/15 9 * * *", "0 1.5 * * *"]) {
  console.log(text);
  for (const [name, read] of Object.entries(readers)) {
    let found = "refused";
    try {
      found = read(text).map((date) => date.toISOString().slice(5, 16)).join(" ");
    } catch {}
    console.log("  " + name + ": " + found);
  }
}
JS
TZ=UTC node list.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
