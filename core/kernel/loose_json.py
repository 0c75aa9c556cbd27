"""Objects as models write them where JSON is meant: keys without quotes, other quotes, words without any, parentheses for braces.

Source: Gemma 4 and FunctionGemma (marks of their own for quotes), Kimi behind gateways, agents' prompts (read 2026-11).
"""

from __future__ import annotations

import json
import re
from typing import Any

from core.kernel.codecs import read_json
from core.kernel.patterns import late

DECODER = json.JSONDecoder(strict=False)
"""Models write line breaks into the strings of their calls."""
DEEPEST = 20
"""Objects within objects that are read."""

_QUOTE = late(r"<\|\"\|>|<escape>|\"|'")
_KEY = late(r"\s*(?:<\|\"\|>|<escape>|[\"'])?([\w.$-]{1,128})(?:<\|\"\|>|<escape>|[\"'])?\s*[:=]\s*")
_BARE_END = late(
    r",(?=\s*(?:<\|\"\|>|[\"'])?[\w.$-]{1,128}(?:<\|\"\|>|[\"'])?\s*[:=])|,(?=\s*[}\])])|\}|\]|\)"
)
_CLOSES = {"{": "}", "(": ")"}
_BLANKS = late(r"\s*")
_COMMA = late(r"\s*,?\s*")


def loose_object(text: str, at: int = 0) -> tuple[dict[str, Any], int]:
    """Keys and values between braces, or those of a call between parentheses, and the place behind them.

    Raises:
        ValueError: the words are no such object, or not a whole one.
    """
    try:
        return _object(text, at, 0)
    except IndexError:
        raise ValueError from None


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The end of a pattern that begins here, else this place."""
    found = pattern.match(text, at)
    return found.end() if found else at


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    """Keys and values between braces, or those of a call between parentheses. Raises ValueError for other text."""
    close = _CLOSES.get(text[at])
    if close is None or depth > DEEPEST:
        raise ValueError
    made: dict[str, Any] = {}
    at = end_of(_BLANKS, text, at + 1)
    if close == ")" and text[at] == "{":
        made, at = DECODER.raw_decode(text, at)
        at = end_of(_BLANKS, text, at)
    while text[at] != close:
        key = _KEY.match(text, at)
        if key is None:
            raise ValueError
        made[key[1]], at = _value(text, key.end(), depth + 1)
        at = end_of(_COMMA, text, at)
    return made, at + 1


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if text[at] == "{":
        return _object(text, at, depth)
    if text[at] == "[":
        return _list(text, at, depth)
    if quote := _QUOTE.match(text, at):
        end = text.index(quote[0], quote.end())
        return text[quote.end() : end], end + len(quote[0])
    bare = _BARE_END.search(text, at)
    if bare is None:
        raise ValueError
    return _word(text[at : bare.start()].strip()), bare.start()


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    made: list[Any] = []
    at = end_of(_BLANKS, text, at + 1)
    while text[at] != "]":
        if depth > DEEPEST:
            raise ValueError
        if text[at] in "{[" or _QUOTE.match(text, at):
            value, at = _value(text, at, depth + 1)
        else:
            end = min(place for place in (text.find(",", at), text.find("]", at)) if place >= 0)
            value, at = _word(text[at:end].strip()), end
        made.append(value)
        at = end_of(_COMMA, text, at)
    return made, at + 1


def _word(text: str) -> Any:
    """A value of JSON, or a word, that stands without quotes."""
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text
