#!/usr/bin/env bash
# word2number 1.1
#
# Numbers as people say or write them: half a million, two and a half, one point five million, minus five, a year.
#
# Expected: the number, or the ValueError that the package raises for words it cannot make a number of ("Redundant number word!", "No valid
# number words found!").
# Seen: what it does not know is left out and the rest is taken for the whole: half a million is a million, two dozen are two, minus five is
# five. "one point five million" is 1, though "two point three" is an example of its README. Two numbers, a range or a year, become
# one that nobody said.
#
# Why it matters: the value is a plain integer, without a sign that a part was not read.
#
# Output seen:
#   two point three: 2.3
#   half a million: 1000000
#   two and a half: 2
#   one point five million: 1
#   two point five thousand: 2
#   two dozen: 2
#   minus five: 5
#   five to ten: 15
#   twelve fifty: 62
#   nineteen ninety nine: 1719
#   twenty five hundred: 200
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check word2number==1.1 2>/dev/null

cat > read.py <<'PY'
from word2number import w2n

for text in (
    "two point three",
    "half a million",
    "two and a half",
    "one point five million",
    "two point five thousand",
    "two dozen",
    "minus five",
    "five to ten",
    "twelve fifty",
    "nineteen ninety nine",
    "twenty five hundred",
):
    print(f"{text}: {w2n.word_to_num(text)}")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
