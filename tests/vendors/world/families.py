"""Grammars of tool calls, one a family of models: how its chat template writes calls that a server should have read.

Source: vLLM `vllm/tool_parsers`, SGLang `python/sglang/srt/function_call`, llama.cpp `models/templates` and `common/chat.cpp`, Ollama
`model/parsers`, and the chat templates of the models themselves (read 2026-11-30).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

Json = dict[str, Any]
Call = tuple[str, Json]


@dataclass(frozen=True)
class Family:
    """One grammar.

    Args:
        write: calls as a reply of the model.
        ends: what a server takes for the end of the reply, and leaves out: a closing token that is its stop word.
        is_special: the tokens are special ones, which a server leaves out of a text with `skip_special_tokens`.
        model: a name that the family is served under.
        has_nested: values may be objects; most: calls of one reply.
    """

    name: str
    write: Callable[[Sequence[Call]], str]
    source: str
    ends: str = ""

    is_special: bool = False
    model: str = "m"
    has_nested: bool = True
    most: int = 99


def js(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def raw(value: Any) -> str:
    return value if isinstance(value, str) else js(value)


def each(
    form: Callable[[str, Json], str], before: str = "", between: str = "", after: str = ""
) -> Callable[[Sequence[Call]], str]:
    return lambda calls: before + between.join(form(name, given) for name, given in calls) + after


def named(name: str, given: Json) -> str:
    return js({"name": name, "arguments": given})


def parametered(name: str, given: Json) -> str:
    return js({"name": name, "parameters": given})


def listed(
    before: str, after: str, form: Callable[[str, Json], str] = named
) -> Callable[[Sequence[Call]], str]:
    return each(form, before + "[", ", ", "]" + after)


def coder(name: str, given: Json) -> str:
    inside = "".join(f"<parameter={key}>\n{raw(value)}\n</parameter>\n" for key, value in given.items())
    return f"<function={name}>\n{inside}</function>"


def tight_coder(name: str, given: Json) -> str:
    inside = "".join(f"<parameter={key}>{raw(value)}</parameter>\n" for key, value in given.items())
    return f"<function={name}>\n{inside}</function>"


def pairs(gap: str, mark: str = "", sep: str = "") -> Callable[[str, Json], str]:
    def form(name: str, given: Json) -> str:
        several = gap.join(
            f"<arg_key{mark}>{key}</arg_key{mark}>{gap}<arg_value{mark}>{raw(value)}</arg_value{mark}>"
            for key, value in given.items()
        )
        return f"<tool_call{mark}>{name}{sep}{gap}{several}{gap if several else ''}</tool_call{mark}>"

    return form


def invokes(
    prefix: str, *, typed: bool = False, gap: str = "\n", tag: str = "invoke", item: str = "parameter"
) -> Callable[[str, Json], str]:
    def form(name: str, given: Json) -> str:
        inside = "".join(
            f'<{prefix}{item} name="{key}"{_typed(value) if typed else ""}>{raw(value)}</{prefix}{item}>{gap}'
            for key, value in given.items()
        )
        return f'<{prefix}{tag} name="{name}">{gap}{inside}</{prefix}{tag}>'

    return form


def _typed(value: Any) -> str:
    return f' string="{"true" if isinstance(value, str) else "false"}"'


def python(name: str, given: Json) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def python_in_json(name: str, given: Json) -> str:
    return f"{name}({', '.join(f'{key}={js(value)}' for key, value in given.items())})"


def gemma(quote: str) -> Callable[[str, Json], str]:
    def value_of(value: Any) -> str:
        if isinstance(value, str):
            return f"{quote}{value}{quote}"
        if isinstance(value, dict):
            return "{" + ",".join(f"{key}:{value_of(one)}" for key, one in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(value_of, value)) + "]"
        return js(value)

    return lambda name, given: f"call:{name}{value_of(given)}"


_gemma_4 = gemma('<|"|>')


def deepseek_v3(name: str, given: Json) -> str:
    return f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{js(given)}\n```<｜tool▁call▁end｜>"


def kimi_k2(calls: Sequence[Call]) -> str:
    several = (
        f"<|tool_call_begin|>functions.{name}:{at}<|tool_call_argument_begin|>{js(given)}<|tool_call_end|>"
        for at, (name, given) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{''.join(several)}<|tool_calls_section_end|>"


_KINDS = {str: "string", bool: "boolean", int: "number", list: "array", dict: "object"}


def kimi_k3(calls: Sequence[Call]) -> str:
    several = []
    for at, (name, given) in enumerate(calls, 1):
        inside = "".join(
            f'<|open|>argument key="{key}" type="{_KINDS[type(value)]}"<|sep|>{raw(value)}<|close|>argument<|sep|>'
            for key, value in given.items()
        )
        several.append(f'<|open|>call tool="{name}" index="{at}"<|sep|>{inside}<|close|>call<|sep|>')
    return f"<|open|>tools<|sep|>{''.join(several)}<|close|>tools<|sep|>"


_SIGN = "]<]minimax[>["


def _m3(tag: str, value: Any) -> str:
    inside = raw(value)
    if isinstance(value, dict):
        inside = "".join(_m3(key, one) for key, one in value.items())
    if isinstance(value, list):
        inside = "".join(_m3("item", one) for one in value)
    return f"{_SIGN}<{tag}>{inside}{_SIGN}</{tag}>"


def minimax_m3(calls: Sequence[Call]) -> str:
    several = (
        f'{_SIGN}<invoke name="{name}">'
        + "".join(_m3(key, value) for key, value in given.items())
        + f"{_SIGN}</invoke>\n"
        for name, given in calls
    )
    return f"{_SIGN}<tool_call>\n{''.join(several)}{_SIGN}</tool_call>"


def cohere(name: str, given: Json) -> str:
    return js({"tool_call_id": "0", "tool_name": name, "parameters": given})


def command_r(calls: Sequence[Call]) -> str:
    several = [{"tool_name": name, "parameters": given} for name, given in calls]
    return f"Action: ```json\n{json.dumps(several, indent=4, ensure_ascii=False)}\n```"


def harmony(name: str, given: Json) -> str:
    return f"<|start|>assistant<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{js(given)}<|call|>"


def harmony_role(name: str, given: Json) -> str:
    return f"<|start|>assistant to=functions.{name}<|channel|>commentary json<|message|>{js(given)}<|call|>"


def plamo(name: str, given: Json) -> str:
    inside = f"<|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>{js(given)}<|plamo:end_tool_arguments:plamo|>"
    return f"<|plamo:begin_tool_request:plamo|>{inside}<|plamo:end_tool_request:plamo|>"


def horizon(*, typed: bool) -> Callable[[str, Json], str]:
    def form(name: str, given: Json) -> str:
        several = "".join(
            f"<ifm|arg_key>{key}</ifm|arg_key>\n"
            + (f"<ifm|arg_type>{_KINDS[type(value)]}</ifm|arg_type>\n" if typed else "")
            + f"<ifm|arg_value>{raw(value)}</ifm|arg_value>\n"
            for key, value in given.items()
        )
        return f"<ifm|tool_call>{name}\n{several}</ifm|tool_call>"

    return form


def solar(name: str, given: Json) -> str:
    several = "".join(
        f"<|tool_arg:start|>{key}<|tool_arg:value|>{raw(value)}<|tool_arg:end|>\n"
        for key, value in given.items()
    )
    return f"<|tool_call:start|>{name}\n{several}<|tool_call:end|>"


def cdata(name: str, given: Json) -> str:
    several = "".join(
        f'<param name="{key}">{f"<![CDATA[{value}]]>" if isinstance(value, str) else js(value)}</param>'
        for key, value in given.items()
    )
    return f'<function name="{name}">{several}</function>'


def kimi_k3_object(calls: Sequence[Call]) -> str:
    several = (
        f'<|open|>call tool="{name}" index="{at}"<|sep|><|open|>json type="object"<|sep|>{js(given)}<|close|>json<|sep|><|close|>call<|sep|>'
        for at, (name, given) in enumerate(calls, 1)
    )
    return f"<|open|>tools<|sep|>{''.join(several)}<|close|>tools<|sep|>"


def kimi_k3_cut(calls: Sequence[Call]) -> str:
    """As a gateway hands it on that takes tags out where they touch."""
    whole = kimi_k3(calls).replace("<|open|>tools<|sep|><|open|>call", "<|open|>toolscall")
    return whole.replace("<|close|>tools<|sep|>", "<|close|>toolsmessage<|sep|>")


def solar_open(calls: Sequence[Call]) -> str:
    several = (
        f"<|tool_call:begin|>c{at}<|tool_call:name|>{name}<|tool_call:args|>{js(given)}<|tool_call:end|>"
        for at, (name, given) in enumerate(calls)
    )
    return f"<|tool_calls|>{''.join(several)}"


def claude_2(name: str, given: Json) -> str:
    inside = "".join(f"<{key}>{raw(value)}</{key}>\n" for key, value in given.items())
    return f"<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n{inside}</parameters>\n</invoke>"


def as_yaml(value: Any) -> str:
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False)


def yaml_named(name: str, given: Json) -> str:
    return as_yaml({"name": name, "arguments": given})


FAMILIES = [
    Family("kimi-k3-object", kimi_k3_object, "Kimi K3, dynamo's parser", ends="<|close|>tools<|sep|>", model="Kimi-K3"),
    Family("kimi-k3-cut", kimi_k3_cut, "can1357/oh-my-pi#8495", ends="<|close|>toolsmessage<|sep|>", model="Kimi-K3"),
    Family("kimi-k3-message", lambda calls: f"<|open|>response<|sep|><|close|>response<|sep|>{kimi_k3(calls)}<|close|>message<|sep|>", "Kimi K3", model="Kimi-K3"),
    Family("dsml-other-bars", each(invokes("‖DSML‖", typed=True), "<‖DSML‖tool_calls>\n", "\n", "\n</‖DSML‖tool_calls>"), "lsdefine/GenericAgent#804", model="DeepSeek-V4"),
    Family("minicpm-glued", lambda calls: each(invokes("", gap="", tag="function", item="param"))(calls).replace(" name=", "name="), "MiniCPM 5, vLLM's tests", model="MiniCPM5"),
    Family("minicpm-sign", lambda calls: each(invokes("", gap="", tag="function", item="param"))(calls).replace(" name=", "Ġname="), "MiniCPM 5, vLLM's tests", model="MiniCPM5"),
    Family("solar-open", solar_open, "Solar Open", ends="<|tool_call:end|>", model="solar-open-100b"),
    Family("glimmer-to", each(lambda n, g: f"<|start|>assistant to={n}<|message|><atem:function_calls>\n{invokes('atem:')(n, g)}\n</atem:function_calls><|eom|>"), "Muse Glimmer, Ollama's tests", model="muse-glimmer"),
    Family("claude-2", each(claude_2, "<function_calls>\n", "\n", "\n</function_calls>"), "Claude 2 as text", model="claude", has_nested=False),
    Family("rwkv-python", each(lambda n, g: f"<tool_call>\n{({'arguments': g, 'name': n, 'type': 'tool_call'})!r}\n</tool_call>", between="\n"), "RWKV: a dict of Python", model="rwkv7-g1"),
    Family("gemini-object", each(lambda n, g: js({"functionCall": {"name": n, "args": g}}), between="\n"), "Gemini's and Gemma's JSON as text", model="gemma-3-27b-it"),
    Family("bedrock-object", each(lambda n, g: js({"toolUse": {"toolUseId": "t", "name": n, "input": g}}), between="\n"), "Bedrock's JSON as text", model="llama3-3-70b"),
    Family("agent-action", each(lambda n, g: f"```json\n{js({'action': n, 'action_input': g})}\n```", between="\n"), "LangChain's structured chat", model="llama3.3"),
    Family("large-tags", each(lambda n, g: f"<Tool_Call>\n{coder(n, g)}\n</Tool_Call>".replace("<function", "<Function").replace("</function", "</Function"), between="\n"), "tags in another case", model="Qwen3-Coder-30B"),
    Family("coder-in-a-fence", each(lambda n, g: f"<tool_call>\n{coder(n, g)}\n</tool_call>", "```xml\n", "\n", "\n```"), "a fence around all of it", model="Qwen3-Coder-30B"),
    Family("yaml-tag", each(lambda n, g: f"<tool_call>\n{yaml_named(n, g)}</tool_call>", between="\n"), "YAML between tags", model="m"),
    Family("yaml-name-line", each(lambda n, g: f"<tool_call>\n{n}\n{as_yaml(g) if g else ''}</tool_call>", between="\n"), "a name and YAML between tags", model="m"),
    Family("yaml-element", each(lambda n, g: f"<{n}>\n{as_yaml(g) if g else ''}</{n}>", between="\n"), "minpeter/ai-sdk-tool-call-middleware#79", model="m"),
    Family("yaml-fence", each(lambda n, g: f"```yaml\n{as_yaml({'tool': n, 'args': g})}```", between="\n"), "YAML in a fence", model="Qwen3-32B"),
    Family("yaml-tool-fence", each(lambda n, g: f"```tool_call\n{yaml_named(n, g)}```", between="\n"), "YAML in a fence of calls", model="m"),
    Family("hermes", each(lambda n, g: f"<tool_call>\n{named(n, g)}\n</tool_call>", between="\n"), "Hermes 2/3, Qwen 2.5 and 3, EXAONE 4, Granite 4, ERNIE 4.5, Ling", ends="\n</tool_call>", model="Qwen3-32B"),
    Family("qwen3-coder", each(lambda n, g: f"<tool_call>\n{coder(n, g)}\n</tool_call>", between="\n"), "Qwen3-Coder, Qwen 3.5, Nemotron 3, Step 3.5, MiMo", ends="\n</tool_call>", model="Qwen3-Coder-30B"),
    Family("seed-oss", each(lambda n, g: f"<seed:tool_call>\n{tight_coder(n, g)}\n</seed:tool_call>", between="\n"), "ByteDance-Seed-OSS.jinja", ends="\n</seed:tool_call>", model="Seed-OSS-36B"),
    Family("deepseek-v3", each(deepseek_v3, "<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"), "DeepSeek V3 and R1, Cogito", ends="<｜tool▁calls▁end｜>", is_special=True, model="DeepSeek-V3"),
    Family("deepseek-v3.1", each(lambda n, g: f"<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{js(g)}<｜tool▁call▁end｜>", "<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"), "DeepSeek V3.1", ends="<｜tool▁call▁end｜><｜tool▁calls▁end｜>", is_special=True, model="DeepSeek-V3.1"),
    Family("deepseek-v3.2", each(invokes("｜DSML｜", typed=True), "<｜DSML｜function_calls>\n", "\n", "\n</｜DSML｜function_calls>"), "DeepSeek V3.2", ends="\n</｜DSML｜function_calls>", model="DeepSeek-V3.2"),
    Family("deepseek-v4", each(invokes("｜DSML｜", typed=True), "<｜DSML｜tool_calls>\n", "\n", "\n</｜DSML｜tool_calls>"), "DeepSeek V4", ends="\n</｜DSML｜tool_calls>", model="DeepSeek-V4"),
    Family("deepseek-v4.1", each(invokes("｜DSML｜ ", typed=True), "<｜DSML｜ calls>\n", "\n", "\n</｜DSML｜ calls>"), "DeepSeek V4.1: a blank before each name", ends="\n</｜DSML｜ calls>", model="DeepSeek-V4.1"),
    Family("kimi-k2", kimi_k2, "moonshotai-Kimi-K2.jinja", ends="<|tool_call_end|><|tool_calls_section_end|>", is_special=True, model="Kimi-K2"),
    Family("kimi-k3", kimi_k3, "Kimi-K3.jinja", ends="<|close|>tools<|sep|>", model="Kimi-K3"),
    Family("glm-4.5", each(pairs("\n"), between="\n"), "GLM 4.5 and 4.6, HyperCLOVA X 32B, Laguna", ends="\n</tool_call>", model="GLM-4.6"),
    Family("glm-4.7", each(pairs("")), "GLM 4.7, Ling 3, Spark 3", ends="</tool_call>", model="GLM-4.7"),
    Family("hunyuan-v3", each(pairs("\n", sep="<tool_sep>"), "<tool_calls>\n", "\n", "\n</tool_calls>"), "Hunyuan 3", ends="\n</tool_calls>", model="Hy3"),
    Family("hunyuan-v4", each(pairs("", ":6124c78e"), "<tool_calls:6124c78e>", "", "</tool_calls:6124c78e>"), "Hunyuan 4: each token with a mark of its checkpoint", ends="</tool_calls:6124c78e>", model="Hy4"),
    Family("hunyuan-a13b", listed("<tool_calls>", "</tool_calls>"), "Hunyuan A13B, Apriel", ends="</tool_calls>", model="Hunyuan-A13B"),
    Family("jamba", each(named, "<tool_calls>[\n    ", ",\n    ", "\n]</tool_calls>"), "Jamba 1.5", ends="</tool_calls>", model="jamba-mini"),
    Family("minimax-m1", each(named, "<tool_calls>\n", "\n", "\n</tool_calls>"), "MiniMax M1", ends="\n</tool_calls>", model="MiniMax-M1"),
    Family("minimax-m2", each(invokes(""), "<minimax:tool_call>\n", "\n", "\n</minimax:tool_call>"), "MiniMax M2", ends="\n</minimax:tool_call>", model="MiniMax-M2"),
    Family("minimax-m3", minimax_m3, "MiniMax M3: objects and lists as elements", ends=f"\n{_SIGN}</tool_call>", model="MiniMax-M3"),
    Family("llama-3-json", each(parametered, between="; "), "Llama 3.1 and 3.2: JSON alone", model="Llama-3.1-8B-Instruct"),
    Family("llama-3-python-tag", each(parametered, "<|python_tag|>", "; "), "Llama 3.1", model="Llama-3.3-70B-Instruct"),
    Family("llama-3-function", each(lambda n, g: f"<function={n}>{js(g)}</function>"), "Llama 3.1, Functionary 3.1", model="Llama-3.1-8B-Instruct"),
    Family("llama-4-pythonic", each(python_in_json, "<|python_start|>[", ", ", "]<|python_end|>"), "Llama 4", ends="<|python_end|>", is_special=True, model="Llama-4-Scout", has_nested=False),
    Family("toolace", each(python, "[", ", ", "]"), "ToolACE, watt-tool, Llama 3.2: Python alone", model="ToolACE-2-Llama-3.1-8B"),
    Family("mistral-v3", listed("[TOOL_CALLS]", ""), "Mistral 7B v0.3, Nemo", is_special=True, model="Mistral-Nemo"),
    Family("mistral-v11", each(lambda n, g: f"[TOOL_CALLS]{n}[ARGS]{js(g)}"), "Mistral Small 3.2, Magistral, Ministral 3, Devstral 2", is_special=True, model="Mistral-Small-3.2"),
    Family("mistral-call-id", each(lambda n, g: f"[TOOL_CALLS]{n}[CALL_ID]a1B2c3D4e[ARGS]{js(g)}"), "Mistral tokenizer v11", model="Magistral-Small"),
    Family("mistral-brace", each(lambda n, g: f"[TOOL_CALLS]{n}{js(g)}"), "Mistral tokenizer v11 without [ARGS]", is_special=True, model="Devstral-Small"),
    Family("granite-3", listed("<|tool_call|>", ""), "Granite 3.1 to 3.3", is_special=True, model="granite-3.3-8b-instruct"),
    Family("granite-20b", each(lambda n, g: f"<function_call> {named(n, g)}", between="\n"), "Granite 20B function calling", model="granite-20b-functioncalling"),
    Family("granite-pythonic", each(python, between="\n"), "Granite 3.3 and 4 H-Small: a call a line", model="granite-4.0-h-small"),
    Family("phi-4-mini", listed("<|tool_call|>", "<|/tool_call|>"), "Phi-4-mini", ends="<|/tool_call|>", is_special=True, model="Phi-4-mini-instruct"),
    Family("functools", listed("functools", ""), "Phi-4-mini, FireFunction 2", model="Phi-4-mini-instruct"),
    Family("command-r", command_r, "Command R and R+ (2024)", model="c4ai-command-r-v01"),
    Family("command-a", listed("<|START_ACTION|>", "<|END_ACTION|>", cohere), "Command R7B, A and A+", ends="<|END_ACTION|>", is_special=True, model="command-a"),
    Family("harmony", each(harmony), "gpt-oss", ends="<|call|>", is_special=True, model="gpt-oss-120b"),
    Family("harmony-role", each(harmony_role), "gpt-oss: the recipient in the role", ends="<|call|>", model="gpt-oss-20b"),
    Family("internlm", each(lambda n, g: f"<|action_start|><|plugin|>\n{parametered(n, g)}<|action_end|>"), "InternLM 2.5, Intern S1", ends="<|action_end|>", is_special=True, model="internlm2_5-7b-chat"),
    Family("nemotron-nano-2", listed("<TOOLCALL>", "</TOOLCALL>"), "NVIDIA-Nemotron-Nano-v2.jinja", ends="</TOOLCALL>", model="Nemotron-Nano-9B-v2"),
    Family("xlam", listed("", ""), "xLAM 2, Hammer: JSON alone", model="Llama-xLAM-2-8b-fc-r"),
    Family("gemma-3", each(python, "```tool_code\n", "\n", "\n```"), "Gemma 3", model="gemma-3-27b-it"),
    Family("gemma-4", each(lambda n, g: f"<|tool_call>{_gemma_4(n, g)}<tool_call|>"), "Gemma 4", ends="<tool_call|>", model="gemma-4-31b-it"),
    Family("function-gemma", each(lambda n, g: f"<start_function_call>{gemma('<escape>')(n, g)}<end_function_call>"), "FunctionGemma", ends="<end_function_call>", model="functiongemma-270m"),
    Family("step-3", each(lambda n, g: f"<｜tool_call_begin｜>function<｜tool_sep｜>{invokes('steptml:', gap='')(n, g)}<｜tool_call_end｜>", "<｜tool_calls_begin｜>", "\n", "<｜tool_calls_end｜>"), "Step 3", ends="<｜tool_calls_end｜>", model="step3"),
    Family("longcat", each(lambda n, g: f"<longcat_tool_call>{n}\n" + "".join(f"<longcat_arg_key>{k}</longcat_arg_key>\n<longcat_arg_value>{raw(v)}</longcat_arg_value>\n" for k, v in g.items()) + "</longcat_tool_call>", between="\n"), "LongCat Flash", ends="\n</longcat_tool_call>", model="LongCat-Flash"),
    Family("longcat-json", each(lambda n, g: f"<longcat_tool_call>\n{named(n, g)}\n</longcat_tool_call>", between="\n"), "LongCat Flash", ends="\n</longcat_tool_call>", model="LongCat-Flash"),
    Family("apertus", listed("<|tools_prefix|>", "<|tools_suffix|>", lambda n, g: js({n: g})), "Apertus", ends="<|tools_suffix|>", is_special=True, model="Apertus-8B-Instruct"),
    Family("olmo-3", each(python_in_json, "<function_calls>", "\n", "</function_calls>"), "OLMo 3: a call a line, JSON's words", ends="</function_calls>", model="Olmo-3-7B-Instruct"),
    Family("lfm-2", each(python, "<|tool_call_start|>[", ", ", "]<|tool_call_end|>"), "LFM2", ends="<|tool_call_end|>", is_special=True, model="LFM2-1.2B"),
    Family("plamo-3", each(plamo, "<|plamo:begin_tool_requests:plamo|>", "", "<|plamo:end_tool_requests:plamo|>"), "PLaMo 3", ends="<|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>", model="plamo-3"),
    Family("gigachat-3", each(lambda n, g: f"<|function_call|>{named(n, g)}"), "GigaChat 3", is_special=True, model="GigaChat3-10B", most=1),
    Family("gigachat-3-role", each(lambda n, g: f"function call<|role_sep|>\n{named(n, g)}"), "GigaChat 3", model="GigaChat3-10B", most=1),
    Family("gigachat-3.5", each(invokes("｜GCML｜", typed=True), "<｜GCML｜tool_calls>\n", "\n", "\n</｜GCML｜tool_calls>"), "GigaChat 3.5", ends="\n</｜GCML｜tool_calls>", model="GigaChat3.5"),
    Family("horizon", each(horizon(typed=False), "<ifm|tool_calls>\n", "\n", "\n</ifm|tool_calls>"), "K2 Horizon", ends="\n</ifm|tool_calls>", model="K2-Horizon"),
    Family("horizon-typed", each(horizon(typed=True), "<ifm|tool_calls>\n", "\n", "\n</ifm|tool_calls>"), "K2 Horizon", ends="\n</ifm|tool_calls>", model="K2-Horizon"),
    Family("minicpm", each(cdata, between="\n"), "MiniCPM 4 and 5", ends="</function>", model="MiniCPM5"),
    Family("inkling", each(lambda n, g: f"<|message_model|>{n}<|content_invoke_tool_json|>{js({'name': n, 'args': g})}<|end_message|>"), "Inkling", ends="<|end_message|>", model="inkling"),
    Family("dots", each(invokes(""), "<dots_function_call>\n", "\n", "\n</dots_function_call>"), "dots", ends="\n</dots_function_call>", model="dots.llm"),
    Family("glimmer", each(invokes("atem:"), "<atem:function_calls>\n", "\n", "\n</atem:function_calls>"), "Muse Glimmer", ends="\n</atem:function_calls>", model="muse-glimmer"),
    Family("solar-open-2", each(solar, between="\n"), "Solar Open 2", ends="\n<|tool_call:end|>", model="solar-open2"),
    Family("iquest", each(lambda n, g: pairs("\n")(n, g).replace("tool_call>", "iquestcoder_tool_call>"), between="\n"), "iQuest Coder 2", ends="\n</iquestcoder_tool_call>", model="iquest-coder-v2"),
    Family("rwkv", each(lambda n, g: f"**Tool Call:**\n```json\n{named(n, g)}\n```", between="\n\n"), "RWKV", model="rwkv7-g1"),
    Family("pangu", listed("[unused11]", "[unused12]"), "openPangu", ends="[unused12]", is_special=True, model="openPangu-Embedded-7B"),
    Family("hyperclova-14b", listed("<|im_start|>assistant -> tool/function_call\n", "<|im_end|>"), "HyperCLOVA X SEED Think 14B", ends="<|im_end|>", model="HyperCLOVAX-SEED-Think-14B"),
    Family("functionary-3.2", each(lambda n, g: f">>>{n}\n{js(g)}"), "Functionary 3.2", model="functionary-small-v3.2"),
    Family("functionary-2", each(lambda n, g: f"<|from|>assistant\n<|recipient|>{n}\n<|content|>{js(g)}", between="\n"), "Functionary 2", model="functionary-medium-v2.4"),
    Family("glm-4-9b", each(lambda n, g: f"{n}\n{js(g)}"), "GLM-4 9B: a name and an object", model="glm-4-9b-chat", most=1),
    Family("mcp-tool", each(lambda n, g: f"<use_mcp_tool>\n<server_name>files</server_name>\n<tool_name>{n}</tool_name>\n<arguments>\n{js(g)}\n</arguments>\n</use_mcp_tool>", between="\n"), "MiroThinker", ends="\n</use_mcp_tool>", model="MiroThinker-v1"),
    Family("function-calls", each(invokes(""), "<function_calls>\n", "\n", "\n</function_calls>"), "Claude as text", ends="\n</function_calls>", model="claude"),
    Family("qwen-agent", each(lambda n, g: f"✿FUNCTION✿: {n}\n✿ARGS✿: {js(g)}", between="\n"), "Qwen-Agent", model="qwen-max"),
    Family("react", each(lambda n, g: f"Action: {n}\nAction Input: {js(g)}"), "ReAct prompts", model="m", most=1),
    Family("raven", each(python, "Call: ", "; ", "<bot_end>"), "NexusRaven 2", ends="<bot_end>", model="NexusRaven-V2-13B", has_nested=False),
    Family("gorilla", each(python, "<<function>>", " <<function>>"), "Gorilla OpenFunctions 2", model="gorilla-openfunctions-v2", has_nested=False),
]  # fmt: skip

ONE: Call = ("write_file", {"path": "a.txt", "content": "Hello."})
SECOND: Call = ("read_file", {"path": "notes/b c.md"})
NONE: Call = ("list_dir", {})
HARD: Call = (
    "write_file",
    {
        "path": "src/ü b.py",
        "content": 'def f(x):\n    """It\'s {"a": [1, 2]}, <b>x</b> & `y`."""\n\n    return "a\\tb" if x < 3 else \'c\'',
        "lines": 3,
        "overwrite": True,
        "tags": ["a", "b, c"],
        "meta": {"k": {"n": [1, 2]}, "s": "x}"},
    },
)
"""Quotes of both kinds, line breaks, a backslash, angle brackets, a number, a truth, a list, an object in an object."""
WORDS = "I will write it."


