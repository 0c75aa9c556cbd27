"""More reports of the world, beside `table`: rows of the same classes, written before the program was tried on them."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL,
    COMPATIBLE,
    GEMINI,
    GEMINI_USAGE,
    HTML,
    JSON,
    PAID,
    PLAIN,
    RESPONSE,
    RESPONSES,
    TEXT,
    Json,
    Row,
    U,
    calls,
    candidate,
    chunk,
    error,
    frames,
    message_events,
    metered,
    named,
    noisy,
    refusal,
    response_events,
    said,
    spoken,
    used,
    whole,
)

_HALF = frames(chunk({"content": "Half"}), done=False)

MORE_FRAMES = [
    row
    for api in PLAIN
    for row in (
        Row(f"{api}-typed-ping", api, noisy(api, 'data: {"type": "ping"}\n\n'), "caidaoli/ccLoad#69"),
        Row(f"{api}-keepalive", api, noisy(api, 'event: keepalive\ndata: {"type": "keepalive", "sequence_number": 3}\n\n'), "stacklok/mecatl#351"),
        Row(f"{api}-comment-alone", api, noisy(api, ": ping - 2026-07-26 19:11:49.346444+00:00\n\n"), "stacklok/mecatl#351"),
        Row(f"{api}-bare-colon", api, noisy(api, ":\n\n"), "the standard of events"),
        Row(f"{api}-unknown-field", api, noisy(api, "x-trace: 9\n"), "the standard of events"),
        Row(f"{api}-octet-stream", api, PLAIN[api], "gateways that name no type", "application/octet-stream"),
    )
] + [
    Row("event-message", COMPATIBLE, "".join(f"event: message\ndata: {json.dumps(one)}\n\n" for one in said("Hello ", "there.")) + "event: message\ndata: [DONE]\n\n", "gateways that name each frame"),
    Row("event-result", COMPATIBLE, "".join(f"id:{at}\nevent:result\n:HTTP_STATUS/200\ndata:{json.dumps(one)}\n\n" for at, one in enumerate(said("Hello ", "there."))), "DashScope, frames of its stream"),
    Row("double-prefix", COMPATIBLE, frames(*said("Hello ", "there.")).replace("data: ", "data: data: "), "gateways that prefix a frame that has its prefix"),
    Row("pretty-in-a-frame", COMPATIBLE, "".join(f"data: {json.dumps(one, indent=2)}\n\n" for one in said("Hello ", "there.")) + "data: [DONE]\n\n", "servers that print over lines behind one prefix"),
    Row("two-dones", COMPATIBLE, frames(*said("Hello ", "there.")) + "data: [DONE]\n\n", "QuantumNous/new-api, [DONE] of both sides"),
    Row("done-with-blanks", COMPATIBLE, frames(*said("Hello ", "there."), done=False) + "data:[DONE] \r\n\r\n", "the standard of events"),
    Row("blank-lines-then-whole", COMPATIBLE, "\n\n \n" + whole({"content": "Hello there."}), "DeepSeek API, empty lines while a request waits", JSON, usage=PAID),
    Row("progress-first", COMPATIBLE, frames({"status": "queued", "message": "position 3"}, *said("Hello ", "there.")), "gateways with a queue"),
    Row("usage-null-each", COMPATIBLE, frames(*({**one, "usage": one.get("usage")} for one in said("Hello ", "there."))), "OpenAI, usage null until the last chunk", usage=PAID),
    Row("empty-choices-last", COMPATIBLE, frames(*said("Hello ", "there."), {"id": "", "object": "", "choices": []}), "TheR1D/shell_gpt#470"),
    Row("no-choices-key", COMPATIBLE, frames({"id": "c", "object": "chat.completion.chunk"}, *said("Hello ", "there.")), "openai/openai-node#364"),
    Row("object-other", COMPATIBLE, frames(*({**one, "object": ""} for one in said("Hello ", "there."))), "mlflow/mlflow#12767"),
    Row("gemini-done-alone", GEMINI, PLAIN[GEMINI] + "data: [DONE]\r\n\r\n", "gateways of Gemini"),
    Row("gemini-named", GEMINI, PLAIN[GEMINI].replace("data: ", "event: message\r\ndata: "), "gateways of Gemini"),
]  # fmt: skip


def _answered(message: Json, **more: Any) -> str:
    return whole(message, "tool_calls" if message.get("tool_calls") else "stop", **more)


_CALLED = [{"id": "t", "type": "function", "function": {"name": "read_file", "arguments": ARGS}}]

MORE_WHOLE = [
    Row("last-repeats-all", COMPATIBLE, frames(chunk({"content": "Hello "}), chunk({"content": "there."}), {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello there."}}], "usage": U}), "MiniMax, the last frame holds the whole reply", usage=PAID),
    Row("last-repeats-reasoning", COMPATIBLE, frames(chunk({"reasoning_content": "Hm."}), chunk({"content": "Hello there."}), json.loads(whole({"content": "Hello there.", "reasoning_content": "Hm."}))), "MiniMax, the last frame holds the whole reply", reasoning="Hm.", usage=PAID),
    Row("last-repeats-calls", COMPATIBLE, frames(chunk({"tool_calls": [{"index": 0, **_CALLED[0]}]}), json.loads(_answered({"content": "", "tool_calls": _CALLED}))), "MiniMax, the last frame holds the whole reply", text="", calls=CALL, ends="tool_calls"),
    Row("message-grows-beside", COMPATIBLE, frames(*({"id": "c", "choices": [{"index": 0, "finish_reason": end, "delta": {"role": "assistant", "content": new}, "message": {"role": "assistant", "content": all_}}], "usage": U} for new, all_, end in (("Hello ", "Hello ", None), ("there.", "Hello there.", None), ("", "Hello there.", "stop")))), "Perplexity, message beside delta"),
    Row("whole-content-parts", COMPATIBLE, whole({"content": [{"type": "text", "text": "Hello there."}]}), "agent-framework#6978", JSON),
    Row("whole-choices-behind-data", COMPATIBLE, json.dumps({"data": [json.loads(whole({"content": "Hello there."}))]}), "gateways that wrap", JSON, usage=PAID),
    Row("whole-output-object", COMPATIBLE, json.dumps({"request_id": "r", "output": {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hello there."}}]}, "usage": {"input_tokens": 300, "output_tokens": 20, "total_tokens": 320}}), "DashScope, its own form", JSON, usage=PAID),
    Row("whole-tool-calls-null", COMPATIBLE, whole({"content": "Hello there.", "tool_calls": None, "function_call": None, "refusal": None, "audio": None}), "servers that send every field", JSON, usage=PAID),
    Row("whole-text-plain", COMPATIBLE, whole({"content": "Hello there."}), "gateways that name another content type", TEXT, usage=PAID),
    Row("whole-message-as-event", ANTHROPIC, "event: message\ndata: " + json.dumps({"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Hello there."}], "usage": {"input_tokens": 12, "output_tokens": 5}}) + "\n\n", "gateways that ignore stream", usage={"input_tokens": 12, "output_tokens": 5}),
    Row("whole-message-text", ANTHROPIC, json.dumps({"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn", "content": "Hello there.", "usage": {"input_tokens": 12, "output_tokens": 5}}), "gateways that ignore stream", JSON),
    Row("whole-gemini-call", GEMINI, json.dumps({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"a": 1}}}]}, "finishReason": "STOP"}], "usageMetadata": GEMINI_USAGE}), "gateways that ignore stream", JSON, text="", calls=CALL, ends="tool_calls"),
]  # fmt: skip


def _broken(
    name: str,
    sent: Any,
    source: str,
    kind: str,
    *words: str,
    status: int = 200,
    api: str = COMPATIBLE,
    **more: Any,
) -> Row:
    body = sent if isinstance(sent, str) else json.dumps(sent)
    return Row(name, api, body, source, more.pop("content_type", JSON), status=status, text=more.pop("text", ""), fails=kind, words=words, **more)  # fmt: skip


MORE_ERRORS = [
    _broken("error-type-no-event", 'data: {"type": "ping"}\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"Concurrency limit exceeded for account, please retry later"}}\n\n', "caidaoli/ccLoad#69", "rate_limited", "Concurrency limit exceeded", api=ANTHROPIC, content_type="text/event-stream"),
    _broken("error-text-and-code", {"code": "invalid-argument", "error": "Model grok-4 does not support parameter presencePenalty."}, "BerriAI/litellm#16265", "bad_request", "does not support parameter presencePenalty", status=400),
    _broken("error_code", {"error_code": "INVALID_PARAMETER_VALUE", "message": "Missing required Chat parameter: 'messages'"}, "anomalyco/opencode#4698", "bad_request", "Missing required Chat parameter", status=400),
    _broken("capital-message", {"Message": "User is not authorized to access this resource"}, "AWS API Gateway", "forbidden", "User is not authorized", status=403),
    _broken("capital-error", {"Error": {"Code": "AccessDenied", "Message": "Not for this account"}}, "AWS", "forbidden", "Not for this account", status=403),
    _broken("error-in-choice", frames({"id": "c", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "Upstream idle timeout"}}]}), "OpenRouter API, errors in a choice", "server_fault", "Upstream idle timeout", content_type="text/event-stream"),
    _broken("error-in-choice-after-part", _HALF + frames({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "Upstream idle timeout"}}]}), "OpenRouter API, errors in a choice", "server_fault", "Upstream idle timeout", content_type="text/event-stream", text="Half"),
    _broken("rate-behind-gateway", {"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": "x/y is temporarily rate-limited upstream. Please retry shortly.", "provider_name": "X"}}}, "OpenRouter", "rate_limited", "temporarily rate-limited upstream", status=429),
    _broken("context-behind-gateway", {"message": "400 Provider returned error", "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": '{"error":{"message":"This model\'s maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens.","type":"Bad Request","code":400}}', "provider_error_code": "400"}}}, "cline/cline#13194", "context_too_long", "262144", status=400),
    _broken("base_resp", {"id": "x", "choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail: Please carry the API secret key in the 'Authorization' field"}}, "MiniMax", "bad_key", "login fail"),
    _broken("base_resp-balance", {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "MiniMax", "no_quota", "insufficient balance"),
    _broken("base_resp-context", {"base_resp": {"status_code": 2013, "status_msg": "invalid params, context window exceeds limit (2013)"}}, "MiniMax", "context_too_long", "context window exceeds limit"),
    Row("base_resp-fine", COMPATIBLE, frames(*({**one, "base_resp": {"status_code": 0, "status_msg": ""}} for one in said("Hello ", "there."))), "MiniMax"),
    _broken("message-and-request-id", {"message": "Unauthorized", "request_id": "r"}, "Mistral", "bad_key", "Unauthorized", status=401),
    _broken("message-alone-200", {"message": "The engine is not ready", "request_id": "r"}, "gateways", "bad_reply", "The engine is not ready"),
    _broken("status-and-message-200", {"status": "error", "message": "The engine is not ready"}, "gateways", "server_fault", "The engine is not ready"),
    _broken("success-false-code", {"code": 500, "msg": "404 NOT_FOUND", "success": False}, "Z.ai, its Anthropic address", "server_fault", "404 NOT_FOUND", api=ANTHROPIC),
    _broken("message-with-detail", {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "foo"], "msg": "Extra inputs are not permitted", "input": True}]}, "type": "invalid_request_error"}, "Mistral", "bad_request", "Extra inputs are not permitted", "foo", status=422),
    _broken("detail-object", {"detail": {"error": "Model not found", "code": 404}}, "FastAPI servers", "unknown_model", "Model not found", status=404),
    _broken("error-and-error_type", "data:" + json.dumps({"error": "Input validation error: `inputs` must have less than 4096 tokens", "error_type": "validation"}) + "\n\n", "TGI, in its stream", "context_too_long", "must have less than 4096", content_type="text/event-stream"),
    _broken("code-as-text", _HALF + "data: " + json.dumps({"error": {"message": "litellm.APIConnectionError: peer closed connection", "type": None, "param": None, "code": "500"}}) + "\n\n", "LiteLLM, in its stream", "server_fault", "peer closed connection", text="Half", content_type="text/event-stream"),
    _broken("empty-body-413", "", "Cerebras, earendil-works/pi#129", "request_too_large", status=413),
    _broken("empty-body-500", "", "servers that say nothing", "server_fault", status=500),
    _broken("empty-body-200", "", "servers that say nothing", "bad_reply"),
    _broken("page-413", "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>nginx</body></html>", "nginx", "request_too_large", "413 Request Entity Too Large", status=413, content_type=HTML, words_not=("<html",)),
    _broken("page-524", "<!DOCTYPE html><html><head><title>example.com | 524: A timeout occurred</title></head></html>", "Cloudflare", "server_fault", "524: A timeout occurred", status=524, content_type=HTML, words_not=("<html",)),
    _broken("not-found-detail", {"detail": "Not Found"}, "harry0703/MoneyPrinterTurbo#1001", "bad_request", "address", status=404),
    _broken("not-found-page", "<html>\n<head><title>404 Not Found</title></head>\n<body>nginx</body></html>", "tsundereraws/aisub-translator#2", "bad_request", "404 Not Found", "address", status=404, content_type=HTML),
    _broken("not-found-text", "404 page not found", "Ollama, a path that it has not", "bad_request", "404 page not found", "address", status=404, content_type=TEXT),
    _broken("invalid-url", {"error": {"message": "Invalid URL (POST /v1/v1/chat/completions)", "type": "invalid_request_error", "param": None, "code": None}}, "Kilo-Org/kilocode#2384", "bad_request", "Invalid URL", "address", status=404),
    _broken("resource-not-found", {"error": {"code": "404", "message": "Resource not found"}}, "Azure OpenAI, a wrong address", "bad_request", "Resource not found", "address", status=404),
    _broken("anthropic-error-first", 'event: error\ndata: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}\n\n', "Anthropic", "overloaded", "Overloaded", api=ANTHROPIC, content_type="text/event-stream"),
    _broken("anthropic-code-as-type", {"type": "error", "error": {"type": "1113", "message": "Insufficient balance or no resource package. Please recharge."}, "request_id": "r"}, "Z.ai, its Anthropic address", "no_quota", "Please recharge", status=429, api=ANTHROPIC),
    _broken("responses-failed", named(("response.failed", {"response": {**RESPONSE, "status": "failed", "output": [], "error": {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}}})), "OpenAI Responses", "context_too_long", "exceeds the context window", api=RESPONSES, content_type="text/event-stream"),
    _broken("responses-failed-rate", named(("response.failed", {"response": {**RESPONSE, "status": "failed", "output": [], "error": {"code": "rate_limit_exceeded", "message": "Rate limit reached for gpt on tokens per min"}}})), "OpenAI Responses", "rate_limited", "Rate limit reached", api=RESPONSES, content_type="text/event-stream"),
    _broken("gemini-block", "data: " + json.dumps({"error": {"code": 429, "message": "Resource has been exhausted (e.g. check quota).", "status": "RESOURCE_EXHAUSTED"}}) + "\r\n\r\n", "Gemini, within a stream", "rate_limited", "Resource has been exhausted", api=GEMINI, content_type="text/event-stream"),
]  # fmt: skip


def _flat(name: str, status: int, kind: str, body: Json, source: str, api: str = COMPATIBLE) -> Row:
    return Row(name, api, json.dumps(body), source, JSON, status=status, text="", fails=kind)


def _throttled(name: str, kind: str, message: str, source: str) -> Row:
    """A failure within a stream, where words are all that there is."""
    return Row(
        name, COMPATIBLE, frames({"error": {"message": message}}, done=False), source, text="", fails=kind
    )


MORE_KINDS = [
    refusal("openai-window", 400, "context_too_long", "Your input exceeds the context window of this model. Please adjust your input and try again.", "OpenAI", code="context_length_exceeded"),
    refusal("bedrock-input", 400, "context_too_long", "Input is too long for requested model.", "Amazon Bedrock"),
    refusal("bedrock-input-limit", 400, "context_too_long", "ValidationException: Input exceeds the max input token limit", "openclaw/openclaw#58839"),
    refusal("bedrock-prompt", 400, "context_too_long", "The model returned the following errors: prompt is too long: 903884 tokens > 200000 maximum", "strands-agents/harness-sdk#1663"),
    refusal("xai-prompt", 400, "context_too_long", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", "badlogic/pi-mono, overflow"),
    refusal("copilot-prompt", 400, "context_too_long", "prompt token count of 130000 exceeds the limit of 128000", "GitHub Copilot", code="model_max_prompt_tokens_exceeded"),
    refusal("github-models", 413, "context_too_long", "Request body too large for gpt-4.1 model. Max size: 8000 tokens.", "GitHub Models", code="tokens_limit_reached"),
    refusal("cerebras", 400, "context_too_long", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", "Cerebras", code="context_length_exceeded", type="invalid_request_error"),
    refusal("fireworks", 400, "context_too_long", "The prompt is too long: 140000, model maximum context length: 131071", "Fireworks"),
    refusal("together", 422, "context_too_long", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`", "Together"),
    refusal("perplexity", 400, "context_too_long", "The total length of all messages is too long.", "BerriAI/litellm#21647"),
    _flat("cohere", 400, "context_too_long", {"id": "x", "message": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 7203. Try using a shorter prompt"}, "Cohere"),
    _flat("cohere-max", 400, "context_too_long", {"message": "total tokens exceeds the model's max of 4096"}, "openclaw/openclaw#58839"),
    refusal("minimax", 400, "context_too_long", "invalid params, context window exceeds limit (2013)", "MiniMax"),
    _flat("siliconflow-length", 400, "context_too_long", {"code": 20015, "message": "length of prompt_tokens (34567) must be less than max_seq_len (32768).", "data": None}, "SiliconFlow"),
    refusal("zai-length", 400, "context_too_long", "Prompt exceeds max length", "Z.ai", code="1261"),
    refusal("poolside", 400, "context_too_long", "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.", "earendil-works/pi#4943"),
    refusal("brackets", 400, "context_too_long", "Input length (265330) exceeds model's maximum context length (262144).", "earendil-works/pi#5677"),
    refusal("sglang", 400, "context_too_long", "The input (9000 tokens) is longer than the model's context length (8192 tokens).", "SGLang"),
    refusal("sglang-sum", 400, "context_too_long", "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens", "SGLang"),
    refusal("vllm-output", 400, "context_too_long", "'max_tokens' or 'max_completion_tokens' is too large: 32768. This model's maximum context length is 32768 tokens and your request has 1200 input tokens", "vLLM"),
    refusal("vllm-decoder", 400, "context_too_long", "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.", "vLLM"),
    _flat("ollama-window", 400, "context_too_long", {"error": "prompt too long; exceeded max context length by 4 tokens"}, "Ollama"),
    _flat("ollama-runner", 500, "context_too_long", {"error": "context length exceeded for llama3"}, "openclaw/openclaw#58839"),
    refusal("litellm-window", 400, "context_too_long", "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: too much", "LiteLLM"),
    refusal("chinese-length", 400, "context_too_long", "输入内容超过最大长度限制", "hermes-agent, error_classifier"),
    Row("anthropic-sum", ANTHROPIC, error("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again", type="invalid_request_error"), "Anthropic", JSON, status=400, text="", fails="context_too_long"),
    Row("anthropic-prompt", ANTHROPIC, error("prompt is too long: 213462 tokens > 200000 maximum", type="invalid_request_error"), "Anthropic", JSON, status=400, text="", fails="context_too_long"),
    Row("anthropic-credit", ANTHROPIC, error("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.", type="invalid_request_error"), "Anthropic", JSON, status=400, text="", fails="no_quota"),
    Row("anthropic-limits", ANTHROPIC, error("You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.", type="invalid_request_error"), "Anthropic", JSON, status=400, text="", fails="no_quota"),
    Row("anthropic-model", ANTHROPIC, error("model: claude-foo", type="not_found_error"), "Anthropic", JSON, status=404, text="", fails="unknown_model"),
    Row("gemini-tokens", GEMINI, json.dumps({"error": {"code": 400, "message": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", "status": "INVALID_ARGUMENT"}}), "Gemini", JSON, status=400, text="", fails="context_too_long"),
    Row("gemini-region", GEMINI, json.dumps({"error": {"code": 400, "message": "User location is not supported for the API use.", "status": "FAILED_PRECONDITION"}}), "Gemini", JSON, status=400, text="", fails="forbidden"),
    Row("gemini-expired", GEMINI, json.dumps({"error": {"code": 400, "message": "API key expired. Please renew the API key.", "status": "INVALID_ARGUMENT"}}), "Gemini", JSON, status=400, text="", fails="bad_key"),
    Row("gemini-gone", GEMINI, json.dumps({"error": {"code": 404, "message": "This model models/x is no longer available. Please update your code to use a newer model.", "status": "NOT_FOUND"}}), "Gemini", JSON, status=404, text="", fails="unknown_model"),
    refusal("gemini-compat-region", 400, "forbidden", "User location is not supported for the API use.", "Gemini's compatible address"),
    refusal("siliconflow-balance", 403, "no_quota", "Sorry, your account balance is insufficient", "SiliconFlow", code=30001),
    refusal("siliconflow-busy", 503, "overloaded", "Model service overloaded. Please try again later.", "SiliconFlow", code=50505),
    refusal("fireworks-suspended", 412, "no_quota", "Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.", "Fireworks"),
    refusal("dashscope-arrears", 400, "no_quota", "Access denied, please make sure your account is in good standing.", "DashScope", code="Arrearage"),
    refusal("dashscope-throttle", 429, "rate_limited", "Allocated quota exceeded, please increase your quota limit.", "openclaw/openclaw#148236", code="insufficient_quota"),
    refusal("dashscope-throttling", 429, "rate_limited", "Requests rate limit exceeded, please try again later.", "openclaw/openclaw#148275", code="Throttling.RateQuota"),
    refusal("openai-quota", 429, "no_quota", "You exceeded your current quota, please check your plan and billing details.", "2389-research/tracker#547", code="insufficient_quota", type="insufficient_quota"),
    refusal("ark-overdue", 403, "no_quota", "The request failed because your account has an overdue balance.", "Volcengine", code="AccountOverdueError"),
    refusal("zai-english", 429, "no_quota", "Insufficient balance or no resource package. Please recharge.", "macanderson/stella#2", code="1113"),
    refusal("zai-busy", 429, "overloaded", "The service may be temporarily overloaded, please try again later", "hermes-agent#14038", code="1305"),
    refusal("litellm-budget-user", 400, "no_quota", "ExceededBudget: User=x over budget. Spend=1.0, Budget=0.5", "LiteLLM", type="budget_exceeded"),
    refusal("litellm-their-budget", 429, "no_quota", "User x has exceeded their budget", "LiteLLM", type="budget_exceeded"),
    refusal("xai-credits", 403, "no_quota", "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.x.ai", "xAI"),
    refusal("hf-included", 402, "no_quota", "You have exceeded your monthly included credits for Inference Providers.", "Hugging Face"),
    refusal("free-tier", 403, "no_quota", "Your plan does not include this model, it is not available on the free tier", "hermes-agent, error_classifier"),
    refusal("groq-gone", 400, "unknown_model", "The model `x` has been decommissioned and is no longer supported. Please refer to the page of deprecations.", "Groq", code="model_decommissioned"),
    refusal("fireworks-model", 404, "unknown_model", "Model not found, inaccessible, and/or not deployed", "Fireworks", code="NOT_FOUND"),
    refusal("together-model", 404, "unknown_model", "Unable to access model foo. Please visit the list of supported models.", "Together", code="model_not_available"),
    refusal("together-dedicated", 400, "unknown_model", "Unable to access non-serverless model foo. Please create and start a new dedicated endpoint for the model.", "Together", code="model_not_available"),
    refusal("copilot-model", 400, "unknown_model", "The requested model is not supported.", "GitHub Copilot", code="model_not_supported"),
    refusal("azure-deployment", 404, "unknown_model", "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.", "Azure OpenAI", code="DeploymentNotFound"),
    refusal("ark-model", 404, "unknown_model", "The model or endpoint foo does not exist or you do not have access to it.", "Volcengine", code="InvalidEndpointOrModel.NotFound"),
    refusal("perplexity-model", 400, "unknown_model", "Invalid model 'x'. Permitted models can be found in the documentation.", "Perplexity", type="invalid_model"),
    refusal("hf-model", 400, "unknown_model", "The requested model 'x' is not supported by any provider you have enabled.", "Hugging Face"),
    _flat("xai-model", 404, "unknown_model", {"code": "Some requested entity was not found", "error": "The model grok-x does not exist or your team does not have access to it."}, "xAI"),
    refusal("openrouter-policy", 404, "forbidden", "No endpoints found matching your data policy (Free model publication). Configure: https://openrouter.ai/settings/privacy", "hermes-agent, error_classifier"),
    refusal("openrouter-guardrail", 404, "forbidden", "No endpoints available matching your guardrail restrictions and data policy.", "hermes-agent, error_classifier"),
    refusal("litellm-model-access", 401, "forbidden", "key not allowed to access model. This key can only access models=['x']. Tried to access y", "LiteLLM", type="key_model_access_denied"),
    refusal("azure-filter", 400, "declined", "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.", "Azure OpenAI", code="content_filter"),
    refusal("openrouter-moderation", 403, "declined", "x/y requires moderation on Z. Your input was flagged for \"violence\".", "OpenRouter", code=403),
    refusal("moonshot-risk", 400, "declined", "The request was rejected because it was considered high risk", "Moonshot", type="content_filter"),
    refusal("dashscope-inspection", 400, "declined", "Output data may contain inappropriate content.", "DashScope", code="DataInspectionFailed"),
    refusal("openai-flagged", 400, "declined", "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.", "OpenAI", code="invalid_prompt"),
    refusal("groq-flex", 498, "overloaded", "Flex tier capacity exceeded, please try again later", "Groq", code="capacity_exceeded"),
    refusal("mistral-tier", 429, "overloaded", "Service tier capacity exceeded for this model.", "Mistral", type="service_tier_capacity_exceeded", code="3505"),
    refusal("tgi-busy", 429, "overloaded", "Model is overloaded", "TGI", type="overloaded"),
    _flat("cerebras-rate", 429, "rate_limited", {"message": "Requests per minute limit exceeded - too many requests sent.", "type": "too_many_requests_error", "param": "quota", "code": "request_quota_exceeded"}, "Cerebras"),
    refusal("moonshot-rate", 429, "rate_limited", "Your account org-x request reached organization max RPM: 3, please try again after 1 seconds", "Moonshot", type="rate_limit_reached_error"),
    refusal("litellm-cooldown", 429, "rate_limited", "litellm.RateLimitError: No deployments available for selected model, Try again in 60 seconds.", "LiteLLM"),
    refusal("bedrock-throttle", 429, "rate_limited", "ThrottlingException: Too many tokens, please wait before trying again.", "jin-bo/agentao#88"),
    _throttled("bedrock-throttle-within", "rate_limited", "ThrottlingException: Too many tokens, please wait before trying again.", "jin-bo/agentao#88"),
    _throttled("openrouter-within", "rate_limited", "Rate limit exceeded: free-models-per-min.", "OpenRouter"),
    _flat("baidu-rate", 200, "rate_limited", {"error_code": 336501, "error_msg": "Rate limit reached for RPM", "id": "x"}, "Baidu Qianfan"),
    refusal("xai-key", 400, "bad_key", "Incorrect API key provided: xa***00. You can obtain an API key from https://console.x.ai.", "xAI"),
    _flat("azure-key", 401, "bad_key", {"statusCode": 401, "message": "Access denied due to invalid subscription key or wrong API endpoint."}, "Azure OpenAI"),
    refusal("tools-jinja", 500, "no_tools", "tools param requires --jinja flag", "llama.cpp"),
    refusal("tools-bedrock", 400, "no_tools", "This model doesn't support tool use.", "Amazon Bedrock"),
    refusal("tools-bedrock-stream", 400, "no_tools", "This model doesn't support tool use in streaming mode.", "Amazon Bedrock"),
    refusal("tools-together", 400, "no_tools", "Function calling is not supported for this model", "Together"),
    refusal("tools-vllm-parser", 400, "no_tools", 'tool_choice="auto" requires --enable-auto-tool-choice and --tool-call-parser to be set', "vLLM"),
    refusal("tools-litellm", 400, "no_tools", "litellm.UnsupportedParamsError: x does not support parameters: ['tools'], for model=y", "LiteLLM"),
    refusal("tools-deepinfra", 405, "no_tools", "Tool use is not supported for this model", "DeepInfra"),
    refusal("tools-perplexity", 400, "no_tools", "Tool calling is not supported for this model.", "Perplexity"),
    _flat("tools-ollama-text", 400, "no_tools", {"error": "stablelm2:latest does not support tools"}, "ollama/ollama#6027"),
    refusal("image-llama", 500, "bad_request", "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "llama.cpp"),
]  # fmt: skip


def _unindexed(*parts: Json) -> str:
    return frames(*(chunk({"tool_calls": [one]}) for one in parts), chunk({}, "tool_calls"), used())


def _function(name: str | None, arguments: str | list[Json] | None, **more: Any) -> Json:
    return {**more, "function": {"name": name, "arguments": arguments}}


TWO = (*CALL, ("read_file", '{"a":2}'))


def _block(kind: str, at: int = 0, **more: Any) -> tuple[str, Json]:
    return ("content_block_start", {"index": at, "content_block": {"type": kind, **more}})


def _message(*events: tuple[str, Json], stop: str | None = "end_turn") -> str:
    first, *_, end, last = message_events(stop=stop or "")
    end[1]["delta"]["stop_reason"] = stop
    return named(first, *events, end, last)


def _used_tool(*events: tuple[str, Json], **right: Any) -> dict[str, Any]:
    return {
        "sent": _message(*events, stop="tool_use"),
        "text": "",
        "calls": CALL,
        "ends": "tool_calls",
        **right,
    }


_TOOL: dict[str, Any] = {"id": "t", "name": "read_file"}
_PIECE = ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": ARGS}})
_STOP = ("content_block_stop", {"index": 0})
_ITEM = {"type": "function_call", "id": "f", "call_id": "t", "name": "read_file", "arguments": ""}
_ADDED = ("response.output_item.added", {"output_index": 0, "item": _ITEM})


def _called(name: str, source: str, *events: tuple[str, Json], output: list[Json]) -> Row:
    end = ("response.completed", {"response": {**RESPONSE, "output": output}})
    return Row(
        name,
        RESPONSES,
        named(response_events()[0], *events, end),
        source,
        text="",
        calls=CALL,
        ends="tool_calls",
    )


MORE_CALLS = [
    calls("head-at-wrong-index", _unindexed(_function("read_file", ARGS, index=0, id="t-1"), _function("read_file", "", index=0, id="t-2"), _function(None, '{"a":2}', index=1)), "agno-agi/agno#8880", TWO),
    calls("rest-at-next-index", _unindexed(_function("read_file", "", index=0, id="t"), _function(None, ARGS, index=1, id=None)), "sgl-project/sglang#23071"),
    calls("begun-twice", _unindexed(_function("read_file", "", index=0, id="t"), _function(None, '{"a":1{"a":1}', index=1, id=None)), "sgl-project/sglang#23071"),
    calls("brace-then-all", _unindexed(_function("read_file", "{", index=0, id="t"), _function(None, ARGS, index=0)), "vllm-project/vllm#51697"),
    calls("arguments-first", _unindexed(_function(None, '{"a"', id="t"), _function("read_file", ":1}", id="t")), "vercel/ai#15879"),
    calls("seen-id-elsewhere", _unindexed(_function("read_file", '{"a":', index=0, id="t-1"), _function("read_file", '{"a":2}', index=1, id="t-2"), _function(None, "1}", index=2, id="t-1")), "agno-agi/agno#8880", TWO),
    calls("no-index-two-by-id", _unindexed(_function("read_file", '{"a":', id="t-1"), _function("read_file", '{"a":', id="t-2"), _function(None, "1}", id="t-1"), _function(None, "2}", id="t-2")), "AtomicBot-ai/atomic-agent#268", TWO),
    calls("null-index", _unindexed(_function("read_file", '{"a":', index=None, id="t"), _function(None, "1}", index=None, id=None)), "openai/openai-python#3246"),
    calls("index-as-text", _unindexed(_function("read_file", '{"a":', index="0", id="t"), _function(None, "1}", index="0")), "servers that send figures as text"),
    calls("id-as-figure", _unindexed(_function("read_file", ARGS, index=0, id=7)), "servers that number calls"),
    calls("id-each-delta-null-later", _unindexed(_function("read_file", "", index=0, id="t"), _function(None, ARGS, index=0, id="t")), "openai/codex#7517"),
    calls("position-as-index", frames(chunk({"tool_calls": [_function("read_file", ARGS, id="t-1"), _function("read_file", '{"a":2}', id="t-2")]}), chunk({}, "tool_calls"), used()), "SamSaffron/term-llm#314", TWO),
    calls("calls-in-last-chunk", frames(chunk({"tool_calls": [_function("read_file", ARGS, index=0, id="t")]}, "tool_calls"), used()), "SGLang"),
    calls("finish-stop", frames(chunk({"tool_calls": [_function("read_file", ARGS, index=0, id="t")]}, "stop"), used()), "Gemini through proxies"),
    calls("empty-content-beside", frames(chunk({"role": "assistant", "content": "", "tool_calls": [_function("read_file", ARGS, index=0, id="t")]}), chunk({}, "tool_calls"), used()), "Mistral"),
    calls("parameters", _unindexed({"index": 0, "id": "t", "function": {"name": "read_file", "parameters": {"a": 1}}}), "servers of llama templates"),
    calls("flat-input", _unindexed({"index": 0, "id": "t", "name": "read_file", "input": {"a": 1}}), "proxies of Anthropic"),
    calls("in-tool", _unindexed({"index": 0, "id": "t", "tool": {"name": "read_file", "arguments": ARGS}}), "servers of their own form"),
    calls("fenced", _unindexed(_function("read_file", f"```json\n{ARGS}\n```", index=0, id="t")), "small models"),
    calls("newlines-around", _unindexed(_function("read_file", f"\n{ARGS}\n", index=0, id="t")), "small models"),
    calls("name-in-arguments", _unindexed(_function("read_file", '{"name":"read_file","arguments":{"a":1}}', index=0, id="t")), "small models"),
    calls("number-suffix", _unindexed(_function("functions.read_file:0", ARGS, index=0, id="functions.read_file:0")), "Kimi K2"),
    calls("name-of-channel", _unindexed(_function("assistant<|channel|>commentary to=functions.read_file", ARGS, index=0, id="t")), "gpt-oss"),
    calls("name-json-behind", _unindexed(_function("read_file<|channel|>json", ARGS, index=0, id="t")), "gpt-oss"),
    calls("name-repo_browser", _unindexed(_function("repo_browser.read_file", ARGS, index=0, id="t")), "gpt-oss"),
    calls("name-in-other-case", _unindexed(_function("Read_File", ARGS, index=0, id="t")), "small models"),
    calls("name-with-dashes", _unindexed(_function("read-file", ARGS, index=0, id="t")), "small models"),
    calls("name-with-call-behind", _unindexed(_function("read_file()", ARGS, index=0, id="t")), "small models"),
    calls("name-with-tag", _unindexed(_function("read_file</arg_key>", ARGS, index=0, id="t")), "GLM behind vLLM"),
    Row("input-in-start", ANTHROPIC, source="proxies of Anthropic", **_used_tool(_block("tool_use", **_TOOL, input={"a": 1}), _STOP)),
    Row("input-as-text", ANTHROPIC, source="proxies of Anthropic", **_used_tool(_block("tool_use", **_TOOL, input=ARGS), _STOP)),
    Row("input-twice", ANTHROPIC, source="proxies of Anthropic", **_used_tool(_block("tool_use", **_TOOL, input={"a": 1}), _PIECE, _STOP)),
    Row("no-tool-id", ANTHROPIC, source="servers without ids", **_used_tool(_block("tool_use", name="read_file", input={}), _PIECE, _STOP)),
    Row("no-block-stop", ANTHROPIC, source="proxies that leave out the stop", **_used_tool(_block("tool_use", **_TOOL, input={}), _PIECE)),
    Row("empty-piece", ANTHROPIC, source="tools without parameters", **_used_tool(_block("tool_use", **_TOOL, input={}), ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta", "partial_json": ""}}), _STOP, calls=(("read_file", "{}"),))),
    Row("end_turn-behind-a-call", ANTHROPIC, _message(_block("tool_use", **_TOOL, input={}), _PIECE, _STOP), "Moonshot, its Anthropic address", text="", calls=CALL, ends="tool_calls"),
    _called("done-only", "lidge-jun/opencodex#4652; anomalyco/opencode#44862", _ADDED, ("response.function_call_arguments.done", {"output_index": 0, "item_id": "f", "arguments": ARGS}), output=[{**_ITEM, "arguments": ARGS}]),
    _called("no-item-done", "sgl-project/sglang#12652", _ADDED, ("response.function_call_arguments.delta", {"output_index": 0, "item_id": "f", "delta": ARGS}), ("response.function_call_arguments.done", {"output_index": 0, "item_id": "f", "arguments": ARGS}), output=[{"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": ""}]}]),
    _called("only-in-completed", "gateways that send the end alone", output=[{**_ITEM, "arguments": ARGS}]),
    _called("no-output-in-completed", "Oaklight/llm-rosetta#56", _ADDED, ("response.output_item.done", {"output_index": 0, "item": {**_ITEM, "arguments": ARGS}}), output=[]),
    Row("prefixed", GEMINI, json.dumps({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "default_api:read_file", "args": {"a": 1}}}]}, "finishReason": "STOP"}]}), "antigravity2api-nodejs#86", JSON, text="", calls=CALL, ends="tool_calls"),
    Row("no-args", GEMINI, json.dumps({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "read_file"}}]}, "finishReason": "STOP"}]}), "Gemini, tools without parameters", JSON, text="", calls=(("read_file", "{}"),), ends="tool_calls"),
]  # fmt: skip


def _texts(*events: tuple[str, Json], stop: str | None = "end_turn") -> str:
    return _message(*events, stop=stop)


def _delta(text: str, at: int = 0) -> tuple[str, Json]:
    return ("content_block_delta", {"index": at, "delta": {"type": "text_delta", "text": text}})


def _without(text: str, name: str) -> str:
    return "".join(f"{one}\n\n" for one in text.split("\n\n") if one and name not in one)


_GEMINI_END = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": GEMINI_USAGE}

MORE_SHAPES = [
    spoken("reasoning_text", "GitHub Copilot", {"reasoning_text": "Hm."}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("cot_summary", "GitHub Copilot", {"cot_summary": "Hm."}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("thinking_blocks", "LiteLLM", {"content": "", "reasoning_content": "Hm.", "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": ""}]}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("thinking_blocks-alone", "LiteLLM", {"content": "", "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": ""}]}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("google-thought", "Gemini's compatible address", {"content": "Hm.", "extra_content": {"google": {"thought": True}}}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("reasoning-of-text", "gateways", {"reasoning": {"text": "Hm."}}, {"content": "Hello there."}, reasoning="Hm."),
    spoken("reasoning-empty-beside", "stanford-crfm/helm#3632", {"reasoning_content": "", "content": "Hello "}, {"reasoning_content": None, "reasoning": None, "content": "there."}),
    spoken("legacy-text", "old completions as a stream", {"id": "c", "choices": [{"index": 0, "text": "Hello ", "finish_reason": None}]}, {"id": "c", "choices": [{"index": 0, "text": "there.", "finish_reason": None}]}),
    spoken("index-as-text", "servers that send figures as text", {"id": "c", "choices": [{"index": "0", "delta": {"content": "Hello there."}}]}),
    spoken("index-null", "servers that leave it out", {"id": "c", "choices": [{"index": None, "delta": {"content": "Hello there."}}]}),
    spoken("choices-as-object", "servers of their own form", {"id": "c", "choices": {"index": 0, "delta": {"content": "Hello there."}}}),
    spoken("part-of-picture", "OpenRouter, models that draw", {"content": [{"type": "text", "text": "Hello "}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}, {"content": "there.", "images": [{"type": "image_url"}]}),
    spoken("annotations", "OpenRouter, search", {"content": "Hello there.", "annotations": [{"type": "url_citation"}]}),
    spoken("citations", "Perplexity", {"id": "c", "citations": ["x"], "search_results": [], "choices": [{"index": 0, "delta": {"content": "Hello there."}}]}),
    spoken("role-null", "servers that send every field", {"role": None, "content": None, "refusal": None}, {"role": "", "content": "Hello there."}),
    spoken("refusal-null", "pydantic/pydantic-ai#797", {"content": "Hello there.", "refusal": None, "audio": None, "function_call": None, "tool_calls": None}),
    spoken("delta-null", "agentuniverse-ai/agentUniverse#772", {"content": "Hello there."}, {"id": "c", "choices": [{"index": 0, "delta": None}]}),
    spoken("empty-tool-calls", "servers that send every field", {"content": "Hello there.", "tool_calls": []}),
    spoken("async-filter", "Azure OpenAI, asynchronous filter", {"content": "Hello there."}, {"id": "", "choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}, "content_filter_offsets": {"check_offset": 1}}]}),
    Row("no-message-start", ANTHROPIC, _without(PLAIN[ANTHROPIC], "message_start"), "QuantumNous/new-api#5870"),
    Row("no-block-start", ANTHROPIC, _without(PLAIN[ANTHROPIC], "content_block_start"), "QuantumNous/new-api#5870"),
    Row("no-block-stop", ANTHROPIC, _without(PLAIN[ANTHROPIC], "content_block_stop"), "servers that leave it out"),
    Row("no-message-stop", ANTHROPIC, _without(PLAIN[ANTHROPIC], "message_stop"), "griffinwork40/agent-afk#635: stop_reason says that the end was reached"),
    Row("text-in-start", ANTHROPIC, _texts(_block("text", text="Hello "), _delta("there."), _STOP), "servers that begin with text"),
    Row("one-index", ANTHROPIC, _texts(_block("thinking", thinking="", signature=""), ("content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}), _STOP, _block("text", text=""), _delta("Hello there."), _STOP), "servers that count no blocks", reasoning="Hm."),
    Row("thinking-unsigned", ANTHROPIC, _texts(_block("thinking", thinking=""), ("content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}), _STOP, _block("text", 1, text=""), _delta("Hello there.", 1), ("content_block_stop", {"index": 1})), "earendil-works/pi#4464", reasoning="Hm."),
    Row("unknown-block", ANTHROPIC, _texts(_block("server_note", note="x"), _STOP, _block("text", 1, text=""), _delta("Hello there.", 1), ("content_block_stop", {"index": 1})), "vendors that add kinds of blocks"),
    Row("unknown-delta", ANTHROPIC, _texts(_block("text", text=""), ("content_block_delta", {"index": 0, "delta": {"type": "note_delta", "note": "x"}}), _delta("Hello there."), _STOP), "vendors that add kinds of deltas"),
    Row("stop-null", ANTHROPIC, _texts(_block("text", text=""), _delta("Hello there."), _STOP, stop=None), "servers that say no reason: message_stop says that the end was reached"),
    Row("text-in-done-alone", RESPONSES, named(response_events()[0], ("response.output_text.done", {"output_index": 0, "content_index": 0, "text": "Hello there."}), response_events()[-1]), "gateways that send the end alone"),
    Row("text-in-completed-alone", RESPONSES, named(response_events()[0], response_events()[-1]), "gateways that send the end alone"),
    Row("empty-output", RESPONSES, named(*response_events("Hello ", "there.")[:-1], ("response.completed", {"response": {**RESPONSE, "output": []}})), "Oaklight/llm-rosetta#56"),
    Row("completed-bare", RESPONSES, named(*response_events("Hello ", "there.")[:-1], ("response.completed", {"response": {"status": "completed"}})), "Oaklight/llm-rosetta#56"),
    Row("done-for-completed", RESPONSES, named(*response_events("Hello ", "there.")[:-1]) + "data: [DONE]\n\n", "servers that send [DONE] for the end"),
    Row("reasoning_text", RESPONSES, named(response_events()[0], ("response.reasoning_text.delta", {"output_index": 0, "content_index": 0, "delta": "Hm."}), *response_events("Hello there.")[1:]), "vLLM and LM Studio, open models", reasoning="Hm."),
    Row("unknown-event", RESPONSES, named(response_events()[0], ("response.note.added", {"note": "x"}), *response_events("Hello ", "there.")[1:]), "vendors that add events"),
    Row("end-without-content", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in (candidate("Hello there."), _GEMINI_END)), "agentjido/req_llm#638", usage={"input_tokens": 12, "output_tokens": 5}),
    Row("thought", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in ({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}]}}]}, candidate("Hello there."), _GEMINI_END)), "Gemini", reasoning="Hm."),
    Row("null-content", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in ({"candidates": [{"content": None}]}, {"candidates": None}, candidate("Hello there."), _GEMINI_END)), "gateways that send every field"),
    Row("no-role", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in ({"candidates": [{"content": {"parts": [{"text": "Hello there."}]}}]}, _GEMINI_END)), "genkit-ai/genkit-dart#425"),
]  # fmt: skip


def _start_usage(start: Json | None, end: Json | None, **right: Any) -> dict[str, Any]:
    events = message_events("Hello there.")
    begun = dict(events[0][1]["message"])
    del begun["usage"]
    first = ("message_start", {"message": {**begun, **({"usage": start} if start is not None else {})}})
    last = {"delta": {"stop_reason": "end_turn"}, **({"usage": end} if end is not None else {})}
    return {"sent": named(first, *events[1:-2], ("message_delta", last), events[-1]), "usage": right}


MORE_USAGES = [
    metered("ticks", "Wei-Shaw/sub2api#5771", {"id": "c", "choices": [], "usage": {"prompt_tokens": 10120, "completion_tokens": 1499, "total_tokens": 14428, "prompt_tokens_details": {"cached_tokens": 128}, "completion_tokens_details": {"reasoning_tokens": 2809}, "cost_in_usd_ticks": 232856000}}, cost_usd=0.0232856, output_tokens=4308, cache_read_tokens=128, is_estimate=False),
    metered("subset", "promptfoo/promptfoo#9507", used(completion_tokens=20, completion_tokens_details={"reasoning_tokens": 8}), output_tokens=20, reasoning_tokens=8, is_estimate=False),
    metered("mistral-cached", "Mistral", used(num_cached_tokens=256), cache_read_tokens=256, is_estimate=False),
    metered("detail-singular", "Mistral", used(prompt_token_details={"cached_tokens": 256}), cache_read_tokens=256, is_estimate=False),
    metered("dashscope-written", "DashScope", used(prompt_tokens_details={"cached_tokens": 200, "cache_creation_input_tokens": 50, "cache_type": "ephemeral"}), cache_read_tokens=200, cache_write_tokens=50, is_estimate=False),
    metered("openrouter-written", "OpenRouter", used(prompt_tokens_details={"cached_tokens": 200, "cache_write_tokens": 50}), cache_read_tokens=200, cache_write_tokens=50, is_estimate=False),
    metered("litellm-zero", "BerriAI/litellm#41071", used(prompt_tokens_details={"cached_tokens": 256}, cache_read_input_tokens=0, cache_creation_input_tokens=0), cache_read_tokens=256, is_estimate=False),
    metered("figures-as-text", "servers that send figures as text", {"id": "c", "choices": [], "usage": {"prompt_tokens": "300", "completion_tokens": "20", "total_tokens": "320"}}, input_tokens=300, output_tokens=20),
    metered("figures-with-points", "servers of floats", used(prompt_tokens=300.0, completion_tokens=20.0, total_tokens=320.0), input_tokens=300, output_tokens=20, is_estimate=False),
    metered("no-total", "servers that count no total", {"id": "c", "choices": [], "usage": {"prompt_tokens": 300, "completion_tokens": 20}}, input_tokens=300, output_tokens=20, is_estimate=False),
    metered("camel", "gateways of JavaScript", {"id": "c", "choices": [], "usage": {"promptTokens": 300, "completionTokens": 20, "totalTokens": 320}}, input_tokens=300, output_tokens=20),
    metered("cost-text", "gateways", used(cost="0.0123"), cost_usd=0.0123),
    metered("estimated_cost", "DeepInfra", used(estimated_cost=0.0123), cost_usd=0.0123),
    metered("total_cost", "gateways", used(total_cost=0.0123), cost_usd=0.0123),
    metered("cost-zero", "OpenRouter, free models", used(cost=0), cost_usd=0.0, input_tokens=300),
    Row("usage-twice", COMPATIBLE, frames(chunk({"content": "Hello there."}), {**chunk({}, "stop"), "usage": U}, used()), "servers that repeat it", usage={**PAID, "is_estimate": False}),
    Row("usage-empty-then-real", COMPATIBLE, frames({**chunk({"content": "Hello there."}), "usage": {}}, {**chunk({}, "stop"), "usage": None}, used()), "servers that send every field", usage={**PAID, "is_estimate": False}),
    Row("usage-real-then-empty", COMPATIBLE, frames(chunk({"content": "Hello there."}), {**chunk({}, "stop"), "usage": U}, {"id": "c", "choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}), "gateways that close with zeros", usage={**PAID, "is_estimate": False}),
    Row("usage-after-done", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "stop")) + frames(used(), done=False), "servers that send it last of all", usage={**PAID, "is_estimate": False}),
    Row("x_groq-in-finish", COMPATIBLE, frames(chunk({"content": "Hello there."}), {**chunk({}, "stop"), "x_groq": {"id": "r", "usage": U}}), "Groq", usage=PAID),
    Row("timings", COMPATIBLE, frames(chunk({"content": "Hello there."}), {**chunk({}, "stop"), "usage": U, "timings": {"cache_n": 256, "prompt_n": 44, "predicted_n": 20}}), "llama.cpp, timings", usage={**PAID, "cache_read_tokens": 256, "is_estimate": False}),
    Row("timings-alone", COMPATIBLE, frames(chunk({"content": "Hello there."}), {**chunk({}, "stop"), "timings": {"cache_n": 256, "prompt_n": 44, "predicted_n": 20}}), "llama.cpp, timings", usage={**PAID, "cache_read_tokens": 256}),
    Row("no-delta-usage", ANTHROPIC, source="earendil-works/pi#6567", **_start_usage({"input_tokens": 10, "output_tokens": 0}, None, input_tokens=10)),
    Row("no-start-usage", ANTHROPIC, source="AMAP-ML/SkillClaw#21", **_start_usage(None, {"input_tokens": 300, "output_tokens": 20}, input_tokens=300, output_tokens=20)),
    Row("zero-then-real", ANTHROPIC, source="Z.ai, its Anthropic address", **_start_usage({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 300, "cache_read_input_tokens": 256, "output_tokens": 20}, input_tokens=556, cache_read_tokens=256, output_tokens=20)),
    Row("whole-then-split", ANTHROPIC, source="maximhq/bifrost#6598", **_start_usage({"input_tokens": 556, "output_tokens": 1}, {"input_tokens": 300, "cache_read_input_tokens": 256, "output_tokens": 20}, input_tokens=556, cache_read_tokens=256, output_tokens=20)),
    Row("zeros-at-the-end", ANTHROPIC, source="farion1231/cc-switch#2485", **_start_usage({"input_tokens": 300, "output_tokens": 1}, {"input_tokens": 0, "output_tokens": 20}, input_tokens=300, output_tokens=20)),
    Row("usage-in-delta", ANTHROPIC, named(*message_events("Hello there.")[:-2], ("message_delta", {"delta": {"stop_reason": "end_turn", "usage": {"output_tokens": 15}}}), ("message_stop", {})), "fumito-ito/AnthropicSwiftSDK#7", usage={"output_tokens": 15}),
    Row("gemini-grows", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in (candidate("Hello ", usageMetadata={"promptTokenCount": 12, "totalTokenCount": 12}), candidate("there.", usageMetadata={"promptTokenCount": 12, "candidatesTokenCount": 2, "totalTokenCount": 14}), candidate("", "STOP", usageMetadata=GEMINI_USAGE))), "Gemini", usage={"input_tokens": 12, "output_tokens": 5, "is_estimate": False}),
    Row("gemini-thoughts", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in (candidate("Hello there."), candidate("", "STOP", usageMetadata={"promptTokenCount": 12, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 24}))), "Gemini", usage={"input_tokens": 12, "output_tokens": 12, "reasoning_tokens": 7, "is_estimate": False}),
]  # fmt: skip

_WORDS = {
    "COMPLETE": "completed", "STOP": "completed", "eos_token": "completed", "stop_sequence": "completed", "stop-sequence": "completed",
    "SAFETY": "refused", "RECITATION": "refused", "sensitive": "refused", "content-filter": "refused", "content_filtered": "refused",
    "abort": "truncated", "insufficient_system_resource": "broken", "repetition": "broken", "MALFORMED_FUNCTION_CALL": "broken",
    "function_call_filter: MALFORMED_FUNCTION_CALL": "broken", "content_filter: SAFETY": "refused", "FINISH_REASON_STOP": "completed",
    "FINISH_REASON_MAX_TOKENS": "truncated", "model_context_window_exceeded": "truncated", "max_output_tokens": "truncated", "refusal": "refused",
}  # fmt: skip

MORE_ENDS = [
    Row(word, COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, word), used()), "simstudioai/sim#6302; NousResearch/hermes-agent#11171", ends=kind)
    for word, kind in _WORDS.items()
] + [
    Row("empty-in-each", COMPATIBLE, frames(chunk({"content": "Hello "}, ""), chunk({"content": "there."}, ""), chunk({}, "stop")), "ollama/ollama#4357"),
    Row("null-text-in-each", COMPATIBLE, frames(chunk({"content": "Hello "}, "null"), chunk({"content": "there."}, "null"), chunk({}, "stop")), "DashScope"),
    Row("null-text-alone", COMPATIBLE, frames(chunk({"content": "Hello there."}, "null"), done=False), "DashScope, cut off", fails="stream_dropped"),
    Row("stop-in-each", COMPATIBLE, frames(chunk({"content": "Hello "}, "stop"), chunk({"content": "there."}, "stop")), "servers that repeat it"),
    Row("stop-then-length", COMPATIBLE, frames(chunk({"content": "Hello there."}, "stop"), chunk({}, "length")), "BerriAI/litellm#21744: the last word counts", ends="truncated"),
    Row("native_finish_reason", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "stop", native_finish_reason="MALFORMED_FUNCTION_CALL"), used()), "OpenRouter, what the provider said", ends="broken"),
    Row("native-same", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "stop", native_finish_reason="end_turn"), used()), "OpenRouter, what the provider said"),
    Row("finishReason", COMPATIBLE, frames(chunk({"content": "Hello there."}, None), {"id": "c", "choices": [{"index": 0, "delta": {}, "finishReason": "stop"}]}, done=False), "gateways of JavaScript"),
    Row("finish-at-top", COMPATIBLE, frames({"id": "c", "choices": [{"index": 0, "delta": {"content": "Hello there."}}]}, {"id": "c", "choices": [], "finish_reason": "stop"}, done=False), "gateways"),
    Row("done-null", COMPATIBLE, frames(chunk({"content": "Hello there."}, None), {"id": "c", "choices": []}), "can1357/oh-my-pi#9433"),
    Row("sensitive", ANTHROPIC, named(*message_events("Hello there.", stop="sensitive")), "earendil-works/pi#978", ends="refused"),
    Row("length", ANTHROPIC, named(*message_events("Hello there.", stop="length")), "gateways", ends="truncated"),
    Row("cut", ANTHROPIC, _without(_without(PLAIN[ANTHROPIC], "message_delta"), "message_stop"), "griffinwork40/agent-afk#635", fails="stream_dropped"),
    Row("incomplete", RESPONSES, named(*response_events("Hello ", "there.")[:-1], ("response.incomplete", {"response": {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}})), "BerriAI/litellm#37710", ends="truncated"),
    Row("incomplete-filter", RESPONSES, named(*response_events("Hello ", "there.")[:-1], ("response.incomplete", {"response": {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}})), "BerriAI/litellm#37710", ends="refused"),
    Row("malformed", GEMINI, "".join(f"data: {json.dumps(one)}\n\n" for one in (candidate("Hello there."), {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: Function call is empty"}]})), "agentjido/req_llm#935", ends="broken"),
    Row("blocked", GEMINI, "data: " + json.dumps({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 12, "totalTokenCount": 12}}) + "\n\n", "Gemini", text="", ends="refused"),
]  # fmt: skip

MORE_FRAMES += [
    Row("words-in-brackets", COMPATIBLE, "data: [ERROR] upstream gave up\n\n", "gateways that print a tag", text="", fails="server_fault", words=("upstream gave up",)),
    Row("words-in-brackets-small", COMPATIBLE, frames(chunk({"content": "Half"}), done=False) + "data: [error: 502] bad upstream\n\n", "gateways that print a tag", text="Half", fails="server_fault", words=("bad upstream",)),
]  # fmt: skip

MORE_KINDS += [
    refusal("tools-without-a-verb", 400, "no_tools", "tools not supported", "servers of few words"),
    refusal("tool-calling-disabled", 400, "no_tools", "Tool calling disabled for this model", "servers of few words"),
    refusal("no-tool-support", 400, "no_tools", "model has no tool support", "servers of few words"),
    refusal("tool-use-unsupported", 422, "no_tools", "tool_use: unsupported", "servers of few words"),
    refusal("exists-risk", 400, "declined", "Content Exists Risk", "DeepSeek", code="invalid_request_error"),
    refusal("may-contain", 400, "declined", "The input may contain sensitive information.", "Volcengine", code="SensitiveContentDetected"),
    refusal("blocked-by-filter", 400, "declined", "Your request was rejected by the safety system", "OpenAI"),
]  # fmt: skip

MORE_SHAPES += [
    Row("object-with-parts", COMPATIBLE, frames(chunk({"content": {"parts": [{"text": "Hello "}, {"text": "there."}]}}), chunk({}, "stop")), "gateways of Gemini"),
    Row("object-with-texts", COMPATIBLE, frames(chunk({"content": {"content_type": "text", "parts": ["Hello there."]}}), chunk({}, "stop")), "ChatGPT's own export form"),
]  # fmt: skip

MORE_CALLS += [
    calls("arguments-empty-list", _unindexed(_function("read_file", "[]", index=0, id="t")), "servers of PHP", (("read_file", "{}"),)),
    calls("arguments-list-itself", _unindexed(_function("read_file", [], index=0, id="t")), "servers of PHP", (("read_file", "{}"),)),
]  # fmt: skip

_MADE_UP = {
    "end": "completed", "max_length": "truncated", "token_limit": "truncated", "endTurn": "completed", "MaxTokens": "truncated",
    "max_new_tokens": "truncated", "stop_word": "completed", "eos_found": "completed", "StoppedByUser": "truncated", "context_limit": "truncated",
    "ContentFilter": "refused", "safety_block": "refused", "generation_failed": "broken", "finished": "completed", "not_finished": "unknown",
    "reason_unknown": "unknown",
}  # fmt: skip

MORE_ENDS += [
    Row(
        f"made-up-{word}",
        COMPATIBLE,
        frames(chunk({"content": "Hello there."}), chunk({}, word), used()),
        "servers' own words",
        ends=kind,
    )
    for word, kind in _MADE_UP.items()
]

# Made up before the program was tried on them, over all classes: 13 of these 30 were right at once.

MORE_FRAMES += [
    Row("held-crlf-comments-mixed", COMPATIBLE, ": OPENROUTER PROCESSING\r\n\r\n" + frames(chunk({"content":"Hello "}), chunk({"content":"there."}), chunk({}, "stop")).replace("\n","\r\n"), "servers' own forms"),
    Row("held-ndjson", COMPATIBLE, "".join(json.dumps(o)+"\n" for o in (chunk({"content":"Hello "}), chunk({"content":"there."}), chunk({}, "stop"))), "servers' own forms", "application/x-ndjson"),
    Row("held-done-in-event", COMPATIBLE, frames(chunk({"content":"Hello there."}), chunk({}, "stop"), done=False) + "event: done\ndata: {}\n\n", "servers' own forms"),
    Row("held-ollama-native", COMPATIBLE, "".join(json.dumps(o)+"\n" for o in ({"model":"m","message":{"role":"assistant","content":"Hello "},"done":False},{"model":"m","message":{"role":"assistant","content":"there."},"done":False},{"model":"m","message":{"role":"assistant","content":""},"done":True,"done_reason":"stop","prompt_eval_count":300,"eval_count":20})), "servers' own forms", "application/x-ndjson"),
]  # fmt: skip

MORE_WHOLE += [
    Row("held-whole-in-response-key", COMPATIBLE, json.dumps({"response": json.loads(whole({"content":"Hello there."}))}), "servers' own forms", JSON, usage=PAID),
    Row("held-whole-text-completion", COMPATIBLE, json.dumps({"id":"c","object":"text_completion","choices":[{"index":0,"text":"Hello there.","finish_reason":"stop"}],"usage":U}), "servers' own forms", JSON, usage=PAID),
]  # fmt: skip

MORE_ERRORS += [
    _broken("held-error-desc", {"error":"server_error","error_description":"The pool of workers is gone"}, "servers' own forms","server_fault","The pool of workers is gone",status=500),
    _broken("held-fault", {"fault":{"faultstring":"Backend is asleep","detail":{"errorcode":"servers' own forms"}}}, "servers' own forms","server_fault","Backend is asleep",status=500),
    _broken("held-exception", {"exception":"CUDA out of memory on rank 3"}, "servers' own forms","server_fault","CUDA out of memory",status=500),
    _broken("held-errors-strings", {"errors":["Worker lost","Try later"]}, "servers' own forms","server_fault","Worker lost",status=502),
    _broken("held-sse-error-mid", frames(chunk({"content":"Half"}),done=False)+"event: error\ndata: Engine loop has died\n\n","servers' own forms","server_fault","Engine loop has died",text="Half",content_type="text/event-stream"),
]  # fmt: skip

MORE_KINDS += [
    refusal("held-context",400,"context_too_long","Conversation too long: 210000 tokens, limit 200000","servers' own forms"),
    refusal("held-context2",400,"context_too_long","Requested tokens (9123) exceed context window of 8192","llama-cpp-python"),
    refusal("held-credit",402,"no_quota","Wallet empty","servers' own forms"),
    refusal("held-credit2",403,"no_quota","Your prepaid credits have run out","servers' own forms"),
    refusal("held-model",404,"unknown_model","Could not find model: foo-1","servers' own forms"),
    refusal("held-tools",400,"no_tools","This endpoint can't handle function calling","servers' own forms"),
    refusal("held-declined",400,"declined","Request blocked: prompt violates content guidelines","servers' own forms"),
    refusal("held-overload",500,"overloaded","All workers are busy, please retry later","servers' own forms"),
    refusal("held-key",400,"bad_key","API key is missing or malformed","servers' own forms"),
]  # fmt: skip

MORE_SHAPES += [
    Row("held-delta-text", COMPATIBLE, frames(chunk({"text":"Hello there."}), chunk({}, "stop")), "servers' own forms"),
    Row("held-choice-text", COMPATIBLE, frames({"id":"c","choices":[{"index":0,"text":"Hello there."}]}, chunk({}, "stop")), "servers' own forms"),
    Row("held-reasoning-object", COMPATIBLE, frames(chunk({"reasoning":{"text":"Hm."}}), chunk({"content":"Hello there."}), chunk({}, "stop")), "servers' own forms", reasoning="Hm."),
]  # fmt: skip

MORE_CALLS += [
    calls("held-args-none-python", _unindexed(_function("read_file","None",index=0,id="t")), "servers' own forms", (("read_file","{}"),)),
    calls("held-tool-name-field", _unindexed({"index":0,"id":"t","tool_name":"read_file","arguments":ARGS}), "servers' own forms"),
    calls("held-args-single-quotes", _unindexed(_function("read_file","{'a': 1}",index=0,id="t")), "servers' own forms"),
]  # fmt: skip

MORE_USAGES += [
    metered("held-input-output", "servers' own forms", {"id":"c","choices":[],"usage":{"input_tokens":300,"output_tokens":20,"cache_read":256}}, input_tokens=300, output_tokens=20),
    Row("held-usage-metadata", COMPATIBLE, frames(chunk({"content":"Hello there."}), {**chunk({}, "stop"), "usage_metadata":{"prompt_tokens":300,"completion_tokens":20,"total_tokens":320}}), "servers' own forms", usage=PAID),
]  # fmt: skip

MORE_ENDS += [
    Row("held-stop_reason", COMPATIBLE, frames(chunk({"content":"Hello there."}), {"id":"c","choices":[{"index":0,"delta":{},"stop_reason":"max_tokens"}]}), "servers' own forms", ends="truncated"),
    Row("held-anthropic-limit", ANTHROPIC, named(*message_events("Hello there.", stop="output_token_limit")), "servers' own forms", ends="truncated"),
]  # fmt: skip

MORE: dict[str, list[Row]] = {
    "frames": MORE_FRAMES,
    "whole replies": MORE_WHOLE,
    "errors": MORE_ERRORS,
    "kinds of failure": MORE_KINDS,
    "shapes of text": MORE_SHAPES,
    "tool calls": MORE_CALLS,
    "usage": MORE_USAGES,
    "endings": MORE_ENDS,
}
