#!/usr/bin/env bash
# chrono-node 2.10.3
#
# "Delete what is older than 1,000 days", "two days before Christmas": `parseDate` makes a date of a text that a person typed.
#
# Expected: the day, or null as for what it cannot read ("in a hundred days").
# Seen: a part of the number or of the sentence is left out and the rest is read. Of "1,000 days ago" the words "000 days ago" are
# taken, which is now, of "1,5 hours ago" the 5 hours, of "one and a half hours ago" the half hour; "2 days before christmas" is
# two days ago, although "2 days before 5 May" and "christmas" (null) are not mistaken.
#
# Why it matters: the check that a date was found passes. What is older than now is everything.
#
# Output seen:
#   1000 days ago: 2024-03-05T12:00 (1000 days ago)
#   1,000 days ago: 2026-11-30T12:00 (000 days ago)
#   10,000 minutes ago: 2026-11-30T12:00 (000 minutes ago)
#   1.5 hours ago: 2026-11-30T10:30 (1.5 hours ago)
#   1,5 hours ago: 2026-11-30T07:00 (5 hours ago)
#   half an hour ago: 2026-11-30T11:30 (half an hour ago)
#   one and a half hours ago: 2026-11-30T11:30 (half hours ago)
#   2 days before 5 May: 2027-05-03T12:00 (2 days before 5 May)
#   2 days before christmas: 2026-11-28T12:00 (2 days before)
#   christmas: null
#   in a hundred days: null

set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit chrono-node@2.10.3 >/dev/null 2>&1

cat > read.mjs <<'JS'
import * as chrono from "chrono-node";
const now = new Date("2026-11-30T12:00:00Z");
for (const text of [
  "1000 days ago", "1,000 days ago", "10,000 minutes ago", "1.5 hours ago", "1,5 hours ago", "half an hour ago", "one and a half hours ago",
  "2 days before 5 May", "2 days before christmas", "christmas", "in a hundred days",
]) {
  const [found] = chrono.parse(text, { instant: now, timezone: "UTC" });
  const time = chrono.parseDate(text, { instant: now, timezone: "UTC" });
  console.log(text + ": " + (time ? time.toISOString().slice(0, 16) + " (" + found.text + ")" : "null"));
}
JS
TZ=UTC node read.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
