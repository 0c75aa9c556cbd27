"""Chat histories of aider: Markdown that grows by one conversation at each start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.kernel.values.imports import Transcript, TranscriptMessage
from core.kernel.values.messages import TextPart
from core.talk.transcripts.text import Buffer, decoded, lines, moment

_HEAD = re.compile(r"# aider chat started at (\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2})[ \t]*$")


def read(buffer: Buffer) -> Iterator[Transcript]:
    """Conversations of a history, one for each start in which something was said.

    The person's words follow `#### `, the program's own lines start with `>`, the rest is the model's.
    """
    started, said, starts = "", list[str](), dict[str, int]()
    for line in lines(buffer):
        text = decoded(line)
        head = _HEAD.match(text)
        if head is None:
            said.append(text)
            continue
        yield from _conversation(started, said, starts)
        started, said = head[1], []
    yield from _conversation(started, said, starts)


def _conversation(started: str, lines_: list[str], starts: dict[str, int]) -> Iterator[Transcript]:
    """A conversation, if anything was said in it. Two of one second are told apart by their order."""
    count = starts[started] = starts.get(started, 0) + 1
    messages: list[TranscriptMessage] = []
    for role, text in _turns(lines_):
        parent = messages[-1].id if messages else ""
        messages.append(
            TranscriptMessage(id=f"#{len(messages) + 1}", role=role, parts=(TextPart(text),), parent=parent)
        )
    if messages:
        key = f"{started} ({count})" if count > 1 else started
        yield Transcript(id=key, messages=tuple(messages), at=moment(started), current=messages[-1].id)


def _turns(lines_: list[str]) -> Iterator[tuple[str, str]]:
    role, held = "", list[str]()
    for line in (*lines_, None):
        if line is None or line.startswith(">"):
            now = ""
        elif line.startswith("#### "):
            now = "user"
        else:
            now = role if role != "user" or not line.strip() else "assistant"
            now = now or "assistant"
        if now != role or line is None:
            if role and (joined := "\n".join(held).strip()):
                yield role, joined
            role, held = now, []
        if line is not None:
            held.append(line.removeprefix("#### "))
