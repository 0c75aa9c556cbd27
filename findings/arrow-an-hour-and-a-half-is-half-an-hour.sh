#!/usr/bin/env bash
# arrow 1.4.0
#
# A reminder is typed as a person writes it, "in 1 hour and 30 minutes", and `dehumanize` makes the time of it.
#
# Expected: 90 minutes, or the error that "in 1 hour" alone raises ("Input string not valid").
# Seen: 30 minutes. A unit with the number 1 is unknown ("an hour" and "2 hours" are known); alone it is refused, but beside a
# unit that is known it is passed over. "1 week and 2 days ago" is two days ago, "in 1 year and 2 months" is in two months. In
# "1.5 hours" the part before the point is passed over in the same way, which makes five hours.
#
# Why it matters: the check that there is an error for what cannot be read is in place, was tested, and does not see this. A
# reminder comes an hour early, and a "delete what is older than" takes five days too many.
#
# Output seen:
#   in 1 hour: refused
#   in an hour and 30 minutes: 2027-06-01 13:30
#   in 2 hours and 30 minutes: 2027-06-01 14:30
#   in 1 hour and 30 minutes: 2027-06-01 12:30
#   in 1.5 hours: 2027-06-01 17:00
#   1 week and 2 days ago: 2027-05-30 12:00
#   in 1 year and 2 months: 2027-08-01 12:00
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check arrow==1.4.0 2>/dev/null

cat > read.py <<'PY'
import arrow
now = arrow.get(2027, 6, 1, 12)
for text in (
    "in 1 hour", "in an hour and 30 minutes", "in 2 hours and 30 minutes",
    "in 1 hour and 30 minutes", "in 1.5 hours", "1 week and 2 days ago", "in 1 year and 2 months",
):
    try:
        print(f"{text}: {now.dehumanize(text).format('YYYY-MM-DD HH:mm')}")
    except ValueError:
        print(f"{text}: refused")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
