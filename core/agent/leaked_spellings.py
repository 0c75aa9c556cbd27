"""Spellings in which families of models write calls, each as the one that `leaked_calls` and `leaked_dialects` read.

Source: vLLM `vllm/tool_parsers`, SGLang `srt/function_call`, llama.cpp `models/templates`, Ollama `model/parsers` (2026-11).
"""

from __future__ import annotations

import html
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence

import msgspec

from core.kernel.patterns import late

OPEN, CLOSE = "<tool_call>", "</tool_call>"


class _Spelling(msgspec.Struct, frozen=True):
    """Text that a family writes, and its meaning. `sign` stands in each text that has it: other texts are not searched."""

    sign: str
    written: re.Pattern[str]
    meant: str


SPELLINGS = tuple(
    _Spelling(sign=sign, written=late(written), meant=meant)
    for sign, written, meant in (
        # MiniMax M3 writes a sign before each tag.
        ("]<]", r"\]<\]\w{1,30}\[>\[", ""),
        # Kimi K3 writes tags of tokens, which some gateways cut, and its arguments as one object where a schema has no keys.
        ("<|sep|>", r"<\|(?:open|close)\|>(?:message|response|json type=\"object\"|json)<\|sep\|>|(?:<\|close\|>)?(?:tools){1,2}message<\|sep\|>", ""),
        ("toolscall", r"<\|open\|>toolscall(?= tool=)", "<|open|>call"),
        ("<|open|>", r"<\|open\|>([^<>|]{1,300})<\|sep\|>", r"<\1>"),
        ("<|close|>", r"<\|close\|>([^<>|]{1,40})<\|sep\|>", r"</\1>"),
        # DeepSeek 3.2 to 4.1, GigaChat 3.5, Step 3, Glimmer and K2 Horizon write a name before that of a tag.
        ("｜", r"<\s?(/?)\s?｜{1,2}\s?[A-Z]{2,8}\s?｜{1,2}\s?(?=[a-z_])", r"<\1"),
        ("|", r"<\s?(/?)\s?\|{1,2}\s?[A-Z]{2,8}\s?\|{1,2}\s?(?=[a-z_])", r"<\1"),
        ("‖", r"<\s?(/?)\s?‖{1,2}\s?[A-Z]{2,8}\s?‖{1,2}\s?(?=[a-z_])", r"<\1"),
        ("atem:", r"(?:(?:<\|start\|>)?assistant )?to=[\w.-]{1,200}<\|message\|>(?=\s*<atem:)", ""),
        ("ifm|", r"<(/?)ifm\|", r"<\1"),
        # Some write the elements of calls between square brackets.
        ("[/", r"\[(/(?:tool_invoke|tool_call|tool_use|invoke|parameter|param|arg)|(?:tool_invoke|tool_call|tool_use|invoke|parameter|param|arg)\s+(?:name|key)=[^\[\]<>]{1,200})\]", r"<\1>"),
        # Coders that write the call into the tag of its function, or names in quotes.
        ("<function=", r"<function=([\w.:-]{1,128}\([^<>]{0,2000}\))>(?:\s*</function>)?", rf"{OPEN}\1{CLOSE}"),
        ('<function="', r'<(function|parameter)="([\w.:-]{1,128})">', r"<\1=\2>"),
        # MiniMax M2 behind some servers: arrows, and options as a shell has them.
        ("args =>", r'(?m)(?:^[ \t]*|(?<=[{\s])(?=--[^\n{}]{1,500}\}\}))--([\w-]{1,64})[ \t]+("(?:[^"\\]|\\.)*"|[^"\s](?:(?!\s--\w|\s?\}\})[^\n])*)', r"\1: \2,"),
        ("args =>", r"(?<=[{,])(\s*)(tool|args) =>", r"\1\2:"),
        ("arg_type>", r"<arg_type>[^<>]{0,60}</arg_type>\s*", ""),
        # Hunyuan 4 writes a mark of its checkpoint into each tag, Hunyuan 3 a tag behind the name.
        ("<tool_call", r"<(/?(?:tool_calls?|arg_key|arg_value)):[0-9a-f]{4,40}>", r"<\1>"),
        ("<tool_sep>", r"<tool_sep>(?=\s*</?(?:arg_key|tool_call)>)", ""),
        ("sep｜>", r"function<｜tool[_▁]sep｜>(?=\s*<)", ""),
        # Closing tags with Anthropic's name before them, labels in place of tags, blanks within tags.
        ("<function", r"<(function|parameter)(?:\s+=\s*|=\s+|\s*:\s*)([\w.-]{1,128})\s*>", r"<\1=\2>"),
        # MiniCPM 5 loses the blank in its tags, or has the tokenizer's sign for it.
        ("name=", r"<(function|param|parameter|invoke)Ġ?name=(?=[\"'])", r"<\1 name="),
        # Solar Open writes an id before the name.
        ("<|tool_call:name|>", r"<\|tool_call:begin\|>\s*[\w-]{1,80}\s*<\|tool_call:name\|>", "<|tool_call:begin|>"),
        # Solar Open 2 writes keys and values between tokens.
        ("<|tool_arg:", r"<\|tool_arg:start\|>([^<>|]{1,128})<\|tool_arg:value\|>", r"<arg_key>\1</arg_key><arg_value>"),
        ("<|tool_arg:", r"<\|tool_arg:end\|>", "</arg_value>"),
        # Words and tokens before JSON or a name: CWM, HyperCLOVA X 14B, GigaChat 3, RWKV, Command R, openPangu, Functionary, Inkling.
        ("-> tool/function_call", r"(?:<\|im_start\|>)?(?:assistant)?\s{0,9}-> tool/function_call\n\s*(?=[\[{])", OPEN),
        ("<|role_sep|>", r"function call<\|role_sep\|>\s*(?=[\[{])", OPEN),
        ("[unused11]", r"\[unused11\]\s*(?=[\[{])", OPEN),
        ("[unused12]", r"\[unused12\]", CLOSE),
        (">>>", r"(?m)^ {0,3}>>>(?=[\w.-]{1,200}\n\s*\{)|(?<=\})>>>(?=[\w.-]{1,200}\n\s*\{)", OPEN),
        ("<|recipient|>", r"(?:<\|from\|>assistant\s*)?<\|recipient\|>\s*([\w.-]{1,200})\s*<\|content\|>(?=\s*\{)", rf"{OPEN}\1\n"),
        ("<|content_invoke_tool_json|>", r"(?s)(?:<\|message_model\|>[\w.-]{1,200})?<\|content_invoke_tool_json\|>(.+?)(?:<\|end_message\|>|\Z)", rf"{OPEN}\1{CLOSE}"),
        ("```json", r"(?m)^function(?=[\w.-]{1,200}\n```json\n)", ""),
        # Marks before Python: NexusRaven 2, Gorilla.
        ("<bot_end>", r"<bot_end>", CLOSE),
        ("<tool:", r"<tool:\s*[\w.-]{1,40}\s*>(?=\s*[\w.-]{1,200}\s{1,9}\{)", OPEN),
        # Gemini's signs of control in place of quotes, ChatGLM 3, and calls as smolagents and AutoGen print them.
        ("<ctrl46>", r"<ctrl46>", '<|"|>'),
        ("<ctrl42>", r"<ctrl42>(?:call\s+(?=print\())?(print\()?", r"tool_code\1"),
        ("\ntool_call(", r"(?ms)^([\w.-]{1,128})\n```(?:python)?\n\s*tool_call(\([^`]{0,20000}?\))\s*\n```", rf"{OPEN}\1\2{CLOSE}"),
        ("Calling tools:", r"(?m)^Calling tools:\s*(?=\[\{)", OPEN),
        ("* Suggested tool call", r"(?<=\})\s*\*{20,}", CLOSE),
        ("* Suggested tool call", r"(?m)^\*{3,} Suggested tool call \([^()\n]{0,80}\): ([\w.-]{1,128}) \*{3,}\s*Arguments:\s*(?=\{)", rf"{OPEN}\1\n"),
        ("<functions.", r"(?:(?<!\w)<|<(/))functions\.([\w-]{1,128})>", r"<\1\2>"),
        ("<?xml", r"\A\s*<\?xml[^<>]{0,100}\?>\s*", ""),
        # Headers of a turn at its ends (within, they are text of an argument), and a tag of MiniMax, of which a server left a part; a tag that counts its calls.
        ("<tool_call ", r"<tool_call(?:\s+(?:id|index|type)=(?:\"[^\"<>]*\"|'[^'<>]*'))+\s*>", OPEN),
        ("<start_of_turn>", r"\A\s*<start_of_turn>model\s*\n", ""),
        ("<end_of_turn>", r"<end_of_turn>\s*\Z", ""),
        ("<|end_header_id|>", r"\A\s*<\|start_header_id\|>assistant<\|end_header_id\|>\s*", ""),
        ("<invoke", r"(?m)^[ \t]*(?:[a-z]{1,20}:)?(?:tool|function)_calls?>?[ \t]*\n(?=\s*<invoke\s)", ""),
        # MiroThinker names the server before the tool.
        ("<use_mcp_tool>", r"<use_mcp_tool>\s*<server_name>[^<>]{0,200}</server_name>\s*<tool_name>\s*([^<>\s]{1,200})\s*</tool_name>\s*<arguments>", rf"{OPEN}\1\n"),
    )
)  # fmt: skip


