"""The stack as one prompt for Claude Code, which takes a single message of the user: canonical frames, wire order."""

from __future__ import annotations

import base64
from typing import Any

from core.kernel.frame import frame
from core.kernel.values.messages import AttachmentPart, ReasoningPart, ToolCallPart, ToolResultPart, files_of
from core.kernel.values.provider import ModelProfile, ProviderRequest, RequestMessage, RequestPart
from core.kernel.values.stack import Segment
from core.services.providers.compatible.body import join_texts
from core.services.providers.protocol import ReadBlob
from core.services.providers.wire import attached, canonical_json, shown_in_result

Json = dict[str, Any]


def claude_system(request: ProviderRequest) -> str:
    """The system segments as one text."""
    return join_texts(segment.text for segment in request.system)


def claude_input(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> str:
    """The line for standard input: one message that holds a block for each message of the conversation.

    Every message stands between tags, the newest too: its bytes do not change when it becomes an earlier one, layer 8
    apart. Pictures follow the block that they belong to.

    Raises:
        ProviderError: an attachment that the model does not take, or that is gone.
    """
    content = [block for message in request.messages for block in _blocks(message, profile, read_blob)]
    line = {"type": "user", "message": {"role": "user", "content": content}}
    return canonical_json(line) + "\n"


def _blocks(message: RequestMessage, profile: ModelProfile, read_blob: ReadBlob) -> list[Json]:
    texts: list[str] = []
    images: list[Json] = []
    for part in message.parts:
        if not isinstance(part, AttachmentPart):
            texts.append(_text(part))
        is_own = isinstance(part, AttachmentPart)
        for file in files_of((part,)):
            data = (attached if is_own else shown_in_result)(file, read_blob, profile)
            if isinstance(data, str):
                texts.append(data)
            else:
                encoded = base64.b64encode(data).decode("ascii")
                source = {"type": "base64", "media_type": file.media_type, "data": encoded}
                images.append({"type": "image", "source": source})
    return [{"type": "text", "text": frame(message.role.value, join_texts(texts))}, *images]


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
