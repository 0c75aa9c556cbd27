#!/usr/bin/env bash
# parsedatetime 2.6
#
# Reminders that people dictate: "in twenty five minutes". It is noon. The second value tells what was understood (0: nothing, 1: a date, 2: a
# time).
#
# Expected: 12:25, as for "in 25 minutes", or nothing understood, as for "in one hundred days".
# Seen: of a number in two words only the last counts, so that it is 12:05; with a hyphen, and for "a hundred" and "twelve", it is now.
# In all these something counts as understood. Numbers in one word up to twenty are right, but for twelve.
#
# Output seen:
#   in 25 minutes: 30 Nov 12:25, a time
#   in twenty five minutes: 30 Nov 12:05, a time
#   in twenty-five minutes: 30 Nov 12:00, a time
#   in thirty five days: 05 Dec 12:00, a date
#   in fifteen minutes: 30 Nov 12:15, a time
#   twelve weeks from now: 30 Nov 12:00, a time
#   a hundred days from now: 30 Nov 12:00, a time
#   in one hundred days: 30 Nov 12:00, nothing
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check parsedatetime==2.6 2>/dev/null

cat > read.py <<'PY'
from datetime import datetime
import parsedatetime

noon = datetime(2026, 11, 30, 12)
for text in (
    "in 25 minutes", "in twenty five minutes", "in twenty-five minutes", "in thirty five days", "in fifteen minutes", "twelve weeks from now",
    "a hundred days from now", "in one hundred days",
):
    found, kind = parsedatetime.Calendar().parse(text, noon.timetuple())
    print(f"{text}: {datetime(*found[:6]):%d %b %H:%M}, {('nothing', 'a date', 'a time')[kind]}")
PY
venv/bin/python read.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
