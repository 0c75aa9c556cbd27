"""Spellings of calls by families of models, and the few of them that `leaked_dialects` and `leaked_calls` read: one row a family.

Source: vLLM `vllm/tool_parsers`, SGLang `python/sglang/srt/function_call`, llama.cpp `models/templates`, Ollama `model/parsers` (read 2026-11-30).
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence

import msgspec

from core.kernel.patterns import late

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


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
        # Kimi K3 writes tags of tokens.
        ("<|open|>", r"<\|open\|>([^<>|]{1,300})<\|sep\|>", r"<\1>"),
        ("<|close|>", r"<\|close\|>([^<>|]{1,40})<\|sep\|>", r"</\1>"),
        # DeepSeek 3.2 to 4.1, GigaChat 3.5, Step 3, Glimmer and K2 Horizon write a name before that of a tag.
        ("｜", r"<\s?(/?)\s?｜{1,2}\s?[A-Z]{2,8}\s?｜{1,2}\s?(?=[a-z_])", r"<\1"),
        ("|", r"<\s?(/?)\s?\|{1,2}\s?[A-Z]{2,8}\s?\|{1,2}\s?(?=[a-z_])", r"<\1"),
        ("steptml:", r"<(/?)steptml:", r"<\1"),
        ("atem:", r"<(/?)atem:", r"<\1"),
        ("ifm|", r"<(/?)ifm\|", r"<\1"),
        # Some write the elements of calls between square brackets.
        ("[/", r"\[(/(?:tool_invoke|tool_call|tool_use|invoke|parameter|param|arg)|(?:tool_invoke|tool_call|tool_use|invoke|parameter|param|arg)\s+(?:name|key)=[^\[\]<>]{1,200})\]", r"<\1>"),
        # Coders that write the call into the tag of its function, or names in quotes.
        ("<function=", r"<function=([\w.:-]{1,128}\([^<>]{0,2000}\))>(?:\s*</function>)?", rf"{_OPEN}\1{_CLOSE}"),
        ('<function="', r'<(function|parameter)="([\w.:-]{1,128})">', r"<\1=\2>"),
        # MiniMax M2 behind some servers: arrows, and options as a shell has them.
        ("args =>", r'(?m)^[ \t]*--([\w-]{1,64})[ \t]+("(?:[^"\\]|\\.)*"|[^"\s][^\n]*)', r"\1: \2,"),
        ("args =>", r"(?<=[{,])(\s*)(tool|args) =>", r"\1\2:"),
        ("<calls>", r"<calls>", "<tool_calls>"),
        ("</calls>", r"</calls>", "</tool_calls>"),
        ("arg_type>", r"<arg_type>[^<>]{0,60}</arg_type>\s*", ""),
        # Hunyuan 4 writes a mark of its checkpoint into each tag, Hunyuan 3 a tag behind the name.
        ("<tool_call", r"<(/?(?:tool_calls?|arg_key|arg_value)):\w{1,40}>", r"<\1>"),
        ("<tool_sep>", r"<tool_sep>(?=\s*</?(?:arg_key|tool_call)>)", ""),
        ("sep｜>", r"function<｜tool[_▁]sep｜>(?=\s*<)", ""),
        # Solar Open 2 writes keys and values between tokens.
        ("<|tool_arg:", r"<\|tool_arg:start\|>([^<>|]{1,128})<\|tool_arg:value\|>", r"<arg_key>\1</arg_key><arg_value>"),
        ("<|tool_arg:", r"<\|tool_arg:end\|>", "</arg_value>"),
        # Words and tokens before JSON or a name: HyperCLOVA X 14B, GigaChat 3, RWKV, Command R, openPangu, Functionary, Inkling.
        ("-> tool/function_call", r"(?:<\|im_start\|>)?(?:assistant)?\s{0,9}-> tool/function_call\n\s*(?=[\[{])", _OPEN),
        ("<|role_sep|>", r"function call<\|role_sep\|>\s*(?=[\[{])", _OPEN),
        ("Tool Call", r"(?ms)^(?:#{1,6} |\*\*)Tool Call:?(?:\*\*)?:?\s*```(?:json)?\s*(?=[\[{])(.+?)(?:\n```(?=\s*(?:\Z|(?:#{1,6} |\*\*)Tool Call))|\Z)", rf"{_OPEN}\1{_CLOSE}"),
        ("Action:", r"(?ms)^Action:\s*```(?:json)?\s*(?=[\[{])(.+?)(?:\s*```\s*(?:\Z|^Observation:)|\Z)", rf"{_OPEN}\1{_CLOSE}"),
        ("[unused11]", r"\[unused11\]\s*(?=[\[{])", _OPEN),
        ("[unused12]", r"\[unused12\]", _CLOSE),
        (">>>", r"(?m)^>>>(?=[\w.-]{1,200}\n\s*\{)|(?<=\})>>>(?=[\w.-]{1,200}\n\s*\{)", _OPEN),
        ("<|recipient|>", r"(?:<\|from\|>assistant\s*)?<\|recipient\|>\s*([\w.-]{1,200})\s*<\|content\|>(?=\s*\{)", rf"{_OPEN}\1\n"),
        ("<|content_invoke_tool_json|>", r"(?s)(?:<\|message_model\|>[\w.-]{1,200})?<\|content_invoke_tool_json\|>(.+?)(?:<\|end_message\|>|\Z)", rf"{_OPEN}\1{_CLOSE}"),
        ("```json", r"(?m)^function(?=[\w.-]{1,200}\n```json\n)", ""),
        # Marks before Python: NexusRaven 2, Gorilla.
        ("<bot_end>", r"(?m)^Call:[ \t]*(?=[\w.]{1,200}\()", _OPEN),
        ("<bot_end>", r"<bot_end>", _CLOSE),
        ("Call:", r"\ACall:[ \t]*(?=[\w.]{1,200}\()", _OPEN),
        ("<<function>>", r"<<function>>(?=[\w.]{1,200}\()", _OPEN),
        # MiroThinker names the server before the tool.
        ("<use_mcp_tool>", r"</arguments>\s*(?:</use_mcp_tool>|\Z)", _CLOSE),
        ("<use_mcp_tool>", r"<use_mcp_tool>\s*<server_name>[^<>]{0,200}</server_name>\s*<tool_name>\s*([^<>\s]{1,200})\s*</tool_name>\s*<arguments>", rf"{_OPEN}\1\n"),
    )
)  # fmt: skip


def respelled(text: str, quoted: Callable[[str], Sequence[tuple[int, int]]] = lambda _: ()) -> str:
    """The text with the calls of all families as the spellings that are read; the same where it has no sign of one.

    Args:
        quoted: tells the code of a text: what begins in it is an example, and stays as it is.
    """
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


def _is_inside(at: int, blocks: Sequence[tuple[int, int]]) -> bool:
    number = bisect_right(blocks, (at, sys.maxsize)) - 1
    return number >= 0 and at < blocks[number][1]
