#!/usr/bin/env bash
# pytrec_eval-terrier 0.5.11 (held against ir_measures 0.4.3)
#
# A search is judged by four questions with one right document each. For two of them it finds nothing, and so the run has no line
# of theirs, as a file in TREC's format cannot have one.
#
# Expected: a question without an answer counts zero in the mean.
# Seen: the result holds only the questions that stand in the run, and the mean over it, as the package's own example makes it, is one.
# A search that keeps silent where it is unsure beats one that answers. ir_measures, which calls the same package, fills in the zeros.
#
# Output seen:
#   pytrec_eval: 2 questions, mean reciprocal rank 1.0
#   ir_measures: 4 questions, mean reciprocal rank 0.5
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pytrec_eval-terrier==0.5.11 ir_measures==0.4.3 2>/dev/null

cat > judge.py <<'PY'
import ir_measures, pytrec_eval
from ir_measures import RR

right = {f"q{number}": {f"d{number}": 1} for number in range(4)}
run = {"q0": {"d0": 0.9}, "q1": {"d1": 0.8}}
found = pytrec_eval.RelevanceEvaluator(right, {"recip_rank"}).evaluate(run)
mean = sum(values["recip_rank"] for values in found.values()) / len(found)
print(f"pytrec_eval: {len(found)} questions, mean reciprocal rank {mean}")
qrels = [ir_measures.Qrel(question, document, 1) for question, documents in right.items() for document in documents]
lines = [ir_measures.ScoredDoc(question, document, score) for question, found in run.items() for document, score in found.items()]
count = len(list(ir_measures.iter_calc([RR], qrels, lines)))
print(f"ir_measures: {count} questions, mean reciprocal rank {ir_measures.calc_aggregate([RR], qrels, lines)[RR]}")
PY
venv/bin/python judge.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
