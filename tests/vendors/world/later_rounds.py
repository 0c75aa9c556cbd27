"""Reports of the eighth round and of later ones: each round was written down before the program was tried on it."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.world.rounds import broken_off, calling, counted, failing, spelled
from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL_END,
    CALL_JSON,
    COMPATIBLE,
    GEMINI,
    JSON,
    PAID,
    RESPONSE,
    RESPONSE_BEGUN,
    RESPONSES,
    WRITE_CALL,
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

_AZURE = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry."
_NIM: Json = {"instance": "/v2/nvcf/pexec/functions/b0fcd392", "requestId": "380d3287"}
_MINIMAX = "]<]minimax[>["


def _sglang(**delta: Any) -> Json:
    choice = {"index": 0, "delta": {"role": None, "content": None, "reasoning_content": None, "tool_calls": None, **delta}, "logprobs": None, "finish_reason": None, "matched_stop": None}  # fmt: skip
    return {"id": "f", "object": "chat.completion.chunk", "created": 1, "model": "a", "choices": [choice], "usage": None}  # fmt: skip


def _thinking_unsigned() -> list[tuple[str, Json]]:
    start, *text = message_events("Hello there.")
    moved = [(name, {**one, "index": 1} if "index" in one else one) for name, one in text]
    return [
        start,
        ("content_block_start", {"index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        ("content_block_stop", {"index": 0}),
        *moved,
    ]


# Round 8.

# fmt: off
EIGHTH: dict[str, list[Row]] = {
    "frames": [
        Row("empty-role-and-flags", COMPATIBLE, frames({"choices": [{"index": 0, "delta": {"role": "", "reasoning_content": ""}}], "created": 1, "object": "chat.completion.chunk", "usage": {"total_tokens": 0, "total_characters": 0}, "input_sensitive": False, "output_sensitive": False}, *said("Hello ", "there.")), "MiniMax-AI/MiniMax-M2.5#2", usage=PAID),
        Row("choice-of-a-delta-alone", COMPATIBLE, frames({"id": "id-1", "object": "chat.completion.chunk", "created": 1, "model": "@cf/m", "choices": [{"delta": {"content": "Hello "}}]}, {"id": "id-1", "choices": [{"delta": {"content": "there."}}]}, {"id": "id-1", "choices": [{"delta": {}, "finish_reason": "stop"}], "usage": U}), "vercel/ai#4031, Cloudflare", usage=PAID),
        Row("index-null", COMPATIBLE, frames({"id": "cmpl", "choices": [{"index": None, "delta": {"content": "Hello "}, "finish_reason": None}]}, {"id": "cmpl", "choices": [{"index": None, "delta": {"content": "there."}, "finish_reason": "stop"}]}), "neuralmagic/deepsparse#1486"),
        Row("all-fields-null", COMPATIBLE, frames(_sglang(reasoning_content="Hm."), _sglang(content="Hello "), _sglang(content="there."), {"id": "f", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "matched_stop": 200012}], "usage": None}, used()), "sgl-project/sglang#9657", reasoning="Hm.", usage=PAID),
        Row("finish-empty-each", COMPATIBLE, frames(*({"id": "chatcmpl-693", "choices": [{"index": 0, "delta": {"role": "assistant", "content": one}, "finish_reason": ""}]} for one in ("Hello ", "there.")), {"id": "chatcmpl-693", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": "stop"}]}), "ollama/ollama#4357"),
        Row("usage-null-for-good", COMPATIBLE, frames(*({**chunk({"content": one}), "usage": None} for one in ("Hello ", "there.")), chunk({}, "stop")), "QuantumNous/new-api#6212, Volcano"),
    ],
    "shapes of text": [
        Row("reasoning-and-text-in-one", COMPATIBLE, frames(chunk({"reasoning": "I see"}), chunk({"content": "Hello ", "reasoning": " clearly. "}), chunk({"content": "there."}, "stop"), used()), "diegosouzapw/OmniRoute#771, NVIDIA", reasoning="I see clearly. "),
        Row("reasoning-tags", COMPATIBLE, frames(*(chunk({"content": one}) for one in ("<reasoning>We need to", " greet.</reasoning>", "<reasoning> No action.</reasoning>", "Hello there.")), chunk({}, "stop"), used()), "browseros-ai/BrowserOS#167, Bedrock", reasoning="We need to greet. No action."),
        Row("thinking-unsigned", ANTHROPIC, named(*_thinking_unsigned()), "QuantumNous/new-api#4763, DeepSeek", reasoning="Hm."),
    ],
    "tool calls": [
        calling("name-in-each", "NousResearch/hermes-agent#12233, NVIDIA", tool_call("read_file", "", id="t"), tool_call("read_file", '{"a"'), tool_call("read_file", ":1}"), *CALL_END),
        calling("nulls-behind", "sgl-project/sglang#4700", tool_call("read_file", "", id="t"), *(chunk({"tool_calls": [{"index": 0, "id": None, "function": {"arguments": one, "name": None}, "type": None}]}) for one in ('{"', "a", '":1}')), *CALL_END),
        calling("stop-with-the-last-piece", "MiaAI-Lab/GLM-5.3-Flash#177", tool_call("read_file", '{"a"', id="t"), {"choices": [{"finish_reason": "stop", "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]}, used()),
        calling("new-id-of-each-chunk", "BerriAI/litellm#40040, OCI", {"id": "c-1", "choices": [{"index": 0, "delta": {"content": ""}}]}, {"id": "c-2", "choices": [{"index": 0, "delta": {"tool_calls": [{"id": "chatcmpl-tool-a1", "function": {"arguments": "", "name": "read_file"}, "type": "function", "index": 0}]}}]}, {"id": "c-3", "choices": [{"index": 0, "delta": {"tool_calls": [{"function": {"arguments": '{"a":1}', "name": ""}, "type": "function", "index": 0}]}}]}, *CALL_END),
    ],
    "leaked calls": [
        spelled("no-closing-tags", "continuedev/continue#13057, Ollama", "I'll create a file.\n\n", "<function=write_file>\n<parameter=path> a.txt\n<parameter=content> hello\n", text="I'll create a file.", calls=WRITE_CALL),
        spelled("beginning-lost", "signalnine/q27#24", "<name>write_file\n</parameter>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\nhello\n</parameter>\n</function>", calls=WRITE_CALL),
        spelled("calling-tool", "waybarrios/vllm-mlx#15, Qwen3", '[Calling tool: read_file({"a": 1})]'),
        spelled("equals-and-json", "tashfeenahmed/freellmapi#291, Llama", '<function=read_file={"a": 1}</function>'),
        spelled("minimax-envelope", "Alishahryar1/free-claude-code#1246, MiniMax-M3", f"{_MINIMAX}<tool_call>\n{_MINIMAX}<invoke name=\"read_file\">{_MINIMAX}<a>1{_MINIMAX}</a>{_MINIMAX}</invoke>\n{_MINIMAX}</tool_call>"),
        spelled("function-and-parameters", "lablup/mlxcel#204, Qwen3-Coder", "<tool_call><function=write_file><parameter=path>a.txt</parameter><parameter=content>hello</parameter></function></tool_call>", calls=WRITE_CALL),
    ],
    "errors": [
        broken_off("error-chunk-of-a-gateway", "server_fault", frames(chunk({"content": "Half"}), {"error": {"message": "An error occurred during streaming", "type": "server_error", "param": None, "code": None}}), "mozilla-ai/any-llm#847", "An error occurred during streaming", text="Half"),
        broken_off("failed-without-fields", "server_fault", named(("response.failed", {"sequence_number": 0, "response": {"status": "failed", "error": {"message": "Internal error during generation"}}})), "modelship-ai/modelship#187", "Internal error during generation", api=RESPONSES),
        broken_off("failed-then-done", "server_fault", named(("response.created", {"response": RESPONSE_BEGUN}), ("response.output_text.delta", {"delta": "Half", "output_index": 0, "content_index": 0}), ("response.failed", {"response": {"status": "failed", "error": {"message": "upstream closed", "type": "api_error"}}})) + "data: [DONE]\n\n", "bigduu/Bamboo-agent#405", "upstream closed", api=RESPONSES, text="Half"),
        Row("message-alone-in-200", COMPATIBLE, json.dumps({"message": "The model returned the following errors: messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`."}), "Portkey-AI/gateway#1142, Bedrock", JSON, text="", fails="bad_request|server_fault", words=("Expected `thinking`",)),
        broken_off("api_error-behind-text", "server_fault", named(*message_events("pong")[:3], ("error", {"error": {"type": "api_error", "message": "litellm.ServiceUnavailableError: Bedrock stream ended"}})), "BerriAI/litellm#38606", "Bedrock stream ended", text="pong", api=ANTHROPIC),
        failing("error-type-error", 500, "server_fault|bad_key", {"error": {"message": "GitHub token not set in state", "type": "error"}}, "nick3/copilot-api#64", "GitHub token not set in state"),
        failing("upstream-unavailable", 500, "server_fault|overloaded", {"result": None, "success": False, "errors": [{"code": 7009, "message": "Upstream service unavailable"}], "messages": []}, "cloudflare/cloudflare-docs#15116", "Upstream service unavailable"),
        failing("problem-details", 422, "bad_request", {"type": "urn:inference-service:problem-details:unprocessable-entity", "title": "Unprocessable Entity", "status": 422, "detail": "body -> frequency_penalty\n  Extra inputs are not permitted (type=extra_forbidden)", **_NIM}, "NVIDIA/garak#748", "frequency_penalty"),
        failing("problem-details-500", 500, "server_fault|bad_request", {"type": "urn:inference-service:problem-details:internal-server-error", "title": "Internal Server Error", "status": 500, "detail": "System role not supported", **_NIM}, "BerriAI/litellm#4558, NVIDIA", "System role not supported"),
        failing("message-a-list", 422, "bad_request|no_tools", {"object": "Error", "detail": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted", "input": []}], "message": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted", "input": []}], "type": "invalid_request_error", "code": 3001}, "partITech/php-mistral#76", "Extra inputs are not permitted", "tools"),
        failing("message-json-text", 422, "bad_request", {"object": "error", "message": json.dumps({"detail": [{"type": "extra_forbidden", "loc": ["body", "frequency_penalty"], "msg": "Extra inputs are not permitted", "input": 0.0, "url": "https://errors.pydantic.dev/2.5/v/extra_forbidden"}]}), "type": "internal_error_proxy", "param": None, "code": "1000"}, "mistralai/platform-docs-public#7", "Extra inputs are not permitted", "frequency_penalty"),
        failing("nothing-but-an-id", 422, "bad_request|server_fault", {"error": {"message": " (request id: 2024040714324820864326815777479)", "type": "upstream_error", "param": "422", "code": "bad_response_status_code"}}, "songquanpeng/one-api#1290", "2024040714324820864326815777479"),
        failing("validation-of-a-call", 400, "bad_request|bad_reply", {"request_id": "req", "created_at": "2026-02-05T13:21:55.203Z", "error": {"message": "tool call validation failed: parameters for tool read_file did not match schema: errors: [`/a`: expected array, but got string]", "type": "invalid_request_error", "param": "", "code": "tool_use_failed"}}, "HunorLaczko/ha-groq-cloud-api#20", "expected array, but got string"),
        failing("must-be-a-string", 400, "bad_request", {"error": {"message": "'messages.0' : for 'role:system' the following must be satisfied[('messages.0.content' : value must be a string)]", "type": "invalid_request_error"}}, "gptme/gptme#375, Groq", "value must be a string"),
        failing("thinking-block-missing", 400, "bad_request", {"error": {"message": "Missing thinking block in the assistant message at message index 11. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls", "type": "invalid_request_error", "param": None, "code": "invalid_request_error"}}, "VicBilibily/GCMP#26, DeepSeek", "Missing thinking block", api=ANTHROPIC),
        failing("reasoning-missing", 400, "bad_request", {"type": "error", "error": {"type": "invalid_request_error", "message": "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"}}, "NousResearch/hermes-agent#17057, Kimi", "reasoning_content is missing", api=ANTHROPIC),
        failing("schema-not-understood", 400, "bad_request|no_tools", {"error": {"type": "invalid_request_error", "message": "JSON Schema not supported: could not understand the instance `{'required': ['criteria']}`."}, "type": "error"}, "earendil-works/pi#5352, Fireworks", "JSON Schema not supported", api=ANTHROPIC),
    ],
    "kinds of failure": [
        failing("token-quota-a-minute", 429, "rate_limited", {"message": "Tokens per minute limit exceeded - too many tokens processed.", "type": "too_many_tokens_error", "param": "quota", "code": "token_quota_exceeded"}, "continuedev/continue#9800, Cerebras", "Tokens per minute limit exceeded"),
        failing("title-and-detail", 429, "rate_limited", {"title": "Too Many Requests", "detail": "You have exceeded the maximum number of tokens allowed within a given time frame. Wait a bit and try again.", "status": 429}, "meta-llama/llama-models#354", "within a given time frame"),
        failing("extra-usage", 429, "no_quota", {"type": "error", "error": {"type": "rate_limit_error", "message": "Extra usage is required for long context requests."}, "request_id": "req"}, "anthropics/claude-code#37943", "Extra usage is required", api=ANTHROPIC),
        failing("no-credits-or-licenses", 403, "no_quota", {"code": "The caller does not have permission to execute the specified operation", "error": "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.x.ai/team/4."}, "continuedev/continue#12670, xAI", "credits or licenses yet"),
        failing("out-of-credits-or-subscription", 403, "no_quota", {"code": "personal-team-blocked", "error": "You have run out of credits or need a Grok subscription. Add credits at https://grok.com/?_s=usage or upgrade at https://grok.com/supergrok."}, "Wei-Shaw/sub2api#4069", "run out of credits"),
        failing("endpoint-denied", 403, "forbidden|bad_key", {"code": "permission-denied", "error": "Access to the chat endpoint is denied. Please ensure you're using the correct credentials. If you believe this is a mistake, please log into console.x.ai and update the permissions."}, "decolua/9router#2559, xAI", "Access to the chat endpoint is denied"),
        failing("account-not-active", 403, "no_quota", {"error": {"message": "Your account org-x<ak-x> is not active, organization <org-x> exceeded current quota, please check your plan and billing details", "type": "exceeded_current_quota_error"}}, "MoonshotAI/Kimi-K2#5", "exceeded current quota"),
        failing("too-many-at-the-moment", 429, "rate_limited|overloaded", {"error": {"message": "We're receiving too many requests at the moment. Please wait a moment and try again.", "type": "rate_limit_reached_error"}}, "MoonshotAI/kimi-cli#901", "too many requests at the moment"),
        failing("would-exceed", 429, "rate_limited|request_too_large", {"error": {"code": "rate_limit_error", "message": "This request would exceed the rate limit for your organization of 20,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.", "type": "invalid_request_error", "param": None}}, "FoundationAgents/OpenManus#746", "20,000 input tokens per minute"),
        failing("cannot-truncate", 400, "context_too_long", {"error": {"code": 400, "message": "[original: beyond::dependency::INVALID_ARGUMENT] Cannot truncate to 89998, required 355220: text:355351, control:9,  (inaccurate, last turn truncated by 141 in addition) (qos=CRITICAL_PLUS)", "status": "INVALID_ARGUMENT"}}, "iBUHub/AIStudioToAPI#268", "Cannot truncate to 89998", api=GEMINI),
        failing("status-failure-and-raw", 400, "context_too_long", {"status": "failure", "message": "openrouter error: Provider returned error | metadata: {\"raw\":{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens. However, you requested 8246 tokens (54 in the messages, 8192 in the completion).\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":400}}}"}, "truefoundry/models#873", "maximum context length is 8192 tokens"),
        failing("body-a-string", 422, "context_too_long", json.dumps("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: 79993 `inputs` tokens and 1024 `max_new_tokens`"), "bytedance/UI-TARS-desktop#626", "must be <= 65537"),
        failing("set-inference-limit", 429, "no_quota", {"error": {"code": "SetLimitExceeded", "message": "Your account [2100334555] has reached the set inference limit for the [doubao-seed-1-6-flash] model, and the model service has been paused. To continue using this model, please visit the Model Activation page to adjust or close the \"Safe Experience Mode\".", "param": "", "type": "TooManyRequests"}}, "volcengine/MineContext#328", "reached the set inference limit"),
        failing("model-or-endpoint", 404, "unknown_model", {"code": "InvalidEndpointOrModel.NotFound", "message": "The model or endpoint doubao-1.5-pro-32k does not exist or you do not have access to it. Request id: 0217", "param": "", "type": "NotFound", "request_id": "2025"}, "cloudwego/eino#107", "doubao-1.5-pro-32k does not exist"),
        failing("endpoint-that-is-none", 404, "unknown_model|bad_request", {"error": {"code": "InvalidEndpoint.NotFound", "message": "The request targeted an endpoint that does not exist or is invalid. Request id: 0217", "param": "", "type": "NotFound"}}, "nicepkg/aide#80, Volcano", "targeted an endpoint that does not exist"),
        failing("key-missing-or-invalid", 401, "bad_key", {"error": {"code": "AuthenticationError", "message": "The API key or AK/SK in the request is missing or invalid. requestId: 0217376826112645e4", "param": "", "type": "Unauthorized"}}, "cline/cline#1426, Volcano", "is missing or invalid"),
        broken_off("filter-in-a-stream", "declined", frames({"error": {"message": f"Error code: 400 - {{'error': {{'message': \"{_AZURE}\", 'code': 'content_filter', 'innererror': {{'code': 'ResponsibleAIPolicyViolation'}}}}}}"}}), "Oaklight/argo-proxy#91", "content management policy"),
        failing("filter-behind-litellm", 400, "declined", {"error": {"message": f"litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - {_AZURE}. Received Model Group=azure/gpt-4o\nAvailable Model Group Fallbacks=None", "type": None, "param": None, "code": "400", "provider_specific_fields": {"innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True, "severity": "high"}}}}}}, "BerriAI/litellm#16231", "content management policy"),
    ],
    "usage": [
        counted("cache-beside-the-prompt", "unslothai/unsloth#5670", {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": 862, "total_tokens": 870, "prompt_tokens_details": {"cached_tokens": 18901}, "cache_creation_input_tokens": 1367, "cache_read_input_tokens": 18901}}, input_tokens=20276, output_tokens=862, cache_read_tokens=18901),
        counted("noughts-of-another-api", "QuantumNous/new-api#6212", {"id": "c", "choices": [], "usage": {"prompt_tokens": 1536, "completion_tokens": 171, "prompt_tokens_details": {"cached_tokens": 0, "text_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}, "input_tokens": 0, "output_tokens": 0, "input_tokens_details": None, "claude_cache_creation_5_m_tokens": 0, "claude_cache_creation_1_h_tokens": 0}}, input_tokens=1536, output_tokens=171, is_estimate=False),
        counted("rate-of-cached", "vllm-project/vllm#44475", used(prompt_tokens_details={"cached_tokens": 256, "cached_rate": 0.8533}), input_tokens=300, cache_read_tokens=256),
        Row("total-above-the-parts", GEMINI, "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in (candidate("Hello "), candidate("there.", "STOP", usageMetadata={"promptTokenCount": 19588, "candidatesTokenCount": 69, "totalTokenCount": 19801, "cachedContentTokenCount": 18403, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 19588}]}))), "BerriAI/litellm#10667", usage={"input_tokens": 19588, "output_tokens": 213, "cache_read_tokens": 18403}),
    ],
    "endings": [
        Row("sensitive-behind-text", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "sensitive"), used()), "anomalyco/opencode#44092", ends="refused"),
        Row("filter-with-native-refusal", COMPATIBLE, frames(chunk({"content": "Hello there."}), {"choices": [{"index": 0, "delta": {"content": "", "role": "assistant"}, "finish_reason": "content_filter", "native_finish_reason": "refusal"}]}, used()), "CherryHQ/cherry-studio#16079", ends="refused"),
        Row("cancel", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "cancel"), used()), "ROCm/FastFlowLM#500", ends="broken|unknown|truncated|cancelled"),
    ],
}
EIGHTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("body -> parallel_tool_calls\n  Extra inputs are not permitted (type=extra_forbidden)\nbody -> n\n  Extra inputs are not permitted (type=extra_forbidden)", "parallel_tool_calls", "Kilo-Org/kilocode#9652, NVIDIA"),
    ("[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': 'main'}]", "stream_options", "sipeed/picoclaw#1019, NVIDIA"),
    ("The model returned the following errors: Failed to deserialize the JSON body into the target type: reasoning_effort: invalid type: map, expected a string at line 1 column 187", "reasoning_effort", "aws-samples/amazon-bedrock-client-for-mac#114"),
]
EIGHTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("shutdown", {"data": [{"created": 1, "domain": "", "features": {}, "id": "m1", "name": "n", "object": "model", "status": "Shutdown", "version": "240428"}, {"id": "m2", "name": "n", "object": "model", "status": "Active", "token_limits": {"context_window": 262144, "max_input_token_length": 229376, "max_output_token_length": 32768}}]}, {"m1": None, "m2": 262144}, "can1357/oh-my-pi#4201, Volcano"),
    ("display-name-and-window", {"object": "list", "data": [{"id": "m1", "object": "model", "type": "chat", "created": 0, "created_at": "1970-01-01T00:00:00.000Z", "owned_by": "v", "display_name": "M", "context_length": 128000}], "has_more": False}, {"m1": 128000}, "caozhiyuan/copilot-api#43"),
]
# fmt: on

# Round 9.

# fmt: off
NINTH: dict[str, list[Row]] = {
    "frames": [
        Row("finish-null-as-text", COMPATIBLE, frames(*({"id": "koboldcpp", "choices": [{"index": 0, "finish_reason": "null", "delta": {"role": "assistant", "content": one}}]} for one in ("Hello ", "there.")), {"id": "koboldcpp", "choices": [{"index": 0, "finish_reason": "stop", "delta": {}}]}), "Mintplex-Labs/anything-llm#6380, KoboldCpp"),
        broken_off("role-then-nothing", "stream_dropped|bad_reply", frames(chunk({"role": "assistant"}), done=False), "earendil-works/pi#8473"),
    ],
    "whole replies": [
        Row("json-without-a-quote", RESPONSES, '{"id": "", "object": "response", "status": "completed", "output": [], "text": {"format": {"type": "text"}}, top_p": 0.95, "usage": {"input_tokens": 5, "output_tokens": 42}}', "inferencerlabs/inferencer-feedback#42", JSON, text="", fails="bad_reply"),
        Row("finish-error-whole", COMPATIBLE, json.dumps({"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "error"}], "usage": U}), "LostRuins/koboldcpp#2481", JSON, text="", ends="broken"),
    ],
    "tool calls": [
        calling("word-before-arguments", "tenstorrent/tt-inference-server#3683", tool_call("read_file", "json\n", id="t"), tool_call(None, '{"a":1}'), *CALL_END),
        calling("signature-and-stop", "googleapis/python-genai#2868", chunk({"role": "assistant", "tool_calls": [{"extra_content": {"google": {"thought_signature": "AAA"}}, "function": {"arguments": '{"a":1}', "name": "read_file"}, "id": "function-call-1", "type": "function"}]}), chunk({"role": "assistant"}, "stop"), used()),
    ],
    "leaked calls": [
        calling("told-twice", "oobabooga/textgen#7427", chunk({"content": "<tool_call>\n"}), chunk({"content": '{"name": "read_file", "arguments": {"a": 1}}\n</tool_call>'}), tool_call("read_file", ARGS, id="t"), *CALL_END),
    ],
    "errors": [
        failing("content-a-list", 400, "bad_request", {"error": {"message": "Error from provider(sambanova,DeepSeek-V3.1: 400): Unable to tokenize message with status code 400 for model DeepSeek-V3.1: Invalid 'content' type. Expected one of: ['str'], got list.", "type": "api_error", "code": "provider_response_error"}}, "musistudio/claude-code-router#965", "Expected one of: ['str'], got list"),
        failing("no-call-for-output", 400, "bad_request", {"error": {"message": "No tool call found for function call output with call_id call_fzg.", "type": "invalid_request_error", "param": "input", "code": None}}, "continuedev/continue#9927", "No tool call found", api=RESPONSES),
        failing("empty-422", 422, "bad_request", "", "lobehub/lobehub#12845, SambaNova"),
        broken_off("engine-dead", "server_fault", frames(chunk({"content": "Half"}), {"error": {"message": "EngineCore encountered an issue. See stack trace (above) for the root cause.", "type": "InternalServerError", "param": None, "code": 500}}), "vllm-project/vllm#42363", "EngineCore encountered an issue", text="Half"),
        failing("plain-500", 500, "server_fault", "Internal Server Error", "vllm-project/vllm#10925", "Internal Server Error"),
        failing("blocks-non-empty", 400, "bad_request", {"message": "messages: text content blocks must be non-empty"}, "anomalyco/opencode#15715, Bedrock", "must be non-empty"),
        failing("template-not-supported", 400, "bad_request", {"error": {"message": "chat_template is not supported for Mistral tokenizers.", "type": "BadRequestError", "param": None, "code": 400}}, "Alishahryar1/free-claude-code#89, NVIDIA", "chat_template is not supported"),
        failing("detail-a-list", 422, "bad_request", {"detail": [{"type": "extra_forbidden", "loc": ["body", "store"], "msg": "Extra inputs are not permitted", "input": False}]}, "Gitlawb/openclaude#739, Mistral", "Extra inputs are not permitted", "store"),
        failing("error-a-text-of-lines", 422, "bad_request", {"error": "body -> presence_penalty\n  Extra inputs are not permitted (type=extra_forbidden)\nbody -> frequency_penalty\n  Extra inputs are not permitted (type=extra_forbidden)"}, "Kilo-Org/kilocode#9652, NVIDIA", "presence_penalty"),
        broken_off("error-alone", "bad_request", named(("error", {"error": {"type": "invalid_request_error", "message": "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens"}})), "justrach/codegraff#748", "max_tokens: 99999 > 64000", api=ANTHROPIC),
        failing("invalid-request-error", 400, "bad_request", {"error": {"type": "invalid_request_error", "message": "Invalid request Error"}, "type": "error"}, "MoonshotAI/Kimi-K2.5#20", "Invalid request Error", api=ANTHROPIC),
        broken_off("converter-failed", "server_fault", named(*message_events("pong")[:3], ("error", {"error": {"type": "internal_error", "message": "2 validation errors for ChatCompletionStreamResponse"}})), "vllm-project/vllm#48707", "2 validation errors", text="pong", api=ANTHROPIC),
    ],
    "kinds of failure": [
        broken_off("limit-of-a-key-in-a-stream", "no_quota", frames({"error": {"message": "max_tokens limit exceeded: 102399 > 921. To increase, visit https://openrouter.ai/keys and create a key with a higher limit", "code": 402}}), "janhq/jan#4162, OpenRouter", "102399 > 921"),
        failing("prompt-limit-of-a-key", 402, "no_quota", {"error": {"message": "Prompt tokens limit exceeded: 230799 > 91442. To increase, visit https://openrouter.ai/settings/keys and create a key with a higher monthly limit", "code": 402}}, "anomalyco/opencode#12219, OpenRouter", "230799 > 91442"),
        failing("more-output-than-window", 400, "bad_request|context_too_long", {"type": "error", "message": "Upstream error from DeepInfra: max_tokens=131072 cannot be greater than max_model_len=max_total_tokens=28672. Please request fewer output tokens. (parameter=max_tokens, value=131072)"}, "HeyPuter/puter#3564", "Please request fewer output tokens"),
        failing("input-length-500", 500, "context_too_long", {"error": {"message": "Requested input length 99009 exceeds maximum input length 8192"}}, "langchain-ai/langchain#25671, DeepInfra", "exceeds maximum input length 8192"),
        failing("not-enough-balance", 403, "no_quota", {"code": 403, "reason": "NOT_ENOUGH_BALANCE", "message": "not enough balance", "metadata": {}}, "huggingface/hub-docs#2392, Novita", "not enough balance"),
        broken_off("error-a-text", "context_too_long", 'event: error\ndata: ' + json.dumps({"error": "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}) + "\n\n", "anomalyco/opencode#2259, LM Studio", "greater than the context length"),
        failing("provider-returned-403", 403, "forbidden", {"error": {"message": "Provider returned error", "code": 403, "metadata": {"provider_name": "Z.AI"}}}, "continuedev/continue#12711, OpenRouter", "Provider returned error"),
        failing("parameters-not-valid", 400, "bad_request", {"error": {"code": "InvalidParameter", "message": "One or more parameters specified in the request are not valid. Request id: 0217", "param": "", "type": "BadRequest"}}, "RooCodeInc/Roo-Code#770, Volcano", "parameters specified in the request are not valid"),
        failing("policy-that-is-none", 400, "bad_request", {"error": {"message": "Your request contains invalid content filter policy. Please provide a valid policy.", "type": "invalid_request_error", "param": None, "code": "content_filter_policy_invalid"}}, "microsoft/BCApps#6660, Azure", "invalid content filter policy"),
        failing("no-deployments-for-now", 429, "rate_limited|overloaded", {"error": {"message": "litellm.RateLimitError: No deployments available for selected model, Try again in 60 seconds. Passed model=gpt-4o. pre-call-checks=False", "type": None, "param": None, "code": "429"}}, "Skyvern-AI/skyvern#758, LiteLLM", "No deployments available"),
        failing("token-usage-exceeded", 429, "rate_limited|no_quota", {"error": {"message": "Sorry, you have exceeded your Copilot token usage. Please review our Terms of Service.", "code": "rate_limited"}}, "microsoft/vscode-copilot-release#5795", "exceeded your Copilot token usage"),
    ],
    "usage": [
        counted("cache-of-databricks", "BerriAI/litellm#36943, Databricks", {"id": "c", "choices": [], "usage": {"prompt_tokens": 107, "completion_tokens": 20, "total_tokens": 127, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 0}}, input_tokens=107, output_tokens=20, cache_read_tokens=64, is_estimate=False),
    ],
    "endings": [
        Row("window-of-the-model", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "model_context_window_exceeded"), used()), "mozilla-ai/any-llm#1204, Z.ai", ends="truncated"),
        Row("spii", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "spii"), used()), "MacPaw/OpenAI#312", ends="refused"),
        Row("blocklist", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "blocklist"), used()), "MacPaw/OpenAI#312", ends="refused"),
        Row("upstream-error", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "upstream_error"), used()), "theopenco/llmgateway#3492", ends="broken"),
        Row("filtered-at-once", COMPATIBLE, frames({"id": "c", "choices": [{"index": 0, "delta": {"content": None, "function_call": None, "role": None, "tool_calls": None}, "finish_reason": "content_filter", "logprobs": None}], "usage": None}), "BerriAI/litellm#4828", text="", ends="refused"),
    ],
}
NINTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("[{'loc': ('body', 'seed'), 'msg': 'extra fields not permitted', 'type': 'value_error.extra'}]", "seed", "danny-avila/LibreChat#1336, Fireworks"),
]
NINTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("of-sambanova", {"data": [{"id": "m1", "object": "model", "owned_by": "no-reply@sambanova.ai", "context_length": 131072, "max_completion_tokens": 16384, "pricing": {"prompt": "0.0000006"}}], "object": "list"}, {"m1": 131072}, "lidge-jun/opencodex#870, SambaNova"),
    ("of-vllm-whole", {"object": "list", "data": [{"id": "m1", "object": "model", "created": 1, "owned_by": "vllm", "root": "/models/m1", "parent": None, "max_model_len": 32768, "permission": [{"id": "modelperm-1", "object": "model_permission", "allow_sampling": True}]}]}, {"m1": 32768}, "llm-d/llm-d-inference-sim#82"),
]
# fmt: on

# Round 10.

_DSML2 = "｜｜DSML｜｜"
_BARE_READ = '{\n  "name": "read_file",\n  "arguments": {\n    "a": 1\n  }\n}'
_ADDED: Json = {"output_index": 0, "item": {"type": "function_call", "id": "f", "call_id": "t", "name": "read_file", "arguments": "", "status": "in_progress"}}  # fmt: skip
_DONE: Json = {"output_index": 0, "item": {"type": "function_call", "id": "f", "call_id": "t", "name": "read_file", "arguments": "{}", "status": "completed"}}  # fmt: skip

# fmt: off
TENTH: dict[str, list[Row]] = {
    "whole replies": [
        Row("error-with-native-word", COMPATIBLE, json.dumps({"choices": [{"index": 0, "finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL", "message": {"role": "assistant", "content": None, "refusal": None, "reasoning": None}}], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}), "BerriAI/litellm#23273, OpenRouter", JSON, text="", ends="broken"),
    ],
    "shapes of text": [
        Row("closing-tag-again", COMPATIBLE, frames(chunk({"reasoning_content": "Hm."}), chunk({"content": "</think>"}), chunk({"content": "\n\nHello there."}), chunk({}, "stop"), used()), "vllm-project/vllm#44898, MiniMax", reasoning="Hm."),
        Row("closing-tag-before-json", COMPATIBLE, frames(chunk({"content": "Hm.\n</thi"}), chunk({"content": 'nk>{"sources": []}'}), chunk({}, "stop"), used()), "nbramia/LifeOS#568, llama.cpp", text='{"sources": []}', reasoning="Hm."),
    ],
    "tool calls": [
        calling("name-null-first", "lobehub/lobehub#14139, NVIDIA", chunk({"tool_calls": [{"index": 0, "id": "t", "type": "function", "function": {"name": None, "arguments": ""}}]}), tool_call("read_file", ""), tool_call(None, ARGS), *CALL_END),
        calling("head-of-the-second-at-the-first", "agno-agi/agno#8880, DeepSeek", tool_call("read_file", "", id="t1"), tool_call(None, ARGS), tool_call("read_file", "", id="t2"), tool_call(None, '{"a":2}', 1), *CALL_END, calls=(("read_file", ARGS), ("read_file", '{"a":2}'))),
        calling("whole-twice", "lidge-jun/opencodex#361", tool_call("read_file", "", id="t"), tool_call(None, ARGS), tool_call(None, ARGS), *CALL_END),
        Row("arguments-in-done-alone", RESPONSES, named(("response.created", {"response": RESPONSE_BEGUN}), ("response.output_item.added", _ADDED), ("response.function_call_arguments.done", {"output_index": 0, "item_id": "f", "arguments": ARGS}), ("response.output_item.done", _DONE), ("response.completed", {"response": {**RESPONSE, "output": [_DONE["item"]]}})), "earendil-works/pi#917, LM Studio", text="", calls=(("read_file", ARGS),), ends="tool_calls"),
        Row("empty-delta-first", RESPONSES, named(("response.created", {"response": RESPONSE_BEGUN}), ("response.output_item.added", _ADDED), ("response.function_call_arguments.delta", {"output_index": 0, "item_id": "f", "delta": ""}), ("response.function_call_arguments.delta", {"output_index": 0, "item_id": "f", "delta": ARGS}), ("response.output_item.done", {"output_index": 0, "item": {**_DONE["item"], "arguments": ARGS}}), ("response.completed", {"response": {**RESPONSE, "output": [{**_DONE["item"], "arguments": ARGS}]}})), "BerriAI/litellm#39288", text="", calls=(("read_file", ARGS),), ends="tool_calls"),
    ],
    "leaked calls": [
        spelled("open-and-sep", "can1357/oh-my-pi#8495, Kimi K3", '<|open|>tools<|sep|><|open|>call tool="read_file" index="1"<|sep|>', '<|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>', "<|close|>call<|sep|><|close|>tools<|sep|>"),
        spelled("two-pipes", "xorbitsai/xagent#806, DeepSeek", f'<{_DSML2}tool_calls> <{_DSML2}invoke name="read_file">', f'<{_DSML2}parameter name="a" string="false">1</{_DSML2}parameter></{_DSML2}invoke> </{_DSML2}tool_calls>'),
        Row("a-word-before", ANTHROPIC, named(*message_events("Running it.\n\ncourt\n", '<invoke name="read_file">\n<parameter name="a">1</parameter>\n</invoke>')), "anthropics/claude-code#69529", text="Running it.\n\ncourt", calls=(("read_file", ARGS),), ends="tool_calls"),
        spelled("no-arguments", "vllm-project/vllm#58315, GLM-5", "<tool_call>read_file</tool_call>", "<|observation|>", calls=(("read_file", "{}"),)),
        spelled("calling-with-arguments", "NousResearch/hermes-agent#27834, DeepSeek", '[Calling tool: read_file with arguments: {"a": 1}]'),
        spelled("last-tag-missing", "anomalyco/opencode#13762", "I need it.\n\n", "<function=read_file>\n<parameter=a>\n1\n</parameter>\n", text="I need it."),
        spelled("cdata", "jundot/omlx#3429, MiniCPM5", '<function name="write_file"><param name="path">a.txt</param>', '<param name="content"><![CDATA[hello]]></param></function>', calls=WRITE_CALL),
        spelled("closing-tag-in-a-string", "NousResearch/hermes-agent#22696", '<tool_use>{"name": "write_file", "arguments": {"path": "a.txt", "content": "</tool_use>"}}', "</tool_use>", calls=(("write_file", '{"path":"a.txt","content":"</tool_use>"}'),)),
        spelled("objects-with-bare-keys", "NousResearch/hermes-agent#7449, Gemma 4", '<|tool_call>call:read_file{a:1,\n  meta:{k:<|"|>v<|"|>,', ' n:[1,2]}}<tool_call|>', calls=(("read_file", '{"a":1,"meta":{"k":"v","n":[1,2]}}'),)),
        spelled("closing-thought-before", "vllm-project/vllm-ascend#12398, GLM-5.1", "</think>\n\n", "<tool_call>read_file\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"),
        spelled("bare-over-lines", "Gitlawb/openclaude#433, Ollama", _BARE_READ, model="qwen2.5-coder:14b"),
        spelled("in-a-fence-of-json", "jyjeanne/crustly#39", f"```json\n{_BARE_READ}\n```", model="qwen2.5-coder:7b"),
        spelled("action-and-params", "usestrix/strix#520, Ollama", '```json\n{\n  "action": "read_file",\n  "params": {\n    "a": 1\n  }\n}\n```', model="qwen3:8b"),
        spelled("name-and-parameters", "karthink/gptel#1024, Ollama", '{"name": "read_file", "parameters": {"a": 1}}', model="MFDoom/deepseek-r1-tool-calling:7b"),
        spelled("brace-in-a-string", "ollama/ollama#12017", '{"name": "write_file", "parameters": {"path": "a.txt", "content": "}A"}}', calls=(("write_file", '{"path":"a.txt","content":"}A"}'),), model="llama3.2"),
    ],
    "errors": [
        failing("property-unsupported", 400, "bad_request", {"message": "messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported", "type": "invalid_request_error", "param": "validation_error", "code": "wrong_api_format"}, "egoist/chatwise-releases#1442, Cerebras", "is unsupported"),
        failing("upstream-with-a-figure", 400, "bad_request", {"error": {"message": "Upstream error: 400", "type": "invalid_request_error", "param": "", "code": None}, "endpoint": "https://api.x.cn/v1", "message": "400 Upstream error: 400", "provider": "tokenflow"}, "lobehub/lobehub#18885", "Upstream error: 400"),
        failing("error-a-sentence", 403, "forbidden", {"error": "You must be in a team to access this resource"}, "netease-lcap/wave-agent#1347", "You must be in a team"),
    ],
    "kinds of failure": [
        failing("session-limit", 429, "no_quota", {"error": "you (ae20) have reached your session usage limit, upgrade for higher limits: https://ollama.com/upgrade (ref: 5d0f)"}, "continuedev/continue#11444, Ollama", "session usage limit"),
        failing("weekly-limit", 429, "no_quota|rate_limited", {"error": "you've reached your weekly usage limit, please wait or upgrade to continue"}, "HomericIntelligence/Scylla#346, Ollama", "weekly usage limit"),
        failing("requires-a-subscription", 403, "no_quota|forbidden", {"type": "error", "error": {"type": "permission_error", "message": "this model requires a subscription, upgrade for access: https://ollama.com/upgrade (ref: 1)"}}, "ollama/ollama#15990", "requires a subscription", api=ANTHROPIC),
        failing("overloaded-retry-shortly", 503, "overloaded", {"error": "Server overloaded, please retry shortly (ref: aaa6)"}, "ollama/ollama#15934", "Server overloaded"),
        failing("message-alone", 429, "rate_limited", {"message": "rate limit exceeded"}, "NVIDIA/nvcf#1690", "rate limit exceeded"),
        failing("behind-databricks", 400, "context_too_long", {"error_code": "BAD_REQUEST", "message": json.dumps({"external_model_provider": "anthropic", "external_model_error": {"type": "error", "error": {"type": "invalid_request_error", "message": "input length and `max_tokens` exceed context limit: 196758 + 8192 > 200000, decrease input length or `max_tokens` and try again"}, "request_id": "req"}})}, "aaif-goose/goose#3635, Databricks", "exceed context limit"),
        failing("allowed-input-length", 400, "context_too_long", {"error": {"message": "Input length 262150 exceeds the maximum allowed input length of 262144 tokens", "type": "invalid_request_error"}}, "CommandCodeAI/command-code#652", "maximum allowed input length"),
        failing("you-passed", 400, "context_too_long", {"error": {"message": "You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 99072 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=99073)", "type": "invalid_request_error", "param": None, "code": "context_length_exceeded"}}, "anomalyco/opencode#17748", "You passed 99073 input tokens"),
        failing("input-too-long", 400, "context_too_long", {"message": "Input is too long."}, "aws/amazon-q-developer-cli#1323, Bedrock", "Input is too long"),
        failing("inaccessible", 404, "unknown_model", {"error": {"object": "error", "type": "invalid_request_error", "code": "NOT_FOUND", "message": "Model not found, inaccessible, and/or not deployed"}}, "lambda-symbolics/autolith#25, Fireworks", "inaccessible"),
    ],
    "usage": [
        Row("cache-in-the-delta-alone", ANTHROPIC, named(("message_start", {"message": {"id": "m", "type": "message", "role": "assistant", "model": "q", "content": [], "stop_reason": None, "usage": {"input_tokens": 3602, "output_tokens": 0}}}), *message_events("Hello there.")[1:-2], ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 3604, "prompt_tokens_details": {"cached_tokens": 3604}, "output_tokens": 878}}), ("message_stop", {})), "jeremychone/rust-genai#258, DashScope", usage={"cache_read_tokens": 3604, "output_tokens": 878}),
    ],
}
TENTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("Unsupported parameter: 'reasoning_effort'. In the Responses API, this parameter has moved to 'reasoning.effort'. Try again with the new parameter. See the API documentation for more information: https://x", "reasoning_effort", "Gitlawb/openclaude#1638"),
    ("non-reasoning model does not support reasoning_effort", "reasoning_effort", "lambda-symbolics/autolith#25, Fireworks"),
    ("litellm.InternalServerError: InternalServerError: OpenAIException - AsyncCompletions.create() got an unexpected keyword argument 'reasoning_effort'. Received Model Group=fw-oss\nAvailable Model Group Fallbacks=None", "reasoning_effort", "BerriAI/litellm#35969"),
]
TENTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("profiles", {"object": "list", "data": [{"id": "m1", "object": "model", "created": 1, "owned_by": "local-llm-console", "name": "M", "model_id": "other", "profile_id": "default:m1", "profile_name": "Default", "is_default_profile": True, "context_length": 8192}]}, {"m1": 8192}, "alekk89/llama-cpp-windows-manager#16"),
    ("contextSize", {"data": [{"id": "m1", "contextSize": 8192}]}, {"m1": 8192}, "devchat-ai/devchat#302"),
]
# fmt: on

# Round 11.

# fmt: off
ELEVENTH: dict[str, list[Row]] = {
    "leaked calls": [
        spelled("tool-use-in-brackets", "rynfar/meridian#94", '[Tool Use: read_file({"a": 1})]'),
        spelled("channel-behind-the-name", "openai/codex#13114", "assistant to=functions.read_file commentary json\n", '{"a": 1}'),
        Row("print-glued", GEMINI, "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in (candidate("tool_codeprint(default_api"), candidate(".read_file(a=1))", "STOP"))), "microsoft/autogen#6505", text="", calls=(("read_file", ARGS),), ends="tool_calls"),
        spelled("behind-a-thought", "Gitlawb/openclaude#380, Gemma 4", "thought\n", "call:write_file{content:hello,path:a.txt}", text="thought", calls=WRITE_CALL),
        spelled("name-as-key", "ml-explore/mlx-lm#1663, Apertus", '<|tools_prefix|>[{"read_file": {"a": 1}}]', "<|tools_suffix|>"),
        spelled("words-between", "vercel/ai#3521, Llama", 'Sure!\n\n<tool_call>{"name": "read_file", "arguments": {"a": 1}}</tool_call>', '\n\nThis too:\n\n<tool_call>{"name": "read_file", "arguments": {"a": 2}}</tool_call>', text="Sure!\n\n\n\nThis too:", calls=(("read_file", ARGS), ("read_file", '{"a":2}'))),
        spelled("as-python-alone", "vllm-project/vllm#43104, Granite", "read_file(a=1)", model="ibm-granite/granite-3.3-8b-instruct"),
    ],
    "kinds of failure": [
        failing("requested-tokens", 500, "context_too_long", {"error": {"message": "Requested tokens (5136) exceed context window of 4096", "type": "internal_server_error", "param": None, "code": None}}, "nextcloud/context_chat_backend#27, llama-cpp-python", "5136"),
        broken_off("available-context-size", "context_too_long", frames({"error": {"code": 400, "message": "the request exceeds the available context size. try increasing the context size or enable context shift", "type": "invalid_request_error"}}, done=False), "gpustack/gpustack#852, llama-box", "available context size"),
    ],
}
# fmt: on

# Round 12.

# fmt: off
_BLOCK_STOP = ("content_block_stop", {"index": 0})
_OVER = "This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens. Please reduce the length of the messages."
TWELFTH: dict[str, list[Row]] = {
    "frames": [
        Row("finish-without-delta", COMPATIBLE, frames(chunk({"content": "Hello there."}), {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [{"index": 0, "finish_reason": "stop"}]}), "lingyuins/octopus#62"),
        Row("finishReason-alone", COMPATIBLE, frames(chunk({"content": "Hello "}), {"choices": [{"index": 0, "delta": {"content": "there."}, "finish_reason": None, "finishReason": "stop"}]}), "jakobdylanc/llmcord#84, Gemini compatible"),
        Row("text-with-the-finish", COMPATIBLE, frames(chunk({"content": "Hello "}), chunk({"content": "there."}, "stop")), "jeremychone/rust-genai#164, Mistral"),
        Row("blanks-behind-the-finish", COMPATIBLE, frames(chunk({"reasoning_content": "Hm."}), chunk({"content": "Hello there."}), chunk({"content": "", "reasoning_content": ""}, "stop"), chunk({"content": None, "reasoning_content": ""}), used()), "anomalyco/opencode#43040, SenseNova", reasoning="Hm."),
        Row("start-without-content", ANTHROPIC, named(("message_start", {"message": {"id": "m", "type": "message", "role": "assistant", "model": "c", "usage": {"input_tokens": 12, "output_tokens": 0}}}), *message_events("Hello there.")[1:]), "SaladDay/cc-switch-cli#320"),
        Row("no-message-stop", ANTHROPIC, named(*message_events("Hello there.")[:-1]) + "event: ping\ndata: {\"type\": \"ping\"}\n\n", "tombii/better-ccflare#307"),
        Row("delta-without-usage", ANTHROPIC, named(*message_events("Hello there.")[:-2], ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}}), ("message_stop", {})), "earendil-works/pi#6567, MiniMax"),
        Row("blocks-without-text", ANTHROPIC, named(message_events()[0], ("content_block_start", {"index": 0, "content_block": {"type": "text"}}), ("content_block_delta", {"index": 0, "delta": {"type": "text_delta"}}), ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "Hello there."}}), *message_events()[-3:]), "MoonshotAI/kimi-code#2925"),
        Row("indexes-that-jump", ANTHROPIC, named(message_events()[0], *(one for at, text in ((0, "Hello "), (1, "the"), (4, "re.")) for one in (("content_block_start", {"index": at, "content_block": {"type": "text", "text": ""}}), ("content_block_delta", {"index": at, "delta": {"type": "text_delta", "text": text}}), ("content_block_stop", {"index": at}))), *message_events()[-2:]), "NousResearch/hermes-agent#45908"),
    ],
    "errors": [
        failing("error-a-sentence-402", 402, "no_quota", {"error": "Insufficient balance", "requiredBalance": 0.0035, "status": 402}, "PsycherosAI/Psycheros#44", "Insufficient balance"),
        broken_off("error-without-event", "server_fault", named(*message_events("Half")[:3]) + 'data: {"error": {"message": "litellm.InternalServerError: AnthropicException - stream broke", "type": "None", "param": "None", "code": "500"}}\n\n', "BerriAI/litellm#41826", "stream broke", text="Half", api=ANTHROPIC),
        failing("validation-error-of-user-message", 400, "bad_request", {"error": {"message": "1 validation error for UserMessage\nmetadata\n  Extra inputs are not permitted [type=extra_forbidden, input_value={'_db_id': '7ce1'}, input_type=dict]", "type": "BadRequestError", "param": None, "code": 400}}, "odysseus-dev/odysseus#103", "Extra inputs are not permitted"),
        failing("not-permitted-by-bedrock", 400, "bad_request", {"error": {"message": 'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: guardrails: Extra inputs are not permitted"}. Received Model Group=x', "type": None, "param": None, "code": "400"}}, "BerriAI/litellm#13825", "guardrails: Extra inputs are not permitted"),
    ],
    "kinds of failure": [
        failing("quota-of-instant-inference", 400, "no_quota", {"code": 0, "message": "Insufficient quota available for instant inference. trace_id: ab", "type": "invalid_request_error"}, "experientiallabs/experiential#993, Novita", "Insufficient quota"),
        failing("balance-in-a-401", 401, "no_quota", {"type": "error", "error": {"type": "CreditsError", "message": "Insufficient balance. Manage your billing here: https://x/workspace/y"}}, "can1357/oh-my-pi#3169, OpenCode Go", "Insufficient balance"),
        failing("balance-in-a-403", 403, "no_quota", {"error": {"message": "Insufficient account balance. Top up your account at https://x", "type": "invalid_request_error", "code": "AUTHZ_INSUFFICIENT_BALANCE"}}, "diegosouzapw/OmniRoute#10966", "Insufficient account balance"),
        failing("balance-or-diem", 402, "no_quota", {"error": {"code": "INSUFFICIENT_BALANCE", "message": "Insufficient USD or Diem balance to complete request. Visit https://x to add credits."}}, "veniceai/api-docs#149", "Diem balance"),
        failing("raw-of-a-provider", 400, "context_too_long", {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps({"error": {"message": _OVER, "type": "Bad Request", "code": 400}}), "provider_name": "Nvidia", "is_byok": False, "provider_error_code": "400"}}}, "cline/cline#13194, OpenRouter", "262897 tokens"),
        failing("input-and-max-tokens", 400, "context_too_long", {"type": "error", "error": {"type": "invalid_request_error", "message": "input length and `max_tokens` exceed context limit: 90402 + 116650 > 204648, decrease input length or `max_tokens` and try again"}}, "stackblitz/bolt.new#7414", "204648", api=ANTHROPIC),
    ],
    "usage": [
        counted("cache-outside-the-prompt", "Portkey-AI/gateway#1754", {"id": "c", "choices": [], "usage": {"prompt_tokens": 44, "completion_tokens": 20, "total_tokens": 320, "cache_read_input_tokens": 256, "cache_creation_input_tokens": 0}}, input_tokens=300, cache_read_tokens=256, output_tokens=20),
        counted("writes-in-details", "BYK/loreai#1322, OpenRouter", {"id": "c", "choices": [], "usage": {**U, "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 50}}}, input_tokens=300, cache_read_tokens=100, cache_write_tokens=50),
        counted("anthropic-names-at-the-top", "mlflow/mlflow#24809, Databricks", {"id": "c", "choices": [], "usage": {**U, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 0}}, input_tokens=300, cache_read_tokens=200),
        Row("cache-told-twice", ANTHROPIC, named(("message_start", {"message": {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": None, "usage": {"input_tokens": 317, "cache_creation_input_tokens": 4425, "cache_read_input_tokens": 0, "output_tokens": 1}}}), *message_events("Hello there.")[1:-2], ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 317, "cache_creation_input_tokens": 4425, "cache_read_input_tokens": 0, "output_tokens": 5}}), ("message_stop", {})), "envoyproxy/ai-gateway#2241", usage={"input_tokens": 4742, "cache_write_tokens": 4425, "output_tokens": 5}),
        Row("usage-inside-the-delta", ANTHROPIC, named(*message_events("Hello there.")[:-2], ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None, "usage": {"output_tokens": 15}}}), ("message_stop", {})), "fumito-ito/AnthropicSwiftSDK#7", usage={"input_tokens": 12, "output_tokens": 15}),
    ],
    "endings": [
        Row("abort", COMPATIBLE, frames(chunk({"content": "Half"}), chunk({}, "abort"), used()), "vllm-project/vllm#57082", text="Half", ends="broken|unknown|truncated|cancelled"),
        Row("repetition", COMPATIBLE, frames(chunk({"content": "Half"}), chunk({}, "repetition"), used()), "Aleph-Alpha-Research/eval-framework#838", text="Half", ends="broken|unknown|truncated"),
        Row("prompt-blocked", GEMINI, "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 12, "totalTokenCount": 12}, "modelVersion": "m", "responseId": "g"},)), "2389-research/tracker#543", text="", ends="refused"),
        Row("no-signature", GEMINI, "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in ({"candidates": [{"finishReason": "MISSING_THOUGHT_SIGNATURE", "index": 0}], "modelVersion": "m"},)), "BerriAI/litellm#40864", text="", ends="broken|unknown"),
        Row("recitation-without-parts", GEMINI, "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in ({"candidates": [{"content": {"role": "model"}, "finishReason": "RECITATION", "index": 0, "citationMetadata": {"citationSources": [{"uri": "https://x"}]}}], "modelVersion": "m"},)), "google-gemini-php/client#82", text="", ends="refused"),
    ],
    "leaked calls": [
        spelled("words-between-the-tokens", "vllm-project/vllm#28543, Kimi", "I read it. <|tool_calls_section_begin|> now ", '<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>', text="I read it.  now"),
        spelled("in-tools-tags", "NousResearch/hermes-agent#83023, Qwen3-Coder", f"I read it now.\n<tools>\n{CALL_JSON}\n</tools>", text="I read it now."),
        spelled("last-brace-lost", "agent0ai/agent-zero#1459", '{"tool_name": "read_file", "tool_args": {"a": 1}', model="glm-4.6"),
        spelled("tool_args", "agent0ai/agent-zero#1459", 'I use the tool.\n\n{"thoughts": ["x"], "tool_name": "read_file", "tool_args": {"a": 1}}', text="I use the tool.", model="MiniMax-M2"),
        spelled("braces-twice", "tinyhumansai/tinyagents#68", '<tool_call>{{"name": "read_file", "arguments": {"a": 1}}}</tool_call>'),
        spelled("keys-without-quotes", "tinyhumansai/tinyagents#68", '<tool_call>{name:"read_file",arguments:{a:1}}</tool_call>'),
        spelled("begin-and-two-invokes", "earendil-works/pi#368, MiniMax 2.1", '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="a">1</parameter>\n</invoke>\n<invoke name="read_file">\n<parameter name="a">2</parameter>\n</invoke>\n</minimax:tool_call>', calls=(("read_file", ARGS), ("read_file", '{"a":2}'))),
        spelled("closed-alone", "AntSeed/antseed#213", "<function=read_file>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"),
        spelled("arguments-a-text", "microsoft/foundry-local#1060", '<tool_call>\n{"name": "read_file", "arguments": "{\\"a\\": 1}"}\n</tool_call>'),
    ],
    "tool calls": [
        calling("null-content-and-stop", "symfony/ai#2543", {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": "t", "type": "function", "function": {"name": "read_file", "arguments": '{"a": 1}'}}]}, "finish_reason": "stop"}]}, used()),
        calling("keys-without-quotes", "tinyhumansai/tinyagents#68, Kimi", tool_call("read_file", "{a:1}", id="t"), chunk({}, "tool_calls"), used()),
        calling("braces-twice", "tinyhumansai/tinyagents#68, Kimi", tool_call("read_file", '{{"a":1}}', id="t"), chunk({}, "tool_calls"), used()),
    ],
}
TWELFTH_REFUSALS: list[tuple[str, str | None, str]] = [
    ("[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {}}]", "stream_options", "modelscope/ms-agent#489"),
    ("[{'type': 'extra_forbidden', 'loc': ('body', 'stream_otpions'), 'msg': 'Extra inputs are not permitted', 'input': {'include_usage': True}}]", "stream_options", "gpustack/gpustack#429: told by its value"),
    ("body -> temperature\n  Extra inputs are not permitted (type=extra_forbidden)\nbody -> n\n  Extra inputs are not permitted (type=extra_forbidden)", "temperature", "NVIDIA/garak#748"),
    ("Extra inputs are not permitted, field: 'headers'", None, "mitsuhiko/agent-stuff#19"),
    ("The model returned the following errors: guardrails: Extra inputs are not permitted", None, "BerriAI/litellm#13825"),
]
TWELFTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("max_sequence_length", {"data": [{"id": "m1", "object": "model", "max_sequence_length": 32768}]}, {"m1": 32768}, "ml-explore/mlx-lm#1184"),
    ("max_context_window_tokens", {"data": [{"id": "m1", "context_length": "131072", "max_completion_tokens": 4096}]}, {"m1": 131072}, "nocoo/raven#8"),
    ("top_provider", {"data": [{"id": "m1", "context_length": None, "top_provider": {"context_length": 8192, "max_completion_tokens": None}}]}, {"m1": 8192}, "OpenRouter"),
]
# fmt: on

LATER_ROUNDS = (EIGHTH, NINTH, TENTH, ELEVENTH, TWELFTH)
LATER_REFUSALS = EIGHTH_REFUSALS + NINTH_REFUSALS + TENTH_REFUSALS + TWELFTH_REFUSALS
LATER_LISTS = EIGHTH_LISTS + NINTH_LISTS + TENTH_LISTS + TWELFTH_LISTS
