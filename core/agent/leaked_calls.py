"""Calls that a model leaked as text, in any form of `leaked_dialects`, recovered into real ones.

Source: Hermes and Qwen chat templates (`<tool_call>` with JSON), Qwen3-Coder's (`<function=…>`), and the issues of their servers.
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from core.agent.leaked_dialects import (
    LISTS_OF_CALLS,
    OPENINGS,
    TELLS_OF_CALLS,
    WRAPS,
    Found,
    arguments_alone,
    calls_in,
    dialect_calls,
    fits,
    json_call,
    types_of,
    value_of,
    without_last_tokens,
    without_tokens,
)
from core.agent.leaked_spellings import CLOSE, OPEN, respelled
from core.agent.leaked_words import (
    EXAMPLE,
    GOES_ON,
    HEADED,
    MEANT,
    announces,
    explains,
    shows_a_result,
)
from core.kernel.codecs import DECODER, canonical_json, end_of, read_json
from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.patterns import late
from core.kernel.values.messages import (
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    files_of,
)
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import Segment, ToolSchema

# Calls that a text leaked.

MOST_LEAKED = 16
"""Calls of one reply that are recovered; text with more of them is an essay about calls."""

PREFIX = "leaked-"
"""Ids of recovered calls begin so: the log tells them from others, and they always ask."""

StandsElsewhere = Callable[[str], bool]
"""Tells if the text of a call also stands in what the model was shown: a result of a tool, a file, a paste."""

_FUNCTION = late(
    r"<function=([\w.:-]{1,128})(?:>|[\s=(,\[]{0,9}(?=\{))"
    r"|<(?:name|function|tool_name|function_name)>\s*([\w.:-]{1,128})\s*(?:</\w{1,20}>\s*)?(?=<parameter=)"
)
_STARTS = rf"{_FUNCTION.pattern}|{OPENINGS.pattern}"
_FUNCTION_END, _PARAMETER_BEGIN, _PARAMETER_END = "</function>", "<parameter=", "</parameter>"
_PARAMETER = late(r"\s*<parameter=([\w.:-]{1,128})>")
_FENCE = late(r" {0,3}(`{3,}|~{3,})")
_CALL_FENCE = late(r"(?:(?:tool|function)_?(?:code|calls?|use)?|action|invoke)\s*\Z")
"""Languages of fences in which models write calls. Source: Gemma and Gemini, `tool_code` (read 2026-11)."""
_RUN = late(r"`+")
_BLANK = late(r"\n[ \t]*\n")
_ESCAPED = late(r"\\+[nrt]|\\+u[0-9a-fA-F]{4}")
_NO_LETTERS = late(r"[\W\d_]+")
_MOST_TRIES = _MOST_PARAMETERS = 100
"""Places of a text that are looked at, and parameters that are read from each: the end of one may be that of the text."""


class _Leak(msgspec.Struct, frozen=True):
    """Calls of one stretch of text, from `start` to `end`. `cores`: what of it tells them, each a text that may stand elsewhere.

    Each call is the tool's name and its arguments as JSON.
    """

    start: int
    end: int
    cores: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]


def is_leaked(call_id: str) -> bool:
    """True if a call was recovered from text."""
    return call_id.startswith(PREFIX)


def with_recovered(
    parts: Sequence[Part], tools: Iterable[ToolSchema], stands_elsewhere: StandsElsewhere, model: str = ""
) -> tuple[Part, ...]:
    """The parts of a whole reply with the calls that it leaked as real ones, behind its words; the same where there are none.

    A reply that calls tools properly has leaked none, at most their markers or the same calls once more, which are taken off its words. Code fences, code spans and names of tools that were not
    offered stay text, and so does what the words explain, and what stands elsewhere. Reasoning is looked at only where the reply is nothing else.

    Args:
        tools: that the request offered; model: whose reply it is: of some, a text that is JSON of calls alone is calls.
    """
    schemas = {tool.name: tool for tool in tools}
    if made := {_told(part.name, part.arguments_json) for part in parts if isinstance(part, ToolCallPart)}:
        once = (_without_told(part, schemas, made) for part in parts)
        return tuple(filter(_says_something, map(_tidied, once)))
    has_text = any(isinstance(part, TextPart) and part.text.strip() for part in parts)
    found: list[Part] = []
    calls: list[ToolCallPart] = []
    for part in parts:
        is_thought = isinstance(part, ReasoningPart)
        is_read = isinstance(part, TextPart) or not has_text
        text = respelled(part.text) if isinstance(part, TextPart | ReasoningPart) and is_read else ""
        text, several = _read(text, schemas, model, is_thought=is_thought) if text else ("", ())
        leaks = [leak for leak in several if not any(map(stands_elsewhere, leak.cores))]
        if is_thought or not leaks:
            found.append(part)  # thoughts stay as they came: they go back so
        elif rest := _words_beside(part, text, leaks, schemas):
            found.append(TextPart(rest))
        for leak in leaks:
            for name, given in leak.calls:
                calls.append(
                    ToolCallPart(call_id=f"{PREFIX}{len(calls) + 1}", name=name, arguments_json=given)
                )
    return (*found, *calls) if 0 < len(calls) <= MOST_LEAKED else tuple(parts)


def _read(
    text: str, tools: Mapping[str, ToolSchema], model: str, *, is_thought: bool
) -> tuple[str, Sequence[_Leak]]:
    """The text, without marks before its calls, and the leaks of it."""
    leaks = _bare_leaks(text, tools, model, is_thought=is_thought) or list(_leaks(text, tools))
    if not leaks:
        leaks = _named_fence(text, tools)
    if not leaks and _WRITES_BARE.search(model):
        leaks = _fenced_leaks(text, tools)
    if not leaks:
        return _marked(text, tools)
    sure = _sure(text, leaks, tools)
    return text, () if sure and explains(text, [(leak.start, leak.end) for leak in sure]) else sure


def _sure(text: str, leaks: Sequence[_Leak], tools: Mapping[str, ToolSchema]) -> Sequence[_Leak]:
    """The leaks, without those behind a sign of ordinary texts, unless words announce them, they end the reply and fit their tools."""
    unsure = [leak for leak in leaks if _is_unsure(text, leak.start, tools)]
    if not unsure:
        return leaks
    rest = _without(
        text[unsure[0].start :],
        [
            replace(one, start=one.start - unsure[0].start, end=one.end - unsure[0].start)
            for one in leaks
            if one.start >= unsure[0].start
        ],
    )
    is_sure = (
        not re.search(r"\w", without_tokens(rest))
        and announces(text[: unsure[0].start])
        and all(fits(tools[name], given) for leak in unsure for name, given in leak.calls)
    )
    return leaks if is_sure else [leak for leak in leaks if leak not in unsure]


def _is_unsure(text: str, start: int, tools: Mapping[str, ToolSchema]) -> bool:
    """True where a call begins with a sign that ordinary texts have, too: an arrow, a heading, a name in brackets, a word as an element."""
    sign = _SIGN.match(text, start)
    return sign is not None and (not sign["name"] or sign["name"] in tools)


_SIGN = late(
    r"[ \t]{0,3}(?:[-=~]{1,2}>|[→⇒➜➔➡►▶⚙🔧🛠]|#{1,6} |(?:<(?=[a-z]{1,40}[\s/>])|\[)(?P<name>[\w.-]{1,128})(?=[\s/>\]]))"
)


def _fenced_leaks(text: str, tools: Mapping[str, ToolSchema]) -> list[_Leak]:
    """The calls of a fence that ends a reply, with calls alone in it, alone or behind words that mean them."""
    whole = text.rstrip().removesuffix("```")
    start = max(0, whole.rfind("\n```") + 1)
    opened = _FENCE_LINE.match(whole, start)
    if opened is None or not _is_meant(text, start):
        return []
    body = whole[opened.end() :]
    leaks = list(_leaks(body, tools))
    if not leaks or without_tokens(_without(body, leaks)).strip():
        return []
    calls = tuple(call for leak in leaks for call in leak.calls)
    cores = tuple(core for leak in leaks for core in leak.cores)
    return [_Leak(start=start, end=len(text), cores=cores, calls=calls)]


def _is_meant(text: str, start: int) -> bool:
    """True if the words before a fence mean what is in it, or there are none."""
    head = text[:start]
    return EXAMPLE.search(head) is None and (not head.strip() or MEANT.search(head) is not None)


def _named_fence(text: str, tools: Mapping[str, ToolSchema]) -> list[_Leak]:
    """The call of a fence that ends a reply and has the name of a tool as its language, with the tool's arguments alone in it.

    Source: arkavo-org/arkavo-edge#373, small Gemma models (read 2026-11).
    """
    found = _NAMED_FENCE.search(text)
    if found is None or found[1] not in tools or not announces(text[: found.start()]):
        return []
    given = arguments_alone(found[2], types_of(tools[found[1]]))
    is_call = given and fits(tools[found[1]], given) and not _ASSIGNED.match(found[2])
    leak = is_call and _leak_of(found.start(), len(text), (found[2],), [(found[1], given)])
    return [leak] if leak else []


_NAMED_FENCE = late(r"(?m)^ {0,3}`{3,}([\w.-]{1,128})[ \t]*\n((?:(?! {0,3}`{3}).*\n)+) {0,3}`{3,}\s*\Z")
_ASSIGNED = late(r"\s*\w+[ \t]*=")
"""Lines of a program: most languages assign so."""
_FENCE_LINE = late(r"\s*`{3,}\w*[ \t]*\n")


def _marked(text: str, tools: Mapping[str, ToolSchema]) -> tuple[str, Sequence[_Leak]]:
    """Calls in items of a list, a quote, cells of a table or escaped as HTML, up to the end of a reply with nothing beside them.

    What explains calls has words there, too. Each such call asks a person.
    """
    found = next(
        (one for one in islice(_MARK.finditer(text), _MOST_TRIES) if _begins(text, one.end(), tools)), None
    )
    none: tuple[str, Sequence[_Leak]] = text, ()
    if found is None:
        return none
    head, tail = text[: found.start()], text[found.start() :]
    if EXAMPLE.search(head) or any(first <= len(head) < end for first, end in _quoted(f"{head}x")):
        return none
    tail = _unmarked(tail, tools)
    leaks = [
        replace(leak, start=leak.start + len(head), end=leak.end + len(head)) for leak in _leaks(tail, tools)
    ]
    whole = head + tail
    is_all = leaks and not re.search(r"\w", without_tokens(_without(whole, leaks)[len(head.strip()) :]))
    return (whole, leaks) if is_all else none


_MARK = late(r"(?m)^[ \t]*(?:(?:>[ \t]?){1,4}|(?:[-*+]|\d{1,3}[.)])[ \t]+|\|[ \t\d|.:-]{0,40}|(?=&lt;))")


def _begins(text: str, at: int, tools: Mapping[str, ToolSchema]) -> bool:
    """True where a call may begin, also one that is escaped."""
    start = html.unescape(text[at : at + 400]) if text.startswith("&lt;", at) else text[at : at + 400]
    found = _starts_of(tuple(tools), is_told=False).search(start)
    return found is not None and found.start() == 0


def _unmarked(text: str, tools: Mapping[str, ToolSchema]) -> str:
    """The text without the marks: of a quote in each line, of a list or a table where calls begin, for a value may be a list."""
    if text.lstrip().startswith("&lt;"):
        return html.unescape(text)
    lines = text.splitlines(keepends=True)
    if all(line.lstrip().startswith(">") for line in lines if line.strip()):
        return "".join(re.sub(r"^[ \t]*>[ \t]?", "", line) for line in lines)
    return "".join(_without_mark(line, tools) for line in lines)


def _without_mark(line: str, tools: Mapping[str, ToolSchema]) -> str:
    mark = _MARK.match(line)
    if mark is None or not _begins(line, mark.end(), tools):
        return line
    rest = line[mark.end() :]
    return _CELL_END.sub("", rest) if mark[0].lstrip().startswith("|") else rest


_CELL_END = late(r"[ \t|]{1,9}(?=\r?\n?\Z)")


def _told(name: str, arguments: str) -> tuple[str, str]:
    """A call as it compares: its name, and its arguments in one spelling."""
    try:
        return name, canonical_json(read_json(arguments))
    except (ValueError, RecursionError):
        return name, arguments


def _without_told(part: Part, tools: Mapping[str, ToolSchema], made: Collection[tuple[str, str]]) -> Part:
    """A text without the calls that the server told as calls, too."""
    if not isinstance(part, TextPart):
        return part
    text = respelled(part.text)
    several = list(_leaks(text, tools)) or _last_json(text, tools)
    leaks = [leak for leak in several if all(_told(*call) in made for call in leak.calls)]
    return replace(part, text=_words_beside(part, text, leaks, tools)) if leaks else part


def _last_json(text: str, tools: Mapping[str, ToolSchema]) -> list[_Leak]:
    """Calls as JSON alone that end a text, also in a fence: where the same are told as calls, they are no words."""
    for head in islice(_BARE_HEAD.finditer(text), _MOST_TRIES):
        found = _json_calls(text, head.end(), tools) or dialect_calls(text, head.end(), tools)
        if found and _REST[bool(head[2])].match(text, found[1]):
            leak = _leak_of(head.start(), len(text), (text[head.end() : found[1]],), found[0])
            return [] if leak is None else [leak]
    return []


def _tidied(part: Part) -> Part:
    return replace(part, text=without_last_tokens(part.text)) if isinstance(part, TextPart) else part


def _says_something(part: Part) -> bool:
    return not isinstance(part, TextPart) or bool(part.text)


def elsewhere(texts: Iterable[str]) -> StandsElsewhere:
    """Search of texts for that of a call, by its letters alone: tools show lines with numbers and signs before them, a page
    has entities, a string of JSON escapes. The texts are read when a call is asked for.
    """
    told: list[str] = []

    def stands(text: str) -> bool:
        if not told:
            told.extend(map(_letters, texts))
        wanted = _letters(text)
        return any(wanted in one for one in told)

    return stands


def _letters(text: str) -> str:
    """The letters of a text, without what writes other characters."""
    return _NO_LETTERS.sub("", html.unescape(_ESCAPED.sub("", respelled(text))))


def shown_texts(request: ProviderRequest, read_blob: Callable[[str], bytes]) -> Iterator[str]:
    """All texts that a request shows the model but its own words: instructions, files, what the person said, results.

    Args:
        read_blob: reads an attachment by its sha256; one that is gone is passed over.
    """
    yield from (segment.text for segment in request.system)
    for message in request.messages:
        if message.role is Role.ASSISTANT:
            continue
        for part in message.parts:
            if isinstance(part, Segment | ToolResultPart):
                yield part.text
        for file in files_of(message.parts):
            known = file.as_text or file
            if not known.is_image:
                with suppress(SlopError):
                    yield read_blob(known.sha256).decode("utf-8", "replace")


def _words_beside(part: Part, text: str, leaks: Sequence[_Leak], tools: Mapping[str, ToolSchema]) -> str:
    """A part's words beside its leaks, which were found in `text`, its other spelling. Examples in code stay as the model
    wrote them, where the same calls are found so.
    """
    assert isinstance(part, TextPart)
    plain = respelled(part.text, _quoted)
    same = list(_leaks(plain, tools)) if plain != text else ()
    if same and [one.calls for one in same] == [one.calls for one in leaks]:
        return _without(plain, same)
    return _without(text, leaks)


def _without(text: str, leaks: Sequence[_Leak]) -> str:
    kept, at = [], 0
    for leak in leaks:
        kept.append(text[at : leak.start])
        at = leak.end
    words = "".join(kept := [*kept, text[at:]])
    if "\0" not in words:
        words = _EMPTIED.sub("", "\0".join(kept)).replace("\0", "")
    return without_last_tokens(_BEGUN.sub("", words)).strip()


_EMPTIED = late(r"<([\w:-]{1,40})>\s*(?:\0\s*)+(?:</\1>|\Z)")
"""An element that held calls alone, each as its place: `<response>` of ERNIE."""

_BEGUN = late(r"<[|｜][^<>|｜\s]{0,40}tool[^<>|｜\s]{0,40}[|｜]>")
"""Tokens of calls, which models leave before words between them: Kimi. Source: vllm-project/vllm#28543."""


