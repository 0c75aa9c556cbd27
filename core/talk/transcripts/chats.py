"""Chats of other programs: Open WebUI, LibreChat, LM Studio, Cherry Studio, Zed, ShareGPT, Gemini of Google Takeout."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from core.kernel.codecs import from_json, read_json
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.agents import (
    NOTES,
    TalkBuilder,
    items,
    mapping,
    openai_calls,
    openai_thoughts,
    spelled,
    texts,
    thoughts_apart,
    tool_call,
    word,
)
from core.talk.transcripts.text import Buffer, decoded, moment

_FOLD = late(
    r"<details type=\"(reasoning|tool_calls|code_interpreter)\"([^>]*)>\s*(?:<summary>.*?</summary>)?(.*?)</details>\s*",
    re.DOTALL,
)
_FIELD = late(r'\b(id|name|arguments|result|output)="([^"]*)"')
_QUOTE = late(r"^> ?", re.MULTILINE)
_TAG = late(r"<[^<>]{0,2000}>")
_BREAK = late(r"<(?:br|/p|/li|/h[1-6]|/div|/tr)\b[^<>]{0,200}>", re.IGNORECASE)


def as_object(element: msgspec.Raw | Any, name: str) -> dict[str, Any]:
    """An element as plain data. Raises ValueError for an element of another program."""
    try:
        found = from_json(element, Any) if isinstance(element, msgspec.Raw) else element
    except msgspec.DecodeError as error:
        raise ValueError(tr("the file is not a conversation of {name}", name=name)) from error
    if isinstance(found, dict):
        return found
    raise ValueError(tr("the file is not a conversation of {name}", name=name))


def _spoken(text: Any) -> tuple[Part, ...]:
    """Words, with thoughts and tools in folds told apart."""
    words, parts, at = texts(text), list[Part](), 0
    for fold in _FOLD.finditer(words) if "<details" in words else ():
        if words[at : fold.start()].strip():
            parts.append(TextPart(clean(words[at : fold.start()])))
        at = fold.end()
        if fold[1] != "tool_calls":
            inner = _QUOTE.sub("", clean(html.unescape(fold[3]))).strip()
            made = ReasoningPart if fold[1] == "reasoning" else TextPart
            parts += [made(inner)] if inner else []
            continue
        about = {key: html.unescape(value) for key, value in _FIELD.findall(fold[2])}
        key, given = clean(about.get("id", "")), clean(_inner(about.get("arguments", "")))
        parts.append(ToolCallPart(call_id=key, name=clean(about.get("name", "")), arguments_json=given))
        if result := clean(_inner(about.get("result", "")) or html.unescape(fold[3]).strip()):
            parts.append(ToolResultPart(call_id=key, text=result))
    return (*parts, TextPart(clean(words[at:]))) if words[at:].strip() else tuple(parts)


def _inner(text: str) -> str:
    """A text that was written as JSON once more."""
    try:
        found = read_json(text) if text.startswith('"') else None
    except ValueError:
        found = None
    return found if isinstance(found, str) else text


def files_named(given: Any) -> Iterator[AttachmentPart]:
    """Files of a message, by name alone."""
    for one in given if isinstance(given, list) else ():
        inner = one.get("file") if isinstance(one, dict) and isinstance(one.get("file"), dict) else one
        names = (
            (inner.get(key) for key in ("origin_name", "name", "filename")) if isinstance(inner, dict) else ()
        )
        name = next((word(value) for value in names if isinstance(value, str)), "")
        if name:
            yield AttachmentPart(sha256="", media_type="application/octet-stream", name=name, size_bytes=0)


def read_open_webui(element: msgspec.Raw | Any) -> Transcript:
    """A chat of Open WebUI: a tree of messages, the path that was seen last by its end."""
    found = as_object(element, "Open WebUI")
    chat = mapping(found.get("chat")) or found
    history = mapping(chat.get("history"))
    nodes = mapping(history.get("messages"))
    if not nodes and isinstance(chat.get("messages"), list):
        nodes = {
            str(one.get("id", n)): one for n, one in enumerate(chat["messages"]) if isinstance(one, dict)
        }
    if not nodes:
        raise ValueError(tr("the file is not a conversation of Open WebUI"))
    messages = [
        TranscriptMessage(
            id=key,
            role=word(one.get("role")),
            parts=(
                *(_spoken(one.get("content")) or tuple(_output(one.get("output"))) or _phases(one)),
                *files_named(one.get("files")),
            ),
            parent=word(one.get("parentId")),
            at=moment(one.get("timestamp")),
            model=word(one.get("model"))
            if one.get("role") == "assistant" and (one.get("content") or one.get("output"))
            else "",
        )
        for key, one in nodes.items()
        if isinstance(one, dict)
    ]
    return tree_of(found, chat, messages, word(history.get("currentId")))


def _phases(one: Mapping[str, Any]) -> Iterator[Part]:
    """Parts of a reply that stands in phases, as chat.qwen.ai exports it, a fork of Open WebUI."""
    for phase in map(mapping, items(one.get("content_list"))):
        if words := word(phase.get("content")).strip():
            yield ReasoningPart(words) if phase.get("phase") == "think" else TextPart(words)


def _output(given: Any) -> Iterator[Part]:
    """Parts of a reply that stands in items of OpenAI's Responses, as Open WebUI keeps those of 2026."""
    for one in map(mapping, items(given)):
        kind, words = one.get("type"), texts(one.get("content")) or texts(one.get("summary"))
        key = word(one.get("call_id"))
        if kind == "reasoning" and words.strip():
            yield ReasoningPart(clean(words))
        elif kind == "message" and words.strip():
            yield TextPart(clean(words))
        elif kind == "function_call":
            given_words = spelled(one.get("arguments", ""))
            yield ToolCallPart(call_id=key, name=word(one.get("name")), arguments_json=given_words)
        elif kind == "function_call_output":
            output = one.get("output")
            text = texts(output) if isinstance(output, str | list) else spelled(output)
            yield ToolResultPart(call_id=key, text=clean(text))


