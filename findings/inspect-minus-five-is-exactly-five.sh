#!/usr/bin/env bash
# inspect-ai 0.3.285
#
# Answers of a model are graded by `exact()`: "normalizes the text of the answer and target(s) and performs an exact matching
# comparison". The other scorer, `match(numeric=True)`, is beside it.
#
# Expected: -5 is not 5. That articles, capitals and a full stop do not count is what normalizing is for.
# Seen: all punctuation is dropped, also a sign, a slash and a percent: -5 is graded correct for 5, 5 for -5, 1/2 for 12 and C for
# C++, by `exact` and by `f1`, which gives them 1.0. Numbers get no other treatment in them; `match` looks at the end of a text.
#
# Why it matters: the sign is what a sum, a balance or a temperature is wrong by. The score of a model that errs there is too high,
# and no log shows it: answer and target stand there as they were.
#
# Output seen:
#   5. for 5: exact C, f1 1.0, match numeric C
#   6 for 5: exact I, f1 0.0, match numeric I
#   -5 for 5: exact C, f1 1.0, match numeric I
#   5 for -5: exact C, f1 1.0, match numeric I
#   -0.5 for 0.5: exact C, f1 1.0, match numeric I
#   -5 degrees for 5 degrees: exact C, f1 1.0, match numeric C
#   C for C++: exact C, f1 1.0, match numeric C
#   10% for 10: exact C, f1 1.0, match numeric I
#   1/2 for 12: exact C, f1 1.0, match numeric I
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check inspect-ai==0.3.285 2>/dev/null

cat > grade.py <<'PY'
import asyncio
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Target, exact, f1, match
from inspect_ai.solver import TaskState
def grade(scorer, answer, target):
    output = ModelOutput.from_content("m", answer)
    state = TaskState(model=ModelName("mockllm/m"), sample_id=1, epoch=1, input="", messages=[], output=output)
    return asyncio.run(scorer(state, Target(target))).value
for answer, target in (("5.", "5"), ("6", "5"), ("-5", "5"), ("5", "-5"), ("-0.5", "0.5"), ("-5 degrees", "5 degrees"), ("C", "C++"), ("10%", "10"), ("1/2", "12")):
    grades = ", ".join(f"{name} {grade(scorer, answer, target)}" for name, scorer in (("exact", exact()), ("f1", f1()), ("match numeric", match(numeric=True))))
    print(f"{answer} for {target}: {grades}")
PY
venv/bin/python grade.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