def _bare_leaks(text: str, tools: Mapping[str, ToolSchema], model: str, *, is_thought: bool) -> list[_Leak]:
    """Calls up to the end of a text: of a model that is known to write them so, or told as calls by themselves."""
    is_known = _WRITES_BARE.search(model) is not None
    for head in islice(_BARE_HEAD.finditer(text), _MOST_TRIES):
        body, is_alone = head.end(), head.start() == 0
        fence = head[2] or ""
        is_yaml, is_code = "yaml" in fence or "yml" in fence, text[body] == "<" or "py" in fence
        may_follow_words = is_yaml or text[body] in "[{" or ((head[1] or is_thought) and not is_code)
        if not is_alone and not may_follow_words:
            continue
        before = text[: head.start()].rstrip()
        is_shown = before.endswith((":", "：")) and shows_a_result(before)
        is_meant = is_alone or (not is_shown and MEANT.search(before) is not None)
        if is_shown or (_is_unsure(text, body, tools) and not announces(before)):
            continue
        if not is_meant and (EXAMPLE.search(text, 0, head.start()) or HEADED.search(text, 0, body)):
            continue
        if not (is_meant or is_thought or (is_known and head[1] and not is_yaml)):
            continue
        is_told = _tells_itself(text, body) and (not fence or (is_meant and _LIST_OF_CALLS.match(text, body)))
        if not (is_known or is_told):
            continue
        found = _json_calls(text, body, tools) or (dialect_calls(text, body, tools) if is_known else None)
        if found is None:
            continue
        has_fence = bool(fence) and not text[body : found[1]].rstrip().endswith("```")
        goes_on = is_known and is_alone and not fence and _tells_itself(text, body)
        is_last = _REST[has_fence].match(text, found[1]) is not None
        if not (is_last or (goes_on and _GOES_ON.match(text, found[1]))):
            continue
        if OPENINGS.search(text, 0, head.start()):
            continue
        if not fence and any(first <= body < end for first, end in _quoted(text)):
            continue
        core = text[body : found[1]]
        end = len(text) if is_last else found[1]
        leak = _leak_of(head.start(), end, (core, without_tokens(core)), found[0])
        return [] if leak is None else [leak]
    return []


