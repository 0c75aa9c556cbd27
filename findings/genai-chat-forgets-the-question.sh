#!/usr/bin/env bash
# google-genai 3.6.1
#
# A chat streams a reply. Its text arrives and is shown; the last chunk carries a finish reason with no content
# (SAFETY or RECITATION, as the API documents, when the filter stops a reply that has begun).
#
# Expected: the next request holds the question and the text that was shown, or at least the question.
# Seen: one chunk without content makes the whole exchange "invalid". The next request holds neither the shown
# text nor what the person wrote before it. `get_history()` still lists both; only the curated history, the one that
# is sent, lacks them.
#
# Why it matters: the person sees both on the screen and asks on; the model answers without the file or the figures
# of the turn before, and nothing says so.
#
# Output seen:
#   shown: My account is 12. / Noted, 12.
#   kept: ['user: My account is 12.', 'model: Noted, ', 'model: 12.', 'user: Which is it?']
#   sent next: ['user: Which is it?']
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
        body = "".join(f"data: {json.dumps({'candidates': [one]})}\r\n\r\n" for one in CHUNKS).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
sent = []
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = genai.Client(api_key="k", http_options={"base_url": f"http://127.0.0.1:{server.server_port}"})

CHUNKS = [
    {"index": 0, "content": {"role": "model", "parts": [{"text": "Noted, "}]}},
    {"index": 0, "content": {"role": "model", "parts": [{"text": "12."}]}},
    {"index": 0, "finishReason": "RECITATION"},
]
def lines(contents):
    return [f"{one['role']}: {part['text']}" for one in contents for part in one.get("parts") or [] if part.get("text")]
chat = client.chats.create(model="gemini")
shown = "".join(chunk.text or "" for chunk in chat.send_message_stream("My account is 12."))
print("shown: My account is 12. /", shown)
CHUNKS[2:] = []
CHUNKS[1]["finishReason"] = "STOP"
for _ in chat.send_message_stream("Which is it?"):
    pass
kept = lines([content.model_dump() for content in chat.get_history()])
print("kept:", kept[:kept.index("user: Which is it?") + 1])
print("sent next:", lines(sent[1]["contents"]))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
