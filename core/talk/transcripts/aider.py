"""Chat histories of aider: Markdown that grows by one conversation at each start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.kernel.values.imports import Transcript, TranscriptMessage
from core.kernel.values.messages import TextPart
from core.talk.transcripts.text import Buffer, decoded, lines, moment

_HEAD = re.compile(r"# aider chat started at (\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2})[ \t]*$")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,}|<(?:source|code|pre|codeblock|sourcecode)>)")
_OUTPUT_LINES = 2_000
_COMMAND = re.compile(r"/[a-z][\w-]*[ \t]+")
_OWN = re.compile(
    r"> (?:Tokens: |Applied edit to |Commit [0-9a-f]{7}|Added .* to the chat|Aider v\d|Main model: |Model: |Weak model: |"
    r"Repo-map: |Git repo: |Only \d+ reflections|Warning: |You can skip this check)"
)
"""Lines of aider's own that editors may have stripped of the blanks at their ends."""


def read(buffer: Buffer) -> Iterator[Transcript]:
    """Conversations of a history, one for each start in which something was said.

    The person's words follow `#### `, the program's own lines start with `> `; both end with two blanks, by which they are
    told from headings, quotes and edits in a reply. Where no line of a conversation ends so, an editor took the blanks away.
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
    """Words and who said them. Lines of the person's that stand apart are messages of their own."""
    has_blanks = any(line.endswith("  ") and line.startswith(("#### ", "> ")) for line in lines_)
    role, held, last = "", list[str](), ""
    for text, now in _told(lines_, has_blanks=has_blanks):
        if now != role:
            if role and (joined := "\n".join(held).strip()) and not _is_echo(role, joined, last):
                last = joined if role == "user" else ""
                yield role, joined
            role, held = now, []
        held.append(text)


def _told(lines_: list[str], *, has_blanks: bool) -> Iterator[tuple[str, str]]:
    """Each line without its mark, and who speaks in it: empty for the program; a last one ends what was said."""
    fence, role, is_output = "", "", False
    for number, line in enumerate(lines_):
        if is_output:  # of the program, over lines: its last one ends with two blanks
            is_output = not line.endswith("  ")
            continue
        is_own = (line.endswith("  ") or (not has_blanks and not fence)) or _OWN.match(line) is not None
        if has_blanks and not fence and role != "assistant" and _is_long_output(lines_, number):
            is_output, role = True, ""
            yield "", role
        elif line.startswith("#### ") and is_own and not (fence and not has_blanks):
            role, fence = "user", ""
            yield line.removeprefix("#### ").strip(), role
        elif line.startswith(">") and is_own:
            role, fence = "", ""
            yield "", role
        elif role == "user" and not line.strip():
            role = "end"  # a blank line ends the person's words
            yield "", role
        else:
            role = "assistant" if line.strip() or role == "assistant" else role
            mark = _FENCE.match(line)
            if mark is not None:
                fence = "" if fence else mark[1]
            yield line, role
    yield "", "over"


def _is_long_output(lines_: list[str], number: int) -> bool:
    """True for a first line of the program's, of several: the next that ends with two blanks has no mark before it."""
    if not lines_[number].startswith("> ") or lines_[number].endswith("  "):
        return False
    last = next(
        (line for line in lines_[number + 1 : number + 1 + _OUTPUT_LINES] if line.endswith("  ")), "> "
    )
    return not last.startswith((">", "#### "))


def _is_echo(role: str, text: str, last: str) -> bool:
    """True for the program's echo of a command's words, and for what is no speaker."""
    return (role not in {"user", "assistant"} or text == "<blank>") or (
        role == "user" and _COMMAND.sub("", last, count=1) == text != last
    )
