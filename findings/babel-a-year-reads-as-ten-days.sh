#!/usr/bin/env bash
# babel 2.19.0 (the Intl of Node 20 beside it: ICU, which reads the same tables of CLDR)
#
# Times from one moment to another are written for people: a season ticket, a shift over night, a booking of a day. The skeleton says
# what one wants to see, "MMMd" (month and day) or "Hm" (hours and minutes).
#
# Expected: where the two differ in something larger than the skeleton shows, that is added, as ICU does, or an error.
# Seen: the larger field is not looked at. From 10 March 2026 to 20 March 2027 is "Mar 10 – 20", to 10 March 2027 just "Mar 10", and
# a day from 9:00 to 9:00 is the moment "9:00 AM". From 31 January to the 1st of the next January is "Jan 31 – 1". Nothing is
# said of it; the manual tells only of skeletons that are unknown.
#
# Why it matters: a contract or a booking shows ten days for a year, in every language, and each line looks well formed.
#
# Output seen:
#   2026-03-10T00:00 to 2026-03-20T00:00, MMMd, en: Mar 10 – 20 (Intl: Mar 10 – 20)
#   2026-03-10T00:00 to 2027-03-20T00:00, MMMd, en: Mar 10 – 20 (Intl: Mar 10, 2026 – Mar 20, 2027)
#   2026-03-10T00:00 to 2027-03-20T00:00, MMMd, de: 10.–20. März (Intl: 10. März 2026 – 20. März 2027)
#   2026-03-10T00:00 to 2027-03-10T00:00, MMMd, en: Mar 10 (Intl: Mar 10, 2026 – Mar 10, 2027)
#   2026-01-31T00:00 to 2027-01-01T00:00, MMMd, en: Jan 31 – 1 (Intl: Jan 31, 2026 – Jan 1, 2027)
#   2026-01-01T09:00 to 2026-01-02T09:00, hm, en: 9:00 AM (Intl: 1/1/2026, 9:00 AM – 1/2/2026, 9:00 AM)
#   2026-01-01T09:00 to 2026-01-02T17:00, hm, en: 9:00 AM – 5:00 PM (Intl: 1/1/2026, 9:00 AM – 1/2/2026, 5:00 PM)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check babel==2.19.0 2>/dev/null

cat > show.py <<'PY'
import json, subprocess
from datetime import datetime
from babel.dates import format_interval

NODE = """
const [start, end, options, locale] = JSON.parse(process.argv[1]);
const form = new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
console.log(form.formatRange(new Date(start + "Z"), new Date(end + "Z")));
"""
DAY, CLOCK = {"month": "short", "day": "numeric"}, {"hour": "numeric", "minute": "2-digit"}
for start, end, skeleton, options, locale in (
    ("2026-03-10T00:00", "2026-03-20T00:00", "MMMd", DAY, "en"),
    ("2026-03-10T00:00", "2027-03-20T00:00", "MMMd", DAY, "en"),
    ("2026-03-10T00:00", "2027-03-20T00:00", "MMMd", DAY, "de"),
    ("2026-03-10T00:00", "2027-03-10T00:00", "MMMd", DAY, "en"),
    ("2026-01-31T00:00", "2027-01-01T00:00", "MMMd", DAY, "en"),
    ("2026-01-01T09:00", "2026-01-02T09:00", "hm", CLOCK, "en"),
    ("2026-01-01T09:00", "2026-01-02T17:00", "hm", CLOCK, "en"),
):
    shown = format_interval(datetime.fromisoformat(start), datetime.fromisoformat(end), skeleton, locale=locale)
    right = subprocess.run(["node", "-e", NODE, json.dumps([start, end, options, locale])], capture_output=True, text=True, check=True)
    plain = [" ".join(text.split()) for text in (shown, right.stdout)]
    print(f"{start} to {end}, {skeleton}, {locale}: {plain[0]} (Intl: {plain[1]})")
PY
venv/bin/python show.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
