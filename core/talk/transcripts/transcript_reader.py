"""Conversations of a file, whatever program wrote it: its shape by its first bytes, then one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any

import msgspec

from core.kernel.codecs import from_json, read_json
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.imports import Transcript, TranscriptKind, TranscriptMessage, Unread
from core.talk.discussion import discussion_export, log_codec
from core.talk.transcripts import (
    agents,
    chatgpt,
    chats,
    claude,
    claude_code,
    databases,
    markdown_chats,
    more_agents,
    more_chats,
    ours,
)
from core.talk.transcripts import text as arrays
from core.talk.transcripts.text import Buffer, decoded, lines

SHAPE_BYTES = 64 * 1024
"""Bytes of a file that are looked at to tell what it is."""

NO_UTF8 = tr("conversations that are not UTF-8 (read as Windows-1252)")

PLAIN_ENDS = frozenset({".md", ".markdown", ".txt", ".text"})
"""Names of text files end so; one that is named itself is a conversation."""

SHAPE_ROWS, SHAPE_ROW_BYTES = 64, 64 * 1024 * 1024
"""Rows, and bytes of them, that are looked at where the first bytes of a file do not tell."""

_LINES: dict[TranscriptKind, Callable[[Buffer], Iterator[Transcript | Unread]]] = {
    TranscriptKind.DISCUSSION: ours.read_log,
    TranscriptKind.EXPORT: ours.read_export,
    TranscriptKind.SPECSTORY: markdown_chats.read_specstory,
    TranscriptKind.CLAUDE_CODE: claude_code.read,
    TranscriptKind.AIDER: markdown_chats.read_aider,
    TranscriptKind.CODEX: agents.read_codex,
    TranscriptKind.GEMINI_CLI: agents.read_gemini,
    TranscriptKind.OPENCODE: agents.read_opencode,
    TranscriptKind.CLINE: agents.read_messages,
    TranscriptKind.CURSOR: agents.read_cursor,
    TranscriptKind.LLM: databases.read_llm,
    TranscriptKind.CHERRY_STUDIO: chats.read_cherry,
    TranscriptKind.COPILOT: more_chats.read_copilot,
    TranscriptKind.JAN: more_chats.read_jan,
    TranscriptKind.GOOSE: more_chats.read_goose,
    TranscriptKind.ANYTHINGLLM: more_chats.read_anythingllm,
    TranscriptKind.COPILOT_CLI: more_agents.read_copilot_cli,
    TranscriptKind.DROID: more_agents.read_rows,
    TranscriptKind.PI: more_agents.read_rows,
    TranscriptKind.SILLYTAVERN: more_chats.read_sillytavern,
    TranscriptKind.CRUSH: databases.read_crush,
    TranscriptKind.MESSAGES: more_agents.read_message_rows,
    TranscriptKind.PLAIN: markdown_chats.read_plain,
}
_IN_DATABASES = {
    TranscriptKind.OPENCODE: databases.read_opencode,
    TranscriptKind.ZED: databases.read_zed,
    TranscriptKind.GOOSE: databases.read_goose,
}
_ARRAYS: dict[TranscriptKind, Callable[[Any], Transcript]] = {
    TranscriptKind.CHATGPT: chatgpt.read,
    TranscriptKind.CLAUDE: claude.read,
    TranscriptKind.OPEN_WEBUI: chats.read_open_webui,
    TranscriptKind.LIBRECHAT: chats.read_librechat,
    TranscriptKind.LM_STUDIO: chats.read_lm_studio,
    TranscriptKind.ZED: chats.read_zed,
    TranscriptKind.SHAREGPT: chats.read_sharegpt,
    TranscriptKind.TAKEOUT: chats.read_takeout,
    TranscriptKind.GROK: more_chats.read_grok,
    TranscriptKind.TYPINGMIND: more_chats.read_typingmind,
    TranscriptKind.BIG_AGI: more_chats.read_big_agi,
    TranscriptKind.AI_STUDIO: more_chats.read_ai_studio,
    TranscriptKind.CONTINUE: more_chats.read_continue,
    TranscriptKind.AMP: more_agents.read_amp,
    TranscriptKind.LLAMA_CPP: more_chats.read_llama_cpp,
}
_KEYS: tuple[tuple[TranscriptKind, tuple[str, ...]], ...] = (
    (TranscriptKind.GROK, ('"conversation"', '"responses"', '"response"', '"sender"')),
    (TranscriptKind.COPILOT, ('"responderUsername"', '"requests"')),
    (TranscriptKind.COPILOT, ('"requests"', '"requestId"', '"variableData"')),
    (TranscriptKind.TYPINGMIND, ('"chatID"', '"messages"')),
    (TranscriptKind.AI_STUDIO, ('"chunkedPrompt"', '"runSettings"')),
    (TranscriptKind.CONTINUE, ('"workspaceDirectory"', '"history"', '"sessionId"')),
    (TranscriptKind.CONTINUE, ('"history"', '"contextItems"', '"message"')),
    (TranscriptKind.BIG_AGI, ('"systemPurposeId"', '"messages"')),
    (TranscriptKind.ANYTHINGLLM, ('"prompt"', '"response"', '"sent_at"', '"workspace"')),
    (TranscriptKind.CHATGPT, ('"mapping"', '"message"')),
    (TranscriptKind.CLINE, ('"version"', '"sessionId"', '"messages"', '"role"', '"content"')),
    (TranscriptKind.CLINE, ('"ts"', '"type"', '"say"', '"text"')),
    (TranscriptKind.CLAUDE, ('"chat_messages"',)),
    (TranscriptKind.CODEX, ('"session"', '"instructions"', '"items"')),
    (TranscriptKind.CHERRY_STUDIO, ('"indexedDB"', '"localStorage"')),
    (TranscriptKind.GEMINI_CLI, ('"projectHash"', '"sessionId"')),
    (TranscriptKind.GEMINI_CLI, ('"history"', '"role"', '"parts"')),
    (TranscriptKind.OPENCODE, ('"info"', '"sessionID"', '"parts"')),
    (TranscriptKind.OPEN_WEBUI, ('"history"', '"currentId"')),
    (TranscriptKind.OPEN_WEBUI, ('"history"', '"childrenIds"')),
    (TranscriptKind.LIBRECHAT, ('"messageId"', '"isCreatedByUser"')),
    (TranscriptKind.LIBRECHAT, ('"conversationId"', '"messages"', '"messageId"')),
    (TranscriptKind.LM_STUDIO, ('"versions"', '"currentlySelected"')),
    (TranscriptKind.TAKEOUT, ('"header"', '"Prompted ')),
    (TranscriptKind.TAKEOUT, ('"header"', '"products"', '"safeHtmlItem"')),
    (TranscriptKind.ZED, ('"zed"', '"metadata"', '"text"')),
    (TranscriptKind.ZED, ('"summary"', '"messages"', '"tool_uses"')),
    (TranscriptKind.ZED, ('"segments"', '"messages"')),
    (TranscriptKind.ZED, ('"User"', '"messages"')),
    (TranscriptKind.LLM, ('"conversation_id"', '"datetime_utc"', '"prompt"', '"response"')),
    (TranscriptKind.GOOSE, ('"working_dir"', '"extension_data"', '"conversation"')),
    (TranscriptKind.LLAMA_CPP, ('"conv"', '"convId"', '"messages"')),
    (TranscriptKind.AMP, ('"id"', '"T-', '"messages"', '"messageId"', '"role"')),
    (TranscriptKind.SHAREGPT, ('"conversations"', '"from"', '"value"')),
    (TranscriptKind.SHAREGPT, ('"messages"', '"role"', '"content"')),
)
"""Keys of a file's first bytes by which a program is known, in this order."""


