#!/usr/bin/env bash
# @formulajs/formulajs 4.6.1
#
# Formulas of a spreadsheet run in JavaScript. A column of a bank or a ledger is text, with losses in brackets or with the minus behind, and VALUE makes numbers
# of it; DOLLAR of the same package writes losses in brackets.
#
# Expected: -1234.5, as VALUE gives in Excel for "(1,234.50)"; or #VALUE!, which the package gives for "1/2".
# Seen: all that is no digit, point or leading minus is taken out: the loss is a gain. What DOLLAR wrote is read back with the other sign. Nothing of
# it stands in the list of differences from Excel.
#
# Output seen:
#   VALUE("-1,234.50"): -1234.5
#   VALUE("(1,234.50)"): 1234.5
#   VALUE("($1,234.50)"): 1234.5
#   VALUE("1,234.50-"): 1234.5
#   DOLLAR(-1234.5): $(1,234.50), and VALUE of it: 1234.5
#   sum of 2000 and (1,234.50): 3234.5
#   1/2: #VALUE!
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit @formulajs/formulajs@4.6.1 >/dev/null 2>&1

cat > value.mjs <<'JS'
import { DOLLAR, VALUE } from "@formulajs/formulajs";

for (const text of ["-1,234.50", "(1,234.50)", "($1,234.50)", "1,234.50-"]) console.log(`VALUE("${text}"): ${VALUE(text)}`);
console.log(`DOLLAR(-1234.5): ${DOLLAR(-1234.5)}, and VALUE of it: ${VALUE(DOLLAR(-1234.5))}`);
console.log("sum of 2000 and (1,234.50):", 2000 + VALUE("(1,234.50)"));
console.log("1/2:", VALUE("1/2").message);
JS
node value.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
