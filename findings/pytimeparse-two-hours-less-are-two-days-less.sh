#!/usr/bin/env bash
# pytimeparse 1.1.10, with Python's own datetime
#
# An offset is kept as Python writes a `timedelta`, by `str`, and is read by pytimeparse, which reads "1 day, 2:00:00" so.
#
# Expected: the same length. Python writes two hours less as "-1 day, 22:00:00": a day less and 22 hours more.
# Seen: the sign is taken for all of it, so two hours less are 46 hours less. A minute less is nearly two days less. A positive
# length, and whole days less, come back as they were; nothing tells that a text of Python is read in another way than it is meant.
#
# Why it matters: a reminder "two hours before" comes two days before; tests with lengths above zero pass.
#
# Output seen:
#   26.00 h, written 1 day, 2:00:00, read as 26.00 h
#   2.00 h, written 2:00:00, read as 2.00 h
#   -24.00 h, written -1 day, 0:00:00, read as -24.00 h
#   -2.00 h, written -1 day, 22:00:00, read as -46.00 h
#   -0.02 h, written -1 day, 23:59:00, read as -47.98 h
#   -26.00 h, written -2 days, 22:00:00, read as -70.00 h

set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pytimeparse==1.1.10 2>/dev/null

cat > read.py <<'PY'
from datetime import timedelta
from pytimeparse import parse
for length in (timedelta(days=1, hours=2), timedelta(hours=2), timedelta(days=-1), timedelta(hours=-2), timedelta(minutes=-1), timedelta(hours=-26)):
    print(f"{length.total_seconds() / 3600:.2f} h, written {length}, read as {parse(str(length)) / 3600:.2f} h")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
