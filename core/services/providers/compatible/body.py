"""The body of a Chat Completions request, the same bytes for the same stack; fields refused by name, and the body without."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from core.kernel.codecs import canonical_json
from core.kernel.frame import empty_frame
from core.kernel.patterns import late
from core.kernel.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.provider import (
    Effort,
    ModelProfile,
    ProviderRequest,
    RequestMessage,
    RequestPart,
)
from core.kernel.values.stack import Segment
from core.services.providers.attachments import data_url
from core.services.providers.door import CallIds
from core.services.providers.openai.body import effort_word, is_strict_schema
from core.services.providers.profiles import nearest_effort
from core.services.providers.protocol import ReadBlob
from core.services.providers.wire import (
    attached,
    called_with,
    is_object,
    shown_in_result,
    sorted_object,
)

# The body of a Chat Completions request, rendered from the stack: same stack, same bytes, nothing added.

# Reasoning of compatible servers, in the three spellings that they have, as it comes and as it goes back.

Json = dict[str, Any]

REASONING_CONTENT, REASONING, REASONING_DETAILS = "reasoning_content", "reasoning", "reasoning_details"
SPELLINGS = (REASONING_CONTENT, REASONING, REASONING_DETAILS)
_TEXT_SPELLINGS = (
    REASONING_CONTENT,
    REASONING,
    "thinking",
    "reasoning_text",
    "cot_summary",
    "thinking_blocks",
)
"""Fields of a delta, and of a message that goes back. Tags in the text stay text."""

_FIELD = "field"
_TEXTS = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Kinds of details that hold text, and the field that it stands in; others are sealed."""


_GROWS = "MiniMax"


class ReasoningReader:
    """Reads the reasoning of one reply. A server that gives it in several spellings means the same each time."""

    def __init__(self) -> None:
        self._field = ""
        self._details: list[Json] = []
        self._so_far: dict[object, str] = {}
        self.is_grown = False
        """True of a server that sends in each piece all that it thought so far: its text may come so, too."""

    def read(self, delta: Json) -> str:
        """More text of the reasoning in a delta, empty where there is none."""
        given = delta.get(REASONING_DETAILS)
        details = [self._fresh(one) for one in _list(given) if isinstance(one, dict)] if given else []
        for detail in details:
            self._add(detail)
        for name in _TEXT_SPELLINGS:
            if (said := delta.get(name)) and (text := text_in(said)):
                self._field = self._field or (name if name in SPELLINGS else REASONING_CONTENT)
                return text
        if self._field:
            return ""  # it was told already
        return "".join(map(_text_of, details))

    def sealed(self) -> str:
        """Canonical JSON of how what came since the last time goes back, empty where nothing came."""
        field, details = self._field, self._details
        self._field, self._details = "", []
        if details:
            return canonical_json({REASONING_DETAILS: details})
        return canonical_json({_FIELD: field}) if field else ""

    def _fresh(self, detail: Json) -> Json:
        """The piece without what an earlier one held. Source: MiniMax "OpenAI API", `reasoning_split` (read 2026-11)."""
        name = _TEXTS.get(str(detail.get("type")))
        if name is None or not str(detail.get("format")).startswith(_GROWS):
            return detail
        place, text = _place(detail), _string(detail.get(name))
        before = self._so_far.get(place, "")
        if before and text.startswith(before):
            self.is_grown, self._so_far[place] = True, text
            return {**detail, name: text.removeprefix(before)}
        self._so_far[place] = before + text
        return detail

    def _add(self, detail: Json) -> None:
        """Take in a piece of a detail: pieces of one text follow each other, its signature comes with the last."""
        last = self._details[-1] if self._details else {}
        name = _TEXTS.get(str(detail.get("type")))
        is_next = name is not None and _place(last) == _place(detail)
        if not is_next or name is None:
            self._details.append(dict(detail))
            return
        given = {key: value for key, value in detail.items() if value is not None}
        self._details[-1] = {**last, **given, name: _string(last.get(name)) + _string(detail.get(name))}


