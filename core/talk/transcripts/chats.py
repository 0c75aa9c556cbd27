"""Chats of other programs: Open WebUI, LibreChat, LM Studio, Cherry Studio, Zed, ShareGPT, Gemini of Google Takeout."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from core.kernel.decoders import from_json
from core.kernel.frame import clean
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.agents import TalkBuilder, items, mapping, spelled, texts, word
from core.talk.transcripts.text import Buffer, moment

_THINKING = re.compile(
    r"<details type=\"reasoning\"[^>]*>\s*<summary>.*?</summary>(.*?)</details>\s*", re.DOTALL
)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_BREAK = re.compile(r"<(?:br|/p|/li|/h[1-6]|/div|/tr)\b[^<>]{0,200}>", re.IGNORECASE)


def _given(element: msgspec.Raw | Any, name: str) -> dict[str, Any]:
    """An element as plain data. Raises ValueError: it is none of that program."""
    try:
        found = from_json(element, Any) if isinstance(element, msgspec.Raw) else element
    except msgspec.DecodeError as error:
        raise ValueError(f"it is no conversation of {name}") from error
    if isinstance(found, dict):
        return found
    raise ValueError(f"it is no conversation of {name}")


def _spoken(text: Any) -> tuple[Part, ...]:
    """Words, with thoughts in a fold told apart."""
    words = texts(text)
    thoughts = [clean(html.unescape(one)).strip() for one in _THINKING.findall(words)]
    rest = _THINKING.sub("", words) if thoughts else words
    parts: list[Part] = [ReasoningPart(one) for one in thoughts if one]
    return (*parts, TextPart(clean(rest))) if rest.strip() else tuple(parts)


def _files(given: Any) -> Iterator[AttachmentPart]:
    for one in given if isinstance(given, list) else ():
        inner = one.get("file") if isinstance(one, dict) and isinstance(one.get("file"), dict) else one
        names = (inner.get(key) for key in ("name", "filename")) if isinstance(inner, dict) else ()
        name = next((word(value) for value in names if isinstance(value, str)), "")
        if name:
            yield AttachmentPart(sha256="", media_type="application/octet-stream", name=name, size_bytes=0)


def read_open_webui(element: msgspec.Raw | Any) -> Transcript:
    """A chat of Open WebUI: a tree of messages, the path that was seen last by its end."""
    found = _given(element, "Open WebUI")
    chat = mapping(found.get("chat")) or found
    history = mapping(chat.get("history"))
    nodes = mapping(history.get("messages"))
    if not nodes and isinstance(chat.get("messages"), list):
        nodes = {
            str(one.get("id", n)): one for n, one in enumerate(chat["messages"]) if isinstance(one, dict)
        }
    if not nodes:
        raise ValueError("it is no conversation of Open WebUI")
    messages = [
        TranscriptMessage(
            id=key,
            role=word(one.get("role")),
            parts=(*_spoken(one.get("content")), *_files(one.get("files"))),
            parent=word(one.get("parentId")),
            at=moment(one.get("timestamp")),
            model=word(one.get("model")) if one.get("role") == "assistant" else "",
        )
        for key, one in nodes.items()
        if isinstance(one, dict)
    ]
    return _tree(found, chat, messages, word(history.get("currentId")))


def _tree(
    found: Mapping[str, Any], chat: Mapping[str, Any], messages: list[TranscriptMessage], current: str
) -> Transcript:
    talk = TalkBuilder()
    talk.messages = {one.id: one for one in messages}
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
    found = _given(element, "LibreChat")
    messages, left = list[TranscriptMessage](), [(one, "") for one in reversed(items(found.get("messages")))]
    if not left:
        raise ValueError("it is no conversation of LibreChat")
    last = ""
    while left:
        one, above = left.pop()
        if not isinstance(one, dict):
            continue
        key = word(one.get("messageId")) or f"#{len(messages) + 1}"
        parent = word(one.get("parentMessageId")) or above
        is_own = one.get("isCreatedByUser") is True or word(one.get("sender")).lower() == "user"
        told = _spoken(one["text"]) if word(one.get("text")).strip() else _librechat_parts(one.get("content"))
        messages.append(
            TranscriptMessage(
                id=key,
                role="user" if is_own else "assistant",
                parts=(*told, *_files(one.get("files"))),
                parent=parent or last,
                at=moment(one.get("createdAt")),
                model="" if is_own else word(one.get("model")) or word(one.get("sender")),
            )
        )
        last = key
        children = one["children"] if isinstance(one.get("children"), list) else []
        left += [(child, key) for child in reversed(children)]
    return _tree(found, found, messages, "")


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
            name = word(call.get("name"))
            yield ToolCallPart(
                call_id=word(call.get("id")), name=name, arguments_json=spelled(call.get("args"))
            )
            if isinstance(call.get("output"), str):
                yield ToolResultPart(call_id=word(call.get("id")), text=clean(call["output"]))


def read_lm_studio(element: msgspec.Raw | Any) -> Transcript:
    """A conversation of LM Studio: each message in versions, of which one is chosen."""
    found = _given(element, "LM Studio")
    talk = TalkBuilder()
    talk.title, talk.at = word(found.get("name")), found.get("createdAt")
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
        talk.say(role, parts, model=sender.get("senderName"))
    if not talk.messages:
        raise ValueError("it is no conversation of LM Studio")
    return talk.transcript()


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
    found = _given(element, "ShareGPT")
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
        role = _SHARED.get(who)
        if role is None:
            talk.skipped["system texts" if who == "system" else "messages of unknown speakers"] += 1
            continue
        parts = _spoken(one.get("value", one.get("content", one.get("markdown"))))
        if who in {"tool", "function_response", "observation"}:
            parts = (ToolResultPart(call_id="", text=texts(one.get("value", one.get("content")))),)
        talk.say(role, parts, at=one.get("timestamp"), model=found.get("model"))
    if not talk.messages:
        raise ValueError("nothing is said in it")
    return talk.transcript()


_SHARED = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "model", "chatgpt", "bard", "bing", "claude"), "assistant"),
    **dict.fromkeys(("function_call", "tool", "function_response", "observation"), "assistant"),
}


def read_takeout(element: msgspec.Raw | Any) -> Transcript:
    """An entry of Google's list of activities: one question to Gemini, and its answer."""
    found = _given(element, "Gemini")
    asked = word(found.get("title")).removeprefix("Prompted ").strip()
    if not asked or not word(found.get("title")).startswith("Prompted"):
        raise ValueError("it is an activity and no question to Gemini")
    talk = TalkBuilder()
    talk.at = found.get("time")
    names = _files([{"name": one} for one in items(found.get("attachedFiles")) if isinstance(one, str)])
    talk.say("user", (TextPart(asked), *names), at=found.get("time"))
    answer = "\n\n".join(
        _bare(one["html"])
        for one in items(found.get("safeHtmlItem"))
        if isinstance(one, dict) and isinstance(one.get("html"), str)
    )
    if answer.strip():
        talk.say("assistant", (TextPart(answer),), at=found.get("time"), model="Gemini")
    return talk.transcript()


