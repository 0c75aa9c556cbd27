#!/usr/bin/env bash
# rrule 2.8.1
#
# Rules of a calendar are shown as text, so that a person can check them: pay day is the last working day of a month, a report comes
# at 9:30 and 17:30, a class on the first of two days. The package converts rules incompletely, says so, and offers
# `isFullyConvertibleToText()`, a "hint on whether all the options the rule has are convertible".
#
# Expected: the hint is false where the text leaves something out.
# Seen: it is true. Which of a month's days is meant (BYSETPOS) is not in the text, nor are minutes: the last working day
# reads "every month on weekdays". A rule that is made of the text by `fromText` has 21 dates in January instead of one.
#
# Why it matters: the one check that the package has passes, and the person reads another rule than the calendar keeps.
#
# Output seen:
#   FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1: every month on weekdays; fully: true; back: FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR
#   FREQ=MONTHLY;BYDAY=TU,TH;BYSETPOS=1: every month on Tuesday, Thursday; fully: true; back: FREQ=MONTHLY;BYDAY=TU,TH
#   FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30: every day at 9 and 17; fully: true; back: FREQ=DAILY;BYHOUR=9,17
#   FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=45: every week on Monday at 9; fully: true; back: FREQ=WEEKLY;BYDAY=MO;BYHOUR=9
#   FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1: 1 in January
#   FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR: 21 in January
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit rrule@2.8.1 >/dev/null 2>&1

cat > show.mjs <<'JS'
import rrule from "rrule";
const start = "DTSTART:20261201T080000Z\n";
for (const text of [
  "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
  "FREQ=MONTHLY;BYDAY=TU,TH;BYSETPOS=1",
  "FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30",
  "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=45",
]) {
  const rule = rrule.rrulestr(start + "RRULE:" + text);
  const again = rrule.RRule.fromText(rule.toText()).toString().replace(/^RRULE:/, "");
  console.log(text + ": " + rule.toText() + "; fully: " + rule.isFullyConvertibleToText() + "; back: " + again);
}
const month = [new Date("2027-01-01T00:00:00Z"), new Date("2027-02-01T00:00:00Z")];
for (const text of ["FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR"]) {
  console.log(text + ": " + rrule.rrulestr(start + "RRULE:" + text).between(...month).length + " in January");
}
JS
TZ=UTC node show.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
