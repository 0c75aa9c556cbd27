"""Conversations of a ChatGPT export: `conversations.json`, each a tree of messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any, cast

import msgspec

from core.kernel.decoders import from_builtins, from_json
from core.kernel.frame import clean
from core.kernel.values.imports import Transcript, TranscriptMessage
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.text import content_id, moment


class _Author(msgspec.Struct):
    role: Any = ""
    name: Any = None


class _Meta(msgspec.Struct):
    attachments: Any = None
    model_slug: Any = None
    is_visually_hidden_from_conversation: Any = None


class _Message(msgspec.Struct):
    author: _Author | None = None
    content: Any = None
    create_time: Any = None
    recipient: Any = None
    metadata: _Meta | None = None


class _Node(msgspec.Struct):
    message: _Message | None = None
    parent: Any = None


class _Conversation(msgspec.Struct):
    mapping: dict[str, _Node]
    title: Any = ""
    create_time: Any = None
    current_node: Any = None
    conversation_id: Any = None
    id: Any = None


class _Loose(msgspec.Struct):
    mapping: dict[str, Any]
    title: Any = ""
    create_time: Any = None
    current_node: Any = None
    conversation_id: Any = None
    id: Any = None


def read(element: msgspec.Raw | Any) -> Transcript:
    """One conversation of an export.

    Args:
        element: raw JSON, or what it decodes to.

    Raises:
        ValueError: it is no conversation of ChatGPT.
    """
    is_raw = isinstance(element, msgspec.Raw)
    skipped: Counter[str] = Counter()
    try:
        try:
            found = _typed(element) if is_raw else from_builtins(element, _Conversation)
            nodes = found.mapping
        except msgspec.ValidationError:
            loose = from_json(element, _Loose) if is_raw else from_builtins(element, _Loose)
            nodes = _sound_nodes(loose.mapping, skipped)
            found = _Conversation(
                mapping=nodes,
                title=loose.title,
                create_time=loose.create_time,
                current_node=loose.current_node,
                conversation_id=loose.conversation_id,
                id=loose.id,
            )
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError("it is no conversation of ChatGPT") from error
    messages = tuple(_messages(nodes, skipped))
    current = _nearest(nodes, found.current_node, {one.id for one in messages})
    given = found.conversation_id or found.id
    return Transcript(
        id=given if isinstance(given, str) and given else content_id(messages, moment(found.create_time)),
        messages=messages if current else tuple(sorted(messages, key=_by_time)),
        title=clean(found.title) if isinstance(found.title, str) else "",
        at=moment(found.create_time),
        current=current,
        skipped=dict(skipped),
    )


def _typed(raw: msgspec.Raw) -> _Conversation:
    return from_json(raw, _Conversation)


def _sound_nodes(mapping: Mapping[str, Any], skipped: Counter[str]) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    for key, value in mapping.items():
        try:
            nodes[key] = from_builtins(value, _Node)
        except msgspec.ValidationError:
            skipped["messages that cannot be read"] += 1
            nodes[key] = _Node(parent=value.get("parent") if isinstance(value, dict) else None)
    return nodes


def _messages(nodes: Mapping[str, _Node], skipped: Counter[str]) -> Iterable[TranscriptMessage]:
    said: dict[str, tuple[Part, ...]] = {}
    for key, node in nodes.items():
        message = node.message
        if message is None:
            continue
        if message.author is not None and (parts := _parts_of(message, message.author, skipped)):
            said[key] = parts
        else:
            skipped["empty messages"] += 1
    for key, parts in said.items():
        node = nodes[key]
        message = cast("_Message", node.message)
        role = cast("_Author", message.author).role
        meta = message.metadata
        model = meta.model_slug if meta is not None else None
        is_hidden = meta is not None and meta.is_visually_hidden_from_conversation is True
        yield TranscriptMessage(
            id=key,
            role=clean(role) if isinstance(role, str) else "",
            parts=parts,
            parent=_nearest(nodes, node.parent, said),
            at=moment(message.create_time),
            model=model if isinstance(model, str) else "",
            is_aside=is_hidden or role == "system",
        )


def _parts_of(message: _Message, author: _Author, skipped: Counter[str]) -> tuple[Part, ...]:
    """Parts of a message; most hold one text and nothing else."""
    content, meta = message.content, message.metadata
    if (
        isinstance(content, dict)
        and content.get("content_type") == "text"
        and (message.recipient is None or message.recipient == "all")
        and author.role != "tool"
        and (meta is None or meta.attachments is None)
        and isinstance(texts := content.get("parts"), list)
        and len(texts) == 1
        and isinstance(text := texts[0], str)
    ):
        return (TextPart(clean(text)),) if text.strip() else ()
    return tuple(_parts(message, author, skipped))


def _nearest(nodes: Mapping[str, _Node], at: Any, given: Container[str]) -> str:
    """The nearest message at a node or above it, empty where there is none."""
    if isinstance(at, str) and at in given:
        return at
    seen: set[str] = set()
    while isinstance(at, str) and at in nodes and at not in seen:
        if at in given:
            return at
        seen.add(at)
        at = nodes[at].parent
    return ""


def _parts(message: _Message, author: _Author, skipped: Counter[str]) -> Iterable[Part]:
    content = message.content if isinstance(message.content, dict) else {}
    recipient = message.recipient if isinstance(message.recipient, str) else "all"
    texts = [clean(text) for text in _texts(content) if text.strip()]
    whole = "\n\n".join(texts)
    if whole and content.get("content_type") in {"thoughts", "reasoning_recap"}:
        yield ReasoningPart(whole)
    elif whole and author.role == "tool":
        yield ToolResultPart(call_id="", text=whole)
    elif whole and recipient != "all":
        yield ToolCallPart(call_id="", name=clean(recipient), arguments_json=whole)
    elif whole:
        yield TextPart(whole)
    for one in content.get("parts") or () if isinstance(content.get("parts"), list) else ():
        if isinstance(one, dict) and isinstance(pointer := one.get("asset_pointer"), str):
            size = one.get("size_bytes")
            kind = "image/png" if "image" in str(one.get("content_type", "")) else "application/octet-stream"
            yield AttachmentPart(
                sha256="",
                media_type=kind,
                name=clean(pointer),
                size_bytes=size if type(size) is int and size >= 0 else 0,
            )
        elif isinstance(one, dict) and "text" not in one:
            skipped["parts of an unknown kind"] += 1
    yield from _attachments(message)


def _texts(content: Mapping[str, Any]) -> Iterable[str]:
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]
    for key in ("text", "result", "content"):
        if isinstance(content.get(key), str):
            yield content[key]
    thoughts = content.get("thoughts")
    for thought in thoughts if isinstance(thoughts, list) else ():
        if isinstance(thought, dict) and isinstance(thought.get("content"), str):
            yield thought["content"]


def _attachments(message: _Message) -> Iterable[AttachmentPart]:
    given = message.metadata.attachments if message.metadata is not None else None
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            kind, size = one.get("mime_type", one.get("mimeType")), one.get("size")
            media = clean(kind) if isinstance(kind, str) else "application/octet-stream"
            yield AttachmentPart(
                sha256="",
                media_type=media,
                name=clean(one["name"]),
                size_bytes=size if type(size) is int and size >= 0 else 0,
            )


def _by_time(message: TranscriptMessage) -> float:
    return message.at.timestamp() if message.at is not None else 0.0
