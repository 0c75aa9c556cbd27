"""Plain Markdown and text as a conversation: by the lines that name who speaks, else one message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import TextPart
from core.talk.transcripts.text import Buffer, decoded

_USER = ("user", "human", "you", "me", "prompt")
_MODEL = ("assistant", "ai", "chatgpt", "claude", "gemini", "gpt", "model", "bot", "response")
_ROLES = {**dict.fromkeys(_USER, "user"), **dict.fromkeys(_MODEL, "assistant")}
_NAME = f"({'|'.join(_ROLES)})"
_SPEAKERS = (
    re.compile(rf"#{{1,6}}[ \t]+(?:\*\*)?{_NAME}:?(?:\*\*)?:?[ \t]*()$", re.IGNORECASE),
    re.compile(rf"\*\*{_NAME}(?::\*\*|\*\*:)[ \t]*(.*)$", re.IGNORECASE),
    re.compile(rf"{_NAME}:(?:[ \t]+(.*))?$", re.IGNORECASE),
)
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_TITLE = re.compile(r"# ([^\n]{1,300})")
_ID_CHARS = 1_000


def read(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The conversation in a file; all of it is one message of the person's where no two sides speak."""
    text = decoded(bytes(buffer[:])).strip()
    if not text:
        yield Unread(place="the file", why="nothing is written in it")
        return
    turns = tuple(_turns(text))
    if len({role for role, _ in turns}) < 2:
        turns = (("user", text),)
    messages = tuple(
        TranscriptMessage(
            id=f"#{number}", role=role, parts=(TextPart(said),), parent=f"#{number - 1}" if number > 1 else ""
        )
        for number, (role, said) in enumerate(turns, 1)
    )
    title = _TITLE.match(text)
    key = sha256(text[:_ID_CHARS].encode("utf-8", "replace")).hexdigest()[:32]
    is_speaker = title is not None and _speaker(title[0]) is not None
    name = title[1].strip() if title is not None and not is_speaker else ""
    yield Transcript(id=key, messages=messages, title=name, current=messages[-1].id)


def _turns(text: str) -> Iterator[tuple[str, str]]:
    role, held, fence = "", list[str](), ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        found = None if fence or mark is not None else _speaker(line)
        if found is None:
            held.append(line)
            continue
        yield from _said(role, held)
        role, held = found[0], [found[1]] if found[1] else []
    yield from _said(role, held)


def _speaker(line: str) -> tuple[str, str] | None:
    for pattern in _SPEAKERS:
        if (found := pattern.fullmatch(line)) is not None:
            return _ROLES[found[1].lower()], found[2] or ""
    return None


def _said(role: str, held: list[str]) -> Iterator[tuple[str, str]]:
    words = "\n".join(held).strip()
    if role and words:
        yield role, words
