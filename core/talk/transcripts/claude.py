"""Conversations of a Claude export: `conversations.json`, each with `chat_messages` that name their parents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from core.kernel.codecs import from_builtins, from_json
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.values.imports import Transcript, TranscriptMessage
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.text import as_json, content_id, moment

# Content blocks in the shape of Anthropic's messages, as Claude Code and the export of Claude write them.


def parts_of(content: Any, skipped: Counter[str]) -> tuple[Part, ...]:
    """Parts of a message's content: a text, or a list of blocks. What is of no known kind is counted."""
    if isinstance(content, list):
        if len(content) == 1:
            only = _part(content[0], skipped)
            return (only,) if only is not None else ()
        return tuple(part for block in content if (part := _part(block, skipped)) is not None)
    return (TextPart(clean(content)),) if _is_said(content) else ()


def _is_said(words: Any) -> bool:
    """True for a text that is not blank; a long one is not copied to see that."""
    return isinstance(words, str) and bool(words) and not words.isspace()


def _part(block: Any, skipped: Counter[str]) -> Part | None:
    if not isinstance(block, dict):
        if isinstance(block, str):
            return TextPart(clean(block)) if _is_said(block) else None
        skipped["parts of an unknown kind"] += 1
        return None
    kind = block.get("type")
    if isinstance(kind, str):
        if (read := _READERS.get(kind)) is not None:
            found, part = read(block)
            if found:
                return part
        elif kind.endswith("_tool_result"):
            return _result(block)[1]
    if (file := _file(block)) is not None:
        return file
    if kind not in _SILENT:
        skipped["parts of an unknown kind"] += 1
    return None


_Reading = tuple[bool, Part | None]
"""True for a block of its kind, with its part; none where nothing is said in it."""


def _text(block: dict[str, Any]) -> _Reading:
    words = block.get("text")
    if not isinstance(words, str):
        return False, None
    if citations := block.get("citations"):
        return True, TextPart(clean(_with_links(words, citations))) if _is_said(words) else None
    return True, TextPart(clean(words)) if _is_said(words) else None


def _thought(block: dict[str, Any]) -> _Reading:
    words = block.get("thinking", block.get("text"))  # the latter as Roo Code has it
    if not isinstance(words, str):
        return False, None
    return True, ReasoningPart(clean(words)) if _is_said(words) else None


def _voice(block: dict[str, Any]) -> _Reading:
    return _text({"text": block.get("text", block.get("transcript"))})


def _call(block: dict[str, Any]) -> _Reading:
    name = block.get("name")
    if not isinstance(name, str):
        return False, None
    if name in _WRITERS and (document := _document(block)) is not None:
        return True, document
    written = as_json(block.get("input"))
    return True, ToolCallPart(call_id=_word(block.get("id")), name=clean(name), arguments_json=clean(written))


def _result(block: dict[str, Any]) -> _Reading:
    content = block.get("content")
    return True, ToolResultPart(
        call_id=_word(block.get("tool_use_id")),
        text=clean(content if isinstance(content, str) else "\n\n".join(_texts(content))),
        is_error=block.get("is_error") is True,
        attachments=tuple(filter(None, map(_file, content))) if isinstance(content, list) else (),
    )


_READERS: dict[str, Callable[[dict[str, Any]], _Reading]] = {
    "text": _text,
    "thinking": _thought,
    "reasoning": _thought,
    "voice_note": _voice,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
}
_WRITERS = frozenset({"artifacts", "create_file"})
"""Tools that write a document beside the words."""

_SILENT = ("token_budget", "flag", "redacted_thinking")
"""Kinds of blocks in which nobody says anything."""


def _with_links(text: str, citations: Any) -> str:
    """A text with the addresses of its sources behind what they stand for."""
    ends: dict[int, list[str]] = {}
    for one in citations if isinstance(citations, list) else ():
        about = one.get("details") if isinstance(one, dict) else None
        url = about.get("url") if isinstance(about, dict) else None
        end = one.get("end_index") if isinstance(one, dict) else None
        if isinstance(url, str) and url.strip() and type(end) is int and 0 < end <= len(text):
            ends.setdefault(end, []).append(url.strip())
    for end in sorted(ends, reverse=True):
        text = f"{text[:end]} ({', '.join(dict.fromkeys(ends[end]))}){text[end:]}"
    return text


def _document(block: dict[str, Any]) -> TextPart | None:
    """A document that the model wrote beside its words, as text with line breaks of its own."""
    given = block.get("input")
    if not isinstance(given, dict):
        return None
    text = given.get("content", given.get("file_text", given.get("new_str")))
    if not isinstance(text, str) or not text.strip():
        return None
    head = next((given[key] for key in ("title", "path", "id") if isinstance(given.get(key), str)), "")
    return TextPart(clean(f"[{block['name']} {head.strip()}]\n\n{text}" if head.strip() else text))


