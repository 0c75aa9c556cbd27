"""Wire formats' common parts: canonical JSON, attachments as bytes, which turn is unfinished, calls out of a model's own dress."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from core.kernel.codecs import DECODER, canonical_json, loose_object, read_json
from core.kernel.errors import FailureKind, ProviderError, StorageError
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.patterns import late
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

# Wire formats' common parts: canonical JSON, attachments as bytes, which turn is unfinished.


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
    """Arguments of a call as an object; anything else goes as the text that it is."""
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
            tr("The program cannot read the attachment {name!r}: {what}", name=part.name, what=error.what),
            remedy=tr("Remove the attachment from the message, or attach the file again"),
            where=error.where,
        ) from error


# Calls of tools out of the dress that models and servers give them: the name that was offered, arguments as
# an object.

_WORD = late(r"[\w-]+")
_FENCE = late(r"\A\s*```[a-z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_LEFTOVER = r"<\|[^<>|\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|</?[\w:-]{1,40}>|\[/?[A-Z_]{2,20}\]"
_AROUND = late(
    rf"\A\s*(?:(?:json|arguments|args|input|parameters)\s*[:=]?|```[a-z]*|{_LEFTOVER}|\s)*(\{{.*\}})"
    rf"(?:\s|```|{_LEFTOVER})*(?:<[|/｜]?[\w|｜]{{0,40}})?\Z",
    re.DOTALL,
)
_MOST_NAME = 500
_NOTHING = frozenset(["", "None", "undefined", "nil"])
_MOST_LITERAL = 20_000
"""Characters of arguments that are read as Python writes them."""
_MOST_STARTS = 50
"""Places that are looked at for the begin of arguments that were begun twice."""


def plain_name(name: str, tools: Collection[str]) -> str:
    """The offered tool that a name means, by the one word in it that is a tool's; the name itself where it means none.

    Around it stand `functions.`, `default_api:`, tokens of a chat template, a number, brackets; or it has another case.
    """
    if name in tools or len(name) > _MOST_NAME:
        return name
    words = set(_WORD.findall(name))
    exact = words & set(tools)
    meant = exact or {tool for tool in tools if _key(tool) in set(map(_key, words))}
    return meant.pop() if len(meant) == 1 else name


def _key(name: str) -> str:
    return name.lower().replace("-", "_")


def plain_arguments(text: str, name: str = "") -> str:
    """Arguments as the text of an object, taken out of what servers put around it; otherwise as they came.

    Args:
        name: of the tool: some models give it once more, with the arguments inside.
    """
    if text.strip() in _NOTHING:
        return "{}"
    if fenced := _FENCE.match(text):
        text = fenced[1]
    if is_object(text):
        return _inside(text, name)
    try:
        value = read_json(text)
    except ValueError:
        return _of_python(text) or _bare(text) or _once(text) or _closed_once(text) or _loose(text) or text
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = read_json(value or "{}")
        except ValueError:
            return text
    if not value:  # null, an empty list: a tool without parameters
        return "{}"
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    return canonical_json(value) if isinstance(value, dict) else text


def _of_python(text: str) -> str:
    """Arguments in the quotes of Python, as JSON; empty for other text."""
    if not text.lstrip().startswith("{") or "'" not in text or len(text) > _MOST_LITERAL:
        return ""
    try:
        value = ast.literal_eval(text.strip())
        return (
            canonical_json(value)
            if isinstance(value, dict) and all(isinstance(k, str) for k in value)
            else ""
        )
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return ""


def _closed_once(text: str) -> str:
    """The object of arguments that were closed more often than they were opened; empty for other text."""
    body = text.lstrip()
    first = _first_object(body)
    return first if first and not body[len(first) :].translate(_CLOSINGS) else ""


def _first_object(text: str) -> str:
    """The object that a text begins with, as it came; empty where it begins with none."""
    try:
        value, end = DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return ""
    return text[:end] if isinstance(value, dict) else ""


_CLOSINGS = str.maketrans("", "", "}] \t\r\n")


def _loose(text: str) -> str:
    """Arguments whose keys have no quotes, or that stand in more braces than one, as JSON; empty for other text."""
    inner = text.strip()
    for _ in range(_MOST_BRACES):
        if not inner.startswith("{{") or not inner.endswith("}}"):
            break
        inner = inner[1:-1].strip()
    if is_object(inner):
        return inner
    try:
        value, end = loose_object(inner)
    except (ValueError, RecursionError):
        return ""
    return canonical_json(value) if end == len(inner) else ""


_MOST_BRACES = 4


def _bare(text: str) -> str:
    """The object out of what a server left around it: the word of a fence, tokens of a template; empty where it holds no object."""
    found = _AROUND.match(text)
    return found[1] if found and is_object(found[1]) else ""


def _inside(text: str, name: str) -> str:
    """Arguments inside a call that was given as its own arguments."""
    if not name or '"arguments"' not in text or '"name"' not in text:
        return text
    value = read_json(text)
    is_call = isinstance(value, dict) and set(value) == {"name", "arguments"} and value["name"] == name
    return canonical_json(value["arguments"]) if is_call and isinstance(value["arguments"], dict) else text


def _once(text: str) -> str:
    """Arguments that came twice: behind an empty object, or behind their own begin; empty where they did not."""
    behind = text.removeprefix("{}").lstrip()
    if behind != text and is_object(behind):
        return behind
    unit = _first_object(text.strip())
    if unit and text.strip() == unit * (len(text.strip()) // len(unit)):
        return unit
    start = 0
    for _ in range(_MOST_STARTS):
        start = text.find("{", start + 1)
        if start < 0 or start * 2 > len(text):
            break
        if text.startswith(text[:start], start) and is_object(text[start:]):
            return text[start:]
    return ""
