#!/usr/bin/env bash
# anthropic 2.14.0 (Python), @anthropic-ai/sdk 1.14.0 (TypeScript)
#
# A tool's input is streamed as it is written (`eager_input_streaming`, documented), and the reply reaches
# max_tokens in the middle of it: {"to": "bob", "amount": 15 where the model was about to write 1500.
# The stream helper gathers the pieces into `input`.
#
# Expected: an unfinished value is left out (as an unfinished string is), or `input` is refused.
# Seen: Python keeps the digits that came, so the amount is 15: a complete and valid input, a hundredth of
# what was meant. TypeScript leaves the number out. Only `stop_reason` tells the two cases apart.
#
# Why it matters: code that looks at `message.content` for tool calls pays 15 where 1500 was meant, and the
# same conversation behaves otherwise in the vendor's other SDK.
#
# Output seen:
#   python: max_tokens {'to': 'bob', 'amount': 15}
#   typescript: max_tokens {"to":"bob"}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap '[ -z "${server:-}" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check anthropic==2.14.0
npm install --silent --no-audit --no-fund @anthropic-ai/sdk@1.14.0

cat > server.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
USAGE = {"input_tokens": 10, "output_tokens": 1}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE}
EVENTS = [
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "pay", "input": {}}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"to": "bob", '}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '"amount": 15'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "max_tokens", "stop_sequence": None}, "usage": {"output_tokens": 20}},
    {"type": "message_stop"},
]
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in EVENTS:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 server.py > port & server=$!
until [ -s port ]; do sleep 0.1; done
url=http://127.0.0.1:$(cat port)

cat > call.py <<'PY'
import anthropic, sys
client = anthropic.Anthropic(base_url=sys.argv[1], api_key="k")
with client.messages.stream(model="claude", max_tokens=20, messages=[{"role": "user", "content": "Pay Bob 1500"}]) as stream:
    message = stream.get_final_message()
print("python:", message.stop_reason, message.content[0].input)
PY
cat > call.mjs <<'JS'
import Anthropic from "@anthropic-ai/sdk";
const client = new Anthropic({ baseURL: process.argv[2], apiKey: "k" });
const stream = client.messages.stream({ model: "claude", max_tokens: 20, messages: [{ role: "user", content: "Pay Bob 1500" }] });
const message = await stream.finalMessage();
console.log("typescript:", message.stop_reason, JSON.stringify(message.content[0].input));
JS
{ venv/bin/python call.py "$url"; node call.mjs "$url"; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