def _tells_itself(text: str, at: int) -> bool:
    """True if JSON says that it is a call, or a list of calls."""
    try:
        value, _ = DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return False
    several = value if isinstance(value, list) else [value]
    return all(
        isinstance(one, dict)
        and (
            one.get("type") in _CALL_TYPES
            or any(one.keys() >= keys for keys in _CALL_KEYS)
            or any(isinstance(one.get(key), list) for key in LISTS_OF_CALLS)
            or (len(one) == 1 and isinstance(next(iter(one.values())), dict) and one.keys() & {*WRAPS})
        )
        for one in several
    )


_CALL_KEYS: tuple[set[str], ...] = (
    {"tool_call_id"},
    {"action", "action_input"},
    {"tool_name", "parameters"},
    {"tool_name", "arguments"},
    {"tool_name", "tool_input"},
    {"tool_name", "tool_args"},
    {"tool", "tool_input"},
    {"tool", "tool_args"},
    {"tool", "params"},
)
"""Keys that only a call has. Source: Cohere, LangChain's and other agents' prompts (read 2026-11)."""
_CALL_TYPES = ("function", "function_call", "tool_call", "tool_use")
_BARE_HEAD = late(
    r"(?:\A|(?<=\S)[ \t]*\n([ \t]*\n)?)\s*(`{3,}(?:json|xml|ya?ml|py(?:thon)?|tool_\w+)?[ \t]*\n\s*)?(?=[\[{<]|(?:-[ \t]+)?[\"']?\w{4,13}[\"']?:[ \t]|[\w.]{1,200}\(|[\w.:-]{1,200}\s*(?:```json\s*)?\{)"
)
_LIST_OF_CALLS = late(r'\{\s*"tool_calls"\s*:\s*\[\s*\{')
"""Beginning of a reply in OpenAI's form, which no other text has. Source: Extra-Chill/data-machine#2316 (read 2026-11)."""
_REST = {False: late(r"\s*\Z"), True: late(r"\s*(?:`{3,}\s*)?\Z")}
_GOES_ON = late(
    rf"(?i)[ \t]*\n[ \t]*\n(?!.{{0,200}}(?:\b(?:this|that|above|das|dies\w*|(?:so|hier) sieht|fields?|keys?|tool\w*|calls?|JSON|request|arguments?|parameters?|Feld\w*|Schlüssel|Aufruf\w*)\b|{EXAMPLE.pattern.removeprefix('(?i)')}))(?=\w)"
)
"""Words behind JSON that says that it is a call, which tell nothing of it. Source: vllm-project/vllm#19024 (read 2026-11)."""
_WRITES_BARE = late(
    r"(?i)qwen-?[23]|qwen-?coder|qwq|llama-?[34]|llama-?xlam|xlam|hammer|devstral|codestral|mistral|ministral|magistral|glm-?4|granite|phi-?[34]|gemma"
    r"|hermes|toolace|watt-tool|arch-(?:function|agent)|nemotron|functionary|firefunction|lfm-?2|olmo|smollm|falcon|internlm|command-?[ar]|deepseek|kimi|minimax|apertus|gigachat|pangu"
)
"""Models that write calls as JSON alone, or as a list of Python's.

Source: ollama, llama.cpp and vLLM issues (ggml-org/llama.cpp#14697, jundot/omlx#2565, NousResearch/hermes-agent#87900,
vllm-project/vllm#46863, #51697), and the templates of open models, read 2026-11.
"""


