#!/usr/bin/env bash
# num2words 0.5.14
#
# Amounts of invoices are written out in words, as on a cheque. They come from JSON, where 100.0 is often written 100.
#
# Expected: a hundred euros are a hundred euros, whichever type of number holds them.
# Seen: an `int` is taken for cents, every other number, and a text, for euros. 99.5 is ninety-nine euros, 100 is one euro, 100.0 is
# one hundred, and so is the text "100". Nothing is said.
#
# Why it matters: of a list of prices only the round ones are wrong, by a factor of a hundred, in the one line that counts by law.
#
# Output seen:
#   99.5: ninety-nine euro, fifty cents
#   100: one euro, zero cents
#   100.0: one hundred euro, zero cents
#   '100': one hundred euro, zero cents
#   '100.00': one hundred euro, zero cents
#   Decimal('100'): one hundred euro, zero cents
#   in German 2500: fünfundzwanzig Euro und null Cent
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check num2words==0.5.14 2>/dev/null

cat > write.py <<'PY'
from decimal import Decimal
from num2words import num2words

for amount in (99.5, 100, 100.0, "100", "100.00", Decimal("100")):
    print(f"{amount!r}: {num2words(amount, to='currency', currency='EUR')}")
print("in German 2500:", num2words(2500, to="currency", currency="EUR", lang="de"))
PY
venv/bin/python write.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
