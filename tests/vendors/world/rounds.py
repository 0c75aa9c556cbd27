"""Reports that were written down round by round, each round before the program was tried on it."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL,
    COMPATIBLE,
    GEMINI,
    JSON,
    PAID,
    TEXT,
    Json,
    Row,
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


_END = (chunk({}, "tool_calls"), used())
_CF = {"result": None, "success": False, "messages": []}
_KIMI = '<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"a":1}<|tool_call_end|><|tool_calls_section_end|>'
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
        calling("two-at-index-nought-empty-ids", "InternLM/lmdeploy#3412, vLLM", tool_call("read_file", "", id="chatcmpl-tool-1"), tool_call(None, ARGS, id=""), tool_call("read_file", "", id="chatcmpl-tool-2"), tool_call(None, '{"a":2}', id=""), *_END, calls=TWO),
        calling("two-at-index-nought-ids-kept", "InternLM/lmdeploy#3412, SGLang", tool_call("read_file", "", id="0"), tool_call(None, ARGS, id="0"), tool_call("read_file", "", id="1"), tool_call(None, '{"a":2}', id="1"), *_END, calls=TWO),
        calling("generating-signs", "jjang-ai/vmlx#219", chunk({"tool_call_generating": True}), chunk({}), chunk({"tool_call_generating": True}), tool_call("read_file", ARGS, id="t"), *_END),
        calling("json-header-in-arguments", "tenstorrent/tt-inference-server#3683", tool_call("read_file", "json\n", id="t"), tool_call(None, ARGS), *_END),
        calling("call-without-finish", "earendil-works/pi#6226, NVIDIA NIM", tool_call("read_file", ARGS, id="t"), used()),
    ],
    "leaked calls": [
        spelled("kimi-tokens", "NousResearch/hermes-agent#24534", _KIMI),
        thought("kimi-tokens-in-reasoning", "MoonshotAI/Kimi-K2#89", "I read it.", _KIMI, reasoning="I read it."),
        thought("xml-in-reasoning", "vllm-project/vllm#39056", "I read it.\n", '<tool_call>\n{"name": "read_file", "arguments": {"a": 1}}\n</tool_call>', reasoning="I read it."),
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
