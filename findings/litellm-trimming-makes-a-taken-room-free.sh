#!/usr/bin/env bash
# litellm 1.110.2
#
# `trim_messages` shortens a conversation to a number of tokens before it is sent; what does not fit is shortened itself. A tool has
# told that a room "is not free in May".
#
# Expected: whole messages are left out, or a text is cut at its end, with a mark that tells the model so.
# Seen: the middle is cut out of a tool's result, and its last words are joined to the first by two dots, inside a sentence. With 50 tokens what is
# left says "free in May": the "not" stood where the cut is. A person's question is cut the same way. Nothing tells the caller that words
# inside a message are gone: the messages come back alone.
#
# Why it matters: the model reads the opposite of what the tool said, and the price belongs to it.
#
# Output seen:
#   45 tokens: Room .. May.
#   50 tokens: Room 1 costs .. free in May.
#   55 tokens: Room 1 costs 120 euros ..and is not free in May.
#   question, 25 tokens: Do not book room 1 for t.. until I call you again.
#   question, 20 tokens: Do not book room.. call you again.
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check litellm==1.110.2 >/dev/null 2>&1

cat > test.py <<'PY'
import warnings

warnings.simplefilter("ignore")
from litellm.utils import trim_messages


def call(number):
    return {"role": "assistant", "content": None, "tool_calls": [{"id": number, "type": "function", "function": {"name": "price", "arguments": "{}"}}]}


talk = [
    {"role": "system", "content": "You sell rooms."},
    {"role": "user", "content": "What is room 1?"},
    call("a"),
    {"role": "tool", "tool_call_id": "a", "content": "Room 1 costs 120 euros a night, " + "with a view " * 12 + "and is not free in May."},
    {"role": "assistant", "content": "It costs 120 euros."},
    {"role": "user", "content": "And in June?"},
]

for tokens in (45, 50, 55):
    print(f"{tokens} tokens:", *(message["content"] for message in trim_messages(talk, model="gpt-4o", max_tokens=tokens, trim_ratio=1) if message["role"] == "tool"))
words = "Do not book room 1 for the week of my holidays, nor any other room that has a view of the sea, until I call you again."
for tokens in (25, 20):
    print(f"question, {tokens} tokens:", trim_messages([{"role": "user", "content": words}], model="gpt-4o", max_tokens=tokens, trim_ratio=1)[0]["content"])
PY
LITELLM_LOCAL_MODEL_COST_MAP=True env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
