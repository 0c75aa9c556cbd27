"""Conversations of a Claude export: `conversations.json`, each with `chat_messages` that name their parents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from core.base.decoders import from_builtins, from_json
from core.base.text import clean
from core.transcripts.blocks import parts_of
from core.transcripts.identity import content_id
from core.transcripts.text import moment
from core.values.messages import AttachmentPart, TextPart
from core.values.transcript import Transcript, TranscriptMessage

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


class _ChatWithMessages(msgspec.Struct):
    chat_messages: list[Any]
    uuid: Any = ""
    name: Any = ""
    created_at: Any = None
    current_leaf_message_uuid: Any = None


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
        raise ValueError("it is no conversation of Claude") from error
    skipped: Counter[str] = Counter()
    messages = tuple(_messages(found.chat_messages, skipped))
    known = {one.id for one in messages}
    leaf = found.current_leaf_message_uuid
    last = leaf if isinstance(leaf, str) and leaf in known else messages[-1].id if messages else ""
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


def _messages(given: Sequence[Any], skipped: Counter[str]) -> Iterable[TranscriptMessage]:
    last, seen = "", set[str]()
    for number, one in enumerate(given, 1):
        role = _ROLES.get(str(one.get("sender"))) if isinstance(one, dict) else None
        if role is None:
            skipped["messages that cannot be read"] += 1
            continue
        parts = parts_of(one.get("content"), skipped)
        text = one.get("text")
        if not parts and isinstance(text, str) and text.strip():
            parts = (TextPart(clean(text)),)
        parts += tuple(_files(one))
        key = one.get("uuid")
        key = key if isinstance(key, str) and key and key not in seen else f"#{number}"
        if not parts:
            skipped["empty messages"] += 1
        parent = one.get("parent_message_uuid")
        above = (
            parent if isinstance(parent, str) and parent in seen else "" if isinstance(parent, str) else last
        )
        yield TranscriptMessage(key, role, parts, above, moment(one.get("created_at")))
        seen.add(key)
        last = key


def _files(message: dict[str, Any]) -> Iterable[AttachmentPart | TextPart]:
    for key in ("attachments", "files"):
        given = message.get(key)
        for one in given if isinstance(given, list) else ():
            name = one.get("file_name") if isinstance(one, dict) else None
            if not isinstance(name, str):
                continue
            size, kind = one.get("file_size"), one.get("file_type")
            media = clean(kind) if isinstance(kind, str) and "/" in kind else "application/octet-stream"
            yield AttachmentPart("", media, clean(name), size if type(size) is int and size >= 0 else 0)
            content = one.get("extracted_content")
            if isinstance(content, str) and content.strip():
                yield TextPart(clean(content))