def shapes(family: Family) -> dict[str, tuple[str, str, tuple[Call, ...], bool]]:
    """The cases of a family by their names: the text, the words that stay, the calls, and whether it is a thought alone."""
    two = (ONE, SECOND)
    made: dict[str, tuple[str, str, tuple[Call, ...], bool]] = {
        "whole": (family.write([ONE]), "", (ONE,), False),
        "behind-words": (f"{WORDS}\n\n{family.write([ONE])}", WORDS, (ONE,), False),
        "hard": (family.write([HARD]), "", (HARD,), False),
        "thought": (f"I need the file.\n{family.write([SECOND])}", "", (SECOND,), True),
        "no-arguments": (family.write([NONE]), "", (NONE,), False),
    }
    if family.most > 1:
        made["two"] = (family.write(two), "", two, False)
    if family.ends:
        whole = family.write(two if family.most > 1 else [ONE])
        assert whole.endswith(family.ends), (family.name, whole)
        made["end-lost"] = (whole.removesuffix(family.ends), "", two if family.most > 1 else (ONE,), False)
    if family.is_special:
        made["stripped"] = (_SPECIAL.sub("", family.write(two)), "", two, False)
    return made


_SPECIAL = re.compile(r"<\|[^<>|]{1,40}\|>|<｜[^<>｜]{1,40}｜>|\[(?:TOOL_CALLS|ARGS|unused\d+)\]")


