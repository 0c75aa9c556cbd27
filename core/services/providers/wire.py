"""Wire formats' common parts: canonical JSON, attachments as bytes, which turn is unfinished."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from core.kernel.decoders import read_json
from core.kernel.errors import FailureKind, ProviderError, StorageError
from core.kernel.frame import clean
from core.kernel.values.messages import AttachmentPart, ToolCallPart
from core.kernel.values.provider import ModelProfile
from core.services.providers.attachments import (
    attachment_problem,
    attachment_text,
    goes_as_pdf,
    refuse_attachment,
    result_in_words,
)
from core.services.providers.protocol import ReadBlob


def canonical_json(value: object) -> str:
    """JSON with one spelling for the same value: keys sorted, no spaces, text as it is."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sorted_object(text: str) -> dict[str, Any] | None:
    """A JSON object with its keys sorted at every depth, None where the text is no object.

    The SDKs put a dict on the wire in its own order: sorted here, the bytes stay the same from turn to turn.
    """
    try:
        # An escape may hide half a character.
        value = read_json(clean(canonical_json(read_json(text or "{}"))))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_object(text: str) -> bool:
    """True for the text of a JSON object, and for none: as `sorted_object`, for whoever sends the text as it is."""
    return _is_short_object(text) if len(text) <= _SHORT else _is_object(text)


_SHORT = 2_000
"""Characters up to which it is remembered of a text: calls of the past are asked about in every request."""


def _is_object(text: str) -> bool:
    try:
        return isinstance(read_json(text or "{}"), dict)
    except ValueError:
        return False


_is_short_object = lru_cache(maxsize=1_024)(_is_object)


def called_with(part: ToolCallPart) -> dict[str, Any]:
    """Arguments of a call as an object; what is none goes as the text that it is."""
    arguments = sorted_object(part.arguments_json)
    return {"INVALID_JSON": part.arguments_json} if arguments is None else arguments


def attached(part: AttachmentPart, read_blob: ReadBlob, profile: ModelProfile) -> bytes | str:
    """A file as a vendor can take it: the bytes of a picture or a PDF, or a text with its name around it.

    Raises:
        ProviderError: the model does not take it, or the file is gone; nothing was sent.
    """
    who = profile.label or profile.id
    if problem := attachment_problem(part, profile):
        raise refuse_attachment(part, who, problem.rstrip("."))
    if part.is_image or (part.is_pdf and goes_as_pdf(part, profile.pdf)):
        return _read(part, read_blob)
    as_file = (part.as_text or part) if part.is_pdf else part
    text = attachment_text(as_file, _read(as_file, read_blob))
    if text is None:
        raise refuse_attachment(part, who)
    return text


def shown_in_result(part: AttachmentPart, read_blob: ReadBlob, profile: ModelProfile) -> bytes | str:
    """A file in a tool's result as a vendor can take it, its name and size in words where the model cannot.

    Unlike a person's attachment it never keeps a request from going out: nobody could take it off the message.
    """
    try:
        return attached(part, read_blob, profile)
    except ProviderError:
        return result_in_words(part)


def _read(part: AttachmentPart, read_blob: ReadBlob) -> bytes:
    try:
        return read_blob(part.sha256)
    except StorageError as error:
        raise ProviderError(
            FailureKind.BAD_REQUEST,
            f"The attachment {part.name!r} cannot be read: {error.what}",
            remedy="Remove it from the message, or attach the file again",
            where=error.where,
        ) from error