def text_in(value: object) -> str:
    """Text in any dress: itself, a list of parts, or an object around it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(text_in, value))
    if isinstance(value, dict):
        inner = next(
            (
                value[name]
                for name in ("text", "thinking", "reasoning", "content", "summary", "parts", "value")
                if value.get(name)
            ),
            "",
        )
        return text_in(inner)
    return ""


def sent_back(parts: Iterable[ReasoningPart]) -> Json:
    """The fields of a message that give its reasoning back to the server that it came from; another vendor's is left out."""
    texts: dict[str, str] = {}
    details: list[Any] = []
    for part in parts:
        block = sorted_object(part.vendor_json) or {}
        details.extend(_list(block.get(REASONING_DETAILS)))
        field = block.get(_FIELD)
        if field in (REASONING_CONTENT, REASONING) and part.text:
            texts[field] = texts.get(field, "") + part.text
    return {**texts, **({REASONING_DETAILS: details} if details else {})}


def without_reasoning(messages: list[Json], names: frozenset[str]) -> list[Json]:
    """Messages without these fields, for a server that refuses them."""
    if names.isdisjoint(SPELLINGS):
        return messages
    return [{name: value for name, value in message.items() if name not in names} for message in messages]


def _place(detail: Json) -> tuple[object, object]:
    return detail.get("type"), detail.get("index")


def _text_of(detail: Json) -> str:
    return _string(detail.get(_TEXTS.get(str(detail.get("type")), "")))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def chat_body(
    request: ProviderRequest,
    profile: ModelProfile,
    read_blob: ReadBlob,
    *,
    result_profile: ModelProfile | None = None,
    needs_reasoning: bool = False,
) -> Json:
    """Render a request for `POST /v1/chat/completions`.

    Text is one string a message: many servers take no list of parts, and chat templates of others join them each in
    its own way. Segments are joined by `join_texts`, which looks only backwards, so that what stands before layer 8
    is the same when the next turn comes without it. A message with a picture is a list of parts.

    Args:
        profile: of the model, as a person's attachments are judged; result_profile: as those of results of tools are,
            None for the same.
        needs_reasoning: the server refuses a call of the past without its reasoning, be it empty.

    Raises:
        ProviderError: an attachment that the model does not take, or that is gone.

    Source: OpenAI API reference, "Create chat completion", openai 3.51.0 (read 2026-11-20).
    """
    body: Json = {
        "model": request.model,
        "messages": chat_messages(
            request, profile, read_blob, result_profile=result_profile, needs_reasoning=needs_reasoning
        ),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_output_tokens is not None:
        body["max_tokens"] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": sorted_object(tool.parameters_json) or {"type": "object"},
                },
            }
            for tool in sorted(request.tools, key=lambda tool: tool.name)
        ]
    level = nearest_effort(profile, request.effort)
    if level is not Effort.AUTO and profile.thinking.startswith("effort"):
        body["reasoning_effort"] = effort_word(level, profile)
    if request.response_schema_json:
        schema = sorted_object(request.response_schema_json) or {}
        form = {"name": "reply", "schema": schema, "strict": is_strict_schema(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def chat_messages(
    request: ProviderRequest,
    profile: ModelProfile,
    read_blob: ReadBlob,
    *,
    result_profile: ModelProfile | None = None,
    needs_reasoning: bool = False,
) -> list[Json]:
    """The messages alone: one of the system, then the conversation. Args as for `chat_body`."""
    messages: list[Json] = []
    ids = CallIds(request.messages)
    if system := join_texts(segment.text for segment in request.system):
        messages.append({"role": "system", "content": system})
    tool, user, told = Role.TOOL, Role.USER, ids.told
    for message in request.messages:
        role, parts = message.role, message.parts
        only = parts[0] if len(parts) == 1 else None  # most are such, of thousands
        if type(only) is Segment and role is not tool:
            text = "" if only.text.isspace() else only.text
            messages.append({"role": "user" if role is user else "assistant", "content": text})
            continue
        if type(only) is ToolCallPart and not needs_reasoning:
            messages.append({"role": "assistant", "content": "", "tool_calls": [_call(only, ids)]})
            continue
        if type(only) is ToolResultPart and not only.attachments:
            text = "" if only.text.isspace() else only.text
            messages.append({"role": "tool", "tool_call_id": told[id(only)][0], "content": text})
            continue
        match role:
            case Role.USER:
                content = _user_content(parts, profile, read_blob)
                messages.append({"role": "user", "content": content})
            case Role.ASSISTANT:
                messages.append(_assistant(message, ids, needs_reasoning=needs_reasoning))
            case Role.TOOL:
                messages.extend(_tool_results(message, ids, result_profile or profile, read_blob))
    return messages


def join_texts(texts: Iterable[str]) -> str:
    """Join texts with a blank line between. What stands between two depends only on the first."""
    joined = ""
    for text in texts:
        if not text.strip():
            continue
        if joined and not joined.endswith("\n\n"):
            joined += "\n" if joined.endswith("\n") else "\n\n"
        joined += text
    return joined


def _user_content(
    parts: tuple[RequestPart, ...], profile: ModelProfile, read_blob: ReadBlob
) -> str | list[Json]:
    content: list[Json] = []
    for part in parts:
        if isinstance(part, Segment):
            _add_text(content, part.text)
        elif isinstance(part, AttachmentPart):
            data = attached(part, read_blob, profile)
            if isinstance(data, str):
                _add_text(content, data)
            else:
                content.append({"type": "image_url", "image_url": {"url": data_url(part, data)}})
    if all(part["type"] == "text" for part in content):
        return "".join(part["text"] for part in content)
    return content


def _add_text(content: list[Json], text: str) -> None:
    """Add a text to the part before it, where that is text too."""
    if content and content[-1]["type"] == "text":
        content[-1]["text"] = join_texts((content[-1]["text"], text))
    elif text.strip():
        content.append({"type": "text", "text": text})


def _assistant(message: RequestMessage, ids: CallIds, *, needs_reasoning: bool) -> Json:
    texts, calls, thoughts = [], [], []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            calls.append(_call(part, ids))
        elif isinstance(part, Segment):
            texts.append(part.text)
        elif isinstance(part, ReasoningPart):
            thoughts.append(part)
    text = join_texts(texts) if texts else ""
    reasoning = sent_back(thoughts) if thoughts else {}
    if needs_reasoning and calls:
        reasoning = {REASONING_CONTENT: "", **reasoning}
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {}), **reasoning}