def _leaks(text: str, tools: Mapping[str, ToolSchema]) -> Iterator[_Leak]:
    quoted: list[tuple[int, int]] | None = None
    starts = _starts_of(tuple(tools), is_told=TELLS_OF_CALLS.search(text) is not None)
    at = behind = 0
    for _ in range(_MOST_TRIES):
        found = starts.search(text, at)
        if found is None:
            return
        start = found.start()
        at = start + 1
        quoted = _quoted(text) if quoted is None else quoted  # lines of a whole reply: not without need
        if any(first <= start < end for first, end in quoted):
            continue
        leak = _leak_at(text, start, tools)
        if leak is None or _is_talk(text, behind, leak):
            continue
        if found.lastgroup != "bare" or TELLS_OF_CALLS.search(text, start, leak.end):
            at = behind = leak.end
            yield leak


def _is_talk(text: str, behind: int, leak: _Leak) -> bool:
    """True for a call in a sentence, in a list, a table or a change: a text about calls has it so, a leak has not.

    Args:
        behind: the end of the last leak.
    """
    before = text[max(behind, text.rfind("\n", 0, leak.start) + 1) : leak.start]
    end = text.find("\n", leak.end)
    after = text[leak.end : end if end >= 0 else len(text)].lstrip()
    if _LISTED.match(before) or GOES_ON.match(text, leak.end):
        return True
    has_words = _TAG.sub("", without_tokens(before)).strip() and _TAG.sub("", without_tokens(after)).strip()
    return bool(has_words) and not OPENINGS.match(after)


