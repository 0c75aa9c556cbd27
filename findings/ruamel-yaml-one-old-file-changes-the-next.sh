#!/usr/bin/env bash
# ruamel.yaml 0.19.1
#
# A program keeps one `YAML()` and goes through a folder of settings files with it: load, change, dump. One of the files
# begins with %YAML 1.1. By the specification such a line holds for its own document only.
#
# Expected: every other file is read as before, by the rules of YAML 1.2, which are the library's default.
# Seen: the version stays with the object. All files after that one are read by YAML 1.1 (no is false, on is true, 12:30
# is 750, 0644 is 420) and are written so, with a %YAML 1.1 line that nobody put there. Another instance is not
# concerned; the safe loader keeps the version in the same way, and so does a file that is only loaded, never written.
#
# Why it matters: which files are changed depends on the order of the names in a folder. "country: no" is false on disk
# after a change of another key, and each file by itself shows no fault.
#
# Output seen:
#   before: {'country': 'no', 'on': 'push', 'at': '12:30', 'mode': 644}
#   after:  {'country': False, True: 'push', 'at': 750, 'mode': 420}
#   written: '%YAML 1.1\n---\ncountry: false\ntrue: push\nat: 750\nmode: 0644\n'
#   safe, before: {'country': 'no', 'on': 'push', 'at': '12:30', 'mode': 644}
#   safe, after:  {'country': False, True: 'push', 'at': 750, 'mode': 420}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check ruamel.yaml==0.19.1

cat > call.py <<'PY'
import io
from ruamel.yaml import YAML
settings = "country: no\non: push\nat: 12:30\nmode: 0644\n"
old = "%YAML 1.1\n---\nname: an old file\n"
yaml = YAML()
print("before:", dict(yaml.load(settings)))
yaml.load(old)
document = yaml.load(settings)
print("after: ", dict(document))
written = io.StringIO()
yaml.dump(document, written)
print("written:", repr(written.getvalue()))
assert YAML().load(settings)["country"] == "no"
safe = YAML(typ="safe")
print("safe, before:", safe.load(settings))
safe.load(old)
print("safe, after: ", safe.load(settings))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
