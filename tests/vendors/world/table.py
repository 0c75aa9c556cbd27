"""What real servers send, as data: a row says what is sent, what is right, and who reported it. A new report is a new row."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

SSE, JSON, HTML, TEXT = "text/event-stream", "application/json", "text/html; charset=utf-8", "text/plain"
COMPATIBLE, RESPONSES, ANTHROPIC, GEMINI = "compatible", "openai", "anthropic", "gemini"


@dataclass(frozen=True)
class Row:
    """One case.

    Args:
        api: whose client asks; sent: the body of the answer; source: who reported it.
        text, reasoning, calls: what a person gets of it, `calls` as name and arguments; `ends`: the kind of its end,
            empty where the call fails.
        fails: the kind of failure; words: what is said of it; usage: fields that are right, of the last usage.
        model: that answers, where it matters.
    """

    name: str
    api: str
    sent: str | bytes
    source: str
    content_type: str = SSE
    status: int = 200
    text: str = "Hello there."
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    ends: str = "completed"
    fails: str = ""
    words: tuple[str, ...] = ()
    words_not: tuple[str, ...] = ()
    usage: Json = field(default_factory=dict)
    model: str = ""


# A plain reply of each API, which rows change.

U = {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320}


def chunk(delta: Any = None, finish: str | None = None, index: int = 0, **more: Any) -> Json:
    choice = {"index": index, "delta": {} if delta is None else delta, "finish_reason": finish, **more}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def used(**more: Any) -> Json:
    return {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {**U, **more}}


def frames(*events: Json, done: bool = True) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in events) + ("data: [DONE]\n\n" if done else "")


def said(*texts: Any) -> tuple[Json, ...]:
    return (*(chunk({"content": one}) for one in texts), chunk({}, "stop"), used())


def tool_call(name: Any = None, arguments: Any = None, index: Any = 0, **more: Any) -> Json:
    given = {"name": name, "arguments": arguments}
    function = {key: value for key, value in given.items() if value is not None}
    place = {} if index is None else {"index": index}
    return chunk({"tool_calls": [{**place, "type": "function", "function": function, **more}]})


def named(*events: tuple[str, Json]) -> str:
    return "".join(f"event: {name}\ndata: {json.dumps({'type': name, **one})}\n\n" for name, one in events)


def message_events(*texts: str, stop: str = "end_turn") -> list[tuple[str, Json]]:
    begun: Json = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "stop_reason": None,
    }
    return [
        ("message_start", {"message": {**begun, "usage": {"input_tokens": 12, "output_tokens": 1}}}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        *(
            ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": one}})
            for one in texts
        ),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}),
        ("message_stop", {}),
    ]


RESPONSE = {
    "id": "r", "object": "response", "status": "completed", "error": None, "incomplete_details": None, "model": "m",
    "output": [{"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Hello there.", "annotations": []}]}],
    "usage": {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
}  # fmt: skip


def response_events(*texts: str) -> list[tuple[str, Json]]:
    return [
        (
            "response.created",
            {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}},
        ),
        *(
            ("response.output_text.delta", {"delta": one, "output_index": 0, "content_index": 0})
            for one in texts
        ),
        ("response.completed", {"response": RESPONSE}),
    ]


def candidate(text: str = "", finish: str | None = None, **more: Any) -> Json:
    content = {"role": "model", "parts": [{"text": text}]} if text else {"role": "model", "parts": []}
    one = {"content": content, "index": 0, **({"finishReason": finish} if finish else {})}
    return {"candidates": [one], "responseId": "g", "modelVersion": "m", **more}


GEMINI_USAGE = {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17}


def gemini_chunks(*texts: str) -> list[Json]:
    return [*(candidate(one) for one in texts), candidate("", "STOP", usageMetadata=GEMINI_USAGE)]


PLAIN = {
    COMPATIBLE: frames(*said("Hello ", "there.")),
    RESPONSES: named(*response_events("Hello ", "there.")),
    ANTHROPIC: named(*message_events("Hello ", "there.")),
    GEMINI: "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in gemini_chunks("Hello ", "there.")),
}


def noisy(api: str, noise: str) -> str:
    """The plain reply with something before it, between any two frames, and behind."""
    whole = PLAIN[api].replace("\r\n", "\n")
    return noise + "".join(f"{one}\n\n{noise}" for one in whole.split("\n\n") if one)


# The classes.

NOISE = {
    "retry": ("retry: 3000\n\n", "openai/openai-python#2722"),
    "retry-and-id": ("id: 7\nretry: 3000\n\n", "openai/openai-python#3833"),
    "named-ping": ("event: ping\n\n", "hermes-agent#111887"),
    "empty-data": ("data:\n\n", "omnigent#1474"),
    "blank-data": ("data: \n\n", "omnigent#1474"),
    "ping-data": ("event: ping\ndata: {}\n\n", "gateways that copy Anthropic's ping"),
    "word-data": ("data: ping\n\n", "gateways that keep a connection alive"),
    "null-data": ("data: null\n\n", "gateways that keep a connection alive"),
    "comment": (": OPENROUTER PROCESSING\n\n", "OpenRouter API, comments"),
    "comment-inside": (": keep-alive\n", "OpenRouter API, comments"),
    "id": ("id: 12\n\n", "the standard of events"),
    "blank-lines": ("\n\n\n", "the standard of events"),
}

FRAMES = [
    Row(f"{api}-{name}", api, noisy(api, noise), source)
    for api in PLAIN
    for name, (noise, source) in NOISE.items()
] + [
    row
    for api in PLAIN
    for row in (
        Row(f"{api}-plain", api, PLAIN[api], "what must stay right"),
        Row(f"{api}-bom", api, "\ufeff" + PLAIN[api], "servers on Windows"),
        Row(f"{api}-crlf", api, PLAIN[api].replace("\r\n", "\n").replace("\n", "\r\n"), "the standard of events"),
        Row(f"{api}-cr", api, PLAIN[api].replace("\r\n", "\n").replace("\n", "\r"), "the standard of events"),
        Row(f"{api}-no-blank", api, PLAIN[api].replace("data: ", "data:"), "the standard of events"),
        Row(f"{api}-single-newlines", api, PLAIN[api].replace("\r\n", "\n").replace("\n\n", "\n"), "servers that write a line a frame"),
        Row(f"{api}-other-type", api, PLAIN[api], "gateways that name another content type", TEXT),
        Row(f"{api}-json-type", api, PLAIN[api], "gateways that name another content type", JSON),
        Row(f"{api}-done-behind", api, PLAIN[api] + "data: [DONE]\n\n", "gateways of several APIs"),
        Row(f"{api}-no-last-newline", api, PLAIN[api].rstrip(), "servers that close at once"),
    )
] + [
    Row("data-over-lines", COMPATIBLE, frames(*said("Hello ", "there.")).replace('"choices": ', '\ndata: "choices":\ndata: '), "the standard of events"),
    Row("pretty-data-over-lines", COMPATIBLE, "".join("".join(f"data: {line}\n" for line in json.dumps(one, indent=2).splitlines()) + "\n" for one in said("Hello ", "there.")) + "data: [DONE]\n\n", "the standard of events"),
    Row("lines-of-json", COMPATIBLE, "".join(json.dumps(one) + "\n" for one in said("Hello ", "there.")), "servers that stream NDJSON", "application/x-ndjson"),
    Row("a-line-of-json", COMPATIBLE, frames(*said("Hello ", "there.")[:1], done=False) + json.dumps(chunk({"content": "there."})) + "\n" + frames(chunk({}, "stop"), used()), "lemonade#2826"),
    Row("done-alone", COMPATIBLE, frames(chunk({"content": "Hello there."}), used()), "servers that send no finish_reason"),
    Row("no-done", COMPATIBLE, frames(*said("Hello ", "there."), done=False), "servers that send no [DONE]"),
    Row("usage-before-finish", COMPATIBLE, frames(chunk({"content": "Hello there."}), used(), chunk({}, "stop")), "servers in another order"),
    Row("null-choices", COMPATIBLE, frames({"id": "c", "choices": None}, *said("Hello ", "there.")), "Azure's first chunk"),
    Row("filter-chunk-first", COMPATIBLE, frames({"id": "", "choices": [], "prompt_filter_results": []}, *said("Hello ", "there.")), "Azure OpenAI, content filtering"),
    Row("wrapped-in-data", COMPATIBLE, frames(*({"code": 0, "msg": "ok", "data": one} for one in said("Hello ", "there."))), "gateways that wrap each chunk"),
    Row("bad-utf8", COMPATIBLE, frames(chunk({"content": "Hello there."}), done=False).replace("\\", "").encode().replace(b"there", b"th\xffere") + frames(chunk({}, "stop"), used()).encode(), "servers that cut characters", text="Hello th\ufffdere."),
    *(Row(f"{api}-breaks", api, PLAIN[api].replace("there.", "th\u2028er\u2029e\x85."), "google-genai 3.3 at U+2028, U+2029, U+0085", text="Hello th\u2028er\u2029e\x85.") for api in PLAIN),
    Row("gemini-array", GEMINI, json.dumps(gemini_chunks("Hello ", "there."), indent=2), "Gemini without alt=sse", JSON),
    Row("anthropic-no-names", ANTHROPIC, "".join(f"data: {json.dumps({'type': n, **e})}\n\n" for n, e in message_events("Hello ", "there.")), "gateways that drop event names"),
    Row("anthropic-no-types", ANTHROPIC, "".join(f"event: {n}\ndata: {json.dumps(e)}\n\n" for n, e in message_events("Hello ", "there.")), "gateways that drop types"),
    Row("responses-no-names", RESPONSES, "".join(f"data: {json.dumps({'type': n, **e})}\n\n" for n, e in response_events("Hello ", "there.")), "gateways that drop event names"),
    Row("responses-no-types", RESPONSES, "".join(f"event: {n}\ndata: {json.dumps(e)}\n\n" for n, e in response_events("Hello ", "there.")), "gateways that drop types"),
]  # fmt: skip


def whole(message: Json, finish: str | None = "stop", **more: Any) -> str:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": U, **more})


MESSAGE = {
    "id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn", "stop_sequence": None,
    "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Hello there."}],
    "usage": {"input_tokens": 12, "output_tokens": 5},
}  # fmt: skip
PAID = {"input_tokens": 300, "output_tokens": 20}

WHOLE = [
    Row("whole", COMPATIBLE, whole({"content": "Hello there."}), "wisp-science#681", JSON, usage=PAID),
    Row("whole-pretty", COMPATIBLE, json.dumps(json.loads(whole({"content": "Hello there."})), indent=1), "servers that ignore stream", JSON, usage=PAID),
    Row("whole-as-stream", COMPATIBLE, whole({"content": "Hello there."}), "servers that ignore stream", usage=PAID),
    Row("whole-in-a-frame", COMPATIBLE, f"data: {whole({'content': 'Hello there.'})}\n\n", "gateways that fake a stream", usage=PAID),
    Row("whole-no-finish", COMPATIBLE, whole({"content": "Hello there."}, None), "servers that send no finish_reason", JSON, usage=PAID),
    Row("whole-reasoning", COMPATIBLE, whole({"content": "Hello there.", "reasoning_content": "Hm."}), "DeepSeek without a stream", JSON, reasoning="Hm."),
    Row("whole-wrapped", COMPATIBLE, json.dumps({"code": 200, "msg": "ok", "data": json.loads(whole({"content": "Hello there."}))}), "gateways that wrap", JSON),
    Row("whole-legacy-text", COMPATIBLE, json.dumps({"id": "x", "choices": [{"index": 0, "text": "Hello there.", "finish_reason": "stop"}], "usage": U}), "old completions", JSON, usage=PAID),
    Row("whole-calls", COMPATIBLE, whole({"content": None, "tool_calls": [{"id": "t", "type": "function", "function": {"name": "read_file", "arguments": '{"a":1}'}}]}, "tool_calls"), "servers that ignore stream", JSON, text="", calls=(("read_file", '{"a":1}'),), ends="tool_calls"),
    Row("whole-message", ANTHROPIC, json.dumps(MESSAGE), "gateways that ignore stream", JSON, reasoning="Hm.", usage={"input_tokens": 12, "output_tokens": 5}),
    Row("whole-message-call", ANTHROPIC, json.dumps({**MESSAGE, "content": [{"type": "tool_use", "id": "t", "name": "read_file", "input": {"a": 1}}], "stop_reason": "tool_use"}), "gateways that ignore stream", JSON, text="", calls=(("read_file", '{"a": 1}'),), ends="tool_calls"),
    Row("whole-response", RESPONSES, json.dumps(RESPONSE), "gateways that ignore stream", JSON, usage={"input_tokens": 12, "output_tokens": 5}),
    Row("whole-response-call", RESPONSES, json.dumps({**RESPONSE, "output": [{"type": "function_call", "id": "f", "call_id": "t", "name": "read_file", "arguments": "{}"}]}), "gateways that ignore stream", JSON, text="", calls=(("read_file", "{}"),), ends="tool_calls"),
    Row("whole-gemini", GEMINI, json.dumps(candidate("Hello there.", "STOP", usageMetadata=GEMINI_USAGE)), "gateways that ignore stream", JSON, usage={"input_tokens": 12, "output_tokens": 5}),
]  # fmt: skip


def error(message: Any, **more: Any) -> str:
    return json.dumps({"error": {"message": message, **more}})


_HALF = frames(chunk({"content": "Half"}), done=False)
LOGIN = "<!DOCTYPE html><html><head><title>Sign in &amp; more</title></head><body><h1>x</h1></body></html>"

ERRORS = [
    Row("json", COMPATIBLE, error("Add credit to go on.", code=402), "gateways that answer with JSON", JSON, text="", fails="no_quota", words=("Add credit to go on",)),
    Row("code-and-msg", COMPATIBLE, json.dumps({"code": 500, "msg": "the engine died"}), "Zhipu, SiliconFlow", JSON, text="", fails="server_fault", words=("the engine died",)),
    Row("code-and-message", COMPATIBLE, json.dumps({"code": 20012, "message": "Model does not exist. Please check it carefully.", "data": None}), "SiliconFlow", JSON, text="", fails="unknown_model", words=("Please check it carefully",)),
    Row("success-false", COMPATIBLE, json.dumps({"success": False, "errors": [{"code": 7009, "message": "no route for that URI"}]}), "Cloudflare Workers AI", JSON, text="", fails="server_fault", words=("no route for that URI",)),
    Row("detail", COMPATIBLE, json.dumps({"detail": "Not enough balance"}), "FastAPI servers", JSON, text="", fails="no_quota", words=("Not enough balance",)),
    Row("detail-list", COMPATIBLE, json.dumps({"detail": [{"loc": ["body", "messages"], "msg": "field required", "type": "value_error"}]}), "FastAPI servers", JSON, status=422, text="", fails="bad_request", words=("field required", "messages")),
    Row("error-string", COMPATIBLE, json.dumps({"error": "model 'x' not found, try pulling it first"}), "Ollama", JSON, status=404, text="", fails="unknown_model", words=("try pulling it first",)),
    Row("error-list", GEMINI, json.dumps([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}]), "Gemini without alt=sse", JSON, status=400, text="", fails="bad_key", words=("API key not valid",)),
    Row("object-error", COMPATIBLE, json.dumps({"object": "error", "message": "This model's maximum context length is 4096 tokens.", "type": "BadRequestError", "code": 400}), "vLLM", JSON, status=400, text="", fails="context_too_long", words=("4096",)),
    Row("in-sse", COMPATIBLE, error("request (900 tokens) exceeds the available context size (512 tokens)", code=400) + "\n", "lemonade#2826", text="", fails="context_too_long", words=("exceeds the available context size",)),
    Row("event-error", COMPATIBLE, _HALF + 'event: error\ndata: {"message": "the engine died", "code": 500}\n\n', "openai/openai-python#2943", text="Half", fails="server_fault", words=("the engine died",)),
    Row("event-error-text", COMPATIBLE, _HALF + "event: error\ndata: the engine died\n\n", "servers that send text", text="Half", fails="server_fault", words=("the engine died",)),
    Row("error-line", COMPATIBLE, _HALF + 'error: {"code":500,"message":"slot unavailable","type":"server_error"}\n\n', "llama.cpp", text="Half", fails="server_fault", words=("slot unavailable",)),
    Row("error-line-nested", COMPATIBLE, 'error: {"error": {"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}\n\n', "llama.cpp", text="", fails="context_too_long", words=("available context size",)),
    Row("text-data", COMPATIBLE, _HALF + "data: upstream connect error\n\n", "Envoy", text="Half", fails="server_fault", words=("upstream connect error",)),
    Row("plain-text", COMPATIBLE, "upstream connect error or disconnect/reset before headers", "Envoy", TEXT, text="", fails="server_fault", words=("upstream connect error",)),
    Row("page", COMPATIBLE, LOGIN, "proxies with a page to sign in", HTML, text="", fails="bad_reply", words=("Sign in & more",), words_not=("<title", "DOCTYPE")),
    Row("page-502", COMPATIBLE, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", "nginx", HTML, status=502, text="", fails="server_fault", words=("502 Bad Gateway",), words_not=("<html",)),
    Row("upstream-words", COMPATIBLE, json.dumps({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": '{"error": {"message": "prompt is too long: 9 tokens"}}', "provider_name": "X"}}}), "OpenRouter", JSON, status=400, text="", fails="context_too_long", words=("prompt is too long",)),
    Row("with-choices", COMPATIBLE, _HALF + frames({**chunk({"content": ""}, "error"), "error": {"code": 502, "message": "Provider disconnected"}}), "OpenRouter", text="Half", fails="server_fault", words=("Provider disconnected",)),
    Row("error-null-is-none", COMPATIBLE, frames(*({**one, "error": None} for one in said("Hello ", "there."))), "gateways that send every field"),
    *(Row(f"{api}-page", api, LOGIN, "proxies with a page to sign in", HTML, text="", fails="bad_reply", words=("Sign in & more",), words_not=("<title",)) for api in PLAIN),
    *(Row(f"{api}-page-403", api, LOGIN, "proxies", HTML, status=403, text="", fails="forbidden", words=("Sign in & more",), words_not=("<title",)) for api in PLAIN),
    *(Row(f"{api}-code-msg", api, json.dumps({"code": 402, "msg": "Add credit to go on."}), "gateways of several APIs", JSON, text="", fails="no_quota", words=("Add credit",)) for api in PLAIN),
    *(Row(f"{api}-json-error", api, error("maximum context length is 9 tokens", code=400, type="x"), "gateways of several APIs", JSON, text="", fails="context_too_long", words=("maximum context length",)) for api in PLAIN),
    Row("anthropic-overloaded", ANTHROPIC, named(*message_events("Half")[:3]) + 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n', "Anthropic", text="Half", fails="overloaded", words=("Overloaded",)),
    Row("anthropic-bare", ANTHROPIC, named(*message_events("Half")[:3]) + 'event: error\ndata: {"message":"the engine died","code":500}\n\n', "gateways", text="Half", fails="server_fault", words=("the engine died",)),
    Row("responses-error-event", RESPONSES, named(("error", {"code": "server_error", "message": "the engine died", "param": None})), "OpenAI", text="", fails="server_fault", words=("the engine died",)),
    Row("gemini-error-event", GEMINI, f"data: {json.dumps(candidate('Half'))}\n\n" + 'data: {"error": {"code": 503, "message": "the engine died", "status": "UNAVAILABLE"}}\n\n', "Gemini", text="Half", fails="overloaded", words=("the engine died",)),
]  # fmt: skip


def refusal(name: str, status: int, kind: str, message: str, source: str, **more: Any) -> Row:
    return Row(name, COMPATIBLE, error(message, **more), source, JSON, status=status, text="", fails=kind)


KINDS = [
    refusal("tpm", 413, "context_too_long", "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7421", "Groq", type="tokens", code="rate_limit_exceeded"),
    refusal("tpm-429", 429, "context_too_long", "Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced.", "OpenAI", type="tokens", code="rate_limit_exceeded"),
    refusal("rate", 429, "rate_limited", "Rate limit reached for model `m` on tokens per minute (TPM): Limit 6000, Used 5900, Requested 300. Please try again in 2s.", "Groq", type="tokens", code="rate_limit_exceeded"),
    refusal("tgi", 422, "context_too_long", "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", "TGI", type="validation"),
    refusal("tgi-new", 422, "context_too_long", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", "TGI"),
    refusal("vllm-500", 500, "context_too_long", "The prompt (total length 9000) is too long to fit into the model: longer than the maximum model length of 8192", "vLLM"),
    refusal("lm-studio", 400, "context_too_long", "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens", "LM Studio"),
    refusal("lm-studio-keep", 400, "context_too_long", "The number of tokens to keep from the initial prompt is greater than the context length", "LM Studio"),
    refusal("mistral", 400, "context_too_long", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", "Mistral"),
    refusal("moonshot", 400, "context_too_long", "Invalid request: Your request exceeded model token limit: 8192", "Moonshot"),
    refusal("qwen", 400, "context_too_long", "Range of input length should be [1, 30720]", "DashScope"),
    refusal("ollama-tools", 400, "no_tools", "registry.ollama.ai/library/gemma:2b does not support tools", "Ollama"),
    refusal("openrouter-tools", 404, "no_tools", "No endpoints found that support tool use. To learn more about provider routing, visit: x", "OpenRouter"),
    refusal("vllm-tools", 400, "no_tools", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "vLLM"),
    refusal("llama-tools", 500, "no_tools", "tools param requires --jinja flag", "llama.cpp"),
    refusal("groq-tools", 400, "no_tools", "`tool calling` is not supported with this model", "Groq"),
    refusal("gemini-tools", 400, "no_tools", "Function calling is not enabled for models/gemma", "Gemini"),
    refusal("deepseek-balance", 402, "no_quota", "Insufficient Balance", "DeepSeek"),
    refusal("zai-balance", 429, "no_quota", "余额不足或无可用资源包,请充值。", "Z.ai", code="1113"),
    refusal("moonshot-quota", 429, "no_quota", "Your account is suspended, please check your plan and billing details", "Moonshot", type="exceeded_current_quota_error"),
    refusal("openrouter-credits", 402, "no_quota", "This request requires more credits, or fewer max_tokens.", "OpenRouter"),
    refusal("litellm-budget", 400, "no_quota", "Budget has been exceeded! Current cost: 1.0, Max budget: 0.5", "LiteLLM"),
    refusal("openrouter-model", 400, "unknown_model", "foo/bar is not a valid model ID", "OpenRouter"),
    refusal("openrouter-endpoint", 404, "unknown_model", "No endpoints found for foo/bar.", "OpenRouter"),
    refusal("litellm-model", 400, "unknown_model", "Invalid model name passed in model=foo. Call `/v1/models` to view available models for your key.", "LiteLLM"),
    refusal("vllm-model", 404, "unknown_model", "The model `foo` does not exist.", "vLLM"),
    refusal("lm-studio-model", 400, "unknown_model", "No models loaded. Please load a model in the developer page", "LM Studio"),
    refusal("llama-loading", 503, "overloaded", "Loading model", "llama.cpp", type="unavailable_error", code=503),
    refusal("moonshot-overloaded", 429, "overloaded", "The engine is currently overloaded, please try again later", "Moonshot", type="engine_overloaded_error"),
    refusal("busy-500", 500, "overloaded", "Service is too busy. We advise users to temporarily switch", "DeepSeek"),
    refusal("key", 401, "bad_key", "Authentication Fails, Your api key: ****0000 is invalid", "DeepSeek"),
    refusal("region", 403, "forbidden", "Country, region, or territory not supported", "OpenAI", code="unsupported_country_region_territory"),
]  # fmt: skip


def _read(*chunks: Json, finish: str = "tool_calls") -> str:
    return frames(*chunks, chunk({}, finish), used())


CALL = (("read_file", '{"a":1}'),)
ARGS = '{"a":1}'
TWO_CALLS = (("read_file", ARGS), ("read_file", '{"a":2}'))
WRITE_CALL = (("write_file", '{"path":"a.txt","content":"hello"}'),)
CALL_JSON = '{"name": "read_file", "arguments": {"a": 1}}'
CALL_END = (chunk({}, "tool_calls"), used())
RESPONSE_BEGUN: Json = {**RESPONSE, "status": "in_progress", "output": [], "usage": None}


def calls(name: str, sent: str, source: str, right: tuple[tuple[str, str], ...] = CALL, **more: Any) -> Row:
    return Row(
        name, COMPATIBLE, sent, source, text=more.pop("text", ""), calls=right, ends="tool_calls", **more
    )


CALLS = [
    calls("plain", _read(tool_call("read_file", ARGS, id="t")), "what must stay right"),
    calls("in-pieces", _read(tool_call("read_file", "", id="t"), tool_call("", '{"a"', id=""), tool_call(None, ":1}", id=""), finish="stop"), "vercel/ai#18333; ollama/ollama#7881"),
    calls("new-ids", _read(tool_call("read_file", id="t-1"), tool_call(None, '{"a"', id="t-2"), tool_call(None, ":1}", id="t-3")), "vllm-project/vllm#23522"),
    calls("new-ids-and-names", _read(tool_call("read_file", '{"a"', id="t-1"), tool_call("read_file", ":1}", id="t-2")), "vllm-project/vllm#23522"),
    calls("new-ids-no-index", _read(tool_call("read_file", '{"a"', None, id="t-1"), tool_call(None, ":1}", None, id="t-2")), "servers without an index"),
    calls("two-at-zero", _read(tool_call("read_file", ARGS, id="t-1"), tool_call("read_file", '{"a":2}', id="t-2")), "servers that count none", (*CALL, ("read_file", '{"a":2}'))),
    calls("two-no-index", _read(tool_call("read_file", ARGS, None, id="t-1"), tool_call("write_file", "{}", None, id="t-2")), "Ollama", (*CALL, ("write_file", "{}"))),
    calls("two-no-index-no-id", _read(tool_call("read_file", ARGS, None), tool_call("read_file", '{"a":2}', None)), "servers without ids", (*CALL, ("read_file", '{"a":2}'))),
    calls("two-of-one-id", _read(tool_call("read_file", ARGS, 0, id="t"), tool_call("read_file", '{"a":2}', 1, id="t")), "servers that number anew", (*CALL, ("read_file", '{"a":2}'))),
    calls("index-from-one", _read(tool_call("read_file", ARGS, 1, id="t")), "Anthropic through proxies"),
    calls("id-late", _read(tool_call("read_file", '{"a"'), tool_call(None, ":1}", id="t")), "servers that name it last"),
    calls("no-id", _read(tool_call("read_file", ARGS)), "Gemini through proxies"),
    calls("name-in-pieces", _read(tool_call("read_", id="t"), tool_call("file"), tool_call(None, ARGS)), "servers that stream names"),
    calls("name-each-time", _read(tool_call("read_file", '{"a"', id="t"), tool_call("read_file", ":1}", id="t")), "servers that repeat"),
    calls("functions.", _read(tool_call("functions.read_file", ARGS, id="t")), "maki#518"),
    calls("functions:", _read(tool_call("functions:read_file", ARGS, id="t")), "Kimi"),
    calls("harmony", _read(tool_call("read_file<|channel|>commentary", ARGS, id="t")), "gpt-oss"),
    calls("harmony-before", _read(tool_call("<|channel|>commentary to=functions.read_file", ARGS, id="t")), "gpt-oss"),
    calls("harmony-json", _read(tool_call("read_file <|constrain|>json", ARGS, id="t")), "gpt-oss"),
    calls("default_api", _read(tool_call("default_api.read_file", ARGS, id="t")), "Gemini through proxies"),
    calls("blank-name", _read(tool_call(" read_file\n", ARGS, id="t")), "small models"),
    calls("twice-encoded", _read(tool_call("read_file", json.dumps(ARGS), id="t")), "servers that encode twice"),
    calls("as-object", _read(tool_call("read_file", {"a": 1}, id="t")), "Ollama"),
    calls("null", _read(tool_call("read_file", "null", id="t")), "servers with null", (("read_file", "{}"),)),
    calls("no-arguments", _read(tool_call("read_file", id="t")), "servers that leave it out", (("read_file", "{}"),)),
    calls("empty-then-real", _read(tool_call("read_file", "{}", id="t"), tool_call(None, ARGS)), "proxies of Anthropic"),
    calls("said-twice", _read(tool_call("read_file", '{"a"', id="t"), tool_call(None, ":1}"), tool_call(None, ARGS)), "servers that repeat at the end"),
    calls("in-a-list", _read(tool_call("read_file", [{"a": 1}], id="t")), "small models"),
    calls("function_call", _read(chunk({"function_call": {"name": "read_file", "arguments": ""}}), chunk({"function_call": {"arguments": ARGS}}), finish="function_call"), "the old form"),
    calls("one-object", _read(chunk({"tool_calls": {"id": "t", "function": {"name": "read_file", "arguments": ARGS}}})), "servers that send no list"),
    calls("flat", _read(chunk({"tool_calls": [{"id": "t", "name": "read_file", "arguments": ARGS}]})), "servers that leave out function"),
    calls("null-calls", _read(chunk({"content": None, "tool_calls": None}), tool_call("read_file", ARGS, id="t")), "servers that send every field"),
    calls("text-before", _read(chunk({"content": "I look."}), tool_call("read_file", ARGS, id="t")), "what must stay right", text="I look."),
]  # fmt: skip


def spoken(name: str, source: str, *deltas: Any, **right: Any) -> Row:
    return Row(
        name,
        COMPATIBLE,
        frames(*(one if "choices" in one else chunk(one) for one in deltas), chunk({}, "stop"), used()),
        source,
        **right,
    )


SHAPES = [
    spoken("parts", "agent-framework#6978; llm-mistral#39", {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}, {"content": [{"type": "text", "text": "Hello there."}]}, reasoning="Hm."),
    spoken("thinking-text", "cherry-studio#10343", {"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hello there."}]}, reasoning="Hm."),
    spoken("strings", "vercel/ai#8072", {"content": ["Hello ", "there."]}),
    spoken("output_text", "gateways of Responses", {"content": [{"type": "output_text", "text": "Hello there."}]}),
    spoken("one-part", "gateways", {"content": {"type": "text", "text": "Hello there."}}),
    spoken("with-reference", "Mistral", {"content": [{"type": "text", "text": "Hello "}, {"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "there."}]}),
    spoken("reasoning", "OpenRouter, vLLM", {"reasoning": "Hm."}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("reasoning_content", "DeepSeek", {"reasoning_content": "Hm.", "content": ""}, {"content": "Hello there.", "reasoning_content": None}, reasoning="Hm."),
    spoken("reasoning_details", "OpenRouter", {"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}]}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("both-spellings", "OpenRouter", {"reasoning": "Hm.", "reasoning_content": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("thinking", "Ollama", {"thinking": "Hm."}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("reasoning-object", "gateways", {"reasoning": {"content": "Hm."}}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("role-each", "foundry-local#144", {"role": "assistant", "content": "Hello "}, {"role": "assistant", "content": "there."}),
    spoken("index-counts-up", "foundry-local#144", chunk({"content": "Hello "}), chunk({"content": "there."}, index=1), chunk({}, "stop", index=2)),
    spoken("index-counts-longer", "foundry-local#144", *(chunk({"content": one}, index=at) for at, one in enumerate(["He", "llo", " ", "there", "."]))),
    Row("index-counts-and-ends", COMPATIBLE, frames(chunk({"content": "Hello "}), chunk({"content": "there."}, "stop", index=1)), "foundry-local#144"),
    Row("index-one-alone", COMPATIBLE, frames(chunk({"content": "Hello "}, index=1), chunk({"content": "there."}, "stop", index=1)), "servers that count from one"),
    spoken("no-index", "servers that leave it out", {"id": "c", "choices": [{"delta": {"content": "Hello there."}}]}),
    spoken("several-in-one", "servers that ignore n", {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hello there."}}, {"index": 1, "delta": {"content": "Other."}}]}),
    Row("several-in-turn", COMPATIBLE, frames(chunk({"content": "Hello "}), chunk({"content": "Other"}, index=1), chunk({"content": "there."}), chunk({"content": "."}, index=1), chunk({}, "stop"), chunk({}, "stop", index=1), used()), "servers that ignore n"),
    Row("several-behind", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "stop"), chunk({"content": "Other."}, index=1), chunk({}, "stop", index=1), used()), "servers that ignore n"),
    spoken("null-delta", "servers that end so", {"content": "Hello there."}, {"id": "c", "choices": [{"index": 0, "delta": None, "finish_reason": None}]}),
    spoken("message-in-chunk", "gateways", {"id": "c", "choices": [{"index": 0, "message": {"content": "Hello there."}, "finish_reason": None}]}),
    Row("refusal", COMPATIBLE, frames(chunk({"refusal": "I cannot."}), chunk({}, "stop"), used()), "OpenAI", text="I cannot.", ends="refused"),
]  # fmt: skip


def metered(name: str, source: str, last: Json, **right: Any) -> Row:
    return Row(
        name,
        COMPATIBLE,
        frames(chunk({"content": "Hello there."}), chunk({}, "stop"), last),
        source,
        usage=right,
    )


USAGES = [
    metered("plain", "what must stay right", used(), input_tokens=300, output_tokens=20, is_estimate=False),
    Row("in-choice", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "stop", usage={**U, "cached_tokens": 256})), "pi#2017; AstrBot#6614", usage={"input_tokens": 300, "output_tokens": 20, "cache_read_tokens": 256}),
    metered("x_groq", "Groq", {"id": "c", "choices": [], "x_groq": {"id": "r", "usage": U}}, input_tokens=300, output_tokens=20),
    metered("cached_tokens", "pi#2017", used(cached_tokens=256), cache_read_tokens=256, is_estimate=False),
    metered("details", "OpenAI", used(prompt_tokens_details={"cached_tokens": 256}), cache_read_tokens=256),
    metered("details-null", "servers that send every field", used(prompt_tokens_details=None, completion_tokens_details=None), input_tokens=300, is_estimate=False),
    metered("details-without", "servers with audio tokens", used(prompt_tokens_details={"audio_tokens": 0}), input_tokens=300, is_estimate=False),
    metered("deepseek", "DeepSeek", used(prompt_cache_hit_tokens=256, prompt_cache_miss_tokens=44), cache_read_tokens=256),
    metered("litellm", "LiteLLM", used(cache_read_input_tokens=200, cache_creation_input_tokens=50), input_tokens=300, cache_read_tokens=200, cache_write_tokens=50, is_estimate=False),
    metered("litellm-beside", "LiteLLM", used(cache_read_input_tokens=1000, total_tokens=1320), input_tokens=1300, cache_read_tokens=1000, is_estimate=False),
    metered("names-of-responses", "gateways", {"id": "c", "choices": [], "usage": {"input_tokens": 300, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 256}}}, input_tokens=300, output_tokens=20, cache_read_tokens=256),
    metered("cost", "OpenRouter", used(cost=0.0123), cost_usd=0.0123),
    metered("cost-own-key", "OpenRouter, own key", used(cost=0.001, is_byok=True, cost_details={"upstream_inference_cost": 0.02}), cost_usd=0.021),
    metered("cost-object", "Perplexity", used(cost={"total_cost": 0.005}), cost_usd=0.005),
    metered("reasoning-inside", "OpenAI", used(completion_tokens_details={"reasoning_tokens": 15}), output_tokens=20, reasoning_tokens=15, is_estimate=False),
    metered("reasoning-beside", "inspect_ai#5528; vercel/ai#12425", used(total_tokens=665, completion_tokens_details={"reasoning_tokens": 345}), output_tokens=365, reasoning_tokens=345, is_estimate=False),
    metered("reasoning-beside-small", "xAI", used(total_tokens=330, completion_tokens_details={"reasoning_tokens": 10}), output_tokens=30, reasoning_tokens=10, is_estimate=False),
    metered("reasoning-top", "gateways", used(reasoning_tokens=15), output_tokens=20, reasoning_tokens=15),
    metered("total-zero", "servers that count none", used(total_tokens=0), input_tokens=300, output_tokens=20, is_estimate=False),
    metered("total-contradicts", "any", used(total_tokens=9000), input_tokens=300, output_tokens=20, is_estimate=True),
    metered("cached-beyond", "any", used(cached_tokens=5000), input_tokens=300, cache_read_tokens=None, is_estimate=True),
    metered("all-zero", "servers that count none", used(prompt_tokens=0, completion_tokens=0, total_tokens=0), input_tokens=None, output_tokens=None),
    Row("in-each-chunk", COMPATIBLE, frames(*({**chunk({"content": one}), "usage": {**U, "completion_tokens": at, "total_tokens": 300 + at}} for at, one in enumerate(["Hello ", "there."])), {**chunk({}, "stop"), "usage": U}), "vLLM", usage={"output_tokens": 20}),
    Row("gemini-repeated", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in (candidate("Hello ", usageMetadata=GEMINI_USAGE), candidate("there.", usageMetadata=GEMINI_USAGE), candidate("", "STOP", usageMetadata=GEMINI_USAGE))), "Gemini repeats its usage in the last chunk", usage={"input_tokens": 12, "output_tokens": 5, "is_estimate": False}),
]  # fmt: skip

_ENDINGS = {
    "stop": "completed", "length": "truncated", "max_tokens": "truncated", "MAX_TOKENS": "truncated", "eos": "completed", "end_turn": "completed",
    "content_filter": "refused", "error": "broken", "model_length": "truncated", "network_error": "broken",
}  # fmt: skip
ENDS = [
    Row(f"{word}", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, word), used()), "SDKs' lists of reasons", ends=kind)
    for word, kind in _ENDINGS.items()
] + [
    Row("none", COMPATIBLE, frames(chunk({"content": "Hello there."}), done=False), "oh-my-pi#9433", fails="stream_dropped"),
    Row("pause_turn", ANTHROPIC, named(*message_events("Hello there.", stop="pause_turn")), "Anthropic", ends="truncated"),
    Row("window", ANTHROPIC, named(*message_events("Hello there.", stop="model_context_window_exceeded")), "Anthropic", ends="truncated"),
    Row("refusal", ANTHROPIC, named(*message_events("Hello there.", stop="refusal")), "Anthropic", ends="refused"),
    Row("anthropic-openai-word", ANTHROPIC, named(*message_events("Hello there.", stop="stop")), "gateways", ends="completed"),
]  # fmt: skip

CLASSES: dict[str, list[Row]] = {
    "frames": FRAMES,
    "whole replies": WHOLE,
    "errors": ERRORS,
    "kinds of failure": KINDS,
    "shapes of text": SHAPES,
    "tool calls": CALLS,
    "usage": USAGES,
    "endings": ENDS,
}
