"""Plain Markdown and text as a conversation: by the lines that name who speaks, else one message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import zip_longest

from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import TextPart
from core.talk.transcripts.text import Buffer, decoded, moment

ONE_SIDE = "texts in which only one side was found (each is one message of yours; leave it out if it is no conversation)"

_USER = ("user", "human", "you", "me", "prompt")
_MODEL = (
    "assistant",
    "ai",
    "chatgpt",
    "claude",
    "gemini",
    "gpt",
    "model",
    "bot",
    "response",
    "cursor",
    "copilot",
    "agent",
)
_ROLES = {**dict.fromkeys(_USER, "user"), **dict.fromkeys(_MODEL, "assistant")}
_NAME = f"({'|'.join(_ROLES)})"
_SPEAKERS = (
    re.compile(rf"#{{1,6}}[ \t]+(?:\*\*)?{_NAME}:?(?:\*\*)?:?[ \t]*()$", re.IGNORECASE),
    re.compile(rf"\*\*{_NAME}\*\*[ \t]*()$", re.IGNORECASE),
    re.compile(rf"\*\*{_NAME}(?::\*\*|\*\*:)[ \t]*(.*)$", re.IGNORECASE),
    re.compile(rf"{_NAME}:(?:[ \t]+(.*))?$", re.IGNORECASE),
)
_MODEL_LINE = re.compile(r"Model: \*\*[^*\n]+\*\*$", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_TITLE = re.compile(r"# ([^\n]{1,300})")
_ID_CHARS = 1_000
_HEAD_CHARS = 4_000
_TERMINAL = re.compile(r"Claude Code v|Welcome to Claude Code")
_NAMED = re.compile(r"(?:# )?Conversation\n(?:[^\n]{0,2000}\n){1,4}?(?:- )?title: ([^\n]{1,300})\n")
_EXPORTS = (
    (
        re.compile(r"# [^\n]{1,2000}\n_Exported on [^\n]{1,200} from Cursor\b"),
        re.compile(r"^---\n\n\*\*(User|Cursor)\*\*\n", re.MULTILINE),
    ),
    (
        re.compile(r"# Conversation\n- conversationId: "),
        re.compile(r"(?:\n\n|^## History)\n\*\*([^*\n]{1,200})\*\*\n", re.MULTILINE),
    ),
    (
        re.compile(r"Conversation\n#{8,}\nconversationId: "),
        re.compile(r"(?:\n\n|^History\n#{8,})\n>> ([^\n]{1,200}):\n", re.MULTILINE),
    ),
)
"""Beginnings of exports (of Cursor, and of LibreChat in two forms), and the lines in them under which somebody speaks."""


def read(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The conversation in a file; all of it is one message of the person's where no two sides speak, which is said."""
    text = decoded(bytes(buffer[:])).strip()
    if not text:
        yield Unread(place="the file", why="nothing is written in it")
        return
    if _is_log(text):
        yield from _logged(text)
        return
    turns = _told(text)
    skipped = {}
    if len({role for role, _ in turns}) < 2:
        turns, skipped = (("user", text),), {ONE_SIDE: 1}
    title = _TITLE.match(text)
    key = sha256(text[:_ID_CHARS].encode("utf-8", "replace")).hexdigest()[:32]
    is_speaker = title is not None and _speaker(title[0]) is not None
    name = title[1].strip() if title is not None and not is_speaker else ""
    if (named := _NAMED.match(text)) is not None:
        name = named[1].strip()
    messages = _straight(turns)
    yield Transcript(id=key, messages=messages, title=name, current=messages[-1].id, skipped=skipped)


def is_export(text: str) -> bool:
    """True for a text that a program wrote, and marked at its top."""
    head = text[:_HEAD_CHARS]
    return _is_log(head) or any(mark.match(head) is not None for mark, _ in _EXPORTS)


def _told(text: str) -> tuple[tuple[str, str], ...]:
    """Turns of a text: who said what, as the program that wrote it marks turns, else by the lines that name who speaks."""
    head = text[:_HEAD_CHARS]
    if _TERMINAL.search(head) is not None and _SAID.search(text) is not None:
        return tuple(_terminal(text))
    for mark, turn in _EXPORTS:
        if mark.match(head) is not None:
            found = tuple(_marked(text, list(turn.finditer(text))))
            if len({role for role, _ in found}) > 1:
                return found
    return tuple(_turns(text))


