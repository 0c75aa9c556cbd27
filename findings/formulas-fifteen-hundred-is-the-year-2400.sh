#!/usr/bin/env bash
# formulas 1.3.4 (computes the formulas of an Excel workbook)
#
# A column of amounts was pasted as text, with a comma between the thousands. `VALUE` makes numbers of it, as in Excel.
#
# Expected: VALUE("1,500") is 1500, and VALUE("1,234.50") is 1234.5; or an error for both.
# Seen: "1,500" is 182623, which is the day 1 January 2400; "1,099" is 36161, the first day of 1999; "1,999" is 364880. No error comes. With two decimals
# it is #VALUE!, with one decimal a day of the year 2134. The same text times one is #VALUE!, as in Excel with another country's comma.
#
# Why it matters: a sum over such a column is a hundred times too large, and each single cell holds a whole number that looks like an amount.
#
# Output seen:
#   =VALUE("1500") 1500
#   =VALUE("1,500") 182623
#   =VALUE("1,099") 36161
#   =VALUE("1,999") 364880
#   =VALUE("1,234.5") 85469
#   =VALUE("1,234.50") #VALUE!
#   ="1,500"*1 #VALUE!
#   =TEXT(VALUE("1,500"),"yyyy-mm-dd") 2400-01-01
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check formulas==1.3.4 >/dev/null 2>&1

cat > test.py <<'PY'
import warnings

warnings.simplefilter("ignore")
import formulas

for formula in ['=VALUE("1500")', '=VALUE("1,500")', '=VALUE("1,099")', '=VALUE("1,999")', '=VALUE("1,234.5")', '=VALUE("1,234.50")', '="1,500"*1', '=TEXT(VALUE("1,500"),"yyyy-mm-dd")']:
    found = formulas.Parser().ast(formula)[1].compile()()
    while getattr(found, "shape", None):
        found = found[0]
    found = getattr(found, "item", lambda: found)()
    print(formula, int(found) if isinstance(found, float) and found.is_integer() else found)
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
