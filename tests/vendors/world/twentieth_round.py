"""Reports of the twentieth round, written down before a try."""

from __future__ import annotations

from tests.vendors.world.rounds import broken_off, calling, failing, spelled
from tests.vendors.world.table import (
    ARGS,
    CALL_END,
    CALL_JSON,
    COMPATIBLE,
    GEMINI,
    JSON,
    PAID,
    Row,
    chunk,
    frames,
    said,
    tool_call,
    used,
    whole,
)

# fmt: off
TWENTIETH: dict[str, list[Row]] = {
    "frames": [
        Row("reply-under-message", COMPATIBLE, frames(*({"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": one}, "finish_reason": None}]} for one in ("Hello ",)), *said("there.")), "gateways that name a delta a message"),
        Row("numbers-of-events", COMPATIBLE, "".join(f"id: {at}\nevent: chunk\ndata: {one}\n\n" for at, one in enumerate(frames(*said("Hello ", "there."), done=False).replace("data: ", "").strip().split("\n\n"))) + "id: 9\nevent: end\ndata: [DONE]\n\n", "gateways with events of their own"),
        Row("stop-reason-of-the-chunk", COMPATIBLE, frames(chunk({"content": "Hello there."}), {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "matched_stop": 151645}], "usage": None}, used()), "SGLang"),
    ],
    "whole replies": [
        Row("content-as-parts", COMPATIBLE, whole({"content": [{"type": "text", "text": "Hello "}, {"type": "text", "text": "there."}]}), "Mistral without a stream", JSON, usage=PAID),
    ],
    "errors": [
        failing("errors-of-a-field", 400, "bad_request", {"errors": {"messages": ["The messages field is required."]}, "title": "One or more validation errors occurred.", "status": 400}, "gateways of .NET", "The messages field is required"),
        failing("cause-beside-a-code", 500, "server_fault", {"timestamp": "2026-11-30T18:00:00Z", "status": 500, "error": "Internal Server Error", "path": "/v1/chat/completions", "message": "upstream closed the connection"}, "gateways of Spring", "upstream closed the connection"),
        broken_off("error-with-a-status-in-words", "overloaded|server_fault", frames(chunk({"content": "Half"}), {"error": "503 Service Unavailable: The model is at capacity"}), "gateways", "at capacity", text="Half"),
    ],
    "kinds of failure": [
        failing("key-without-rights", 403, "forbidden", {"error": {"message": "Your API key does not have permission to use the specified resource", "type": "permission_error"}}, "gateways over Anthropic", "does not have permission"),
        failing("key-disabled", 401, "bad_key|forbidden", {"error": {"message": "This API key has been disabled", "code": "api_key_disabled"}}, "gateways", "has been disabled"),
        failing("minute-of-tokens", 429, "rate_limited", {"error": {"message": "You have exceeded your tokens-per-minute limit. Retry after 12 seconds.", "type": "tokens"}}, "gateways", "tokens-per-minute"),
        failing("gemini-internal", 500, "server_fault", {"error": {"code": 500, "message": "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting", "status": "INTERNAL"}}, "Gemini", "An internal error has occurred", api=GEMINI),
        failing("window-of-tokens", 400, "context_too_long", {"error": {"message": "Input length 140000 exceeds the maximum allowed length of 131072 tokens.", "type": "invalid_request_error"}}, "SGLang", "131072"),
    ],
    "leaked calls": [
        calling("same-call-as-python-beside", "Llama 4 behind vLLM", chunk({"content": "[read_file(a=1)]"}), tool_call("read_file", ARGS, id="t"), *CALL_END),
        spelled("tool_call-in-bold-fence", "small models", f"I read it.\n\n```tool_call\n{CALL_JSON}\n```", text="I read it."),
        spelled("tool-call-element-with-dash", "agents with their own prompts", f"<tool-call>\n{CALL_JSON}\n</tool-call>"),
        spelled("tool_request-of-elements", "agents with their own prompts", "<tool_request>\n<tool>read_file</tool>\n<a>1</a>\n</tool_request>"),
        spelled("parameters-in-one-object", "GLM 4.5 fine-tunes", '<tool_call>read_file\n<arg_key>a</arg_key><arg_value>1</arg_value>\n</tool_call>\n<|observation|>'),
        spelled("call-and-end-of-text", "Qwen3", f"<tool_call>\n{CALL_JSON}\n</tool_call><|im_end|>\n<|endoftext|>"),
        spelled("commentary-without-start", "gpt-oss", 'commentary to=functions.read_file code<|message|>{"a":1}<|call|>'),
        spelled("xml-with-a-head", "agents with their own prompts", '<?xml version="1.0"?>\n<invoke name="read_file"><parameter name="a">1</parameter></invoke>'),
        spelled("json5-in-the-tag", "small models", "<tool_call>{name: 'read_file', arguments: {a: 1}}</tool_call>"),
        spelled("number-as-text", "small models", '<tool_call>{"name": "read_file", "arguments": {"a": 1}}\n</tool_call>\n\n', text=""),
        spelled("two-tags-around", "small models", f"<tool_calls>\n<tool_call>\n{CALL_JSON}\n</tool_call>\n</tool_calls>"),
    ],
}
# fmt: on
"""Rows by their class, as `table.CLASSES`."""