def _marked(text: str, heads: list[re.Match[str]]) -> Iterator[tuple[str, str]]:
    for head, after in zip_longest(heads, heads[1:]):
        end = after.start() if after is not None else len(text)
        yield from _said("user" if head[1].lower() == "user" else "assistant", [text[head.end() : end]])


def _straight(turns: tuple[tuple[str, str], ...]) -> tuple[TranscriptMessage, ...]:
    return tuple(
        TranscriptMessage(
            id=f"#{number}", role=role, parts=(TextPart(said),), parent=f"#{number - 1}" if number > 1 else ""
        )
        for number, (role, said) in enumerate(turns, 1)
    )


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
    if _MODEL_LINE.match(line) is not None:
        return None
    for pattern in _SPEAKERS:
        if (found := pattern.fullmatch(line)) is not None:
            return _ROLES[found[1].lower()], found[2] or ""
    return None


def _said(role: str, held: list[str]) -> Iterator[tuple[str, str]]:
    words = "\n".join(held).strip()
    words = words.removesuffix("\n---").rstrip() if words != "---" else ""
    if role and words:
        yield role, words


# `llm logs`: an entry a response, under a line with its time.

_LOG = re.compile(
    r"^# (\d{4}-\d{2}-\d{2}T[\d:.+Z-]{5,30})(?:[ \t]+conversation:[ \t]*(\S{1,80})[ \t]+id:[ \t]*\S{1,80})?[ \t]*$",
    re.MULTILINE,
)
_PROMPT = re.compile(r"^## Prompt[ \t]*$", re.MULTILINE)
_RESPONSE = re.compile(r"^## Response[ \t]*$", re.MULTILINE)
_SECTION = re.compile(
    r"^##+ (?:System|System fragments|Prompt fragments|Reasoning|Schema|Tools|Tool calls|Tool results|Attachments|Options)\b[^\n]*$",
    re.MULTILINE,
)
_USAGE = re.compile(r"^#+ Token usage\b", re.MULTILINE)
_LOG_MODEL = re.compile(r"^Model: \*\*([^*\n]{1,200})\*\*", re.MULTILINE)


def _is_log(text: str) -> bool:
    return _LOG.match(text) is not None and "\n## Prompt" in text


def _logged(text: str) -> Iterator[Transcript]:
    heads = list(_LOG.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    talks: dict[str, list[TranscriptMessage]] = {}
    name, model = "", ""
    for head, end in zip(heads, ends, strict=True):
        body = text[head.end() : end]
        name = head[2] or name or head[1]
        messages = talks.setdefault(name, [])
        if (found := _LOG_MODEL.search(body)) is not None:
            model = found[1]
        prompt, response = _PROMPT.search(body), _RESPONSE.search(body)
        asked = (
            body[prompt.end() : response.start() if response is not None else len(body)]
            if prompt is not None
            else ""
        )
        if (cut := _SECTION.search(asked)) is not None:
            asked = asked[: cut.start()]
        answer = body[response.end() :] if response is not None else ""
        if (cut := _USAGE.search(answer)) is not None:
            answer = answer[: cut.start()]
        for role, words in (("user", asked.strip()), ("assistant", answer.strip())):
            if words:
                messages.append(
                    TranscriptMessage(
                        id=f"#{len(messages) + 1}",
                        role=role,
                        parts=(TextPart(words),),
                        parent=messages[-1].id if messages else "",
                        at=moment(head[1]),
                        model=model if role == "assistant" else "",
                    )
                )
    for key, messages in talks.items():
        if messages:
            yield Transcript(id=key, messages=tuple(messages), current=messages[-1].id, at=messages[0].at)


# `/export` of Claude Code: the terminal's page as text.

_SAID = re.compile(r"^[ ]?[⏺●][ ]", re.MULTILINE)


def _terminal(text: str) -> Iterator[tuple[str, str]]:
    role, held = "", list[str]()
    for line in text.split("\n"):
        mark = line.lstrip(" ")[:2]
        if mark in {"❯ ", "> "} and len(line) - len(line.lstrip(" ")) <= 1:
            now = "user"
        elif mark in {"⏺ ", "● "} and len(line) - len(line.lstrip(" ")) <= 1:
            now = "assistant"
        elif line[:1] in {"✻", "✽", "※", "─", "╭", "│", "╰"}:
            now = "end"
        else:
            held.append(line.removeprefix("  "))
            continue
        if role in {"user", "assistant"}:
            yield from _said(role, held)
        role, held = now, [line.lstrip(" ")[2:]]
    if role in {"user", "assistant"}:
        yield from _said(role, held)