def recognised(data: Buffer, named: str = "") -> TranscriptKind:
    """Shape of a conversation's file, by its first bytes and rows; UNKNOWN for a form that the program cannot read.

    Args:
        data: all of the file, mapped, or as much as there is: a first row may be longer than any number of first bytes.
        named: name of a file that the person named itself, which is a conversation where it is a text file; else empty.
            Plain text is not told from any other.
    """
    shape = _by_start(bytes(data[:SHAPE_BYTES]))
    if bytes(data[:16]) == databases.HEAD:
        shape = databases.recognised(data)
    if shape is TranscriptKind.UNKNOWN and bytes(data[:64]).lstrip()[:1] == b"<":
        return TranscriptKind.TAKEOUT if chats.is_takeout_page(data) else shape
    if shape is TranscriptKind.UNKNOWN and len(data) > SHAPE_BYTES:
        shape = _by_rows(data)
    is_text = shape is TranscriptKind.UNKNOWN and PurePath(named).suffix.lower() in PLAIN_ENDS
    return TranscriptKind.PLAIN if is_text else shape


def _by_start(data: bytes) -> TranscriptKind:
    if data.startswith(databases.HEAD):
        return databases.recognised(data)
    text = decoded(data).lstrip()
    if markdown_chats.is_specstory(text):
        return TranscriptKind.SPECSTORY
    if text.startswith("# aider chat started at "):
        return TranscriptKind.AIDER
    if ours.is_markdown(text):
        return TranscriptKind.EXPORT
    if markdown_chats.is_export(text):
        return TranscriptKind.PLAIN
    if text.startswith("{"):
        return _by_first_object(text)
    return _by_keys(text) if text.startswith("[") else TranscriptKind.UNKNOWN