def tree_of(
    found: Mapping[str, Any], chat: Mapping[str, Any], messages: list[TranscriptMessage], current: str
) -> Transcript:
    """A conversation of messages that name the one before, those among them in which nothing is said.

    Args:
        found, chat: with its id, title and time, the first that has each; current: id of the message that was seen last.
    """
    talk = TalkBuilder()
    for one in messages:
        told = tuple(thoughts_apart(one.parts)) if one.role == "assistant" else one.parts
        talk.messages[one.id] = one if told == one.parts else msgspec.structs.replace(one, parts=told)
    answered = {one.parent for one in messages}
    ends = [one.id for one in messages if one.id not in answered]
    talk.last = current if current in talk.messages else ends[-1] if ends else ""
    talk.id = next(
        (word(x.get(k)) for x in (found, chat) for k in ("id", "conversationId") if word(x.get(k))), ""
    )
    talk.title = word(found.get("title")) or word(chat.get("title"))
    talk.at = next(
        (found[k] for k in ("created_at", "createdAt", "timestamp") if found.get(k) is not None), None
    )
    return talk.transcript()


def read_librechat(element: msgspec.Raw | Any) -> Transcript:
    """A conversation of LibreChat: messages in a list, or each with its answers in it."""
    found = as_object(element, "LibreChat")
    given = items(found.get("messages")) or items(found.get("messagesTree"))
    messages, left = list[TranscriptMessage](), [(one, "") for one in reversed(given)]
    failed = 0
    if not left:
        raise ValueError(tr("the file is not a conversation of LibreChat"))
    last = ""
    while left:
        one, above = left.pop()
        if not isinstance(one, dict):
            continue
        key = word(one.get("messageId")) or f"#{len(messages) + 1}"
        parent = word(one.get("parentMessageId")) or above
        is_own = one.get("isCreatedByUser") is True or word(one.get("sender")).lower() == "user"
        told = _spoken(one["text"]) if word(one.get("text")).strip() else _librechat_parts(one.get("content"))
        if one.get("error") is True:
            told, failed = (), failed + 1
        messages.append(
            TranscriptMessage(
                id=key,
                role="user" if is_own else "assistant",
                parts=(*told, *files_named(one.get("files"))),
                parent=parent or last,
                at=moment(one.get("createdAt")),
                model=""
                if is_own or one.get("error") is True
                else word(one.get("model")) or word(one.get("sender")),
            )
        )
        last = key
        children = one["children"] if isinstance(one.get("children"), list) else []
        left += [(child, key) for child in reversed(children)]
    made = tree_of(found, found, messages, "")
    return msgspec.structs.replace(made, skipped={**made.skipped, NOTES: failed}) if failed else made


