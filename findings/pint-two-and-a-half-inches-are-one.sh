#!/usr/bin/env bash
# pint 0.25.3
#
# Lengths and amounts of drawings and recipes are read with their units: "2 1/2 in", "1 1/2 cup", "1,5 m".
#
# Expected: two and a half inches, or an error, as for units that are unknown.
# Seen: a blank is a multiplication, so 2 1/2 in is one inch, and 1 1/2 cup is half a cup. Every comma is dropped, whatever follows it: 1,5 m is
# fifteen metres, and 0,75 l are none (075 is read as 0 times 75). 5' 3" is the number 15, without a unit: the signs are taken for quotes. The result has the right dimension, so the check
# for one (`check("[length]")`) passes for all but the last.
#
# Output seen:
#   2.5 in: 2.5 inch (has the dimension: True)
#   2 1/2 in: 1.0 inch (has the dimension: True)
#   1 1/2 cup: 0.5 cup (has the dimension: True)
#   3 3/4 hour: 2.25 hour (has the dimension: True)
#   1,000 m: 1000 meter (has the dimension: True)
#   1,5 m: 15 meter (has the dimension: True)
#   0,75 l: 0 liter (has the dimension: True)
#   5' 3": 15 dimensionless (has the dimension: False)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pint==0.25.3 2>/dev/null

cat > read.py <<'PY'
import pint
units = pint.UnitRegistry()
for text, kind in (
    ("2.5 in", "[length]"), ("2 1/2 in", "[length]"), ("1 1/2 cup", "[volume]"), ("3 3/4 hour", "[time]"), ("1,000 m", "[length]"),
    ("1,5 m", "[length]"), ("0,75 l", "[volume]"), ("5' 3\"", "[length]"),
):
    value = units.Quantity(text)
    print(f"{text}: {value} (has the dimension: {value.check(kind)})")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
