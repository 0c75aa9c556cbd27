#!/usr/bin/env bash
# quantulum3 0.10.0 (finds amounts with their units in a text)
#
# Expected: "half a litre" is 0.5 litre, as "one half litre" is.
# Seen: it is 0.5 of the unit "per litre": the article between the half and the unit is read as "for each". So with every unit that was tried, money too. "half an
# hour" loses its unit altogether. "1/2 litre", "one half litre" and "a litre" are right. Other prices "for each" are not found this way: "3 euros a litre" becomes
# 3 euros and 1 litre, so the rule meets the halves alone.
#
# Why it matters: a recipe's or a lab's amounts come back with a unit turned upside down; whoever converts to litres gets 2 or an error.
#
# Output seen:
#   half a litre: 0.5 per litre
#   half a kilogram: 0.5 per kilogram
#   half a mile: 0.5 per mile
#   half a dollar: 0.5 per dollar
#   half an hour: 0.5 dimensionless
#   one half litre: 0.5 litre
#   1/2 litre: 0.5 litre
#   a litre: 1.0 litre
#   3 euros a litre: 3.0 euro, 1.0 litre
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check quantulum3==0.10.0 >/dev/null 2>&1

cat > test.py <<'PY'
import warnings

warnings.simplefilter("ignore")
from quantulum3 import parser

for text in ["half a litre", "half a kilogram", "half a mile", "half a dollar", "half an hour", "one half litre", "1/2 litre", "a litre", "3 euros a litre"]:
    print(f"{text}:", ", ".join(f"{found.value} {found.unit.name}" for found in parser.parse(text)))
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
