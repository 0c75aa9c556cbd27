#!/usr/bin/env bash
# jmespath 0.16.0 (JavaScript; the Python package of that name, 1.1.0, beside it)
#
# Items of a shop are filtered by their price. Some have none yet, and one is null.
#
# Expected: the specification of JMESPath: <, <=, > and >= are for numbers only; with any other value the result is null, and the item
# is left out. So it is in Python.
# Seen: JavaScript compares, and there null counts as 0: items without a price cost less than 10, and at least 0, and at most 0. A filter from
# 0 upwards, to leave them out, takes them too.
#
# Why it matters: one query, stored in settings and run by both, gives two lists; what was never filled in passes every upper limit.
#
# Output seen:
#   python, items[?price < `10`].name: ["pen"]
#   python, items[?price <= `0`].name: []
#   python, items[?price >= `0`].name: ["pen", "desk"]
#   python, items[?price > `10`].name: ["desk"]
#   javascript, items[?price < `10`].name: ["pen","lamp","chair"]
#   javascript, items[?price <= `0`].name: ["lamp","chair"]
#   javascript, items[?price >= `0`].name: ["pen","desk","lamp","chair"]
#   javascript, items[?price > `10`].name: ["desk"]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check jmespath==1.1.0 2>/dev/null
npm install --silent --no-fund --no-audit jmespath@0.16.0 >/dev/null 2>&1

cat > shop.json <<'JSON'
{
  "items": [{"name": "pen", "price": 2}, {"name": "desk", "price": 90}, {"name": "lamp", "price": null}, {"name": "chair"}],
  "asked": ["items[?price < `10`].name", "items[?price <= `0`].name", "items[?price >= `0`].name", "items[?price > `10`].name"]
}
JSON
cat > ask.py <<'PY'
import json
import jmespath

shop = json.load(open("shop.json"))
for query in shop["asked"]:
    print(f"python, {query}: {json.dumps(jmespath.search(query, shop))}")
PY
cat > ask.mjs <<'JS'
import { readFileSync } from "node:fs";
import jmespath from "jmespath";
const shop = JSON.parse(readFileSync("shop.json"));
for (const query of shop.asked) console.log(`javascript, ${query}: ${JSON.stringify(jmespath.search(shop, query))}`);
JS
{ venv/bin/python ask.py; node ask.mjs; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