def _call(part: ToolCallPart, ids: CallIds) -> Json:
    """A call of the past. Servers parse its arguments for their templates, and fail on what is no object."""
    is_whole = is_object(part.arguments_json)
    arguments = (part.arguments_json or "{}") if is_whole else canonical_json(called_with(part))
    call_id, name = ids.told[id(part)]
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _tool_results(
    message: RequestMessage, ids: CallIds, profile: ModelProfile, read_blob: ReadBlob
) -> list[Json]:
    """An answer for each call, of nothing but text, then the pictures of all of them as the user's.

    Source: openai types/chat/chat_completion_tool_message_param.py, 3.51.0.
    """
    answers: list[Json] = []
    pictures: list[Json] = []
    for part in message.parts:
        if not isinstance(part, ToolResultPart):
            continue
        texts = [part.text]
        for file in part.attachments:
            data = shown_in_result(file, read_blob, profile)
            if isinstance(data, str):
                texts.append(data)
            else:
                _add_text(pictures, empty_frame("attachment", name=file.name, call=ids.id_of(part)))
                pictures.append({"type": "image_url", "image_url": {"url": data_url(file, data)}})
        answers.append({"role": "tool", "tool_call_id": ids.id_of(part), "content": join_texts(texts)})
    return [*answers, {"role": "user", "content": pictures}] if pictures else answers


# Fields of a request that a server refuses by name: which, and the request without it or with its twin.

MAX_TOKENS, MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
SYSTEM, DEVELOPER = "role system", "role developer"
WANTED = "missing reasoning_content"
"""Stands among refused fields for what a server misses: calls of the past go with reasoning, be it blank.

Source: Moonshot "thinking is enabled but reasoning_content is missing", DeepSeek "must be passed back" (read 2026-11).
"""

_OPTIONAL = (
    "stream_options",
    "reasoning_effort",
    "temperature",
    "parallel_tool_calls",
    "response_format",
    "seed",
    "cache_prompt",
    "top_k",
    "top_p",
    "repeat_penalty",
)
"""Fields that a server may refuse and that a reply can do without, where the request holds them."""

