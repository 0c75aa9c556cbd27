#!/usr/bin/env bash
# PyYAML 6.0.4 (writes), ruamel.yaml 0.19.1 and yaml 2.9.1 for JavaScript (read)
#
# Short commit ids, which are strings, are written into the head of a note or a settings file and read by another tool.
#
# Expected: the writer quotes a string that a reader could take for a number, as PyYAML does with 1234567.
# Seen: 43e1217 and 0891234 are written bare. PyYAML itself reads them as strings, so its own round trip is whole; every
# reader of YAML 1.2 takes the first for a number too large (infinity) and the second for 891234.
#
# Why it matters: of all ids of seven hex digits one in fifty has digits, one e and digits. A record of commits is right
# for weeks, then one id is infinity, and which tool reads it decides.
#
# Output seen:
#   written: ['1234567', 43e1217, 0891234]
#   pyyaml reads: ['1234567', '43e1217', '0891234']
#   ruamel.yaml reads: ['1234567', inf, 891234]
#   yaml for javascript reads: [ '1234567', Infinity, 891234 ]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check PyYAML==6.0.4 ruamel.yaml==0.19.1
npm install --silent --no-audit --no-fund yaml@2.9.1

cat > call.mjs <<'JS'
import fs from "node:fs";
import { parse } from "yaml";
console.log("yaml for javascript reads:", parse(fs.readFileSync("ids.yaml", "utf8")));
JS
cat > call.py <<'PY'
import ruamel.yaml, yaml
ids = ["1234567", "43e1217", "0891234"]
written = yaml.safe_dump(ids, default_flow_style=True)
open("ids.yaml", "w").write(written)
print("written:", written.strip())
print("pyyaml reads:", yaml.safe_load(written))
print("ruamel.yaml reads:", ruamel.yaml.YAML(typ="safe").load(written))
PY
{ venv/bin/python call.py; node call.mjs; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
