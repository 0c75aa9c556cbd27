#!/usr/bin/env bash
# zod 4.6.7 (ajv 8.20.0 beside it)
#
# The JSON Schema of a tool, as an MCP server or an API gives it, becomes a check by `z.fromJSONSchema`, and a model's call is checked.
#
# Expected: what the schema forbids is refused, or an error is raised for what zod cannot say: it raises one for `not`, for `if`, for
# `dependentRequired` and for `unevaluatedProperties`.
# Seen: a required name counts only if `properties` has it too. "Either an id or a name", which is said by `anyOf` with `required`,
# takes neither; "id", required beside `additionalProperties`, may be missing. What stands beside `$ref`, `enum` or `const` is left out, so a
# `maximum` is not kept. A required field with a default is filled in. In each case the result is a success without a word.
#
# Why it matters: the check stands before a tool that pays or deletes; it was tried with a wrong type, and that is refused.
#
# Output seen:
#   wrong type, {"id":"x"}: ajv refuses it, zod refuses it
#   either id or name, {}: ajv refuses it, zod takes it as {}
#   id required, any field, {"limit":1}: ajv refuses it, zod takes it as {"limit":1}
#   at most 100, {"euros":5000}: ajv refuses it, zod takes it as {"euros":5000}
#   required with default, {}: ajv refuses it, zod takes it as {"dry":false}
#   not, "x": ajv refuses it, zod raises an error
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit zod@4.6.7 ajv@8.20.0 >/dev/null 2>&1

cat > check.mjs <<'JS'
import Ajv from "ajv/dist/2020.js";
import { z } from "zod";
const price = { type: "number", minimum: 5 };
const cases = [
  ["wrong type", { type: "object", properties: { id: { type: "integer" } } }, { id: "x" }],
  ["either id or name", { type: "object", properties: { id: {}, name: {} }, anyOf: [{ required: ["id"] }, { required: ["name"] }] }, {}],
  ["id required, any field", { type: "object", additionalProperties: { type: "integer" }, required: ["id"] }, { limit: 1 }],
  ["at most 100", { type: "object", properties: { euros: { $ref: "#/$defs/price", maximum: 100 } }, $defs: { price } }, { euros: 5000 }],
  ["required with default", { type: "object", properties: { dry: { type: "boolean", default: false } }, required: ["dry"] }, {}],
  ["not", { type: "string", not: { const: "x" } }, "x"],
];
for (const [name, schema, value] of cases) {
  let seen;
  try {
    const result = z.fromJSONSchema(schema).safeParse(value);
    seen = result.success ? "takes it as " + JSON.stringify(result.data) : "refuses it";
  } catch (error) {
    seen = "raises an error";
  }
  console.log(`${name}, ${JSON.stringify(value)}: ajv ${new Ajv({ strict: false }).validate(schema, value) ? "takes it" : "refuses it"}, zod ${seen}`);
}
JS
node check.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