def _file(block: Any) -> AttachmentPart | None:
    """A picture or document, by name alone; None for another block."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in ("image", "document"):
        return None
    source = block.get("source")
    media = source.get("media_type") if isinstance(source, dict) else None
    return AttachmentPart(
        sha256="",
        media_type=_word(media) or "application/octet-stream",
        name=_word(block.get("title")) or str(kind),
        size_bytes=0,
    )


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    if isinstance(content, dict):  # of a tool of the vendor: what it printed, or why it failed
        told = (content.get(key) for key in ("stdout", "stderr", "text", "error_code"))
        yield from (one for one in told if isinstance(one, str) and one)
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and (page := _page(block)):
            yield page
        elif isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]
        elif isinstance(block, str):
            yield block


def _page(block: dict[str, Any]) -> str:
    """A page that a search named: its title, its address, and what of it is there."""
    title, url, text = block.get("title"), block.get("url"), block.get("text")
    if not (isinstance(title, str) and isinstance(url, str) and url.strip()):
        return ""
    head = f"[{title.strip()}]({url.strip()})"
    return f"{head}\n{text}" if isinstance(text, str) and text.strip() else head


def _word(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""


_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


class _ChatWithMessages(msgspec.Struct):
    chat_messages: list[Any]
    uuid: Any = ""
    name: Any = ""
    created_at: Any = None
    current_leaf_message_uuid: Any = None
    model: Any = None


def read(element: msgspec.Raw | Any) -> Transcript:
    """One conversation of an export.

    Args:
        element: raw JSON, or what it decodes to.

    Raises:
        ValueError: it is no conversation of Claude.
    """
    try:
        if isinstance(element, msgspec.Raw):
            found = from_json(element, _ChatWithMessages)
        else:
            found = from_builtins(element, _ChatWithMessages)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(tr("the file is not a conversation of Claude")) from error
    skipped: Counter[str] = Counter()
    messages = tuple(_messages(found.chat_messages, _word(found.model), skipped))
    known = {one.id for one in messages}
    leaf = found.current_leaf_message_uuid
    answered = {one.parent for one in messages}
    ends = [one.id for one in messages if one.id not in answered] or [one.id for one in messages[-1:]]
    last = leaf if isinstance(leaf, str) and leaf in known else ends[-1] if ends else ""
    return Transcript(
        id=found.uuid
        if isinstance(found.uuid, str) and found.uuid
        else content_id(messages, moment(found.created_at)),
        messages=messages,
        title=clean(found.name) if isinstance(found.name, str) else "",
        at=moment(found.created_at),
        current=last,
        skipped=dict(skipped),
    )


_UNSHOWN = re.compile(r"```\n?This block is not supported on your current device yet\.\n?```\s*")
"""Mark of a block that stands in a message's text where the vendor could not write it there."""


def _messages(given: Sequence[Any], model: str, skipped: Counter[str]) -> Iterable[TranscriptMessage]:
    """Messages in the order of their parents; who is nobody's answer follows the one before."""
    known = {one["uuid"] for one in given if isinstance(one, dict) and isinstance(one.get("uuid"), str)}
    last, seen = "", set[str]()
    made: list[TranscriptMessage] = []
    for number, one in enumerate(given, 1):
        role = _ROLES.get(str(one.get("sender"))) if isinstance(one, dict) else None
        if role is None:
            skipped["messages that cannot be read"] += 1
            continue
        parts = parts_of(one.get("content"), skipped)
        if not parts and (text := _UNSHOWN.sub("", _word(one.get("text"))).strip()):
            parts = (TextPart(text),)
        parts += tuple(_files(one))
        key = one.get("uuid")
        key = key if isinstance(key, str) and key and key not in seen else f"#{number}"
        if not parts:
            skipped["empty messages"] += 1
        parent = one.get("parent_message_uuid")
        above = (
            parent
            if isinstance(parent, str) and parent in known and parent != key
            else ""
            if isinstance(parent, str)
            else last
        )
        made.append(
            TranscriptMessage(
                id=key,
                role=role,
                parts=parts,
                parent=above,
                at=moment(one.get("created_at")),
                model=(_word(one.get("model")) or model) if role == "assistant" else "",
            )
        )
        seen.add(key)
        last = key
    return made


def _files(message: dict[str, Any]) -> Iterable[AttachmentPart | TextPart]:
    for key in ("attachments", "files"):
        given = message.get(key)
        for one in given if isinstance(given, list) else ():
            if not isinstance(one, dict):
                continue
            name, content = _word(one.get("file_name")), one.get("extracted_content")
            if not name.strip():  # a text that was pasted has no name, a file without one says nothing
                if isinstance(content, str) and content.strip():
                    yield TextPart(clean(content))
                continue
            size, kind = one.get("file_size"), one.get("file_type")
            media = clean(kind) if isinstance(kind, str) and "/" in kind else "application/octet-stream"
            yield AttachmentPart(
                sha256="",
                media_type=media,
                name=name,
                size_bytes=size if type(size) is int and size >= 0 else 0,
            )
            if isinstance(content, str) and content.strip():
                yield TextPart(clean(content))
