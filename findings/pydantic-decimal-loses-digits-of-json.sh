#!/usr/bin/env bash
# pydantic 2.14.4 (msgspec 0.23.0 beside it)
#
# A field is declared `Decimal`, so that amounts are exact, and a JSON number is read into it.
#
# Expected: the digits of the JSON text, as json.loads(parse_float=Decimal) and msgspec give them.
# Seen: `validate_json` reads the number as a binary float first and makes a Decimal of that. From the seventeenth digit on
# the amount is another one: the cents of a large sum, the smallest unit of a currency with eighteen places.
#
# Why it matters: sums of exact values do not come out even, and the type says that they should. Short amounts are
# right, so tests are; a JSON string ("1.000000000000000001") is exact.
#
# Output seen:
#   1.000000000000000001: pydantic 1, msgspec 1.000000000000000001, json 1.000000000000000001
#   1234567890123456.78: pydantic 1234567890123456.8, msgspec 1234567890123456.78, json 1234567890123456.78
#   "1.000000000000000001": pydantic 1.000000000000000001
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pydantic==2.14.4 msgspec==0.23.0

cat > call.py <<'PY'
import json
from decimal import Decimal
import msgspec
from pydantic import BaseModel
class Payment(BaseModel):
    amount: Decimal
def read(text):
    return Payment.model_validate_json(f'{{"amount": {text}}}').amount
for text in ("1.000000000000000001", "1234567890123456.78"):
    plain = json.loads(text, parse_float=Decimal)
    print(f"{text}: pydantic {read(text)}, msgspec {msgspec.json.decode(text, type=Decimal)}, json {plain}")
quoted = '"1.000000000000000001"'
print(f"{quoted}: pydantic {read(quoted)}")
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