def respelled(text: str, quoted: Callable[[str], Sequence[tuple[int, int]]] = lambda _: ()) -> str:
    """The text with the calls of all families as the spellings that are read; the same where it has no sign of one.

    Args:
        quoted: tells the code of a text: what begins in it is an example, and stays as it is.
    """
    text = _plain(text)
    for one in SPELLINGS:
        if one.sign in text:
            blocks = sorted(quoted(text))
            text = one.written.sub(
                lambda found, one=one, blocks=blocks: (  # type: ignore[misc]
                    found[0] if _is_inside(found.start(), blocks) else found.expand(one.meant)
                ),
                text,
            )
    return text


def _plain(text: str) -> str:
    """The text as a model wrote it: some servers escape it for HTML or send both characters of a line end, some models write tags large."""
    if text.lstrip().startswith("&lt;") and "<" not in text:
        text = html.unescape(text)
    if "\r\n" in text and text.count("\n") == text.count("\r\n"):
        text = text.replace("\r\n", "\n")
    if _LARGE.search(text) and not _SMALL.search(text):
        text = _TAGS.sub(lambda found: found[0].lower(), text)
    return text


_TAG_NAMES = r"(?:[a-z]{1,12}:)?(?:tool_?(?:calls?|use|name)|function(?:_?calls?|_name)?|invoke|tool|use_mcp_tool|server_name|start_function_call)"
_LARGE = late(rf"<(?=[a-z_:]{{0,30}}[A-Z])(?i:{_TAG_NAMES})(?=[\s=>])")
_SMALL = late(rf"<{_TAG_NAMES}(?=[\s=>])")
_TAGS = late(
    rf"</?(?i:{_TAG_NAMES}|(?:[a-z]{{1,12}}:)?(?:parameters?|param|args?|arg_key|arg_value|name|arguments|input|end_function_call))(?=[\s=>])"
)


def _is_inside(at: int, blocks: Sequence[tuple[int, int]]) -> bool:
    number = bisect_right(blocks, (at, sys.maxsize)) - 1
    return number >= 0 and at < blocks[number][1]
