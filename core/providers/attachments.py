"""Attached files as the vendors take them: pictures as data URLs, texts as text, anything else refused by name."""

from __future__ import annotations

import base64

from core.base.errors import FailureKind, ProviderError
from core.base.frame import frame
from core.base.text import clean
from core.values.messages import AttachmentPart


def attachment_text(part: AttachmentPart, data: bytes) -> str | None:
    """The text of an attached file with its name around it, None where it is not text (UTF-8, no NUL).

    Same file, same name, same text: it stands in the prefix of every later turn. Nothing in it can close its tag.
    """
    if part.is_image or b"\0" in data:
        return None
    try:
        text = clean(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None
    return frame("attachment", text, name=part.name).removesuffix("\n")


def data_url(part: AttachmentPart, data: bytes) -> str:
    """The file inside a URL."""
    return f"data:{part.media_type};base64,{base64.b64encode(data).decode('ascii')}"


def refuse_attachment(part: AttachmentPart, who: str) -> ProviderError:
    """The error for a file that a model cannot take. Nothing was sent.

    Args:
        who: the model, as the person knows it.
    """
    return ProviderError(
        FailureKind.BAD_REQUEST,
        f"{who} cannot take the attachment {part.name!r} ({part.media_type})",
        remedy="Remove it, or choose a model that takes it",
    )
