#!/usr/bin/env bash
# msgspec 0.23.0 (pydantic 2.14.4 beside it)
#
# A service in .NET or a SQL Server sends the end of a period as it always does: 23:59:59.9999999, the largest time there
# is in seven digits (TimeOnly.MaxValue, datetime2(7)). Python's times have six.
#
# Expected: the last microsecond of the day, as pydantic gives it, or an error.
# Seen: msgspec rounds up. A time has no day to carry over to, so the end of the day becomes its start, 00:00:00. A
# date with such a time becomes the first moment of the next day, month or year, and the largest date of .NET (9999-12-31
# with that time) is refused as "Invalid RFC3339". `convert` does the same as `json.decode`.
#
# Why it matters: "open from 09:00 to 23:59:59.9999999" is a period that ends before it begins, and what was
# booked on the last day of the year counts in the next one.
#
# Output seen:
#   msgspec: 00:00:00, pydantic: 23:59:59.999999
#   msgspec: 2027-01-01 00:00:00, pydantic: 2026-12-31 23:59:59.999999
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check msgspec==0.23.0 pydantic==2.14.4

cat > call.py <<'PY'
import datetime
import msgspec, pydantic
for kind, text in ((datetime.time, '"23:59:59.9999999"'), (datetime.datetime, '"2026-12-31T23:59:59.9999999"')):
    decoded = msgspec.json.decode(text, type=kind)
    assert msgspec.convert(text.strip('"'), kind) == decoded
    print(f"msgspec: {decoded}, pydantic: {pydantic.TypeAdapter(kind).validate_json(text)}")
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
