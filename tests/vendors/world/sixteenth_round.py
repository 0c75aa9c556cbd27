"""Reports of the sixteenth round: calls of tools in any dress, written down before a try, each from its report or its model's card."""

from __future__ import annotations

from tests.vendors.world.fourteenth_round import anthropic, response, tool_block
from tests.vendors.world.rounds import calling, spelled, thought
from tests.vendors.world.table import (
    ANTHROPIC,
    ARGS,
    CALL,
    CALL_END,
    CALL_JSON,
    RESPONSE,
    RESPONSES,
    TWO_CALLS,
    Json,
    Row,
    chunk,
    tool_call,
    used,
)

_TYPED = '{"type": "function", "name": "read_file", "parameters": {"a": 1}}'
_KIMI = '<|tool_calls_section_begin|> <|tool_call_begin|> functions.read_file:0 <|tool_call_argument_begin|> {"a": 1} <|tool_call_end|> <|tool_calls_section_end|>'
_INVOKE = '<invoke name="read_file">\n  <a>1</a>\n</invoke>'
_DSML = '<|DSML|tool_calls>\n<|DSML|invoke name="read_file">\n<|DSML|parameter name="a" string="false">1</|DSML|parameter>\n</|DSML|invoke>\n</|DSML|tool_calls>'
_TOOL_END = {"delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}
_ADDED: tuple[str, Json] = ("response.output_item.added", {"output_index": 0, "item": {"type": "function_call", "id": "f", "call_id": "t", "name": "read_file", "arguments": "", "status": "in_progress"}})  # fmt: skip
_CREATED: tuple[str, Json] = ("response.created", {"response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None}})  # fmt: skip

# fmt: off
SIXTEENTH: dict[str, list[Row]] = {
    "tool calls": [
        calling("one-call-at-two-indexes", "mudler/LocalAI#9722", tool_call("read_file", ARGS, 0, id="Lipw"), tool_call("read_file", ARGS, 1, id="Lipw"), *CALL_END),
        calling("all-so-far-each-time", "NousResearch/hermes-agent#35718, Qianfan", tool_call("read_file", "", id="t"), tool_call(None, '{"a"'), tool_call(None, '{"a":1'), tool_call(None, ARGS), *CALL_END),
        calling("pieces-then-all", "elizaOS/eliza#16973", tool_call("read_file", "", id="t"), tool_call(None, '{"a"'), tool_call(None, ":1}"), tool_call("read_file", ARGS, id="t"), *CALL_END),
        calling("all-twice", "anomalyco/opencode#17339, GLM", tool_call("read_file", ARGS, id="t"), tool_call(None, ARGS), *CALL_END),
        calling("two-pieces-in-one-chunk", "openai/openai-python#3438", chunk({"tool_calls": [{"index": 0, "id": "t", "type": "function", "function": {"name": "read_file", "arguments": ""}}, {"index": 0, "function": {"arguments": '{"a"'}}]}), tool_call(None, ":1}"), *CALL_END),
        calling("end-of-sequence-in-arguments", "vllm-project/vllm#51701, GigaChat", tool_call("read_file", '{"a": 1}', id="t"), tool_call(None, "</s"), *CALL_END),
        calling("single-object-for-a-list", "gateways of Java", chunk({"tool_calls": {"index": 0, "id": "t", "type": "function", "function": {"name": "read_file", "arguments": ARGS}}}), *CALL_END),
        calling("finish-says-function_call", "servers of the old field", tool_call("read_file", ARGS, id="t"), chunk({}, "function_call"), used()),
        Row("arguments-only-when-done", RESPONSES, response([_CREATED, _ADDED, ("response.function_call_arguments.done", {"item_id": "f", "output_index": 0, "arguments": ARGS})], output=[]), "servers of the Responses API without deltas", text="", calls=CALL, ends="tool_calls"),
        Row("input-whole-and-no-delta", ANTHROPIC, anthropic(*tool_block(0, {"a": 1}), end=_TOOL_END), "Anthropic behind gateways", text="", calls=CALL, ends="tool_calls"),
        Row("call-without-a-stop-of-its-block", ANTHROPIC, anthropic(*tool_block(0, {}, ARGS)[:-1], end=_TOOL_END), "QuantumNous/new-api#5482", text="", calls=CALL, ends="tool_calls"),
    ],
    "leaked calls": [
        calling("marker-left-beside-the-call", "vllm-project/vllm#51701, GigaChat", chunk({"content": "I read it."}), chunk({"content": "<|function_call|>"}), tool_call("read_file", ARGS, id="t"), *CALL_END, text="I read it."),
        calling("separator-left-beside-the-call", "vllm-project/vllm#51701, GigaChat", chunk({"content": "I read it."}), chunk({"content": "<|message_sep|>\n\nfunction call<|role_sep|>\n"}), tool_call("read_file", ARGS, id="t"), *CALL_END, text="I read it."),
        spelled("gemma-name-twice", "DenisovAV/flutter_gemma#228", "<|tool_call>call:read_file:read_file{a: 1}<tool_call|>"),
        spelled("gemma-round-and-colon", "NousResearch/hermes-agent#7449", "<|tool_call>call:read_file(a: 1)<tool_call|>"),
        spelled("gemma-quoted-keys", "waybarrios/vllm-mlx#267", '<|tool_call>call:read_file{<|"|>a<|"|>:1}<tool_call|>'),
        spelled("gemma-and-the-turn-of-the-answer", "waybarrios/vllm-mlx#383", "<|tool_call>call:read_file{a:1}<tool_call|><|tool_response>"),
        spelled("typed-json", "vllm-project/vllm#46863", _TYPED, model="RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic"),
        spelled("typed-json-and-words-behind", "vllm-project/vllm#19024", _TYPED + " \n\nWould you like to know more about it?", text="Would you like to know more about it?", model="llama-3.1-8b"),
        spelled("python-list-behind-words", "vllm-project/vllm#22917", "To answer I read the file.\n\n[read_file(a=1)]", text="To answer I read the file.", model="llama-4-scout"),
        thought("dsml-in-the-thought", "CherryHQ/cherry-studio#19188", "I read it.\n", _DSML, reasoning="I read it.\n" + _DSML),
        thought("invoke-in-the-thought", "anomalyco/opencode#6883, GLM 4.7", "I read it.\n", _INVOKE, reasoning="I read it.\n" + _INVOKE),
        thought("kimi-blanks-in-the-thought", "vybestack/llxprt-code#749", "I read it. ", _KIMI, reasoning="I read it. " + _KIMI),
        spelled("kimi-blanks", "vybestack/llxprt-code#749", "I read it. " + _KIMI, text="I read it."),
        spelled("court-behind-japanese", "anthropics/claude-code#69529", 'すみません、正しく実行します。\n\ncourt\n<invoke name="read_file">\n<parameter name="a">1</parameter>\n</invoke>', text="すみません、正しく実行します。\n\ncourt"),
        spelled("smolagents-list", "huggingface/smolagents#375", "Calling tools:\n[{'id': 'call_5', 'type': 'function', 'function': {'name': 'read_file', 'arguments': {'a': 1}}}]"),
        spelled("python-dict-in-the-tag", "Hermes fine-tunes", "<tool_call>\n{'name': 'read_file', 'arguments': {'a': 1}}\n</tool_call>"),
        spelled("glaive-with-single-quotes", "glaive-function-calling, Firefunction", "<functioncall> {\"name\": \"read_file\", \"arguments\": '{\"a\": 1}'} <|endoftext|>"),
        spelled("tag-of-xai", "Grok behind gateways", '<xai:function_call name="read_file">\n<parameter name="a">1</parameter>\n</xai:function_call>'),
        spelled("gemini-control-signs", "Gemini 2.5, malformed calls", "call:default_api:write_file{content:<ctrl46>hello<ctrl46>,path:<ctrl46>a.txt<ctrl46>}", calls=(("write_file", '{"content":"hello","path":"a.txt"}'),)),
        spelled("gemini-control-sign-before", "Gemini 2.5, malformed calls", "<ctrl42>call\nprint(default_api.read_file(a=1))"),
        spelled("name-then-tool_call-of-python", "ChatGLM3", "read_file\n```python\ntool_call(a=1)\n```", model="chatglm3-6b"),
        spelled("name-line-and-json", "GLM-4-9B", 'read_file\n{"a": 1}', model="glm-4-9b-chat"),
        spelled("bare-list-of-python", "ToolACE-2", "[read_file(a=1), read_file(a=2)]", calls=TWO_CALLS, model="Team-ACE/ToolACE-2-Llama-3.1-8B"),
        spelled("bare-list-of-json", "xLAM-2", f"[{CALL_JSON}]", model="Salesforce/Llama-xLAM-2-8b-fc-r"),
        spelled("tool-and-tool_input", "LangChain's XML agent", '<tool>read_file</tool><tool_input>{"a": 1}</tool_input>'),
        spelled("action-fence", "LangChain's JSON agent", 'Thought: I need it.\n\nAction:\n```json\n{"action": "read_file", "action_input": {"a": 1}}\n```', text="Thought: I need it."),
        spelled("action-input-of-python", "LlamaIndex's ReAct", "Thought: I need a tool.\nAction: read_file\nAction Input: {'a': 1}", text="Thought: I need a tool."),
        spelled("suggested-by-autogen", "AutoGen's printed calls", '***** Suggested tool call (call_1): read_file *****\nArguments: \n{"a": 1}\n***************************************************'),
        spelled("tool-with-its-name", "agents with their own prompts", '<tool name="read_file">\n<a>1</a>\n</tool>'),
        spelled("opening-tag-lost", "servers that drop special tokens", CALL_JSON + "\n</tool_call>"),
        spelled("one-brace-too-many", "Qwen fine-tunes", f"<tool_call>\n{CALL_JSON}}}\n</tool_call>"),
        spelled("one-brace-too-few", "Qwen fine-tunes", f"<tool_call>\n{CALL_JSON[:-1]}\n</tool_call>"),
        spelled("escaped-for-html", "gateways that escape", f"<tool_call>{CALL_JSON}</tool_call>".replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")),
        spelled("analysis-with-code", "openai/harmony, gpt-oss", '<|channel|>analysis<|message|>I read it.<|end|><|start|>assistant<|channel|>analysis to=functions.read_file code<|message|>{"a":1}<|call|>', reasoning="I read it."),
        spelled("recipient-before-the-channel", "openai/harmony, gpt-oss", '<|start|>assistant to=functions.read_file<|channel|>commentary json<|message|>{"a":1}<|call|>'),
        spelled("call-of-nexus", "NexusRaven", "Call: read_file(a=1)<bot_end> \nThought: The file is read."  , text="Thought: The file is read."),
    ],
}
# fmt: on
"""Rows by their class, as `table.CLASSES`."""
