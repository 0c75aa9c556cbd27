#!/usr/bin/env bash
# @sinclair/typebox 0.34.52, typebox 1.4.3 (ajv 8.20.0 with `coerceTypes` beside them)
#
# Input of a form or of a query, all text, is read with a schema: a number of pieces is `Type.Integer()`. `Value.Parse` of the first package and
# `Value.Convert` of its successor make numbers of text, as the manual says "if a reasonable conversion is possible", and a check follows.
#
# Expected: what is no whole number is refused, as by ajv, which does the same conversion by an option.
# Seen: it is cut: 2.9 pieces are 2, also where 2.9 came as a number. "1e3" is 1 with the first package, which cuts the text at its first letter, and 1000
# with its successor; that makes 0 of an empty text, where null is allowed too. The check behind it sees the new value and passes.
#
# Why it matters: these are the packages below the checks of several web frameworks, and the check says that the input was right.
#
# Output seen:
#   whole "12": 0.34 12, 1.4 12, ajv 12
#   whole "2.9": 0.34 2, 1.4 2, ajv refused
#   whole 2.9: 0.34 2, 1.4 2, ajv refused
#   whole -0.5: 0.34 0, 1.4 0, ajv refused
#   whole "1e3": 0.34 1, 1.4 1000, ajv 1000
#   whole "": 0.34 refused, 1.4 0, ajv refused
#   whole null: 0.34 refused, 1.4 0, ajv 0
#   whole "12 pieces": 0.34 refused, 1.4 refused, ajv refused
#   number or null "": 0.34 refused, 1.4 0, ajv null
#   number or null null: 0.34 null, 1.4 null, ajv 0
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit @sinclair/typebox@0.34.52 typebox@1.4.3 ajv@8.20.0 >/dev/null 2>&1

cat > read.mjs <<'JS'
import { Type as OldType } from "@sinclair/typebox";
import { Value as OldValue } from "@sinclair/typebox/value";
import Ajv from "ajv";
import Type from "typebox";
import { Check, Convert } from "typebox/value";

const show = (work) => {
  try { return JSON.stringify(work()); } catch { return "refused"; }
};
const checked = (schema, value) => {
  const result = Convert(schema, value);
  if (!Check(schema, result)) throw new Error("no");
  return result;
};
const ajv = new Ajv({ coerceTypes: true });
const coerced = (schema, value) => {
  const box = { value };
  if (!ajv.validate({ type: "object", properties: { value: schema } }, box)) throw new Error("no");
  return box.value;
};
const line = (name, old, now, value) => console.log(
  `${name} ${JSON.stringify(value)}: 0.34 ${show(() => OldValue.Parse(old, value))}, 1.4 ${show(() => checked(now, value))}, ajv ${show(() => coerced(old, value))}`);
for (const value of ["12", "2.9", 2.9, -0.5, "1e3", "", null, "12 pieces"]) line("whole", OldType.Integer(), Type.Integer(), value);
for (const value of ["", null]) {
  line("number or null", OldType.Union([OldType.Number(), OldType.Null()]), Type.Union([Type.Number(), Type.Null()]), value);
}
JS
node read.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
