"""Content blocks in the shape of Anthropic's messages, as Claude Code and the export of Claude write them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from core.base.text import clean
from core.values.messages import AttachmentPart, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart


def parts_of(content: Any, skipped: Counter[str]) -> tuple[Part, ...]:
    """Parts of a message's content: a text, or a list of blocks. What is of no known kind is counted."""
    if isinstance(content, str):
        return (TextPart(clean(content)),) if content.strip() else ()
    found = (_part(block, skipped) for block in (content if isinstance(content, list) else ()))
    return tuple(part for part in found if part is not None)


def _part(block: Any, skipped: Counter[str]) -> Part | None:
    if isinstance(block, str):
        return TextPart(clean(block)) if block.strip() else None
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in {"text", "thinking"} and isinstance(words := block.get(kind), str):
        made = clean(words)
        return None if not words.strip() else TextPart(made) if kind == "text" else ReasoningPart(made)
    if kind == "tool_use" and isinstance(block.get("name"), str):
        written = json.dumps(block.get("input"), sort_keys=True, ensure_ascii=False)
        return ToolCallPart(_word(block.get("id")), clean(block["name"]), clean(written))
    if kind == "tool_result":
        content = block.get("content")
        answer = clean("\n\n".join(_texts(content)))
        files = tuple(filter(None, map(_file, content if isinstance(content, list) else ())))
        return ToolResultPart(_word(block.get("tool_use_id")), answer, block.get("is_error") is True, files)
    if (file := _file(block)) is not None:
        return file
    skipped["parts of an unknown kind"] += 1
    return None


def _file(block: Any) -> AttachmentPart | None:
    """A picture or document, by name alone; None for another block."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in {"image", "document"}:
        return None
    source = block.get("source")
    media = source.get("media_type") if isinstance(source, dict) else None
    return AttachmentPart(
        "", _word(media) or "application/octet-stream", _word(block.get("title")) or str(kind), 0
    )


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]
        elif isinstance(block, str):
            yield block


def _word(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""
