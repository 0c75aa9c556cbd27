"""How Gemini renders a request: system instruction, tools, tool configuration, contents, in blocks.

Source: ai.google.dev "Context caching", "Understand and count tokens" (read 2026-10).
"""

from __future__ import annotations

from tests.vendors.billing.tokens import Texts, as_json, fields, sealed_tokens
from tests.vendors.billing.values import Json

MEDIA_TOKENS = 1_120  # guess: an image at the default resolution of Gemini 3


def prompt(body: Json, texts: Texts) -> list[tuple[int, int]]:
    """Number and tokens of each block, in the order of the prompt."""
    blocks = []
    system = body.get("systemInstruction")
    if system:
        blocks += [_part("system", part, texts) for part in _parts(system)]
    for tool in body.get("tools") or ():
        blocks.append(texts.block("tool", fields(tool)))
    if body.get("toolConfig"):
        blocks.append((texts.setting("tool config", as_json(body["toolConfig"])), 0))
    for content in body.get("contents") or ():
        role = str(content.get("role") or "user")
        for place, part in enumerate(_parts(content)):
            blocks.append(_part(f"{role}{'^' if place == 0 else ''}", part, texts))
    return blocks


def _parts(content: Json | str) -> list[Json]:
    if isinstance(content, str):
        return [{"text": content}]
    return list(content.get("parts") or ())


def _part(kind: str, part: Json, texts: Texts) -> tuple[int, int]:
    if "text" in part:
        return texts.block(f"{kind}{' thought' if part.get('thought') else ''}", str(part["text"]))
    if "inlineData" in part or "fileData" in part:
        return texts.sized(f"{kind} media", fields(part), MEDIA_TOKENS)
    thought = sealed_tokens(str(part.get("thoughtSignature") or ""))
    if thought is None:
        return texts.block(f"{kind} part", fields(part, "thoughtSignature"))
    return texts.sized(f"{kind} part", fields(part), thought + texts.count(fields(part, "thoughtSignature")))
