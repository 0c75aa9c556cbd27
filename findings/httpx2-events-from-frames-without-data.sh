#!/usr/bin/env bash
# httpx2 2.16.2 (eventsource-parser 4.1.3 for JavaScript beside it)
#
# A server sends frames that hold an id or a time to reconnect and no data, as the standard allows ("id: 7", "retry: 500"),
# between the frames with JSON. The standard says of a frame whose data is empty that no event is made of it.
#
# Expected: the reader gives the events with data; the id is remembered, for the next connection.
# Seen: httpx2's own EventSource gives an event for each such frame, with an empty text as data. Its `json()` raises an error
# for it, and nothing tells it from a server's real empty event. The reader for JavaScript gives two events.
#
# Why it matters: one frame that is meant for the transport ends the loop of a program that reads a JSON text an event.
#
# Output seen:
#   httpx2: [('', '7'), ('{"n": 1}', '7'), ('', '7'), ('{"n": 2}', '7')]
#   httpx2, json(): JSONDecodeError
#   eventsource-parser: ["{\"n\": 1}","{\"n\": 2}"]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check httpx2==2.16.2
npm install --silent --no-audit --no-fund eventsource-parser@4.1.3

cat > try.py <<'PY'
import http.server, threading
import httpx2
body = b'id: 7\n\ndata: {"n": 1}\n\nretry: 500\n\ndata: {"n": 2}\n\n'
open("body", "wb").write(body)
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
with httpx2.stream("GET", f"http://127.0.0.1:{server.server_port}/") as response:
    events = list(httpx2.EventSource(response))
print("httpx2:", [(event.data, event.id) for event in events])
try:
    [event.json() for event in events]
except ValueError as error:
    print("httpx2, json():", type(error).__name__)
PY
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { createParser } from "eventsource-parser";
const events = [];
const parser = createParser({ onEvent: (event) => events.push(event.data) });
parser.feed(readFileSync("body", "utf-8"));
console.log("eventsource-parser:", JSON.stringify(events));
JS
{ venv/bin/python try.py; node try.mjs; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
