#!/usr/bin/env bash
# ollama 0.6.3 (the Python client)
#
# A Python function is given as a tool: `chat(tools=[search])`. The client writes the schema that the model gets. One
# argument has a default value, one is a number of either kind, one is a list of texts.
#
# Expected: an argument with a default value may be left out, and each type is a type of JSON Schema.
# Seen: every argument is required unless its type allows None, whatever its default is. `float | int` becomes the one
# word "number, integer" or "integer, number", which no schema knows; which of them changes from start to start, so the
# same program sends other bytes each time. A list loses what it is a list of.
#
# Why it matters: the model must make up a value for what the function would have chosen, and the made-up value wins.
#
# Output seen:
#   required: ['words', 'limit', 'least', 'folders']
#   limit: {"type": "integer"}
#   folders: {"type": "array"}
#   least, in twenty starts: integer, number
#   least, in twenty starts: number, integer
#   as JSON Schema: not valid under any of the given schemas
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check ollama==0.6.3 jsonschema==4.26.0

cat > try.py <<'PY'
import http.server, json, sys, threading
from jsonschema import Draft202012Validator, SchemaError
from ollama import Client
def search(words: str, limit: int = 10, least: float | int = 0, folders: list[str] = []) -> str:
    """Search the notes."""
    return ""
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        self.server.sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = json.dumps({"model": "x", "done": True, "message": {"role": "assistant", "content": "hello"}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)
server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
waiting = threading.Thread(target=server.handle_request)
waiting.start()
Client(f"http://127.0.0.1:{server.server_port}").chat("x", [{"role": "user", "content": "find"}], tools=[search])
waiting.join()
schema = server.sent["tools"][0]["function"]["parameters"]
least = schema["properties"]["least"]["type"]
if sys.argv[1:]:
    print("least, in twenty starts:", least)
else:
    print("required:", schema["required"])
    for name in ("limit", "folders"):
        print(f"{name}:", json.dumps({key: value for key, value in schema["properties"][name].items() if key != "description"}))
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        print("as JSON Schema:", error.message.removeprefix(repr(least) + " is "))
PY
venv/bin/python try.py > one
{
    sed '$d' one
    for start in $(seq 20); do PYTHONHASHSEED=$start venv/bin/python try.py least; done | sort -u
    tail -n 1 one
} | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
