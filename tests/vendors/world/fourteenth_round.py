"""Reports of the fourteenth round, streams and errors alone: all written down before a try, from documents and sources of servers."""

from __future__ import annotations

import json
from typing import Any

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
    TEXT,
    TWO_CALLS,
    Json,
    Row,
    U,
    candidate,
    chunk,
    frames,
    message_events,
    named,
    response_events,
    said,
    tool_call,
    used,
)

_HALF = chunk({"content": "Half"})
_KEEP = {"id": "chatcmpl-keepalive", "object": "chat.completion.chunk", "created": 0, "model": "keepalive", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]}  # fmt: skip
_BEGUN: Json = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "c",
    "content": None,
    "stop_reason": None,
}


def anthropic(*events: tuple[str, Json], usage: Any = None, end: Json | None = None) -> str:
    """A stream of Anthropic's with these events between its start and its end."""
    start = {**_BEGUN, "usage": usage or {"input_tokens": 12, "output_tokens": 1}}
    last = end or {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    return named(
        ("message_start", {"message": start}), *events, ("message_delta", last), ("message_stop", {})
    )


def text_block(index: int, text: str = "Hello there.") -> list[tuple[str, Json]]:
    return [
        ("content_block_start", {"index": index, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": index, "delta": {"type": "text_delta", "text": text}}),
        ("content_block_stop", {"index": index}),
    ]


def tool_block(index: int, given: Json, *pieces: str) -> list[tuple[str, Json]]:
    block = {"type": "tool_use", "id": f"t{index}", "name": "read_file", "input": given}
    deltas = (("content_block_delta", {"index": index, "delta": {"type": "input_json_delta", "partial_json": one}}) for one in pieces)  # fmt: skip
    return [("content_block_start", {"index": index, "content_block": block}), *deltas, ("content_block_stop", {"index": index})]  # fmt: skip


_TOOL_END = {"delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}


def gemini(*events: Json) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in events)


def gemini_call(*parts: Json) -> str:
    return gemini({"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}], "usageMetadata": GEMINI_USAGE})  # fmt: skip


def response(events: list[tuple[str, Json]], **last: Any) -> str:
    return named(*events, ("response." + last.get("status", "completed"), {"response": {**RESPONSE, **last}}))


# fmt: off
FOURTEENTH: dict[str, list[Row]] = {
    "frames": [
        Row("data-twice", COMPATIBLE, "".join(f"data: data: {json.dumps(one)}\n\n" for one in said("Hello ", "there.")) + "data: data: [DONE]\n\n", "FastAPI servers that put a whole frame into an event of sse_starlette"),
        Row("json-in-a-string", COMPATIBLE, "".join(f"data: {json.dumps(json.dumps(one))}\n\n" for one in said("Hello ", "there.")) + "data: [DONE]\n\n", "gateways that encode a chunk twice"),
        Row("two-kinds-of-line-ends", COMPATIBLE, "".join(f"event: message\r\ndata: {json.dumps(one)}\n\r\n" for one in said("Hello ", "there.")) + "data: [DONE]\r\n\n", "proxies that add headers of their own"),
        Row("blanks-behind-the-data", COMPATIBLE, frames(*said("Hello ", "there.")).replace("\n\n", " \t\n\n"), "gateways of Java"),
        Row("done-in-small-letters", COMPATIBLE, frames(*said("Hello ", "there."), done=False) + "data: [done]\n\n", "servers of their own"),
        Row("done-as-json", COMPATIBLE, frames(*said("Hello ", "there."), {"done": True}), "servers of their own"),
        Row("nothing-in-choices", COMPATIBLE, frames({"id": "c", "choices": [None]}, *said("Hello ", "there.")), "earendil-works/pi#2466"),
        Row("delta-as-an-empty-list", COMPATIBLE, frames(chunk({"role": "assistant", "content": "Hello there."}), {"id": "c", "choices": [{"index": 0, "delta": [], "finish_reason": "stop"}], "usage": U}), "gateways of PHP, whose empty object is a list", usage=PAID),
        Row("usage-as-an-empty-list", COMPATIBLE, frames({**chunk({"content": "Hello there."}), "usage": []}, {**chunk({}, "stop"), "usage": []}, used()), "gateways of PHP, whose empty object is a list", usage=PAID),
        Row("finish-null-as-a-word", COMPATIBLE, frames(chunk({"content": "Hello "}, "null"), chunk({"content": "there."}, "null"), chunk({"content": ""}, "stop"), used()), "DashScope, its own form says 'null'", usage=PAID),
        Row("finish-in-each-chunk", COMPATIBLE, frames(chunk({"content": "Hello "}, "stop"), chunk({"content": "there."}, "stop"), used()), "servers that write stop into every chunk", usage=PAID),
        Row("ids-and-dates-of-other-types", COMPATIBLE, frames(*({**one, "id": 12345, "created": "2026-11-30T10:00:00Z", "model": None, "object": None} for one in said("Hello ", "there."))), "servers of their own", usage=PAID),
        Row("progress-of-the-prompt", COMPATIBLE, frames({**chunk({"role": "assistant", "content": None}), "prompt_progress": {"total": 300, "cache": 0, "processed": 128, "time_ms": 40}}, {**chunk({"content": None}), "prompt_progress": {"total": 300, "cache": 0, "processed": 300, "time_ms": 90}}, chunk({"content": "Hello there."}), {**chunk({}, "stop"), "timings": {"prompt_n": 300, "predicted_n": 20, "cache_n": 0}}, used()), "ggml-org/llama.cpp, return_progress", usage=PAID),
        Row("ollama-lines", COMPATIBLE, "".join(json.dumps({"model": "q", "created_at": "2026-11-01T00:00:00Z", "message": {"role": "assistant", "content": one}, "done": False}) + "\n" for one in ("Hello ", "there.")) + json.dumps({"model": "q", "message": {"role": "assistant", "content": ""}, "done_reason": "stop", "done": True, "prompt_eval_count": 300, "eval_count": 20}) + "\n", "Ollama's own form through a gateway", "application/x-ndjson", usage=PAID),
        Row("matched-stop-and-nulls", COMPATIBLE, frames(*({"id": "c", "choices": [{"index": 0, "delta": {"role": None, "content": one, "reasoning_content": None, "tool_calls": None}, "logprobs": None, "finish_reason": None, "matched_stop": None}], "usage": None} for one in ("Hello ", "there.")), {"id": "c", "choices": [{"index": 0, "delta": {"role": None, "content": None, "reasoning_content": None, "tool_calls": None}, "logprobs": None, "finish_reason": "stop", "matched_stop": 151645}], "usage": None}, used(prompt_tokens_details=None, reasoning_tokens=0)), "sgl-project/sglang#9657", usage=PAID),
        Row("comment-glued-to-data", COMPATIBLE, frames(*said("Hello ", "there.")).replace("data: {", ": ping - 2026-11-30 10:00:00+00:00\r\ndata: {"), "sse_starlette's pings", usage=PAID),
        Row("gemini-within-response", GEMINI, gemini({"response": candidate("Hello "), "traceId": "x"}, {"response": candidate("there.", "STOP", usageMetadata=GEMINI_USAGE), "traceId": "x"}), "Code Assist's form through proxies", usage={"input_tokens": 12, "output_tokens": 5}),
        Row("content-null-at-the-start", ANTHROPIC, anthropic(*text_block(0)), "SaladDay/cc-switch-cli#323", usage={"input_tokens": 12, "output_tokens": 5}),
        Row("blocks-with-gaps", ANTHROPIC, anthropic(*text_block(0), *tool_block(4, {}, '{"a"', ":1}"), end=_TOOL_END), "NousResearch/hermes-agent#45908, new-api", calls=CALL, ends="tool_calls"),
        Row("delta-without-usage", ANTHROPIC, anthropic(*text_block(0), end={"delta": {"stop_reason": "end_turn", "stop_sequence": None}}), "earendil-works/pi#6567, MiniMax", usage={"input_tokens": 12}),
        Row("second-delta-without-a-reason", ANTHROPIC, anthropic(*tool_block(0, {}, ARGS), ("message_delta", _TOOL_END), end={"delta": {}, "usage": {"output_tokens": 5}}), "use-agent-os/agent-os#1854", text="", calls=CALL, ends="tool_calls"),
        Row("nulls-in-the-last-usage", ANTHROPIC, anthropic(*text_block(0), end={"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": None, "output_tokens": 5, "cache_read_input_tokens": None, "cache_creation_input_tokens": None}}), "use-agent-os/agent-os#1854", usage={"input_tokens": 12, "output_tokens": 5}),
        Row("ping-with-a-cost", ANTHROPIC, anthropic(("ping", {"cost": "0"}), *text_block(0), ("ping", {})), "gateways that count in pings"),
    ],
    "tool calls": [
        calling("keepalive-between-pieces", "jundot/omlx#1478", _KEEP, tool_call("read_file", '{"a"', id="t"), _KEEP, tool_call(None, ":1}"), *CALL_END),
        calling("function-null-first", "vllm-project/vllm#19425", tool_call(None, None, id="t", function=None), chunk({"content": "", "tool_calls": []}), tool_call("read_file", '{"a"', id=None), tool_call(None, ":1}", id=None), *CALL_END),
        calling("name-empty-first", "jjang-ai/vmlx#244", tool_call("", "", id="t"), tool_call("read_file", ARGS, id="t"), *CALL_END),
        calling("empty-strings-behind", "servers that send every field", tool_call("read_file", "", id="t"), tool_call("", '{"a"', id=""), tool_call("", ":1}", id=""), *CALL_END),
        calling("index-as-text", "gateways of JavaScript", tool_call("read_file", '{"a"', "0", id="t"), tool_call(None, ":1}", "0"), *CALL_END),
        calling("index-minus-one", "servers that count none", tool_call("read_file", '{"a"', -1, id="t"), tool_call(None, ":1}", -1), *CALL_END),
        calling("calls-as-an-object", "gateways of PHP, whose list with gaps is an object", chunk({"tool_calls": {"0": {"index": 0, "id": "t", "type": "function", "function": {"name": "read_file", "arguments": ARGS}}}}), *CALL_END),
        calling("pieces-in-turn", "servers that stream calls side by side", tool_call("read_file", '{"a"', 0, id="t"), tool_call("read_file", '{"a"', 1, id="u"), tool_call(None, ":1}", 0), tool_call(None, ":2}", 1), *CALL_END, calls=TWO_CALLS),
        calling("arguments-that-grow", "servers that send all so far", tool_call("read_file", '{"a"', id="t"), tool_call("read_file", '{"a":1', id="t"), tool_call("read_file", '{"a":1}', id="t"), *CALL_END),
        calling("arguments-an-empty-list", "gateways of PHP, whose empty object is a list", tool_call("read_file", "[]", id="t"), *CALL_END, calls=(("read_file", "{}"),)),
        calling("ends-with-tool_use", "gateways of Anthropic", tool_call("read_file", ARGS, id="t"), chunk({}, "tool_use"), used()),
        calling("ends-with-tool_call", "servers that write it in the singular", tool_call("read_file", ARGS, id="t"), chunk({}, "tool_call"), used()),
        Row("empty-input-then-real", ANTHROPIC, anthropic(*tool_block(0, {}, "{}", ARGS), end=_TOOL_END), "gateways that send the empty input of the start", text="", calls=CALL, ends="tool_calls"),
        Row("input-at-the-start-alone", ANTHROPIC, anthropic(*tool_block(0, {"a": 1}), end=_TOOL_END), "gateways that stream no input", text="", calls=CALL, ends="tool_calls"),
        Row("input-at-the-start-and-again", ANTHROPIC, anthropic(*tool_block(0, {"a": 1}, ARGS), end=_TOOL_END), "gateways that send it twice", text="", calls=CALL, ends="tool_calls"),
        Row("gemini-args-null", GEMINI, gemini_call({"functionCall": {"name": "read_file", "args": None}}), "gateways that send every field", text="", calls=(("read_file", "{}"),), ends="tool_calls"),
        Row("gemini-same-name-twice", GEMINI, gemini_call({"functionCall": {"name": "read_file", "args": {"a": 1}}, "thoughtSignature": "cw=="}, {"functionCall": {"name": "read_file", "args": {"a": 2}}}), "Gemini, parallel calls without ids", text="", calls=TWO_CALLS, ends="tool_calls"),
        Row("responses-done-alone", RESPONSES, response([("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": []}}), ("response.output_item.done", {"output_index": 0, "item": {"type": "function_call", "id": "f", "call_id": "t", "name": "read_file", "arguments": ARGS, "status": "completed"}})], output=[]), "gateways that send the end of an item alone", text="", calls=CALL, ends="tool_calls"),
    ],
    "shapes of text": [
        Row("text-with-a-value", COMPATIBLE, frames(chunk({"content": [{"type": "text", "text": {"value": "Hello there.", "annotations": []}}]}), chunk({}, "stop"), used()), "the form of OpenAI's assistants"),
        Row("thinking-closed", COMPATIBLE, frames(chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}, {"type": "reference", "reference_ids": [1]}], "closed": True}]}), *said("Hello there.")), "agentjido/req_llm#742, Mistral", reasoning="Hm."),
        Row("a-figure", COMPATIBLE, frames(chunk({"content": 42}), chunk({}, "stop"), used()), "gateways of JavaScript that read JSON once more", text="42"),
        Row("thinking-and-signature-and-redacted", ANTHROPIC, anthropic(("content_block_start", {"index": 0, "content_block": {"type": "thinking", "thinking": ""}}), ("content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}), ("content_block_stop", {"index": 0}), ("content_block_start", {"index": 1, "content_block": {"type": "redacted_thinking", "data": "eA=="}}), ("content_block_stop", {"index": 1}), *text_block(2)), "Anthropic through Bedrock", reasoning="Hm."),
        Row("gemini-thought-of-null", GEMINI, gemini({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Hello there.", "thought": None, "thoughtSignature": None}]}, "finishReason": "STOP"}], "usageMetadata": GEMINI_USAGE}), "gateways that send every field", reasoning="Hm."),
        Row("gemini-parts-null", GEMINI, gemini(candidate("Hello there."), {"candidates": [{"content": {"role": "model", "parts": None}, "finishReason": "STOP"}], "usageMetadata": GEMINI_USAGE}), "gateways that send every field"),
    ],
    "usage": [
        counted("x_groq-and-usage", "Groq", {"id": "c", "choices": [], "usage": {**U, "queue_time": 0.01, "total_time": 0.2}, "x_groq": {"id": "req", "usage": U}}, **PAID),
        counted("cached-and-timings", "ggml-org/llama.cpp", {"id": "c", "choices": [], "usage": {**U, "prompt_tokens_details": {"cached_tokens": 299}}, "timings": {"cache_n": 299, "prompt_n": 1, "predicted_n": 20}}, output_tokens=20, cache_read_tokens=299),
        counted("seconds-of-sound", "Mistral", used(prompt_audio_seconds={}, num_cached_tokens=0), **PAID),
        counted("performance", "Fireworks", {**used(), "perf_metrics": {"prompt-tokens": 300}}, **PAID),
        Row("thoughts-without-candidates", GEMINI, gemini(candidate("Hello there.", "STOP", usageMetadata={"promptTokenCount": 12, "thoughtsTokenCount": 5, "totalTokenCount": 17})), "Gemini leaves out counts of nought", usage={"input_tokens": 12, "output_tokens": 5}),
        Row("usage-null-in-the-end", RESPONSES, response(response_events("Hello ", "there.")[:-1], usage=None), "vLLM, its Responses"),
    ],
    "endings": [
        Row("guardrail", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "guardrail_intervened"), used()), "Amazon Bedrock", ends="refused"),
        Row("content_filtered", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "content_filtered"), used()), "Amazon Bedrock", ends="refused"),
        Row("malformed_tool_use", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "malformed_tool_use"), used()), "Amazon Bedrock", ends="broken"),
        Row("malformed_model_output", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "malformed_model_output"), used()), "Amazon Bedrock", ends="broken"),
        Row("max_output_tokens", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "max_output_tokens"), used()), "gateways of Responses", ends="truncated"),
        Row("error_toxic", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "ERROR_TOXIC"), used()), "Cohere", ends="refused"),
        Row("error_limit", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "ERROR_LIMIT"), used()), "Cohere", ends="truncated"),
        Row("stop_sequence", COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, "stop_sequence"), used()), "gateways of Anthropic"),
        Row("too-many-calls", GEMINI, gemini(candidate("Hello there.", "TOO_MANY_TOOL_CALLS", usageMetadata=GEMINI_USAGE)), "google-genai, FinishReason", ends="truncated"),
        Row("incomplete-length", RESPONSES, response(response_events("Hello ", "there.")[:-1], status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "OpenAI", ends="truncated"),
        Row("incomplete-filter", RESPONSES, response(response_events("Hello ", "there.")[:-1], status="incomplete", incomplete_details={"reason": "content_filter"}), "OpenAI", ends="refused"),
    ],
    "errors": [
        broken_off("compute-error", "server_fault", 'event: error\ndata: {"error":{"message":"Compute error."},"message":"Compute error."}\n\n', "zendev-sh/goai#110, LM Studio", "Compute error"),
        broken_off("overflow-in-the-stream", "context_too_long", 'event: error\ndata: {"error":{"message":"Context size has been exceeded."},"message":"Context size has been exceeded."}\n\n', "lmstudio-ai/lmstudio-bug-tracker#2322", "Context size has been exceeded"),
        broken_off("available-context-in-the-stream", "context_too_long", frames({"error": {"code": 400, "message": "request (2358 tokens) exceeds the available context size (2048 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 2358, "n_ctx": 2048}}, done=False), "unslothai/unsloth#9390, llama.cpp", "2358"),
        broken_off("disconnected-behind-text", "server_fault|overloaded", frames(_HALF, {"id": "c", "object": "chat.completion.chunk", "error": {"code": "server_error", "message": "Provider disconnected unexpectedly", "metadata": {"error_type": "provider_unavailable"}}, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}, done=False), "damianvtran/local-operator#223, OpenRouter", "Provider disconnected unexpectedly", text="Half"),
        broken_off("litellm-behind-text", "server_fault|overloaded", frames(_HALF, {"error": {"message": "litellm.MidStreamFallbackError: litellm.APIConnectionError: the upstream closed", "type": None, "param": None, "code": "500"}}), "LiteLLM, its proxy", "the upstream closed", text="Half"),
        broken_off("abort-with-a-trace", "server_fault", frames({"error": {"message": "Chat completion aborted. Please check the server console.", "trace": "Traceback (most recent call last):\n  File \"x.py\", line 1\nRuntimeError: Insufficient pages"}}), "theroyallab/tabbyAPI", "Chat completion aborted", words_not=("Traceback",)),
        broken_off("context-nested", "context_too_long", named(("error", {"error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "Your input exceeds the context window of this model. Please adjust your input and try again.", "param": "input"}, "sequence_number": 2})), "maximhq/bifrost#4413", "exceeds the context window", api=RESPONSES),
        broken_off("api_error-behind-half", "server_fault", named(*message_events("Half")[:3], ("error", {"error": {"details": None, "type": "api_error", "message": "Internal server error"}, "request_id": "req_1"})), "Anthropic", "Internal server error", text="Half", api=ANTHROPIC),
        failing("busy-in-detail", 503, "overloaded", {"detail": {"msg": "Server is busy; please try again later.", "type": "service_unavailable"}}, "LostRuins/koboldcpp#2481", "Server is busy"),
        failing("key-in-detail", 401, "bad_key", {"detail": "Please provide an API key"}, "theroyallab/tabbyAPI", "Please provide an API key"),
        failing("unknown-operation", 404, "unknown_model|bad_request", {"Output": {"__type": "com.amazon.coral.service#UnknownOperationException"}, "Version": "1.0"}, "Amazon Bedrock, a wrong address", "UnknownOperationException"),
        failing("list-of-words", 400, "bad_request", {"error": ["Error in `parameters.max_new_tokens`: ensure this value is less than or equal to 250"]}, "Hugging Face", "less than or equal to 250"),
        failing("list-of-objects", 400, "bad_request|forbidden", {"success": False, "result": [], "messages": [], "error": [{"code": 2001, "message": "Please configure AI Gateway in the Cloudflare dashboard"}]}, "Cloudflare AI Gateway", "Please configure AI Gateway"),
        failing("express-page", 413, "request_too_large", "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n<pre>PayloadTooLargeError: request entity too large<br> &nbsp; &nbsp;at readStream (/app/raw-body/index.js:163:17)</pre>\n</body>\n</html>", "gateways on Express", "request entity too large", content_type=HTML, words_not=("readStream", "<pre>")),
        failing("invocation-timeout", 504, "timed_out|server_fault", "An error occurred with your deployment\n\nFUNCTION_INVOCATION_TIMEOUT\n\niad1::abcde-1700000000000-0123456789ab", "gateways on Vercel", "FUNCTION_INVOCATION_TIMEOUT"),
        failing("number-of-cloudflare", 429, "rate_limited", "error code: 1015", "Cloudflare before gateways", "error code: 1015"),
        failing("mantle-body", 400, "bad_request", {"error": {"code": "validation_error", "message": "Failed to deserialize the JSON body into the target type: messages[1]: data did not match any variant", "param": None, "type": "invalid_request_error"}}, "mastra-ai/mastra#19228, Bedrock", "Failed to deserialize"),
        failing("hooks", 446, "declined|forbidden|bad_request", {"error": {"message": "The guardrail checks defined in the config failed. You can find more information in the `hook_results` object.", "type": "hooks_failed", "param": None, "code": None}, "hook_results": {"before_request_hooks": []}}, "Portkey", "The guardrail checks defined in the config failed"),
        failing("error-in-the-message", 429, "rate_limited", {"error": {"message": "litellm.RateLimitError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This request would exceed your organization's rate limit of 40,000 input tokens per minute\"}}. Received Model Group=claude\nAvailable Model Group Fallbacks=None", "type": "throttling_error", "param": None, "code": "429"}}, "LiteLLM", "would exceed your organization's rate limit"),
        failing("gone-away", 499, "stream_dropped|server_fault|bad_request|timed_out", {"error": {"code": 499, "message": "The operation was cancelled.", "status": "CANCELLED"}}, "Gemini", "The operation was cancelled", api=GEMINI),
        failing("empty-object", 500, "server_fault", {}, "servers that say nothing"),
        failing("html-in-json", 502, "server_fault|overloaded", {"error": {"message": "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body></html>", "code": 502}}, "OpenRouter and gateways before nginx", "502 Bad Gateway", words_not=("<center>",)),
    ],
    "kinds of failure": [
        failing("more-memory", 500, "server_fault|bad_request|overloaded", {"error": {"message": "model requires more system memory (5.3 GiB) than is available (3.3 GiB)", "type": "api_error", "param": None, "code": None}}, "continuedev/continue#11767, Ollama", "more system memory (5.3 GiB)"),
        failing("unauthorized-word", 401, "bad_key", {"error": "unauthorized"}, "Ollama's cloud", "unauthorized"),
        failing("mistral-unauthorized", 401, "bad_key", {"message": "Unauthorized", "request_id": "r"}, "Mistral", "Unauthorized"),
        failing("not-this-api", 400, "unknown_model|bad_request", {"error": {"code": "validation_error", "message": "The model 'openai.gpt-5.6-terra' does not support the '/v1/chat/completions' API", "param": None, "type": "invalid_request_error"}}, "enricoros/big-AGI#1167, Bedrock", "does not support the '/v1/chat/completions' API"),
        failing("not-authorized-to-perform", 403, "forbidden", {"Message": "User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1::foundation-model/m"}, "Amazon Bedrock", "is not authorized to perform"),
        failing("token-expired", 403, "bad_key", {"message": "The security token included in the request is expired"}, "Amazon Bedrock", "security token included in the request is expired"),
        failing("azure-tier", 429, "rate_limited", {"error": {"code": "429", "message": "Your requests to gpt-4.1-nano for gpt-4.1-nano in Sweden Central have exceeded the token rate limit for your current AIServices S0 pricing tier. Please retry after 45 seconds."}}, "icereed/paperless-gpt#814, Azure", "exceeded the token rate limit"),
        failing("apim-rate", 429, "rate_limited", {"statusCode": 429, "message": "Rate limit is exceeded. Try again in 26 seconds."}, "Azure API Management", "Rate limit is exceeded"),
        failing("apim-key", 401, "bad_key", {"statusCode": 401, "message": "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API."}, "Azure API Management", "missing subscription key"),
        failing("gemini-exhausted-list", 429, "rate_limited|overloaded", [{"error": {"code": 429, "message": "Resource exhausted. Please try again later.", "status": "RESOURCE_EXHAUSTED"}}], "google-gemini/gemini-cli#6454", "Resource exhausted", api=GEMINI),
        failing("gemini-limit-nought", 429, "rate_limited|no_quota", {"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0\nPlease retry in 43.71576202s.", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "43s"}]}}, "mscraftsman/generative-ai#114", "limit: 0", api=GEMINI),
        failing("inputs-422", 422, "context_too_long", {"error": {"message": "Input validation error: `inputs` must have less than 4095 `inputs` tokens. Given: 5000", "http_status_code": 422}}, "Hugging Face", "must have less than 4095"),
        failing("mlx-no-repository", 404, "unknown_model", {"error": "404 Client Error. Repository Not Found for url: https://huggingface.co/api/models/nope/revision/main. Please make sure you specified the correct `repo_id`."}, "ml-explore/mlx-lm", "Repository Not Found"),
        failing("engines-asleep", 404, "unknown_model", {"error": "Model qwen3 not found or all engines are in sleep mode"}, "vllm-project/production-stack", "all engines are in sleep mode"),
        failing("xai-team-rate", 429, "rate_limited", {"code": "Some resource has been exhausted", "error": "Too many requests for team 0000 and model grok-4. Your team's rate limit is — Requests per Minute (actual/limit): 61/60."}, "xAI", "61/60"),
        failing("cerebras-traffic", 429, "overloaded|rate_limited", {"message": "We're experiencing high traffic right now! Please try again soon.", "type": "too_many_requests_error", "param": "queue", "code": "queue_exceeded"}, "Cerebras", "high traffic right now"),
        failing("together-rate", 429, "rate_limited", {"error": {"message": "You have reached the rate limit specific to this model m. The maximum rate limit for this model is 0.6 queries per minute.", "type": "model_rate_limit", "param": None, "code": "rate_limit_exceeded"}}, "Together", "0.6 queries per minute"),
        failing("together-not-ready", 503, "overloaded", {"id": "x", "error": {"message": "The server is overloaded or not ready yet.", "type": "service_unavailable", "param": None, "code": "service_unavailable"}}, "Together", "overloaded or not ready yet"),
        failing("zai-1302", 429, "rate_limited", {"error": {"code": "1302", "message": "您的账户已达到速率限制，请您控制请求频率"}}, "Z.ai", "速率限制"),
        failing("github-by-day", 429, "rate_limited|no_quota", {"error": {"code": "RateLimitReached", "message": "Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 43321 seconds before retrying.", "details": "Rate limit of 50 per 86400s exceeded for UserByModelByDay."}}, "GitHub Models", "50 per 86400s"),
        failing("gateway-funds", 402, "no_quota", {"error": {"message": "Insufficient funds. Please add credits to your account to continue using AI services.", "type": "insufficient_funds", "statusCode": 402}}, "Vercel AI Gateway", "Please add credits"),
        failing("litellm-token", 401, "bad_key", {"error": {"message": "Authentication Error, Invalid proxy server token passed. Received API Key = sk-...1234, Unable to find token in cache or `LiteLLM_VerificationTokenTable`", "type": "token_not_found_in_db", "param": "key", "code": "401"}}, "LiteLLM", "Invalid proxy server token passed"),
        failing("anthropic-413", 413, "request_too_large", {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, "Anthropic", "exceeds the maximum size", api=ANTHROPIC),
        failing("anthropic-timeout", 504, "timed_out|server_fault|overloaded", {"type": "error", "error": {"type": "timeout_error", "message": "Request timed out while processing"}}, "Anthropic", "Request timed out", api=ANTHROPIC),
        failing("unavailable-word", 503, "overloaded|server_fault", {"detail": "Service Unavailable"}, "vLLM behind FastAPI", "Service Unavailable"),
        failing("mantle-region", 404, "unknown_model", {"error": {"code": "not_found_error", "message": "The model 'xai.grok-4.3' does not exist or is not available in this region", "type": "invalid_request_error"}}, "aws-samples/sample-strands-agent-with-agentcore#78", "not available in this region"),
        failing("plain-too-many", 429, "rate_limited", "Too Many Requests", "Kong and other gateways", content_type=TEXT),
        failing("json-of-a-text", 400, "bad_request", '"messages must not be empty"', "servers that answer with a JSON string", "messages must not be empty", content_type=JSON),
    ],
}
"""Rows by their class, as `table.CLASSES`."""
