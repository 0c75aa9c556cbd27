"""Sessions of further programs that work in a folder: Copilot CLI, Droid, pi, Amp and Crush; messages of any program, one a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.values.imports import Transcript, Unread
from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolResultPart
from core.talk.transcripts.agents import (
    NOTES,
    TalkBuilder,
    conversations,
    items,
    mapping,
    openai_calls,
    openai_thoughts,
    pictures,
    rows_of,
    spelled,
    texts,
    tool_call,
    typed,
    word,
)
from core.talk.transcripts.chats import SPEAKERS, as_object
from core.talk.transcripts.claude import parts_of
from core.talk.transcripts.text import Buffer


def _say(
    talk: TalkBuilder, role: Any, parts: Iterable[Part], *, key: Any = "", at: Any = None, model: Any = ""
) -> None:
    """Add what a message holds: answers of tools stand in the person's place, and are none of their words."""
    told = tuple(parts)
    answers = tuple(one for one in told if isinstance(one, ToolResultPart))
    others: tuple[Part, ...] = tuple(one for one in told if not isinstance(one, ToolResultPart))
    talk.say("assistant", answers, key=f"{key}/answers" if others and key else key, at=at)
    if role == "user":
        others = tuple(
            part
            for one in others
            for part in (typed(one.text, talk.skipped) if isinstance(one, TextPart) else (one,))
        )
    talk.say("user" if role == "user" else "assistant", others, key=key, at=at, model=model)


class _Chain:
    """Rows that name the row before them: the place in the talk that each follows."""

    def __init__(self, talk: TalkBuilder) -> None:
        self._talk = talk
        self._last: dict[str, str] = {}

    def enter(self, row: Mapping[str, Any]) -> None:
        parent = word(row.get("parentId"))
        self._talk.last = self._last.get(parent, self._talk.last)

    def leave(self, row: Mapping[str, Any]) -> None:
        if key := word(row.get("id")):
            self._last[key] = self._talk.last


# Copilot CLI: a row for each event. Source: github/copilot-sdk, session events (read 2026-11-30).


