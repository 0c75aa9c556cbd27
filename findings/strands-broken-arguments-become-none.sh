#!/usr/bin/env bash
# strands-agents 1.62.0 (with openai 2.54.0)
#
# A local model calls a tool with a Windows path and, as small models do, leaves the backslash single: {"folder": "C:\logs"}.
# That is no JSON. The tool has a default for each argument.
#
# Expected: the call is answered with an error, as a call with a wrong type is, and the model writes it anew.
# Seen: arguments that cannot be read become {}, so the tool runs with its defaults and tells the model that it went well. The
# history that is sent next says that the model asked for {}. A line in the log is all that tells of it.
#
# Why it matters: the tool works on everything instead of on the folder that was named, and neither the person nor the model
# can see that in the conversation.
#
# Output seen:
#   written {"folder": "C:\\logs"}: sent back {"folder": "C:\\logs"}, result 'cleaned C:\\logs'
#   written {"folder": "logs", "days": "many"}: sent back {"folder": "logs", "days": "many"}, result 'Error: Validation failed for input parameter'
#   written {"folder": "C:\logs"}: sent back {}, result 'cleaned every folder'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check strands-agents==1.62.0 openai==2.54.0 2>/dev/null

cat > try.py <<'PY'
import http.server, json, threading
from strands import Agent, tool
from strands.models.openai import OpenAIModel
@tool
def clean(folder: str = "every folder", days: int = 30) -> str:
    """Removes old files.

    Args:
        folder: Where.
        days: How old.
    """
    return f"cleaned {folder}"
asked = []
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        asked.append(json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"])
        call = {"index": 0, "id": "c", "type": "function", "function": {"name": "clean", "arguments": wanted}}
        deltas = [({"role": "assistant", "tool_calls": [call]}, None), ({}, "tool_calls")] if len(asked) == 1 else [({"role": "assistant", "content": "Done."}, "stop")]
        lines = [{"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": why}]} for delta, why in deltas]
        body = ("".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n").encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
for wanted in (r'{"folder": "C:\\logs"}', r'{"folder": "logs", "days": "many"}', r'{"folder": "C:\logs"}'):
    asked.clear()
    model = OpenAIModel(client_args={"api_key": "x", "base_url": f"http://127.0.0.1:{server.server_port}/v1"}, model_id="x")
    Agent(model=model, tools=[clean], callback_handler=None)("Clean the logs.")
    call, result = asked[-1][-2:]
    print(f"written {wanted}: sent back {call['tool_calls'][0]['function']['arguments']}, result {result['content'].splitlines()[0][:44]!r}")
PY
venv/bin/python try.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
