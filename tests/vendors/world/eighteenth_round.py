"""Reports of the eighteenth round, written down before a try and after the mends of the three before it."""

from __future__ import annotations

from tests.vendors.world.fourteenth_round import anthropic, text_block
from tests.vendors.world.rounds import broken_off, calling, counted, failing, spelled
from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL_END,
    CALL_JSON,
    COMPATIBLE,
    JSON,
    PAID,
    TWO_CALLS,
    Row,
    chunk,
    frames,
    said,
    tool_call,
    used,
    whole,
)

_SECOND = CALL_JSON.replace("1", "2")
_QUOTA = "Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: x."

# fmt: off
EIGHTEENTH: dict[str, list[Row]] = {
    "frames": [
        Row("empty-role-in-each", COMPATIBLE, frames(*(chunk({"role": "", "content": one}) for one in ("Hello ", "there.")), chunk({"role": ""}, "stop"), used()), "anomalyco/opencode#28427, GLM"),
        Row("minimal-chunks", COMPATIBLE, "".join(f'data: {{"choices":[{{"delta":{{"content":"{one}"}},"index":0}}]}}\n\n' for one in ("Hello ", "there.")) + "data: [DONE]\n\n", "servers that say no more than they must"),
        Row("event-done-at-the-end", COMPATIBLE, frames(*said("Hello ", "there."), done=False) + "event: done\ndata: {}\n\n", "gateways with events of their own"),
        Row("cost-alone-behind", COMPATIBLE, frames(*said("Hello ", "there."), {"choices": [], "cost": "0"}), "anomalyco/opencode#42918", usage=PAID),
    ],
    "whole replies": [
        Row("blank-lines-before", COMPATIBLE, "\n\n\n   \n" + whole({"content": "Hello there."}), "OpenRouter, which keeps a connection alive with blanks", JSON, usage=PAID),
    ],
    "errors": [
        broken_off("nothing-at-all", "bad_reply|stream_dropped|server_fault|unknown_end", "", "servers that end at once"),
        failing("overloaded-in-raw", 503, "overloaded", {"error": {"message": "Provider returned error", "code": 503, "metadata": {"raw": '{"error":{"message":"The model is overloaded. Please try again later.","code":503}}', "provider_name": "x"}}}, "OpenRouter", "The model is overloaded"),
        broken_off("quota-in-a-stream", "no_quota", frames({"error": {"message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}}), "OpenAI behind gateways", "exceeded your current quota"),
        failing("title-and-detail", 402, "no_quota", {"status": 402, "title": "Payment Required", "detail": "Account 'x': Cloud credits expired - Please contact NVIDIA representatives"}, "NVIDIA NIM", "Cloud credits expired"),
        failing("credit-of-replicate", 402, "no_quota", {"title": "Insufficient credit", "detail": "You have insufficient credit to run this model. Go to https://replicate.com/account/billing to purchase credit.", "status": 402}, "Replicate", "insufficient credit"),
    ],
    "kinds of failure": [
        failing("quota-by-the-minute", 429, "rate_limited", {"error": {"code": 429, "message": _QUOTA, "status": "RESOURCE_EXHAUSTED"}}, "Vertex", "per_minute"),
        failing("publisher-model", 404, "unknown_model", {"error": {"code": 404, "message": "Publisher Model `projects/x/locations/us/publishers/google/models/m` was not found or your project does not have access to it.", "status": "NOT_FOUND"}}, "Vertex", "was not found or your project"),
        failing("permission-on-resource", 403, "forbidden", {"error": {"code": 403, "message": "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/x' (or it may not exist).", "status": "PERMISSION_DENIED"}}, "Vertex", "denied on resource"),
        failing("resource-not-found", 404, "bad_request|unknown_model", {"error": {"code": "404", "message": "Resource not found"}}, "Azure", "Resource not found"),
        failing("operation-not-supported", 400, "unknown_model|bad_request", {"error": {"code": "OperationNotSupported", "message": "The chatCompletion operation does not work with the specified model, x. Please choose different model and try again."}}, "Azure", "does not work with the specified model"),
        failing("tier-capacity", 498, "overloaded|rate_limited", {"error": {"message": "Service tier capacity exceeded. Please try again later.", "type": "capacity_exceeded"}}, "Groq", "capacity exceeded"),
        failing("too-many-tokens", 422, "context_too_long", {"message": "too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130000. Try using a shorter prompt."}, "Cohere", "128000"),
        failing("workspace-limit", 429, "rate_limited", {"error_code": "REQUEST_LIMIT_EXCEEDED", "message": "Exceeded workspace input tokens per minute rate limit for databricks-x."}, "Databricks", "per minute rate limit"),
        failing("out-of-memory-of-cuda", 500, "server_fault|bad_request", {"error": "an error was encountered while running the model: CUDA error: out of memory"}, "Ollama", "CUDA error: out of memory"),
    ],
    "usage": [
        Row("null-at-the-start", ANTHROPIC, anthropic(*text_block(0), usage={"input_tokens": None, "output_tokens": None}, end={"delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 12, "cache_read_input_tokens": None, "output_tokens": 5}}), "gateways over Anthropic's API", usage={"input_tokens": 12, "output_tokens": 5}),
        counted("cost-as-text", "Vercel AI Gateway", used(cost="0.0123"), input_tokens=300, output_tokens=20, cost_usd=0.0123),
    ],
    "leaked calls": [
        calling("closing-tag-beside", "Qwen behind vLLM", chunk({"content": "I read it.\n</tool_call>"}), tool_call("read_file", ARGS, id="t"), *CALL_END, text="I read it."),
        calling("opening-tag-alone-beside", "Qwen behind vLLM", chunk({"content": "<tool_call>"}), tool_call("read_file", ARGS, id="t"), *CALL_END),
        spelled("function-with-colons", "chimera-defi/Etc-mono-repo, PARSER_GUIDE", "read_file(a: 1)", model="qwen2.5:7b"),
        spelled("under-its-name", "browser agents that read loose JSON", '{"read_file": {"a": 1}}', model="llama3.2"),
        spelled("function-of-json", "browser agents that read loose JSON", 'read_file({"a": 1})', model="qwen2.5-coder:7b"),
        spelled("block-in-three-angles", "izaart95-jpg/GLM-Free-API#44", f"<<<TOOL_CALL_BLOCK>>>\n{CALL_JSON}\n<<<END_TOOL_CALL_BLOCK>>>"),
        spelled("block-that-lost-its-angles", "izaart95-jpg/GLM-Free-API#44", f"TOOL_CALL_BLOCK>>>\n{CALL_JSON}\n<<<END_TOOL_CALL_BLOCK>>>"),
        spelled("dsml-in-one-line", "xorbitsai/xagent#806", '<｜｜DSML｜｜tool_calls> <｜｜DSML｜｜invoke name="read_file"> <｜｜DSML｜｜parameter name="a" string="false">1</｜｜DSML｜｜parameter> </｜｜DSML｜｜invoke> </｜｜DSML｜｜tool_calls>'),
        spelled("gemma-of-openhuman", "tinyhumansai/openhuman#6344", "I fetch it.\n<|tool_call>call:read_file{a:1}<tool_call|>", text="I fetch it."),
        spelled("arguments-in-a-string", "Hermes fine-tunes", '<tool_call>\n{"name": "read_file", "arguments": "{\\"a\\": 1}"}\n</tool_call>'),
        spelled("tag-with-an-id", "agents with their own prompts", f'<tool_call id="1">\n{CALL_JSON}\n</tool_call>'),
        spelled("function_call-with-its-name", "agents with their own prompts", '<function_call name="read_file">{"a": 1}</function_call>'),
        spelled("tool-in-an-attribute", "agents with their own prompts", '<tool name="read_file" a="1"/>'),
        spelled("start-without-a-list", "LFM2", "<|tool_call_start|>read_file(a=1)<|tool_call_end|>"),
        spelled("list-behind-a-line", "Mistral 7B", f"[TOOL_CALLS]\n[{CALL_JSON}]\n"),
        spelled("action-as-a-function", "ReAct prompts", 'Thought: I need it.\nAction: read_file({"a": 1})', text="Thought: I need it."),
        spelled("bold-label-and-fence", "small models", '**Tool call:** `read_file`\n\n```json\n{"a": 1}\n```', model="gemma3:4b"),
        spelled("invoke-with-tool", "agents with their own prompts", '<invoke tool="read_file"><a>1</a></invoke>'),
        spelled("under-tool_call", "agents with their own prompts", '{"tool_call": {"name": "read_file", "arguments": {"a": 1}}}'),
        spelled("anthropics-block", "gateways that print a block", '{"type": "tool_use", "id": "t", "name": "read_file", "input": {"a": 1}}'),
        spelled("geminis-part", "gateways that print a part", '{"functionCall": {"name": "read_file", "args": {"a": 1}}}'),
        spelled("tool_use-of-json", "agents with their own prompts", '<tool_use>\n{"name": "read_file", "input": {"a": 1}}\n</tool_use>'),
        spelled("words-between-two", "Qwen3", f"<tool_call>\n{CALL_JSON}\n</tool_call>\nThen I read the other.\n<tool_call>\n{_SECOND}\n</tool_call>", calls=TWO_CALLS, text="Then I read the other."),
    ],
}
# fmt: on
"""Rows by their class, as `table.CLASSES`."""
