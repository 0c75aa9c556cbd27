#!/usr/bin/env bash
# agno 3.1.10, langchain-openai 1.7.4, langchain-core 1.8.3 (with openai 3.57.0)
#
# A local server streams a reply and says in each chunk how many tokens went in and out so far, as vllm does when asked with
# `continuous_usage_stats` (and some vendors of their own accord), so that a program which stops early knows what it used.
#
# Expected: the usage of the reply is what the last chunk says: 1000 tokens in, 6 out.
# Seen: agno and langchain take each running total for a part and add them all up: a reply of six words has read 8000 tokens and
# written 33. The same reply without a stream is right.
#
# Why it matters: the error grows with the length of the answer: 500 words of answer to a question of 1000 tokens are booked as
# half a million. A budget ends a run that cost nearly nothing, or a bill by tokens is sent for hundreds of times the work.
#
# Output seen:
#   agno: whole 1000 in, 6 out; streamed 8000 in, 33 out
#   langchain: whole 1000 in, 6 out; streamed 8000 in, 33 out
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check agno==3.1.10 langchain-openai==1.7.4 langchain-core==1.8.3 openai==3.57.0 2>/dev/null

cat > try.py <<'PY'
import http.server, json, threading
from agno.agent import Agent
from agno.models.openai import OpenAIChat
from langchain_openai import ChatOpenAI
words = ["It ", "is ", "paid ", "since ", "last ", "week."]
class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        streams = json.loads(self.rfile.read(int(self.headers["content-length"]))).get("stream")
        def total(written):
            return {"prompt_tokens": 1000, "completion_tokens": written, "total_tokens": 1000 + written}
        head = {"id": "r", "created": 1, "model": "local", "object": "chat.completion" + (".chunk" if streams else "")}
        if streams:
            lines = [head | {"choices": [{"index": 0, "delta": {"content": word}}], "usage": total(number)} for number, word in enumerate(words, 1)]
            lines.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": total(len(words))})
            lines.append(head | {"choices": [], "usage": total(len(words))})
            body = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
        else:
            said = {"index": 0, "message": {"role": "assistant", "content": "".join(words)}, "finish_reason": "stop"}
            body = json.dumps(head | {"choices": [said], "usage": total(len(words))})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
where = f"http://127.0.0.1:{server.server_port}/v1"
def agno(stream):
    agent = Agent(model=OpenAIChat(id="local", base_url=where, api_key="x"), telemetry=False)
    if not stream:
        return agent.run("Paid?").metrics
    return list(agent.run("Paid?", stream=True, yield_run_output=True))[-1].metrics
def langchain(stream):
    model = ChatOpenAI(model="local", base_url=where, api_key="x", stream_usage=True)
    if not stream:
        return model.invoke("Paid?").usage_metadata
    total = None
    for chunk in model.stream("Paid?"):
        total = chunk if total is None else total + chunk
    return total.usage_metadata
def tokens(usage):
    read = usage if isinstance(usage, dict) else vars(usage)
    return f"{read.get('input_tokens', read.get('prompt_tokens'))} in, {read.get('output_tokens', read.get('completion_tokens'))} out"
for name, ask in (("agno", agno), ("langchain", langchain)):
    print(f"{name}: whole {tokens(ask(False))}; streamed {tokens(ask(True))}")
PY
venv/bin/python try.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
