"""Conversations in SQLite files of other programs: `llm`, OpenCode, Zed, Goose and Crush. The file is copied into memory and never opened."""

from __future__ import annotations

import sqlite3
import struct
import sys
from array import array
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import msgspec

from core.kernel.codecs import from_json, read_json
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import Transcript, TranscriptKind, TranscriptMessage, Unread
from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from core.talk.transcripts.agents import TalkBuilder, items, mapping, opencode_session, spelled, word
from core.talk.transcripts.chats import files_named
from core.talk.transcripts.chats import read_zed as read_thread
from core.talk.transcripts.more_agents import crush_session
from core.talk.transcripts.more_chats import goose_session
from core.talk.transcripts.text import Buffer, moment

HEAD = b"SQLite format 3\x00"
MAX_BYTES = 1_000_000_000
PAGE_BYTES = 512
_TABLE = rb"(?i)CREATE TABLE (?:IF NOT EXISTS )?[\"'`\[]?"
_TABLES = {
    TranscriptKind.LLM: late(_TABLE + rb"responses\b[^;]{1,4000}?\bconversation_id\b"),
    TranscriptKind.OPENCODE: late(_TABLE + rb"part\b[^;]{1,1000}?\bmessage_id\b"),
    TranscriptKind.ZED: late(_TABLE + rb"threads\b[^;]{1,1000}?\bdata_type\b"),
    TranscriptKind.GOOSE: late(_TABLE + rb"messages\b[^;]{1,1000}?\bcontent_json\b"),
    TranscriptKind.CRUSH: late(_TABLE + rb"messages\b[^;]{1,400}?\bsession_id\b[^;]{1,400}?\bparts\b"),
}
"""A table of each program with one of its columns, however a tool that copied the database quotes them."""


_WITH_REASONING = (
    "SELECT conversation_id, id, model, prompt, system, response, datetime_utc, reasoning FROM responses "
    "ORDER BY conversation_id, id"
)
_WITHOUT_REASONING = (
    "SELECT conversation_id, id, model, prompt, system, response, datetime_utc, NULL FROM responses "
    "ORDER BY conversation_id, id"
)


# The log beside a database, in which all is that its program has written since it last put the log into the file.
# Source: sqlite.org/fileformat2.html, "The Write-Ahead Log" (read 2026-11-29).

LOG_HEAD_BYTES, _FRAME_HEAD_BYTES = 32, 24


def with_log(data: bytes, log: bytes) -> bytes:
    """A database as its program sees it: the pages of the log in the place of those in the file.

    A write that is under way has no end in the log, or one whose sum is wrong: it is left out.
    """
    page = int.from_bytes(log[8:12], "big")
    if len(log) < LOG_HEAD_BYTES or log[:3] != b"\x37\x7f\x06" or not PAGE_BYTES <= page <= 65_536:
        return data
    places: dict[int, int] = {}
    written: list[int] = []
    size, step = 0, _FRAME_HEAD_BYTES + page
    for at in range(LOG_HEAD_BYTES, len(log) - step + 1, step):
        if log[at + 8 : at + 16] != log[16:24]:  # of an earlier round of the log
            break
        written.append(at)
        if count := int.from_bytes(log[at + 4 : at + 8], "big"):
            if not all(_is_whole(log, one, step) for one in written):
                break
            places.update(
                (int.from_bytes(log[one : one + 4], "big"), one + _FRAME_HEAD_BYTES) for one in written
            )
            written, size = [], count
    if not size or size * page > MAX_BYTES:
        return data
    made = bytearray(data[: size * page].ljust(size * page, b"\0"))
    for number, at in places.items():
        if 0 < number <= size:
            made[(number - 1) * page : number * page] = log[at : at + page]
    return bytes(made)


def _is_whole(log: bytes, at: int, step: int) -> bool:
    """True if a frame holds the sum that goes on from the frame before it."""
    before = log[24:32] if at == LOG_HEAD_BYTES else log[at - step + 16 : at - step + 24]
    first, second = struct.unpack(">II", before)
    words = array("I", log[at : at + 8] + log[at + _FRAME_HEAD_BYTES : at + step])
    if (log[3] & 1) == (sys.byteorder == "little"):
        words.byteswap()
    for left, right in zip(words[::2], words[1::2], strict=True):
        first = (first + left + second) & 0xFFFFFFFF
        second = (second + right + first) & 0xFFFFFFFF
    return log[at + 16 : at + 24] == struct.pack(">II", first, second)


