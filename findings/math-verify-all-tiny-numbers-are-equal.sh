#!/usr/bin/env bash
# math-verify 0.9.0 (with sympy 1.14.0)
#
# Answers of models to questions of physics are held against the right ones: Planck's constant, masses of particles, a charge.
#
# Expected: 6.63e-34 and 9.11e-31 are different numbers. The number of places that are compared can be set; it is 6 by default, and a
# power of ten is written so that the places count from the first digit.
# Seen: it depends on how the number happens to be written. A float below half a millionth counts as equal to any other. With "\times 10^{…}"
# the answers are told apart down to about 1e-16; below, every number equals every other: the mass of the electron is the mass of
# the proton and the constant of Planck. Exact fractions are no exception: 1/2^{60} is 1/2^{61}.
#
# Why it matters: the package decides what is right in tables of models and in rewards of their training, where a wrong mass counts as right.
#
# Output seen:
#   6.63\times 10^{-34} = 9.11\times 10^{-31}: True
#   9.11\times 10^{-31} = 1.67\times 10^{-27}: True
#   1.6\times 10^{-19} = 9.9\times 10^{-19}: True
#   6.67\times 10^{-11} = 8.85\times 10^{-12}: False
#   0.00000042 = 0.00000013: True
#   4.2\times 10^{-7} = 1.3\times 10^{-7}: False
#   \frac{1}{2^{60}} = \frac{1}{2^{61}}: True
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'math-verify[antlr4_13_2]==0.9.0' sympy==1.14.0 2>/dev/null

cat > judge.py <<'PY'
from math_verify import parse, verify

for right, answer in (
    (r"6.63\times 10^{-34}", r"9.11\times 10^{-31}"),
    (r"9.11\times 10^{-31}", r"1.67\times 10^{-27}"),
    (r"1.6\times 10^{-19}", r"9.9\times 10^{-19}"),
    (r"6.67\times 10^{-11}", r"8.85\times 10^{-12}"),
    ("0.00000042", "0.00000013"),
    (r"4.2\times 10^{-7}", r"1.3\times 10^{-7}"),
    (r"\frac{1}{2^{60}}", r"\frac{1}{2^{61}}"),
):
    print(f"{right} = {answer}: {verify(parse(f'${right}$'), parse(f'${answer}$'))}")
PY
venv/bin/python judge.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
