#!/usr/bin/env bash
# orjson 3.13.0 (msgspec 0.23.0 and the json of Python beside it)
#
# Amounts of a ledger in its smallest unit (wei, of which 10 to the 18th are one coin) and ids of twenty digits and more are whole numbers in
# JSON. orjson says which it supports, those of 64 bits, and `dumps` refuses larger ones ("Integer exceeds 64-bit range").
#
# Expected: an error of `loads` as well, or the number, as json and msgspec give it.
# Seen: `loads` makes a float of it, without an error. Up to 18446744073709551615 a number is whole and exact, from there on its last digits
# are others, and two ids that differ are equal. Such a value can then be written by `dumps`, so nothing stops it on the way
# through.
#
# Why it matters: 18 coins are booked exactly and 20 are not; a message that a service only reads and passes on has another amount
# in it. Tests with small amounts are right.
#
# Output seen:
#   18446744073709551615: read 18446744073709551615, passed on {"amount":18446744073709551615}, written {"amount":18446744073709551615}
#   20000000000000000001: read 2e+19, passed on {"amount":2e+19}, written refused (Integer exceeds 64-bit range)
#   -9223372036854775809: read -9.223372036854776e+18, passed on {"amount":-9.223372036854776e+18}, written refused (Integer exceeds 64-bit range)
#   two ids are one: True with json: False
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check orjson==3.13.0 msgspec==0.23.0 2>/dev/null

cat > read.py <<'PY'
import json
import msgspec, orjson
for text in ("18446744073709551615", "20000000000000000001", "-9223372036854775809"):
    message = '{"amount":' + text + "}"
    read = orjson.loads(message)
    exact = json.loads(message)
    assert exact == msgspec.json.decode(message)
    try:
        written = orjson.dumps(exact).decode()
    except TypeError as error:
        written = f"refused ({error})"
    print(f"{text}: read {read['amount']!r}, passed on {orjson.dumps(read).decode()}, written {written}")
one, other = "20000000000000000001", "20000000000000000002"
print("two ids are one:", orjson.loads(one) == orjson.loads(other), "with json:", json.loads(one) == json.loads(other))
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
