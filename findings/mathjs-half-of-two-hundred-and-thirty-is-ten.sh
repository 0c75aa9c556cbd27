#!/usr/bin/env bash
# mathjs 15.2.0
#
# Sums with percent, as one types them into a calculator: the package knows "100 + 10%" (110) and "200 * 50%" (100). A fee is added or taken off behind it.
#
# Expected: 200 * 50% + 30 is 130, as 30 + 200 * 50% is.
# Seen: a percent sign that a plus or a minus follows is taken for the modulus, with the plus as the sign of the next number: (200 * 50) mod +30 is 10, and
# 100 + 10% + 5 is 100, since 10 mod 5 is nothing. "10% + 5%" is 0. With the fee in front, or with brackets, it is right. The project has a report of
# the last form (#3563), and calls it a bad parse.
#
# Why it matters: one order of the same sum gives an amount and the other a wrong one, without an error.
#
# Output seen:
#   200 * 50% = 100
#   30 + 200 * 50% = 130
#   200 * 50% + 30 = 10
#   (200 * 50%) + 30 = 130
#   100 + 10% = 110
#   100 + 10% + 5 = 100
#   50 * 10% + 5 = 0
#   10% + 5% = 0
#   read as: (200 * 50) % (+30)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit mathjs@15.2.0 >/dev/null 2>&1

cat > sum.mjs <<'JS'
import { evaluate, parse } from "mathjs";

for (const sum of ["200 * 50%", "30 + 200 * 50%", "200 * 50% + 30", "(200 * 50%) + 30", "100 + 10%", "100 + 10% + 5", "50 * 10% + 5", "10% + 5%"])
  console.log(`${sum} = ${evaluate(sum)}`);
console.log("read as:", parse("200 * 50% + 30").toString({ parenthesis: "all" }));
JS
node sum.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