def _librechat_parts(content: Any) -> Iterator[Part]:
    for one in content if isinstance(content, list) else ():
        if not isinstance(one, dict):
            continue
        text = one.get("text", one.get("think"))
        words = text.get("value") if isinstance(text, dict) else text
        call = one.get("tool_call")
        if isinstance(words, str) and words.strip():
            yield ReasoningPart(clean(words)) if one.get("type") == "think" else TextPart(clean(words))
        elif isinstance(call, dict):
            yield tool_call(call.get("id"), call.get("name"), call.get("args"))
            if isinstance(call.get("output"), str):
                yield ToolResultPart(call_id=word(call.get("id")), text=clean(call["output"]))


def read_lm_studio(element: msgspec.Raw | Any) -> Transcript:
    """A conversation of LM Studio: each message in versions, of which one is chosen."""
    found = as_object(element, "LM Studio")
    talk = TalkBuilder()
    talk.title, talk.at = word(found.get("name")), found.get("createdAt")
    last = word(mapping(found.get("lastUsedModel")).get("identifier"))
    for one in items(found.get("messages")):
        versions = one.get("versions") if isinstance(one, dict) else None
        if not isinstance(versions, list) or not versions:
            continue
        chosen = one.get("currentlySelected")
        version = versions[chosen if type(chosen) is int and 0 <= chosen < len(versions) else -1]
        if not isinstance(version, dict):
            continue
        blocks = [version, *(version["steps"] if isinstance(version.get("steps"), list) else ())]
        parts = [part for block in blocks if isinstance(block, dict) for part in _lm_parts(block)]
        sender = mapping(version.get("senderInfo"))
        role = word(version.get("role"))
        if role == "system":
            talk.skipped["system texts"] += 1
            continue
        steps = [mapping(block.get("genInfo")) for block in blocks if isinstance(block, dict)]
        used = next((word(step.get("identifier")) for step in steps if step.get("identifier")), "")
        talk.say(role, parts, at=_step_time(blocks), model=word(sender.get("senderName")) or used or last)
    if not talk.messages:
        raise ValueError(tr("the file is not a conversation of LM Studio"))
    return talk.transcript()


def _step_time(blocks: Iterable[Any]) -> Any:
    """Time at which a reply was begun: its steps are named by milliseconds since 1970."""
    names = (word(block.get("stepIdentifier")) for block in blocks if isinstance(block, dict))
    return next((int(name.split("-")[0]) for name in names if re.match(r"\d{13}-", name)), None)


def _lm_parts(block: Mapping[str, Any]) -> Iterator[Part]:
    for one in items(block.get("content")):
        if not isinstance(one, dict):
            continue
        text = word(one.get("text"))
        is_thought = isinstance(block.get("style"), dict) and block["style"].get("type") == "thinking"
        if text.strip():
            yield ReasoningPart(text) if is_thought else TextPart(text)
        elif one.get("type") == "file":
            name = word(one.get("fileIdentifier")) or "a file"
            yield AttachmentPart(sha256="", media_type="application/octet-stream", name=name, size_bytes=0)
        elif one.get("type") == "toolCallRequest":
            given = spelled(one.get("parameters"))
            yield ToolCallPart(
                call_id=word(one.get("callId")), name=word(one.get("name")), arguments_json=given
            )
        elif one.get("type") == "toolCallResult":
            yield ToolResultPart(call_id=word(one.get("callId")), text=spelled(one.get("content")))


