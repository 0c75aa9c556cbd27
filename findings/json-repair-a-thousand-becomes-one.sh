#!/usr/bin/env bash
# json_repair 0.64.6 (jsonrepair 3.15.0, for JavaScript, beside it)
#
# Replies of models that are nearly JSON are repaired, for which the package is made: a price with a blank between the thousands, a time,
# a ratio, a postal code without quotes.
#
# Expected: what the text says, as a text where it is no number (so it is with 1,200 and 5-10), or an error.
# Seen: a number ends at the first character that cannot be in one, and the rest is dropped up to the next comma: 1 200 is 1, 9:30 is 9,
# 3 1/2 is 3. Leading zeros go: 01067 is 1067. In a list, 1,200 is two items, while as a value of a key it is a text. The result is
# valid, and its type is the one that a schema asks for.
#
# Output seen:
#   {"price": 1,200}: {"price": "1,200"} (jsonrepair: refused)
#   {"price": 1 200}: {"price": 1} (jsonrepair: refused)
#   {"prices": [1 200, 3 400]}: {"prices": [1, 200, 3, 400]} (jsonrepair: {"prices": [1, 200, 3, 400]})
#   {"prices": [1,200, 3,400]}: {"prices": [1, 200, 3, 400]} (jsonrepair: {"prices": [1,200, 3,400]})
#   {"pages": 5-10}: {"pages": "5-10"} (jsonrepair: {"pages": "5-10"})
#   {"at": 9:30}: {"at": 9} (jsonrepair: refused)
#   {"mix": 3:1}: {"mix": 3} (jsonrepair: refused)
#   {"hours": 3 1/2}: {"hours": 3} (jsonrepair: refused)
#   {"code": 01067}: {"code": 1067} (jsonrepair: {"code": "01067"})
#   {"weight": 5 kg}: {"weight": 5} (jsonrepair: refused)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check json_repair==0.64.6 2>/dev/null
npm install --silent --no-fund --no-audit jsonrepair@3.15.0 >/dev/null 2>&1

cat > mend.py <<'PY'
import subprocess
from json_repair import repair_json

NODE = """
const { jsonrepair } = require("jsonrepair");
try { console.log(jsonrepair(process.argv[1])) } catch { console.log("refused") }
"""
for text in (
    '{"price": 1,200}', '{"price": 1 200}', '{"prices": [1 200, 3 400]}', '{"prices": [1,200, 3,400]}', '{"pages": 5-10}',
    '{"at": 9:30}', '{"mix": 3:1}', '{"hours": 3 1/2}', '{"code": 01067}', '{"weight": 5 kg}',
):
    other = subprocess.run(["node", "-e", NODE, text], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{text}: {repair_json(text)} (jsonrepair: {other})")
PY
venv/bin/python mend.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
