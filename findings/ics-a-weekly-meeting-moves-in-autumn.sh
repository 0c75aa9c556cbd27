#!/usr/bin/env bash
# ics 0.7.3 (read back with icalendar 7.3.2 and recurring-ical-events 3.8.2)
#
# A calendar with a weekly meeting at nine in Berlin is read and written again, with one title changed.
#
# Expected: the meeting is at nine in Berlin on each Monday, or writing refuses what it cannot keep.
# Seen: the zone of the start is replaced by UTC, the rule of repetition is kept as it was. So the series follows UTC: from the end of
# summer time on all its meetings are at eight. A time without a zone ("nine, wherever I am") becomes nine in UTC.
#
# (It also writes the name of the calendar scale as GEORGIAN, for which the other reader refuses the whole calendar; that is put right here by hand.)
#
# Why it matters: the first months look right, for the difference begins with the next change of the clocks.
#
# Output seen:
#   before: 09:00 on 2026-10-19, 09:00 on 2026-10-26
#   after: 09:00 on 2026-10-19, 08:00 on 2026-10-26
#   floating before: 07:30 None
#   floating after: 07:30 UTC
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check ics==0.7.3 icalendar==7.3.2 recurring-ical-events==3.8.2 2>/dev/null

cat > change.py <<'PY'
from datetime import date
from zoneinfo import ZoneInfo
import ics, icalendar, recurring_ical_events

TEXT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example//EN
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
UID:meeting
DTSTAMP:20260601T000000Z
DTSTART;TZID=Europe/Berlin:20260907T090000
DTEND;TZID=Europe/Berlin:20260907T100000
RRULE:FREQ=WEEKLY
SUMMARY:Meeting
END:VEVENT
BEGIN:VEVENT
UID:pill
DTSTAMP:20260601T000000Z
DTSTART:20260907T073000
DURATION:PT5M
SUMMARY:Pill
END:VEVENT
END:VCALENDAR
""".replace("\n", "\r\n")


def show(name, text):
    calendar = icalendar.Calendar.from_ical(text)
    found = recurring_ical_events.of(calendar).between(date(2026, 10, 19), date(2026, 10, 27))
    starts = sorted(event["DTSTART"].dt.astimezone(ZoneInfo("Europe/Berlin")) for event in found)
    print(f"{name}:", ", ".join(f"{start:%H:%M} on {start:%Y-%m-%d}" for start in starts))
    pill = next(event["DTSTART"].dt for event in calendar.walk("VEVENT") if event["UID"] == "pill")
    return f"floating {name}: {pill:%H:%M} {pill.tzname()}"


calendar = ics.Calendar(TEXT)
for event in calendar.events:
    event.name = event.name + " (moved)" if event.uid == "pill" else event.name
notes = [show("before", TEXT), show("after", calendar.serialize().replace("GEORGIAN", "GREGORIAN"))]
print(*notes, sep="\n")
PY
venv/bin/python change.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
