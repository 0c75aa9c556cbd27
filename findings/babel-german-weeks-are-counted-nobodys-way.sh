#!/usr/bin/env bash
# babel 2.19.0 (the Intl of Node 20 beside it)
#
# Weeks are written by number for readers of German, French and Swedish: the pattern "YYYY-'W'ww" with the locale "de", as one
# names a language everywhere else. Germany, France and Sweden count by ISO 8601.
#
# Expected: the week that "de_DE" gives, as CLDR says which country a language without one stands for ("likely subtags"), and ICU follows.
# Seen: without a country the weeks of "the world" are taken, in which one day of the new year makes week 1. Around New Year the number
# and the year are other ones: 28 December 2026 is in week 53 of 2026, and "de" says week 1 of 2027. In 2027 every week is one too high,
# from 4 January to 26 December. For "en" the week begins on Monday, for "en_US" on Sunday.
#
# Why it matters: deliveries and pay in German firms go by the number of the week. It is right in some years and wrong in others.
#
# Output seen:
#   2026-03-10, by ISO 2026-W11: de 2026-W11, de_DE 2026-W11, fr 2026-W11, fr_FR 2026-W11
#   2026-12-28, by ISO 2026-W53: de 2027-W01, de_DE 2026-W53, fr 2027-W01, fr_FR 2026-W53
#   2027-01-01, by ISO 2026-W53: de 2027-W01, de_DE 2026-W53, fr 2027-W01, fr_FR 2026-W53
#   2027-06-15, by ISO 2027-W24: de 2027-W25, de_DE 2027-W24, fr 2027-W25, fr_FR 2027-W24
#   de: week 1 has 1 days at least, first day 1 (Intl: 4, 1)
#   de_DE: week 1 has 4 days at least, first day 1 (Intl: 4, 1)
#   en: week 1 has 1 days at least, first day 1 (Intl: 1, 7)
#   en_US: week 1 has 1 days at least, first day 7 (Intl: 1, 7)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check babel==2.19.0 2>/dev/null

cat > show.py <<'PY'
import subprocess
from datetime import date
from babel import Locale
from babel.dates import format_date

for day in (date(2026, 3, 10), date(2026, 12, 28), date(2027, 1, 1), date(2027, 6, 15)):
    year, week, _ = day.isocalendar()
    shown = (f"{name} {format_date(day, 'YYYY-' + chr(39) + 'W' + chr(39) + 'ww', locale=name)}" for name in ("de", "de_DE", "fr", "fr_FR"))
    print(f"{day}, by ISO {year}-W{week:02}: {', '.join(shown)}")
for name in ("de", "de_DE", "en", "en_US"):
    code = "const { minimalDays, firstDay } = new Intl.Locale(process.argv[1]).weekInfo; console.log(minimalDays, firstDay)"
    right = subprocess.run(["node", "-e", code, name.replace("_", "-")], capture_output=True, text=True, check=True).stdout.split()
    locale = Locale.parse(name)
    print(f"{name}: week 1 has {locale.min_week_days} days at least, first day {locale.first_week_day + 1} (Intl: {right[0]}, {right[1]})")
PY
venv/bin/python show.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