_TAG = late(r"</?\w{1,40}>")
_LISTED = late(r"\s*(?:[-+*|]|\d{1,3}[.)]\s)")


@lru_cache(maxsize=16)
def _starts_of(names: tuple[str, ...], *, is_told: bool) -> re.Pattern[str]:
    """Places at which calls may begin: at a marker, at an element or a bracket that has the name of a tool, or, in a text with markers of
    which the first may be lost, at JSON or at the name of a tool.
    """
    several = "|".join(map(re.escape, names))
    elements = rf"|<(?:{several})(?=[\s/>])|^\[(?:{several})\](?=:?[ \t]{{0,9}}\{{)" if names else ""
    bare = (
        rf"|(?P<bare>^[ \t]*[\[{{]|(?<![\w./])(?:functions\.)?(?:{several})\b)" if names and is_told else ""
    )
    return re.compile(f"{_STARTS}{elements}{bare}", re.MULTILINE)


def _leak_at(text: str, start: int, tools: Mapping[str, ToolSchema]) -> _Leak | None:
    """The calls that begin here; None where they are not whole, or of no tool."""
    has_open = text.startswith(OPEN, start)
    body = _skip(text, start + len(OPEN)) if has_open else start
    read = _xml_calls if _FUNCTION.match(text, body) else _json_calls if has_open else None
    found = None if read is None else read(text, body, tools)
    if found is None:
        return _dialect_leak(text, start, tools)
    calls, core_end = found
    after = _skip(text, core_end)
    has_close = text.startswith(CLOSE, after)
    is_last = not without_tokens(text[after:]).strip()
    is_closed = (
        has_close or (has_open and (is_last or text.startswith(OPEN, after))) or _FUNCTION.match(text, body)
    )  # it has its own end
    if not calls or not is_closed:
        return None
    end = after + len(CLOSE) if has_close else len(text) if is_last else core_end
    return _leak_of(start, end, (text[body:core_end],), calls)