def read_sharegpt(element: msgspec.Raw | Any) -> Transcript:
    """A conversation as lists for training hold them: `from` and `value`, or `role` and `content`."""
    found = as_object(element, "ShareGPT")
    given: list[Any] = next(
        (
            found[k]
            for k in ("conversations", "conversation", "messages", "items")
            if isinstance(found.get(k), list)
        ),
        [],
    )
    talk = TalkBuilder()
    talk.id, talk.title = word(found.get("id")), word(found.get("title"))
    talk.at = found.get("created_at", found.get("create_time"))
    for one in given:
        if not isinstance(one, dict):
            continue
        who = word(one.get("from", one.get("role"))).lower()
        role = SPEAKERS.get(who)
        if role is None:
            talk.skipped["system texts" if who == "system" else "messages of unknown speakers"] += 1
            continue
        parts = (
            *openai_thoughts(one),
            *_spoken(one.get("value", one.get("content", one.get("markdown")))),
            *openai_calls(one),
        )
        if who in {"tool", "function_response", "observation"}:
            parts = (ToolResultPart(call_id="", text=texts(one.get("value", one.get("content")))),)
        talk.say(role, parts, at=one.get("timestamp"), model=found.get("model"))
    if not talk.messages:
        raise ValueError(tr("the conversation holds no messages"))
    return talk.transcript()


SPEAKERS = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "model", "chatgpt", "bard", "bing", "claude"), "assistant"),
    **dict.fromkeys(("function_call", "tool", "function_response", "observation"), "assistant"),
}
"""Roles by the names that programs give to who speaks."""


def read_takeout(element: msgspec.Raw | Any) -> Transcript:
    """An entry of Google's list of activities: one question to Gemini, and its answer."""
    found = as_object(element, "Gemini")
    answers = [one for one in items(found.get("safeHtmlItem")) if isinstance(one, dict)]
    asked = _asked(found, has_answer=bool(answers))
    if not asked:
        return Transcript(
            id="activity", messages=(), skipped={"activities that are no questions to Gemini": 1}
        )
    talk = TalkBuilder()
    talk.at = found.get("time")
    told = [word(mapping(one).get("name")) for one in items(found.get("subtitles"))]
    listed = [one.removeprefix("-").strip() for one in told if one.startswith("-")]
    names = [{"name": one} for one in (*items(found.get("attachedFiles")), *listed) if isinstance(one, str)]
    talk.say("user", (TextPart(asked), *files_named(names)), at=found.get("time"))
    answer = "\n\n".join(_answer(one["html"]) for one in answers if isinstance(one.get("html"), str))
    if answer.strip():
        talk.say("assistant", (TextPart(answer),), at=found.get("time"), model="Gemini")
    return talk.transcript()


_MAX_PAGE_CHARS = 4_000_000
"""Longer than any reply. The parser of pages holds some fifteen times a page's size, in the import's own process."""


def _answer(page: str) -> str:
    """An answer as Markdown; its bare words where it is longer than any reply."""
    if len(page) > _MAX_PAGE_CHARS:
        return _bare(page)
    from core.talk.discussion.page_text import page_text  # loads its parser

    return page_text(page, "")


# The same list as the page that Takeout makes where nobody asks for JSON.

_CELL = b'<div class="outer-cell'
_OF_GEMINI = late(rb'(?:typography--title">|<h3>)\s*(?:Gemini|Bard)\b')
_HEADER = late(r'typography--title">(.*?)</p>', re.DOTALL)
_BODY = late(r'<div class="content-cell[^"]*body-1">(.*?)</div>\s*(?:<div class="content-cell|\Z)', re.DOTALL)
_LINE_END = late(r"<br\s*/?>")
_HEADED = late(
    r'<div class="header-cell[^"]*">\s*<h3>(.*?)</h3>(.*?)</div>\s*<div class="content-cell[^"]*">(.*)',
    re.DOTALL,
)
_PARAGRAPH = late(r"<p\b[^<>]{0,500}>(.*?)</p>", re.DOTALL)
_UNSEEN = late(r"<(script|style|template|noscript)\b.*?</\1>", re.DOTALL)
_MONTH_FIRST = late(r"([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}:\d\d:\d\d) ?([AP]M) (\S+)")
_DAY_FIRST = late(r"(\d{1,2}) ([A-Z][a-z]{2})[a-z]* (\d{4}),? (\d{1,2}:\d\d:\d\d) (\S+)")
_FIRST_CELL_BYTES, _CELL_BYTES = 1 << 22, 4_096


