"""Calls of tools out of the dress that models and servers give them: the name that was offered, arguments as an object."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from core.kernel.decoders import read_json
from core.services.providers.wire import canonical_json, is_object

_WORD = re.compile(r"[\w-]+")
_FENCE = re.compile(r"\A\s*```[a-z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
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
        return _of_python(text) or _once(text)
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
    """Arguments in the quotes of Python, as JSON; empty where they are none."""
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


def _inside(text: str, name: str) -> str:
    """Arguments inside a call that was given as its own arguments."""
    if not name or '"arguments"' not in text or '"name"' not in text:
        return text
    value = read_json(text)
    is_call = isinstance(value, dict) and set(value) == {"name", "arguments"} and value["name"] == name
    return canonical_json(value["arguments"]) if is_call and isinstance(value["arguments"], dict) else text


def _once(text: str) -> str:
    """Arguments that came twice: behind an empty object, or behind their own begin."""
    behind = text.removeprefix("{}").lstrip()
    if behind != text and is_object(behind):
        return behind
    start = 0
    for _ in range(_MOST_STARTS):
        start = text.find("{", start + 1)
        if start < 0 or start * 2 > len(text):
            break
        if text.startswith(text[:start], start) and is_object(text[start:]):
            return text[start:]
    return text
