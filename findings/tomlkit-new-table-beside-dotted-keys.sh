#!/usr/bin/env bash
# tomlkit 0.15.2 (tomllib of Python reads its output)
#
# A settings file in dotted keys, and a program that adds a table to one of its groups with tomlkit, the library that
# keeps comments and order.
#
# Expected: the file that is written says what the document in memory says.
# Seen: the new table's header is written in the middle of the dotted keys. Those after it now belong to the new table
# (`port` of `server` becomes `server.tls.server.port`), and under a table the header is written without its parent
# ([ruff.lint] for [tool.ruff.lint]). No error; `unwrap()` shows the right values until the file is read again.
#
# Why it matters: saving one new setting silently moves others to places where no program looks for them.
#
# Output seen:
#   in memory: {'server': {'host': 'h', 'port': 80, 'tls': {'cert': 'c'}}}
#   read again: {'server': {'host': 'h', 'tls': {'cert': 'c', 'server': {'port': 80}}}}
#   in memory: {'tool': {'ruff': {'line-length': 100, 'fix': True, 'lint': {'select': ['E']}}}}
#   read again: {'tool': {'ruff': {'line-length': 100}}, 'ruff': {'lint': {'select': ['E'], 'ruff': {'fix': True}}}}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check tomlkit==0.15.2

cat > call.py <<'PY'
import copy, tomllib
import tomlkit
def show(source, group, key, value):
    document, meant = tomlkit.parse(source), tomllib.loads(source)
    for root in (document, meant):
        table = root
        for name in group:
            table = table[name]
        table[key] = copy.deepcopy(value)
    assert document.unwrap() == meant
    print("in memory:", meant)
    print("read again:", tomllib.loads(tomlkit.dumps(document)))
show('server.host = "h"\nserver.port = 80\n', ["server"], "tls", {"cert": "c"})
show("[tool]\nruff.line-length = 100\nruff.fix = true\n", ["tool", "ruff"], "lint", {"select": ["E"]})
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
