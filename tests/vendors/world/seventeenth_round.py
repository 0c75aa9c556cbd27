"""Reports of the seventeenth round: streams, errors, usage, lists, refusals and calls, all written down before a try."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.world.fourteenth_round import anthropic, gemini, gemini_call, text_block
from tests.vendors.world.rounds import broken_off, calling, counted, failing, spelled
from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL_END,
    CALL_JSON,
    COMPATIBLE,
    GEMINI,
    HTML,
    JSON,
    TWO_CALLS,
    WRITE_CALL,
    Json,
    Row,
    candidate,
    chunk,
    frames,
    said,
    tool_call,
)

_OPENAI = (
    '{"tool_calls":[{"id":"c","type":"function","function":{"name":"read_file","arguments":"{\\"a\\":1}"}}]}'
)
_BUDGET = '{\n  "error": {\n    "code": 400,\n    "message": "The thinking budget (52428) is invalid.",\n    "status": "INVALID_ARGUMENT"\n  }\n}\n'
_STREAM_FALSE = json.dumps({"error": {"code": "invalid_parameter_error", "message": "enable thinking can not be support when `stream=False`.", "type": "invalid_request_error"}, "request_id": "2147"})  # fmt: skip
_SIGNATURE = '{ "error": { "code": 400, "message": "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.", "status": "INVALID_ARGUMENT" } }'


def _gemini_error(message: str, status: str = "INVALID_ARGUMENT", code: int = 400) -> Json:
    return {"error": {"code": code, "message": message, "status": status}}


# fmt: off
SEVENTEENTH: dict[str, list[Row]] = {
    "frames": [
        Row("lines-of-windows-over-several", COMPATIBLE, frames(*said("Hello ", "there.")).replace('"choices": ', '\ndata: "choices": ').replace("\n", "\r\n"), "ax-llm/ax#622"),
        Row("named-message-events", COMPATIBLE, "".join(f"event: message\nid: {at}\ndata: {json.dumps(one)}\n\n" for at, one in enumerate(said("Hello ", "there."))) + "event: message\ndata: [DONE]\n\n", "jawah/urllib3.future#344, of another shape"),
        Row("role-chunk-with-null-content", COMPATIBLE, frames(chunk({"role": "assistant", "content": None, "reasoning_content": None, "tool_calls": None, "audio": None, "refusal": None, "function_call": None}), *said("Hello ", "there.")), "SGLang, every field in each delta"),
    ],
    "shapes of text": [
        Row("thought-behind-a-sentence", COMPATIBLE, frames(*said("I look.\n<think>\nI need it.\n</think>\n\nHello there.")), "Qwen3 behind servers without a parser of thoughts", text="I look.\n\nHello there.", reasoning="I need it."),
        Row("thought-in-a-fence", COMPATIBLE, frames(*said("It writes:\n```\n<think>\nI need it.\n</think>\n```\n")), "what must stay right", text="It writes:\n```\n<think>\nI need it.\n</think>\n```\n"),
        Row("thought-in-a-line", COMPATIBLE, frames(*said("The tags <think> and </think> stand around thoughts.")), "what must stay right", text="The tags <think> and </think> stand around thoughts."),
    ],
    "errors": [
        failing("plain-text-for-an-error", 502, "server_fault|overloaded", {"error": "Gateway failed"}, "lessweb/deepcode-cli#352", "Gateway failed"),
        failing("budget-of-thinking", 400, "bad_request", _gemini_error("Thinking budget is not supported for this model."), "aduermael/herm#23, Gemma", "Thinking budget is not supported", api=GEMINI),
        failing("message-is-pretty-json", 400, "bad_request", {"error": {"message": _BUDGET, "code": 400, "status": "Bad Request"}}, "RooCodeInc/Roo-Code#4399", "The thinking budget (52428) is invalid", words_not=('"status"',), api=GEMINI),
        failing("words-and-json-in-words", 400, "bad_request", {"error": {"message": f"Error from provider(modelscope,Qwen/Qwen3-235B-A22B-Thinking-2507: 400): {_STREAM_FALSE}Error: Error from provider(modelscope", "type": "api_error", "code": "provider_response_error"}}, "musistudio/claude-code-router#948", "enable thinking can not be support"),
        failing("budget-of-nought", 400, "bad_request", _gemini_error("The model does not support setting thinking_budget to 0."), "GewoonJaap/gemini-cli-openai#23", "thinking_budget to 0", api=GEMINI),
        failing("all-targets-failed", 400, "bad_request", {"error": {"message": f"All targets failed: gemini/gemini-3-flash-preview. Last error: Provider failed: 400 {_SIGNATURE}"}}, "smallmain/vscode-unify-chat-provider#132", "missing a thought_signature"),
        failing("trace-of-python", 500, "server_fault", {"error": {"code": "internal", "message": "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"}}, "RakuenSoftware/aimee#2071", "Expecting property name"),
        broken_off("typed-error-in-chat", "server_fault", frames(chunk({"content": "Half"}), {"type": "error", "error": {"type": "server_error", "message": "The server had an error while processing your request"}}), "gateways over the Responses API", "The server had an error", text="Half"),
        failing("object-of-details", 422, "bad_request", {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "metadata"], "msg": "Extra inputs are not permitted", "input": {}}]}, "type": "invalid_request_error", "param": None, "code": None}, "Mistral", "Extra inputs are not permitted", "metadata"),
        failing("page-of-a-timeout", 524, "timed_out|server_fault|overloaded", "<!DOCTYPE html><html><head><title>api.example.com | 524: A timeout occurred</title></head><body><h1>A timeout occurred</h1></body></html>", "Cloudflare before gateways", "524: A timeout occurred", words_not=("<title",), content_type=HTML),
        failing("runner-terminated", 500, "server_fault|bad_request", {"error": "llama runner process has terminated: exit status 2"}, "Ollama", "llama runner process has terminated"),
        broken_off("login-of-minimax", "bad_key", json.dumps({"id": "x", "choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail: Please carry the API secret key in the 'Authorization' field of the request header"}}), "MiniMax", "login fail", content_type=JSON),
        broken_off("window-of-minimax", "context_too_long", frames({"id": "x", "choices": [], "base_resp": {"status_code": 2013, "status_msg": "invalid params, context window exceeds limit"}}), "MiniMax", "context window exceeds limit"),
        broken_off("sensitive-of-minimax", "declined", frames({"id": "x", "choices": [], "input_sensitive": True, "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}), "MiniMax", "input new_sensitive"),
        failing("number-and-words-of-baidu", 200, "context_too_long", {"error_code": 336003, "error_msg": "the max length of current question is 4800 characters", "id": "x"}, "Qianfan", "max length of current question"),
    ],
    "kinds of failure": [
        failing("user-location", 400, "forbidden", _gemini_error("User location is not supported for the API use.", "FAILED_PRECONDITION"), "Yi-luo-hua/BilibiliCrawler#27", "User location is not supported", api=GEMINI),
        failing("prompt-length-of-xai", 400, "context_too_long", {"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens."}, "xAI", "131072"),
        failing("loading-stopped", 400, "bad_request|unknown_model|server_fault", {"error": 'Failed to load model "x". Error: Model loading was stopped due to insufficient system resources.'}, "LM Studio", "insufficient system resources"),
        failing("output-too-large", 400, "context_too_long|bad_request", {"error": {"message": "'max_tokens' or 'max_completion_tokens' is too large: 40960. This model's maximum context length is 32768 tokens and your request has 5000 input tokens (40960 > 32768 - 5000).", "type": "BadRequestError", "param": "max_tokens", "code": 400}}, "vLLM", "40960 > 32768 - 5000"),
        failing("wrong-endpoint-or-key", 401, "bad_key", {"error": {"code": "401", "message": "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource."}}, "Azure", "wrong API endpoint"),
        failing("legacy-model", 404, "unknown_model|forbidden", {"message": "Access denied. This Model is marked by provider as Legacy and you have not been actively using the model in the last 15 days. Please switch to an active model on Amazon Bedrock"}, "Amazon Bedrock", "marked by provider as Legacy"),
        failing("account-suspended-for-invoices", 412, "no_quota|forbidden", {"error": {"object": "error", "type": "invalid_request_error", "code": "precondition_failed", "message": "Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices. Please go to https://fireworks.ai/account/billing for more information."}}, "Fireworks", "monthly spending limit"),
        failing("unsafe-in-chinese", 400, "declined", {"contentFilter": [{"level": 1, "role": "user"}], "error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。"}}, "Z.ai", "敏感内容"),
        failing("thinking-cannot-be-disabled", 400, "bad_request", _gemini_error("Unable to submit request because Thinking can't be disabled for this model. Remove 'thinking_config.thinking_budget' from your request and try again."), "pydantic/pydantic-ai#1967", "Thinking can't be disabled", api=GEMINI),
    ],
    "usage": [
        counted("figures-beside", "SambaNova", {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320, "completion_tokens_per_sec": 200.1, "is_last_response": True, "time_to_first_token": 0.05, "total_latency": 0.2, "completion_tokens_after_first_per_sec": 210.2, "stop_reason": "stop"}}, input_tokens=300, output_tokens=20, is_estimate=False),
        Row("thoughts-and-cache", GEMINI, gemini(candidate("Hello there."), candidate("", "STOP", usageMetadata={"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "cachedContentTokenCount": 80, "totalTokenCount": 150, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}]})), "Gemini", usage={"input_tokens": 100, "output_tokens": 50, "reasoning_tokens": 30, "cache_read_tokens": 80}),
        Row("lifetimes-of-the-cache", ANTHROPIC, anthropic(*text_block(0), usage={"input_tokens": 12, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 200, "cache_creation": {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40}, "output_tokens": 1, "service_tier": "standard"}, end={"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5, "server_tool_use": {"web_search_requests": 0}}}), "Anthropic", usage={"input_tokens": 312, "cache_write_tokens": 100, "cache_read_tokens": 200, "output_tokens": 5}),
    ],
    "tool calls": [
        calling("nulls-beside", "SGLang", tool_call("read_file", "", id="t"), chunk({"role": None, "content": None, "tool_calls": [{"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": ARGS}}]}), *CALL_END),
        calling("index-as-text", "gateways of PHP", tool_call("read_file", '{"a"', "0", id="t"), tool_call(None, ":1}", "0"), *CALL_END),
        Row("arguments-null", GEMINI, gemini_call({"functionCall": {"id": "1", "name": "read_file", "args": None}}), "Gemini behind gateways", text="", calls=(("read_file", "{}"),), ends="tool_calls"),
    ],
    "leaked calls": [
        calling("the-same-in-a-fence-beside", "Gitlawb/openclaude#1076, of both at once", chunk({"content": f"```json\n{CALL_JSON}\n```"}), tool_call("read_file", ARGS, id="t"), *CALL_END),
        calling("the-same-in-a-tag-beside", "mudler/LocalAI#10346", chunk({"content": f"I read it.\n<tool_call>\n{CALL_JSON}\n</tool_call>"}), tool_call("read_file", ARGS, id="t"), *CALL_END, text="I read it."),
        spelled("fenced-message-of-openai", "Extra-Chill/data-machine#2316", f"I read it.\n\n```json\n{_OPENAI}\n```", text="I read it."),
        spelled("python-tag-and-end", "Llama 3.1", '<|python_tag|>{"name": "read_file", "parameters": {"a": 1}}<|eom_id|>'),
        spelled("python-tag-and-call", "Llama 3.1, its own tools", "<|python_tag|>read_file.call(a=1)"),
        spelled("list-in-an-open-tag", "vllm-project/vllm#11402, Granite 3.1", '<tool_call>[{"arguments": {"a": 1}, "name": "read_file"}]'),
        spelled("two-with-args", "Mistral, tokenizer v13", '[TOOL_CALLS]read_file[ARGS]{"a": 1}[TOOL_CALLS]read_file[ARGS]{"a": 2}', calls=TWO_CALLS),
        spelled("thought-behind-a-sentence", "Qwen3 behind servers without a parser of thoughts", f"I look.\n<think>\nI need the file.\n</think>\n<tool_call>\n{CALL_JSON}\n</tool_call>", text="I look.", reasoning="I need the file."),
        spelled("tool-colon-name", "CWM", '<tool: read_file>\n{"a": 1}\n</tool>'),
        spelled("functions-and-number", "Kimi K2 behind gateways that drop tokens", 'functions.read_file:0{"a": 1}'),
        spelled("minimax-without-its-angle", "MiniMax M2", 'minimax:tool_call\n<invoke name="read_file">\n<parameter name="a">1</parameter>\n</invoke>\n</minimax:tool_call>'),
        spelled("coder-without-its-tag", "Qwen3-Coder", "<function=write_file><parameter=path>a.txt</parameter><parameter=content>hello</parameter></function></tool_call>", calls=WRITE_CALL),
        spelled("glm-without-its-tag", "GLM 4.6", "read_file\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"),
        spelled("deepseek-with-plain-bars", "DeepSeek V3.1 behind gateways", '<|tool▁calls▁begin|><|tool▁call▁begin|>read_file<|tool▁sep|>{"a": 1}<|tool▁call▁end|><|tool▁calls▁end|>'),
        spelled("channel-without-functions", "gpt-oss", '<|channel|>commentary to=read_file<|message|>{"a":1}'),
        spelled("comma-too-many", "small models", '<tool_call>\n{"name": "read_file", "arguments": {"a": 1,}}\n</tool_call>'),
        spelled("curly-quotes", "Open-Historia/open-historia#354, of a call", "<tool_call>\n{“name”: “read_file”, “arguments”: {“a”: 1}}\n</tool_call>"),
        spelled("tag-of-the-offer", "Qwen2.5, small", f"<tools>\n{CALL_JSON}\n</tools>"),
        spelled("function-and-args", "Gemma 3", '```json\n{"function": "read_file", "args": {"a": 1}}\n```', model="gemma3:12b"),
        spelled("label-and-parameters", "small models", 'Tool call: read_file\nParameters: {"a": 1}'),
        spelled("header-of-llama", "Llama 3 behind servers that show its header", '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "read_file", "parameters": {"a": 1}}', model="llama3.1:8b"),
    ],
}
"""Rows by their class, as `table.CLASSES`."""

SEVENTEENTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("parameter.enable_thinking must be set to false for non-streaming calls", None, "vybestack/llxprt-code#229"),
    ('Invalid JSON payload received. Unknown name "stream_options": Cannot find field.', "stream_options", "Google"),
    ('Invalid JSON payload received. Unknown name "parallel_tool_calls": Cannot find field.', "parallel_tool_calls", "Google"),
    ("Additional properties are not allowed ('cache_prompt' was unexpected)", "cache_prompt", "servers with JSON Schema"),
    ("create() got an unexpected keyword argument 'parallel_tool_calls'", "parallel_tool_calls", "langgenius/dify-official-plugins#2651, of another field"),
    ("reasoning_effort is not a supported parameter for this model", "reasoning_effort", "gateways"),
    ("`max_tokens` is not permitted for this model, use `max_completion_tokens`", "max_tokens", "gateways"),
    ("The following parameters are not supported: seed, cache_prompt", "seed", "gateways"),
]

SEVENTEENTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("kinds-of-models", {"data": [{"id": "m1", "object": "model", "context_length": 8192, "supports_chat": True, "kind": "HF_BASE_MODEL"}, {"id": "flux", "supports_chat": False, "kind": "FLUMINA_BASE_MODEL"}]}, {"m1": 8192, "flux": None}, "Fireworks"),
    ("limits-of-cerebras", {"data": [{"id": "m1", "limits": {"max_context_length": 8192, "max_completion_tokens": 400}}]}, {"m1": 8192}, "Cerebras"),
    ("null-and-camel", {"data": [{"id": "m1", "context_length": None, "maxInputTokens": 8192}]}, {"m1": 8192}, "gateways of JavaScript"),
]
# fmt: on
