"""Reports of the twenty-second round, written down before a try, and tables beside a reply that are not its usage."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.world.rounds import broken_off, calling, counted, failing
from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL_END,
    COMPATIBLE,
    JSON,
    TWO_CALLS,
    Json,
    Row,
    U,
    chunk,
    frames,
    message_events,
    named,
    said,
    tool_call,
    used,
)

_BIG = {"input_tokens": 50_000, "output_tokens": 9_000}
_CHAT = {"prompt_tokens": 50_000, "completion_tokens": 9_000}


def _beside(name: str, source: str, **table: Any) -> Row:
    """Usage of the call, and a table of other figures in the last chunk: only the first is booked."""
    last = {**chunk({}, "stop"), **table}
    right = {"input_tokens": 300, "output_tokens": 20, "cache_read_tokens": None, "reasoning_tokens": None}
    return Row(
        name,
        COMPATIBLE,
        frames(chunk({"content": "Hello there."}), {"id": "c", "choices": [], "usage": U}, last),
        source,
        usage=right,
    )


def _within(name: str, source: str, right: dict[str, Any], **more: Any) -> Row:
    """A figure within usage that is no part of it."""
    last = {"id": "c", "choices": [], "usage": {**U, **more}}
    none = {"cache_read_tokens": None, "cache_write_tokens": None, "reasoning_tokens": None, "cost_usd": None}
    return Row(
        name,
        COMPATIBLE,
        frames(chunk({"content": "Hello there."}), chunk({}, "stop"), last),
        source,
        usage={"input_tokens": 300, "output_tokens": 20, **none, **right},
    )


def _foundry(text: str) -> Json:
    """Foundry Local tells each piece twice, and no end."""
    message = {"role": "assistant", "content": text, "tool_calls": []}
    choice = {"delta": message, "message": message, "index": 0}
    return {"id": "chat.id.1", "choices": [choice], "IsDelta": False, "Successful": True, "HttpStatusCode": 0}


def _minimax(delta: Json, **more: Any) -> Json:
    """MiniMax tells a total of nought with each piece, and an empty role."""
    choice = {"index": 0, "delta": {"role": "", **delta}, **more}
    return {"id": "m", "choices": [choice], "usage": {"total_tokens": 0, "total_characters": 0}}


_MINIMAX_END = {"id": "m", "object": "chat.completion", "choices": [{"finish_reason": "stop", "index": 0, "message": {"content": "Hello there.", "role": "assistant"}}], "usage": {**U, "total_characters": 0}, "base_resp": {"status_code": 0, "status_msg": ""}}  # fmt: skip
_PAGE = "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body><h1>504 Gateway Time-out</h1></body>\r\n</html>\r\n"


# fmt: off
TWENTY_SECOND: dict[str, list[Row]] = {
    "frames": [
        Row("pings-as-objects", COMPATIBLE, frames({"type": "ping"}, done=False) + frames(*said("Hello ", "there.")), "LiteLLM"),
        Row("ends-behind-each-piece", COMPATIBLE, frames(chunk({"content": "Hello "}), chunk({}, "stop"), chunk({"content": "there."}), chunk({}, "stop"), used()), "1jehuang/jcode#1326"),
        Row("delta-and-message", COMPATIBLE, frames(_foundry("Hello "), _foundry("there.")), "microsoft/foundry-local#299"),
        Row("page-behind-an-end", COMPATIBLE, frames(*said("Hello ", "there.")[:3], done=False) + _PAGE, "what must stay right"),
        Row("lines-of-ollama", COMPATIBLE, "".join(json.dumps(one) + "\n" for one in ({"model": "m", "message": {"role": "assistant", "content": "Hello "}, "done": False}, {"model": "m", "message": {"role": "assistant", "content": "there."}, "done": False}, {"model": "m", "message": {"role": "assistant", "content": ""}, "done_reason": "stop", "done": True, "prompt_eval_count": 300, "eval_count": 20})), "Ollama's own API behind a gateway", "application/x-ndjson", usage={"input_tokens": 300, "output_tokens": 20}),
    ],
    "whole replies": [
        Row("delta-in-a-whole-reply", COMPATIBLE, json.dumps({"id": "x", "object": "chat.completion", "choices": [{**_foundry("Hello there.")["choices"][0], "finish_reason": "stop"}]}), "microsoft/foundry-local#383", JSON),
    ],
    "kinds of failure": [
        failing("cf-doubled-path", 400, "bad_request", {'success': False, 'result': [], 'messages': [], 'error': [{'code': 2019, 'message': 'Compatibility endpoint: chat/completions/chat/completions is not supported.'}]}, "router-for-me/CLIProxyAPI#3185", 'is not supported', 'base_url'),
        failing("cf-no-route", 404, "bad_request", {'result': None, 'success': False, 'errors': [{'code': 7003, 'message': 'Could not route to /client/v4/accounts/x/ai/v1/chat/completions, perhaps your object identifier is invalid?'}], 'messages': []}, "anomalyco/opencode#23773", 'Could not route to', 'base_url'),
        failing("zhipu-1113", 429, "no_quota", {'error': {'code': '1113', 'message': '余额不足或无可用资源包,请充值。'}}, "zhayujie/CowAgent#2910", '余额不足'),
        failing("zhipu-arrears", 429, "no_quota", {'error': {'code': '1113', 'message': '您的账户已欠费，请充值后重试。'}}, "langgenius/dify#5850", '欠费'),
        failing("siliconflow-paid", 403, "no_quota", {'code': 30011, 'message': 'The selected model requires paid balance. Your paid balance is insufficient. Please top up and try again.', 'data': None}, "FoundationAgents/OpenManus#438", 'paid balance'),
        failing("zen-credits-401", 401, "no_quota", {'type': 'error', 'error': {'message': 'Insufficient balance. Manage your billing here: https://example.test/billing', 'type': 'CreditsError', 'param': '', 'code': None}}, "TiaraBasori/OpenCode2API#5", 'Insufficient balance'),
        failing("minimax-500", 500, "no_quota", {'type': 'error', 'error': {'type': 'api_error', 'message': 'insufficient balance (1008)'}, 'request_id': 'x'}, "MiniMax-AI/MiniMax-M2#62", '1008'),
        failing("litellm-crossed", 429, "no_quota", {'error': {'message': 'No deployments available - crossed budget: Exceeded budget for deployment model_name: m, litellm_params.model: m, model_id: x: 0.363 >= 0.3', 'type': 'None', 'param': 'None', 'code': '429'}}, "BerriAI/litellm#14144", 'crossed budget'),
        failing("litellm-custom-budget", 429, "no_quota", {'error': {'message': 'Your AI usage allowance has been reached. Please contact the AI team.', 'type': 'budget_exceeded', 'param': None, 'code': '429'}}, "BerriAI/litellm#36729", 'contact the AI team'),
        failing("perplexity-alternate", 400, "bad_request", {'error': {'message': 'After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).', 'type': 'invalid_message', 'code': 400}}, "perplexityai/api-discussion#265", 'should alternate'),
        failing("groq-tpd", 429, "rate_limited", {'error': {'message': 'Rate limit reached for model `m` in organization `org_x` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 99963, Requested 1180. Please try again in 16m27.5s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing', 'type': 'tokens', 'code': 'rate_limit_exceeded'}}, "Groq", '16m27.5s'),
        failing("cerebras-tpm", 429, "rate_limited|no_quota", {'message': 'Tokens per day limit exceeded - too many tokens processed.', 'type': 'too_many_tokens_error', 'param': 'quota', 'code': 'token_quota_exceeded'}, "Cerebras", 'Tokens per day'),
        failing("vertex-array", 429, "rate_limited|overloaded", [{'error': {'code': 429, 'message': 'Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/docs for more details.', 'status': 'RESOURCE_EXHAUSTED'}}], "Vertex AI", 'Resource exhausted'),
        failing("bedrock-on-demand", 400, "unknown_model|bad_request", {'detail': 'An error occurred (ValidationException) when calling the ConverseStream operation: Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.'}, "gateways over Bedrock", 'inference profile'),
        failing("bedrock-no-access", 403, "forbidden|unknown_model", {'message': "You don't have access to the model with the specified model ID."}, "Bedrock", 'specified model ID'),
        failing("hf-credits", 402, "no_quota", {'error': 'You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included credits.'}, "HF router", 'included credits'),
        failing("portkey-guardrail", 446, "declined|bad_request", {'error': {'message': 'The guardrail checks defined in the config failed. You can find more information in the `hook_results` object.', 'type': 'hooks_failed', 'param': None, 'code': None}, 'hook_results': {'before_request_hooks': [{'verdict': False, 'id': 'g'}]}}, "Portkey", 'guardrail checks'),
        failing("newapi-prededuct", 403, "no_quota", {'error': {'message': '预扣费额度失败, 用户剩余额度: ＄0.013, 需要预扣费额度: ＄0.02 (request id: 2026)', 'type': 'new_api_error', 'param': '', 'code': 'insufficient_user_quota'}}, "new-api", '预扣费额度失败'),
        failing("xai-team-credits", 403, "no_quota", {'code': 'The caller does not have permission to execute the specified operation', 'error': "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.x.ai/team."}, "xAI", 'credits or licenses'),
        failing("fireworks-412", 412, "no_quota|forbidden", {'error': {'object': 'error', 'type': 'invalid_request_error', 'code': 'PRECONDITION_FAILED', 'message': 'Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.'}}, "Fireworks", 'spending limit'),
        failing("models-404-text", 404, "bad_request|unknown_model", '404 page not found', "XInTheDark/raycast-g4f#171", '404 page not found', 'base_url'),
        failing("perplexity-tool-parameters", 400, "no_tools|bad_request", {'error': {'message': 'Tool parameters must be a JSON object.', 'type': 'invalid_parameter', 'code': 400}}, "ProfSynapse/nexus#116", 'Tool parameters must be'),
        failing("mimo-402", 402, "no_quota", {'type': 'server_error', 'message': 'Upstream request failed: Insufficient account funds'}, "XiaomiMiMo/MiMo#99", 'account funds'),
        failing("volc-quota", 429, "no_quota|rate_limited", {'error': {'code': 'AccountQuotaExceeded', 'message': 'You have exceeded the 5-hour usage quota. It will reset at 2026-12-01 18:00:00 +0800 CST. Request id: x', 'type': 'TooManyRequests', 'param': ''}}, "Volcengine Ark", 'It will reset at'),
        failing("copilot-model", 400, "bad_request|unknown_model", {'error': {'message': 'model gpt-x is not accessible via the /chat/completions endpoint', 'code': 'unsupported_api_for_model'}}, "GitHub Copilot", 'is not accessible', 'another model'),
        failing("gemini-compat-invalid", 400, "bad_request", [{'error': {'code': 400, 'message': 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.', 'status': 'INVALID_ARGUMENT'}}], "Gemini's compatible address", 'function call turn'),
        failing("ollama-cloud-limit", 429, "no_quota|rate_limited", {'error': 'you (x) have reached your weekly usage limit, upgrade for higher limits: https://ollama.com/upgrade'}, "Ollama Cloud", 'weekly usage limit'),
        failing("ssl-to-plain", 400, "bad_request", '<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head><body>x</body></html>', "nginx", 'plain HTTP request'),
        failing("balance-at-a-copied-api", 500, "no_quota", {"type": "error", "error": {"type": "api_error", "message": "insufficient balance (1008)"}, "request_id": "x"}, "MiniMax-AI/MiniMax-M2#62", "1008", api=ANTHROPIC),
        broken_off("page-in-a-stream", "server_fault|timed_out|overloaded|stream_dropped", frames(chunk({"content": "Half of"}), done=False) + _PAGE, "nginx", "504 Gateway Time-out", text="Half of"),
        broken_off("requests-a-second", "rate_limited", json.dumps({"error_code": 18, "error_msg": "Open api qps request limit reached", "id": "x"}), "Baidu Qianfan", "qps request limit", content_type=JSON),
        broken_off("error-inside-a-response", "no_quota", json.dumps({"Response": {"Error": {"Code": "FailedOperation.ResourcePackExhausted", "Message": "资源包余量已用尽，请购买资源包或开通后付费"}, "RequestId": "x"}}), "Tencent Hunyuan", "资源包余量已用尽", content_type=JSON),
        broken_off("nothing-at-all", "bad_reply", "", "proxies that lose the body", "the answer is empty"),
        broken_off("validation-in-a-stream", "context_too_long", 'data: {"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 12000 `inputs` tokens and 500 `max_new_tokens`","error_type":"validation"}\n\n', "huggingface/text-generation-inference#2749", "8192"),
        broken_off("filter-of-azure-in-a-stream", "declined", frames({"error": {"message": "Error code: 400 - {'error': {'message': \"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.\", 'code': 'content_filter'}}"}}), "Oaklight/argo-proxy#91", "content management policy"),
    ],
    "tool calls": [
        calling("object-thrice", "Soju06/codex-lb#284", tool_call("read_file", ARGS * 3, id="t"), *CALL_END),
        calling("object-twice-in-pieces", "lidge-jun/opencodex#361", tool_call("read_file", "", id="t"), tool_call(None, ARGS), tool_call(None, ARGS), *CALL_END),
        calling("brace-before-the-object", "vllm-project/vllm#51697", tool_call("read_file", "{", id="t"), tool_call(None, ARGS), *CALL_END),
        calling("arguments-before-the-name", "binaricat/Netcatty#1176", chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": '}}]}), tool_call("read_file", "1}", id="t"), *CALL_END),
        calling("each-piece-is-all-so-far", "NousResearch/hermes-agent#35718", tool_call("read_file", '{"a"', id="t"), tool_call(None, '{"a": '), tool_call(None, '{"a": 1}'), *CALL_END),
        calling("ends-behind-each-piece-of-a-call", "1jehuang/jcode#1326", tool_call("read_file", "", id="t"), chunk({}, "stop"), tool_call(None, '{"a": '), chunk({}, "stop"), tool_call(None, "1}"), *CALL_END),
        calling("index-from-one", "BerriAI/litellm#11407", tool_call("read_file", "", index=1, id="t"), tool_call(None, '{"a": ', index=1), tool_call(None, "1}", index=1), *CALL_END),
        calling("pieces-in-turn", "what must stay right", tool_call("read_file", "", id="a"), tool_call("read_file", "", index=1, id="b"), tool_call(None, '{"a": '), tool_call(None, '{"a": ', index=1), tool_call(None, "1}"), tool_call(None, "2}", index=1), *CALL_END, calls=TWO_CALLS),
    ],
    "usage": [
        counted("parts-of-a-cache-beside", "unslothai/unsloth#5670", {"id": "c", "choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": 862, "total_tokens": 870, "prompt_tokens_details": {"cached_tokens": 18901}, "cache_creation_input_tokens": 1367, "cache_read_input_tokens": 18901}}, input_tokens=20276, cache_read_tokens=18901, cache_write_tokens=1367, output_tokens=862, is_estimate=False),
        counted("several-costs", "BerriAI/litellm#39088", {"id": "c", "choices": [], "usage": {"prompt_tokens": 9520, "completion_tokens": 16, "total_tokens": 9536, "cost": 0.00254674, "prompt_tokens_details": {"cached_tokens": 9519}, "market_cost": 0.009, "gateway_cost": 0.009}}, cost_usd=0.00254674, cache_read_tokens=9519),
        Row("nought-until-the-message", COMPATIBLE, frames(_minimax({"reasoning_content": "", "content": "Hello "}), _minimax({"content": "there."}, finish_reason="stop"), _MINIMAX_END, done=False), "MiniMax-AI/MiniMax-M2.5#2", usage={"input_tokens": 300, "output_tokens": 20, "is_estimate": False}),
        Row("nought-at-the-start", ANTHROPIC, named(*((name, {**event, "message": {**event["message"], "usage": {"input_tokens": 0, "output_tokens": 0}}} if name == "message_start" else {**event, "usage": {"input_tokens": 14, "output_tokens": 5, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 0}} if name == "message_delta" else event) for name, event in message_events("Hello ", "there."))), "zai-org/GLM-5#139", usage={"input_tokens": 214, "cache_read_tokens": 200, "output_tokens": 5}),
        *(
            _beside(f"beside-{name}", "gateways that tell more than a call", **{name: table})
            for name, table in {
                "limits": _BIG, "rate_limit": _BIG, "quota": _BIG, "session": {"id": "s", "usage": _CHAT}, "account": {"usage": _CHAT},
                "cumulative_usage": _CHAT, "monthly_usage": _CHAT, "previous_usage": _CHAT, "model_info": _BIG, "pricing": _CHAT, "capabilities": _BIG,
            }.items()
        ),
        *(
            _within(f"within-{name}", "gateways that tell more than a call", {}, **{name: 9})
            for name in ("max_thinking_tokens", "cache_read_limit", "cache_hits", "session_cached_tokens", "remaining_reasoning_tokens", "prompt_cache_read_time_ms", "cache_creation_ms", "tool_cache")
        ),
        _within("models-of-other-calls", "gateways that tell more than a call", {}, budget={"thinking_tokens": 9}, model_usage={"a": {"cached_tokens": 200}}),
        _within("cost-in-yuan", "gateways of China", {}, cost=0.5, currency="CNY"),
        _within("cost-in-credits", "gateways that sell credits", {}, cost=120, cost_unit="credits"),
        _within("cost-of-euros-inside", "gateways of Europe", {}, cost={"total_cost": 0.5, "currency": "EUR"}),
        _within("cost-in-dollars", "what must stay right", {"cost_usd": 0.5}, cost=0.5, currency="USD"),
    ],
}
# fmt: on
"""Rows by their class, as `table.CLASSES`."""

TWENTY_SECOND_LISTS: list[tuple[str, object, dict[str, int | None], str]] = [
    ("workspaces", {"models": [{"name": "Sample workspace", "model": "sample-workspace", "llm": {"provider": "ollama", "model": "llama3:8b"}}]}, {"sample-workspace": None}, "Mintplex-Labs/anything-llm#4295"),
    ("window-within-meta", {"object": "list", "data": [{"id": "m1", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072, "n_ctx": 4096}}]}, {"m1": 4096}, "llama.cpp"),
]  # fmt: skip
