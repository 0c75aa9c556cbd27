#!/usr/bin/env bash
# rank-bm25 0.2.2 (with numpy 2.4.6)
#
# A few notes are searched by `BM25Okapi` for one word, as in the package's own example of three sentences. The word is in two of three notes, then in
# two of four.
#
# Expected: the notes that hold the word come before those that do not, as with `BM25Plus` of the same package.
# Seen: a word that half of the notes hold is worth nothing, so that all get 0 and `get_top_n` gives the last note of the list. A word that more than
# half hold has a negative worth, for which the package puts a quarter of the mean worth of all words. Among few notes with words in common that
# mean is negative itself, and each note with the word ranks below those without it: the open invoice is the best for "paid".
#
# Why it matters: in small collections (a folder, one customer, the notes of a week) the search answers with the opposite, and nothing tells.
#
# Output seen:
#   BM25Okapi, 3 notes, 'paid': [-0.017, -0.017, 0.0], first: invoice May open
#   BM25Plus, 3 notes, 'paid': [1.386, 1.386, 0.693], first: invoice April paid
#   BM25Okapi, 4 notes, 'paid': [0.0, 0.0, 0.0, 0.0], first: letter June sent
#   BM25Plus, 4 notes, 'paid': [1.833, 1.833, 0.916, 0.916], first: invoice March paid
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check rank-bm25==0.2.2 numpy==2.4.6 2>/dev/null

cat > rank.py <<'PY'
from rank_bm25 import BM25Okapi, BM25Plus

NOTES = ["invoice March paid", "invoice April paid", "invoice May open"]
for notes in (NOTES, [*NOTES, "letter June sent"]):
    for kind in (BM25Okapi, BM25Plus):
        index = kind([note.split() for note in notes])
        scores = [round(float(score), 3) for score in index.get_scores(["paid"])]
        print(f"{kind.__name__}, {len(notes)} notes, 'paid': {scores}, first: {index.get_top_n(['paid'], notes, 1)[0]}")
PY
venv/bin/python rank.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
