#!/usr/bin/env bash
# autoevals 0.4.1
#
# `ExactMatch` compares a model's structured answer with the expected one. It takes dictionaries and text: {"a": 1} and the text of it match, so it is JSON
# that is compared, not characters.
#
# Expected: two objects with the same keys and values match, whichever key comes first, as in JSON and in Python (`==`). 1 and 1.0 are equal there, too.
# Seen: the order of the keys decides: the same record with its keys turned round scores 0. Behind text the same. 1 against 1.0 is 0, and 1 against the
# text "1" is 1. `JSONDiff` of the same package gives the turned record 1.
#
# Why it matters: a model that answers rightly and names the date before the amount scores nothing, and a prompt is changed for it.
#
# Output seen:
#   same order: exact 1, diff 1, == True
#   other order: exact 0, diff 1, == True
#   other order, as text: exact 0, diff 1
#   same order, as text: exact 1, diff 1
#   1 and 1.0: exact 0, == True
#   1 and "1": exact 1, == False
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check autoevals==0.4.1 levenshtein==0.27.5 >/dev/null 2>&1

cat > test.py <<'PY'
from autoevals.json import JSONDiff
from autoevals.value import ExactMatch

wanted = {"amount": 120, "day": "2026-03-05"}
turned = {"day": "2026-03-05", "amount": 120}
exact = lambda one, other: ExactMatch()(one, other).score
diff = lambda one, other: int(JSONDiff()(one, other).score)
print(f"same order: exact {exact(dict(wanted), wanted)}, diff {diff(dict(wanted), wanted)}, == {dict(wanted) == wanted}")
print(f"other order: exact {exact(turned, wanted)}, diff {diff(turned, wanted)}, == {turned == wanted}")
text = '{"day": "2026-03-05", "amount": 120}'
print(f"other order, as text: exact {exact(text, wanted)}, diff {diff(text, wanted)}")
text = '{"amount": 120, "day": "2026-03-05"}'
print(f"same order, as text: exact {exact(text, wanted)}, diff {diff(text, wanted)}")
print(f"1 and 1.0: exact {exact(1, 1.0)}, == {1 == 1.0}")
print(f'1 and "1": exact {exact(1, "1")}, == {1 == "1"}')
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
