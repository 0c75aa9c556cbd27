#!/usr/bin/env bash
# price-parser 0.5.1
#
# Prices of tokens, of current and of fuel are read from pages: "$0.25", "$0.025", "$0.0025".
#
# Expected: the numbers that stand there. The package guesses what separates decimals and says so, for "140.600" can be both. A
# number that begins with a zero, or has another separator before, can only be one thing.
# Seen: with three digits after the last separator the number is taken for thousands, whatever stands before: $0.025 is 25
# dollars, 0,125 € are 125 €, and "1,234.567" is one million. With two or four digits it is right, so of three prices in a row the
# middle one is the largest. A text is not refused: a price of zero is known, and so is None for "call us".
#
# Why it matters: a thousandfold price in the table of a cost report, next to right ones, and no error.
#
# Output seen:
#   $0.25: 0.25 $
#   $0.025: 25 $
#   $0.0025: 0.0025 $
#   0,125 €: 125 €
#   0.000 €: 0 €
#   1,234.567 EUR: 1234567 EUR
#   1,234.5678 EUR: 1234.5678 EUR
#   $.075: 75 $
#   call us: None None
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check price-parser==0.5.1 2>/dev/null

cat > read.py <<'PY'
from price_parser import Price
for text in ("$0.25", "$0.025", "$0.0025", "0,125 €", "0.000 €", "1,234.567 EUR", "1,234.5678 EUR", "$.075", "call us"):
    price = Price.fromstring(text)
    print(f"{text}: {price.amount} {price.currency}")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