def is_takeout_page(data: Buffer) -> bool:
    """True for a page of activities with Gemini. Such pages of other products hold no conversation."""
    at = bytes(data[:_FIRST_CELL_BYTES]).find(_CELL)
    return at >= 0 and _OF_GEMINI.search(bytes(data[at : at + _CELL_BYTES])) is not None


def takeout_entries(data: Buffer) -> Iterator[dict[str, Any]]:
    """Entries of a page in the shape that they have in JSON, one after another."""
    at = data.find(_CELL)
    while at >= 0:
        end = data.find(_CELL, at + 1)
        cell = decoded(bytes(data[at : end if end >= 0 else len(data)]))
        at = end
        if (headed := _HEADED.search(cell)) is not None:
            yield _headed(headed)
            continue
        header, body = _HEADER.search(cell), _BODY.search(cell)
        lines = _LINE_END.split(body[1]) if body is not None else [""]
        times = (place for place, line in enumerate(lines) if place and _page_time(line))
        place = next(times, min(1, len(lines) - 1))
        yield {
            "header": _bare(header[1]) if header is not None else "",
            "title": "\n".join(map(_bare, lines[:place] or lines)),
            "time": _page_time(lines[place]),
            "safeHtmlItem": [{"html": "<br>".join(lines[place + 1 :])}],
        }


def _headed(cell: re.Match[str]) -> dict[str, Any]:
    """An entry with its act and its time in a head of its own, and each thing that was said in a paragraph."""
    act, time = ([*map(_bare, _PARAGRAPH.findall(cell[2])), "", ""])[:2]
    said = _PARAGRAPH.findall(_UNSEEN.sub("", cell[3]))
    return {
        "header": _bare(cell[1]),
        "title": f"{act} {_bare(said[0])}" if said else "",
        "time": _page_time(time),
        "safeHtmlItem": [{"html": "<br>".join(said[1:])}] if said[1:] else [],
    }


def _page_time(line: str) -> str | None:
    """A time as the page spells it in English; None for all else."""
    text = " ".join(_bare(line).split())
    if (found := _MONTH_FIRST.fullmatch(text)) is not None:
        month, day, year, clock, half, zone = found.groups()
        hour, _, rest = clock.partition(":")
        clock = f"{int(hour) % 12 + (12 if half == 'PM' else 0):02}:{rest}"
    elif (found := _DAY_FIRST.fullmatch(text)) is not None:
        day, month, year, clock, zone = found.groups()
    else:
        return None
    try:
        return parsedate_to_datetime(f"{day} {month} {year} {clock} {zone}").isoformat()
    except (ValueError, TypeError):
        return None


_VERB = late(r"(?:Prompted with:|Asked (?:Gemini|Bard):|Prompted|Asked|Said|Branched|Answered)\s+")
_ACT = late(
    r"(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned|Renamed|Exported|Updated)\s"
)
_ATTACHED = late(r"\s*Attached \d+ files?\.?\s*$")


def _asked(found: Mapping[str, Any], *, has_answer: bool) -> str:
    """The person's words in an entry's title, empty where it is another activity. A verb of another language stays."""
    names = [word(found.get("header")), *map(word, items(found.get("products")))]
    title = word(found.get("title")).strip()
    if not any("gemini" in name.lower() or "bard" in name.lower() for name in names) or _ACT.match(title):
        return ""
    if (verb := _VERB.match(title)) is None and not has_answer:
        return ""
    return _ATTACHED.sub("", title[verb.end() :] if verb is not None else title).strip()


