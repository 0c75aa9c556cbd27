#!/usr/bin/env bash
# langchain-core 1.8.3, langchain-openai 1.7.4
#
# A reply reaches its limit of tokens in the middle of a tool call: its arguments end inside a text. langchain sorts such
# calls into `invalid_tool_calls`, so that `tool_calls` holds what may be run.
#
# Expected: a reply that is streamed and put together is sorted as the same reply without a stream is.
# Seen: without a stream the call is invalid. Streamed, the sum of the chunks completes the cut JSON by itself and lists the call
# under `tool_calls`, with half a path; `invalid_tool_calls` is empty. Turning the sum into a message keeps that.
#
# Why it matters: a loop that runs `tool_calls` works on a folder that the model did not name, as soon as it streams.
#
# Output seen:
#   invoke: length, tool_calls [], invalid_tool_calls ['{"keep_days": 30, "folder": "/data']
#   stream: length, tool_calls [{'keep_days': 30, 'folder': '/data'}], invalid_tool_calls []
#   as a message: tool_calls [{'keep_days': 30, 'folder': '/data'}], invalid_tool_calls []
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check langchain-core==1.8.3 langchain-openai==1.7.4

cat > try.py <<'PY'
import http.server, json, threading
from langchain_core.messages import message_chunk_to_message
from langchain_openai import ChatOpenAI
cut = '{"keep_days": 30, "folder": "/data'
call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "tidy", "arguments": cut}}
whole = {"id": "r", "object": "chat.completion", "created": 1, "model": "x"}
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        streams = json.loads(self.rfile.read(int(self.headers["content-length"]))).get("stream")
        inside = {"role": "assistant", "content": None, "tool_calls": [call]}
        if streams:
            chunk = whole | {"object": "chat.completion.chunk"}
            parts = [{"delta": inside, "finish_reason": None}, {"delta": {}, "finish_reason": "length"}]
            body = "".join(f"data: {json.dumps(chunk | {'choices': [{'index': 0, **part}]})}\n\n" for part in parts) + "data: [DONE]\n\n"
        else:
            body = json.dumps(whole | {"choices": [{"index": 0, "message": inside, "finish_reason": "length"}]})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
model = ChatOpenAI(model="x", api_key="x", base_url=f"http://127.0.0.1:{server.server_port}/v1", max_tokens=16)
def said(message):
    return f"tool_calls {[one['args'] for one in message.tool_calls]}, invalid_tool_calls {[one['args'] for one in message.invalid_tool_calls]}"
answer = model.invoke("tidy up")
print(f"invoke: {answer.response_metadata['finish_reason']},", said(answer))
total = None
for chunk in model.stream("tidy up"):
    total = chunk if total is None else total + chunk
print(f"stream: {total.response_metadata['finish_reason']},", said(total))
print("as a message:", said(message_chunk_to_message(total)))
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
