"""Conversations in Markdown and plain text: chat histories of aider, sessions of SpecStory, lines that name who speaks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import zip_longest

from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from core.talk.transcripts.agents import DETAILS, GREETING, thoughts_apart, typed
from core.talk.transcripts.claude_code import persons
from core.talk.transcripts.text import Buffer, content_id, decoded, lines, moment

# Plain Markdown and text as a conversation: by the lines that name who speaks, else one message.

ONE_SIDE = tr("texts with only one side (each is one message of yours; leave out what is no conversation)")

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
    "github copilot",
    "agent",
)
_ROLES = {**dict.fromkeys(_USER, "user"), **dict.fromkeys(_MODEL, "assistant")}
_NAME = f"({'|'.join(_ROLES)})"
_SIGN = r"[^\w\s\[\](){}<>:*#.,;!?`'\"-]{1,12}"
"""A picture beside a name, as programs put one there."""
_SPEAKERS = (
    late(
        rf"#{{1,6}}[ \t]+(?:{_SIGN}[ \t]+)?(?:\*\*)?{_NAME}:?(?:\*\*)?:?"
        rf"(?:[ \t]+(?:{_SIGN}|\([^()\n]{{1,200}} · [^()\n]{{1,200}}\)))?[ \t]*()$",
        re.IGNORECASE,
    ),
    late(r"#{1,6}[ \t]+🤖[ \t]+()[^\n]{1,300}$"),
    late(rf"\*\*{_NAME}\*\*[ \t]*()$", re.IGNORECASE),
    late(rf"\*\*{_NAME}(?::\*\*|\*\*:)[ \t]*(.*)$", re.IGNORECASE),
    late(rf"{_NAME}:(?:[ \t]+(.*))?$", re.IGNORECASE),
)
_MODEL_LINE = late(r"Model: \*\*[^*\n]+\*\*$", re.IGNORECASE)
_FENCE = late(r"[ \t]{0,3}(`{3,}|~{3,})")
_TITLE = late(r"# ([^\n]{1,300})")
_FRONT = late(r"---\n.*?\n---\s*\n", re.DOTALL)
_WHEN = late(r"\s*<time\b[^<>\n]{0,500}>[^<>\n]{0,200}</time>\s*")
_LEADING_FOLD = late(
    r"\s*(?:<div\b[^<>]{0,500}>\s*)?<details\b[^<>]{0,200}>\s*<summary>[^<]{0,200}</summary>(.*?)</details>\s*(?:</div>\s*)?",
    re.DOTALL,
)
_ANSWER = late(
    r"\s*(?:\*\*Tool Response\*\*:\n|\[Tool(?: \(Error\))?\]\n|\[[\w.-]{1,80} for '[^\n]{0,2000}'\] Result:)"
)
"""Beginning of what a tool answered, where it stands in the person's place."""
_ID_CHARS = 1_000
_HEAD_CHARS = 4_000
_TERMINAL = late(r"Claude Code v|Welcome to Claude Code")
_NAMED = late(r"(?:# )?Conversation\n(?:[^\n]{0,2000}\n){1,4}?(?:- )?title: ([^\n]{1,300})\n")
_EXPORTS = (
    (
        late(r"# [^\n]{1,2000}\n_Exported on [^\n]{1,200} from Cursor\b"),
        late(r"^---\n\n\*\*(User|Cursor)\*\*\n", re.MULTILINE),
    ),
    (
        late(r"# [^\n]{1,2000}\n\s*\*\*User:\*\* [^\n]{0,300}\n\s*\*\*Created:\*\* "),
        late(r"^## (Prompt|Response):[ \t]*$", re.MULTILINE),
    ),
    (
        late(r"# Conversation\n- conversationId: "),
        late(r"(?:\n\n|^## History)\n\*\*([^*\n]{1,200})\*\*\n", re.MULTILINE),
    ),
    (
        late(r"Conversation\n#{8,}\nconversationId: "),
        late(r"(?:\n\n|^History\n#{8,})\n>> ([^\n]{1,200}):\n", re.MULTILINE),
    ),
)
"""Beginnings of exports (of Cursor, of extensions of browsers, and of LibreChat in two forms), and the lines in them under which somebody speaks."""


