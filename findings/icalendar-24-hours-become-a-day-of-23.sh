#!/usr/bin/env bash
# icalendar 7.3.2 (node-ical 0.26.1 reads too)
#
# A shift on call begins on 28 March 2026 at 18:00 in Berlin and lasts 24 hours: DURATION:PT24H. In that night the clocks go forward.
#
# Expected: the end is 19:00 on the next day. RFC 5545 tells the two apart: hours are exact, PT24H, while a day, P1D, is as long as the
# calendar makes it, 23 hours in this night.
# Seen: the end is 18:00, so that 24 hours are 23. And a calendar that is read and written again has P1D in the place of PT24H, and
# P2D in the place of PT48H: the next reader cannot know better. PT23H stays as it is, and lasts 22 hours. (node-ical counts all of them as
# hours, which makes a day of 24 of P1D.)
#
# Why it matters: an hour of duty that nobody has, and a file that is changed by passing through.
#
# Output seen:
#   PT23H: until 29 March 17:00 CEST, 22 hours (node-ical: 23); written again: DURATION:PT23H
#   PT24H: until 29 March 18:00 CEST, 23 hours (node-ical: 24); written again: DURATION:P1D
#   PT48H: until 30 March 18:00 CEST, 47 hours (node-ical: 48); written again: DURATION:P2D
#   P1D: until 29 March 18:00 CEST, 23 hours (node-ical: 24); written again: DURATION:P1D
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check icalendar==7.3.2 tzdata 2>/dev/null
npm install --silent --no-fund --no-audit node-ical@0.26.1 >/dev/null 2>&1

cat > read.py <<'PY'
import subprocess
from datetime import timezone
import icalendar

NODE = """
const event = require("node-ical").sync.parseFile("shift.ics")["1"];
console.log((event.end - event.start) / 3600000);
"""
for length in ("PT23H", "PT24H", "PT48H", "P1D"):
    event = ["BEGIN:VEVENT", "UID:1", "DTSTAMP:20260101T000000Z", "DTSTART;TZID=Europe/Berlin:20260328T180000", f"DURATION:{length}", "END:VEVENT"]
    with open("shift.ics", "w", newline="") as file:
        file.write("\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:desk", *event, "END:VCALENDAR", ""]))
    with open("shift.ics", "rb") as file:
        calendar = icalendar.Calendar.from_ical(file.read())
    shift = calendar.walk("VEVENT")[0]
    hours = (shift.end.astimezone(timezone.utc) - shift.start.astimezone(timezone.utc)).total_seconds() / 3600
    again = next(line for line in calendar.to_ical().decode().splitlines() if line.startswith("DURATION"))
    other = subprocess.run(["node", "-e", NODE], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{length}: until {shift.end:%d %B %H:%M %Z}, {hours:g} hours (node-ical: {other}); written again: {again}")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
