"""The stack as one prompt for Claude Code, which takes a single message of the user: canonical frames, wire order."""

from __future__ import annotations

import base64
import json
from typing import Any

from core.providers.attachments import attachment_text, refuse_attachment
from core.providers.base import ReadBlob
from core.providers.chat_body import join_texts
from core.stack.frame import frame
from core.values.messages import AttachmentPart, ReasoningPart, ToolCallPart, ToolResultPart
from core.values.provider import ProviderRequest, RequestMessage, RequestPart
from core.values.stack import Segment

Json = dict[str, Any]


def claude_system(request: ProviderRequest) -> str:
    """The system segments as one text."""
    return join_texts(segment.text for segment in request.system)


def claude_input(request: ProviderRequest, read_blob: ReadBlob) -> str:
    """The line for standard input: one message that holds a block for each message of the conversation.

    Every message stands between tags, the newest too: its bytes do not change when it becomes an earlier one, layer 8
    apart. Pictures follow the block that they belong to.

    Raises:
        ProviderError: an attachment that the model cannot take.
        StorageError: an attachment is gone.
    """
    content = [block for message in request.messages for block in _blocks(message, request.model, read_blob)]
    line = {"type": "user", "message": {"role": "user", "content": content}}
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


def _blocks(message: RequestMessage, model: str, read_blob: ReadBlob) -> list[Json]:
    texts: list[str] = []
    images: list[Json] = []
    for part in message.parts:
        if isinstance(part, AttachmentPart):
            data = read_blob(part.sha256)
            text = attachment_text(part, data)
            if text is not None:
                texts.append(text)
            else:
                images.append(_file_block(part, data, model))
        else:
            texts.append(_text(part))
    framed = frame(message.role.value, join_texts(texts))
    return [{"type": "text", "text": framed}, *images]


def _text(part: RequestPart) -> str:
    match part:
        case Segment(text=text):
            return text
        case ToolCallPart(call_id, name, arguments):
            return frame("call", arguments, id=call_id, name=name)
        case ToolResultPart(call_id, text, is_error):
            return frame("result", text, id=call_id, error="yes" if is_error else "")
        case ReasoningPart() | AttachmentPart():
            return ""


def _file_block(part: AttachmentPart, data: bytes, model: str) -> Json:
    kind = "image" if part.is_image else "document"
    if not part.is_image and part.media_type != "application/pdf":
        raise refuse_attachment(part, model)
    source = {"type": "base64", "media_type": part.media_type, "data": base64.b64encode(data).decode("ascii")}
    return {"type": kind, "source": source}