def _by_rows(data: Buffer) -> TranscriptKind:
    """Shape of rows that are longer than the first bytes: of pasted pictures, of what a hook printed."""
    size = 0
    for line in islice(lines(data), SHAPE_ROWS):
        size += len(line)
        if size > SHAPE_ROW_BYTES:
            break
        if line.lstrip().startswith(b"{"):
            try:
                row = from_json(line, _Mark)
            except msgspec.DecodeError:
                continue
            if (kind := _kind_of_row(row)) is not TranscriptKind.UNKNOWN:
                return kind
    return TranscriptKind.UNKNOWN


_CODEX_ROWS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state")


class _Mark(msgspec.Struct):
    """Fields by which rows of a session are told from those of another program."""

    v: Any = None
    at: Any = None
    type: Any = None
    uuid: Any = None
    parentUuid: Any = None  # noqa: N815 - the program's own names
    sessionId: Any = None  # noqa: N815
    leafUuid: Any = None  # noqa: N815
    messageId: Any = None  # noqa: N815
    payload: Any = None
    instructions: Any = None
    git: Any = None
    timestamp: Any = None
    projectHash: Any = None  # noqa: N815
    role: Any = None
    message: Any = None
    object: Any = None
    kind: Any = None
    working_dir: Any = None
    message_count: Any = None
    data: Any = None
    content: Any = None
    id: Any = None
    cwd: Any = None
    mes: Any = None
    chat_metadata: Any = None


def _kind_of_row(row: _Mark) -> TranscriptKind:
    if type(row.v) is int and str(row.type) in log_codec.RECORD_TYPES and row.at is not None:
        return TranscriptKind.DISCUSSION
    if (isinstance(row.payload, dict) and row.type in _CODEX_ROWS) or row.type == "thread.started":
        return TranscriptKind.CODEX
    if (
        row.type is None
        and row.timestamp is not None
        and (row.instructions is not None or row.git is not None)
    ):
        return TranscriptKind.CODEX
    if row.type is None and row.projectHash is not None and row.sessionId is not None:
        return TranscriptKind.GEMINI_CLI
    if row.type is None and row.role in ("user", "assistant") and isinstance(row.message, dict):
        return TranscriptKind.CURSOR
    if row.type is None and isinstance(row.working_dir, str) and row.message_count is not None:
        return TranscriptKind.GOOSE
    if isinstance(row.data, dict) and str(row.type).startswith(("session.", "user.", "assistant.", "tool.")):
        return TranscriptKind.COPILOT_CLI
    if row.type == "session_start" and row.id is not None:
        return TranscriptKind.DROID
    if row.type == "session" and row.id is not None and row.cwd is not None:
        return TranscriptKind.PI
    if row.type is None and (isinstance(row.mes, str) or isinstance(row.chat_metadata, dict)):
        return TranscriptKind.SILLYTAVERN
    if row.object == "thread.message":
        return TranscriptKind.JAN
    if row.type is None and row.kind == 0 and isinstance(row.v, dict) and "requests" in row.v:
        return TranscriptKind.COPILOT
    ids = (row.sessionId, row.leafUuid, row.uuid, row.messageId)
    is_session = isinstance(row.type, str) and row.v is None and any(isinstance(one, str) for one in ids)
    if is_session:
        return TranscriptKind.CLAUDE_CODE
    is_message = row.type is None and isinstance(row.role, str) and row.content is not None
    return TranscriptKind.MESSAGES if is_message else TranscriptKind.UNKNOWN


