"""Sessions of other programs that work in a folder: Codex CLI, Gemini CLI, OpenCode, Cline."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from core.kernel.decoders import from_json, read_json, without_half_characters
from core.kernel.frame import clean
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
from core.talk.transcripts.text import Buffer, content_id, decoded, lines, moment

NOTES = "notes of the program"

_NOTE = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|user_action|skill|subagent_notification|"
    r"session_context|environment_details|system-reminder|collaboration_mode|user_shell_command|INSTRUCTIONS|explicit_instructions)\b|"
    r"# AGENTS\.md instructions|\[TASK RESUMPTION\]|\[ERROR\] You did not use a tool)"
)
_TASK = re.compile(r"\s*<(task|feedback|answer|user_message)>\s*(.*?)\s*</\1>\s*$", re.DOTALL)
_DETAILS = re.compile(r"<environment_details>.*?</environment_details>\s*", re.DOTALL)


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
        told = tuple(parts)
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
            skipped=dict(self.skipped),
        )


def typed(text: Any, skipped: Counter[str]) -> tuple[Part, ...]:
    """A person's words without what the program wrote in their place."""
    if not isinstance(text, str) or not text.strip():
        return ()
    bare = _DETAILS.sub("", text) if "<environment_details>" in text else text
    if (task := _TASK.match(bare)) is not None:
        bare = task[2]
    if not bare.strip() or _NOTE.match(bare) is not None:
        skipped[NOTES] += 1
        return ()
    return (TextPart(clean(bare)),)


def rows_of(buffer: Buffer, broken: list[Unread]) -> Iterator[dict[str, Any]]:
    """Objects of a file, one a line; a line that is none is told."""
    for number, line in enumerate(lines(buffer), 1):
        if not line.strip(b" \t\0"):
            continue
        try:
            row = from_json(line, Any)
        except msgspec.DecodeError:
            try:
                row = from_json(without_half_characters(decoded(line)), Any)
            except msgspec.DecodeError:
                why = "it is no JSON; the lines around it were read"
                broken.append(Unread(place=f"line {number}", why=why))
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
        if isinstance(one, dict) and one.get("type") in ("input_image", "image_url", "image"):
            yield AttachmentPart(sha256="", media_type="image/png", name="image", size_bytes=0)


def spelled(value: Any) -> str:
    """Arguments or an answer of a tool as text."""
    if isinstance(value, str):
        return clean(value)
    return clean(json.dumps(value, sort_keys=True, ensure_ascii=False))


def items(value: Any) -> list[Any]:
    """A list, an empty one for all else."""
    return value if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """An object, an empty one for all else."""
    return value if isinstance(value, dict) else {}


def word(value: Any) -> str:
    """A text, empty for all else."""
    return clean(value) if isinstance(value, str) else ""


# Codex CLI: rollouts, a row an item.


