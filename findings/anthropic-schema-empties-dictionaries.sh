#!/usr/bin/env bash
# anthropic 2.14.0, langchain-core 1.8.3 (with pydantic 2.14.4; openai 3.57.0 beside them)
#
# A pydantic model with a dictionary, `scores: dict[str, int]`, becomes the schema of a structured reply. Vendors' strict
# mode takes no free keys, so a helper has to change such a schema or refuse it.
#
# Expected: an error, as the vendor itself gives one, or the schema as it is.
# Seen: anthropic's `transform_schema` says the dictionary is an object without properties that takes no others. The
# only valid value is {}. langchain's `strict=True` does the same. Both are silent, and the reply passes validation, for
# an empty dictionary fits the model. openai's helper leaves the schema alone, so its vendor refuses it with an error.
#
# Why it matters: the field is empty in every reply, with no error anywhere; it looks as if the model found nothing.
#
# Output seen:
#   anthropic: {"additionalProperties":false,"properties":{},"title":"Scores","type":"object"}
#   langchain: {"additionalProperties":false,"type":"object"}
#   openai: {"additionalProperties":{"type":"integer"},"title":"Scores","type":"object"}
#   {"a": 1} fits anthropic's: False; {} fits it: True; {} fits the model: True
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check anthropic==2.14.0 langchain-core==1.8.3 openai==3.57.0 pydantic==2.14.4 jsonschema==4.26.0

cat > try.py <<'PY'
import json
from anthropic import transform_schema
from jsonschema import Draft202012Validator
from langchain_core.utils.function_calling import convert_to_openai_tool
from openai.lib._pydantic import to_strict_json_schema
from pydantic import BaseModel
class Review(BaseModel):
    """A review."""
    scores: dict[str, int]
def show(who, schema):
    kept = {key: schema[key] for key in schema if key != "description"}
    print(f"{who}:", json.dumps(kept, sort_keys=True, separators=(",", ":")))
    return Draft202012Validator(schema)
strict = convert_to_openai_tool(Review, strict=True)["function"]["parameters"]
reader = show("anthropic", transform_schema(Review)["properties"]["scores"])
show("langchain", strict["properties"]["scores"])
show("openai", to_strict_json_schema(Review)["properties"]["scores"])
model = Review.model_validate({"scores": {}}).scores == {}
print(f"""{{"a": 1}} fits anthropic's: {reader.is_valid({"a": 1})}; {{}} fits it: {reader.is_valid({})}; {{}} fits the model: {model}""")
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
