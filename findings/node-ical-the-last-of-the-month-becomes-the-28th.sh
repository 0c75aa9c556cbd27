#!/usr/bin/env bash
# node-ical 0.26.1 and rrule-temporal 1.6.0 under it (rrule 2.8.1 beside them)
#
# The rent is due on the 31st of January and then monthly, and a birthday is on the 29th of February, yearly.
#
# Expected: what RFC 5545 says of days that a month does not have: they are "ignored", and so does rrule-temporal's manual, where
# leaving them out is the rule and moving them back needs `SKIP=BACKWARD`. Or else the last day of each month.
# Seen: neither. A short month moves the day back, and every later month is counted from there: the first February makes 28 of
# 31 for good, also in March, which has 31 days, and 28 of 29 in the next leap year. Every third month from the 31st of May is the
# 28th after a year. Nothing is raised or logged.
#
# Why it matters: a date that a person sets once wanders by three days, months after it was tried and seen to be right.
#
# Output seen:
#   20260131 FREQ=MONTHLY;COUNT=5
#     node-ical: 2026-01-31 2026-02-28 2026-03-28 2026-04-28 2026-05-28
#     rrule-temporal: 2026-01-31 2026-02-28 2026-03-28 2026-04-28 2026-05-28
#     rrule: 2026-01-31 2026-03-31 2026-05-31 2026-07-31 2026-08-31
#   20260531 FREQ=MONTHLY;INTERVAL=3;COUNT=5
#     node-ical: 2026-05-31 2026-08-31 2026-11-30 2027-02-28 2027-05-28
#     rrule-temporal: 2026-05-31 2026-08-31 2026-11-30 2027-02-28 2027-05-28
#     rrule: 2026-05-31 2026-08-31 2027-05-31 2027-08-31 2028-05-31
#   20240229 FREQ=YEARLY;COUNT=5
#     node-ical: 2024-02-29 2025-02-28 2026-02-28 2027-02-28 2028-02-28
#     rrule-temporal: 2024-02-29 2025-02-28 2026-02-28 2027-02-28 2028-02-28
#     rrule: 2024-02-29 2028-02-29 2032-02-29 2036-02-29 2040-02-29
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit node-ical@0.26.1 rrule-temporal@1.6.0 rrule@2.8.1 >/dev/null 2>&1

cat > list.mjs <<'JS'
import nodeIcal from "node-ical";
import { RRuleTemporal } from "rrule-temporal";
import rrule from "rrule";

function calendar(start, rule) {
  const event = ["BEGIN:VEVENT", "UID:1", "DTSTAMP:20240101T000000Z", "DTSTART:" + start, "DURATION:PT1H", "RRULE:" + rule, "END:VEVENT"];
  return ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:desk", ...event, "END:VCALENDAR", ""].join("\r\n");
}
for (const [start, rule] of [
  ["20260131T090000Z", "FREQ=MONTHLY;COUNT=5"],
  ["20260531T090000Z", "FREQ=MONTHLY;INTERVAL=3;COUNT=5"],
  ["20240229T090000Z", "FREQ=YEARLY;COUNT=5"],
]) {
  console.log(start.slice(0, 8), rule);
  const show = (name, dates) => console.log(" ", name + ":", dates.map((date) => date.slice(0, 10)).join(" "));
  const event = nodeIcal.sync.parseICS(calendar(start, rule))["1"];
  const span = { from: new Date("2024-01-01"), to: new Date("2060-01-01") };
  show("node-ical", nodeIcal.expandRecurringEvent(event, span).map((one) => one.start.toISOString()));
  const text = "DTSTART:" + start + "\nRRULE:" + rule;
  show("rrule-temporal", new RRuleTemporal({ rruleString: text }).all().map(String));
  show("rrule", rrule.rrulestr(text).all().map((date) => date.toISOString()));
}
JS
TZ=UTC node list.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