def _bare(text: str) -> str:
    """Text of a piece of a page."""
    return clean(html.unescape(_TAG.sub("", _BREAK.sub("\n", text)))).strip()


def read_zed(element: msgspec.Raw | Any) -> Transcript:
    """A thread of Zed, of its present shape and the two before."""
    found = as_object(element, "Zed")
    talk = TalkBuilder()
    talk.title, talk.at = word(found.get("title")) or word(found.get("summary")), found.get("updated_at")
    model = found["model"].get("model") if isinstance(found.get("model"), dict) else ""
    given = found["messages"] if isinstance(found.get("messages"), list) else []
    if isinstance(found.get("text"), str):
        _zed_text(talk, found["text"], given)
        return talk.transcript()
    for one in given:
        if not isinstance(one, dict):
            continue
        for name, role in (("User", "user"), ("Agent", "assistant")):
            if isinstance(one.get(name), dict):
                talk.say(role, _zed_parts(one[name]), model=model)
        if one.get("role") in ("user", "assistant"):
            talk.say(one["role"], _zed_old_parts(one), model=model)
        elif one.get("role") == "system":
            talk.skipped["system texts"] += 1
    if not talk.messages:
        raise ValueError(tr("this is not a thread of Zed"))
    return talk.transcript()


def _zed_parts(message: Mapping[str, Any]) -> Iterator[Part]:
    for one in items(message.get("content")):
        if not isinstance(one, dict):
            continue
        thought, use, mention = one.get("Thinking"), one.get("ToolUse"), one.get("Mention")
        if (text := word(one.get("Text"))).strip():
            yield TextPart(text)
        elif isinstance(thought, dict) and word(thought.get("text")).strip():
            yield ReasoningPart(word(thought["text"]))
        elif isinstance(use, dict):
            given = spelled(use.get("input"))
            yield ToolCallPart(call_id=word(use.get("id")), name=word(use.get("name")), arguments_json=given)
        elif isinstance(mention, dict):
            yield from _zed_mention(mention)
    yield from _zed_results(mapping(message.get("tool_results")).values())


def _zed_mention(mention: Mapping[str, Any]) -> Iterator[Part]:
    """Thing that a person named in their words: a file by its name alone, for its text is not theirs; else what it says."""
    file = mapping(mapping(mention.get("uri")).get("File"))
    name = re.split(r"[/\\]", word(file.get("abs_path")))[-1]
    if name:
        yield AttachmentPart(sha256="", media_type="application/octet-stream", name=name, size_bytes=0)
    elif (said := word(mention.get("content"))).strip():
        yield TextPart(said)


def _zed_old_parts(message: Mapping[str, Any]) -> Iterator[Part]:
    """A message of a thread before version 0.3, its tools beside its words."""
    if word(message.get("text")).strip():
        yield TextPart(word(message["text"]))
    for one in items(message.get("segments")):
        if isinstance(one, dict) and (text := word(one.get("text"))).strip():
            yield ReasoningPart(text) if one.get("type") == "thinking" else TextPart(text)
    for one in items(message.get("tool_uses")):
        given = spelled(mapping(one).get("input"))
        name = word(mapping(one).get("name"))
        yield ToolCallPart(call_id=word(mapping(one).get("id")), name=name, arguments_json=given)
    yield from _zed_results(items(message.get("tool_results")))


def _zed_results(given: Iterable[Any]) -> Iterator[Part]:
    for one in map(mapping, given):
        content = one.get("content")
        pieces = [
            piece.get("Text") if isinstance(piece, dict) else piece for piece in items(content) or [content]
        ]
        told = "\n".join(piece for piece in pieces if isinstance(piece, str) and piece.strip())
        if told:
            is_error = one.get("is_error") is True
            yield ToolResultPart(call_id=word(one.get("tool_use_id")), text=clean(told), is_error=is_error)


