#!/usr/bin/env bash
# openai 3.57.0, anthropic 2.14.0
#
# `client.with_options(timeout=5)` gives "a new client instance" for one call with other settings, and a client
# is a context manager that closes when the block ends.
#
# Expected: the block closes what it opened; the client that it was made from goes on working.
# Seen: both clients share one pool of connections without counting its users. Leaving the block closes it for
# the parent, whose next call fails. anthropic words this as "Connection error.", retried as if the network failed.
#
# Why it matters: one careful `with` around a short call ends the long-lived client of the whole program, and
# the error of the second library sends people to look at their network.
#
# Output seen:
#   openai: the child answers, then the parent raises RuntimeError: Cannot send a request, as the client has been closed.
#   anthropic: the child answers, then the parent raises APIConnectionError: Connection error.
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check openai==3.57.0 anthropic==2.14.0

cat > call.py <<'PY'
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic, openai
MODELS = json.dumps({"data": [], "has_more": False, "first_id": None, "last_id": None}).encode()
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(MODELS)))
        self.end_headers()
        self.wfile.write(MODELS)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for library, kind in (("openai", openai.OpenAI), ("anthropic", anthropic.Anthropic)):
    parent = kind(base_url=f"http://127.0.0.1:{server.server_port}", api_key="k", max_retries=0)
    with parent.with_options(timeout=5) as child:
        child.models.list()
    try:
        parent.models.list()
    except Exception as error:
        print(f"{library}: the child answers, then the parent raises {type(error).__name__}: {error}")
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
