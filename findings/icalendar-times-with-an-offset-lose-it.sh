#!/usr/bin/env bash
# icalendar 7.3.2 (recurring-ical-events 3.8.2 reads too)
#
# The start of a meeting comes from an API, "2026-11-30T10:00:00+05:30", is read by `datetime.fromisoformat` and put into a calendar.
#
# Expected: the same moment in the file: in UTC (04:30, with a Z), as the format has no offsets.
# Seen: the offset is written as the name of a time zone, TZID="UTC+05:30", which no calendar program knows and which the file does
# not define; `add_missing_timezones`, made for that, leaves it out. The package itself reads such a time back without any
# zone, as one that floats: ten o'clock wherever the reader is. Nothing is raised or logged. A time in a zone with a name and one
# in UTC come back as they were.
#
# Why it matters: the meeting is at another hour for everyone who is not at that offset, after a write and a read by the same package.
#
# Output seen:
#   2026-11-30 10:00:00+00:00 -> DTSTART:20261130T100000Z -> 2026-11-30 10:00:00+00:00; zones in the file: 0
#   2026-11-30 10:00:00+05:30 -> DTSTART;TZID=Asia/Kolkata:20261130T100000 -> 2026-11-30 10:00:00+05:30; zones in the file: 1
#   2026-11-30 10:00:00+05:30 -> DTSTART;TZID="UTC+05:30":20261130T100000 -> 2026-11-30 10:00:00; zones in the file: 0
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check icalendar==7.3.2 recurring-ical-events==3.8.2 tzdata 2>/dev/null

cat > meet.py <<'PY'
from datetime import datetime
from zoneinfo import ZoneInfo
import icalendar, recurring_ical_events
for start in (
    datetime.fromisoformat("2026-11-30T10:00:00+00:00"),
    datetime(2026, 11, 30, 10, tzinfo=ZoneInfo("Asia/Kolkata")),
    datetime.fromisoformat("2026-11-30T10:00:00+05:30"),
):
    event = icalendar.Event()
    event.add("uid", "1")
    event.add("dtstart", start)
    calendar = icalendar.Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", "desk")
    calendar.add_component(event)
    calendar.add_missing_timezones()
    text = calendar.to_ical()
    line = next(line for line in text.decode().splitlines() if line.startswith("DTSTART") and "20261130" in line)
    again = icalendar.Calendar.from_ical(text)
    read = again.walk("VEVENT")[0]["dtstart"].dt
    listed = recurring_ical_events.of(again).at("20261130")[0]["dtstart"].dt
    assert listed == read
    print(f"{start} -> {line} -> {read}; zones in the file: {len(again.walk('VTIMEZONE'))}")
PY
venv/bin/python meet.py 2>&1 | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
