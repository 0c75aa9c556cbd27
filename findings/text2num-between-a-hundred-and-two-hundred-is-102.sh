#!/usr/bin/env bash
# text2num 3.1.0, number-parser 0.3.2, words-to-numbers 1.5.1 (JavaScript)
#
# Speech is written down with numbers in digits. Two hundreds stand side by side with "and" between them: a range, two rooms, two prices.
#
# Expected: "between 100 and 200 people"; with tens it is so in all three packages.
# Seen: the "and" is taken for that of "one hundred and two" before the next word is looked at, and the hundred that follows is left over: 102 and 100 in the
# Python packages. The JavaScript one adds all: 300.
#
# Why it matters: both numbers are wrong, and neither was said; number-parser names "accurately handling usage of conjunction" among
# what it supports.
#
# Output seen:
#   text2num: between 10 and 20 people | number-parser: between 10 and 20 people
#   text2num: between 102 100 people | number-parser: between 102 100 people
#   text2num: rooms 203 100 | number-parser: rooms 203 100
#   words-to-numbers: between 10 and 20 people
#   words-to-numbers: between 300 people
#   words-to-numbers: rooms 500
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check text2num==3.1.0 number-parser==0.3.2 2>/dev/null
npm install --silent --no-fund --no-audit words-to-numbers@1.5.1 >/dev/null 2>&1

cat > texts.json <<'JSON'
["between ten and twenty people", "between one hundred and two hundred people", "rooms two hundred and three hundred"]
JSON
cat > read.py <<'PY'
import json
from number_parser import parse
from text_to_num import alpha2digit

for text in json.load(open("texts.json")):
    print(f"text2num: {alpha2digit(text, 'en')} | number-parser: {parse(text)}")
PY
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";
import words from "words-to-numbers";
for (const text of JSON.parse(readFileSync("texts.json"))) console.log("words-to-numbers:", words.wordsToNumbers(text));
JS
{ venv/bin/python read.py; node read.mjs; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
