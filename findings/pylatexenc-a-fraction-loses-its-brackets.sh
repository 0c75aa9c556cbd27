#!/usr/bin/env bash
# pylatexenc 2.11
#
# Formulas of a paper are turned into plain text for a search index, or for a model that reads no TeX.
#
# Expected: the text means the same, or the formula stays as it is (the package has a mode for that). Roots do it
# right: they get brackets.
# Seen: fractions, exponents and binomials are written without brackets, so that another formula stands there: (a+b)/c becomes
# a+b/c, one over n+1 becomes one over n, plus one, x to the n+1 becomes x to the n, plus one. A
# number behind an index joins it (a_1 times 2 is a_12), and a cube root is a square root.
#
# Why it matters: the text is valid mathematics. Nobody who reads it can see that it is not the formula of the paper.
#
# Output seen:
#   \frac{a+b}{c} -> a+b/c
#   \frac{1}{n+1} -> 1/n+1
#   \left(\frac{x}{2y}\right) -> (x/2y)
#   x^{n+1} -> x^n+1
#   e^{-x/2}y -> e^-x/2y
#   a_{1}2 -> a_12
#   \binom{n}{k} -> nk
#   \sqrt{x+1} -> √(x+1)
#   \sqrt[3]{x} -> √(x)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pylatexenc==2.11 2>/dev/null

cat > read.py <<'PY'
from pylatexenc.latex2text import LatexNodes2Text

to_text = LatexNodes2Text().latex_to_text
for formula in (
    r"\frac{a+b}{c}", r"\frac{1}{n+1}", r"\left(\frac{x}{2y}\right)", r"x^{n+1}", r"e^{-x/2}y", r"a_{1}2", r"\binom{n}{k}",
    r"\sqrt{x+1}", r"\sqrt[3]{x}",
):
    print(formula, "->", to_text(f"${formula}$"))
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
