"""Sessions of other programs that work in a folder: Codex CLI, Gemini CLI, OpenCode, Cline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from core.kernel.codecs import from_json, read_json, without_half_characters
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import Transcript, TranscriptMessage, Unread
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.claude import parts_of
from core.talk.transcripts.text import Buffer, as_json, content_id, decoded, lines, moment

NOTES = tr("notes of the other program")

_TAGS = (
    r"(?:environment_context|user_instructions|permissions|turn_aborted|user_action|skill|subagent_notification|"
    r"session_context|state_snapshot|environment_details|system-reminder|collaboration_mode|INSTRUCTIONS|explicit_instructions|"
    r"recommended_plugins|hook_prompt|skills_instructions|plugins_instructions|context_window(?:_reminder)?|token_budget|"
    r"rollout_budget|codex_delegation|personality_spec|persistent_mode|model_switch|startup_context|side_conversation|"
    r"user_verification_notice|image_resize_notice|realtime_\w+|multi_agent_\w+|transcript_delta|git_attribution|"
    r"timestamp|attached_files|open_and_recently_viewed_files|user_info|project_layout|git_status|additional_data|"
    r"model_instructions|security_context|(?:codex_)?internal_context|goal_context|untrusted_objective)"
)
"""Names of the tags in which the programs write in the person's place."""
_NOTE = late(
    rf"\s*(?:<{_TAGS}\b|# AGENTS\.md instructions|\[TASK RESUMPTION\]|\[ERROR\] You did not use a tool|"
    r"This is the Gemini CLI\. We are setting up the context for our chat)"
)
_BEFORE = late(
    rf"\s*(?:# AGENTS\.md instructions[^\n]{{0,4000}}\n\s*)?<({_TAGS})\b[^<>]{{0,1000}}>.*?</\1>\s*",
    re.DOTALL,
)
"""A note with an end, behind which the person's words may stand."""
_PICTURE_MARK = late(r"</?image\b[^<>\n]{0,300}>\s*")
_FROM_EDITOR = late(
    r"\s*# Context from my IDE setup:.*?^## My request for Codex:[ \t]*$\s*(.*)\Z", re.DOTALL | re.MULTILINE
)
_SHELL = late(r"\s*<user_shell_command>\s*<command>\s*(.*?)\s*</command>", re.DOTALL)
_TASK = late(r"\s*<(task|feedback|answer|user_message|user_query)>\s*(.*?)\s*</\1>\s*$", re.DOTALL)
DETAILS = late(r"<environment_details>.*?</environment_details>\s*", re.DOTALL)


class TalkBuilder:
    """A conversation that is being read: each message follows the one before."""

    def __init__(self) -> None:
        self.id = self.title = self.folder = self.model = self.last = ""
        self.at: Any = None
        self.messages: dict[str, TranscriptMessage] = {}
        self.skipped: Counter[str] = Counter()
        self.is_helper = False

    def say(
        self, role: str, parts: Iterable[Part], *, key: Any = "", at: Any = None, model: Any = ""
    ) -> None:
        """Add a message, or have one of the same id anew."""
        told = tuple(map(_in_words, thoughts_apart(parts) if role == "assistant" else parts))
        if not told:
            return
        own = key if isinstance(key, str) and key else f"#{len(self.messages) + 1}"
        before = self.messages.get(own)
        self.messages[own] = TranscriptMessage(
            id=own,
            role=role,
            parts=told,
            parent=before.parent if before is not None else self.last,
            at=moment(at),
            model=clean(model) if isinstance(model, str) and role == "assistant" else "",
            is_aside=self.is_helper,
        )
        if before is None:
            self.last = own

    def transcript(self) -> Transcript:
        """Conversation as it was read."""
        made = tuple(self.messages.values())
        at = moment(self.at) or next((one.at for one in made if one.at is not None), None)
        return Transcript(
            id=self.id or content_id(made, at),
            messages=made,
            title=clean(self.title),
            at=at,
            current=self.last,
            folder=self.folder if clean(self.folder) == self.folder else "",
            skipped=dict(+self.skipped),  # without counts of zero
        )