def _dialect_leak(text: str, start: int, tools: Mapping[str, ToolSchema]) -> _Leak | None:
    found = dialect_calls(text, start, tools)
    if found is None:
        return None
    core = text[start : found[1]]
    return _leak_of(start, found[1], (core, without_tokens(core)), found[0])


def _leak_of(
    start: int, end: int, cores: tuple[str, ...], calls: Iterable[tuple[str, dict[str, Any]]]
) -> _Leak | None:
    """The leak of these calls; None where arguments are deeper than JSON goes, or a value of Python that it has not."""
    try:
        given = tuple((name, _as_json(arguments)) for name, arguments in calls)
    except (RecursionError, TypeError, ValueError):
        return None
    return _Leak(start=start, end=end, cores=cores, calls=given)


def _as_json(arguments: dict[str, Any]) -> str:
    """Arguments as a log and every vendor take them, without lone surrogates.

    Raises:
        RecursionError: nested too deep; ValueError: a number that JSON has not.
    """
    return clean(json.dumps(arguments, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def _json_calls(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """Objects with a name and arguments, one after the other or in a list."""
    calls: list[tuple[str, dict[str, Any]]] = []
    core_end = at
    while text[at : at + 1] in {"{", "["}:
        read = _value_at(text, at)
        if read is None:
            return None
        value, end = read
        for one in calls_in(value):
            call = json_call(one, tools)
            if call is None:
                return None
            calls.append(call)
        at = end_of(_BETWEEN, text, end)
        core_end = at if text.startswith(CLOSE, at) else end
    return (calls, core_end) if calls else None


_BETWEEN = late(
    r"\s*(?:[;,]\s*(?=[\[{])|`{3,}\s*`{3,}(?:json)?[ \t]*\n\s*(?=[\[{])|[}\]]{1,3}\s*(?=</tool_call>))?"
)
"""Between two objects, or before the end: models write semicolons, a fence for each, or close once too often."""


def _value_at(text: str, at: int) -> tuple[Any, int] | None:
    """JSON from here, also where a model left out what closes it before the closing tag or the end, or opened it twice."""
    try:
        return DECODER.raw_decode(text, at + text.startswith("{{", at))
    except RecursionError:
        return None
    except ValueError:
        end = text.find(CLOSE, at)
    is_last = end < 0
    body = text[at : len(text) if is_last else end].rstrip()
    if is_last and not body.endswith("}"):
        return None  # cut within the arguments
    for closing in _MISSING:
        with suppress(ValueError, RecursionError):
            return DECODER.decode(body + closing), at + len(body)
    return None


_MISSING = ("}", "]", "}]")


def _xml_calls(text: str, at: int, tools: Mapping[str, ToolSchema]) -> Found | None:
    """Functions, one after the other, no more than tell that they are too many. What is not closed ends where the next begins."""
    calls: list[tuple[str, dict[str, Any]]] = []
    core_end = at
    while len(calls) <= MOST_LEAKED and (head := _FUNCTION.match(text, at)) is not None:
        name = head[1] or head[2]
        if name not in tools:
            return None
        types = types_of(tools[name])
        arguments: dict[str, Any] = {}
        at = _skip(text, head.end())
        if text[at : at + 1] == "{":
            try:
                arguments, at = DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                return None
            at = end_of(_BRACKETS, text, at)
        for _ in range(_MOST_PARAMETERS):
            if (parameter := _PARAMETER.match(text, at)) is None:
                break
            given, at = _parameter_at(text, parameter.end())
            if at < 0 and (not arguments or _PARAMETER_END in text):
                return None  # the reply was cut within a value
            if at < 0:
                given, at = text[parameter.end() :].strip(), len(text)  # it closes none
            arguments[parameter[1]] = value_of(given, types.get(parameter[1]))
            at = end_of(_CLOSED_AGAIN, text, at)
        end = _skip(text, at)
        has_end = text.startswith(_FUNCTION_END, end)
        if not (has_end or (arguments and (end == len(text) or text.startswith(CLOSE, end)))):
            return None
        core_end = end + len(_FUNCTION_END) if has_end else end
        calls.append((name, arguments))
        at = _skip(text, core_end)
    return (calls, core_end) if calls else None


def _parameter_at(text: str, at: int) -> tuple[str, int]:
    """The value of a parameter from here, and where it ends; -1 where the reply ends within it. Models leave closing tags out."""
    closed = text.find(_PARAMETER_END, at)
    if closed >= 0 and text.count(_PARAMETER_END, at) > text.count(_PARAMETER_BEGIN, at):
        return text[at:closed], closed + len(_PARAMETER_END)
    ends = [place for mark in (_PARAMETER_END, _FUNCTION_END, CLOSE) if (place := text.find(mark, at)) >= 0]
    following = _NEXT_PARAMETER.search(text, at, min(ends, default=len(text)))
    end = following.start() if following else min(ends, default=-1)
    if end < 0:
        return "", -1
    is_closed = following is None and text.startswith(_PARAMETER_END, end)
    return (text[at:end], end + len(_PARAMETER_END)) if is_closed else (text[at:end].strip(), end)


_CLOSED_AGAIN = late(r"(?:\s*</parameter>)*(?=\s*<)")
"""Source: ggml-org/llama.cpp#24807, Qwen 3.6."""
_BRACKETS = late(r"[\s)\]>]*")
_NEXT_PARAMETER = late(r"\n[ \t]*(?=<parameter=[\w.:-]{1,128}>)")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _quoted(text: str) -> list[tuple[int, int]]:
    """Stretches that are code or quotes: fences, also one that never ends, spans, lines with > before them."""
    found: list[tuple[int, int]] = []
    at, fence, began = 0, "", 0
    for line in text.splitlines(keepends=True):
        opened = _FENCE.match(line)
        if fence:
            is_end = opened is not None and opened[1].startswith(fence) and not line[opened.end() :].strip()
            if is_end:
                found.append((began, at + len(line)))
                fence = ""
        elif opened is not None and not _CALL_FENCE.match(line[opened.end() :]):
            fence, began = opened[1], at
        elif line.lstrip(" ").startswith(">") or line.startswith(("    ", "\t")):
            found.append((at, at + len(line)))
        at += len(line)
    if fence:
        found.append((began, len(text)))
    return [*found, *_spans(text, found)]


def _spans(text: str, blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Code spans: a run of backticks up to the next one of its length, in one paragraph."""
    ends = [match.start() for match in _BLANK.finditer(text)]
    firsts = [first for first, _ in blocks]
    runs = (run.span() for run in _RUN.finditer(text))
    opened: dict[tuple[int, int], int] = {}
    closed = 0
    for start, end in runs:
        block = bisect_right(firsts, start) - 1
        if start < closed or (block >= 0 and start < blocks[block][1]):
            continue
        kind = (end - start, bisect_right(ends, start))
        begin = opened.pop(kind, None)
        if begin is None:
            opened[kind] = start
            continue
        closed = end
        opened.clear()
        yield begin, end