def read_transcripts(
    kind: TranscriptKind, buffer: Buffer, before: Sequence[Buffer] = ()
) -> Iterator[Transcript | Unread]:
    """Conversations of a file, one after another, and what of it could not be read. Holds one at a time.

    Args:
        buffer: all of the file; mapped, so that its size costs no memory.
        before: of Claude Code: sessions that this one was branched off from, where it does not hold their rows.

    Raises:
        ValueError: no conversation can be read from this kind.
    """
    if before:
        yield from claude_code.read(buffer, before)
    elif kind in _IN_DATABASES and bytes(buffer[:16]) == databases.HEAD:
        yield from _IN_DATABASES[kind](buffer)
    elif (read := _LINES.get(kind)) is not None:
        yield from read(buffer)
    elif kind is TranscriptKind.TAKEOUT and bytes(buffer[:64]).lstrip().startswith(b"<"):
        yield from _each(kind, chats.takeout_entries(buffer))
    elif kind in _ARRAYS:
        yield from _each(kind, arrays.elements(buffer))
    else:
        raise ValueError(tr("this is not a conversation that the program can read"))


def read_stream(kind: TranscriptKind, stream: arrays.Stream) -> Iterator[Transcript | Unread]:
    """The same from something that is read forward once, as a pipe: arrays an element at a time, all else whole."""
    if kind in _ARRAYS and kind is not TranscriptKind.TAKEOUT:
        yield from _each(kind, arrays.damaged(stream))
    else:
        yield from read_transcripts(kind, stream.read())


def _each(kind: TranscriptKind, found: Iterable[Any]) -> Iterator[Transcript | Unread]:
    count, is_empty = 0, True
    for one in found:
        is_empty = False
        if isinstance(one, Unread):
            count += one.is_conversation
            yield one
            continue
        count += 1
        try:
            yield _decoded(kind, one)
        except ValueError as error:
            inner = _within(one)
            if inner:
                yield from _each(kind, iter(inner))
            else:
                yield Unread(
                    place=tr("conversation {count}", count=count), why=str(error), is_conversation=True
                )
    if is_empty:
        yield Unread(place="", why=tr("the program can read no conversation in this file"))


class _Deeper(msgspec.Struct):
    """Object within that one that has the list, as TypingMind writes it."""

    chats: list[msgspec.Raw] = []


class _Around(msgspec.Struct):
    """Object that an exporter puts around its list of conversations."""

    conversations: list[msgspec.Raw] = []
    chats: list[msgspec.Raw] = []
    data: list[msgspec.Raw] | _Deeper = []


def _within(element: Any) -> list[msgspec.Raw]:
    """Conversations in an element that only holds them."""
    try:
        found = from_json(element, _Around) if isinstance(element, msgspec.Raw) else _Around()
    except (msgspec.DecodeError, RecursionError, ValueError):
        return []
    deeper = found.data.chats if isinstance(found.data, _Deeper) else found.data
    return found.conversations or found.chats or deeper


def _decoded(kind: TranscriptKind, element: Any) -> Transcript:
    """A conversation; one whose bytes are no UTF-8 is read as Windows-1252 where they are not, and that is counted."""
    try:
        return _ARRAYS[kind](element)
    except ValueError:
        again = _as_utf8(element)
        if again is None:
            raise
    found = _ARRAYS[kind](msgspec.Raw(again))
    return msgspec.structs.replace(found, skipped={**found.skipped, NO_UTF8: 1})


def _as_utf8(element: Any) -> bytes | None:
    """Bytes of another encoding as UTF-8; None for what is UTF-8 already, or was parsed."""
    data = bytes(element) if isinstance(element, msgspec.Raw) else b""
    try:
        data.decode()
    except UnicodeDecodeError:
        return decoded(data).encode()
    return None


