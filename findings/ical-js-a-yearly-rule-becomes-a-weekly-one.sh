#!/usr/bin/env bash
# ical.js 2.2.1 (rrule 2.8.1 beside it)
#
# Rules that are to come once a year, most of them examples of RFC 5545 itself: the 20th Monday of the year, Monday of week 20, the
# first Sunday of the year, a birthday on the 29th of February.
#
# Expected: the dates that the RFC lists for its examples, and rrule makes of all of them: one a year.
# Seen: the first three come every Monday or every Sunday, in each of the 52 weeks that follow; for week 20 the start itself is left
# out, too. The birthday is on the 1st of March in years that have no 29th of February, which the RFC leaves out. Nothing is raised,
# though the package does refuse other rules by name ("Invalid BYYEARDAY rule").
#
# Why it matters: a calendar shows a yearly meeting in every week, and a free-and-busy answer is full.
#
# Output seen:
#   19970519 FREQ=YEARLY;BYDAY=20MO
#     ical.js: 1997-05-19 1997-05-26 1997-06-02 1997-06-09 … number 53: 1998-05-18
#     rrule: 1997-05-19 1998-05-18 1999-05-17 2000-05-15
#   19970512 FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO
#     ical.js: 1997-05-19 1997-05-26 1997-06-02 1997-06-09 … number 53: 1998-05-25
#     rrule: 1997-05-12 1998-05-11 1999-05-17 2000-05-15
#   20260104 FREQ=YEARLY;BYDAY=SU;BYSETPOS=1
#     ical.js: 2026-01-04 2026-01-11 2026-01-18 2026-01-25 … number 53: 2027-01-03
#     rrule: 2026-01-04 2027-01-03 2028-01-02 2029-01-07
#   20240229 FREQ=YEARLY
#     ical.js: 2024-02-29 2025-03-01 2026-03-01 2027-03-01 … number 53: 2076-02-29
#     rrule: 2024-02-29 2028-02-29 2032-02-29 2036-02-29
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit ical.js@2.2.1 rrule@2.8.1 >/dev/null 2>&1

cat > list.mjs <<'JS'
import ICAL from "ical.js";
import rrule from "rrule";

for (const [start, rule] of [
  ["19970519T090000", "FREQ=YEARLY;BYDAY=20MO"],
  ["19970512T090000", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO"],
  ["20260104T090000", "FREQ=YEARLY;BYDAY=SU;BYSETPOS=1"],
  ["20240229T090000", "FREQ=YEARLY"],
]) {
  console.log(start.slice(0, 8), rule);
  const from = ICAL.Time.fromString(start.replace(/(....)(..)(..T..)(..)/, "$1-$2-$3:$4:"));
  const dates = ICAL.Recur.fromString(rule).iterator(from);
  const found = [];
  for (let date = dates.next(); found.length < 53; date = dates.next()) found.push(date.toString().slice(0, 10));
  console.log("  ical.js:", found.slice(0, 4).join(" "), "… number 53:", found[52]);
  const right = rrule.rrulestr("DTSTART:" + start + "Z\nRRULE:" + rule).all((_, index) => index < 4);
  console.log("  rrule:", right.map((date) => date.toISOString().slice(0, 10)).join(" "));
}
JS
TZ=UTC node list.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
