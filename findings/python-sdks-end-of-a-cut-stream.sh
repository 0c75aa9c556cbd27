#!/usr/bin/env bash
# anthropic 2.14.0 and openai 3.57.0 (Python), @anthropic-ai/sdk 1.14.0 and openai 7.59.0 (TypeScript)
#
# A server or a proxy ends a streamed reply early: the connection closes in good order, but neither
# `message_stop` (Anthropic) nor a `finish_reason` (OpenAI) ever came.
#
# Expected: the helper that gives "the final message" raises an error, as both vendors' TypeScript helpers do.
# Seen: both Python helpers return the half reply as the final one, with no stop reason and no error.
#
# Why it matters: a long run stores half sentences and half files as finished replies. Code ported from
# TypeScript relies on an error that Python does not raise.
#
# Output seen:
#   python anthropic: 'Delete only', stop_reason None
#   python openai: 'Delete only', finish_reason None
#   typescript anthropic: stream ended without producing a Message with role=assistant
#   typescript openai: missing finish_reason for choice 0
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap '[ -z "${server:-}" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check anthropic==2.14.0 openai==3.57.0
npm install --silent --no-audit --no-fund @anthropic-ai/sdk@1.14.0 openai@7.59.0

cat > server.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 1}}
ANTHROPIC = [
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Delete only"}},
]
DELTA = {"index": 0, "delta": {"role": "assistant", "content": "Delete only"}, "finish_reason": None}
OPENAI = [{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [DELTA]}]
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        events = ANTHROPIC if "messages" in self.path else OPENAI
        lines = [(f"event: {e['type']}\n" if "type" in e else "") + f"data: {json.dumps(e)}\n\n" for e in events]
        body = "".join(lines).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 server.py > port & server=$!
until [ -s port ]; do sleep 0.1; done

cat > call.py <<'PY'
import anthropic, openai, sys
ask = {"model": "m", "messages": [{"role": "user", "content": "May I delete the logs?"}]}
with anthropic.Anthropic(base_url=sys.argv[1], api_key="k").messages.stream(max_tokens=99, **ask) as stream:
    message = stream.get_final_message()
print(f"python anthropic: {message.content[0].text!r}, stop_reason {message.stop_reason}")
with openai.OpenAI(base_url=sys.argv[1], api_key="k").chat.completions.stream(**ask) as stream:
    choice = stream.get_final_completion().choices[0]
print(f"python openai: {choice.message.content!r}, finish_reason {choice.finish_reason}")
PY
cat > call.mjs <<'JS'
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
const to = { baseURL: process.argv[2], apiKey: "k" };
const ask = { model: "m", messages: [{ role: "user", content: "May I delete the logs?" }] };
await new Anthropic(to).messages.stream({ max_tokens: 99, ...ask }).finalMessage().catch((e) => console.log("typescript anthropic:", e.message));
await new OpenAI(to).chat.completions.stream(ask).finalChatCompletion().catch((e) => console.log("typescript openai:", e.message));
JS
{ venv/bin/python call.py "http://127.0.0.1:$(cat port)"; node call.mjs "http://127.0.0.1:$(cat port)"; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
