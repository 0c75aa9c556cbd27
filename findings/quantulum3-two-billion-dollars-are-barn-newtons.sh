#!/usr/bin/env bash
# quantulum3 0.10.0 (finds amounts with their units in a text)
#
# Amounts of money in a report are shortened: "$2bn", "£1.5m", "€2m".
#
# Expected: 2,000,000,000 dollars, 1,500,000 pounds; or, where the letters are not known, the amount without them.
# Seen: "$2bn" is 2 "dollar barn newton", "£1.5m" is 1.5 "pound sterling metre". A capital letter is read as a million ("$2M"), k as a thousand and the words are
# read ("£1.5 million"). With a blank behind the sign ("€ 5") the currency is not seen: 5 without a unit.
#
# Why it matters: of two figures in one report one is a million times the other, and the smaller has a unit of physics that nobody wrote.
#
# Output seen:
#   $2bn: 2.0 dollar barn newton
#   £1.5m: 1.5 pound sterling metre
#   €2m: 2.0 euro metre
#   $2M: 2000000.0 dollar
#   €3k: 3000.0 euro
#   £1.5 million: 1500000.0 pound sterling
#   € 5: 5.0 dimensionless
#   €5: 5.0 euro
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

for text in ["$2bn", "£1.5m", "€2m", "$2M", "€3k", "£1.5 million", "€ 5", "€5"]:
    print(f"{text}:", ", ".join(f"{found.value} {found.unit.name}" for found in parser.parse(text)))
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
