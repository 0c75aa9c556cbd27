"""Conversations in SQLite files of other programs: `llm` and OpenCode. The file is copied into memory and never opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from core.kernel.decoders import read_json
from core.kernel.values.imports import Transcript, TranscriptKind, Unread
from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from core.talk.transcripts.agents import TalkBuilder, opencode_session, word
from core.talk.transcripts.text import Buffer

HEAD = b"SQLite format 3\x00"
MAX_BYTES = 1_000_000_000
PAGE_BYTES = 512
_TABLES = {
    TranscriptKind.LLM: (b'CREATE TABLE "responses"', b"CREATE TABLE [responses]"),
    TranscriptKind.OPENCODE: (b"CREATE TABLE `session`", b"CREATE TABLE `part`"),
}


_WITH_REASONING = (
    "SELECT conversation_id, id, model, prompt, system, response, datetime_utc, reasoning FROM responses "
    "ORDER BY conversation_id, id"
)
_WITHOUT_REASONING = (
    "SELECT conversation_id, id, model, prompt, system, response, datetime_utc, NULL FROM responses "
    "ORDER BY conversation_id, id"
)


def recognised(data: Buffer) -> TranscriptKind:
    """Program of a database, by the tables that its first pages name."""
    head = bytes(data[: 1 << 20])
    return next(
        (kind for kind, marks in _TABLES.items() if any(mark in head for mark in marks)),
        TranscriptKind.UNKNOWN,
    )


def read_llm(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Conversations of `llm`, each with its prompts and responses in their order."""
    yield from _read(buffer, _llm)


def read_opencode(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Sessions of OpenCode."""
    yield from _read(buffer, _opencode)


def _read(buffer: Buffer, conversations: Any) -> Iterator[Transcript | Unread]:
    if len(buffer) > MAX_BYTES:
        yield Unread(place="the database", why="it is larger than 1 GB")
        return
    data = bytearray(buffer[:])
    if not data.startswith(HEAD) or len(data) < PAGE_BYTES:
        yield Unread(place="the database", why="it is none, or cut off", remedy="Copy the file again")
        return
    if data[18:20] == b"\x02\x02":  # a log beside it is not here: what stands in the file alone is read
        data[18:20] = b"\x01\x01"
    with closing(sqlite3.connect(":memory:")) as base:
        base.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            base.deserialize(bytes(data))
            base.execute("PRAGMA trusted_schema = OFF")
            base.execute("PRAGMA query_only = ON")
            yield from conversations(base)
        except (sqlite3.Error, OverflowError, ValueError) as error:
            remedy = "Close the program that wrote it, then try again"
            yield Unread(place="the database", why=f"it cannot be read: {error}", remedy=remedy)


def _columns(base: sqlite3.Connection, table: str) -> set[str]:
    return {str(row[1]) for row in base.execute(f"PRAGMA table_info({table})")}


def _llm(base: sqlite3.Connection) -> Iterator[Transcript]:
    names = {str(key): word(name) for key, name in base.execute("SELECT id, name FROM conversations")}
    has_reasoning = "reasoning" in _columns(base, "responses")
    rows = base.execute(_WITH_REASONING if has_reasoning else _WITHOUT_REASONING)
    talk, current = TalkBuilder(), None
    for conversation, key, model, prompt, system, response, at, thought in rows:
        if current is not None and conversation != current:
            yield talk.transcript()
            talk = TalkBuilder()
        current = conversation
        talk.id, talk.title = word(conversation) or word(key), names.get(str(conversation), "")
        talk.skipped["system texts"] += int(bool(word(system).strip()))
        if word(prompt).strip():
            talk.say("user", (TextPart(word(prompt)),), key=f"{key}-prompt", at=at)
        thoughts = (ReasoningPart(word(thought)),) if word(thought).strip() else ()
        words = (TextPart(word(response)),) if word(response).strip() else ()
        talk.say("assistant", (*thoughts, *words), key=word(key), at=at, model=model)
    if current is not None or talk.messages:
        yield talk.transcript()
    if _columns(base, "threads"):
        yield from _llm_threads(base)


def _llm_threads(base: sqlite3.Connection) -> Iterator[Transcript]:
    """Threads of `llm` since 0.36: messages by a hash, each with its parent's, so that a fork shares them."""
    models = {tip: word(model) for tip, model in base.execute("SELECT tip_message_hash, model FROM turns")}
    for key, name, tip, at in base.execute(
        "SELECT id, name, tip_message_hash, datetime_utc FROM threads ORDER BY id"
    ):
        talk = TalkBuilder()
        talk.id, talk.title, talk.at = word(key), word(name), at
        for message, role in reversed(_above(base, tip)):
            parts = base.execute(
                "SELECT type, tool_name, text, payload FROM parts WHERE message_hash = ? ORDER BY position",
                (message,),
            )
            if role == "system":
                talk.skipped["system texts"] += 1
                continue
            told = [
                part for kind, tool, text, payload in parts for part in _llm_part(kind, tool, text, payload)
            ]
            talk.say("user" if role == "user" else "assistant", told, key=message, model=models.get(message))
        if talk.messages:
            yield talk.transcript()


def _above(base: sqlite3.Connection, tip: Any) -> list[tuple[str, str]]:
    """Messages from a thread's end to its beginning. A circle ends where it closes."""
    found: dict[str, str] = {}
    while tip is not None and tip not in found:
        row = base.execute("SELECT parent_hash, role FROM messages WHERE hash = ?", (tip,)).fetchone()
        if row is None:
            break
        found[tip] = word(row[1])
        tip = row[0]
    return list(found.items())


def _llm_part(kind: Any, tool: Any, text: Any, payload: Any) -> Iterator[Part]:
    words = word(text)
    if kind == "text" and words.strip():
        yield TextPart(words)
    elif kind == "reasoning" and words.strip():
        yield ReasoningPart(words)
    elif kind == "tool_call":
        yield ToolCallPart(call_id="", name=word(tool), arguments_json=word(payload) or words)
    elif kind == "tool_result":
        yield ToolResultPart(call_id="", text=words or word(payload))


def _opencode(base: sqlite3.Connection) -> Iterator[Transcript]:
    sessions = list(
        base.execute("SELECT id, parent_id, directory, title, time_created FROM session ORDER BY id")
    )
    for key, parent, folder, title, created in sessions:
        found = []
        for message, data in base.execute(
            "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (key,)
        ):
            parts = base.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (message,))
            about = _json(data)
            about["id"] = message
            found.append({"info": about, "parts": [_json(one[0]) for one in parts]})
        info = {
            "id": key,
            "parentID": parent,
            "directory": folder,
            "title": title,
            "time": {"created": created},
        }
        made = opencode_session({"info": info, "messages": found})
        if made.messages:
            yield made


def _json(data: Any) -> dict[str, Any]:
    found = read_json(data) if isinstance(data, str) else None
    return found if isinstance(found, dict) else {}
