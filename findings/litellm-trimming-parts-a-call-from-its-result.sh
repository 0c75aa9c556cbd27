#!/usr/bin/env bash
# litellm 1.110.2 (semantic-kernel 1.45.0 beside it)
#
# `trim_messages` shortens a conversation to a number of tokens before it is sent. The conversation holds a tool call, its result, an answer and a new question.
#
# Expected: a call and its result stay or go together, since OpenAI's and Anthropic's interfaces refuse one without the other. litellm knows of the
# matter: results at the very end of a conversation are kept.
# Seen: in the middle they are parted, either way round. With 90 tokens the result stands without the call that asked for it; with 40 the call
# stands without a result. semantic-kernel's reducer, asked for any number of messages, keeps the pair or drops it.
#
# Why it matters: a long conversation is refused by the server from some turn on, with an error about ids that the caller never wrote.
#
# Output seen:
#   litellm, 30 tokens: system call user
#   litellm, 40 tokens: system call assistant user
#   litellm, 90 tokens: system result assistant user
#   litellm, 100 tokens: system call result assistant user
#   litellm, 110 tokens: system user call result assistant user
#   semantic-kernel, 3 messages: system assistant user
#   semantic-kernel, 4 messages: system call result assistant user
#   semantic-kernel, 6 messages: system user call result assistant user
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check litellm==1.110.2 semantic-kernel==1.45.0 >/dev/null 2>&1

cat > test.py <<'PY'
import asyncio
import warnings

warnings.simplefilter("ignore")
from litellm.utils import trim_messages
from semantic_kernel.contents import ChatMessageContent, FunctionCallContent, FunctionResultContent
from semantic_kernel.contents.history_reducer.chat_history_truncation_reducer import ChatHistoryTruncationReducer


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


def word(message):
    return "call" if message.get("tool_calls") else {"tool": "result"}.get(message["role"], message["role"])


for tokens in (30, 40, 90, 100, 110):
    print(f"litellm, {tokens} tokens:", *(word(message) for message in trim_messages(talk, model="gpt-4o", max_tokens=tokens, trim_ratio=1)))


async def reduced(count):
    history = ChatHistoryTruncationReducer(target_count=count)
    history.add_system_message("You sell rooms.")
    history.add_user_message("What is room 1?")
    history.add_message(ChatMessageContent(role="assistant", items=[FunctionCallContent(id="a", name="price", arguments="{}")]))
    history.add_message(ChatMessageContent(role="tool", items=[FunctionResultContent(id="a", name="price", result="120")]))
    history.add_assistant_message("It costs 120 euros.")
    history.add_user_message("And in June?")
    await history.reduce()
    kinds = {"FunctionCallContent": "call", "FunctionResultContent": "result"}
    return [kinds.get(type(message.items[0]).__name__, message.role.value) for message in history.messages]


for count in (3, 4, 6):
    print(f"semantic-kernel, {count} messages:", *asyncio.run(reduced(count)))
PY
LITELLM_LOCAL_MODEL_COST_MAP=True env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