def conversations(
    talks: Iterable[TalkBuilder], broken: Sequence[Unread] = ()
) -> Iterator[Transcript | Unread]:
    """Conversations of a file that hold messages, then what could not be read of it. A file with neither is told, too."""
    found = [talk.transcript() for talk in talks if talk.messages]
    yield from found
    if not found and not broken:
        yield Unread(place="", why=tr("the conversation holds no messages"))
    yield from broken


def typed(text: Any, skipped: Counter[str]) -> tuple[Part, ...]:
    """A person's words without what the program wrote in their place."""
    if not isinstance(text, str) or not text.strip():
        return ()
    bare = DETAILS.sub("", text) if "<environment_details>" in text else text
    while (note := _BEFORE.match(bare)) is not None and note.end() < len(bare):
        bare = bare[note.end() :]
    if (task := _TASK.match(bare)) is not None:
        bare = task[2]
    elif (asked := _FROM_EDITOR.match(bare)) is not None:
        bare = asked[1]
    elif (shell := _SHELL.match(bare)) is not None:
        return (TextPart(clean(f"! {shell[1]}")),)
    elif _PICTURE_MARK.fullmatch(bare) is not None:
        return ()
    if not bare.strip() or _NOTE.match(bare) is not None:
        skipped[NOTES] += 1
        return ()
    return (TextPart(clean(bare)),)


_BLOCKS = late(r'\s*\[\s*\{\s*"type"\s*:\s*"text"')


def _in_words(part: Part) -> Part:
    """An answer of a tool of MCP as the words of its blocks, where they stand as JSON."""
    if not isinstance(part, ToolResultPart) or _BLOCKS.match(part.text) is None:
        return part
    try:
        blocks = read_json(part.text)
    except (ValueError, RecursionError):
        return part
    are_words = all(isinstance(one, dict) and one.get("type") == "text" for one in blocks)
    return msgspec.structs.replace(part, text=clean(texts(blocks))) if are_words else part


_THOUGHT = late(
    r"\s*(?:<(think|thinking|thought|reasoning|thinking-content-[0-9a-f]{32})>(.*?)</\1>|:::thinking\n(.*?)\n:::[ \t]*(?:\n|\Z))\s*",
    re.DOTALL,
)
"""Thoughts of a model, between tags before its words: models' own, and those that aider and LibreChat put there."""


