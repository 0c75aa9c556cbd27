#!/usr/bin/env bash
# num2words 0.5.14
#
# Temperatures and balances are read aloud in some languages: -1.5, -1, -0.5.
#
# Expected: the minus is read with each of them, as it is with -1.5.
# Seen: between zero and minus one it is left out. The sign is read from the whole part of the number, and minus zero has none.
# In Italian it is kept. As an amount of money (to="currency") it is kept in English, and raises an AttributeError in Italian.
#
# Output seen:
#   en -1.5: minus one point five
#   en -0.5: zero point five
#   de -1.5: minus eins Komma fünf
#   de -0.5: null Komma fünf
#   fr -1.5: moins un virgule cinq
#   fr -0.5: zéro virgule cinq
#   es -1.5: menos uno punto cinco
#   es -0.5: cero punto cinco
#   as euros: minus zero euro, fifty cents
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check num2words==0.5.14 2>/dev/null

cat > read.py <<'PY'
from num2words import num2words

for language in ("en", "de", "fr", "es"):
    for number in (-1.5, -0.5):
        print(f"{language} {number}: {num2words(number, lang=language)}")
print("as euros:", num2words(-0.5, to="currency", currency="EUR"))
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
