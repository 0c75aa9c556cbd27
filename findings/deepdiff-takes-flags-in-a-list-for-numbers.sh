#!/usr/bin/env bash
# deepdiff 9.1.0
#
# Two recorded results are compared: a list of numbers has become a list of flags, or of floats.
#
# Expected: a type change for each item. Type changes are reported unless `ignore_numeric_type_changes` is set, and for a
# value in a dict they are.
# Seen: in a list nothing is reported: the items are first aligned by ==, and 1 == True == 1.0 in Python. The same two
# lists compared with ignore_order=True, which is meant to report less, give the change.
#
# Why it matters: a regression test on recorded output passes although [0, 1] has become [false, true] in the file that
# other programs read; a `Delta` made from the comparison does not bring the new value.
#
# Output seen:
#   in a dict: type_changes
#   in a list: no difference
#   in a list in a dict: no difference
#   in a list, order ignored: type_changes
#   the old list with the delta applied: [1]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check deepdiff==9.1.0

cat > call.py <<'PY'
from deepdiff import DeepDiff, Delta
def show(name, *values, **options):
    print(f"{name}:", *(DeepDiff(*values, **options) or ["no difference"]))
show("in a dict", {"ok": 1}, {"ok": True})
show("in a list", [1], [True])
show("in a list in a dict", {"ok": [1, 0, 1.0]}, {"ok": [True, False, 1]})
show("in a list, order ignored", [1], [True], ignore_order=True)
print("the old list with the delta applied:", [1] + Delta(DeepDiff([1], [True])))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