_ALSO = {
    "stream_options": r"include_usage|stream options?",
    "reasoning_effort": r"reasoning[ .]effort|(?:not support|not enabled for) (?:thinking|reasoning)|think value|valid levels:",
    "response_format": r"json_schema|structured outputs?",
    "parallel_tool_calls": r"parallel tool calls",
}
"""Other words for a field. Source: Databricks, Mistral, Ollama, Together (read 2026-11)."""

STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""Answers that may name a field. 500: llama.cpp and Ollama say so of what they cannot do."""

_IS_VALUE = late(
    r"(?i)too (?:large|high|big|small|low)|at (?:most|least)|less than|greater than|maximum (?:allowed|value|of)|must be (?:positive|>|<|between)|exceed|range"
)
"""Words about the value of a limit, which is the person's to change: the field itself is taken."""

_NO_SYSTEM = late(
    r"(?i)system (?:role|message|prompt)s? (?:is |are )?not supported|role ['\"`]?system['\"`]?.{0,60}not support|not support.{0,40}['\"`]system['\"`]"
)
_NO_STREAM = late(
    r"(?i)['\"`]?stream['\"`]? (?:does not support|is not supported|must be false)|streaming (?:is )?not (?:supported|available|allowed)|does not support streaming"
)


_TAKES_NO_STREAM = r".{0,3} (?:does not support|is not supported (?:with|in|when)) stream"
_IS_MISSING = late(
    r"(?i)\bmissing\b|(?:must|has to|needs to) be (?:passed(?: back)?|provided|included|set|given|present)|\bis required\b"
)
"""Words of a server that misses a field: it takes it."""


def refused_field(sent: Mapping[str, Any], words: str) -> str | None:
    """The field of the body or of a message that a refusal names. None if it names none that the program can leave out."""
    alone = (
        name for name in _OPTIONAL if name in sent and re.search(_spellings(name) + _TAKES_NO_STREAM, words)
    )
    if _NO_STREAM.search(words) and sent.get("stream"):
        return next(alone, "stream")
    if _NO_SYSTEM.search(words) and any(m.get("role") in {"system", "developer"} for m in sent["messages"]):
        return SYSTEM if sent["messages"][0].get("role") == "system" else DEVELOPER
    if _IS_MISSING.search(words):
        return WANTED if REASONING_CONTENT in words and any(map(_lacks_reasoning, sent["messages"])) else None
    of_messages = {name for message in sent["messages"] for name in message if name in SPELLINGS}
    present = [name for name in _OPTIONAL if name in sent] + sorted(of_messages, key=len, reverse=True)
    if not _IS_VALUE.search(words):
        present[:0] = [name for name in (MAX_TOKENS, MAX_COMPLETION_TOKENS) if name in sent]
    named = [(found.start(), name) for name in present if (found := re.search(_spellings(name), words))]
    return min(named)[1] if named else None


def _lacks_reasoning(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls")) and not message.get(REASONING_CONTENT)


def _spellings(name: str) -> str:
    """A field as servers name it: as it stands, as JavaScript writes it, or by what it does."""
    first, *rest = name.split("_")
    camel = first + "".join(word.capitalize() for word in rest)
    also = f"|(?i:{_ALSO[name]})" if name in _ALSO else ""
    return rf"(?<!\w)(?:{re.escape(name)}|{camel}{also})(?!\w)"


def without_refused(body: Json, refused: Collection[str]) -> Json:
    """The body without what was refused, or with its twin: the same limit under its other name, the same words as another role."""
    sent = {name: value for name, value in body.items() if name not in refused}
    if MAX_TOKENS in refused and MAX_TOKENS in body and MAX_COMPLETION_TOKENS not in refused:
        sent[MAX_COMPLETION_TOKENS] = body[MAX_TOKENS]
    if "stream" in refused:
        sent.pop("stream_options", None)
    messages = without_reasoning(body["messages"], frozenset(refused))
    if SYSTEM in refused:
        role = "user" if DEVELOPER in refused else "developer"
        messages = [{**one, "role": role} if one.get("role") == "system" else one for one in messages]
    if WANTED in refused:
        messages = [{**one, REASONING_CONTENT: " "} if _lacks_reasoning(one) else one for one in messages]
    sent["messages"] = messages
    return sent