def _bare(text: str) -> str:
    """Text of a piece of a page."""
    return clean(html.unescape(_TAG.sub("", _BREAK.sub("\n", text)))).strip()


def read_zed(element: msgspec.Raw | Any) -> Transcript:
    """A thread of Zed, of its present shape and the two before."""
    found = _given(element, "Zed")
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
        if isinstance(one.get("segments"), list) and one.get("role") in {"user", "assistant"}:
            words = texts(one["segments"])
            talk.say(one["role"], (TextPart(clean(words)),) if words.strip() else (), model=model)
    if not talk.messages:
        raise ValueError("it is no thread of Zed")
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
        elif isinstance(mention, dict) and word(mention.get("content")).strip():
            yield TextPart(word(mention["content"]))
    results = message.get("tool_results")
    for key, one in mapping(results).items():
        content = mapping(one).get("content")
        told = content.get("Text") if isinstance(content, dict) else content
        if isinstance(told, str) and told.strip():
            is_error = mapping(one).get("is_error") is True
            yield ToolResultPart(call_id=clean(key), text=clean(told), is_error=is_error)


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
        yield Unread(place="the file", why="it is no JSON", remedy="Make the backup again")
        return
    base = found.get("indexedDB") if isinstance(found, dict) else None
    base = base if isinstance(base, dict) else {}
    blocks = {
        one["id"]: one
        for one in items(base.get("message_blocks"))
        if isinstance(one, dict) and isinstance(one.get("id"), str)
    }
    for topic in items(base.get("topics")):
        if not isinstance(topic, dict):
            continue
        talk = TalkBuilder()
        talk.id, talk.title = word(topic.get("id")), word(topic.get("name"))
        for one in items(topic.get("messages")):
            if not isinstance(one, dict) or one.get("role") not in {"user", "assistant"}:
                continue
            own = [blocks[key] for key in items(one.get("blocks")) if isinstance(key, str) and key in blocks]
            parts = [part for block in own for part in _cherry_part(block)] or list(
                _spoken(one.get("content"))
            )
            model = one["model"].get("name") if isinstance(one.get("model"), dict) else ""
            talk.say(one["role"], parts, key=one.get("id"), at=one.get("createdAt"), model=model)
        if talk.messages:
            yield talk.transcript()


def _cherry_part(block: Mapping[str, Any]) -> Iterator[Part]:
    kind, text = block.get("type"), word(block.get("content"))
    if kind in {"main_text", "code", "translation"} and text.strip():
        yield TextPart(text)
    elif kind == "thinking" and text.strip():
        yield ReasoningPart(text)
    elif kind == "tool":
        given = spelled(block.get("arguments"))
        yield ToolCallPart(
            call_id=word(block.get("toolId")), name=word(block.get("toolName")), arguments_json=given
        )
        yield ToolResultPart(call_id=word(block.get("toolId")), text=spelled(block.get("content")))
    elif kind in {"image", "file"}:
        yield from _files([block])