def thoughts_apart(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts of a reply, a thought between tags told from the words behind it."""
    for part in parts:
        found = _THOUGHT.match(part.text) if isinstance(part, TextPart) else None
        if found is None:
            yield part
            continue
        if thought := (found[2] or found[3] or "").strip():
            yield ReasoningPart(thought)
        if (words := found.string[found.end() :]).strip():
            yield TextPart(words)


def rows_of(buffer: Buffer, broken: list[Unread]) -> Iterator[dict[str, Any]]:
    """Objects of a file, one a line; a line that is no object is reported."""
    for number, line in enumerate(lines(buffer), 1):
        if not line.strip(b" \t\0"):
            continue
        try:
            row = from_json(line, Any)
        except msgspec.DecodeError:
            try:
                row = from_json(without_half_characters(decoded(line)), Any)
            except msgspec.DecodeError:
                why = tr("this line is not JSON; the program skipped the line and read the others")
                broken.append(Unread(place=tr("line {number}", number=number), why=why))
                continue
        if isinstance(row, dict):
            yield row


def texts(content: Any) -> str:
    """Words of a content in any of the usual shapes."""
    if isinstance(content, str):
        return content
    found = content if isinstance(content, list) else []
    told = (one.get("text") if isinstance(one, dict) else one for one in found)
    return "\n\n".join(one for one in told if isinstance(one, str) and one.strip())


def pictures(content: Any) -> Iterator[AttachmentPart]:
    """Pictures of a content, by name alone."""
    for one in content if isinstance(content, list) else ():
        if isinstance(one, dict) and one.get("type") in ("input_image", "image_url", "imageUrl", "image"):
            yield AttachmentPart(sha256="", media_type="image/png", name="image", size_bytes=0)


def openai_thoughts(message: Mapping[str, Any]) -> Iterator[ReasoningPart]:
    """The model's thoughts as servers put them beside the words of OpenAI's messages."""
    said = word(message.get("reasoning_content")) or word(message.get("reasoning"))
    if said.strip():
        yield ReasoningPart(said)


def openai_calls(message: Mapping[str, Any]) -> Iterator[ToolCallPart]:
    """Calls of tools as OpenAI's messages hold them, whichever way their names are joined."""
    for call in map(mapping, items(message.get("tool_calls")) or items(message.get("toolCalls"))):
        about = mapping(call.get("function"))
        if name := word(about.get("name")):
            given = spelled(about.get("arguments", ""))
            yield ToolCallPart(call_id=word(call.get("id")), name=name, arguments_json=given)


def tool_call(key: Any, name: Any, given: Any) -> ToolCallPart:
    """A call of a tool, of its id, its name and its arguments as a file has them."""
    return ToolCallPart(call_id=word(key), name=word(name), arguments_json=spelled(given))


def spelled(value: Any) -> str:
    """Arguments or an answer of a tool as text."""
    if isinstance(value, str):
        return clean(value)
    return clean(as_json(value))


def items(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def word(value: Any) -> str:
    """A text, empty for all else."""
    return clean(value) if isinstance(value, str) else ""


# Codex CLI: rollouts, a row an item. What was said stands in them up to three times: as an item, as an event, and as an
# event that an item was completed. Each of the three is all there is in the rollouts of some version.


def read_codex(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a rollout, or of the one object that the first Codex wrote."""
    reading, broken = _Rollout(), list[Unread]()
    whole = _object(buffer)
    if whole is not None and "items" in whole:
        reading.begin(mapping(whole.get("session")))
        for item in items(whole["items"]):
            reading.item(mapping(item), None)
    else:
        for row in rows_of(buffer, broken):
            reading.row(row)
    if reading.talk.messages:
        yield reading.talk.transcript()
    yield from broken


_CODEX_ITEMS = (
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
    "local_shell_call",
    "custom_tool_call",
    "custom_tool_call_output",
)
_CODEX_SPEAKERS = {"UserMessage": "user", "AgentMessage": "assistant"}


class _Rollout:
    """A rollout that is being read. `told`: how often each source has said the same words, and how often they stand here."""

    def __init__(self) -> None:
        self.talk = TalkBuilder()
        self.turns: list[str] = []
        self.told: Counter[tuple[str, str, int]] = Counter()
        self.stopped = ""  # the person's last message, where they stopped the reply to it

    def row(self, row: Mapping[str, Any]) -> None:
        """Read one row."""
        kind, at = row.get("type"), row.get("timestamp")
        payload = mapping(row.get("payload")) or row
        if kind == "session_meta" or (kind is None and "instructions" in row):
            self.begin(payload)
        elif kind == "turn_context":
            self.talk.model = word(payload.get("model"))
        elif kind == "event_msg":
            self._event(payload, at)
        elif kind == "item.completed":  # on its output, where no person speaks
            self._shown(mapping(row.get("item")))
        elif kind == "compacted":
            self._compacted(word(payload.get("message")))
        elif kind == "response_item" or (payload is row and kind in _CODEX_ITEMS):
            self.item(payload, at)

    def begin(self, payload: Mapping[str, Any]) -> None:
        """Read the head of a session; of a fork, which has its parent's too, the first."""
        talk = self.talk
        talk.id = talk.id or word(payload.get("id"))
        talk.at = talk.at or payload.get("timestamp")
        talk.folder = talk.folder or word(payload.get("cwd"))
        talk.is_helper = isinstance(payload.get("source"), dict) and "subagent" in payload["source"]

    def _shown(self, item: Mapping[str, Any]) -> None:
        """Read one item of the stream that `codex exec --json` prints."""
        kind, words = item.get("type"), word(item.get("text"))
        if kind == "agent_message":
            self._say(str(kind), "assistant", _text(words), None)
        elif kind == "reasoning" and words.strip():
            self.talk.say("assistant", (ReasoningPart(words),))
        elif kind == "command_execution":
            key = word(item.get("id"))
            call = ToolCallPart(call_id=key, name="shell", arguments_json=spelled(item.get("command", "")))
            told = ToolResultPart(call_id=key, text=word(item.get("aggregated_output")))
            self.talk.say("assistant", (call, told))

    def _compacted(self, told: str) -> None:
        """The program had the model sum up what was said: the sum is its note, and no reply."""
        talk = self.talk
        talk.skipped[NOTES] += 1
        last = talk.messages.get(talk.last)
        if last is not None and last.role == "assistant":
            said = "".join(one.text for one in last.parts if isinstance(one, TextPart)).strip()
            if said and told.endswith(said):
                del talk.messages[talk.last]
                talk.last = last.parent

    def _event(self, payload: Mapping[str, Any], at: Any) -> None:
        kind, done = payload.get("type"), mapping(payload.get("item"))
        if kind == "thread_rolled_back":
            count = payload.get("num_turns")
            del self.turns[max(0, len(self.turns) - (count if type(count) is int and count > 0 else 1) + 1) :]
            self.talk.last = self.talk.messages[self.turns.pop()].parent if self.turns else ""
        elif kind in ("error", "stream_error"):
            self.talk.skipped[NOTES] += 1
        elif kind == "thread_name_updated":
            self.talk.title = word(payload.get("thread_name")) or self.talk.title
        elif kind == "user_message":
            self._say(kind, "user", typed(payload.get("message"), Counter()), at)
        elif kind == "agent_message":
            self._say(kind, "assistant", _text(payload.get("message")), at)
        elif kind == "item_completed" and (role := _CODEX_SPEAKERS.get(str(done.get("type")))) is not None:
            content = done.get("content")
            said = _codex_words(content, Counter()) if role == "user" else _text(texts(content))
            self._say(kind, role, said, at)

    def _say(self, source: str, role: str, parts: Iterable[Part], at: Any) -> None:
        """Say what no other source has said as often yet."""
        said = tuple(parts)
        spoken = " ".join(" ".join(one.text for one in said if isinstance(one, TextPart)).split())
        if spoken:
            words = hash(spoken)
            self.told[source, role, words] += 1
            if self.told[source, role, words] <= self.told["", role, words]:
                return
            self.told["", role, words] += 1
        before = self.talk.last
        self.talk.say(role, said, at=at, model=self.talk.model)
        if role == "user" and self.talk.last != before:
            self.turns.append(self.talk.last)

    def item(self, item: Mapping[str, Any], at: Any) -> None:
        """Read one item."""
        kind, talk = item.get("type"), self.talk
        call = word(item.get("call_id"))
        if kind == "message" and item.get("role") == "user":
            content = item.get("content")
            said = (*_codex_words(content, talk.skipped), *pictures(content))
            last = talk.messages.get(talk.last)
            if texts(content).lstrip().startswith("<turn_aborted"):
                self.stopped = talk.last if last is not None and last.role == "user" else ""
            if last is None or self.stopped != talk.last or last.parts != said:  # else sent once more
                self._say("item", "user", said, at)
        elif kind == "message" and item.get("role") == "assistant":
            self._say("item", "assistant", _text(texts(item.get("content"))), at)
        elif kind == "message":
            talk.skipped[NOTES] += 1
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
            given = item.get("arguments", item.get("input", item.get("action")))
            name = word(item.get("name")) or str(kind).removesuffix("_call")
            part = ToolCallPart(call_id=call, name=name, arguments_json=spelled(given))
            talk.say("assistant", (part,), at=at, model=talk.model)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            if isinstance(output, dict):
                output = output.get("content", output)
            text = texts(output) if isinstance(output, (str, list)) else spelled(output)
            talk.say("assistant", (ToolResultPart(call_id=call, text=_inner_output(text)),), at=at)
        elif kind == "reasoning":
            words = texts(item.get("summary")) or texts(item.get("content"))
            parts = (ReasoningPart(clean(words)),) if words.strip() else ()
            talk.say("assistant", parts, at=at, model=talk.model)


def _codex_words(content: Any, skipped: Counter[str]) -> Iterator[Part]:
    """A person's words of a content, each piece by itself: hosts put pieces of their own beside them."""
    for one in [content] if isinstance(content, str) else items(content):
        yield from typed(one if isinstance(one, str) else texts([one]), skipped)


def _text(words: Any) -> tuple[Part, ...]:
    return (TextPart(clean(words)),) if isinstance(words, str) and words.strip() else ()


def _inner_output(text: str) -> str:
    """A result that was written as JSON around its text."""
    if text.startswith('{"output":'):
        try:
            found = read_json(text)
        except ValueError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("output"), str):
            return clean(found["output"])
    return clean(text)


# Gemini CLI: one object, or rows in which a message with an id that was there before replaces it; and what `/chat save`
# keeps, which is what was sent to the model.


def read_gemini(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file."""
    talk, broken = TalkBuilder(), list[Unread]()
    found = whole_value(buffer)
    whole = found if isinstance(found, dict) else None
    sent = found if isinstance(found, list) else mapping(whole).get("history")
    if isinstance(sent, list):
        for one in map(mapping, sent):
            _gemini_said(talk, one.get("parts"), is_own=one.get("role") == "user")
        whole = {}
    for row in [whole] if whole is not None else rows_of(buffer, broken):
        given = mapping(row.get("$set")) or row
        talk.id = talk.id or word(given.get("sessionId"))
        talk.at = talk.at or given.get("startTime")
        talk.title = talk.title or word(given.get("summary"))
        talk.is_helper = talk.is_helper or given.get("kind") == "subagent"
        if isinstance(row.get("$rewindTo"), str) and row["$rewindTo"] in talk.messages:
            talk.last = talk.messages[row["$rewindTo"]].parent
        again = items(row["$set"].get("messages")) if isinstance(row.get("$set"), dict) else []
        for one in map(mapping, items(given.get("messages")) or [given]):
            is_known = bool(again) and one.get("id") in talk.messages  # written again, with less in it
            if isinstance(one.get("type"), str) and not is_known:
                _gemini_message(talk, one)
    if talk.messages:
        yield talk.transcript()
    yield from broken


GREETING = late(r"Got it\. Thanks for the (?:additional )?context!\s*")
_FILES = late(r"\s*--- Content from referenced files ---.*?(?:--- End of content ---\s*|\Z)", re.DOTALL)
_FILES_BEGIN, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"


def _gemini_said(
    talk: TalkBuilder, content: Any, *, is_own: bool, shown: Any = None, key: Any = "", at: Any = None
) -> None:
    """A content as the model was sent it, or sent it back. `shown`: the person's words where a file's stand behind them."""
    answers, parts, is_file = list[Part](), list[Part](), False
    for piece in ({"text": one} if isinstance(one, str) else mapping(one) for one in items(content)):
        text, call, answer = word(piece.get("text")), piece.get("functionCall"), piece.get("functionResponse")
        file = mapping(piece.get("inlineData", piece.get("fileData")))
        is_file = (is_file or text.strip() == _FILES_BEGIN) and text.strip() != _FILES_END
        if isinstance(answer, dict):
            answers += _gemini_answer(answer)
        elif isinstance(call, dict):
            told = spelled(call.get("args"))
            parts.append(
                ToolCallPart(call_id=word(call.get("id")), name=word(call.get("name")), arguments_json=told)
            )
        elif file:
            media = word(file.get("mimeType")) or "application/octet-stream"
            name = media.partition("/")[0]
            parts.append(AttachmentPart(sha256="", media_type=media, name=name, size_bytes=0))
        elif is_own and shown is None and not is_file:
            parts += typed(_FILES.sub("", text) if _FILES_BEGIN in text else text, talk.skipped)
        elif not is_own and text and GREETING.fullmatch(text) is None:
            _go_on(parts, ReasoningPart(text) if piece.get("thought") is True else TextPart(text))
    parts = [one for one in parts if not isinstance(one, TextPart | ReasoningPart) or one.text.strip()]
    parts = [*typed(texts(shown), talk.skipped), *parts] if shown is not None else parts
    talk.say("assistant", answers)
    talk.say("user" if is_own else "assistant", parts, key=key, at=at)


def _go_on(parts: list[Part], piece: TextPart | ReasoningPart) -> None:
    """Add a piece of a reply, as it arrived, to the text that it goes on with."""
    last = parts[-1] if parts else None
    if isinstance(last, TextPart | ReasoningPart) and type(last) is type(piece):
        parts[-1] = type(piece)(last.text + piece.text)
    else:
        parts.append(piece)


def _gemini_answer(answer: Mapping[str, Any]) -> Iterator[ToolResultPart]:
    given = answer.get("response")
    told = given.get("output", given.get("error", given)) if isinstance(given, dict) else given
    is_error = isinstance(given, dict) and "error" in given
    if told is not None:
        yield ToolResultPart(call_id=word(answer.get("id")), text=spelled(told), is_error=is_error)


def whole_value(buffer: Buffer) -> Any:
    """A file that is one value of JSON; None for all else."""
    try:
        return from_json(buffer, Any)
    except (msgspec.DecodeError, ValueError):
        return None


def _object(buffer: Buffer) -> dict[str, Any] | None:
    """A file that is one object."""
    found = whole_value(buffer)
    return found if isinstance(found, dict) else None


def _gemini_message(talk: TalkBuilder, one: Mapping[str, Any]) -> None:
    key, at = one.get("id"), one.get("timestamp")
    content = one.get("content")
    content = [content] if isinstance(content, str) else items(content)
    if one["type"] == "user":
        results = [mapping(piece).get("functionResponse") for piece in content]
        if not any(results):  # else answers of tools, which stand with their calls
            _gemini_said(talk, content, is_own=True, shown=one.get("displayContent"), key=key, at=at)
        return
    if one["type"] not in ("gemini", "model"):
        talk.skipped[NOTES] += 1
        return
    thoughts = map(_gemini_thought, map(mapping, items(one.get("thoughts"))))
    parts: list[Part] = [ReasoningPart(said) for said in thoughts if said.strip()]
    words = "".join(one if isinstance(one, str) else word(mapping(one).get("text")) for one in content)
    if words.strip() and GREETING.fullmatch(words) is None:
        parts.append(TextPart(clean(words)))
    for call in items(one.get("toolCalls")):
        if isinstance(call, dict):
            parts += _gemini_call(call)
    talk.say("assistant", parts, key=key, at=at, model=one.get("model"))


def _gemini_thought(thought: Mapping[str, Any]) -> str:
    """A thought under its subject, as the program shows it."""
    subject, said = word(thought.get("subject")).strip(), word(thought.get("description"))
    return f"**{subject}**\n{said}" if subject else said


def _gemini_call(call: Mapping[str, Any]) -> Iterator[Part]:
    key = word(call.get("id"))
    yield tool_call(key, call.get("name"), call.get("args"))
    for one in items(call.get("result")):
        for part in _gemini_answer(mapping(mapping(one).get("functionResponse"))):
            is_error = call.get("status") == "error"
            yield msgspec.structs.replace(part, call_id=key, is_error=is_error)


# OpenCode: its export, one object.


def read_opencode(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of an export."""
    whole = _object(buffer)
    if whole is None:
        yield Unread(place="", why=tr("the file is not JSON"), remedy=tr("Export the conversation again"))
        return
    yield opencode_session(whole)


def opencode_session(whole: Mapping[str, Any]) -> Transcript:
    """A session as `opencode export` writes it."""
    info = mapping(whole.get("info"))
    talk, times = TalkBuilder(), mapping(info.get("time"))
    talk.id, talk.title, talk.folder = (
        word(info.get("id")),
        word(info.get("title")),
        word(info.get("directory")),
    )
    talk.at, talk.is_helper = times.get("created"), isinstance(info.get("parentID"), str)
    for one in items(whole.get("messages")):
        about = one.get("info") if isinstance(one, dict) else None
        if not isinstance(about, dict):
            continue
        role = "user" if about.get("role") == "user" else "assistant"
        at = about["time"].get("created") if isinstance(about.get("time"), dict) else None
        if isinstance(about.get("error"), dict):
            talk.skipped[NOTES] += 1
        if about.get("summary") is True or about.get("mode") == "compaction":  # the sum of what was said
            talk.skipped[NOTES] += 1
            continue
        given = one["parts"] if isinstance(one.get("parts"), list) else []
        parts = [
            part for piece in given if isinstance(piece, dict) for part in _opencode_part(piece, talk.skipped)
        ]
        talk.say(role, parts, key=about.get("id"), at=at, model=about.get("modelID"))
    undone = mapping(info.get("revert")).get("messageID")
    if isinstance(undone, str) and undone in talk.messages:
        talk.last = talk.messages[undone].parent or talk.last
    return talk.transcript()


def _opencode_part(piece: Mapping[str, Any], skipped: Counter[str]) -> Iterator[Part]:
    kind, text = piece.get("type"), word(piece.get("text"))
    if (piece.get("synthetic") is True and kind != "file") or kind == "compaction":
        skipped[NOTES] += 1
    elif kind == "text" and text.strip():
        yield TextPart(text)
    elif kind == "reasoning" and text.strip():
        yield ReasoningPart(text)
    elif kind == "tool":
        state = mapping(piece.get("state"))
        key = word(piece.get("callID"))
        yield tool_call(key, piece.get("tool"), state.get("input"))
        output = state.get("output", state.get("error"))
        if output is not None:
            yield ToolResultPart(call_id=key, text=spelled(output), is_error=state.get("status") == "error")
    elif kind == "file":
        yield TextPart(f"[attached {word(piece.get('filename')) or 'a file'}]")


# Cursor: what its agent writes beside a project, a row a message.


def read_cursor(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file. Results of tools are not in it."""
    talk, broken = TalkBuilder(), list[Unread]()
    for row in rows_of(buffer, broken):
        content, role = mapping(row.get("message")).get("content"), row.get("role")
        parts = parts_of(content, talk.skipped)
        if role == "user":
            parts = tuple(_told_words(parts, talk.skipped))
        if role in ("user", "assistant"):
            talk.say(role, parts)
    if talk.messages:
        yield talk.transcript()
    yield from broken


def _told_words(parts: Iterable[Part], skipped: Counter[str]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, TextPart):
            yield from typed(part.text, skipped)
        else:
            yield part


# Cline and its kin: messages in Anthropic's shape, in an array, or since version 4 in an object.

_ANSWERED = late(r"\s*\[[\w.-]{1,80}(?: for '[^\n]{0,2000}')?\] Result:")
"""Beginning of what a tool answered, where results stand among the person's words."""

_SAID = late(r"<(feedback|answer|user_message)>\s*(.*?)\s*</\1>", re.DOTALL)


def read_messages(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The conversation of a list of messages, each with a role and a content."""
    try:
        found = from_json(buffer, Any)
    except (msgspec.DecodeError, ValueError):
        yield Unread(place="", why=tr("the file is not JSON"), remedy=tr("Export the conversation again"))
        return
    talk, whole = TalkBuilder(), mapping(found)
    talk.id = word(whole.get("sessionId"))
    for one in found if isinstance(found, list) else items(whole.get("messages")):
        if isinstance(one, dict) and one.get("type") in ("say", "ask"):
            _shown_row(talk, one)
            continue
        if not isinstance(one, dict) or one.get("role") not in ("user", "assistant", "tool"):
            talk.skipped["system texts"] += 1
            continue
        if one.get("isSummary") is True:
            talk.skipped[NOTES] += 1
            continue
        parts = parts_of(one.get("content"), talk.skipped)
        at, key = one.get("ts"), one.get("id")
        if one["role"] == "user":
            answers, parts = _told_apart(parts, talk.skipped)
            talk.say("assistant", answers, at=at)
        role = "assistant" if one["role"] == "tool" else one["role"]
        talk.say(role, parts, key=key, at=at, model=mapping(one.get("modelInfo")).get("id"))
    yield from conversations([talk])


_OF_PERSON = frozenset({"user_feedback", "user_feedback_diff"})
_OF_MODEL = frozenset({"text", "completion_result"})
_ASKS = frozenset({"followup", "plan_mode_respond"})


def _shown_row(talk: TalkBuilder, row: Mapping[str, Any]) -> None:
    """A row of what a task showed: the first text is the person's, and what they said to it later."""
    kind, text, at = word(row.get(word(row.get("type")))), word(row.get("text")), row.get("ts")
    if row.get("partial") is True or not text.strip():
        return
    if kind in _OF_PERSON or (kind in ("text", "task") and not talk.messages):
        talk.say("user", typed(text, talk.skipped), at=at)
    elif kind == "reasoning":
        talk.say("assistant", (ReasoningPart(text),), at=at)
    elif kind in _OF_MODEL:
        talk.say("assistant", (TextPart(text),), at=at)
    elif kind in _ASKS:
        asked, chosen = _asked(text)
        talk.say("assistant", (TextPart(asked),), at=at)
        talk.say("user", typed(chosen, talk.skipped), at=at)
    else:
        talk.skipped[NOTES] += 1


def _asked(text: str) -> tuple[str, str]:
    """A question of the model's with the answers that it offers, which stand as JSON, and the one that the person chose:
    Cline keeps that in the question alone. Any other text is the question.

    Source: cline/cline, `ClineAskQuestion`; RooCodeInc/Roo-Code, `followUpDataSchema` (read 2026-12-01).
    """
    try:
        told = mapping(read_json(text)) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return text, ""
    question = word(told.get("question")) or word(told.get("response"))
    suggested = (mapping(one).get("answer") for one in items(told.get("suggest")))
    offered = filter(None, map(word, (*items(told.get("options")), *suggested)))
    if not question:
        return text, ""
    return "\n".join((question, *(f"- {one}" for one in offered))), word(told.get("selected"))


def _told_apart(parts: tuple[Part, ...], skipped: Counter[str]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Answers of tools, and what the person said among them, of a message in the person's place."""
    own: list[Part] = []
    answered: list[str] = []
    for part in parts:
        if isinstance(part, ToolResultPart):
            own.append(part)
            own += [TextPart(found[2]) for found in _SAID.finditer(part.text) if found[2].strip()]
        elif not isinstance(part, TextPart):
            own.append(part)
        elif _ANSWERED.match(part.text) is not None or (answered and _NOTE.match(part.text) is None):
            said = [TextPart(found[2]) for found in _SAID.finditer(part.text) if found[2].strip()]
            own += said
            answered += [] if said else [part.text]
        else:
            own += typed(part.text, skipped)
    text = "\n\n".join(answered).strip()
    is_empty = (
        len(answered) == 1 and (head := _ANSWERED.match(text)) is not None and not text[head.end() :].strip()
    )
    spoken = tuple(one for one in own if not isinstance(one, ToolResultPart))
    results = [one for one in own if isinstance(one, ToolResultPart)] if spoken else []
    told: tuple[Part, ...] = () if is_empty or not text else (ToolResultPart(call_id="", text=clean(text)),)
    return (*results, *told), spoken or tuple(own)