def _zed_text(talk: TalkBuilder, text: str, given: Iterable[Any]) -> None:
    """A text thread: one text, and where each message begins in it."""
    data = text.encode()
    marks = [one for one in given if isinstance(one, dict) and type(one.get("start")) is int]
    ends = [one["start"] for one in marks[1:]] + [len(data)]
    for one, end in zip(marks, ends, strict=True):
        about = mapping(one.get("metadata")) or one
        words = data[max(0, one["start"]) : max(0, end)].decode("utf-8", "replace").strip()
        role = word(about.get("role")).lower()
        if words and role in {"user", "assistant"}:
            talk.say(role, (TextPart(clean(words)),))


def read_cherry(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Topics of a backup of Cherry Studio, their words in blocks beside them."""
    try:
        found = from_json(buffer, Any)
    except (msgspec.DecodeError, ValueError):
        yield Unread(place="", why=tr("the file is not JSON"), remedy=tr("Make the backup again"))
        return
    base = found.get("indexedDB") if isinstance(found, dict) else None
    base = base if isinstance(base, dict) else {}
    blocks = {
        one["id"]: one
        for one in items(base.get("message_blocks"))
        if isinstance(one, dict) and isinstance(one.get("id"), str)
    }
    names = _cherry_names(mapping(mapping(found).get("localStorage")).get("persist:cherry-studio"))
    for topic in items(base.get("topics")):
        if not isinstance(topic, dict):
            continue
        talk = TalkBuilder()
        talk.id = word(topic.get("id"))
        talk.title = word(topic.get("name")) or names.get(talk.id, "")
        for one in items(topic.get("messages")):
            if isinstance(one, dict) and one.get("role") in ("user", "assistant"):
                _cherry_message(talk, one, blocks)
        if talk.messages:
            yield talk.transcript()


def _cherry_message(
    talk: TalkBuilder, one: Mapping[str, Any], blocks: Mapping[str, Mapping[str, Any]]
) -> None:
    """A message of a topic. Several models may answer one question; the one that the person unfolded goes on."""
    own = [blocks[key] for key in items(one.get("blocks")) if isinstance(key, str) and key in blocks]
    talk.skipped[NOTES] += sum(block.get("type") == "error" for block in own)
    parts = [part for block in own for part in _cherry_part(block)] or list(_spoken(one.get("content")))
    model = word(mapping(one.get("model")).get("name")) or word(one.get("modelId"))
    asked, before = word(one.get("askId")), talk.last
    above = talk.messages.get(before)
    is_another = above is not None and above.role == "assistant" and above.parent == asked != ""
    if is_another:
        talk.last = asked
    talk.say(one["role"], parts, key=one.get("id"), at=one.get("createdAt"), model=model)
    if is_another and one.get("foldSelected") is not True:
        talk.last = before


def _cherry_names(kept: Any) -> dict[str, str]:
    """Names of topics, which stand in the settings of the program: JSON within JSON."""
    try:
        slices = mapping(read_json(kept)) if isinstance(kept, str) else {}
        told = slices.get("assistants")
        held = mapping(read_json(told)) if isinstance(told, str) else mapping(told)
    except (ValueError, RecursionError):
        return {}
    topics = (one for helper in items(held.get("assistants")) for one in items(mapping(helper).get("topics")))
    return {word(mapping(one).get("id")): word(mapping(one).get("name")) for one in topics}


def _cherry_part(block: Mapping[str, Any]) -> Iterator[Part]:
    kind, text = block.get("type"), word(block.get("content"))
    if kind == "code" and text.strip():
        yield TextPart(f"```{word(block.get('language'))}\n{text}\n```")
    elif kind in ("main_text", "translation", "compact") and text.strip():
        yield TextPart(text)
    elif kind == "thinking" and text.strip():
        yield ReasoningPart(text)
    elif kind == "tool":
        given = spelled(block.get("arguments"))
        key = word(block.get("toolId"))
        yield ToolCallPart(call_id=key, name=word(block.get("toolName")), arguments_json=given)
        if block.get("content") is not None:
            yield ToolResultPart(call_id=key, text=spelled(block["content"]))
    elif kind in ("image", "file"):
        yield from files_named([block])
