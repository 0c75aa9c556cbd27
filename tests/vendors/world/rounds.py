"""Reports that were written down round by round, each round before the program was tried on it."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL,
    CALL_END,
    COMPATIBLE,
    GEMINI,
    GEMINI_USAGE,
    JSON,
    PAID,
    RESPONSE,
    RESPONSE_BEGUN,
    RESPONSES,
    TEXT,
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

TWO = (*CALL, ("read_file", '{"a":2}'))


def failing(name: str, status: int, kind: str, body: Any, source: str, *words: str, **more: Any) -> Row:
    """An answer of a status with an error."""
    sent = body if isinstance(body, str) else json.dumps(body)
    given = {"content_type": TEXT if isinstance(body, str) else JSON, "text": "", **more}
    return Row(
        name, given.pop("api", COMPATIBLE), sent, source, status=status, fails=kind, words=words, **given
    )


def broken_off(name: str, kind: str, sent: str, source: str, *words: str, **more: Any) -> Row:
    """An answer that fails inside its stream."""
    return Row(
        name, more.pop("api", COMPATIBLE), sent, source, **{"text": "", **more}, fails=kind, words=words
    )


def calling(name: str, source: str, *events: Json, calls: Any = CALL, done: bool = True, **more: Any) -> Row:
    given = {"text": "", "ends": "tool_calls", **more}
    return Row(name, COMPATIBLE, frames(*events, done=done), source, calls=calls, **given)


def spelled(name: str, source: str, *texts: str, calls: Any = CALL, **more: Any) -> Row:
    """A call that a server left in the text."""
    return calling(
        name,
        source,
        *(chunk({"content": one}) for one in texts),
        chunk({}, "stop"),
        used(),
        calls=calls,
        **more,
    )


def thought(name: str, source: str, *texts: str, calls: Any = CALL, **more: Any) -> Row:
    """A call that a server left in the reasoning."""
    return calling(
        name,
        source,
        *(chunk({"reasoning_content": one}) for one in texts),
        chunk({}, "stop"),
        used(),
        calls=calls,
        **more,
    )


def counted(name: str, source: str, *events: Json, **right: Any) -> Row:
    return Row(
        name,
        COMPATIBLE,
        frames(chunk({"content": "Hello there."}), chunk({}, "stop"), *events),
        source,
        usage=right,
    )


_CF: Json = {"result": None, "success": False, "messages": []}
_KIMI = '<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"a":1}<|tool_call_end|><|tool_calls_section_end|>'
_HERMES = '<tool_call>\n{"name": "read_file", "arguments": {"a": 1}}\n</tool_call>'
_TEMPERATURE = "Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported."
_GATE = 'Error from provider(429): {\n  "error": {\n    "code": 429,\n    "message": "Resource has been exhausted (e.g. check quota).",\n    "status": "RESOURCE_EXHAUSTED"\n  }\n}\nError: Error from provider(429)'

# Round 1.

FIRST: dict[str, list[Row]] = {
    "frames": [
        Row("finish-without-delta", COMPATIBLE, frames(chunk({"content": "Hello there."}), {"id": "c", "choices": [{"index": 0, "finish_reason": "stop"}]}, used()), "osaurus-ai/osaurus#2150"),
        Row("two-objects-in-one-frame", COMPATIBLE, f"data: {json.dumps(chunk({'content': 'Hello '}))}{json.dumps(chunk({'content': 'there.'}))}\n\n" + frames(chunk({}, "stop"), used()), "openai/openai-python#663"),
        Row("two-objects-no-frame", COMPATIBLE, "".join(json.dumps(one) for one in said("Hello ", "there.")), "openai/openai-python#663", JSON),
        Row("filter-without-delta", COMPATIBLE, frames(chunk({"content": "Hello "}), {"choices": [{"content_filter_offsets": {"check_offset": 5}, "content_filter_results": {"hate": {"filtered": False}}, "finish_reason": None, "index": 0}], "created": 0, "id": "", "model": "", "object": ""}, *said("there.")), "aaif-goose/goose#8641"),
        Row("obfuscation", COMPATIBLE, frames(*({**one, "obfuscation": "YhS7A"} for one in said("Hello ", "there."))), "dongri/openai-api-rs#186"),
        Row("empty-finish-words", COMPATIBLE, frames(chunk({"content": "Hello "}, ""), chunk({"content": "there."}, ""), chunk({}, "stop"), used()), "ollama/ollama#4357"),
    ],
    "whole replies": [
        Row("usage-first-choice-last", COMPATIBLE, json.dumps({"object": "chat.completion", "model": "rwkv", "usage": {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320}, "choices": [{"message": {"role": "assistant", "content": "Hello there."}, "index": 0, "finish_reason": "stop"}]}), "langgenius/dify#2144", JSON, usage=PAID),
    ],
    "tool calls": [
        calling("two-at-index-nought-empty-ids", "InternLM/lmdeploy#3412, vLLM", tool_call("read_file", "", id="chatcmpl-tool-1"), tool_call(None, ARGS, id=""), tool_call("read_file", "", id="chatcmpl-tool-2"), tool_call(None, '{"a":2}', id=""), *CALL_END, calls=TWO),
        calling("two-at-index-nought-ids-kept", "InternLM/lmdeploy#3412, SGLang", tool_call("read_file", "", id="0"), tool_call(None, ARGS, id="0"), tool_call("read_file", "", id="1"), tool_call(None, '{"a":2}', id="1"), *CALL_END, calls=TWO),
        calling("generating-signs", "jjang-ai/vmlx#219", chunk({"tool_call_generating": True}), chunk({}), chunk({"tool_call_generating": True}), tool_call("read_file", ARGS, id="t"), *CALL_END),
        calling("json-header-in-arguments", "tenstorrent/tt-inference-server#3683", tool_call("read_file", "json\n", id="t"), tool_call(None, ARGS), *CALL_END),
        calling("call-without-finish", "earendil-works/pi#6226, NVIDIA NIM", tool_call("read_file", ARGS, id="t"), used()),
    ],
    "leaked calls": [
        spelled("kimi-tokens", "NousResearch/hermes-agent#24534", _KIMI),
        thought("kimi-tokens-in-reasoning", "MoonshotAI/Kimi-K2#89", "I read it.", _KIMI, reasoning="I read it." + _KIMI),
        thought("xml-in-reasoning", "vllm-project/vllm#39056", "I read it.\n", _HERMES, reasoning="I read it.\n" + _HERMES),
        spelled("function-cut-in-two", "raullenchai/Rapid-MLX#448", "<function", "=read_file>", '{"a": 1}', "</function>"),
        spelled("deepseek-r1-fence", "unslothai/unsloth#5624", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n", '{"a":1}\n```', "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
        spelled("deepseek-dsml", "strands-rl/strands-sglang#17", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">\n<｜DSML｜parameter name="b" string="true">x</｜DSML｜parameter>\n<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>\n</｜DSML｜invoke>\n', "</｜DSML｜function_calls>", calls=(("read_file", '{"b":"x","a":1}'),)),
    ],
    "errors": [
        failing("cause-in-cause", 400, "bad_request", {"error": {"cause": json.dumps({"error": {"message": _TEMPERATURE, "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}}), "code": 400, "message": "模型服务调用失败", "status": "FAILED_RESPONSE"}, "requestId": "x", "result": None}, "nashsu/llm_wiki#670", "Only the default (1) value is supported"),
        failing("words-of-a-provider-in-words", 429, "rate_limited", {"error": {"message": _GATE}}, "tech-shrimp/gemini-balance-lite#7", "Resource has been exhausted (e.g. check quota)."),
        failing("workers-no-route", 404, "bad_request", {**_CF, "errors": [{"code": 7003, "message": "Could not route to /client/v4/accounts/x/ai/v1/chat/completions, perhaps your object identifier is invalid?"}]}, "anomalyco/opencode#23773", "Could not route to /client/v4", "address"),
        failing("workers-type-mismatch", 400, "bad_request", {**_CF, "errors": [{"code": 5006, "message": "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: Type mismatch of '/messages/0/content', 'array' not in 'string'"}]}, "opencodeschool/opencode.school#174", "Type mismatch of '/messages/0/content'"),
        failing("gateway-error-list", 400, "bad_request", {"success": False, "result": [], "messages": [], "error": [{"code": 2008, "message": "Invalid provider"}]}, "opencodeschool/opencode.school#174, Cloudflare AI Gateway", "Invalid provider"),
        failing("workers-authentication", 401, "bad_key", {**_CF, "errors": [{"code": 10000, "message": "Authentication error"}]}, "opencodeschool/opencode.school#174", "Authentication error"),
        broken_off("limit-of-a-worker", "overloaded|server_fault|rate_limited", frames({"id": "c", "object": "chat.completion.chunk", "choices": [], "error": {"code": 502, "message": "Worker local total request limit reached (33/32)", "metadata": {"error_type": "provider_unavailable"}}}), "diegosouzapw/OmniRoute#8210", "limit reached (33/32)"),
        broken_off("error-and-cut-call", "server_fault|overloaded", frames(chunk({"content": "Half"}), tool_call("read_file", '{"a"', id="t"), {**chunk({}, "error"), "error": {"code": 502, "message": "Provider disconnected", "metadata": {"error_type": "provider_unavailable"}}}), "damianvtran/local-operator#223", "Provider disconnected", text="Half"),
    ],
    "kinds of failure": [
        failing("context_exceeded", 400, "context_too_long", {"error": {"message": "Prompt tokens (9000) exceeds context size (8192)", "type": "context_exceeded", "n_prompt_tokens": 9000, "n_ctx": 8192}}, "antirez/ds4#150", "exceeds context size (8192)"),
        failing("length-while-limit", 400, "context_too_long", {"message": "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}, "cline/cline#5140, Cerebras", "while limit is 40000"),
        failing("sum-of-lengths", 400, "context_too_long", {"object": "error", "message": "The sum of prompt length (8200.0), query length (0) should not exceed max_num_tokens (8192)", "type": "BadRequestError", "param": None, "code": 400}, "NVIDIA/TensorRT-LLM#19457", "max_num_tokens (8192)"),
        failing("model-maximum", 400, "context_too_long", {"error": {"object": "error", "type": "invalid_request_error", "code": "invalid_request_error", "message": "The prompt is too long: 140000, model maximum context length: 131071"}}, "langchain-ai/langchain#37457, Fireworks", "131071"),
        failing("no-package", 429, "no_quota", {"error": {"code": "1113", "message": "Insufficient balance or no resource package. Please recharge."}}, "experientiallabs/experiential#958, Z.ai", "Please recharge"),
        failing("no-credits-remaining", 429, "no_quota", {"error": {"message": "You have no credits remaining.", "type": "insufficient_quota", "code": "credit_balance_exhausted"}}, "UKGovernmentBEIS/inspect_ai#5340", "no credits remaining"),
        failing("budget-full", 402, "no_quota", "budget full Quetta has been exhausted please ask an administrator to increase the limit or select another budget pool.", "BetterErrors/better_errors#550", "ask an administrator"),
        failing("upstream-unavailable", 503, "overloaded", {**_CF, "errors": [{"code": 7009, "message": "Upstream service unavailable"}]}, "cloudflare/cloudflare-docs#15116", "Upstream service unavailable"),
    ],
    "usage": [
        counted("cached-beside-prompt", "Portkey-AI/gateway#1210, Bedrock", {"id": "c", "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 20, "total_tokens": 332, "prompt_tokens_details": {"cached_tokens": 300}}}, input_tokens=312, cache_read_tokens=300, output_tokens=20, is_estimate=False),
        Row("whole-prompt-then-split", ANTHROPIC, named(*[("message_start", {"message": {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": None, "usage": {"input_tokens": 1000, "output_tokens": 1}}}), *message_events("Hello there.")[1:-2], ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 5}}), ("message_stop", {})]), "maximhq/bifrost#6598", usage={"input_tokens": 1000, "cache_read_tokens": 900, "output_tokens": 5}),
    ],
    "endings": [
        Row("native-network-error", COMPATIBLE, frames(chunk({"content": ""}), {"id": "c", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop", "native_finish_reason": "network_error"}]}), "earendil-works/pi#8511", text="", ends="broken"),
        Row("gemini-too-many-calls", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in (candidate("Hello there."), candidate("", "TOO_MANY_TOOL_CALLS"))), "google-gemini-php/client#137", ends="broken|truncated|unknown"),
    ],
}  # fmt: skip

FIRST_REFUSALS: list[tuple[str, str | None, str]] = [
    ('{"detail":"Unsupported parameter: temperature"}', "temperature", "lobehub/lobehub#17831"),
]
FIRST_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("model-for-id", {"object": "list", "data": [{"model": "anthropic/m1", "provider": "anthropic", "display_name": "M1", "vendors": {"x": {}}, "availability_status": "available"}]}, {"anthropic/m1": None}, "LeenHawk/gproxy#190, Merge"),
    ("not-loaded-beside-loaded", {"data": [{"id": "m1", "object": "model", "type": "llm", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 4096}, {"id": "m2", "object": "model", "type": "vlm", "compatibility_type": "mlx", "state": "not-loaded", "max_context_length": 8192}]}, {"m1": 4096, "m2": 8192}, "zed-industries/zed#23764"),
]  # fmt: skip


# Round 2.

_TEAM = "Your team 16f2151a has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."
_BOTH = {"role": "assistant", "tool_calls": []}


def foundry(text: str, **more: Any) -> Json:
    """A chunk of Foundry Local, whose delta and message are the same."""
    said_ = {**_BOTH, "content": text}
    return {"model": "m", "choices": [{"delta": said_, "message": said_, "index": 0, **more}], "CreatedAt": "2025-11-08T14:34:36+00:00", "id": "chat.id.1", "IsDelta": False, "Successful": True, "HttpStatusCode": 0, "object": "chat.completion.chunk"}  # fmt: skip


def gemini_parts(*parts: Json) -> str:
    events = [{"candidates": [{"content": {"role": "model", "parts": [one]}, "index": 0}]} for one in parts]
    return "".join(f"data: {json.dumps(one)}\n\n" for one in (*events, candidate("", "STOP", usageMetadata=GEMINI_USAGE)))  # fmt: skip


_ITEM = {"type": "function_call", "id": "f", "call_id": "t", "name": "read_file", "arguments": ARGS, "status": "completed"}  # fmt: skip
_SPOKEN: Json = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Hello there.", "annotations": []}]}  # fmt: skip
_XML = "<tool_call>\n<function=read_file>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"

SECOND: dict[str, list[Row]] = {
    "frames": [
        Row("delta-and-message-no-finish", COMPATIBLE, frames(foundry("Hello "), foundry("there.")), "microsoft/foundry-local#299"),
        Row("empty-choices-no-id-first", COMPATIBLE, frames(*[{"object": "chat.completion.chunk", "choices": []}] * 4, *said("Hello ", "there.")), "anomalyco/opencode#43585"),
        Row("growing-message-beside-delta", COMPATIBLE, frames({"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello "}, "message": {"role": "assistant", "content": "Hello "}, "finish_reason": None}]}, {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "there."}, "message": {"role": "assistant", "content": "Hello there."}, "finish_reason": "stop"}], "usage": U}), "open-webui/open-webui#9927, Perplexity"),
        Row("zeros-and-finish-alone", COMPATIBLE, frames(*({"object": "chat.completion.chunk", "model": "m", "choices": [{"delta": {"role": "assistant", "content": one}}], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}} for one in ("Hello ", "there.")), {"model": "m", "choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}), "mudler/LocalAI#648"),
    ],
    "whole replies": [
        Row("delta-and-message", COMPATIBLE, json.dumps(foundry("Hello there.", finish_reason="stop")), "microsoft/foundry-local#383", JSON),
        Row("thinking-three-times", COMPATIBLE, json.dumps({"id": "x", "model": "m", "object": "chat.completion", "choices": [{"finish_reason": "stop", "index": 0, "message": {"content": "Hello there.", "role": "assistant", "reasoning_content": "Hm.", "thinking_blocks": [{"type": "thinking", "thinking": "Hm."}], "provider_specific_fields": {"reasoningContentBlocks": [{"reasoningText": {"text": "Hm."}}]}}}], "usage": U}), "BerriAI/litellm#40775", JSON, reasoning="Hm."),
    ],
    "shapes of text": [
        Row("references-among-text", COMPATIBLE, frames(chunk({"content": "Hello "}), chunk({"content": [{"type": "reference", "reference_ids": [1]}]}), chunk({"content": [{"type": "reference", "reference_ids": ["a1"]}, {"type": "text", "text": "there."}]}), chunk({}, "stop"), used()), "vercel/ai#4820; mistralai/client-python#325"),
        Row("gemini-signature-with-text", GEMINI, gemini_parts({"thoughtSignature": "CiIBjz0=", "text": "Hello there."}), "justlovemaki/AIClient2API#157"),
        Row("gemini-signature-on-nothing", GEMINI, gemini_parts({"text": "Hello there."}, {"text": "", "thoughtSignature": "CiIBjz0="}), "Arize-ai/openinference#3194"),
        Row("responses-reasoning-text", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.output_item.added", {"output_index": 0, "item": {"type": "reasoning", "id": "r1", "summary": [], "status": "in_progress"}}), ("response.content_part.added", {"item_id": "r1", "output_index": 0, "content_index": 0, "part": {"type": "reasoning_text", "text": ""}}), ("response.reasoning_text.delta", {"item_id": "r1", "output_index": 0, "content_index": 0, "delta": "Hm."}), ("response.reasoning_text.done", {"item_id": "r1", "output_index": 0, "content_index": 0, "text": "Hm."}), ("response.output_text.delta", {"delta": "Hello there.", "output_index": 1, "content_index": 0}), ("response.completed", {"response": RESPONSE})), "vllm-project/vllm#35184", reasoning="Hm."),
    ],
    "tool calls": [
        calling("index-one-alone", "BerriAI/litellm#5025", chunk({"content": "Hello there."}), tool_call("read_file", "", index=1, id="toolu_1"), tool_call(None, ARGS, index=1), *CALL_END, text="Hello there."),
        Row("text-and-call-in-two-choices", COMPATIBLE, json.dumps({"id": "x", "object": "chat.completion", "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Hello there."}}, {"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [{"id": "t", "type": "function", "function": {"name": "read_file", "arguments": ARGS}}]}}], "usage": U}), "HKUDS/nanobot#1555, GitHub Copilot", JSON, calls=CALL, ends="tool_calls"),
        Row("responses-call-done-first", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.output_text.delta", {"delta": "Hello there.", "output_index": 0, "content_index": 0}), ("response.output_item.added", {"output_index": 1, "item": {**_ITEM, "arguments": "", "status": "in_progress"}}), ("response.function_call_arguments.delta", {"output_index": 1, "item_id": "f", "delta": ARGS}), ("response.output_item.done", {"output_index": 1, "item": _ITEM}), ("response.output_item.done", {"output_index": 0, "item": _SPOKEN}), ("response.completed", {"response": {**RESPONSE, "output": [_SPOKEN, _ITEM]}})), "BerriAI/litellm#36356", calls=CALL, ends="tool_calls"),
    ],
    "leaked calls": [
        spelled("function-equals-json", "tashfeenahmed/freellmapi#291", '<function=read_file={"a": 1}', "</function>"),
        calling("tag-in-content-empty-calls", "microsoft/foundry-local#874", *(chunk({"content": one, "tool_calls": []}) for one in ("<tool_call>", "\n", '{"name": "read_file", ', '"arguments": {"a": 1}}', "\n</tool_call>")), chunk({}, "stop")),
        Row("responses-xml-as-text", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.output_text.delta", {"delta": "\n\n" + _XML, "output_index": 1, "content_index": 0}), ("response.completed", {"response": {**RESPONSE, "output": [{**_SPOKEN, "content": [{"type": "output_text", "text": "\n\n" + _XML, "annotations": []}]}]}})), "vllm-project/vllm#36435", text="", calls=CALL, ends="tool_calls"),
    ],
    "errors": [
        broken_off("failed-generation", "bad_request|bad_reply", frames({"error": {"message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": "Tool use failed: no tool can be called with name getCarsList", "status_code": 400}}), "langchain4j/langchain4j#2585, Groq", "Failed to call a function", "no tool can be called with name getCarsList"),
        failing("json-exception", 400, "bad_request", "Invalid request: [json.exception.out_of_range.403] key 'function' not found", "microsoft/foundry-local#1080", "key 'function' not found"),
        broken_off("model-crashed", "server_fault", 'event: error\ndata: {"error":{"message":"The model has crashed without additional information. (Exit code: 18446744072635812000)"}}\n\n', "lmstudio-ai/lmstudio-bug-tracker#1347", "The model has crashed"),
        broken_off("model-unloaded", "unknown_model|server_fault|overloaded", 'event: error\ndata: {"error":"Model is unloaded.","message":"Model is unloaded."}\n\n', "lmstudio-ai/lmstudio-bug-tracker#1492", "Model is unloaded"),
        failing("unexpected-endpoint", 200, "bad_request", {"error": "Unexpected endpoint or method. (POST /chat/completions)"}, "lmstudio-ai/lmstudio-bug-tracker#1680", "Unexpected endpoint or method", "address"),
        failing("blank-block", 400, "bad_request", {"error": {"message": 'litellm.BadRequestError: BedrockException - {"message":"The text field in the ContentBlock object at messages.11.content.0 is blank. Add text to the text field, and try again."}', "type": None, "param": None, "code": "400"}}, "Just-Curieous/Curie#14", "messages.11.content.0 is blank"),
        failing("wrong-api-of-model", 400, "bad_request|unknown_model", {"error": {"message": 'model "gpt-5-codex" is not accessible via the /chat/completions endpoint', "code": "unsupported_api_for_model"}}, "anomalyco/opencode#2758", "is not accessible via the /chat/completions endpoint"),
        failing("error-in-words-in-words", 403, "no_quota", {"type": "error", "message": 'Internal error: {\n  "message": "API error (status 403 Forbidden): permission-denied: ' + _TEAM + '\\n\\nRequest URL: https://x/v1/responses",\n  "http_status": 403\n}'}, "Anantys-oss/koan#2412", "monthly spending limit"),
    ],
    "kinds of failure": [
        broken_off("context-in-a-stream", "context_too_long", frames({"error": {"object": "error", "message": "The input (61709 tokens) is longer than the model's context length (40960 tokens).", "type": "BadRequestError", "param": None, "code": 400}}), "sgl-project/sglang#12081", "40960"),
        failing("context-behind-litellm", 400, "context_too_long", {"error": {"message": "litellm.BadRequestError: AnthropicException - b'{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 179413 + 32768 > 200000, decrease input length or `max_tokens` and try again\"}}'. Received Model Group=anthropic/claude\nAvailable Model Group Fallbacks=None", "type": None, "param": None, "code": "400"}}, "BrokkAi/brokk-app#540", "exceed context limit"),
        failing("configured-limit", 400, "context_too_long", {"error": {"message": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}, "BerriAI/litellm#18927", "272000"),
        failing("prompt-is-but-window-is", 400, "context_too_long", {"error": "Prompt is 11543 tokens but the model context window is 4096 tokens."}, "jaylfc/taOS#1738", "4096 tokens"),
        failing("prompt-tokens-of-a-key", 402, "no_quota", {"error": {"message": "Prompt tokens limit exceeded: 230799 > 91442. To increase, visit https://openrouter.ai/settings/keys and create a key with a higher monthly limit", "code": 402}}, "anomalyco/opencode#12219", "higher monthly limit"),
        failing("team-used-all", 429, "no_quota", {"code": "Some resource has been exhausted", "error": _TEAM}, "continuedev/continue#10373", "monthly spending limit"),
        failing("new-team", 403, "no_quota", {"code": "The caller does not have permission to execute the specified operation", "error": "Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/x."}, "griptape-ai/griptape-nodes-engine#1079", "any credits yet"),
        failing("chat-endpoint-denied", 403, "forbidden", {"code": "permission-denied", "error": "Access to the chat endpoint is denied. Please ensure you're using the correct credentials. If you believe this is a mistake, please log into console.x.ai and update the permissions."}, "decolua/9router#2559", "Access to the chat endpoint is denied"),
        failing("endpoint-not-running", 400, "unknown_model|bad_request", {"id": "o", "error": {"message": "The dedicated endpoint for mistralai/Mixtral is not running. Please visit https://api.together.ai/models to start the endpoint.", "type": "invalid_request_error", "param": None, "code": "dedicated_endpoint_not_running"}}, "HeyPuter/puter#3168, Together", "is not running"),
        failing("gateway-and-own-words", 400, "unknown_model", {"status": "failure", "message": "together-ai error: Unable to access non-serverless model x/y. Please visit https://api.together.ai/models/x/y to create and start a new dedicated endpoint for the model.", "error": {"message": "together-ai error: Unable to access non-serverless model x/y.", "type": "BadRequestError", "param": None, "code": "400"}}, "truefoundry/models#950", "Unable to access non-serverless model"),
        failing("not-enough-balance", 403, "no_quota", {"code": 403, "reason": "NOT_ENOUGH_BALANCE", "message": "not enough balance", "metadata": {}}, "huggingface/hub-docs#2392", "not enough balance"),
        failing("more-memory", 500, "bad_request|unknown_model", {"error": {"message": "model requires more system memory (2.7 GiB) than is available (2.3 GiB)", "type": "api_error", "param": None, "code": None}}, "continuedev/continue#11478, Ollama", "more system memory (2.7 GiB)"),
        failing("exhausted-in-a-list", 429, "rate_limited", [{"error": {"code": 429, "message": "Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.", "status": "RESOURCE_EXHAUSTED"}}], "continuedev/continue#8967, Vertex", "Resource exhausted"),
        failing("out-of-capacity", 429, "overloaded|rate_limited", [{"error": {"code": 429, "message": "Unable to submit request because the service is temporarily out of capacity. Try again later.", "status": "RESOURCE_EXHAUSTED"}}], "googleapis/google-cloud-java#11195", "out of capacity"),
    ],
    "usage": [
        Row("timings-in-each-chunk", COMPATIBLE, frames(*({**chunk({"content": one}), "timings": {"cache_n": 7, "prompt_n": 10, "predicted_n": at, "draft_n": 30}} for at, one in enumerate(("Hello ", "there."), 1)), chunk({}, "stop"), {"id": "c", "choices": [], "usage": {"prompt_tokens": 17, "completion_tokens": 2, "total_tokens": 19}, "timings": {"cache_n": 7, "prompt_n": 10, "predicted_n": 2}}), "openai-php/client#780, llama.cpp", usage={"input_tokens": 17, "cache_read_tokens": 7, "output_tokens": 2, "is_estimate": False}),
    ],
}  # fmt: skip

SECOND_REFUSALS: list[tuple[str, str | None, str]] = [
    ("response_format` does not support streaming", "response_format", "langchain-ai/langchain#23629, Groq"),
    (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 61",
        None,
        "tingly-dev/tingly-box#457, Moonshot",
    ),
    (
        "Missing `reasoning_content` field in the assistant message at message index 112.",
        None,
        "HKUDS/nanobot#946, DeepSeek",
    ),
]


# Round 3.

_STARTED: Json = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "c",
    "content": [],
    "stop_reason": None,
}
_OVERLOADED = '{\n  "error": {\n    "code": 503,\n    "message": "The model is overloaded. Please try again later.",\n    "status": "UNAVAILABLE"\n  }\n}\n'
_AZURE = "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-05-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds."  # fmt: skip


def thinks(text: str, **more: Any) -> Json:
    """A chunk of MiniMax, with its reasoning in two places."""
    return chunk({"role": "assistant", "reasoning_content": text, "reasoning_details": [{"type": "reasoning.text", "id": "reasoning-text-1", "format": "MiniMax-response-v1", "index": 0, "text": text}], **more})  # fmt: skip


def grown(text: str, content: str = "") -> Json:
    """A chunk of MiniMax as its documents have it: all that was thought and said so far."""
    return chunk({"content": content, "reasoning_details": [{"type": "reasoning.text", "id": "reasoning-text-1", "format": "MiniMax-response-v1", "index": 0, "text": text}]})  # fmt: skip


def anthropic(*events: tuple[str, Json]) -> str:
    start = ("message_start", {"message": {**_STARTED, "usage": {"input_tokens": 12, "output_tokens": 1}}})
    return named(start, *events, *message_events()[-2:])


def block_delta(**delta: Any) -> tuple[str, Json]:
    return ("content_block_delta", {"index": 0, "delta": delta})


_TEXT_BLOCK = ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
_BLOCK_END = ("content_block_stop", {"index": 0})

THIRD: dict[str, list[Row]] = {
    "frames": [
        Row("null-delta-at-end", COMPATIBLE, frames(chunk({"content": "Hello there."}), {"id": "c", "choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}, used()), "microsoft/agent-framework#5734"),
        Row("choice-of-nothing", COMPATIBLE, frames(chunk({"content": "Hello "}), {"id": "c", "choices": [{"index": 0, "finish_reason": None}]}, *said("there.")), "NousResearch/hermes-agent#90301"),
        Row("empty-role-and-characters", COMPATIBLE, frames({"choices": [{"index": 0, "delta": {"role": "", "reasoning_content": ""}}], "created": 1771279826, "object": "chat.completion.chunk", "usage": {"total_tokens": 0, "total_characters": 0}, "input_sensitive": False, "output_sensitive": False}, *said("Hello ", "there.")), "MiniMax-AI/MiniMax-M2.5#2", usage={**PAID, "is_estimate": False}),
        Row("keepalive-chunk", COMPATIBLE, frames(*[{"id": "keepalive", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]}] * 2, *said("Hello ", "there.")), "jundot/omlx#1697"),
        Row("message-start-twice", ANTHROPIC, named(message_events()[0], *message_events("Hello ", "there.")), "BerriAI/litellm#32357"),
        Row("delta-without-its-block", ANTHROPIC, anthropic(block_delta(type="text_delta", text="Hello there.")), "ikawrakow/ik_llama.cpp#1524"),
    ],
    "shapes of text": [
        Row("thinking-in-a-text-block", ANTHROPIC, anthropic(_TEXT_BLOCK, block_delta(type="thinking_delta", thinking="Hm."), block_delta(type="text_delta", text="Hello there."), _BLOCK_END), "BerriAI/litellm#33224", reasoning="Hm."),
        Row("reasoning-in-two-places", COMPATIBLE, frames(thinks("The"), thinks(" user"), *said("Hello there.")), "Xiaoyangy/novel-studio#5, MiniMax", reasoning="The user"),
        Row("all-so-far", COMPATIBLE, frames(grown("Hm."), grown("Hm. Yes."), grown("Hm. Yes.", "Hello "), grown("Hm. Yes.", "Hello there."), chunk({}, "stop"), used()), "ZHangZHengEric/Sage#256, MiniMax", reasoning="Hm. Yes."),
        Row("thinking-alone", COMPATIBLE, frames(chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}), chunk({}, "stop"), used()), "mistralai/client-python#628", text="", reasoning="Hm."),
    ],
    "tool calls": [
        Row("name-with-its-namespace", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.output_item.added", {"output_index": 0, "item": {**_ITEM, "name": "collaboration.read_file", "arguments": "", "status": "in_progress"}}), ("response.output_item.done", {"output_index": 0, "item": {**_ITEM, "name": "collaboration.read_file"}}), ("response.completed", {"response": {**RESPONSE, "output": [{**_ITEM, "name": "collaboration.read_file"}]}})), "ollama/ollama#18284", text="", calls=CALL, ends="tool_calls"),
    ],
    "errors": [
        failing("words-of-a-grammar", 500, "bad_request|server_fault", {"type": "error", "error": {"type": "api_error", "message": 'Engine protocol predict request returned 400: {"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar","type":"invalid_request_error"}}'}}, "lmstudio-ai/lmstudio-bug-tracker#2220", "failed to parse grammar", api=ANTHROPIC),
        failing("json-in-a-message", 503, "overloaded", {"error": {"message": _OVERLOADED, "code": 503, "status": "Service Unavailable"}}, "Kilo-Org/kilocode#2262", "The model is overloaded", api=GEMINI, words_not=('"error"',)),
        failing("invalid-name-behind-gateway", 400, "bad_request", {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": '{"detail":"Validation: Function at index 0 has an invalid name: \\"demo.echo\\". Only a-z, A-Z, 0-9, underscores, and dashes are allowed."}', "provider_name": "Nvidia"}}}, "jonigl/mcp-client-for-ollama#313", "Function at index 0 has an invalid name"),
        broken_off("attribute-of-the-server", "server_fault", frames({"error": {"message": "Failed to generate text stream: 'str object' has no attribute 'items'", "type": "server_error", "param": None, "code": "500"}}), "cubist38/mlx-openai-server#189", "Failed to generate text stream"),
        failing("place-in-detail", 422, "bad_request", {"detail": [{"type": "string_type", "loc": ["body", "messages", 0, "content"], "msg": "Input should be a valid string", "input": [{"type": "text", "text": "Hi."}]}]}, "huggingface/smolagents#1518, DeepInfra", "Input should be a valid string", "content"),
        failing("params-2013", 400, "bad_request", {"type": "error", "error": {"type": "invalid_request_error", "message": "invalid params, invalid chat setting (2013)", "http_code": "400"}, "request_id": "r"}, "can1357/oh-my-pi#954, MiniMax", "invalid chat setting (2013)"),
    ],
    "kinds of failure": [
        failing("function-of-no-account", 404, "unknown_model", {"status": 404, "title": "Not Found", "detail": "Function '23d4f03a-b8a6-4adb-a183-7daa083a09cc': Not found for account 'Qawmu2vUw3'"}, "Alishahryar1/free-claude-code#1021, NVIDIA NIM", "Not found for account"),
        failing("degraded-function", 400, "overloaded|server_fault", {"status": 400, "title": "Bad Request", "detail": "Function id '3b9748d8': DEGRADED function cannot be invoked"}, "tashfeenahmed/freellmapi#522, NVIDIA NIM", "DEGRADED function cannot be invoked"),
        failing("key-not-set", 503, "bad_key|no_key", {"detail": "503: NVIDIA_NIM_API_KEY is not set. Add it to your .env file. Get a key at https://build.nvidia.com/settings/api-keys"}, "Alishahryar1/free-claude-code#91", "NVIDIA_NIM_API_KEY is not set"),
        failing("a-day-to-wait", 429, "rate_limited", {"error": {"code": "429", "message": _AZURE}}, "alex-wolf-ps/dbchatprov2#2, Azure", "86400 seconds"),
        failing("python-in-words", 429, "rate_limited", {"error": {"message": "litellm.RateLimitError: AzureException RateLimitError - Error code: 429 - {'error': {'code': '429', 'message': '" + _AZURE + "'}}\nReceived Model Group=azure-gpt-4o-mini\nAvailable Model Group Fallbacks=None", "type": "throttling_error", "param": None, "code": "429"}}, "jasonacox/TinyLLM#17", "exceeded token rate limit"),
        failing("team-blocked-text", 403, "no_quota", "personal-team-blocked:spending-limit: You have run out of credits or need a Grok subscription. Add credits at https://grok.com/?_s=usage or upgrade at https://grok.com/supergrok", "NousResearch/hermes-agent#26847", "run out of credits"),
        failing("busy-in-words", 429, "overloaded|rate_limited", {"status": "failure", "message": 'Invalid response received from deepinfra: {"error":{"message":"Model busy, retry later"}}', "error": {"message": 'Invalid response received from deepinfra: {"error":{"message":"Model busy, retry later"}}', "type": "APIError", "code": "429"}, "error_origin_level": "api_error", "provider": "deepinfra"}, "truefoundry/models#862", "Model busy, retry later"),
        failing("no-tool-calling", 405, "no_tools", {"status": "failure", "message": "deepinfra error: Tool calling is not supported for model: NousResearch/Hermes-3", "error": {"message": "deepinfra error: Tool calling is not supported for model: NousResearch/Hermes-3", "type": "APIError", "code": "405"}}, "truefoundry/models#944", "Tool calling is not supported"),
        failing("overloaded-as-500", 500, "overloaded", {"error": {"message": "litellm.InternalServerError: litellm.InternalServerError: geminiException - " + _OVERLOADED + ". Received Model Group=g\nAvailable Model Group Fallbacks=None", "type": None, "param": None, "code": "500"}}, "BerriAI/litellm#18118", "The model is overloaded"),
        failing("balance-as-bad-request", 402, "no_quota", {"error": {"message": "Insufficient Balance", "type": "unknown_error", "param": None, "code": "invalid_request_error"}}, "continuedev/continue#9853, DeepSeek", "Insufficient Balance"),
        failing("can-only-afford", 402, "no_quota", {"error": {"message": "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 10114. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account", "code": 402, "metadata": {"provider_name": None}}, "user_id": "user_"}, "babikov/doka-site#7, OpenRouter", "can only afford 10114"),
        failing("rate-1302", 429, "rate_limited", {"error": {"code": "1302", "message": "Rate limit reached for requests"}}, "experientiallabs/experiential#958, Z.ai", "Rate limit reached"),
    ],
    "usage": [
        Row("zeros-at-the-start", ANTHROPIC, named(("message_start", {"message": {**_STARTED, "usage": {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}}), *message_events("Hello there.")[1:-2], ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 46, "output_tokens": 5}}), ("message_stop", {})), "BerriAI/litellm#24176", usage={"input_tokens": 46, "output_tokens": 5, "is_estimate": False}),
        counted("written-for-an-hour", "BerriAI/litellm#31724", {"id": "c", "choices": [], "usage": {"prompt_tokens": 4818, "completion_tokens": 47, "total_tokens": 4865, "prompt_tokens_details": {"cached_tokens": 0, "text_tokens": 15, "cache_creation_tokens": 4803, "cache_creation_token_details": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 4803}}, "cache_creation_input_tokens": 4803, "cache_read_input_tokens": 0}}, input_tokens=4818, output_tokens=47, cache_write_tokens=4803, cache_write_1h_tokens=4803, is_estimate=False),
    ],
    "endings": [
        Row("window-word", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "model_context_window_exceeded"), used()), "mozilla-ai/any-llm#1200, Z.ai", ends="truncated"),
        Row("gemini-malformed-alone", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: read_file(", "index": 0}], "usageMetadata": {"promptTokenCount": 12, "totalTokenCount": 12}},)), "mastra-ai/mastra#20302", text="", ends="broken"),
    ],
}  # fmt: skip

THIRD_REFUSALS: list[tuple[str, str | None, str]] = [
    ("'messages.0' : for 'role:user' the following must be satisfied[('messages.0' : property 'timestamp' is unsupported)]", None, "ServiceStack/llms#17, Groq"),
    ("'messages.0' : for 'role:system' the following must be satisfied[('messages.0.content' : value must be a string)]", None, "plandex-ai/plandex#256, Groq"),
]  # fmt: skip
THIRD_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("max_context_window", {"data": [{"id": "m1", "object": "model", "max_context_window": 8192}]}, {"m1": 8192}, "lemonade-sdk/lemonade#1794"),
    ("limit-object", {"data": [{"id": "m1", "limit": {"context": 991000, "output": 64000}}]}, {"m1": 991000}, "ThinkInAIXYZ/deepchat#2041, models.dev"),
    ("input-and-output", {"data": [{"id": "m1", "type": "model", "max_input_tokens": 128000, "max_tokens": 16384}]}, {"m1": 128000}, "ericc-ch/copilot-api#257"),
    ("of-javascript", {"data": [{"id": "m1", "maxInputTokens": 616000, "maxOutputTokens": 384000}]}, {"m1": 616000}, "microsoft/vscode#320353"),
]  # fmt: skip


# Round 4: 25 of 31 were right at once.

# fmt: off
_B='{"code":50508,"message":"System is too busy now. Please try again later.","data":null}'
FOURTH: dict[str, list[Row]] = {
 "frames":[Row("ndjson-text",COMPATIBLE,"".join(json.dumps(o)+"\n" for o in said("Hello ","there.")),"Amm1rr/WebAI-to-API#11",TEXT),
   Row("completion-objects",COMPATIBLE,frames({"id":"a","model":"sonar","created":1,"usage":{"prompt_tokens":300,"completion_tokens":1,"total_tokens":301},"citations":["https://x"],"object":"chat.completion","choices":[{"index":0,"finish_reason":None,"message":{"role":"assistant","content":"Hello "},"delta":{"role":"assistant","content":"Hello "}}]},{"id":"a","model":"sonar","created":1,"usage":U,"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello there."},"delta":{"role":"assistant","content":"there."}}]}),"perplexityai/api-discussion#193",usage=PAID)],
 "tool calls":[calling("empty-name-behind","0xPlaygrounds/rig#423",tool_call("read_file","",id="t"),tool_call("",'{"a"'),tool_call("",':1}'),chunk({},"tool_calls"),used())],
 "leaked calls":[spelled("id-in-call","ollama/ollama#5915","<tool_call>","\n",'{"id": 0, "name": "read_file", "arguments": {"a": 1}}',"\n</tool_call>")],
 "errors":[broken_off("factory-envelope","overloaded",frames({"code":"ModelFactory.ModelController.Model.Error","description":_B,"detail":_B,"solution":"请检查配置信息","link":""}),"openbkn-ai/bkn-foundry#620","System is too busy now"),
   failing("unknown-name",400,"bad_request",[{"error":{"code":400,"message":'Invalid JSON payload received. Unknown name "reasoning": Cannot find field.',"status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"description":"Invalid JSON payload received."}]}]}}],"SuzumiyaAkizuki#3",'Unknown name "reasoning"'),
   failing("messages-required",400,"bad_request",{"error":{"code":None,"message":"messages is required and must be a non-empty array","param":"messages","type":"invalid_request_error"}},"tenstorrent#2771","non-empty array"),
   failing("oauth-words",401,"bad_key",{"error":"invalid_grant","error_description":"Token has expired"},"brightwave-inc/tidebreak#1892","Token has expired"),
   failing("empty-400",400,"bad_request","","cline/cline#396")],
 "kinds of failure":[failing("tools-with-effort",400,"bad_request",{"error":{"message":"The following tools cannot be used with reasoning.effort 'minimal': file_search.","type":"invalid_request_error","param":"tools","code":None}},"dimagi/open-chat-studio#2583","cannot be used with reasoning.effort"),
   failing("bridge-500",500,"server_fault|bad_request",{"error":{"message":"litellm.APIConnectionError: APIConnectionError: OpenAIException - gpt-5.6-sol unable to complete request: max_output_tokens","type":None,"param":None,"code":"500"}},"BerriAI/litellm#37710","unable to complete request: max_output_tokens")],
 "endings":[Row("window-short",COMPATIBLE,frames(chunk({"content":"Hello there."}),chunk({},"context_window_exceeded"),used()),"envoyproxy/ai-gateway#2121",ends="truncated"),
   Row("pause",COMPATIBLE,frames(chunk({"content":"Hello there."}),chunk({},"pause_turn"),used()),"envoyproxy/ai-gateway#2121",ends="truncated"),
   Row("refusal-stop",COMPATIBLE,frames(chunk({"refusal":"I cannot."}),chunk({},"stop"),used()),"envoyproxy/ai-gateway#2121",text="I cannot.",ends="refused"),
   Row("incomplete-empty",RESPONSES,named(("response.created",{"response":{**RESPONSE,"status":"in_progress","output":[],"usage":None}}),("response.incomplete",{"response":{**RESPONSE,"status":"incomplete","output":[],"incomplete_details":{"reason":"max_output_tokens"}}})),"BerriAI/litellm#37710",text="",ends="truncated")],
}
FOURTH["kinds of failure"] += [failing("empty-429",429,"rate_limited","","missuo/koe#117"),failing("no-key-given",401,"bad_key",{"error":{"message":"You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.","type":"invalid_request_error","param":None,"code":None}},"paulmacnicol#1","didn't provide an API key"),failing("that-model",404,"unknown_model",{"error":{"message":"That model does not exist","type":"invalid_request_error","param":None,"code":None}},"node-chatgpt-api#49","does not exist"),failing("status-false",429,"rate_limited",{"status":False,"error":"You are rate-limited Rate-limited or API key is invalid"},"node-chatgpt-api#49","rate-limited"),failing("quota-text",429,"no_quota","You exceeded your current quota, please check your plan and billing details.","cline#2705","current quota")]
FOURTH["leaked calls"] += [spelled("gemma4-stripped","Gitlawb/openclaude#380","call:write_file{content:hello,path:a.txt}",calls=(("write_file",'{"content":"hello","path":"a.txt"}'),)),spelled("gemma4-tokens","QwenLM/qwen-code#7177","<|tool_call>call:read_file{a:1}<tool_call|>"),spelled("function-gemma","DenisovAV/flutter_gemma#238","<start_function_call>read_file{}</end_function_call>",calls=(("read_file","{}"),))]
FOURTH["leaked calls"] += [Row("closing-left",COMPATIBLE,frames(chunk({"content":"Hello there.\n</tool_call>"}),tool_call("read_file",ARGS,id="t"),chunk({},"tool_calls"),used()),"ggml-org/llama.cpp#22814",calls=CALL,ends="tool_calls")]
FOURTH_REFUSALS: list[tuple[str, str | None, str]] = [("Unrecognized request argument supplied: provider",None,"johnbean393/Sidekick#76"),('Invalid JSON payload received. Unknown name "reasoning_effort": Cannot find field.',"reasoning_effort","Gemini compatible")]
FOURTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [("contextSize",{"data":[{"id":"m1","contextSize":4096}]},{"m1":4096},"devchat#302"),("n_positions",{"data":[{"id":"m1","n_positions":32768}]},{"m1":32768},"mlx-lm#1184"),("seq_length",{"data":[{"id":"m1","seq_length":32768}]},{"m1":32768},"mlx-lm#1184"),("profiles",{"data":[{"id":"m1","object":"model","created":1787209944,"name":"M","model_id":"m1","profile_id":"default:m1","is_default_profile":True}]},{"m1":None},"alekk89#16"),("no-window",{"data":[{"id":"google/m1","object":"model","owned_by":"organization_owner"}]},{"google/m1":None},"lmstudio#2139")]
# fmt: on


# Round 5: 67 of 72 were right at once.

# fmt: off
_INDEXLESS = {"type": "function", "function": {"name": "read_file", "arguments": '{"a"'}, "id": "function-call-1", "extra_content": {"google": {"thought_signature": "Ci"}}}


def gemini(*events: Json) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in events)


FIFTH: dict[str, list[Row]] = {
    "frames": [
        Row("no-stop-word", COMPATIBLE, frames(chunk({"role": "assistant"}), chunk({"content": "Hello there."}), chunk({}, None), used()), "waybarrios/vllm-mlx#628"),
        Row("stop-with-each-thought", COMPATIBLE, frames(chunk({"reasoning_content": "Hm."}, "stop"), chunk({"content": "Hello "}, "stop"), chunk({"content": "there."}, "stop"), used()), "su-kaka/gcli2api#403", reasoning="Hm."),
        Row("stop-before-the-text", GEMINI, gemini(candidate("", "STOP"), candidate("", "STOP"), candidate("Hello there."), candidate("", "STOP", usageMetadata=GEMINI_USAGE)), "Chevey339/kelivo#1003"),
        Row("usage-grows-no-finish", COMPATIBLE, frames(*({"created": 1732022963, "id": "d", "model": "t", "version": "202409241030", "choices": [{"index": 0, "delta": {"role": "assistant", "content": one}}], "search_info": {"mindmap": {}}, "processes": {}, "usage": {"prompt_tokens": 300, "completion_tokens": at, "total_tokens": 300 + at}} for at, one in ((10, "Hello "), (20, "there.")))), "alfredapp/openai-workflow#52", usage=PAID),
        Row("role-and-content-null", COMPATIBLE, frames(*[chunk({"role": None, "content": None, "reasoning_content": one}) for one in ("H", "m.")], chunk({"role": None, "content": "Hello there."}), chunk({}, "stop"), used()), "sgl-project/sglang#18335", reasoning="Hm."),
        Row("spaces-behind-data", ANTHROPIC, named(*message_events("Hello there.")).replace("}\n\n", "}          \n\n"), "looplj/axonhub#1105"),
        Row("completed-without-output", RESPONSES, named(("response.created", {"response": RESPONSE_BEGUN}), ("response.output_text.delta", {"delta": "Hello there.", "output_index": 0, "content_index": 0}), ("response.completed", {"response": {"id": "r", "object": "response", "created_at": 1, "status": "completed", "background": False, "error": None}})), "decolua/9router#705"),
        Row("done-without-delta", RESPONSES, named(("response.created", {"response": RESPONSE_BEGUN}), ("response.output_text.done", {"text": "Hello there.", "output_index": 0, "content_index": 0}), ("response.completed", {"response": RESPONSE})), "Sophomoresty/gemini-web2api#57"),
        Row("empty-output-at-end", RESPONSES, named(("response.created", {"response": RESPONSE_BEGUN}), ("response.output_text.delta", {"delta": "Hello there.", "output_index": 0, "content_index": 0}), ("response.completed", {"response": {**RESPONSE, "output": []}})), "QuantumNous/new-api#4362", usage={"input_tokens": 12, "output_tokens": 5}),
    ],
    "whole replies": [
        Row("ollama-as-text", COMPATIBLE, json.dumps({"model": "llama3.1:8b", "created_at": "2025-12-21T02:40:35.549464Z", "message": {"role": "assistant", "content": "Hello there."}, "done": True, "done_reason": "stop"}), "ITSpecialist111/ai_automation_suggester#149", TEXT),
        Row("one-chunk-for-all", COMPATIBLE, frames(chunk({"role": "assistant", "content": "Hello there."}, "stop")), "LostRuins/koboldcpp#2480"),
        Row("completed-alone", RESPONSES, named(("response.created", {"response": RESPONSE_BEGUN}), ("response.in_progress", {"response": RESPONSE_BEGUN}), ("response.completed", {"response": {"id": "r", "status": "completed", "model": "m", "usage": RESPONSE["usage"]}})), "raullenchai/Rapid-MLX#851", text="", usage={"input_tokens": 12, "output_tokens": 5}),
    ],
    "shapes of text": [
        Row("thinking-without-signature", ANTHROPIC, anthropic(("content_block_start", {"index": 0, "content_block": {"type": "thinking", "thinking": ""}}), block_delta(type="thinking_delta", thinking="Hm."), block_delta(type="signature_delta", signature="s"), _BLOCK_END, ("content_block_start", {"index": 1, "content_block": {"type": "text", "text": ""}}), ("content_block_delta", {"index": 1, "delta": {"type": "text_delta", "text": "Hello there."}}), ("content_block_stop", {"index": 1})), "anthropics/anthropic-sdk-csharp#181, MiniMax", reasoning="Hm."),
        Row("signature-alone", ANTHROPIC, anthropic(("content_block_start", {"index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}), block_delta(type="signature_delta", signature="AAAA"), _BLOCK_END, ("content_block_start", {"index": 1, "content_block": {"type": "text", "text": "Hello "}}), ("content_block_delta", {"index": 1, "delta": {"type": "text_delta", "text": "there."}}), ("content_block_stop", {"index": 1})), "anomalyco/opencode#38733"),
    ],
    "tool calls": [
        calling("arguments-twice", "vllm-project/vllm#51697", tool_call("read_file", "", id="t"), tool_call(None, ARGS), tool_call(None, ARGS), *CALL_END),
        calling("begin-and-whole", "vllm-project/vllm#51697", tool_call("read_file", "{", id="t"), tool_call(None, ARGS), *CALL_END),
        calling("no-index-and-a-signature", "open-webui/computer#224, Gemini", chunk({"tool_calls": [_INDEXLESS]}), chunk({"tool_calls": [{"function": {"arguments": ":1}"}}]}), chunk({"extra_content": {"google": {"thought_signature": "Cj"}}}), chunk({}, "stop"), used()),
        calling("empty-type-behind", "liquidos-ai/AutoAgents#99, Volcengine", chunk({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "read_file"}}]}), chunk({"tool_calls": [{"index": 0, "type": "", "function": {"arguments": ARGS}}]}), *CALL_END),
        Row("input-in-the-start", ANTHROPIC, anthropic(("content_block_start", {"index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "read_file", "input": {"a": 1}}}), _BLOCK_END).replace('"end_turn"', '"tool_use"'), "anomalyco/opencode#38733", text="", calls=CALL, ends="tool_calls"),
    ],
    "leaked calls": [
        spelled("opened-and-not-closed", "ggml-org/llama.cpp#12153", '<tool_call>\n{"name": "read_file", "arguments": {"a": 1}}\n', '<tool_call>\n{"name": "read_file", "arguments": {"a": 2}}\n</tool_call>', calls=TWO),
        spelled("python-in-markers", "lmstudio-ai/lmstudio-bug-tracker#1979", "<|tool_call_start|>[read_file(a=1)]<|tool_call_end|>"),
        spelled("tool-and-args", "lmstudio-ai/lmstudio-bug-tracker#1177", '[TOOL_CALL] { "tool": "read_file", "args": { "a": 1 } } [/TOOL_CALL]'),
        spelled("python-tag-call", "meta-llama/llama-models#266", "<|python_tag|>read_file(a=1)"),
        spelled("never-closed", "jundot/omlx#2420", "I read it.\n", '<tool_call>\n{"name": "read_file", "arguments": {"a": 1}}', text="I read it."),
        spelled("invoke-with-param", "Luce-Org/lucebox#649", '<function_calls>\n<invoke name="read_file">\n<param name="a">1</param>\n</invoke>\n</function_calls>'),
        spelled("function-json", "Luce-Org/lucebox#649", '<function>{"name": "read_file", "arguments": {"a": 1}}</function>'),
        spelled("mistral-without-end", "ml-explore/mlx-lm#1373", '[TOOL_CALLS]read_file[ARGS]{"a": 1}'),
    ],
    "errors": [
        broken_off("under-its-own-key", "server_fault|bad_reply|bad_request", json.dumps({"error parsing tool call": "invalid character 'c' looking for beginning of value"}) + "\n", "ollama/ollama#11704", "looking for beginning of value", content_type=JSON),
        failing("messages-illegal", 400, "bad_request", {"error": {"code": "1214", "message": "The messages parameter is illegal. Please check the documentation."}}, "anomalyco/opencode#2557, Z.ai", "messages parameter is illegal"),
        failing("error_code-and-message", 400, "bad_request", {"error_code": "BAD_REQUEST", "message": 'Bad request: "parameters" is a required property for "function" object in parameter "tools"\n'}, "posit-dev/querychat#273, Databricks", "is a required property"),
        failing("thinking-passed-back", 400, "bad_request", {"error": {"message": "The `content[].thinking` in the thinking mode must be passed back to the API.", "type": "invalid_request_error", "param": None, "code": "invalid_request_error"}}, "decolua/9router#2397, DeepSeek", "must be passed back", api=ANTHROPIC),
        failing("quoted-three-times", 400, "bad_request", {"error": {"message": 'Error from provider(modelscope,Qwen3: 400): {"error":{"code":"invalid_parameter_error","message":"enable thinking can not be support when `stream=False`.","type":"invalid_request_error"},"request_id":"2"}Error: Error from provider(modelscope,Qwen3: 400): {"error":{}}\n    at nt (/usr/local/lib/cli.js:79940:11)', "type": "api_error", "code": "provider_response_error"}}, "musistudio/claude-code-router#948", "enable thinking can not be support"),
        failing("empty-422", 422, "bad_request", "", "lobehub/lobehub#12845, SambaNova"),
    ],
    "kinds of failure": [
        failing("free-models-per-min", 429, "rate_limited", {"error": {"message": "Rate limit exceeded: free-models-per-min. ", "code": 429, "metadata": {"headers": {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1748542800000"}, "provider_name": None}}, "user_id": "user_2"}, "comet-ml/opik#2323", "free-models-per-min"),
        failing("tokens-per-minute", 429, "rate_limited", {"message": "Tokens per minute limit exceeded - too many tokens processed.", "type": "too_many_tokens_error", "param": "quota", "code": "token_quota_exceeded"}, "continuedev/continue#9800, Cerebras", "Tokens per minute limit exceeded"),
        failing("not-available-on-cloud", 410, "unknown_model", "The requested model (DeepSeek-R1-Distill-Llama-70B) is not available on SambaNova Cloud. For more information, please visit https://docs.sambanova.ai/cloud/docs/resources/deprecations.", "mozilla-ai/any-llm#976", "is not available on SambaNova"),
        failing("output-cannot-exceed", 400, "bad_request", {"error_code": "BAD_REQUEST", "message": "Bad request: rpc error: code = InvalidArgument desc = max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated."}, "databricks/databricks-sdk-go#1183", "cannot exceed 8192"),
        failing("model-or-endpoint", 404, "unknown_model", {"code": "InvalidEndpointOrModel.NotFound", "message": "The model or endpoint doubao-1.5-pro-32k does not exist or you do not have access to it. Request id: 021741", "param": "", "type": "NotFound", "request_id": "2025"}, "cloudwego/eino#107", "does not exist or you do not have access"),
        failing("inference-limit", 429, "no_quota", {"error": {"code": "SetLimitExceeded", "message": "Your account [2100] has reached the set inference limit for the [doubao-seed-1-6-flash] model, and the model service has been paused. To continue using this model, please visit the Model Activation page to adjust or close the \"Safe Experience Mode\".", "param": "", "type": "TooManyRequests"}}, "volcengine/MineContext#328", "set inference limit"),
        failing("ak-sk", 401, "bad_key", {"error": {"code": "AuthenticationError", "message": "The API key or AK/SK in the request is missing or invalid. requestId: 0217", "param": "", "type": "Unauthorized"}}, "cline/cline#1426", "missing or invalid"),
        failing("targeted-an-endpoint", 404, "bad_request|unknown_model", {"error": {"code": "InvalidEndpoint.NotFound", "message": "The request targeted an endpoint that does not exist or is invalid. Request id: 0217", "param": "", "type": "NotFound"}}, "nicepkg/aide#80", "targeted an endpoint"),
        failing("detail-was-not-found", 400, "unknown_model", {"detail": "Model 'doesnotexist:1gogol' was not found"}, "open-webui/open-webui#11906", "was not found"),
        failing("token-limit-requested", 400, "context_too_long", {"error": {"message": "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)", "type": "invalid_request_error"}}, "MoonshotAI/kimi-cli#2011", "262144"),
        failing("max-length-exceeded", 400, "context_too_long", {"error": {"message": "model max length exceeded, max length:8192", "type": "invalid_request_error"}}, "MoonshotAI/MoonshotAI-Cookbook#18", "max length:8192"),
        failing("count-exceeds", 400, "context_too_long", [{"error": {"code": 400, "message": "The input token count (5911388) exceeds the maximum number of tokens allowed (1048576).", "errors": [{"message": "The input token count (5911388) exceeds the maximum number of tokens allowed (1048576).", "domain": "global", "reason": "badRequest"}], "status": "INVALID_ARGUMENT"}}], "google-gemini/gemini-cli#9775", "1048576", api=GEMINI),
        failing("credit-card-on-file", 403, "no_quota|forbidden", {"error": {"message": "AI Gateway requires a valid credit card on file to service requests.", "type": "customer_verification_required"}}, "arlanrakh/talk-to-girlfriend-ai#6, Vercel", "credit card on file"),
        failing("top-up-your-balance", 402, "no_quota", {"error": {"message": "Insufficient credits — top up your balance at https://gitlawb.com/opengateway/credits", "type": "insufficient_quota", "code": "insufficient_credits"}}, "Gitlawb/openclaude#1489", "top up your balance"),
        failing("recharge-in-param", 429, "no_quota", {"error": {"message": "Insufficient balance or no resource package. Please recharge.", "type": "AI_APICallError", "param": {"error": "Insufficient balance or no resource package. Please recharge.", "statusCode": 429, "name": "AI_APICallError", "isRetryable": True, "type": "AI_APICallError"}}}, "vercel/ai#9290", "Please recharge"),
        failing("free-credits-restricted", 429, "no_quota|forbidden", {"error": {"message": "Free credits temporarily have restricted access due to abuse. We are working on a resolution. Paid credits continue to have unrestricted access. Read more on how to purchase credits at https://vercel.com/docs/ai-gateway/pricing", "type": "rate_limit_exceeded"}}, "Aider-AI/aider#4495", "restricted access"),
        failing("no-deployments-in-seconds", 429, "rate_limited|overloaded", {"error": {"message": "No deployments available for selected model, Try again in 60 seconds. Passed model=claude-3-haiku-20240307. Try again in 60 seconds.", "type": "None", "param": "None", "code": "429"}}, "BerriAI/litellm#5177", "Try again in 60 seconds"),
        failing("budget-of-a-key", 400, "no_quota", {"error": {"message": "Budget has been exceeded! Current cost: 26.075, Max budget: 0.25", "type": "budget_exceeded", "param": None, "code": "400"}}, "BerriAI/litellm#22726", "Max budget: 0.25"),
        failing("crossed-budget", 429, "no_quota", {"error": {"message": "No deployments available - crossed budget: Exceeded budget for deployment model_name: xxx, litellm_params.model: xxx, model_id: xxx: 0.36300000000000004 >= 1d", "type": "None", "param": "None", "code": "429"}}, "BerriAI/litellm#14144", "Exceeded budget"),
        failing("account-deactivated", 401, "forbidden|bad_key", {"error": {"message": "Your OpenAI account has been deactivated, please check your email for more information. If you feel this is an error, contact us through our help center at help.openai.com.", "type": "invalid_request_error", "param": None, "code": "account_deactivated"}}, "songquanpeng/one-api#271", "has been deactivated"),
        failing("organization-restricted", 400, "forbidden", {"error": {"message": "Organization has been restricted. Please reach out to support if you believe this was in error.", "type": "invalid_request_error", "code": "organization_restricted"}}, "songquanpeng/one-api#271, Groq", "has been restricted"),
        failing("key-is-disabled", 401, "bad_key", {"detail": "API key is disabled"}, "xorbitsai/inference#4963", "is disabled"),
    ],
    "usage": [
        counted("cache-beside-of-anthropic", "unslothai/unsloth#5670", {"id": "c", "choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": 862, "total_tokens": 870, "prompt_tokens_details": {"cached_tokens": 18901}, "cache_creation_input_tokens": 1367, "cache_read_input_tokens": 18901}}, input_tokens=20276, cache_read_tokens=18901, cache_write_tokens=1367, output_tokens=862),
        Row("whole-prompt-first", ANTHROPIC, named(("message_start", {"message": {**_STARTED, "usage": {"input_tokens": 8834, "output_tokens": 0}}}), *message_events("Hello there.")[1:-2], ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 18, "output_tokens": 426, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 8831, "cache_creation": {"ephemeral_5m_input_tokens": 0}}}), ("message_stop", {})), "maximhq/bifrost#5355, Qwen", usage={"input_tokens": 8849, "cache_read_tokens": 8831, "output_tokens": 426}),
        Row("zeros-first", ANTHROPIC, named(("message_start", {"message": {**_STARTED, "usage": {"input_tokens": 0, "output_tokens": 0}}}), *message_events("Hello there.")[1:-2], ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 14, "output_tokens": 9, "cache_read_input_tokens": 0}}), ("message_stop", {})), "zai-org/GLM-5#139", usage={"input_tokens": 14, "output_tokens": 9, "is_estimate": False}),
    ],
    "endings": [
        Row("nothing-but-stop", COMPATIBLE, frames(chunk({"role": "assistant"}), chunk({}, "stop"), used()), "raullenchai/Rapid-MLX#425", text="", usage=PAID),
        Row("refusal-of-nothing", ANTHROPIC, named(*message_events(stop="refusal")), "BerriAI/litellm#40864", text="", ends="refused"),
        Row("no-image", GEMINI, gemini({"candidates": [{"finishReason": "NO_IMAGE", "index": 0}], "usageMetadata": {"promptTokenCount": 12, "totalTokenCount": 12}}), "BerriAI/litellm#40864", text="", ends="broken"),
        Row("empty-content-malformed", GEMINI, gemini({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}), "inngest/agent-kit#178", text="", ends="broken"),
    ],
}

FIFTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported", "reasoning_content", "Alishahryar1/free-claude-code#1136, Cerebras"),
    ("The reasoning_content in the thinking mode must be passed back to the API.", None, "JohnnyZ93/oai-compatible-copilot#202, DeepSeek: it wants the field"),
    ("Bad request: rpc error: code = InvalidArgument desc = max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated.", None, "databricks/databricks-sdk-go#1183"),
    ("Unknown parameter: 'reasoning'.", None, "browser-use/jev-ultrafast#37: it is not sent"),
    ('Bad request: json: unknown field "parallel_tool_calls"', "parallel_tool_calls", "databricks/databricks-sdk-py#1263"),
]
FIFTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("volcengine", {"data": [{"created": 1714982195, "domain": "", "features": {}, "id": "m1", "name": "doubao-lite-128k", "object": "model", "status": "Shutdown", "version": "240428"}]}, {"m1": None}, "can1357/oh-my-pi#4201"),
    ("inputTokenLimit", {"data": [{"id": "m1", "inputTokenLimit": 8192, "outputTokenLimit": 400}]}, {"m1": 8192}, "tidyverse/ellmer#1089"),
    ("context", {"data": [{"id": "m1", "context": 128000}]}, {"m1": 128000}, "HeyPuter/puter#2653"),
    ("off-spec", {"data": [{"id": "m1", "max_model_len": 8192.0}, {"id": "m2", "max_model_len": "8192"}, {"id": "m3", "max_model_len": "?"}]}, {"m1": 8192, "m2": 8192, "m3": None}, "osaurus-ai/osaurus#2304"),
    ("null-and-another", {"data": [{"id": "auto", "context_window": None, "context_length": 131072}]}, {"auto": 131072}, "tashfeenahmed/freellmapi#309"),
]
# fmt: on


# Round 6: 57 of 62 were right at once.

# fmt: off
_PPLX = {"id": "8c15", "model": "sonar", "created": 1741689451, "citations": ["https://x"], "object": "chat.completion"}
_ZEROS = {"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
_NULLS: Json = {"name": None, "tool_call_id": None, "function_call": None, "tool_calls": []}
_CLIENT = "Client specified an invalid argument"
_NOT_DEPLOYED = "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."


def full_foundry(text: str, finish: str | None = None) -> Json:
    said_ = {"role": "assistant", "content": text, **_NULLS}
    return {"model": "q", "choices": [{"delta": said_, "message": said_, "index": 0, "finish_reason": finish, "finish_details": None, "logprobs": None}], "usage": None, "created": 1, "CreatedAt": "2025-10-06T13:15:14+00:00", "id": "chat.id.1", "StreamEvent": None, "IsDelta": False, "Successful": True, "error": None, "HttpStatusCode": 0, "HeaderValues": None, "object": "chat.completion.chunk"}


SIXTH: dict[str, list[Row]] = {
    "frames": [
        Row("completion-without-done", COMPATIBLE, frames({**_PPLX, "usage": {**U, "completion_tokens": 1, "total_tokens": 301}, "choices": [{"index": 0, "finish_reason": None, "message": {"role": "assistant", "content": "Hello "}, "delta": {"role": "assistant", "content": "Hello "}}]}, {**_PPLX, "usage": U, "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello there."}, "delta": {"role": "assistant", "content": "there."}}]}, done=False), "perplexityai/api-discussion#209", usage=PAID),
        Row("zeros-in-each", COMPATIBLE, frames(*({"created": 1, "object": "chat.completion.chunk", "id": "5", "model": "gpt", "choices": [{"index": 0, "delta": one}], **_ZEROS} for one in ({"role": "assistant", "content": ""}, {"content": "Hello "}, {"content": "there."})), {**chunk({}, "stop"), **_ZEROS}), "mudler/LocalAI#1744"),
        Row("all-fields-null", COMPATIBLE, frames(full_foundry("Hello "), full_foundry("there."), full_foundry("", "stop")), "microsoft/foundry-local#273"),
        Row("usage-behind-the-stop", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({"content": None}, "stop"), {**chunk({"content": None}, None), "usage": U}), "BerriAI/litellm#10667", usage=PAID),
    ],
    "whole replies": [
        Row("text-completion-with-message", COMPATIBLE, json.dumps({"choices": [{"finish_reason": "stop", "index": 0, "message": {"content": "Hello there.", "role": "assistant"}, "references": []}], "created": 1724486348, "id": "foobarbaz", "model": "Hermes", "object": "text_completion", "usage": U}), "nomic-ai/gpt4all#2908", JSON, usage=PAID),
    ],
    "tool calls": [
        calling("empty-finish-words", "sigoden/aichat#580, LocalAI", chunk({"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": "f", "type": "function", "function": {"name": "read_file", "arguments": ""}}]}, ""), *({**chunk({"role": "assistant", "content": "", "tool_calls": [{"index": 0, "id": "f", "type": "function", "function": {"arguments": one}}]}, ""), **_ZEROS} for one in ('{"a"', ":1}")), chunk({}, "tool_calls")),
        calling("name-in-each-piece", "ggml-org/llama.cpp#12379", *(tool_call("read_file", one, id="t") for one in ("{", '"a"', ":1}")), *CALL_END),
        calling("end_turn-behind-a-call", "BerriAI/litellm#12481", tool_call("read_file", ARGS, id="t"), chunk({}, "end_turn"), used()),
    ],
    "leaked calls": [
        spelled("gemma4-parentheses", "NousResearch/hermes-agent#7449", '<|tool_call>call:write_file(content: "hello", path: \'a.txt\')<tool_call|>', calls=(("write_file", '{"content":"hello","path":"a.txt"}'),)),
        spelled("gemma4-name-twice", "DenisovAV/flutter_gemma#228", "<|tool_call>call:read_file:read_file{a: 1}<tool_call|>"),
        spelled("name-and-arguments-elements", "Sophomoresty/gemini-web2api#42", '<function_call>\n<name>read_file</name>\n<arguments>{"a": 1}</arguments>\n</function_call>'),
        spelled("fence-of-a-call", "Sophomoresty/gemini-web2api#42", '```tool_call\n{"name": "read_file", "arguments": {"a": 1}}\n```'),
        spelled("function-gemma-escapes", "vllm-project/vllm#31218", "<start_function_call>call:write_file{content:<escape>hello, you<escape>,path:<escape>a.txt<escape>}<end_function_call>", calls=(("write_file", '{"content":"hello, you","path":"a.txt"}'),)),
        spelled("tool-code-json", "DenisovAV/flutter_gemma#228", '<tool_code>{"name": "read_file", "parameters": {"a": 1}}</tool_code>'),
        spelled("gemma4-behind-a-thought", "Gitlawb/openclaude#380", "I read it.\ncall:write_file{content:hello,path:a.txt}", calls=(("write_file", '{"content":"hello","path":"a.txt"}'),), text="I read it."),
    ],
    "errors": [
        broken_off("internal-error-in-stream", "server_fault", frames({"error": {"message": "An internal server error has occurred.", "type": "internal_server_error", "code": 500}}), "perplexityai/api-discussion#148", "internal server error has occurred"),
        failing("element-per-message", 400, "bad_request", {"code": _CLIENT, "error": "The model expects a single `text` element per message."}, "nocmt/LLMSearchPlus#2, xAI", "expects a single `text` element"),
        failing("expected-last-role", 400, "bad_request", {"object": "error", "message": "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant", "type": "invalid_request_error", "param": None, "code": None}, "NEKOparapa/AiNiee#641, Mistral", "Expected last role"),
        failing("order-behind-openrouter", 400, "bad_request", {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": '{"object":"error","message":"Unexpected role \'tool\' after role \'user\'","type":"invalid_request_message_order","param":null,"code":"3230"}', "provider_name": "Mistral"}}, "user_id": "user_2"}, "charmbracelet/crush#683", "Unexpected role 'tool' after role 'user'"),
        failing("last-message-role", 500, "bad_request|server_fault", {"type": "urn:inference-service:problem-details:internal-server-error", "title": "Internal Server Error", "status": 500, "detail": "Last message role should be 'user'"}, "NVIDIA/GenerativeAIExamples#113", "Last message role should be 'user'"),
        failing("page-of-nginx", 404, "bad_request", "<html> <head><title>404 Not Found</title></head> <body> <center><h1>404 Not Found</h1></center> <hr><center>nginx</center> </body> </html>", "egoist/chatwise-releases#1346, MiniMax", "404 Not Found", "address", api=ANTHROPIC, words_not=("<html",)),
        failing("number-in-angles", 400, "bad_request", {"error": {"code": "invalid_parameter_error", "param": None, "message": '<400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in JSON format.', "type": "invalid_request_error"}, "id": "c", "request_id": "7"}, "HKUDS/nanobot#2469, DashScope", "must be in JSON format"),
        failing("unknown-999", 500, "server_fault", {"type": "error", "error": {"type": "api_error", "message": "unknown error, 999 (1000)"}, "request_id": "0"}, "MiniMax-AI/MiniMax-M3#6", "unknown error, 999 (1000)", api=ANTHROPIC),
        failing("status-as-words", 404, "unknown_model|bad_request", {"status": "Serverless endpoint not found"}, "microsoft/semantic-kernel#10339", "Serverless endpoint not found"),
    ],
    "kinds of failure": [
        failing("input-too-long", 400, "context_too_long", {"errorType": "ValidationException", "errorMessage": "Input is too long for requested model.", "name": "ValidationException", "$fault": "client", "$metadata": {"httpStatusCode": 400, "requestId": "16", "attempts": 1, "totalRetryDelay": 0}}, "aws-samples/assessment-generator#2", "Input is too long"),
        failing("returned-these-errors", 400, "context_too_long", {"message": "The model returned the following errors: Input is too long for requested model."}, "dyad-sh/dyad#1950, Bedrock", "Input is too long"),
        failing("maximum-you-requested", 400, "bad_request", {"message": "The maximum tokens you requested exceeds the model limit of 32768"}, "charmbracelet/crush#946, Bedrock", "model limit of 32768"),
        failing("on-demand", 400, "unknown_model|bad_request", {"detail": "An error occurred (ValidationException) when calling the Converse operation: Invocation of model ID anthropic.claude-3-5-sonnet-20240620-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model."}, "aws-samples/bedrock-access-gateway#73", "inference profile"),
        failing("max-input-got", 400, "context_too_long", {"error": {"message": "litellm.ContextWindowExceededError: Max Input Tokens=272000, Got=301450", "type": None, "param": None, "code": "400"}}, "BerriAI/litellm#38368", "Got=301450"),
        failing("deployment-not-found", 404, "unknown_model", {"error": {"type": "invalid_request_error", "code": "DeploymentNotFound", "message": _NOT_DEPLOYED}}, "NousResearch/hermes-agent#47812, Azure", "deployment for this resource does not exist"),
        failing("deployment-as-500", 500, "unknown_model", {"error": {"message": "litellm.NotFoundError: AzureException NotFoundError - Error code: 404 - {'error': {'code': 'DeploymentNotFound', 'message': '" + _NOT_DEPLOYED + "'}}", "type": None, "param": None, "code": "500"}}, "rashadphz/farfalle#79", "deployment for this resource does not exist"),
        failing("no-model-specified", 400, "unknown_model|bad_request", {"error": {"code": "no_model_name", "message": "No model specified in request. Please provide a model name in the request body or as a x-ms-model-mesh-model-name header.", "details": "No model specified in request."}}, "microsoft/semantic-kernel#10339", "No model specified"),
        failing("key-as-400", 400, "bad_key", {"code": _CLIENT, "error": "Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai."}, "continuedev/continue#10778, xAI", "Incorrect API key provided"),
        failing("search-deprecated", 410, "bad_request", {"error": "Live search is deprecated. Please switch to the Agent Tools API: https://docs.x.ai/docs/guides/tools/overview"}, "langgenius/dify-official-plugins#2493", "Live search is deprecated"),
        failing("balance-1008", 500, "no_quota", {"type": "error", "error": {"type": "api_error", "message": "insufficient balance (1008)"}, "request_id": "0"}, "MiniMax-AI/MiniMax-M2#62", "insufficient balance", api=ANTHROPIC),
        failing("five-hours", 429, "no_quota|rate_limited", {"type": "error", "error": {"type": "rate_limit_error", "message": "usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (0/0 used), resets at 2026-05-15T15:00:00Z (2056)"}, "request_id": "0"}, "MiniMax-AI/MiniMax-M2.7#36", "usage limit exceeded", api=ANTHROPIC),
        failing("free-quota-used", 402, "no_quota", {"error": {"message": "Free quota used (30 requests / 5h). Resets at 10:00 UTC. Top up for unlimited access at https://gitlawb.com/opengateway/credits.", "type": "insufficient_quota", "code": "free_quota_exceeded"}}, "Gitlawb/openclaude#1554", "Free quota used"),
        failing("weekly-limit", 403, "no_quota|rate_limited", {"error": {"message": "You've reached your weekly (7-day) usage limit. Your quota will reset when the current 7-day window ends. To continue now, purchase extra usage or upgrade your plan: https://www.kimi.com/membership/subscription?tab=quota", "type": "access_terminated_error"}}, "openclaw/openclaw#142656, Kimi", "weekly (7-day) usage limit", api=ANTHROPIC),
        failing("billing-cycle", 403, "no_quota", {"error": {"type": "permission_error", "message": "You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle. To continue now, purchase extra usage or upgrade your plan: https://www.kimi.com/code/#pricing"}, "type": "error"}, "NanmiCoder/cc-haha#1208, Kimi", "this billing cycle", api=ANTHROPIC),
        failing("coding-agents-alone", 403, "forbidden", {"error": {"message": "Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.", "type": "access_terminated_error"}}, "MoonshotAI/kimi-code#636", "only available for Coding Agents"),
        failing("receiving-too-many", 429, "rate_limited|overloaded", {"error": {"message": "We're receiving too many requests at the moment. Please wait a moment and try again.", "type": "rate_limit_reached_error"}}, "MoonshotAI/kimi-cli#907", "too many requests"),
        failing("engine-overloaded", 429, "overloaded", {"error": {"message": "The engine is currently overloaded, please try again later", "type": "engine_overloaded_error"}}, "MoonshotAI/kimi-code#636", "currently overloaded"),
        failing("currently-loading", 503, "overloaded", {"error": "Model meta-llama/Llama-2-13b-chat is currently loading", "estimated_time": 20.0}, "huggingface/transformers#32665", "is currently loading"),
        failing("status-error", 200, "overloaded", {"type": "status", "status": "error", "message": "Model is overloaded"}, "Soulter/hugging-chat-api#258", "Model is overloaded"),
        failing("at-capacity", 503, "overloaded", {"error": {"message": "Selected model is at capacity. Please try a different model.", "type": "server_error", "code": None}}, "decolua/9router#894", "at capacity"),
        failing("arrearage", 400, "no_quota", {"error": {"code": "Arrearage", "message": "Access denied, please make sure your account is in good standing.", "param": None, "type": "Arrearage"}, "request_id": "8af5"}, "tencentmusic/supersonic#1572", "good standing"),
        failing("inspection-in-angles", 400, "declined", {"error": {"code": "data_inspection_failed", "param": None, "message": "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.", "type": "data_inspection_failed"}, "id": "c"}, "QwenLM/qwen-code#3145", "may contain inappropriate content"),
        failing("got-minus-186", 400, "context_too_long|bad_request", {"object": "error", "message": "max_tokens must be at least 1, got -186.", "type": "BadRequestError", "param": None, "code": 400}, "vllm-project/vllm#4667", "got -186"),
        failing("total-of-at-least", 400, "context_too_long", {"error": {"message": "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens. Please reduce the length of the input prompt or the number of requested output tokens.", "type": "BadRequestError", "param": "input_tokens", "code": 400}}, "vllm-project/vllm#42474", "128001"),
        failing("credits-per-hour", 429, "rate_limited", {"error": {"message": "AI inference rate limit exceeded. Consider using lighter models. Maximum 100 credits per 1 hour or 400 credits per day.", "type": "RATE_LIMIT_ERROR"}}, "cloudflare/vibesdk#164", "rate limit exceeded"),
        failing("token-usage", 429, "rate_limited|no_quota", {"error": {"message": "Sorry, you have exceeded your Copilot token usage. Please review our Terms of Service.", "code": "rate_limited"}}, "microsoft/vscode-copilot-release#5795", "Copilot token usage"),
    ],
    "usage": [
        counted("of-databricks", "BerriAI/litellm#36943", {"id": "c", "choices": [], "usage": {"prompt_tokens": 107, "completion_tokens": 20, "total_tokens": 127, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}, input_tokens=107, output_tokens=20, cache_read_tokens=0, is_estimate=False),
        counted("of-converse", "crewAIInc/crewAI#7417, Bedrock", {"id": "c", "choices": [], "usage": {"inputTokens": 300, "outputTokens": 20, "totalTokens": 320, "cacheReadInputTokens": 0, "cacheWriteInputTokens": 0}}, input_tokens=300, output_tokens=20, cache_read_tokens=0),
        Row("iterations-beside", ANTHROPIC, named(*message_events("Hello there.")[:-2], ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 14730, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1653265, "output_tokens": 5156, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard", "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0}, "inference_geo": "", "iterations": [], "speed": "standard"}}), ("message_stop", {})), "NanmiCoder/cc-haha#1208, Kimi", usage={"input_tokens": 1667995, "cache_read_tokens": 1653265, "output_tokens": 5156}),
    ],
}

SIXTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("Argument not supported on this model: reasoningEffort", "reasoning_effort", "charmbracelet/crush#386, xAI"),
    ("Argument not supported: include", None, "openclaw/openclaw#12910: it is not sent"),
    ("<400> InternalError.Algo.InvalidParameter: 'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", "response_format", "agno-agi/agno#5317"),
    ("The maximum tokens you requested exceeds the model limit of 2048. Try again with a maximum tokens value that is lower than 2048.", None, "aws-samples/bedrock-access-gateway#41"),
    ("max_tokens must be at least 1, got -186.", None, "vllm-project/vllm#4667"),
    ("top_p must be between 0.0 and 1.0", None, "microsoft/foundry-local#12"),
]
SIXTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("model_list", {"model_list": [{"model_name": "m1", "litellm_params": {"model": "x"}, "model_info": {"max_input_tokens": 8192}}]}, {"m1": 8192}, "zhound420/bytebot-hawkeye#139"),
    ("limits-of-nothing", {"data": [{"id": "m1", "capabilities": {"limits": None}}, {"id": "m2", "capabilities": None}]}, {"m1": None, "m2": None}, "github/copilot-sdk#1303"),
]
# fmt: on


# Round 7: 23 of 25 were right at once.

# fmt: off
_UNSIGNED = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:update_topic` , position 20."
_PLACE = {"error": {"code": 400, "message": "User location is not supported for the API use.", "status": "FAILED_PRECONDITION"}}

SEVENTH: dict[str, list[Row]] = {
    "frames": [
        Row("usage-of-a-reseller", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "stop"), {"id": "usage-1753417795", "provider_id": "or", "model": "qwen3-coder", "usage": {**U, "multiplier_applied": 2, "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}, "zj_usage": {"multiplier": 2, "prompt_cost": 10372, "completion_cost": 70, "total_cost": 10442, "credits_remaining": 282833.4}}, "request_id": "zj"}), "anomalyco/opencode#1298", usage=PAID),
        Row("filter-results-first", COMPATIBLE, frames({"id": "", "object": "", "created": 0, "model": "", "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}], "choices": []}, *said("Hello ", "there.")), "vercel/modelfusion#185, Azure"),
    ],
    "shapes of text": [
        Row("summary-with-uuids", RESPONSES, named(("response.created", {"response": RESPONSE_BEGUN}), ("response.output_item.added", {"output_index": 0, "item": {"type": "reasoning", "id": "5d9e1a2c-0000", "summary": []}}), ("response.reasoning_summary_text.delta", {"item_id": "5d9e1a2c-0000", "output_index": 0, "summary_index": 0, "delta": "Hm."}), ("response.output_text.delta", {"item_id": "7a", "delta": "Hello there.", "output_index": 1, "content_index": 0}), ("response.completed", {"response": RESPONSE})), "CherryHQ/cherry-studio#20940", reasoning="Hm."),
    ],
    "tool calls": [
        calling("channel-behind-the-name", "vllm-project/vllm#32587", tool_call("read_file<|channel|>commentary", ARGS, id="t"), *CALL_END),
    ],
    "leaked calls": [
        spelled("keyed-by-name", "ml-explore/mlx-lm#1663, Apertus", '<|tools_prefix|>[{"read_file": {"a": 1}}]<|tools_suffix|>'),
        spelled("gemma4-quotes", "vllm-project/vllm#44522", '<|tool_call>call:write_file{content:<|"|>hello<|"|>,path:<|"|>a.txt<|"|>}<tool_call|>', calls=(("write_file", '{"content":"hello","path":"a.txt"}'),)),
    ],
    "errors": [
        failing("attempts-of-a-router", 400, "bad_request", {"error": {"message": "All target providers failed.", "target_providers": ["openai"], "attempts": [{"provider": "openai", "stage": "upstream_response", "message": "Upstream request failed.", "status": 400, "details": {"error": {"message": "Error from provider: Provider returned error", "code": 400, "metadata": {"raw": '{"message":"invalid request error trace_id: 9ca63e68","type":"invalid_request_error"}\n', "provider_name": "Novita", "is_byok": True}}, "user_id": "user_2"}}]}}, "musistudio/claude-code-router#1558", "All target providers failed", "invalid request error trace_id"),
        failing("nothing-but-400", 400, "bad_request", "", "continuedev/continue#12716, NVIDIA"),
        failing("json-in-the-message", 400, "bad_request", {"error": {"message": json.dumps({"error": {"code": 400, "message": _UNSIGNED, "status": "INVALID_ARGUMENT"}}, indent=2), "code": 400, "status": "Bad Request"}}, "google-gemini/gemini-cli#26682", "missing a thought_signature", api=GEMINI, words_not=('"error"',)),
        failing("list-around-the-error", 400, "bad_request", [{"error": {"code": 400, "message": _UNSIGNED, "status": "INVALID_ARGUMENT"}}], "nearai/ironclaw#1521", "missing a thought_signature"),
        failing("signature-not-valid", 400, "bad_request", {"error": {"message": "[gemini-cli/gemini-3-flash-preview] [400]: Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai (reset after 30s)"}}, "decolua/9router#301", "signature is not valid"),
        failing("invalid-body", 400, "bad_request", {"error": {"message": "Invalid body: failed to parse JSON value. Please check the value to ensure it is valid JSON. (Common errors include trailing commas, missing closing brackets, missing quotation marks, etc.)", "type": "invalid_request_error", "param": None, "code": None}}, "miurla/morphic#927", "failed to parse JSON value"),
    ],
    "kinds of failure": [
        failing("provider-returned-429", 429, "rate_limited", {"error": {"message": "Provider returned error", "code": 429}}, "continuedev/continue#10442, OpenRouter", "Provider returned error"),
        failing("model-format", 400, "unknown_model|bad_key|bad_request", {"error": {"message": "Invalid Request: Invalid model format or no credentials for provider: grok-4.5", "code": 400}}, "nesquena/hermes-webui#5940", "Invalid model format"),
        failing("max-total-tokens", 400, "context_too_long", {"code": 20015, "message": "max_total_tokens (33298) must be less than or equal to max_seq_len (32768)", "data": None}, "continuedev/continue#10020, SiliconFlow", "max_seq_len (32768)"),
        failing("gone", 410, "unknown_model|bad_request", "", "Alishahryar1/free-claude-code#1401, NVIDIA"),
        failing("overloaded-529", 529, "overloaded", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "anthropics/anthropic-sdk-typescript#616", "Overloaded", api=ANTHROPIC),
        broken_off("overloaded-in-stream", "overloaded", named(("error", {"error": {"details": None, "type": "overloaded_error", "message": "Overloaded"}, "request_id": "req"})), "umbraco/Umbraco.AI#174", "Overloaded", api=ANTHROPIC),
        failing("location", 400, "forbidden", _PLACE, "poenl/gemini-api#4", "User location is not supported", api=GEMINI),
        failing("location-compatible", 400, "forbidden", _PLACE, "PublicAffairs/openai-gemini#4", "User location is not supported"),
        failing("location-and-billing", 400, "forbidden|no_quota", {"error": {"code": 400, "message": "User location is not supported for the API use without a billing account linked", "status": "FAILED_PRECONDITION"}}, "writingmate/chatlabs#120", "without a billing account", api=GEMINI),
        failing("count-without-figures", 400, "context_too_long", {"error": {"code": 400, "message": "The input token count exceeds the maximum number of tokens allowed 1048576.", "status": "INVALID_ARGUMENT"}}, "google-gemini/gemini-cli#15184", "1048576", api=GEMINI),
    ],
    "usage": [
        counted("own-key-cost-nought", "tailcallhq/forgecode#1641", {"id": "c", "choices": [], "usage": {"prompt_tokens": 9171, "completion_tokens": 113, "total_tokens": 9284, "cost": 0, "is_byok": True, "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}, "cost_details": {"upstream_inference_cost": 0.0360795, "upstream_inference_prompt_cost": 0.0343845, "upstream_inference_completions_cost": 0.001695}, "completion_tokens_details": {"reasoning_tokens": 55, "image_tokens": 0}}}, input_tokens=9171, output_tokens=113, reasoning_tokens=55, cost_usd=0.0360795),
        counted("cost-without-a-key", "BerriAI/litellm#11626", {"id": "c", "choices": [], "usage": {"prompt_tokens": 28, "completion_tokens": 38, "total_tokens": 66, "cost": 7.1e-05, "is_byok": False, "prompt_tokens_details": {"cached_tokens": 0}, "cost_details": {"upstream_inference_cost": None}, "completion_tokens_details": {"reasoning_tokens": 0}}}, input_tokens=28, output_tokens=38, cost_usd=7.1e-05),
    ],
    "endings": [
        Row("token-in-the-thoughts", COMPATIBLE, frames(chunk({"reasoning_content": "Good morning!<｜end▁of▁sentence｜>"}), chunk({}, "stop"), used()), "vllm-project/vllm#48748", text="", reasoning="Good morning!<｜end▁of▁sentence｜>"),
    ],
}
# fmt: on

ROUNDS = (FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH)
ROUND_REFUSALS = (
    FIRST_REFUSALS + SECOND_REFUSALS + THIRD_REFUSALS + FOURTH_REFUSALS + FIFTH_REFUSALS + SIXTH_REFUSALS
)
ROUND_LISTS = FIRST_LISTS + THIRD_LISTS + FOURTH_LISTS + FIFTH_LISTS + SIXTH_LISTS
