"""Reports of the fifteenth round: streams, errors, usage, lists and refusals, all written down before a try, each from its report."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.world.fourteenth_round import anthropic, gemini, text_block, tool_block
from tests.vendors.world.rounds import broken_off, calling, counted, failing
from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL,
    CALL_END,
    COMPATIBLE,
    GEMINI,
    GEMINI_USAGE,
    HTML,
    JSON,
    PAID,
    RESPONSE,
    RESPONSES,
    SSE,
    Json,
    Row,
    U,
    candidate,
    chunk,
    frames,
    message_events,
    named,
    said,
    tool_call,
    used,
)

_TOOL_END = {"delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}
_BEGUN: Json = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": None}  # fmt: skip
_SUSPENDED = "Your account org-446a <ak-f817> is suspended due to insufficient balance, please recharge your account or check your plan and billing detail"
_VERTEX = "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation"
_FILTERED = {
    "finish_reason": None,
    "index": 0,
    "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}},
    "content_filter_offsets": {"check_offset": 4522, "start_offset": 4522, "end_offset": 4686},
}


def _thinking(index: int, text: str = "Hm.") -> list[tuple[str, Json]]:
    """A block of thinking without a signature."""
    return [
        ("content_block_start", {"index": index, "content_block": {"type": "thinking", "thinking": ""}}),
        ("content_block_delta", {"index": index, "delta": {"type": "thinking_delta", "thinking": text}}),
        ("content_block_stop", {"index": index}),
    ]


def _without(key: str, *events: Json) -> list[Json]:
    """Chunks whose choices lack a key where its value is null."""
    kept: list[Json] = []
    for one in events:
        choices = [
            {name: value for name, value in choice.items() if name != key or value is not None}
            for choice in one["choices"]
        ]
        kept.append({**one, "choices": choices})
    return kept


def _torn(first: str, second: Any) -> str:
    return f"data: {first}data: {json.dumps(second)}\n\n"


# fmt: off
FIFTEENTH: dict[str, list[Row]] = {
    "frames": [
        Row("usage-without-choices", COMPATIBLE, frames(*said("Hello ", "there.")[:-1], {"id": "cd77", "object": "chat.completion.chunk", "created": 1, "model": "mistral-large", "usage": U}), "langchain-ai/langchain#27886, Mistral on Vertex", usage=PAID),
        Row("empty-object-behind", COMPATIBLE, frames(*said("Hello ", "there."), {}), "BerriAI/litellm#34382"),
        Row("event-of-another-api-behind", COMPATIBLE, frames(*said("Hello ", "there."), {"type": "response.in_progress", "sequence_number": 9}), "BerriAI/litellm#34382"),
        Row("no-finish-key-between", COMPATIBLE, frames(*_without("finish_reason", *said("Hello ", "there."))), "mlflow/mlflow#24111"),
        Row("torn-frame-glued", COMPATIBLE, _torn('{"id":', chunk({"content": "Hello there."})) + frames(chunk({}, "stop"), used()), "anomalyco/opencode#8431, GLM 4.7"),
        broken_off("torn-frame-with-text", "bad_reply", _torn('{"id":"c","choices":[{"index":0,"delta":{"content":"Hel', chunk({"content": "there."})) + frames(chunk({}, "stop"), used()), "as before, where text may be lost"),
        broken_off("torn-frame-with-a-message", "bad_reply", _torn('{"id":"c","choices":[{"index":0,"message":{"content":"Hel', chunk({"content": "there."})) + frames(chunk({}, "stop"), used()), "as before"),
        broken_off("torn-frame-with-text-of-gemini", "bad_reply", _torn('{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel', candidate("there.", "STOP")), "as before", api=GEMINI),
        Row("error-message-that-none-is", COMPATIBLE, frames({"id": "c", "error_code": 0, "error_msg": "No error"}, *said("Hello ", "there.")), "what must stay right"),
        Row("empty-choices-then-a-call", COMPATIBLE, frames(chunk({"content": "Hello there."}), {"id": "c", "object": "chat.completion.chunk", "choices": []}, tool_call("read_file", "", id="t"), tool_call(None, ARGS), *CALL_END), "paul356/KiCad-AI-Assistant#90, Alibaba", calls=CALL, ends="tool_calls"),
        Row("filter-of-azure-last", COMPATIBLE, frames(*said("Hello ", "there."), {"id": "", "object": "", "created": 0, "model": "", "choices": [_FILTERED]}), "langchain-ai/langchain#18977, Azure"),
        Row("filter-of-azure-before-a-word", COMPATIBLE, frames(chunk({"content": "Hello "}), {"id": "", "object": "", "created": 0, "model": "", "choices": [{**_FILTERED, "content_filter_raw": []}], "usage": None}, *said("there.")), "microsoft/autogen#6465, Azure"),
        Row("growing-usage-in-each", COMPATIBLE, frames(*({**chunk({"content": one}), "usage": {"prompt_tokens": 300, "completion_tokens": at, "total_tokens": 300 + at}} for at, one in ((1, "Hello "), (20, "there."))), {**chunk({}, "stop"), "usage": U}), "langfuse/langfuse#8808", usage=PAID),
        Row("usage-null-in-each", COMPATIBLE, frames(*({**one, "usage": None} for one in said("Hello ", "there.")[:-1]), used()), "router-for-me/CLIProxyAPI#3221, MiniMax", usage=PAID),
        Row("index-of-blocks-skips", ANTHROPIC, anthropic(*_thinking(0), *text_block(1), *tool_block(4, {}, ARGS), end=_TOOL_END), "QuantumNous/new-api#5482", reasoning="Hm.", calls=CALL, ends="tool_calls"),
        Row("end-of-a-block-that-never-began", ANTHROPIC, anthropic(*text_block(0), ("content_block_stop", {"index": 3})), "QuantumNous/new-api#5482"),
        Row("thought-then-call-index-two", ANTHROPIC, anthropic(*_thinking(0), *tool_block(2, {}, ARGS), end=_TOOL_END), "jundot/omlx#1353", text="", reasoning="Hm.", calls=CALL, ends="tool_calls"),
        Row("start-many-times", ANTHROPIC, named(*[("message_start", {"message": {**_BEGUN, "usage": {"input_tokens": 12, "output_tokens": 1}}})] * 5, *message_events("Hello ", "there.")[1:]), "MoonshotAI/Kimi-K2.5#33"),
        Row("no-indexes", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.output_item.added", {"item": {"type": "message", "id": "i", "role": "assistant", "content": []}}), ("response.content_part.added", {"part": {"type": "output_text", "text": ""}}), ("response.output_text.delta", {"delta": "Hello "}), ("response.output_text.delta", {"delta": "there."}), ("response.completed", {"response": RESPONSE})), "lemonade-sdk/lemonade#3607"),
        Row("done-without-deltas", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.output_text.done", {"item_id": "i", "output_index": 0, "content_index": 0, "text": "Hello there."}), ("response.completed", {"response": RESPONSE})), "Sophomoresty/gemini-web2api#57"),
        Row("completed-without-output", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": None, "usage": None}}), ("response.output_text.delta", {"delta": "Hello there.", "output_index": 0, "content_index": 0}), ("response.completed", {"response": {**RESPONSE, "output": None}})), "maximhq/bifrost#5259"),
    ],
    "tool calls": [
        calling("empty-finish-among-arguments", "adolfousier/opencrabs#1499, GLM", chunk({"content": ""}, ""), {**tool_call("read_file", '{"a"', id="t"), "choices": [{**tool_call("read_file", '{"a"', id="t")["choices"][0], "finish_reason": ""}]}, {**tool_call(None, ":1}"), "choices": [{**tool_call(None, ":1}")["choices"][0], "finish_reason": ""}]}, *CALL_END),
    ],
    "errors": [
        broken_off("error-beside-an-unfinished-event", "server_fault|stream_dropped|bad_reply", 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Half"}\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"id":\ndata: {"type":"error","sequence_number":0,"error":{"type":"upstream_error","message":"stream_read_error"}}\n\n', "Wei-Shaw/sub2api#1471", "stream_read_error", text="Half", api=RESPONSES),
        broken_off("fields-of-an-error-without-one", "context_too_long", frames({"id": "", "object": "chat.completion.chunk", "choices": None, "error_type": "BadRequestError", "error_message": "Error code: 400 - This model's maximum context length is 262144 tokens. However, your request has 300000 input tokens."}, done=False), "NousResearch/hermes-agent#65738", "262144"),
        broken_off("bare-line-of-a-refusal", "declined|bad_request|forbidden", gemini(candidate("Half")) + json.dumps({"error": {"message": "The response was blocked due to prohibited content.", "code": "prohibited_content"}}) + "\n", "googleapis/js-genai#1973", "prohibited content", text="Half", api=GEMINI),
        broken_off("quota-then-done", "no_quota|rate_limited", frames({"error": {"message": "quota exceeded"}}), "apache/rocketmq-dashboard#2178", "quota exceeded"),
        failing("not-found-in-a-200", 200, "unknown_model", {"code": 404, "message": "The model `a model that does not exist` does not exist.", "object": "error", "param": None, "type": "NotFoundError"}, "runpod-workers/worker-vllm#57", "does not exist"),
        failing("alternating", 400, "bad_request", {"error": {"message": "After the (optional) system message(s), user and assistant roles should be alternating.", "type": "invalid_message", "code": 400}}, "perplexityai/api-discussion#265", "should be alternating"),
        broken_off("native-event-of-dashscope", "context_too_long", 'id:1\nevent:error\n:HTTP_STATUS/400\ndata:{"code":"InvalidParameter","message":"Range of input length should be [1, 6000]","request_id":"x"}\n\n', "LLM-Red-Team/qwen-free-api#23", "[1, 6000]"),
        broken_off("business-error-as-type", "bad_request", named(("error", {"error": {"type": "1210", "message": "Invalid API parameter, please check the documentation."}, "request_id": "x"})), "zai-org/feedback#81", "Invalid API parameter", api=ANTHROPIC),
        failing("page-of-a-firewall", 405, "bad_request|forbidden", '<!doctypehtml><html lang="zh-cn"><meta charset="utf-8"><meta http-equiv="X-UA-Compatible"content="IE=edge,chrome=1"><title>405</title><style>a,body,div{margin:0}</style><body><div class="header"><div id="block_message"></div></div><script>function getRenderData(){return 1}</script>', "izaart95-jpg/GLM-Free-API#32", "405", words_not=("<title", "getRenderData", "margin:0"), content_type=HTML),
        failing("raw-of-a-raw", 429, "no_quota", {"error": {"message": "Error from provider: Provider returned error", "code": 429, "metadata": {"raw": json.dumps({"error": {"message": _SUSPENDED, "type": "exceeded_current_quota_error"}})}}}, "anomalyco/opencode#24462", "suspended due to insufficient balance"),
        failing("message-is-json", 400, "bad_request", {"error": {"message": json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": _VERTEX}, "request_id": "req_vrtx_011"}), "code": 400}}, "liuw1535/antigravity2api-nodejs#149", "must be greater than", words_not=('"request_id"', '{"type"')),
        failing("only-the-model", 400, "bad_request", {"model": "qwen3.7-plus"}, "routatic/proxy#171", "400"),
        failing("beta-header", 400, "bad_request", {"type": "error", "error": {"type": "invalid_request_error", "message": "Unexpected value(s) `oauth-2025-04-20` for the `anthropic-beta` header. Please consult our documentation."}, "request_id": "req_vrtx_1"}, "tombii/better-ccflare#47", "`anthropic-beta` header", api=ANTHROPIC),
        failing("thinking-enabled", 400, "bad_request", {"type": "error", "error": {"type": "invalid_request_error", "message": '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'}, "request_id": "r"}, "anthropics/claude-code#52811, Vertex", "thinking.type.adaptive", api=ANTHROPIC),
        failing("item-without-its-reasoning", 400, "bad_request", {"error": {"message": "Item 'msg_03e2' of type 'message' was provided without its required 'reasoning' item: 'rs_03e2'.", "type": "invalid_request_error", "param": "input", "code": None}}, "continuedev/continue#12736", "without its required 'reasoning' item", api=RESPONSES),
        failing("error-and-type-upside-down", 400, "bad_request", {"error": {"type": "new_api_error", "message": "messages: text content blocks must be non-empty (request id: 2026) (request id: 2025)"}, "type": "error"}, "ding113/claude-code-hub#770", "text content blocks must be non-empty", api=ANTHROPIC),
        failing("message-of-a-message-with-traces", 400, "bad_request", '{"code":400,"message":"{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"messages: text content blocks must be non-empty\\"},\\"request_id\\":\\"req_1\\"}（traceid: 8762） (request id: 2026)","requestId":"4646"}', "HKUDS/nanobot#748", "text content blocks must be non-empty", content_type=JSON),
        failing("prefill", 400, "bad_request", {"type": "error", "error": {"type": "invalid_request_error", "message": "This model does not support assistant message prefill. The conversation must end with a user message."}, "request_id": "r"}, "anomalyco/opencode#19981", "must end with a user message", api=ANTHROPIC),
        broken_off("regex-of-a-schema", "bad_request", frames({"error": {"message": "Input validation error: cannot compile regex from schema: Invalid reference path: $defs", "http_status_code": 422}}), "evalstate/fast-agent#332, TGI", "Invalid reference path"),
        broken_off("words-and-their-type", "context_too_long", frames({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4090 `inputs` tokens and 100 `max_new_tokens`", "error_type": "validation"}, done=False), "huggingface/text-generation-inference#2749", "must be <= 4096"),
        broken_off("generation-failed", "server_fault", frames(chunk({"content": "Half"}), {"error": "Request failed during generation: Server error: CUDA out of memory.", "error_type": "generation"}, done=False), "huggingface/huggingface_hub#1651", "CUDA out of memory", text="Half"),
        failing("filter-that-failed", 500, "server_fault|bad_request|declined", {"error": {"code": "content_filter_error", "message": "The contents are not filtered"}}, "BerriAI/litellm#1564, Azure", "The contents are not filtered"),
        failing("argument-of-cuda", 500, "server_fault", {"error": {"message": "CUDA error: invalid argument", "type": "Internal Server Error"}}, "vLLM, PyTorch's words", "invalid argument"),
        failing("internal-error-of-a-value", 500, "server_fault|bad_request", {"error": {"type": "internal_error", "message": "Unexpected reasoning effort high. Supported types are xhigh (default), medium, and low."}}, "ls1intum/edutelligence#749", "Unexpected reasoning effort high", api=ANTHROPIC),
    ],
    "kinds of failure": [
        failing("http-code-in-words", 429, "no_quota", {"error": {"http_code": "429", "message": "insufficient balance (1008)", "type": "insufficient_balance_error"}, "request_id": "x"}, "modelscope/modelscope#1691", "insufficient balance"),
        failing("balance-required", 402, "no_quota", {"error": {"message": "Insufficient balance. Required: 5 credits, available: 0", "type": "billing_error"}}, "Wei-Shaw/sub2api#1015", "Required: 5 credits"),
        failing("angle-numbers", 400, "context_too_long", {"error": {"code": "invalid_parameter_error", "message": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]", "param": None, "type": "invalid_request_error"}, "request_id": "81a3"}, "agentscope-ai/QwenPaw#6255", "983616"),
        failing("parameter-1210", 400, "bad_request", {"error": {"code": "1210", "message": "Invalid API parameter, please check the documentation."}}, "charmbracelet/crush#1237", "Invalid API parameter"),
        failing("model-code", 400, "unknown_model", {"error": {"code": "1214", "message": "modelCode: does not exist"}}, "duolahypercho/codex-router#244", "modelCode: does not exist"),
        failing("size-with-figures", 500, "context_too_long", {"error": {"code": 500, "message": "the request exceeds the available context size. try increasing the context size or enable context shift", "type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}}, "ggml-org/llama.cpp#15780", "exceeds the available context size"),
        failing("tokens-of-a-day", 429, "rate_limited|no_quota", {"message": "Too many tokens per day, please wait before trying again."}, "minorun365/agent-book#29, Bedrock", "Too many tokens per day"),
        failing("no-deployment-cooldown", 429, "rate_limited|overloaded", {"error": {"message": "No deployments available for selected model, Try again in 60 seconds. Passed model=vertex-claude-3-5-sonnet. pre-call-checks=False, allowed_model_region=n/a, cooldown_list=[('x', {'Exception Received': 'litellm.APIConnectionError'})]", "type": "None", "param": "None", "code": "429"}}, "BerriAI/litellm#5764", "Try again in 60 seconds"),
        failing("no-instance", 503, "overloaded", {"error": "no eligible instance available"}, "verbeux-ai/code#36", "no eligible instance"),
        failing("value-too-large", 400, "bad_request", {"error": {"message": "max_completion_tokens must be less than or equal to 40960, the maximum value for max_completion_tokens is less than the context_window for this model", "type": "invalid_request_error", "param": "max_completion_tokens"}}, "Alishahryar1/free-claude-code#955, Groq", "less than or equal to 40960"),
        failing("input-count", 400, "context_too_long", {"error": {"code": 400, "message": "The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}, "google-gemini/gemini-cli#4692", "2845475", api=GEMINI),
        failing("prompt-filtered", 400, "declined|bad_request", {"error": {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.", "type": None, "param": "prompt", "code": "content_filter", "status": 400}}, "vercel/ai#4220", "content management policy"),
    ],
    "usage": [
        Row("reasoning-beside-in-each", COMPATIBLE, frames(*({**chunk({"content": one}), "usage": {"prompt_tokens": 19693, "completion_tokens": at, "total_tokens": 19693 + 609 + at, "completion_tokens_details": {"reasoning_tokens": 609, "text_tokens": None}, "prompt_tokens_details": None}} for at, one in ((3, "Hello "), (7, "there."))), {**chunk({}, "stop"), "usage": {"prompt_tokens": 19693, "completion_tokens": 7, "total_tokens": 20309, "completion_tokens_details": {"reasoning_tokens": 609}}}), "BerriAI/litellm#10667, Gemini", usage={"input_tokens": 19693, "output_tokens": 616, "reasoning_tokens": 609}),
        Row("input-only-in-the-delta", ANTHROPIC, anthropic(*text_block(0), usage={"input_tokens": 0, "output_tokens": 0}, end={"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 300, "output_tokens": 20}}), "MiXaiLL76/auto_ai_router#142", usage={"input_tokens": 300, "output_tokens": 20}),
        counted("usage-behind-finish-and-done-chunk", "BerriAI/litellm#21592, OpenRouter", {"id": "g", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None, "native_finish_reason": None}], "usage": {**U, "cost": 0.0123, "is_byok": False, "cost_details": {"upstream_inference_cost": None}}}, input_tokens=300, output_tokens=20, cost_usd=0.0123),
    ],
    "endings": [
        Row("refusal-with-nothing", ANTHROPIC, anthropic(*text_block(0, ""), end={"delta": {"stop_reason": "refusal"}, "usage": {"input_tokens": 19, "output_tokens": 0}}), "BerriAI/litellm#40864", text="", ends="refused"),
        Row("whole-without-content", GEMINI, json.dumps({"candidates": [{"finishReason": "UNEXPECTED_TOOL_CALL", "index": 0}], "usageMetadata": GEMINI_USAGE}), "agentjido/req_llm#944", JSON, text="", ends="broken"),
        Row("streamed-without-content", GEMINI, gemini({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}], "usageMetadata": GEMINI_USAGE}), "agentjido/req_llm#944", SSE, text="", ends="broken"),
    ],
}
"""Rows by their class, as `table.CLASSES`."""

FIFTEENTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'xhigh', 'ctx': {'expected': \"'low', 'medium' or 'high'\"}}\n\n  File \"/sgl-workspace/sglang/python/sglang/srt/entrypoints/http_server.py\", line 1324, in openai_v1_chat_completions\n    POST /v1/chat/completions", "reasoning_effort", "router-for-me/CLIProxyAPI#1572, SGLang"),
    ("Validation error for `reasoning_effort`: expected one of `'low' | 'medium' | 'high'`, received `'xhigh'`.", "reasoning_effort", "router-for-me/CLIProxyAPI#1307"),
    ('level "max" not supported, valid levels: low, medium, high, xhigh', "reasoning_effort", "nguyenphutrong/quotio#287"),
    ("Unexpected reasoning effort high. Supported types are xhigh (default), medium, and low.", "reasoning_effort", "ls1intum/edutelligence#749"),
    ("reasoning_effort 'high' is not supported by this model. Supported values: ['low', 'max']", "reasoning_effort", "mistralai/mistral-vibe#1117"),
    ("Unsupported parameter: temperature", "temperature", "ChatGPTNextWeb/NextChat#6774, of another field"),
    ("The parameter 'stream_options' is not supported by this gateway profile.", "stream_options", "experientiallabs/experiential#530, of another field"),
    ("Malformed input request: extraneous key [temperature] is not permitted, please reformat your input and try again.", "temperature", "Amazon Bedrock"),
    ("max_completion_tokens must be less than or equal to 40960, the maximum value for max_completion_tokens is less than the context_window for this model", None, "Alishahryar1/free-claude-code#955, a value"),
    ("`max_tokens` must be greater than `thinking.budget_tokens`", None, "Chevey339/kelivo#144, a value"),
]

FIFTEENTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("camel-case-in-capabilities", {"data": [{"id": "m1", "capabilities": {"contextWindow": 8192}}, {"id": "m2", "context_window": 4096}]}, {"m1": 8192, "m2": 4096}, "charmbracelet/crush#3821"),
    ("names-and-displays", {"data": [{"id": "m1", "display_name": "M One", "max_context_length": 8192}], "first_id": "m1", "has_more": False, "last_id": "m1"}, {"m1": 8192}, "makecindy/cindy#942"),
    ("summaries", {"modelSummaries": [{"modelId": "m1", "modelName": "M One", "providerName": "x"}, {"modelId": "m2", "modelName": "M Two"}]}, {"m1": None, "m2": None}, "Amazon Bedrock behind proxies"),
    ("one-object", {"id": "m1", "object": "model", "owned_by": "x"}, {"m1": None}, "servers of one model"),
    ("model-id-and-profile", {"data": [{"id": "m1", "object": "model", "name": "M One", "model_id": "m1", "profile_id": "default:m1", "is_default_profile": True, "context_length": 8192}]}, {"m1": 8192}, "alekk89/llama-cpp-windows-manager#16"),
]
# fmt: on
