#!/usr/bin/env bash
# huggingface_hub 2.4.0, ollama 0.6.3, openai 3.57.0
#
# A model writes U+2028 (a line separator, as texts copied from PDF files and word processors hold it). In JSON it
# may stand unescaped in a string, and servers that write JSON with Python (ensure_ascii=False), Rust or
# JavaScript send it so. Server-sent events and JSON lines end at a line feed only.
#
# Expected: one line of the stream is one JSON value.
# Seen: both clients cut lines with `str.splitlines`, which also cuts at U+2028, and then raise on half a value.
# What the model wrote after that character is lost. The openai client reads the same bytes.
#
# Why it matters: the reply breaks off because of what the model quotes, only with some servers, only for some texts.
#
# Output seen:
#   huggingface_hub: ['One'] then JSONDecodeError
#   ollama: ['One'] then JSONDecodeError
#   openai: ['One', 'two\u2028three']
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check huggingface_hub==2.4.0 ollama==0.6.3 openai==3.57.0

cat > call.py <<'PY'
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
TEXTS = ["One", "two\u2028three"]
import huggingface_hub
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        texts = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in TEXTS]
        lines = "".join(f"data: {json.dumps(base | text, ensure_ascii=False)}\n\n" for text in texts)
        body = f"{lines}data: [DONE]\n\n".encode()
        if self.path == "/api/chat":
            lines = [{"model": "m", "message": {"role": "assistant", "content": text}, "done": False} for text in TEXTS]
            body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
ask = [{"role": "user", "content": "Hi"}]

import ollama, openai
def read(name, chunks, text):
    texts = []
    try:
        for chunk in chunks:
            texts.append(text(chunk))
        print(f"{name}: {texts}")
    except Exception as error:
        print(f"{name}: {texts} then {type(error).__name__}")
client = huggingface_hub.InferenceClient(base_url=url, api_key="k")
read("huggingface_hub", client.chat_completion(ask, stream=True), lambda chunk: chunk.choices[0].delta.content)
read("ollama", ollama.Client(host=url).chat(model="m", messages=ask, stream=True), lambda chunk: chunk.message.content)
plain = openai.OpenAI(base_url=url, api_key="k").chat.completions.create(model="m", messages=ask, stream=True)
read("openai", plain, lambda chunk: chunk.choices[0].delta.content)
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
