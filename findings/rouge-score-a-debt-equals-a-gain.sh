#!/usr/bin/env bash
# rouge_score 0.1.2
#
# Summaries of a model are held against what people wrote, in English and in Chinese.
#
# Expected: equal texts score 1, texts that say the opposite less.
# Seen: only a to z and digits are kept before anything is compared. A loss of 5% equals a gain of 5%, a point is a blank,
# C++ equals C. A text without Latin letters has no words at all, so it has nothing in common with itself: 0.
#
# Output seen:
#   a change of -5% | a change of +5%: 1.0
#   written in C++ | written in C: 1.0
#   from 1.5 to 3 | from 1 to 5.3: 0.8
#   今天天气很好 | 今天天气很好: 0.0
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check rouge_score==0.1.2 2>/dev/null

cat > judge.py <<'PY'
from rouge_score.rouge_scorer import RougeScorer

scorer = RougeScorer(["rougeL"])
for reference, summary in (
    ("a change of -5%", "a change of +5%"), ("written in C++", "written in C"), ("from 1.5 to 3", "from 1 to 5.3"), ("今天天气很好", "今天天气很好"),
):
    print(f"{reference} | {summary}: {scorer.score(reference, summary)['rougeL'].fmeasure:.1f}")
PY
venv/bin/python judge.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