def _by_first_object(text: str) -> TranscriptKind:
    for line in text.split("\n", 20)[:20]:
        first = _loaded(line)
        if isinstance(first, dict):
            marks = {name: first.get(name) for name in _Mark.__struct_fields__}
            if (kind := _kind_of_row(_Mark(**marks))) is not TranscriptKind.UNKNOWN:
                return kind
    if f'"format": "{discussion_export.FORMAT}"' in text:
        return TranscriptKind.EXPORT
    return _by_keys(text)


def _by_keys(text: str) -> TranscriptKind:
    for kind, keys in _KEYS:
        if all(key in text for key in keys):
            return kind
    if _CONTENTS.match(text) is not None:
        return TranscriptKind.GEMINI_CLI
    is_messages = _MESSAGES.match(text) is not None
    return TranscriptKind.CLINE if is_messages else TranscriptKind.UNKNOWN


_MESSAGES = late(r'\[\s*\{[^{}\[\]]{0,400}"(?:role"\s*:\s*"(?:user|assistant)"|content"\s*:)')
"""Beginning of a bare list of messages."""
_CONTENTS = late(r'\[\s*\{(?:\s*"role"\s*:\s*"(?:user|model)"\s*,)?\s*"parts"\s*:\s*\[')
"""Beginning of a bare list of what Gemini is sent."""


def _loaded(text: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return None


# Paths through a conversation whose messages answer one another.


def path_to(messages: Mapping[str, TranscriptMessage], last: str) -> tuple[TranscriptMessage, ...]:
    """Messages from a first one to `last`, each answering the one before. A circle ends where it closes. O(n)."""
    path: list[TranscriptMessage] = []
    seen: set[str] = set()
    at = last
    while at in messages and at not in seen:
        seen.add(at)
        path.append(messages[at])
        at = messages[at].parent
    return tuple(reversed(path))


def seen_last(transcript: Transcript) -> tuple[TranscriptMessage, ...]:
    """The path that the person saw last; all messages in their order where nothing says which that was."""
    if not transcript.current:
        return transcript.messages
    return path_to(by_id(transcript.messages), transcript.current)


class Paths(msgspec.Struct, frozen=True):
    """Paths through a conversation, the one that was seen last first; left: how many more there are."""

    paths: tuple[tuple[TranscriptMessage, ...], ...]
    left: int = 0


def paths(transcript: Transcript, most: int = 1 << 30, most_messages: int = 1 << 30) -> Paths:
    """Every path from a first message to a last one, the one that was seen last before all others.

    Messages in a circle that no first message leads to are a path of their own, so that none is lost. O(messages), and
    what the paths hold.

    Args:
        most, most_messages: paths, and messages in all of them, that are made; the first is made in any case.
    """
    known = by_id(transcript.messages)
    answered = {one.parent for one in transcript.messages if one.parent in known and one.parent != one.id}
    ends = [one.id for one in transcript.messages if one.id not in answered]
    current = transcript.current if transcript.current in known else ""
    ordered = list(_current_first(ends, current))
    covered: set[str] = set()
    for end in ordered:
        _cover(known, end, covered)
    for one in reversed(transcript.messages):
        if one.id not in covered:
            ordered.append(one.id)
            _cover(known, one.id, covered)
    found: list[tuple[TranscriptMessage, ...]] = []
    count = 0
    for end in ordered[:most]:
        path = path_to(known, end)
        count += len(path)
        if found and count > most_messages:
            break
        found.append(path)
    return Paths(tuple(found), len(ordered) - len(found))


def _cover(known: Mapping[str, TranscriptMessage], end: str, covered: set[str]) -> None:
    """Add the messages of a path that no other has."""
    at = end
    while at in known and at not in covered:
        covered.add(at)
        at = known[at].parent


def by_id(messages: Iterable[TranscriptMessage]) -> dict[str, TranscriptMessage]:
    """Messages by their id; of two with one id the first."""
    known: dict[str, TranscriptMessage] = {}
    for one in messages:
        known.setdefault(one.id, one)
    return known


def _current_first(ends: Sequence[str], current: str) -> Sequence[str]:
    """Ends of the paths, the one that was seen last before all others; the newest where nothing says which."""
    first = current or (ends[-1] if ends else "")
    return [first, *(end for end in ends if end != first)] if first else []
