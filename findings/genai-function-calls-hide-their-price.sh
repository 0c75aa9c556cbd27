#!/usr/bin/env bash
# google-genai 3.6.1
#
# A Python function is given as a tool. The client calls it by itself and asks the model again until there is an
# answer: three requests, each billed.
#
# Expected: `usage_metadata` of the answer is what the call cost, or says that it covers a part.
# Seen: it is that of the last request alone. Nothing in the answer tells what the first two cost; the history of
# automatic calls that comes with it holds contents but no usage.
#
# Why it matters: a ledger that adds `usage_metadata` is short by every step but the last, the more so the more
# tools are used; a budget is overrun unseen.
#
# Output seen:
#   billed by the server: 330 tokens in 3 requests
#   told by the answer: 110 tokens
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check google-genai==3.6.1

cat > call.py <<'PY'
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google import genai
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        parts = [{"functionCall": {"name": "price", "args": {"item": len(sent)}}}] if len(sent) < 3 else [{"text": "5"}]
        candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
        billed.append(usage["totalTokenCount"])
        body = json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
sent = []
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = genai.Client(api_key="k", http_options={"base_url": f"http://127.0.0.1:{server.server_port}"})

billed = []
def price(item: int) -> int:
    """Gives the price of an item."""
    return 5
answer = client.chats.create(model="gemini", config={"tools": [price]}).send_message("What does it cost?")
print(f"billed by the server: {sum(billed)} tokens in {len(billed)} requests")
print(f"told by the answer: {answer.usage_metadata.total_token_count} tokens")
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
