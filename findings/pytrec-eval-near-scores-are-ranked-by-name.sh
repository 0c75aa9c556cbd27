#!/usr/bin/env bash
# pytrec_eval-terrier 0.5.11
#
# Documents are ranked by time: their scores are seconds since 1970, ten seconds apart.
#
# Expected: the order of the scores.
# Seen: scores are kept as 32-bit floats. Times within a minute or two are equal, and what is equal is ranked by name, the last
# of the alphabet first. The same run is right or wrong by the names of its documents. Nothing is said.
#
# Output seen:
#   right one named a: rank 3
#   right one named z: rank 1
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pytrec_eval-terrier==0.5.11 2>/dev/null

cat > judge.py <<'PY'
import pytrec_eval

for name in ("a", "z"):
    right = {"q": {name: 1}}
    run = {"q": {name: 1764500060.0, "m": 1764500050.0, "n": 1764500040.0, "o": 1764500030.0}}
    found = pytrec_eval.RelevanceEvaluator(right, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
    print(f"right one named {name}: rank {round(1 / found)}")
PY
venv/bin/python judge.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
