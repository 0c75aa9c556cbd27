"""Instructions, documents and memories that stand in an export: what a person may want to be known, in pieces as long as an item."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from core.kernel.codecs import from_json
from core.kernel.frame import clean, one_line
from core.kernel.patterns import late
from core.kernel.values.imports import Offered

MAX_BYTES = 64_000_000
MARKS = (b'"conversations_memory"', b'"project_memories"', b'"prompt_template"', b'"account_memory"')
"""Keys by which a file of them is known, in its first bytes."""

PIECE_CHARS = 1_500
"""Characters of a piece; a longer text is cut between paragraphs, lines or words."""
NAME_CHARS = 80

_CUTS = (late(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。！？])\s"), re.compile(r"\s"))


class _Document(msgspec.Struct):
    filename: Any = ""
    content: Any = ""


class _Holder(msgspec.Struct):
    """A project with what it is told, or a person's memories."""

    name: Any = ""
    prompt_template: Any = ""
    docs: list[_Document] = []
    conversations_memory: Any = ""
    account_memory: Any = ""
    project_memories: Any = None


def is_knowledge(head: bytes) -> bool:
    """True for a file that holds instructions, documents or memories, by its first bytes."""
    return any(mark in head for mark in MARKS) and head.lstrip()[:1] in (b"[", b"{")


def knowledge_of(data: bytes) -> tuple[Offered, ...]:
    """Read such a file; nothing is offered where it cannot be read."""
    try:
        found = from_json(data, list[_Holder]) if data.lstrip()[:1] == b"[" else [from_json(data, _Holder)]
    except (msgspec.DecodeError, RecursionError, ValueError):
        return ()
    return tuple(piece for one in found for piece in _offered(one))


def _offered(one: _Holder) -> Iterator[Offered]:
    project = one_line(_text(one.name), NAME_CHARS)
    of = f" of {project}" if project else ""
    yield from pieces(_text(one.prompt_template), f"instructions{of}")
    for document in one.docs:
        named = one_line(_text(document.filename), NAME_CHARS) or "a document"
        yield from pieces(_text(document.content), f"{named}{of}")
    by_project = one.project_memories if isinstance(one.project_memories, dict) else {}
    for memory in (one.conversations_memory, one.account_memory, *by_project.values()):
        yield from pieces(_text(memory), "memory")


def pieces(text: str, source: str) -> Iterator[Offered]:
    """A text as pieces of an item's length. `source`: what it is and where it stands."""
    for piece in _cut(clean(text).strip()):
        yield Offered(text=piece, source=source)


def _cut(text: str) -> Iterator[str]:
    while len(text) > PIECE_CHARS:
        end = next((at for cut in _CUTS if (at := _last(cut.finditer(text, 0, PIECE_CHARS)))), PIECE_CHARS)
        yield text[:end].strip()
        text = text[end:].strip()
    if text:
        yield text


def _last(found: Iterable[re.Match[str]]) -> int:
    """Place at which the last of them begins, 0 for none."""
    last = 0
    for one in found:
        last = one.start()
    return last


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
