"""Reports of the nineteenth round, written down before a try, of forms that models and agents' prompts use."""

from __future__ import annotations

from typing import Any

from tests.vendors.world.fourteenth_round import gemini
from tests.vendors.world.rounds import broken_off, failing, spelled
from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL_JSON,
    COMPATIBLE,
    GEMINI,
    GEMINI_USAGE,
    HTML,
    RESPONSE,
    RESPONSES,
    Row,
    chunk,
    frames,
    named,
    used,
)

_LINES = (("write_file", '{"path":"a.txt","content":"one\\ntwo"}'),)
_APOSTROPHE = (("write_file", '{"path":"a.txt","content":"it\'s"}'),)
_CUT = '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "content": "hel'
_UNCLOSED = f"I need it.\n<tool_call>\n{CALL_JSON}\n</tool_call>"


def _ended(name: str, word: str, ends: str) -> Row:
    return Row(name, COMPATIBLE, frames(chunk({"content": "Hello there."}), chunk({}, word), used()), "gateways that keep a vendor's own word", ends=ends)  # fmt: skip


# fmt: off
NINETEENTH: dict[str, list[Row]] = {
    "frames": [
        Row("words-that-all-is-fine", COMPATIBLE, frames({"id": "c", "error_code": 0, "error_msg": "success"}, chunk({"content": "Hello there."}), chunk({}, "stop"), used()), "what must stay right, Qianfan"),
    ],
    "errors": [
        failing("error-as-text", 429, "rate_limited", {"type": "error", "error": "rate limited"}, "gateways over Anthropic's API", "rate limited", api=ANTHROPIC),
        broken_off("failed-response", "rate_limited", named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.failed", {"response": {**RESPONSE, "status": "failed", "output": [], "usage": None, "error": {"code": "rate_limit_exceeded", "message": "Rate limit reached for x on tokens per min (TPM). Please try again in 20s."}}})), "OpenAI", "Rate limit reached", api=RESPONSES),
        failing("page-of-payment", 402, "no_quota", "<html><head><title>402 Payment Required</title></head><body>Top up</body></html>", "gateways", "402 Payment Required", words_not=("<title",), content_type=HTML),
        failing("engine-core", 500, "server_fault", {"error": {"message": "EngineCore encountered an issue. See stack trace (above) for the root cause.", "type": "InternalServerError", "param": None, "code": 500}}, "vLLM", "EngineCore encountered an issue"),
    ],
    "kinds of failure": [
        failing("legal-reasons", 451, "forbidden|bad_request|declined", {"error": "Unavailable For Legal Reasons"}, "gateways", "Unavailable For Legal Reasons"),
        failing("no-upstream", 503, "overloaded", {"error": {"message": "no healthy upstream"}}, "Envoy", "no healthy upstream"),
        failing("empty-prompt", 400, "bad_request", {"error": {"message": "The prompt is empty", "type": "invalid_request_error", "code": "invalid_prompt"}}, "vLLM", "The prompt is empty"),
    ],
    "endings": [
        _ended("stop-in-capitals", "STOP", "completed"),
        _ended("tokens-in-capitals", "MAX_TOKENS", "truncated"),
        _ended("end-of-turn", "end_turn", "completed"),
        _ended("safety-in-capitals", "SAFETY", "refused"),
        Row("blocked-prompt", GEMINI, gemini({"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": GEMINI_USAGE}), "Gemini", text="", ends="refused"),
        Row("incomplete-for-a-filter", RESPONSES, named(("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}}), ("response.output_text.delta", {"delta": "Hello there.", "output_index": 0, "content_index": 0}), ("response.incomplete", {"response": {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}})), "OpenAI", ends="refused"),
    ],
    "leaked calls": [
        spelled("yaml-with-values-beside", "agents with their own prompts", "<tool_call>\nname: read_file\na: 1\n</tool_call>"),
        spelled("name-and-json-in-a-line", "Qwen fine-tunes", '<tool_call>read_file {"a": 1}</tool_call>'),
        spelled("tool-and-input", "Qwen fine-tunes", '<tool_call>{"tool": "read_file", "input": {"a": 1}}</tool_call>'),
        spelled("name-and-args-elements", "agents with their own prompts", '<tool_call>\n<name>read_file</name>\n<args>{"a": 1}</args>\n</tool_call>'),
        spelled("parameters-of-elements", "agents with their own prompts", "<tool_call>\n<tool_name>read_file</tool_name>\n<parameters>\n<a>1</a>\n</parameters>\n</tool_call>"),
        spelled("calls-between-bars", "small models", f"<|tool_calls|>[{CALL_JSON}]</s>"),
        spelled("deepseek-fence-without-function", "DeepSeek R1", '<｜tool▁call▁begin｜>read_file\n```json\n{"a": 1}\n```\n<｜tool▁call▁end｜>'),
        spelled("turn-of-gemma", "Gemma 3 behind servers that show its turns", "<start_of_turn>model\n```tool_code\nread_file(a=1)\n```<end_of_turn>"),
        spelled("print-in-a-python-fence", "Gemma 3", "```python\nprint(default_api.read_file(a=1))\n```", model="gemma-3-27b-it"),
        spelled("list-and-end", "Llama 4", "[read_file(a=1)]<|eot|>", model="llama-4-maverick"),
        spelled("between-python-tokens", "Llama 4", "<|python_start|>[read_file(a=1)]<|python_end|>"),
        spelled("function-name-and-json", "small models", '<function>read_file{"a": 1}</function>'),
        spelled("function-and-end-of-message", "Llama 3.1", '<function=read_file>{"a": 1}<|eom_id|>'),
        spelled("tag-with-functions", "small models", '<functions.read_file>{"a": 1}</functions.read_file>'),
        spelled("name-with-functions", "Qwen2.5", '{"name": "functions.read_file", "arguments": {"a": 1}}', model="qwen2.5:14b"),
        spelled("label-and-json", "small models", f"Function call: {CALL_JSON}"),
        spelled("label-and-bullets", "small models", "Tool: read_file\nArguments:\n- a: 1\n"),
        spelled("execute_tool", "agents with their own prompts", "<execute_tool>\nread_file(a=1)\n</execute_tool>"),
        spelled("tool_code-of-json", "Gemma fine-tunes", '<tool_code>{"tool": "read_file", "a": 1}</tool_code>'),
        spelled("thought-that-never-closes", "Qwen3 behind servers without a parser of thoughts", f"<think>{_UNCLOSED}", reasoning=_UNCLOSED),
        spelled("function-and-arguments-in-a-call", "agents with their own prompts", '<tool_calls>\n  <tool_call>\n    <function>read_file</function>\n    <arguments>{"a": 1}</arguments>\n  </tool_call>\n</tool_calls>'),
        spelled("camel-tool-use", "agents with their own prompts", "<toolUse><name>read_file</name><input>" + ARGS + "</input></toolUse>"),
        spelled("call-of-mcp", "agents with their own prompts", '<mcp_call tool="read_file">{"a":1}</mcp_call>'),
        spelled("python-dict-with-an-apostrophe", "Hermes fine-tunes", "<tool_call>{'name': 'write_file', 'arguments': {'path': 'a.txt', 'content': \"it's\"}}</tool_call>", calls=_APOSTROPHE),
        spelled("line-ends-in-a-text", "small models", '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "content": "one\ntwo"}}\n</tool_call>', calls=_LINES),
        spelled("cut-within-a-value", "what must stay text", _CUT, calls=(), ends="completed", text=_CUT),
    ],
}
"""Rows by their class, as `table.CLASSES`."""

NINETEENTH_LISTS: list[tuple[str, Any, dict[str, int | None], str]] = [
    ("tokens-of-the-window", {"object": "list", "data": [{"id": "m1", "context_window_tokens": 8192}]}, {"m1": 8192}, "gateways"),
    ("camel-names", [{"modelName": "m1", "maxTokens": 100}, {"modelName": "m2"}], {"m1": None, "m2": None}, "gateways of JavaScript"),
]
# fmt: on
