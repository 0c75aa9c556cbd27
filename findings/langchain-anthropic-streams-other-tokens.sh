#!/usr/bin/env bash
# langchain-anthropic 1.7.10, langchain-core 1.8.3 (anthropic 2.14.0 beside them)
#
# A reply of Anthropic's is streamed. The vendor says in the first event (message_start) what the question cost, with the
# tokens that went into the cache for five minutes or for an hour, and in message_delta how long the answer is. The rest of
# the usage may stand there again or not: the vendor's documentation shows an event with output_tokens alone.
#
# Expected: the sum of the chunks has the usage that `invoke` has for the same reply, as the vendor's own helper does.
# Seen: only message_delta is read. If it holds output_tokens alone, the question cost nothing. If it repeats the sums, the
# kind of the cache is lost: a write for an hour (twice the price of a token) cannot be told from one for five minutes (1.25).
#
# Why it matters: a ledger books 0 or too little for each streamed reply and the right sum for all others.
#
# Output seen:
#   invoke: question 1510, of it for an hour 1000, answer 5
#   stream, output_tokens alone: question 0, of it for an hour not said, answer 5
#     the vendor's helper: question 1510, of it for an hour 1000, answer 5
#   stream, sums again: question 1510, of it for an hour not said, answer 5
#     the vendor's helper: question 1510, of it for an hour 1000, answer 5
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check langchain-anthropic==1.7.10 langchain-core==1.8.3 anthropic==2.14.0 2>/dev/null

cat > try.py <<'PY'
import http.server, json, threading
from anthropic import Anthropic
from langchain_anthropic import ChatAnthropic
asked = {"input_tokens": 10, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 500}
kinds = {"cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1000}}
message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_sequence": None}
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        streams = json.loads(self.rfile.read(int(self.headers["content-length"]))).get("stream")
        text = {"type": "text", "text": "Yes."}
        whole = message | {"content": [text], "stop_reason": "end_turn", "usage": asked | kinds | {"output_tokens": 5}}
        events = [
            {"type": "message_start", "message": message | {"content": [], "stop_reason": None, "usage": asked | kinds | {"output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": last},
            {"type": "message_stop"},
        ]
        body = ("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events) if streams else json.dumps(whole)).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
settings = {"base_url": f"http://127.0.0.1:{server.server_port}", "api_key": "x"}
model = ChatAnthropic(model="claude-sonnet-4-5", **settings)
def show(name, usage):
    kinds = usage.get("input_token_details", {})
    print(f"{name}: question {usage['input_tokens']}, of it for an hour {kinds.get('ephemeral_1h_input_tokens', 'not said')}, answer {usage['output_tokens']}")
for name, last in (("invoke", None), ("stream, output_tokens alone", {"output_tokens": 5}), ("stream, sums again", asked | {"output_tokens": 5})):
    if not last:
        show(name, model.invoke("q").usage_metadata)
        continue
    total = None
    for chunk in model.stream("q"):
        total = chunk if total is None else total + chunk
    show(name, total.usage_metadata)
    with Anthropic(**settings).messages.stream(model="claude-sonnet-4-5", max_tokens=9, messages=[{"role": "user", "content": "q"}]) as stream:
        usage = stream.get_final_message().usage
    question = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    print(f"  the vendor's helper: question {question}, of it for an hour {usage.cache_creation.ephemeral_1h_input_tokens}, answer {usage.output_tokens}")
PY
venv/bin/python try.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
