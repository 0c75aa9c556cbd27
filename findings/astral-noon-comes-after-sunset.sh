#!/usr/bin/env bash
# astral 3.2
#
# The sun of one day (dawn, sunrise, noon, sunset, dusk) is asked for places near the date line, each with its own time zone.
#
# Expected: five times of the day that was asked, in this order.
# Seen: on islands that lie in the west by degrees and in the east by their clocks, sunrise and sunset are of the day asked, noon is of the
# next: it comes hours after dusk. So it is on each day of the year. Fiji, on the other side of the line, is right.
#
# Why it matters: whoever takes "morning is from sunrise to noon" gets a morning of thirty hours.
#
# Output seen:
#   Apia: sunrise 1 06:44, noon 2 12:24, sunset 1 18:05
#   Tongatapu: sunrise 1 07:10, noon 2 12:38, sunset 1 18:06
#   Kiritimati: sunrise 1 06:20, noon 2 12:27, sunset 1 18:33
#   Chatham: sunrise 1 07:55, noon 2 12:28, sunset 1 17:02
#   Fiji: sunrise 1 06:30, noon 1 12:04, sunset 1 17:37
#   days of the year with noon after dusk in Apia: 365
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check astral==3.2 tzdata==2026.6 2>/dev/null

cat > ask.py <<'PY'
from datetime import date, timedelta
from zoneinfo import ZoneInfo
from astral import Observer
from astral.sun import sun

PLACES = {"Apia": (-13.8, -171.8), "Tongatapu": (-21.1, -175.2), "Kiritimati": (1.9, -157.4), "Chatham": (-43.9, -176.5), "Fiji": (-18.1, 178.4)}
for name, place in PLACES.items():
    times = sun(Observer(*place), date(2026, 6, 1), tzinfo=ZoneInfo(f"Pacific/{name}"))
    print(f"{name}: " + ", ".join(f"{kind} {times[kind].day} {times[kind]:%H:%M}" for kind in ("sunrise", "noon", "sunset")))
year = [date(2026, 1, 1) + timedelta(day) for day in range(365)]
suns = [sun(Observer(*PLACES["Apia"]), day, tzinfo=ZoneInfo("Pacific/Apia")) for day in year]
print("days of the year with noon after dusk in Apia:", sum(times["noon"] > times["dusk"] for times in suns))
PY
venv/bin/python ask.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