def recognised(data: Buffer) -> TranscriptKind:
    """Program of a database, by the tables that its first pages name."""
    head = bytes(data[: 1 << 20])
    return next(
        (kind for kind, table in _TABLES.items() if table.search(head) is not None), TranscriptKind.UNKNOWN
    )


def read_llm(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Conversations of `llm`, each with its prompts and responses in their order."""
    if bytes(buffer[: len(HEAD)]) == HEAD:
        yield from _read(buffer, _llm)
    else:
        yield from _logged(buffer)


def _logged(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Conversations in the list of responses that `llm logs --json` prints, in the order of their times."""
    try:
        rows = from_json(buffer, list[Any])
    except (msgspec.DecodeError, ValueError):
        yield Unread(place="", why=tr("the file is not JSON"), remedy=tr("Export the conversation again"))
        return
    talks: dict[str, TalkBuilder] = {}
    for row in rows:
        if not isinstance(row, dict):
            continue
        key, at = word(row.get("conversation_id")), row.get("datetime_utc")
        talk = talks.setdefault(key, TalkBuilder())
        talk.id, talk.at = key, talk.at or at
        talk.title = talk.title or word(row.get("conversation_name"))
        if isinstance(row.get("system"), str):
            talk.skipped["system texts"] += 1
        told = [TextPart(text)] if (text := word(row.get("response"))).strip() else []
        calls = [one for one in items(row.get("tool_calls")) if isinstance(one, dict)]
        given = [
            ToolCallPart(
                call_id=word(one.get("tool_call_id")),
                name=word(one.get("name")),
                arguments_json=spelled(one.get("arguments")),
            )
            for one in calls
        ]
        answers = [
            ToolResultPart(call_id=word(one.get("tool_call_id")), text=spelled(one.get("output")))
            for one in items(row.get("tool_results"))
            if isinstance(one, dict)
        ]
        talk.say("assistant", answers, at=at)
        talk.say("user", [TextPart(asked)] if (asked := word(row.get("prompt"))).strip() else [], at=at)
        talk.say("assistant", [*told, *given], at=at, model=row.get("model"))
    for talk in talks.values():
        if talk.messages:
            yield talk.transcript()


def read_opencode(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Sessions of OpenCode."""
    yield from _read(buffer, _opencode)


def read_zed(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Threads of Zed, each a packed text."""
    yield from _read(buffer, _zed)


def read_goose(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Sessions of Goose."""
    yield from _read(buffer, _goose)


def read_crush(buffer: Buffer) -> Iterator[Transcript | Unread]:
    """Sessions of Crush."""
    yield from _read(buffer, _crush)


def _read(buffer: Buffer, conversations: Any) -> Iterator[Transcript | Unread]:
    if len(buffer) > MAX_BYTES:
        yield Unread(place="", why=tr("the database is larger than 1 GB"))
        return
    data = bytearray(buffer[:])
    if not data.startswith(HEAD) or len(data) < PAGE_BYTES:
        yield Unread(
            place="",
            why=tr("the file is not a database, or is cut off"),
            remedy=tr("Copy the file again"),
        )
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
            remedy = tr("Close the other program that uses this file, then try again")
            yield Unread(place="", why=tr("the database cannot be read: {error}", error=error), remedy=remedy)


def _columns(base: sqlite3.Connection, table: str) -> set[str]:
    return {str(row[1]) for row in base.execute(f"PRAGMA table_info({table})")}


def _llm(base: sqlite3.Connection) -> Iterator[Transcript]:
    names = {str(key): word(name) for key, name in base.execute("SELECT id, name FROM conversations")}
    has_reasoning = "reasoning" in _columns(base, "responses")
    has_calls, has_answers = bool(_columns(base, "tool_calls")), bool(_columns(base, "tool_results"))
    rows = base.execute(_WITH_REASONING if has_reasoning else _WITHOUT_REASONING)
    talk, current = TalkBuilder(), None
    for conversation, key, model, prompt, system, response, at, thought in rows:
        if current is not None and conversation != current:
            yield talk.transcript()
            talk = TalkBuilder()
        current = conversation
        talk.id, talk.title = word(conversation) or word(key), names.get(str(conversation), "")
        talk.skipped["system texts"] += int(bool(word(system).strip()))
        answers = tuple(_llm_answers(base, key)) if has_answers else ()
        talk.say("assistant", answers, key=f"{key}-answers", at=at)
        if word(prompt).strip():
            talk.say("user", (TextPart(word(prompt)),), key=f"{key}-prompt", at=at)
        thoughts = (ReasoningPart(word(thought)),) if word(thought).strip() else ()
        words = (TextPart(word(response)),) if word(response).strip() else ()
        calls = tuple(_llm_calls(base, key)) if has_calls else ()
        talk.say("assistant", (*thoughts, *words, *calls), key=word(key), at=at, model=model)
    if current is not None or talk.messages:
        yield talk.transcript()
    if _columns(base, "threads"):
        yield from _llm_threads(base)


def _llm_calls(base: sqlite3.Connection, response: Any) -> Iterator[ToolCallPart]:
    """Calls of a response. Source: simonw/llm, `llm/migrations.py` (read 2026-11-30)."""
    for name, given, key in base.execute(
        "SELECT name, arguments, tool_call_id FROM tool_calls WHERE response_id = ? ORDER BY id", (response,)
    ):
        yield ToolCallPart(call_id=word(key), name=word(name), arguments_json=word(given) or "{}")


def _llm_answers(base: sqlite3.Connection, response: Any) -> Iterator[ToolResultPart]:
    """Answers of tools that a response was given, to the calls of the one before."""
    for output, key in base.execute(
        "SELECT output, tool_call_id FROM tool_results WHERE response_id = ? ORDER BY id", (response,)
    ):
        yield ToolResultPart(call_id=word(key), text=word(output))


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
                part
                for kind, tool, text, payload in parts
                for part in _llm_part(base, kind, tool, text, payload)
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


def _llm_part(base: sqlite3.Connection, kind: Any, tool: Any, text: Any, payload: Any) -> Iterator[Part]:
    """A part: its words, or those of the fragments and pieces that its payload names."""
    about = mapping(_value(payload, "", []))
    words = word(text) or "".join(_llm_pieces(base, about.get("text_ref")))
    if kind == "text" and words.strip():
        yield TextPart(words)
    elif kind == "reasoning" and words.strip():
        yield ReasoningPart(words)
    elif kind == "tool_call":
        told = spelled(about["arguments"]) if "arguments" in about else word(payload) or words
        yield ToolCallPart(call_id=word(about.get("tool_call_id")), name=word(tool), arguments_json=told)
    elif kind == "tool_result":
        told = words or word(about.get("output")) or word(payload)
        yield ToolResultPart(call_id=word(about.get("tool_call_id")), text=told)
    elif kind == "attachment":
        key = mapping(about.get("attachment")).get("id")
        row = base.execute("SELECT path, url, type FROM attachments WHERE id = ?", (key,)).fetchone()
        yield from files_named([{"name": next((one for one in row or () if one), "a file")}])


def _llm_pieces(base: sqlite3.Connection, pieces: Any) -> Iterator[str]:
    for piece in map(mapping, items(pieces)):
        if (key := piece.get("fragment")) is None:
            yield word(piece.get("literal"))
            continue
        for (content,) in base.execute("SELECT content FROM fragments WHERE id = ?", (key,)):
            yield word(content)


def _opencode(base: sqlite3.Connection) -> Iterator[Transcript | Unread]:
    sessions = list(
        _rows(base, "SELECT *, parent_id, directory, title, time_created FROM session ORDER BY id")
    )
    names = [(one["directory"], _FORK.sub("", word(one["title"]))) for one in sessions]
    forked = {name for name, one in zip(names, sessions, strict=True) if name[1] != word(one["title"])}
    families: dict[Any, list[tuple[datetime | None, Transcript]]] = {}
    for name, session in zip(names, sessions, strict=True):
        found, broken = [], list[Unread]()
        for message, data in base.execute(
            "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session["id"],)
        ):
            parts = base.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (message,))
            about = _value(data, message, broken)
            if isinstance(about, dict):
                told = [_value(one[0], message, broken) for one in parts]
                found.append({"info": {**about, "id": message}, "parts": told})
        info = {
            "id": session["id"],
            "parentID": session["parent_id"],
            "directory": session["directory"],
            "title": session["title"],
            "time": {"created": session["time_created"]},
            "revert": _value(session.get("revert"), session["id"], broken),
        }
        made = opencode_session({"info": info, "messages": found})
        if made.messages and name in forked:
            written = moment(session.get("time_updated")) or made.at
            families.setdefault(name, []).append((written, made))
        elif made.messages:
            yield made
        yield from broken
    for family in families.values():
        yield from _with_forks(family)


_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_FORK = late(r" \(fork #\d{1,9}\)\Z")
"""End of the title of a session that was copied from another, of which OpenCode keeps no more. Source: OpenCode 1.18.33."""


def _with_forks(family: list[tuple[datetime | None, Transcript]]) -> Iterator[Transcript]:
    """Sessions of one title, each copy as another way on from the messages that it shares with an earlier one.

    Args:
        family: each session with when it was written last; the one of the last words is the way that was seen last.
    """
    whole: list[Transcript] = []
    newest: list[datetime] = []
    for written, talk in sorted(family, key=lambda one: (one[1].at is None, one[1].at, one[1].id)):
        first = talk.messages[0]
        place = next((at for at, one in enumerate(whole) if _said(one.messages[0]) == _said(first)), None)
        if place is None:
            whole.append(talk)
            newest.append(written or _LONG_AGO)
            continue
        known = {(one.parent, _said(one)): one.id for one in whole[place].messages}
        here, added = {"": ""}, list[TranscriptMessage]()  # ids of its messages, as they stand in the whole
        for one in talk.messages:
            above = here.get(one.parent, "")
            if (same := known.get((above, _said(one)))) is None:
                added.append(msgspec.structs.replace(one, parent=above))
            here[one.id] = same or one.id
        is_last = (written or _LONG_AGO) >= newest[place]
        current = here.get(talk.current, "") if is_last else whole[place].current
        newest[place] = max(newest[place], written or _LONG_AGO)
        messages = (*whole[place].messages, *added)
        whole[place] = msgspec.structs.replace(whole[place], messages=messages, current=current)
    yield from whole


def _said(one: TranscriptMessage) -> tuple[object, ...]:
    return one.role, one.at, one.parts


def _goose(base: sqlite3.Connection) -> Iterator[Transcript | Unread]:
    """Source: block/goose, `crates/goose/src/session/session_manager.rs` (read 2026-11-30)."""
    for session in _rows(base, "SELECT * FROM sessions ORDER BY id"):
        broken: list[Unread] = []
        sql = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
        messages = (
            {
                "role": row.get("role"),
                "content": _value(row.get("content_json"), row["id"], broken),
                "created": row["created_timestamp"],
                "metadata": _value(row.get("metadata_json"), row["id"], broken),
                "id": str(row["id"]),
            }
            for row in _rows(base, sql, session["id"])
        )
        if (talk := goose_session(session, messages)).messages:
            yield talk.transcript()
        yield from broken


def _crush(base: sqlite3.Connection) -> Iterator[Transcript | Unread]:
    for session in _rows(base, "SELECT * FROM sessions ORDER BY created_at, id"):
        broken: list[Unread] = []
        sql = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid"
        messages = (
            {**row, "parts": _value(row.get("parts"), row.get("id"), broken)}
            for row in _rows(base, sql, session["id"])
        )
        if (talk := crush_session(session, messages)).messages:
            yield talk.transcript()
        yield from broken


def _rows(base: sqlite3.Connection, sql: str, *values: Any) -> Iterator[dict[str, Any]]:
    """Rows by the names of their columns: versions of a program add some."""
    found = base.execute(sql, values)
    names = [column[0] for column in found.description]
    yield from (dict(zip(names, row, strict=True)) for row in found)


MAX_THREAD_BYTES = 64_000_000


def _zed(base: sqlite3.Connection) -> Iterator[Transcript | Unread]:
    """Source: zed-industries/zed, `crates/agent/src/db.rs` (read 2026-11-29)."""
    for key, summary, kind, data in base.execute(
        "SELECT id, summary, data_type, data FROM threads ORDER BY updated_at, id"
    ):
        raw = data.encode() if isinstance(data, str) else bytes(data or b"")
        try:
            text = _unpacked(raw) if kind == "zstd" else raw
            made = read_thread(from_json(text, Any))
        except (ValueError, RecursionError) as error:
            yield Unread(place=tr("thread {value!r}", value=word(summary) or word(key)), why=str(error))
            continue
        yield msgspec.structs.replace(made, id=word(key), title=made.title or word(summary))


def _unpacked(data: bytes) -> bytes:
    """Raises ValueError: it is damaged, or larger than any thread."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    reader = zstd.ZstdDecompressor()
    try:
        found = reader.decompress(data, max_length=MAX_THREAD_BYTES)
    except zstd.ZstdError as error:
        raise ValueError(tr("the thread cannot be unpacked: {error}", error=error)) from error
    if not reader.eof:
        raise ValueError(tr("the thread ends in the middle, or is larger than 64 MB"))
    return bytes(found)


def _value(data: Any, message: Any, broken: list[Unread]) -> Any:
    """Value of a column that holds JSON. None where it holds none; what is there and no JSON is told as broken."""
    try:
        return read_json(data) if isinstance(data, str) else None
    except ValueError:
        why = tr("part of the message is not JSON; the program skipped that part and read the others")
        broken.append(Unread(place=tr("message {value!r}", value=str(message)), why=why))
        return None
