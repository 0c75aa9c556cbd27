#!/usr/bin/env bash
# hyperformula 3.5.0 (a spreadsheet engine with Excel's functions; @formulajs/formulajs 4.6.1 beside it)
#
# A spreadsheet's `INT` rounds down: Excel documents INT(-8.9) as -9, and so do Google Sheets and Calc.
#
# Expected: INT(-0.5) is -1, and x-INT(x) lies between 0 and 1, as a remainder does.
# Seen: INT cuts the decimals off, as TRUNC does: INT(-0.5) is 0, and -7.25-INT(-7.25) is -0.25. FLOOR with one and MOD with one
# do it right, so one sheet holds two answers.
#
# Why it matters: a sheet that counts whole days before a date, or the floors below ground, is one off for every value below zero, and only there.
#
# Output seen:
#   INT(-0.5): hyperformula 0 | formulajs -1
#   INT(-1.5): hyperformula -1 | formulajs -2
#   INT(-8.9): hyperformula -8 | formulajs -9
#   INT(8.9): hyperformula 8 | formulajs 8
#   FLOOR(-8.9,1): hyperformula -9
#   TRUNC(-8.9): hyperformula -8
#   MOD(-7.25,1): hyperformula 0.75
#   -7.25-INT(-7.25): hyperformula -0.25
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit hyperformula@3.5.0 @formulajs/formulajs@4.6.1 >/dev/null 2>&1

cat > test.mjs <<'JS'
import hyper from "hyperformula";
import * as formulajs from "@formulajs/formulajs";

const of = (formula) => hyper.HyperFormula.buildFromArray([["=" + formula]], { licenseKey: "gpl-v3" }).getCellValue({ sheet: 0, row: 0, col: 0 });
for (const value of [-0.5, -1.5, -8.9, 8.9]) console.log(`INT(${value}): hyperformula ${of(`INT(${value})`)} | formulajs ${formulajs.INT(value)}`);
for (const formula of ["FLOOR(-8.9,1)", "TRUNC(-8.9)", "MOD(-7.25,1)", "-7.25-INT(-7.25)"]) console.log(`${formula}: hyperformula ${of(formula)}`);
JS
node test.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
