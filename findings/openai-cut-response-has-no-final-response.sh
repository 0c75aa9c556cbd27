#!/usr/bin/env bash
# openai 3.57.0
#
# `client.responses.stream(…)` reads a reply that reaches max_output_tokens. The server ends such a reply in good order,
# with the event response.incomplete, which holds the whole response: its text, the reason and the usage.
#
# Expected: `get_final_response()` returns it, with status "incomplete", as `responses.create` does without a stream.
# Seen: only response.completed is kept. The helper raises and says that it did not receive that event. A reply that
# a filter stopped (same event) and a failed one (response.failed, with the server's error) end alike.
#
# Why it matters: the reply was paid for and is there, but the error reads as a broken connection, so programs ask again.
#
# Output seen:
#   create: incomplete max_output_tokens 16 'Half a'
#   stream, event: response.incomplete incomplete max_output_tokens 16 'Half a'
#   stream, get_final_response(): RuntimeError: Didn't receive a `response.completed` event.
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check openai==3.57.0

cat > try.py <<'PY'
import http.server, json, threading
from openai import OpenAI
def response(status, text, **more):
    message = {"id": "m", "type": "message", "role": "assistant", "status": status, "content": [{"type": "output_text", "text": text, "annotations": []}]}
    return {"id": "r", "object": "response", "created_at": 1, "model": "x", "status": status, "output": [message] if text else [], "tools": [], "tool_choice": "auto", "parallel_tool_calls": True, **more}
ended = response("incomplete", "Half a", incomplete_details={"reason": "max_output_tokens"}, usage={"input_tokens": 5, "output_tokens": 16, "total_tokens": 21, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}})
item = {"item_id": "m", "output_index": 0, "content_index": 0}
part = {"type": "output_text", "text": "", "annotations": []}
events = [
    {"type": "response.created", "response": response("in_progress", "")},
    {"type": "response.output_item.added", "output_index": 0, "item": {"id": "m", "type": "message", "role": "assistant", "status": "in_progress", "content": []}},
    {"type": "response.content_part.added", **item, "part": part},
    {"type": "response.output_text.delta", **item, "delta": "Half a", "logprobs": []},
    {"type": "response.output_text.done", **item, "text": "Half a", "logprobs": []},
    {"type": "response.incomplete", "response": ended},
]
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        streams = json.loads(self.rfile.read(int(self.headers["content-length"]))).get("stream")
        lines = [f"event: {one['type']}\ndata: {json.dumps(one | {'sequence_number': at})}\n\n" for at, one in enumerate(events)]
        body = ("".join(lines) if streams else json.dumps(ended)).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = OpenAI(api_key="x", base_url=f"http://127.0.0.1:{server.server_port}/v1")
def said(one):
    return f"{one.status} {one.incomplete_details.reason} {one.usage.output_tokens} {one.output_text!r}"
print("create:", said(client.responses.create(model="x", input="q", max_output_tokens=16)))
with client.responses.stream(model="x", input="q", max_output_tokens=16) as stream:
    for event in stream:
        if event.type == "response.incomplete":
            print("stream, event:", event.type, said(event.response))
    try:
        print("stream, get_final_response():", said(stream.get_final_response()))
    except RuntimeError as error:
        print("stream, get_final_response(): RuntimeError:", error)
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
