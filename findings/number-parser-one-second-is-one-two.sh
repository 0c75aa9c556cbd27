#!/usr/bin/env bash
# number-parser 0.3.2 (text2num 3.1.0 beside it)
#
# Words of a text are turned into digits by `parse`, which "also supports ordinal number conversion": texts with seconds and with fractions.
#
# Expected: the second of May becomes 2 (that is documented); a second of time stays one, and a third of the cake is not three.
# Seen: each "second" is 2, each "third" is 3 and each "fifth" 5, whatever it counts: a wait of one second reads "1 2", a third of the cake "a 3", one
# fifth "1 5". In the plural nothing happens: "two thirds" is "2 thirds".
#
# Why it matters: times are what is dictated most, and the text that comes out is digits that a program reads on.
#
# Output seen:
#   the second of May: the 2 of May | text2num: the second of May
#   try again in one second: try again in 1 2 | text2num: try again in one second
#   thirty seconds: 30 seconds | text2num: 30 seconds
#   it takes a second or two: it takes a 2 or 2 | text2num: it takes a second or two
#   a third of the cake: a 3 of the cake | text2num: a 3rd of the cake
#   two thirds of the cake: 2 thirds of the cake | text2num: two 3rds of the cake
#   one fifth is paid: 1 5 is paid | text2num: one 5th is paid
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check number-parser==0.3.2 text2num==3.1.0 2>/dev/null

cat > read.py <<'PY'
from number_parser import parse
from text_to_num import alpha2digit

for text in (
    "the second of May",
    "try again in one second",
    "thirty seconds",
    "it takes a second or two",
    "a third of the cake",
    "two thirds of the cake",
    "one fifth is paid",
):
    print(f"{text}: {parse(text)} | text2num: {alpha2digit(text, 'en')}")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
