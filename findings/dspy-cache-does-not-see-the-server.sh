#!/usr/bin/env bash
# dspy 3.4.1 (with litellm 1.110.2)
#
# A model is served before and after it was trained further, at two addresses and under the same name, as vllm and llama.cpp
# serve models. The same questions are put to both to see what the training did.
#
# Expected: each server is asked. Two `LM` objects with other settings (temperature, headers) do not share replies either.
# Seen: the cache, which is on unless one turns it off, leaves the address and the key out of what tells requests apart. The second
# server is never asked; the first one's replies come back as its own, in later runs too, for the cache lies on the disk.
#
# Why it matters: the comparison says that both models are exactly alike, and a repaired server goes on giving the old answers.
#
# Output seen:
#   asked the first: the answer is of the first, it had 1 request
#   asked the second: the answer is of the first, it had 0 requests
#   asked the second, other temperature: the answer is of the second, other temperature, it had 1 request
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --no-compile --disable-pip-version-check dspy==3.4.1 litellm==1.110.2 2>/dev/null

cat > try.py <<'PY'
import http.server, json, threading
import dspy
def serve(name):
    class Answer(http.server.BaseHTTPRequestHandler):
        asked = 0
        def log_message(self, *_): pass
        def do_POST(self):
            Answer.asked += 1
            self.rfile.read(int(self.headers["content-length"]))
            message = {"role": "assistant", "content": f"[[ ## answer ## ]]\n{name}\n\n[[ ## completed ## ]]"}
            usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            body = json.dumps({"id": "r", "object": "chat.completion", "created": 1, "model": "ours", "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1", Answer
for name, more in (("the first", {}), ("the second", {}), ("the second, other temperature", {"temperature": 0.5})):
    address, server = serve(name)
    with dspy.context(lm=dspy.LM("openai/ours", api_base=address, api_key=name, **more)):
        answer = dspy.Predict("question -> answer")(question="Who are you?").answer
    print(f"asked {name}: the answer is of {answer}, it had {server.asked} request{'s' * (server.asked != 1)}")
PY
HOME="$work" DSPY_CACHEDIR="$work/cache" LITELLM_LOCAL_MODEL_COST_MAP=True venv/bin/python try.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