def cut(family: Family) -> str:
    """A call that a limit of tokens cut within a value."""
    text = family.write([HARD])
    return text[: text.index("It")]


_CALL = '{"name": "write_file", "arguments": {"path": "a.txt", "content": "Hello."}}'
_TAGGED = f"<tool_call>{_CALL}</tool_call>"
_SCHEMA = '{"name": "write_file", "description": "Write a file.", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}'
TALK = {
    "fence": ("m", f"Qwen writes a call so:\n\n```xml\n{_TAGGED}\n```\n\nThe server reads it."),
    "fence-in-a-list": ("m", f"1. Qwen:\n\n   ```\n   {_TAGGED}\n   ```\n2. Llama: JSON alone."),
    "code-span": ("m", f"A call is written as `{_TAGGED}`, then the server reads it."),
    "sentence": ("m", f"The model writes {_TAGGED} and the server reads it."),
    "in-quotes": ("m", f'The server printed "{_TAGGED}".'),
    "table-row": ("m", f"| model | form |\n|---|---|\n| Qwen | {_TAGGED} |\n| Llama | JSON |"),
    "list-of-forms": (
        "m",
        f"The forms:\n\n- Qwen: {_TAGGED}\n- Llama: <|python_tag|>{_CALL}\n- Phi: functools[{_CALL}]",
    ),
    "diff": ("m", f"The change:\n\n-old\n+{_TAGGED}\n unchanged"),
    "test-code": ("m", f"assert parse('{_TAGGED}') == [call]"),
    "html": ("m", f"<p>&lt;tool_call&gt;{_CALL}&lt;/tool_call&gt;</p>"),
    "placeholders": (
        "Qwen3-32B",
        '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
    ),
    "schema": ("Llama-3.1-8B-Instruct", _SCHEMA),
    "schemas-in-tags": ("Qwen3-32B", f"<tools>\n{_SCHEMA}\n</tools>"),
    "schema-in-a-call-tag": ("m", f"<tool_call>{_SCHEMA}</tool_call>"),
    "python-and-words": (
        "ToolACE-2-Llama-3.1-8B",
        "[write_file(path='a.txt', content='x')] is a list of one call.",
    ),
    "python-fence": ("gemma-3-27b-it", "Call it so:\n```python\nwrite_file(path='a.txt', content='x')\n```"),
    "doctest": ("functionary-small-v3.2", ">>> write_file(path='a.txt', content='x')\nTrue"),
    "react-form": (
        "m",
        'Use this form:\n\nThought: what to do\nAction: the tool\'s name\nAction Input: {"path": "…"}',
    ),
    "rwkv-word": ("rwkv7-g1", "**Tool Call:** stands before each call, then a fence with JSON."),
    "name-and-object-of-another-model": ("gpt-6", 'write_file\n{"path": "a.txt", "content": "x"}'),
    "invoke-in-prose": (
        "m",
        'Each <invoke name="write_file"> holds one <parameter name="path"> for each value.',
    ),
    "json-and-words": ("Llama-3.1-8B-Instruct", f"{_CALL}\n\nThat is the JSON of such a call."),
    "thought-of-a-call": ("m", f"I could answer with {_TAGGED}, but the file is there."),
    "token-alone": (
        "m",
        "Mistral's template begins calls with [TOOL_CALLS], DeepSeek's with <｜tool▁calls▁begin｜>.",
    ),
}
"""Texts about calls, which are none: what a person reads stays. Each with the model that says it."""
