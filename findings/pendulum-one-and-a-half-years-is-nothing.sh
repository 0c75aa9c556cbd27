#!/usr/bin/env bash
# pendulum 3.3.0
#
# A subscription of one year is made half as long again, and half of it is given back to a customer who leaves: a duration is
# multiplied by a fraction, or divided by a whole number.
#
# Expected: one and a half years, six months, or an error that says that a year has no fixed length (as dateutil raises one for a
# fraction of a year that is put in by name). Weeks and days take the same operations without loss: ten days become fifteen.
# Seen: years and months vanish without a word. A fraction takes all of them, also where the product is whole (two years by 1.5);
# a division by a whole number takes what it does not divide, so half of one year is nothing and half of two is one.
#
# Why it matters: the end of the longer subscription is today. Beside days the loss does not show: a year and ten days by 1.5
# are fifteen days.
#
# Output seen:
#   ten days by 1.5: ends 2026-01-30
#   one year by 1.5: ends 2026-01-15
#   two years by 1.5: ends 2026-01-15
#   a year and ten days by 1.5: ends 2026-01-30
#   half of two years: ends 2027-01-15
#   half of one year: ends 2026-01-15
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --no-compile --disable-pip-version-check pendulum==3.3.0 2>/dev/null

cat > try.py <<'PY'
import pendulum
start = pendulum.datetime(2026, 1, 15)
for name, length in (
    ("ten days by 1.5", pendulum.duration(days=10) * 1.5),
    ("one year by 1.5", pendulum.duration(years=1) * 1.5),
    ("two years by 1.5", pendulum.duration(years=2) * 1.5),
    ("a year and ten days by 1.5", pendulum.duration(years=1, days=10) * 1.5),
    ("half of two years", pendulum.duration(years=2) / 2),
    ("half of one year", pendulum.duration(years=1) / 2),
):
    print(f"{name}: ends {(start + length).to_date_string()}")
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