def read_plain(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The conversation in a file; all of it is one message of the person's where no two sides speak, which is said."""
    text = decoded(bytes(buffer[:])).strip()
    if not text:
        yield Unread(place="", why=tr("the file is empty"))
        return
    if _is_log(text):
        yield from _logged(text)
        return
    turns, skipped = _told(text), Counter[str]()
    if len({role for role, _ in turns}) < 2:
        said: list[tuple[str, tuple[Part, ...]]] = [("user", (TextPart(text),))]
        skipped[ONE_SIDE] = 1
    else:
        said = [one for role, words in turns for one in _spoken(role, words, skipped)]
    front = _FRONT.match(text)
    title = _TITLE.match(text, front.end() if front is not None else 0)
    key = sha256(text[:_ID_CHARS].encode("utf-8", "replace")).hexdigest()[:32]
    is_speaker = title is not None and _speaker(title[0]) is not None
    name = title[1].strip() if title is not None and not is_speaker else ""
    if (named := _NAMED.match(text)) is not None:
        name = named[1].strip()
    messages = _straight(said)
    yield Transcript(
        id=key,
        messages=messages,
        title=name,
        current=messages[-1].id if messages else "",
        skipped=dict(skipped),
    )


def _spoken(role: str, words: str, skipped: Counter[str]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """A turn without what the program wrote into it: when it was, its own notes, what a tool answered, a thought in a fold."""
    bare = _WHEN.sub("", words, count=1)
    if (shown := _SHOWN.fullmatch(bare)) is not None:
        if role == "user":
            bare = "" if _BARE_COMMAND.fullmatch(shown[1]) is not None else shown[1].rstrip()
        elif (call := _CALLED.fullmatch(shown[1])) is not None:
            output = re.sub(r"^ {3}", "", shown[2], flags=re.MULTILINE).strip()
            asked = ToolCallPart(call_id="", name=call[1], arguments_json=call[2])
            yield role, (asked, ToolResultPart(call_id="", text=output))
            return
    if role == "user":
        if _ANSWER.match(bare) is not None:
            yield "assistant", (ToolResultPart(call_id="", text=DETAILS.sub("", bare).strip()),)
        elif said := typed(bare, skipped):
            yield role, said
        return
    thought = _LEADING_FOLD.match(bare)
    parts: list[Part] = []
    if thought is not None and (told := thought[1].replace("<br>", "\n").strip()):
        parts.append(ReasoningPart(told))
    bare = bare[thought.end() :] if thought is not None else bare
    if GREETING.fullmatch(bare) is None:
        parts += thoughts_apart((TextPart(bare),)) if bare.strip() else ()
        yield role, tuple(parts)


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
        role = "user" if head[1].lower() in {"user", "prompt"} else "assistant"
        yield from _said(role, [text[head.end() : end]])


def _straight(turns: list[tuple[str, tuple[Part, ...]]]) -> tuple[TranscriptMessage, ...]:
    return tuple(
        TranscriptMessage(
            id=f"#{number}", role=role, parts=said, parent=f"#{number - 1}" if number > 1 else ""
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
            return _ROLES.get(found[1].lower(), "assistant"), found[2] if pattern.groups > 1 else ""
    return None


def _said(role: str, held: list[str]) -> Iterator[tuple[str, str]]:
    words = "\n".join(held).strip()
    words = words.removesuffix("\n---").rstrip() if words != "---" else ""
    if role and words:
        yield role, words


# `llm logs`: an entry a response, under a line with its time.

_LOG = late(
    r"^# (\d{4}-\d{2}-\d{2}T[\d:.+Z-]{5,30})(?:[ \t]+conversation:[ \t]*(\S{1,80})[ \t]+id:[ \t]*\S{1,80})?[ \t]*$",
    re.MULTILINE,
)
_PROMPT = late(r"^## Prompt[ \t]*$", re.MULTILINE)
_RESPONSE = late(r"^## Response[ \t]*$", re.MULTILINE)
_SECTION = late(
    r"^##+ (?:System|System fragments|Prompt fragments|Reasoning|Schema|Tools|Tool calls|Tool results|Attachments|Options)\b[^\n]*$",
    re.MULTILINE,
)
_USAGE = late(r"^#+ Token usage\b", re.MULTILINE)
_LOG_MODEL = late(r"^Model: \*\*([^*\n]{1,200})\*\*", re.MULTILINE)


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
        head_of_response = response.start() if response is not None else len(body)
        told = [
            ToolResultPart(call_id=key, text=text)
            for _, key, text in _tools(body[:head_of_response], "results")
        ]
        calls = [
            ToolCallPart(call_id=key, name=tool, arguments_json=text)
            for tool, key, text in _tools(answer, "calls")
        ]
        answer = _CALLS.sub("", answer, count=1) if calls else answer
        said = [*_words(answer), *calls]
        for role, parts in (("assistant", told), ("user", _words(asked)), ("assistant", said)):
            if parts:
                messages.append(
                    TranscriptMessage(
                        id=f"#{len(messages) + 1}",
                        role=role,
                        parts=tuple(parts),
                        parent=messages[-1].id if messages else "",
                        at=moment(head[1]),
                        model=model if role == "assistant" else "",
                    )
                )
    for key, messages in talks.items():
        if messages:
            yield Transcript(id=key, messages=tuple(messages), current=messages[-1].id, at=messages[0].at)


def _words(text: str) -> list[Part]:
    bare = text.strip()
    return [TextPart(bare)] if bare and bare != "-- none --" else []


_CALL = r"- \*\*([^*\n]{1,200})\*\*: `([^`\n]{0,200})`[ \t]*\n((?:    [^\n]*(?:\n|\Z)|[ \t]*\n(?=    ))*)"
_CALLS = late(rf"\A\s*### Tool calls[ \t]*\n\s*(?:{_CALL}\s*)+")
"""Calls before the words of a response, as `llm` 0.36 writes them. Source: simonw/llm, `llm/cli.py` (read 2026-12-01)."""
_RESULTS = late(rf"^### Tool results[ \t]*\n\s*(?:{_CALL}\s*)+", re.MULTILINE)
_ENTRY = late(rf"^{_CALL}", re.MULTILINE)


def _tools(text: str, which: str) -> Iterator[tuple[str, str, str]]:
    """Name, id and text of each call, or of each answer."""
    block = (_CALLS if which == "calls" else _RESULTS).search(text)
    for entry in _ENTRY.finditer(block[0]) if block is not None else ():
        inner = "\n".join(line.removeprefix("    ") for line in entry[3].rstrip().split("\n"))
        if which == "calls":
            inner = inner.removeprefix("Arguments: ").strip().strip("`")
        else:
            inner = inner.removeprefix("```\n").removesuffix("```").strip()
        yield entry[1], entry[2], inner


# `/export` of Claude Code: the terminal's page as text.

_SHOWN = late(r"([^⎿]{1,100000}?)\n\s*⎿\s(.*)", re.DOTALL)
"""Words, and what the program showed below them."""
_BARE_COMMAND = late(r"/[\w:-]+\s*")
_CALLED = late(r"([A-Z][\w: -]{0,80})\((.*)\)\s*", re.DOTALL)
_SAID = late(r"^[ ]?[⏺●][ ]", re.MULTILINE)


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


# Chat histories of aider: Markdown that grows by one conversation at each start.

_HEAD = late(r"# aider chat started at (\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2})[ \t]*$")
_AIDER_FENCE = late(r"[ ]{0,3}(`{3,}|~{3,}|<(?:source|code|pre|codeblock|sourcecode)>)")
_OUTPUT_LINES = 2_000
_AIDER_MODEL = late(r"> (?:Main model|Model): (\S{1,200}) with ")
_COMMAND = late(r"/[a-z][\w-]*[ \t]+")
_OWN = late(
    r"> (?:Tokens: |Applied edit to |Commit [0-9a-f]{7}|Added .* to the chat|Aider v\d|Main model: |Model: |Weak model: |"
    r"Repo-map: |Git repo: |Only \d+ reflections|Warning: |You can skip this check)"
)
"""Lines of aider's own that editors may have stripped of the blanks at their ends."""


def read_aider(buffer: Buffer) -> Iterator[Transcript]:
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
    model = next((found[1] for line in lines_ if (found := _AIDER_MODEL.match(line)) is not None), "")
    for role, text in _aider_turns(lines_):
        messages.append(
            TranscriptMessage(
                id=f"#{len(messages) + 1}",
                role=role,
                parts=tuple(thoughts_apart((TextPart(text),))) if role == "assistant" else (TextPart(text),),
                parent=messages[-1].id if messages else "",
                model=model if role == "assistant" else "",
            )
        )
    if messages:
        key = f"{started} ({count})" if count > 1 else started
        yield Transcript(id=key, messages=tuple(messages), at=moment(started), current=messages[-1].id)


def _aider_turns(lines_: list[str]) -> Iterator[tuple[str, str]]:
    """Words and who said them. Lines of the person's that stand apart are messages of their own."""
    has_blanks = any(line.endswith("  ") and line.startswith(("#### ", "> ")) for line in lines_)
    role, held, last = "", list[str](), ""
    for text, now in _aider_told(lines_, has_blanks=has_blanks):
        if now != role:
            if role and (joined := "\n".join(held).strip()) and not _is_echo(role, joined, last):
                last = joined if role == "user" else ""
                yield role, joined
            role, held = now, []
        held.append(text)


def _aider_told(lines_: list[str], *, has_blanks: bool) -> Iterator[tuple[str, str]]:
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
            mark = _AIDER_FENCE.match(line)
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


# Sessions that SpecStory saved: Markdown with a line before each turn.

HEAD = "<!-- Generated by SpecStory"
_TURN = late(r"^_\*\*(User|Agent|Assistant)\b([^\n]{0,200})\*\*_[ \t]*$", re.MULTILINE)
_SESSION = late(r"<!-- [^\n]{0,80}?Session ([0-9A-Za-z-]{8,64})[^\n]{0,80}-->")
_SPECSTORY_TITLE = late(
    r"^# ([^\n]{1,300}?)(?: \(\d{4}-\d{2}-\d{2}[ T_]\d{2}[:-]\d{2}[^()\n]{0,20}\))?$", re.MULTILINE
)
_INSIDE = late(r"\(?((?!\d{4}-\d)[^\s()]+)?[ ]?(\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}Z?)?\)?")
_SPECSTORY_HEAD_CHARS = 4_096
_SPECSTORY_FENCE = late(r"^[ ]{0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_FOLD = late(r"\s*<details>\s*<summary>[^<]{0,200}</summary>(.*?)</details>\s*\Z", re.DOTALL)
_TOOL_TAGS = late(r"</?(?:tool-use|details|summary)\b[^<>\n]{0,2000}>\n?")
_BLOCK = late(r"<think>(.*?)</think>|<tool-use\b.*?(?:</tool-use>|\Z)", re.DOTALL)


_UNMARKED = late(
    r"(?:#{1,2} [^\n]{1,300}\n\s*)?<!-- [^\n]{0,80}?Session [0-9A-Za-z-]{8,64}[^\n]{0,80}-->\s*_\*\*User"
)


def is_specstory(text: str) -> bool:
    """True for a text that SpecStory wrote: by its mark, which old versions lack, or the line of its session."""
    return text.startswith(HEAD) or _UNMARKED.match(text) is not None


def read_specstory(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file. Turns stand under a line `_**User (time)**_`."""
    text = decoded(bytes(buffer[:]))
    heads = _heads(text)
    if not heads:
        yield Unread(place="", why=tr("the conversation has no turns"))
        return
    ends = [head.start() for head in heads[1:]] + [len(text)]
    messages: list[TranscriptMessage] = []
    skipped: Counter[str] = Counter()
    last = {False: "", True: ""}  # a helper's messages follow each other, beside the talk
    for head, end in zip(heads, ends, strict=True):
        parts = tuple(_parts(text[head.end() : end].strip().removesuffix("---").strip()))
        if not parts:
            continue
        model, at = _inside(head[2])
        role = "user" if head[1] == "User" else "assistant"
        if role == "user" and (parts := persons(parts, skipped)) == ():
            continue
        key, is_aside = f"#{len(messages) + 1}", "sidechain" in head[2].lower()
        messages.append(
            TranscriptMessage(
                id=key,
                role=role,
                parts=parts,
                parent=last[is_aside],
                at=moment(at),
                model=model,
                is_aside=is_aside,
            )
        )
        last[is_aside] = key
    if not messages:
        yield Unread(place="", why=tr("the turns of the conversation are empty"))
        return
    top = text[: heads[0].start()][:_SPECSTORY_HEAD_CHARS]
    session, title = _SESSION.search(top), _SPECSTORY_TITLE.search(top)
    name = title[1].strip() if title is not None else ""
    is_date = moment(name) is not None
    yield Transcript(
        id=session[1] if session is not None else content_id(messages, moment(name)),
        messages=tuple(messages),
        title="" if is_date else name,
        at=messages[0].at or moment(name),
        current=last[False],
        skipped=dict(skipped),
    )


def _inside(text: str) -> tuple[str, str]:
    """The model and the time in a turn's line, each empty where it is not there."""
    bare = text.strip()
    found = _INSIDE.fullmatch(bare)
    return (found[1] or "", found[2] or "") if found is not None else ("", "")


def _heads(text: str) -> list[re.Match[str]]:
    """Lines of turns, without those that stand in a fence: words that somebody quoted."""
    marks = list(_SPECSTORY_FENCE.finditer(text))
    quoted: list[tuple[int, int]] = []
    longest = _longest_after(marks)
    number = 0
    while number < len(marks):
        opened = marks[number]
        closed = None
        if longest[number][opened[1][0]] >= len(opened[1]):  # else nothing closes it, and nobody looks for it
            closed = next(n for n in range(number + 1, len(marks)) if _closes(marks[n], opened))
        if closed is not None:
            quoted.append((opened.start(), marks[closed].end()))
        number = closed + 1 if closed is not None else number + 1
    starts = [start for start, _ in quoted]
    found = []
    for head in _TURN.finditer(text):
        at = bisect_right(starts, head.start()) - 1
        if at < 0 or head.start() >= quoted[at][1]:
            found.append(head)
    return found


def _longest_after(marks: list[re.Match[str]]) -> list[dict[str, int]]:
    """Length of the longest mark of each kind behind each that may close a fence."""
    longest = {"`": 0, "~": 0}
    found = []
    for mark in reversed(marks):
        found.append(dict(longest))
        if not mark[2].strip():
            longest[mark[1][0]] = max(longest[mark[1][0]], len(mark[1]))
    return found[::-1]


def _closes(mark: re.Match[str], opened: re.Match[str]) -> bool:
    return mark[1][0] == opened[1][0] and len(mark[1]) >= len(opened[1]) and not mark[2].strip()


def _parts(body: str) -> Iterator[Part]:
    """A turn's thoughts, words and tools in their order."""
    at = 0
    for match in _BLOCK.finditer(body):
        yield from _text(body[at : match.start()])
        if match[1] is not None:
            fold = _FOLD.match(match[1])
            yield ReasoningPart((fold[1] if fold is not None else match[1]).strip())
        else:
            yield ToolResultPart(call_id="", text=_TOOL_TAGS.sub("", match[0]).strip())
        at = match.end()
    yield from _text(body[at:])


def _text(words: str) -> Iterator[Part]:
    if words.strip():
        yield TextPart(words.strip())
