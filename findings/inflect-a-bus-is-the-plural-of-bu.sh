#!/usr/bin/env bash
# inflect 7.6.0
#
# A program that makes names of tables, or keys for a search, asks whether a word is a plural and what its singular is: `singular_noun`
# "returns False when a singular noun is passed".
#
# Expected: False for bus, gas and lens, as for process, status and class.
# Seen: what ends in s is taken for a plural in many common words, and they lose it: bus is bu, gas is ga, lens is len, analysis is
# analysi. The package knows these words in the other direction (`plural` of each is right), and going there and back is right as well.
# `compare` of bu and bus says that they are singular and plural.
#
# Why it matters: the usual line for "in the singular, please", `singular_noun(word) or word`, changes words that are singular already.
#
# Output seen:
#   cat: False; plural cats, and back cat
#   process: False; plural processes, and back process
#   status: False; plural statuses, and back status
#   class: False; plural classes, and back class
#   bus: bu; plural buses, and back bus
#   gas: ga; plural gases, and back gas
#   lens: len; plural lenses, and back lens
#   virus: viru; plural viruses, and back virus
#   analysis: analysi; plural analyses, and back analysis
#   canvas: canva; plural canvases, and back canvas
#   bonus: bonu; plural bonuses, and back bonus
#   corpus: corpu; plural corpuses, and back corpus
#   compare('bu', 'bus'): s:p
#   singular_noun(word) or word: ga len bu cat
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check inflect==7.6.0 2>/dev/null

cat > ask.py <<'PY'
import inflect
words = inflect.engine()
for word in ("cat", "process", "status", "class", "bus", "gas", "lens", "virus", "analysis", "canvas", "bonus", "corpus"):
    plural = words.plural_noun(word)
    print(f"{word}: {words.singular_noun(word)}; plural {plural}, and back {words.singular_noun(plural)}")
print("compare('bu', 'bus'):", words.compare("bu", "bus"))
print("singular_noun(word) or word:", *(words.singular_noun(word) or word for word in "gas lens bus cats".split()))
PY
venv/bin/python ask.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
