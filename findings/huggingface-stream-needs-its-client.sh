#!/usr/bin/env bash
# huggingface_hub 2.4.0, openai 3.57.0
#
# A function makes a client, asks for a streamed reply and returns the iterator to its caller.
#
# Expected: the iterator holds what it reads from, as that of the openai client does (whose interface
# `InferenceClient.chat_completion` copies).
# Seen: `InferenceClient` closes its replies when it is collected, and the iterator does not hold it. The stream is
# closed before its first line, unless the caller happens to keep the client in a variable.
#
# Why it matters: the same three lines work while one tries them at top level, and fail once they are moved into a
# function; the error speaks of the stream and not of the client.
#
# Output seen:
#   client kept: ['Hello', ' you']
#   client made in the function: StreamClosed
#   openai client made in the function: ['Hello', ' you']
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check huggingface_hub==2.4.0 openai==3.57.0

cat > call.py <<'PY'
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
TEXTS = ["Hello", " you"]
import huggingface_hub
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        texts = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in TEXTS]
        lines = "".join(f"data: {json.dumps(base | text, ensure_ascii=False)}\n\n" for text in texts)
        body = f"{lines}data: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
ask = [{"role": "user", "content": "Hi"}]

import openai
def stream():
    return huggingface_hub.InferenceClient(base_url=url, api_key="k").chat_completion(ask, stream=True)
def stream_openai():
    return openai.OpenAI(base_url=url, api_key="k").chat.completions.create(model="m", messages=ask, stream=True)
def read(chunks):
    try:
        return [chunk.choices[0].delta.content for chunk in chunks]
    except Exception as error:
        return type(error).__name__
client = huggingface_hub.InferenceClient(base_url=url, api_key="k")
print("client kept:", read(client.chat_completion(ask, stream=True)))
print("client made in the function:", read(stream()))
print("openai client made in the function:", read(stream_openai()))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
