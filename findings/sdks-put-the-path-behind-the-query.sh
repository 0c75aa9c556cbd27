#!/usr/bin/env bash
# openai 3.57.0, anthropic 2.14.0 (both over httpx2 2.16.2)
#
# A gateway is reached at an address with a query: http://gateway/team?tenant=7 (a key, a version or a tenant that must
# stand in every request). That is a valid URL, and both clients take it as their base_url.
#
# Expected: the path of the call joins the path, and the query stays at the end: /team/chat/completions?tenant=7.
# Seen: the call's path is put behind the query, as a part of its value. The request goes to /team, with the tenant
# "7chat/completions" or "7/v1/messages". What the server answers at /team is what the program sees.
#
# Why it matters: a gateway that answers at /team gives a reply that has nothing to do with the call.
#
# Output seen:
#   openai: POST /team/?tenant=7chat/completions
#   anthropic: POST /team?tenant=7/v1/messages
#   openai, default_query: POST /team/chat/completions?tenant=7
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check openai==3.57.0 anthropic==2.14.0 httpx2==2.16.2

cat > try.py <<'PY'
import http.server, threading
from anthropic import Anthropic, APIError
from openai import OpenAI, OpenAIError
seen = []
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        seen.append(self.path)
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
place = f"http://127.0.0.1:{server.server_port}/team"
asked = [{"role": "user", "content": "q"}]
def show(who, call):
    try:
        call()
    except (APIError, OpenAIError):
        print(f"{who}: POST {seen.pop()}")
show("openai", lambda: OpenAI(api_key="x", base_url=place + "?tenant=7").chat.completions.create(model="x", messages=asked))
show("anthropic", lambda: Anthropic(api_key="x", base_url=place + "?tenant=7").messages.create(model="x", max_tokens=5, messages=asked))
show("openai, default_query", lambda: OpenAI(api_key="x", base_url=place, default_query={"tenant": "7"}).chat.completions.create(model="x", messages=asked))
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