def read_codex(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a rollout. What the person saw is said twice in it: items count, events that repeat them do not."""
    talk, broken, turns = TalkBuilder(), list[Unread](), list[str]()
    for row in rows_of(buffer, broken):
        payload = mapping(row.get("payload")) or row
        kind = row.get("type")
        if kind == "session_meta" or (kind is None and "instructions" in row):
            _codex_head(talk, payload)
        elif kind == "turn_context":
            talk.model = word(payload.get("model"))
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            count = payload.get("num_turns")
            del turns[max(0, len(turns) - (count if type(count) is int and count > 0 else 1) + 1) :]
            talk.last = talk.messages[turns.pop()].parent if turns else ""
        elif (
            kind == "event_msg" and payload.get("type") in ("error", "stream_error")
        ) or kind == "compacted":
            talk.skipped[NOTES] += 1
        elif kind == "response_item" or (payload is row and kind in _CODEX_ITEMS):
            before = talk.last
            _codex_item(talk, payload, row.get("timestamp"))
            if talk.last != before and talk.messages[talk.last].role == "user":
                turns.append(talk.last)
    if talk.messages:
        yield talk.transcript()
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


def _codex_head(talk: TalkBuilder, payload: Mapping[str, Any]) -> None:
    talk.id = talk.id or word(payload.get("id"))
    talk.at = talk.at or payload.get("timestamp")
    talk.folder = talk.folder or word(payload.get("cwd"))
    talk.is_helper = isinstance(payload.get("source"), dict) and "subagent" in payload["source"]


def _codex_item(talk: TalkBuilder, item: Mapping[str, Any], at: Any) -> None:
    kind = item.get("type")
    call = word(item.get("call_id"))
    if kind == "message" and item.get("role") == "user":
        told = item.get("content")
        found = (
            [told]
            if isinstance(told, str)
            else [texts([one]) for one in told]
            if isinstance(told, list)
            else []
        )
        pieces: list[Part] = [part for one in found for part in typed(one, talk.skipped)]
        pieces += pictures(told)
        talk.say("user", pieces, at=at)
    elif kind == "message" and item.get("role") == "assistant":
        words = texts(item.get("content"))
        talk.say("assistant", (TextPart(clean(words)),) if words.strip() else (), at=at, model=talk.model)
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
        talk.say(
            "assistant", (ReasoningPart(clean(words)),) if words.strip() else (), at=at, model=talk.model
        )


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


# Gemini CLI: one object, or rows in which a message with an id that was there before replaces it.


def read_gemini(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file."""
    talk, broken = TalkBuilder(), list[Unread]()
    whole = _object(buffer)
    for row in [whole] if whole is not None else rows_of(buffer, broken):
        given = mapping(row.get("$set")) or row
        talk.id = talk.id or word(given.get("sessionId"))
        talk.at = talk.at or given.get("startTime")
        talk.title = talk.title or word(given.get("summary"))
        talk.is_helper = talk.is_helper or given.get("kind") == "subagent"
        if isinstance(row.get("$rewindTo"), str) and row["$rewindTo"] in talk.messages:
            talk.last = talk.messages[row["$rewindTo"]].parent
        for one in given["messages"] if isinstance(given.get("messages"), list) else [given]:
            if isinstance(one, dict) and isinstance(one.get("type"), str):
                _gemini_message(talk, one)
    if talk.messages:
        yield talk.transcript()
    yield from broken


def _object(buffer: Buffer) -> dict[str, Any] | None:
    """A file that is one object."""
    try:
        found = from_json(buffer, Any)
    except (msgspec.DecodeError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _gemini_message(talk: TalkBuilder, one: Mapping[str, Any]) -> None:
    key, at = one.get("id"), one.get("timestamp")
    content = one.get("content")
    if one["type"] == "user":
        found = (
            [content]
            if isinstance(content, str)
            else [texts([x]) for x in content]
            if isinstance(content, list)
            else []
        )
        talk.say("user", [part for text in found for part in typed(text, talk.skipped)], key=key, at=at)
        return
    if one["type"] not in ("gemini", "model"):
        talk.skipped[NOTES] += 1
        return
    parts: list[Part] = []
    thoughts = (word(mapping(thought).get("description")) for thought in items(one.get("thoughts")))
    parts += [ReasoningPart(said) for said in thoughts if said.strip()]
    words = texts(content)
    parts += [TextPart(clean(words))] if words.strip() else []
    for call in items(one.get("toolCalls")):
        if isinstance(call, dict):
            parts += _gemini_call(call)
    talk.say("assistant", parts, key=key, at=at, model=one.get("model"))


def _gemini_call(call: Mapping[str, Any]) -> Iterator[Part]:
    key = word(call.get("id"))
    yield ToolCallPart(call_id=key, name=word(call.get("name")), arguments_json=spelled(call.get("args")))
    for one in items(call.get("result")):
        inner = one.get("functionResponse") if isinstance(one, dict) else None
        response = inner.get("response") if isinstance(inner, dict) else None
        output = response.get("output", response) if isinstance(response, dict) else response
        if output is not None:
            is_error = call.get("status") == "error"
            yield ToolResultPart(call_id=key, text=spelled(output), is_error=is_error)


# OpenCode: its export, one object.


def read_opencode(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of an export."""
    whole = _object(buffer)
    if whole is None:
        yield Unread(place="the file", why="it is no JSON", remedy="Export it again")
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
        given = one["parts"] if isinstance(one.get("parts"), list) else []
        parts = [
            part for piece in given if isinstance(piece, dict) for part in _opencode_part(piece, talk.skipped)
        ]
        talk.say(role, parts, key=about.get("id"), at=at, model=about.get("modelID"))
    return talk.transcript()


def _opencode_part(piece: Mapping[str, Any], skipped: Counter[str]) -> Iterator[Part]:
    kind, text = piece.get("type"), word(piece.get("text"))
    if piece.get("synthetic") is True or kind == "compaction":
        skipped[NOTES] += 1
    elif kind == "text" and text.strip():
        yield TextPart(text)
    elif kind == "reasoning" and text.strip():
        yield ReasoningPart(text)
    elif kind == "tool":
        state = mapping(piece.get("state"))
        key = word(piece.get("callID"))
        yield ToolCallPart(
            call_id=key, name=word(piece.get("tool")), arguments_json=spelled(state.get("input"))
        )
        output = state.get("output", state.get("error"))
        if output is not None:
            yield ToolResultPart(call_id=key, text=spelled(output), is_error=state.get("status") == "error")
    elif kind == "file":
        yield TextPart(f"[attached {word(piece.get('filename')) or 'a file'}]")


# Cline and its kin: messages in Anthropic's shape, in an array, or since version 4 in an object.

_ANSWERED = re.compile(r"\s*\[[\w.-]{1,80}(?: for '[^\n]{0,2000}')?\] Result:")
"""Beginning of what a tool answered, where results stand among the person's words."""

_SAID = re.compile(r"<(feedback|answer|user_message)>\s*(.*?)\s*</\1>", re.DOTALL)


def read_messages(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The conversation of a list of messages, each with a role and a content."""
    try:
        found = from_json(buffer, Any)
    except (msgspec.DecodeError, ValueError):
        yield Unread(place="the file", why="it is no JSON", remedy="Export it again")
        return
    talk, whole = TalkBuilder(), mapping(found)
    talk.id = word(whole.get("sessionId"))
    for one in found if isinstance(found, list) else items(whole.get("messages")):
        if not isinstance(one, dict) or one.get("role") not in ("user", "assistant", "tool"):
            talk.skipped["system texts"] += 1
            continue
        parts = parts_of(one.get("content"), talk.skipped)
        at, key = one.get("ts"), one.get("id")
        if one["role"] == "user":
            answers, parts = _told_apart(parts, talk.skipped)
            talk.say("assistant", answers, at=at)
        role = "assistant" if one["role"] == "tool" else one["role"]
        talk.say(role, parts, key=key, at=at, model=mapping(one.get("modelInfo")).get("id"))
    if talk.messages:
        yield talk.transcript()
    else:
        yield Unread(place="the file", why="nothing is said in it")


def _told_apart(parts: tuple[Part, ...], skipped: Counter[str]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Answers of tools, and what the person said among them, of a message in the person's place."""
    own: list[Part] = []
    answered: list[str] = []
    for part in parts:
        if not isinstance(part, TextPart):
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
    return (() if is_empty or not text else (ToolResultPart(call_id="", text=clean(text)),)), tuple(own)
