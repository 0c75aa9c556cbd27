"""Text that was recalled for a message and stays in a log: emptied where it holds what is forgotten. Pure.

A log is never rewritten but for this: the words of another conversation stand in it, and no word of its own goes. The
line keeps its length, and so does the log: places in it stay what they are.
"""

from __future__ import annotations

import json
import re
from typing import Any

from core.app.forgetting.words import Words
from core.kernel.decoders import read_json
from core.talk.caching.view import TAIL_KIND
from core.talk.discussion.told_turns import RECALLED, TURN_KIND

_RECALLED = re.compile(rb'"retrieved":"[^"]|\\"retrieved\\":\\"(?!\\")')
"""In a record itself, or in the data of one that tells what a turn began with, or what stays behind its words."""

_CUT = b'"kind":"cut"'
_HEAD_CHARS = 100
"""Of a text, by which it is found: what was recalled may have been cut."""


def without_recalled(data: bytes, words: Words) -> bytes:
    """A log without the texts that were recalled in it, where one of them is of what goes; as long as before.

    All of them go then: the model sees this discussion anew in any case, and what one of them says another may.
    """
    data = _without_told(data, words)
    if _RECALLED.search(data) is None:
        return data
    lines = data.split(b"\n")
    found = [(at, *told) for at, line in enumerate(lines) if (told := _recalling(line)) is not None]
    if not any(_is_of(text, words) for _, text, _ in found):
        return data
    for at, _, bare in found:
        lines[at] = _as_long(_json(bare).encode("utf-8", "surrogatepass"), len(lines[at]))
    return b"\n".join(lines)


def _without_told(data: bytes, words: Words) -> bytes:
    """A log whose cuts tell nothing of the journal where entries of conversations that go stand in it."""
    if _CUT not in data:
        return data
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        row = _cut_of(line) if _CUT in line else None
        told = read_json(row["data_json"]) if row is not None else {}
        if row is not None and not set(words.discussions).isdisjoint(told.get("sources", ())):
            bare = _json(told | {"journal": "", "sources": []})
            lines[at] = _as_long(_json(row | {"data_json": bare}).encode("utf-8", "surrogatepass"), len(line))
    return b"\n".join(lines)


def _cut_of(line: bytes) -> dict[str, Any] | None:
    """Row of a cut of a model's view, None for any other line."""
    try:
        row = read_json(line)
        is_one = isinstance(row, dict) and row.get("type") == "view" and row.get("kind") == "cut"
        return row if is_one and isinstance(read_json(row["data_json"]), dict) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _recalling(line: bytes) -> tuple[str, dict[str, Any]] | None:
    """Text that a line's record holds as recalled, and the record without it; None where it holds none."""
    if _RECALLED.search(line) is None:
        return None
    try:
        row = read_json(line)
        if row["type"] == "request":
            text, bare = row[RECALLED], row | {RECALLED: ""}
        elif row["type"] == "view" and row["kind"] == TAIL_KIND:
            data = read_json(row["data_json"])
            text, bare = data[RECALLED], row | {"data_json": _json(data | {RECALLED: ""})}
        elif row["type"] == "view" and row["kind"] == TURN_KIND:
            data = read_json(row["data_json"])
            text = data["told"][RECALLED]
            bare = row | {"data_json": _json(data | {"told": data["told"] | {RECALLED: ""}})}
        else:
            return None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (text, bare) if isinstance(text, str) and text else None


def _as_long(line: bytes, length: int) -> bytes:
    """The line with blanks behind its brace: its last keys, by which it is read quickly, stay where they are."""
    return line[:1] + b" " * (length - len(line)) + line[1:]


def _is_of(text: str, words: Words) -> bool:
    if any(one in text for one in words.discussions):
        return True
    said = " ".join(text.split())
    heads = (" ".join(one.split())[:_HEAD_CHARS] for one in words.texts)
    return any(head in said for head in heads)