def read_copilot_cli(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file of events; what helpers of the model said is counted as left out."""
    talk, broken = TalkBuilder(), list[Unread]()
    for row in rows_of(buffer, broken):
        about, at = mapping(row.get("data")), row.get("timestamp")
        if about.get("parentToolCallId"):
            talk.skipped[NOTES] += 1
            continue
        match row.get("type"):
            case "session.start":
                talk.id, talk.at = word(about.get("sessionId")), about.get("startTime")
                talk.folder = word(mapping(about.get("context")).get("cwd"))
            case "user.message":
                said = about.get("content")
                parts = (*typed(said, talk.skipped), *pictures(about.get("attachments")))
                talk.say("user", parts, key=row.get("id"), at=at)
            case "assistant.message":
                talk.say(
                    "assistant", _copilot_said(about), key=row.get("id"), at=at, model=about.get("model")
                )
            case "tool.execution_complete":
                result = mapping(about.get("result"))
                text = word(result.get("content")) or word(mapping(about.get("error")).get("message"))
                answer = ToolResultPart(
                    call_id=word(about.get("toolCallId")), text=text, is_error=about.get("success") is False
                )
                talk.say("assistant", (answer,), at=at)
            case "session.compaction_complete":
                talk.skipped[NOTES] += 1
            case _:
                continue
    yield from conversations([talk], broken)


def _copilot_said(about: Mapping[str, Any]) -> Iterator[Part]:
    thought, said = word(about.get("reasoningText")), word(about.get("content"))
    if thought.strip():
        yield ReasoningPart(thought)
    if said.strip():
        yield TextPart(said)
    for call in map(mapping, items(about.get("toolRequests"))):
        yield tool_call(call.get("toolCallId"), call.get("name"), call.get("arguments", {}))


# Droid and pi: a row about the session, then one for each message, which names the row before it.


def read_rows(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The session of a file of rows, each with a message. Messages that the person does not see are counted."""
    talk, broken = TalkBuilder(), list[Unread]()
    chain = _Chain(talk)
    for row in rows_of(buffer, broken):
        chain.enter(row)
        if row.get("type") in ("session_start", "session"):
            talk.id, talk.folder = word(row.get("id")), word(row.get("cwd"))
            talk.at = row.get("timestamp")
            talk.title = word(row.get("sessionTitle")) or word(row.get("title"))
        elif row.get("type") == "session_info":
            talk.title = word(row.get("name")) or talk.title
        elif row.get("visibility") == "llm_only" or row.get("type") in ("compaction", "compaction_state"):
            talk.skipped[NOTES] += 1
        elif row.get("type") == "message":
            message = mapping(row.get("message"))
            parts = _row_parts(message, talk)
            at, model = row.get("timestamp"), message.get("model")
            if command := word(message.get("command")):
                talk.say("user", (TextPart(f"! {command}"),), at=at)  # which the person had run
            _say(talk, message.get("role"), parts, key=row.get("id"), at=at, model=model)
        chain.leave(row)
    yield from conversations([talk], broken)


def _row_parts(message: Mapping[str, Any], talk: TalkBuilder) -> Iterator[Part]:
    content = message.get("content")
    if message.get("role") in ("toolResult", "bashExecution"):
        text = texts(content) or word(message.get("output"))
        is_error = message.get("isError") is True
        yield ToolResultPart(call_id=word(message.get("toolCallId")), text=clean(text), is_error=is_error)
        return
    for piece in content if isinstance(content, list) else [content]:
        if isinstance(piece, dict) and piece.get("type") == "toolCall":
            yield tool_call(piece.get("id"), piece.get("name"), piece.get("arguments", {}))
        else:
            yield from parts_of(piece if isinstance(piece, str) else [piece], talk.skipped)


# Amp: one object for a thread.


def read_amp(element: msgspec.Raw | Any) -> Transcript:
    """A thread of Amp. Raises ValueError: it is none."""
    found = as_object(element, "Amp")
    if not items(found.get("messages")):
        raise ValueError(tr("the conversation holds no messages"))
    talk = TalkBuilder()
    talk.id, talk.title, talk.at = word(found.get("id")), word(found.get("title")), found.get("created")
    for message in map(mapping, found["messages"]):
        parts: list[Part] = []
        for piece in map(mapping, items(message.get("content"))):
            if piece.get("type") == "tool_result" and isinstance(piece.get("run"), dict):
                ran = piece["run"]
                result = ran.get("result", ran.get("error", ""))
                output = mapping(result).get("output", result)
                is_error = ran.get("status") == "error"
                key = word(piece.get("toolUseID"))
                parts.append(ToolResultPart(call_id=key, text=spelled(output), is_error=is_error))
            else:
                parts += parts_of([piece], talk.skipped)
        number, usage = message.get("messageId"), mapping(message.get("usage"))
        key = str(number) if type(number) is int else ""
        at = mapping(message.get("meta")).get("sentAt")
        _say(talk, message.get("role"), parts, key=key, at=at, model=usage.get("model"))
    return talk.transcript()


# Crush: a database. Source: charmbracelet/crush, `internal/message/content.go` (read 2026-11-30).


def crush_session(about: Mapping[str, Any], messages: Iterable[Mapping[str, Any]]) -> TalkBuilder:
    """A session of Crush: rows of its messages, with `parts` as plain data. Summaries of a compaction are counted."""
    talk = TalkBuilder()
    talk.id, talk.title, talk.at = word(about.get("id")), word(about.get("title")), about.get("created_at")
    talk.is_helper = bool(about.get("parent_session_id"))
    for row in messages:
        if row.get("is_summary_message"):
            talk.skipped[NOTES] += 1
            continue
        parts = [part for piece in items(row.get("parts")) for part in _crush_part(mapping(piece))]
        _say(
            talk, row.get("role"), parts, key=row.get("id"), at=row.get("created_at"), model=row.get("model")
        )
    return talk


def _crush_part(piece: Mapping[str, Any]) -> Iterator[Part]:
    kind, data = piece.get("type"), mapping(piece.get("data"))
    if kind == "text" and (said := word(data.get("text"))).strip():
        yield TextPart(said)
    elif kind == "reasoning" and (thought := word(data.get("thinking"))).strip():
        yield ReasoningPart(thought)
    elif kind == "tool_call":
        yield tool_call(data.get("id"), data.get("name"), data.get("input", ""))
    elif kind == "tool_result":
        yield ToolResultPart(
            call_id=word(data.get("tool_call_id")),
            text=word(data.get("content")),
            is_error=data.get("is_error") is True,
        )
    elif kind in ("image_url", "binary"):
        yield from pictures([{"type": "image"}])


# Messages of OpenAI's form, one a line, as Kimi CLI and many scripts keep them.


def read_message_rows(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """The conversation of a file of messages, one a line."""
    talk, broken = TalkBuilder(), list[Unread]()
    for row in rows_of(buffer, broken):
        who, content = word(row.get("role")), row.get("content")
        role, at = SPEAKERS.get(who.lower()), row.get("timestamp", row.get("created_at"))
        if who == "tool":
            said = spelled(texts(content))
            answer = ToolResultPart(call_id=word(row.get("tool_call_id")), text=said)
            talk.say("assistant", (answer,), at=at)
        elif role is not None:
            thoughts = (word(mapping(piece).get("think")) for piece in items(content))
            parts: list[Part] = [
                *openai_thoughts(row),
                *(ReasoningPart(one) for one in thoughts if one.strip()),
            ]
            kept = [piece for piece in items(content) if mapping(piece).get("type") != "think"]
            parts += parts_of(kept if isinstance(content, list) else content, talk.skipped)
            _say(talk, role, (*parts, *openai_calls(row)), key=row.get("id"), at=at, model=row.get("model"))
        elif not who.startswith("_"):
            talk.skipped["system texts"] += 1
    yield from conversations([talk], broken)
