#!/usr/bin/env bash
# dictdiffer 0.10.0
#
# Changes of a record are kept as `diff(before, after)` so that each can be taken back with `revert(changes, after)`, the use
# that the package names first. One change takes several items off the end of a list, or all of them.
#
# Expected: `revert` gives the record as it was before.
# Seen: the items come back, in another order, from three removed items on. The changes name each place, and the one that
# belongs at 2 is put in first, into an empty list, where Python's `insert` puts it at the end. `patch`, the other direction,
# is right, as is `revert` of up to two items or of items of which the others stay in place.
#
# Why it matters: steps, lines of an order, a ranking or messages of a conversation have changed places after an undo, and a
# count or a set of the items shows nothing.
#
# Output seen:
#   ['load', 'weigh', 'pay'] -> [] -> undone: ['load', 'pay', 'weigh']
#   ['load', 'weigh', 'pay', 'print'] -> ['load'] -> undone: ['load', 'weigh', 'print', 'pay']
#   ['load', 'weigh'] -> [] -> undone: ['load', 'weigh']
#   {'steps': ['load', 'weigh', 'pay']} -> {'steps': []} -> undone: {'steps': ['load', 'pay', 'weigh']}
#   what is kept: [('remove', '', [(2, 'pay'), (1, 'weigh'), (0, 'load')])]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dictdiffer==0.10.0 2>/dev/null

cat > undo.py <<'PY'
import copy
from dictdiffer import diff, patch, revert
for before, after in (
    (["load", "weigh", "pay"], []),
    (["load", "weigh", "pay", "print"], ["load"]),
    (["load", "weigh"], []),
    ({"steps": ["load", "weigh", "pay"]}, {"steps": []}),
):
    changes = list(diff(before, after))
    assert patch(changes, copy.deepcopy(before)) == after
    print(before, "->", after, "-> undone:", revert(changes, copy.deepcopy(after)))
print("what is kept:", list(diff(["load", "weigh", "pay"], [])))
PY
venv/bin/python undo.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
