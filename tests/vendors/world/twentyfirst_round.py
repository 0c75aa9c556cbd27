"""Reports of the twenty-first round, written down before a try."""

from __future__ import annotations

import json

from tests.vendors.world.rounds import broken_off, calling, counted, failing, spelled
from tests.vendors.world.table import (
    ARGS,
    CALL,
    CALL_END,
    COMPATIBLE,
    Row,
    U,
    chunk,
    frames,
    said,
    tool_call,
    used,
)

# fmt: off
TWENTY_FIRST: dict[str, list[Row]] = {
    "frames": [
        Row("lists-of-chunks", COMPATIBLE, "".join(f"data: [{json.dumps(one)}]\n\n" for one in said("Hello ", "there.")) + "data: [DONE]\n\n", "gateways over Gemini"),
        Row("comment-sent-as-data", COMPATIBLE, "data: : OPENROUTER PROCESSING\n\n" + frames(*said("Hello ", "there.")).replace("\n\n", "\n\ndata: : OPENROUTER PROCESSING\n\n", 1), "mnfst/llm-gateway#2053"),
    ],
    "kinds of failure": [
        failing("another-kind-of-request", 404, "bad_request", {"error": {"message": "This model is only supported in v1/responses and not in v1/chat/completions.", "type": "invalid_request_error", "param": "model", "code": None}}, "aaif-goose/goose#5500", "only supported in v1/responses", "Choose another model", words_not=("base_url",)),
        failing("sequence-too-long", 400, "context_too_long", {"error": {"code": None, "message": "Requested generation length 5000 is not possible! The provided prompt is 130000 tokens long, so generating 5000 tokens requires a sequence length of 135000, but the maximum supported sequence length is just 131072!", "type": "invalid_request_error"}}, "SambaNova", "131072"),
        failing("no-chat-model", 404, "bad_request", {"error": {"message": "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?"}}, "OpenAI", "not a chat model", "Choose another model"),
        failing("quota-in-chinese", 403, "no_quota", {"error": {"message": "账户额度不足，配额已用完", "code": "QuotaExceeded"}}, "NousResearch/hermes-agent#58991", "额度不足"),
        broken_off("throttled-in-chinese", "rate_limited", frames({"error": {"message": "请求触发限流，请稍后重试"}}, done=False), "NousResearch/hermes-agent#58991", "触发限流"),
        broken_off("busy-in-chinese", "overloaded", frames({"error": {"message": "当前服务繁忙，请稍后重试"}}, done=False), "gateways", "服务繁忙"),
        failing("no-channel-in-chinese", 503, "unknown_model|overloaded", {"error": {"message": "当前分组 default 下对于模型 m 无可用渠道", "type": "new_api_error"}}, "one-api", "无可用渠道"),
        broken_off("key-in-chinese", "bad_key", frames({"error": {"message": "无效的令牌"}}, done=False), "one-api", "无效的令牌"),
        failing("out-of-extra-usage", 400, "no_quota", {"type": "error", "error": {"type": "invalid_request_error", "message": "You're out of extra usage. Add more at claude.ai/settings/usage and keep going."}}, "NousResearch/hermes-agent#56128", "out of extra usage"),
        failing("limit-of-a-combo", 400, "context_too_long", {"error": {"message": "Request requires approximately 278690 tokens, but the largest known context limit in this combo is 272000 tokens. Reduce or compact the request context."}}, "NousResearch/hermes-agent#98148", "272000 tokens"),
        failing("out-of-range", 400, "bad_request", {"error": {"message": "top_p is out of range"}}, "what must stay right", "out of range"),
    ],
    "tool calls": [
        calling("name-that-grows", "unslothai/unsloth#9817", tool_call("read", "", id="t"), tool_call("read_file", "", id="t"), tool_call(None, ARGS), *CALL_END),
        calling("closed-once-too-often", "NorthlandPositronics/Cogtrix#2290", tool_call("read_file", '{"a": 1}}', id="t"), *CALL_END),
        Row("calls-in-the-message-beside-an-empty-delta", COMPATIBLE, frames(chunk({"content": ""}), {"id": "c", "choices": [{"index": 0, "delta": {}, "message": {"role": "assistant", "content": "", "tool_calls": [{"id": "t", "type": "function", "function": {"name": "read_file", "arguments": ARGS}}]}, "finish_reason": "tool_calls"}]}, used()), "gateways that close with a message", text="", calls=CALL, ends="tool_calls"),
    ],
    "leaked calls": [
        Row("fence-with-another-key", COMPATIBLE, frames(*said("```read_file\nc: 1\n```")), "what must stay text", text="```read_file\nc: 1\n```"),
        Row("fence-that-is-an-example", COMPATIBLE, frames(*said("An example:\n\n```read_file\na: 1\n```")), "what must stay text", text="An example:\n\n```read_file\na: 1\n```"),
        spelled("fence-with-the-name-of-a-tool", "arkavo-org/arkavo-edge#373", "```read_file\na: 1\n```"),
        spelled("object-in-a-fence-with-the-name", "arkavo-org/arkavo-edge#373", 'I read it.\n\n```read_file\n{"a": 1}\n```', text="I read it."),
        spelled("name-in-brackets", "agents with their own prompts", 'I read it first.\n\n[read_file] {"a": 1}', text="I read it first."),
        spelled("arrow-and-object", "small models", '-> read_file({"a": 1})'),
        spelled("arrow-and-python", "small models", "I read it first.\n\n→ read_file(a=1)", text="I read it first."),
        spelled("fat-arrow", "small models", '=> read_file {"a": 1}'),
        spelled("wrench", "agents that print their calls", "🔧 read_file(a=1)"),
    ],
    "usage": [
        counted("figures-of-javascript", "patlux/pi-commandcode-provider#30", {"id": "c", "choices": [], "usage": {"inputTokens": 1413, "inputTokenDetails": {"noCacheTokens": 1029, "cacheReadTokens": 384}, "outputTokens": 2, "totalTokens": 1415}}, input_tokens=1413, cache_read_tokens=384, output_tokens=2),
        Row("metrics-of-bedrock", COMPATIBLE, frames(chunk({"content": "Hello there."}), {**chunk({}, "stop"), "amazon-bedrock-invocationMetrics": {"inputTokenCount": 300, "outputTokenCount": 20, "invocationLatency": 800}}), "Bike4Mind/bike4mind#1089", usage={"input_tokens": 300, "output_tokens": 20}),
        Row("usage-in-the-delta", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({"usage": U}, "stop")), "gateways over Anthropic", usage={"input_tokens": 300, "output_tokens": 20}),
        counted("details-of-one-token", "gateways over LangChain", {"id": "c", "choices": [], "usage": {"input_tokens": 300, "output_tokens": 20, "total_tokens": 320, "input_token_details": {"cache_read": 256, "cache_creation": 0}, "output_token_details": {"reasoning": 5}}}, input_tokens=300, cache_read_tokens=256, cache_write_tokens=0, output_tokens=20, reasoning_tokens=5),
        counted("totals-in-and-out", "pattern-zones-co/koine#41", {"id": "c", "choices": [], "usage": {"total_tokens_in": 300, "total_tokens_out": 20, "saved_cache_tokens": 9, "cached_cost": 0.1}}, input_tokens=300, output_tokens=20, cache_read_tokens=None),
    ],
    "endings": [
        Row("end-without-a-reply", COMPATIBLE, "data: [DONE]\n\n", "NousResearch/hermes-agent#65631", text=""),
        Row("end-as-an-object", COMPATIBLE, frames(chunk({"content": "Half of"}), {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": {"type": "abort", "message": "The request was aborted: out of memory", "status_code": 500}}]}), "SGLang", text="Half of", ends="truncated"),
        Row("whole-end-as-an-object", COMPATIBLE, frames(chunk({"content": "Hello there."}), {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": {"type": "stop", "matched": 151645}}]}), "SGLang"),
        Row("end-in-another-word", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "end")), "earendil-works/pi#2116"),
    ],
}
# fmt: on
"""Rows by their class, as `table.CLASSES`."""

TWENTY_FIRST_LISTS: list[tuple[str, object, dict[str, int | None], str]] = [
    ("in-a-response", {"response": {"models": [{"id": "m1"}, {"id": "m2"}]}}, {"m1": None, "m2": None}, "gateways"),
    ("key-of-its-own", {"status": "ok", "available_models": ["m1", "m2"]}, {"m1": None, "m2": None}, "gateways"),
    ("groups", {"object": "list", "data": [{"provider": "one", "models": [{"id": "m1"}]}, {"name": "two", "models": ["m2"]}]}, {"m1": None, "m2": None}, "gateways with a group for each provider"),
]  # fmt: skip
