"""Passages that were said in a conversation, and other logs that repeat one of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from core.kernel.decoders import read_json

LEAST_CHARS, LEAST_WORDS = 24, 4
"""Of a passage that tells where it is from: shorter ones stand everywhere."""

_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_SAID = frozenset({"message", "edit"})


def passages(log: bytes) -> frozenset[str]:
    """Lines and sentences of what was said in a log: no results of tools, which are a file's words. O(log)."""
    records = (record for record in _records(log) if record.get("type") in _SAID)
    return frozenset(piece for record in records for text in _said(record) for piece in _pieces(text))


def repeats(log: bytes, wanted: Collection[str]) -> bool:
    """True if one of the passages stands in a log, wherever in a record. O(log)."""
    if not wanted:
        return False
    return any(
        piece in wanted for record in _records(log) for text in _strings(record) for piece in _pieces(text)
    )


def _records(log: bytes) -> Iterator[dict[str, Any]]:
    for line in log.splitlines():
        try:
            record = read_json(line)
        except ValueError:
            continue  # torn: no text can be told in it
        if isinstance(record, dict):
            yield record


def _said(record: dict[str, Any]) -> Iterator[str]:
    parts = record.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]
    if isinstance(record.get("text"), str):
        yield record["text"]


def _strings(value: Any) -> Iterator[str]:
    """Every text in a record."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _pieces(text: str) -> Iterator[str]:
    for piece in _ENDS.split(text):
        words = piece.strip(" \t>*-#").casefold().split()
        said = " ".join(words)
        if len(said) >= LEAST_CHARS and (len(words) >= LEAST_WORDS or not said.isascii()):
            yield said
