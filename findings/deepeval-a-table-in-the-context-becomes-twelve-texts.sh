#!/usr/bin/env bash
# deepeval 4.3.1 (with pandas 3.1.1)
#
# Questions with the texts that a search found for them, and the right answers, are kept with `save_as` and read again before each evaluation. One text
# holds a table in Markdown, one a command with a pipe. The right answer of one question is "None", and of another "n/a".
#
# Expected: the same dataset from each of the three kinds of file; a line of JSON can hold a list.
# Seen: in JSON Lines and CSV the texts of a question are put together with | and are cut at each | when they are read: two texts become twelve, most of
# them a word or a blank. From CSV the answers "None" and "n/a" are missing, as pandas reads them. Plain JSON is right. The reference names a delimiter for
# reading CSV, and nothing of what happens to a text that holds it.
#
# Why it matters: whether an answer is supported by its context is judged by pieces of it, with other counts of what is relevant.
#
# Output seen:
#   json: texts [2, 1, 1], answers ['20 EUR', 'None', 'n/a']
#   jsonl: texts [12, 1, 1], answers ['20 EUR', 'None', 'n/a']
#   csv: texts [12, 1, 1], answers ['20 EUR', None, None]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check deepeval==4.3.1 pandas==3.1.1 2>/dev/null

cat > keep.py <<'PY'
from deepeval.dataset import EvaluationDataset, Golden
texts = ["| Plan | Price |\n| --- | --- |\n| Pro | 20 |", "cat log | grep error"]
goldens = [
    Golden(input="What is the price?", expected_output="20 EUR", context=texts), Golden(input="Which plan is free?", expected_output="None", context=["Pro costs 20."]),
    Golden(input="What stands in the cell?", expected_output="n/a", context=["The cell holds n/a."]),
]
for kind in ("json", "jsonl", "csv"):
    EvaluationDataset(goldens=goldens).save_as(file_type=kind, directory=".", file_name="kept")
    dataset = EvaluationDataset()
    getattr(dataset, f"add_goldens_from_{kind}_file")(file_path=f"kept.{kind}")
    print(f"seen {kind}: texts {[len(golden.context) for golden in dataset.goldens]}, answers {[golden.expected_output for golden in dataset.goldens]}")
PY
DEEPEVAL_TELEMETRY_OPT_OUT=YES venv/bin/python keep.py 2>/dev/null | sed -n 's/^seen //p' | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
