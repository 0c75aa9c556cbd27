#!/usr/bin/env bash
# zod 4.6.7 (ajv 8.20.0 reads its schema)
#
# A server describes its input by `z.toJSONSchema` and checks it with the same zod schema: a number of an order in any case of its letters.
#
# Expected: what the schema forbids the check forbids, and the other way round, or an error, as zod raises for what it cannot say.
# Seen: of a regular expression its text is kept and its flags are not, so /^de\d+$/i takes "DE12" and the schema refuses it; /m and /s
# are lost in the same way. A field with `catch` is required in the schema of the input, while zod takes a call without it. And a
# limit behind `pipe` is left out, so the schema allows what zod refuses.
#
# Why it matters: a client that checks first, or a model that is held to the schema, cannot send "DE12" at all, and is made to write
# "de12"; a test of the server alone passes with both.
#
# Output seen:
#   {"type":"string","pattern":"^de\\d+$"}: "de12" zod true, ajv true; "DE12" zod true, ajv false; "fr12" zod false, ajv false
#   {"type":"string","pattern":"^total$"}: "total" zod true, ajv true; "a\ntotal" zod true, ajv false
#   {"type":"object","properties":{"page":{"default":1,"type":"number"}},"required":["page"]}: {"page":2} zod true, ajv true; {} zod true, ajv false
#   {"type":"string"}: "abc" zod true, ajv true; "a" zod false, ajv true
#   {"type":"string","minLength":3}: "abc" zod true, ajv true; "a" zod false, ajv false
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit zod@4.6.7 ajv@8.20.0 >/dev/null 2>&1

cat > check.mjs <<'JS'
import Ajv from "ajv/dist/2020.js";
import { z } from "zod";
const cases = [
  [z.string().regex(/^de\d+$/i), ["de12", "DE12", "fr12"]],
  [z.string().regex(/^total$/m), ["total", "a\ntotal"]],
  [z.object({ page: z.number().catch(1) }), [{ page: 2 }, {}]],
  [z.string().pipe(z.string().min(3)), ["abc", "a"]],
  [z.string().min(3), ["abc", "a"]],
];
for (const [check, values] of cases) {
  const { $schema, ...schema } = z.toJSONSchema(check, { io: "input" });
  const takes = new Ajv({ strict: false }).compile(schema);
  const seen = values.map((value) => `${JSON.stringify(value)} zod ${check.safeParse(value).success}, ajv ${takes(value)}`);
  console.log(JSON.stringify(schema) + ": " + seen.join("; "));
}
JS
node check.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
