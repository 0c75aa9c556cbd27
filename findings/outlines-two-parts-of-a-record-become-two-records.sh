#!/usr/bin/env bash
# outlines-core 0.2.14 (jsonschema 4.26.0 and lm-format-enforcer 0.11.3 beside it)
#
# The schema of a reply is put together of two by `allOf`: what each document has, and what a bill has besides. A model is held to it by the pattern that
# `build_regex_from_schema` makes, the core of outlines, "structured outputs, guaranteed".
#
# Expected: one record with the members of both; or an error, as it gives for `not` and `if`.
# Seen: the patterns of the parts stand one behind the other. The one reply that is allowed is two records in a row, which is no JSON, and
# the right ones are not. With one part in `allOf` it is right, so schemas made by pydantic work. Bounds (`minimum`, `maximum`) are dropped without a
# word as well: a share of at most 100 may be 700.
#
# Why it matters: the reply cannot be read, or is read to the end of the first record, and the model is blamed.
#
# Output seen:
#   one part: {"id": 1}: outlines takes it, jsonschema takes it, enforcer takes it
#   two parts: {"id": 1, "total": 2}: outlines refuses it, jsonschema takes it, enforcer takes it
#   two parts: {"id": 1}{"total": 2}: outlines takes it, jsonschema refuses it, enforcer refuses it
#   a share: 70: outlines takes it, jsonschema takes it, enforcer takes it
#   a share: 700: outlines takes it, jsonschema refuses it, enforcer takes it
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check outlines-core==0.2.14 jsonschema==4.26.0 lm-format-enforcer==0.11.3 2>/dev/null

cat > allow.py <<'PY'
import json, re
from jsonschema import Draft202012Validator
from lmformatenforcer import JsonSchemaParser
from outlines_core.json_schema import build_regex_from_schema

def record(**members):
    return {"type": "object", "properties": members, "required": list(members)}

def valid(schema, reply):
    try:
        return Draft202012Validator(schema).is_valid(json.loads(reply))
    except json.JSONDecodeError:
        return False

def enforced(schema, reply):
    parser = JsonSchemaParser(schema)
    for letter in reply:
        if letter not in parser.get_allowed_characters():
            return False
        parser = parser.add_character(letter)
    return parser.can_end()

number = {"type": "integer"}
cases = (
    ("one part", {"allOf": [record(id=number)]}, ('{"id": 1}',)),
    ("two parts", {"allOf": [record(id=number), record(total=number)]}, ('{"id": 1, "total": 2}', '{"id": 1}{"total": 2}')),
    ("a share", {"type": "integer", "minimum": 0, "maximum": 100}, ("70", "700")),
)
for name, schema, replies in cases:
    pattern = build_regex_from_schema(json.dumps(schema))
    for reply in replies:
        allowed = {"outlines": bool(re.fullmatch(pattern, reply)), "jsonschema": valid(schema, reply), "enforcer": enforced(schema, reply)}
        print(f"{name}: {reply}: {', '.join(who + (' takes it' if yes else ' refuses it') for who, yes in allowed.items())}")
PY
venv/bin/python allow.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
