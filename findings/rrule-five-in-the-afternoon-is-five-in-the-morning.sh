#!/usr/bin/env bash
# rrule 2.8.1
#
# A person types when something is to come, "every day at 5pm", and `RRule.fromText` makes the rule.
#
# Expected: the rule, or an error, as for "every first monday" ("Unknown symbol") and "every quarter" ("Unexpected end"): the package
# says that it knows a part of the language only.
# Seen: "pm" and minutes are passed over, 5pm is 5:00 and 12am is noon. The day behind a month is passed over: "March 3rd" is any
# day of March, whichever the start has. "for 4 weeks" counts meetings, so two a week end after two weeks, and every day "for 3 months"
# ends after three days. `toText` of the rule leaves out the same.
#
# Output seen:
#   every first monday: refused
#   every quarter: refused
#   every day at 9am: FREQ=DAILY;BYHOUR=9 (every day at 9)
#   every day at 5pm: FREQ=DAILY;BYHOUR=5 (every day at 5)
#   every day at 12am: FREQ=DAILY;BYHOUR=12 (every day at 12)
#   every weekday at 9:30: FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9 (every weekday)
#   every year on March 3rd: FREQ=YEARLY;BYMONTH=3 (every March)
#   every year on the 3rd of March: FREQ=YEARLY;BYMONTHDAY=3 (every year on the 3rd)
#   every tuesday and thursday for 4 weeks: FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4 (every week on Tuesday, Thursday for 4 times)
#   every day for 3 months: FREQ=DAILY;COUNT=3 (every day for 3 times)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit rrule@2.8.1 >/dev/null 2>&1

cat > read.mjs <<'JS'
import rrule from "rrule";
for (const text of [
  "every first monday", "every quarter", "every day at 9am", "every day at 5pm", "every day at 12am", "every weekday at 9:30",
  "every year on March 3rd", "every year on the 3rd of March", "every tuesday and thursday for 4 weeks", "every day for 3 months",
]) {
  try {
    const rule = rrule.RRule.fromText(text);
    console.log(text + ": " + rule.toString().replace("RRULE:", "") + " (" + rule.toText() + ")");
  } catch {
    console.log(text + ": refused");
  }
}
JS
TZ=UTC node read.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
