#!/usr/bin/env bash
# chatlas 0.23.0 (with openai 3.57.0)
#
# A chat with an OpenAI model over three questions. The vendor keeps the beginning of a long prompt in its cache and says of each
# request how many of its tokens came from there (`cached_tokens`, a part of `prompt_tokens`), as it does by itself.
#
# Expected: `get_tokens()` says of each turn how many tokens it added: here about twenty for each question.
# Seen: the first number of a reply is kept without its cached part, but the whole of the turn before, cached part and all, is
# taken off it. A question "has" -1900 tokens. `tokens_total`, called the context that was sent, lacks the cached part too.
#
# Why it matters: a sum over the turns, for a budget or to see whether the context is full, is far too small or below zero, as soon
# as the conversation is long enough to be cached; short ones, and so tests, are right.
#
# Output seen:
#   no cache: added [2000, 50, 20, 50, 20, 50], sent [2000, 2070, 2140]
#   cache: added [2000, 50, -1900, 50, -1900, 50], sent [2000, 150, 220]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check chatlas==0.23.0 openai==3.57.0 2>/dev/null

cat > try.py <<'PY'
import http.server, json, threading
from chatlas import ChatOpenAICompletions
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        question = len(json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]) // 2
        usage = {"prompt_tokens": 2000 + 70 * question, "completion_tokens": 50, "total_tokens": 2050 + 70 * question}
        usage["prompt_tokens_details"] = {"cached_tokens": 1920 if cache and question else 0}
        chunk = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
        said = {"index": 0, "delta": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
        lines = [chunk | {"choices": [said]}, chunk | {"choices": [], "usage": usage}]
        body = ("".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n").encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
for cache in (False, True):
    chat = ChatOpenAICompletions(model="gpt-4o", api_key="x", base_url=f"http://127.0.0.1:{server.server_port}/v1")
    for _ in range(3):
        chat.chat("And now?", echo="none")
    turns = chat.get_tokens()
    print("cache:" if cache else "no cache:", "added", [turn["tokens"] for turn in turns], end=", ")
    print("sent", [turn["tokens_total"] for turn in turns if turn["role"] == "user"])
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
