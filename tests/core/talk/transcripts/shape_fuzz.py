"""Files of other programs with fields of every other type, cut lines and odd bytes: each is read, or said, and nothing raises."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import msgspec

from core.imports.export_knowledge import knowledge_of
from core.imports.import_plan import plan_import
from core.kernel.values.imports import Transcript, TranscriptKind
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MessageRecord
from core.talk.discussion import log_codec
from core.talk.discussion.discussion_export import export_markdown
from core.talk.discussion.log_content import fold
from core.talk.transcripts.databases import HEAD
from core.talk.transcripts.transcript_reader import read_transcripts, recognised
from tests.core.imports import (
    test_brought_chats,
    test_brought_more_reports,
    test_brought_reports,
    test_brought_sessions,
)
from tests.core.records import ID, meta
from tests.core.talk.transcripts import (
    test_shapes_of_chats,
    test_shapes_of_exports,
    test_shapes_of_more,
    test_shapes_of_others,
    test_shapes_of_sessions,
)

WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e300,
    2**70,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    {},
    {"a": {}},
    [None, 1, "x", {}],
)
"""Values of every type, one of which a field is given in place of its own."""

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)


class Seed(msgspec.Struct, frozen=True):
    """A file as its program writes it; `named`: its name, where the person names it."""

    id: str
    kind: TranscriptKind
    data: bytes
    named: str = ""


def _of_shapes() -> Iterator[Seed]:
    modules = (
        test_shapes_of_sessions,
        test_shapes_of_exports,
        test_shapes_of_chats,
        test_shapes_of_others,
        test_shapes_of_more,
    )
    for shape in (shape for module in modules for shape in module.SHAPES):
        yield Seed(id=shape.id, kind=shape.kind, data=shape.data.encode(), named=shape.named)


def _brought() -> Iterator[Seed]:
    modules = (test_brought_sessions, test_brought_chats, test_brought_reports, test_brought_more_reports)
    for case in (case for module in modules for case in module.CASES):
        for name, text in case.files.items():
            data, named = text.encode(), name if name == case.named else ""
            if (kind := recognised(data, named)) is not TranscriptKind.UNKNOWN:
                yield Seed(id=f"{case.id}: {name}", kind=kind, data=data, named=named)


def _ours() -> Iterator[Seed]:
    said = MessageRecord(
        id="m", at=NOW, role=Role.USER, parts=(TextPart("When?"),), provider="acme", model="m-1"
    )
    whole = export_markdown(meta(name="A talk"), fold(ID, (said,)))
    yield Seed(id="our export", kind=TranscriptKind.EXPORT, data=whole.encode())
    yield Seed(id="our log", kind=TranscriptKind.DISCUSSION, data=log_codec.encode(said))


_LAYOUTS = {
    TranscriptKind.LLM: """CREATE TABLE [conversations] ([id] TEXT, [name] TEXT, [model] TEXT);
        CREATE TABLE [responses] ([id] TEXT, [model] TEXT, [prompt] TEXT, [system] TEXT, [response] TEXT,
            [conversation_id] TEXT, [datetime_utc] TEXT);
        INSERT INTO conversations VALUES ('c', 'Tides', 'm-1');
        INSERT INTO responses VALUES ('r', 'm-1', 'When?', NULL, 'At noon.', 'c', '2026-10-01T08:00:00')""",
    TranscriptKind.OPENCODE: """CREATE TABLE `session` (id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER);
        CREATE TABLE `message` (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE `part` (id TEXT, message_id TEXT, data TEXT);
        INSERT INTO session VALUES ('ses_1', NULL, '/srv', 'Tides', 1793000000000);
        INSERT INTO message VALUES ('m', 'ses_1', 1, '{"role": "user"}');
        INSERT INTO part VALUES ('p', 'm', '{"type": "text", "text": "When?"}')""",
    TranscriptKind.ZED: """CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL,
            data_type TEXT NOT NULL, data BLOB NOT NULL);
        INSERT INTO threads VALUES ('t', 'Tides', '2026-10-01T08:00:00Z', 'json', '{"title": "Tides", "messages":
            [{"User": {"id": "1", "content": [{"Text": "When?"}]}}], "version": "0.3.0"}')""",
    TranscriptKind.GOOSE: """CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, created_at TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
        INSERT INTO sessions VALUES ('20261001_1', 'Tides', '/srv', '2026-10-01 08:00:00');
        INSERT INTO messages VALUES (1, '20261001_1', 'user', '[{"type": "text", "text": "When?"}]', 1793000000)""",
    TranscriptKind.CRUSH: """CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL default '[]',
            model TEXT, created_at INTEGER NOT NULL, is_summary_message INTEGER DEFAULT 0);
        INSERT INTO sessions VALUES ('s', NULL, 'Tides', 1793000000);
        INSERT INTO messages VALUES ('m', 's', 'user', '[{"type": "text", "data": {"text": "When?"}}]', '', 1793000000, 0)""",
}


def _databases() -> Iterator[Seed]:
    for kind, layout in _LAYOUTS.items():
        with closing(sqlite3.connect(":memory:")) as base:
            base.executescript(layout)
            yield Seed(id=f"database of {kind.value}", kind=kind, data=base.serialize())


SEEDS: tuple[Seed, ...] = (*_of_shapes(), *_brought(), *_ours(), *_databases())


def changed(seed: Seed, chance: random.Random) -> bytes:
    """A file with one thing in it that its program would not write."""
    if seed.data.startswith(HEAD):
        return _overwritten(seed.data, chance)
    rows = seed.data.decode().split("\n")
    number = chance.randrange(len(rows))
    try:
        row = json.loads(rows[number])
    except ValueError:
        return _torn(seed.data, chance)
    if chance.random() < 0.1:
        return _torn(seed.data, chance)
    places = list(_places(row))
    if not places:
        return _torn(seed.data, chance)
    holder, key = chance.choice(places)
    if isinstance(holder, dict) and chance.random() < 0.2:
        del holder[key]
    else:
        holder[key] = chance.choice(WRONG)
    rows[number] = json.dumps(row)
    return "\n".join(rows).encode()


def _overwritten(data: bytes, chance: random.Random) -> bytes:
    """A database with bytes of chance in it, or cut off."""
    made = bytearray(data)
    for _ in range(chance.randrange(1, 9)):
        at = chance.randrange(len(made))
        made[at : at + chance.randrange(1, 40)] = chance.randbytes(chance.randrange(1, 40))
    return bytes(made[: chance.randrange(len(made))] if chance.random() < 0.2 else made)


def _torn(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return chance.choice(
        (
            data[:at],
            data[:at] + b"\xff\x00" + data[at:],
            data[at:],
            data[:at] + data,
            data[:at] + b'"' + data[at:],
        )
    )


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def problem(seed: Seed, number: int) -> str:
    """Fault of a changed file, empty where all held."""
    data = changed(seed, random.Random(f"{seed.id} {number}"))
    try:
        knowledge_of(data)
        for kind in dict.fromkeys((recognised(data, seed.named), seed.kind)):
            try:
                found = list(read_transcripts(kind, data))
            except ValueError:
                if kind is seed.kind:
                    raise
                continue
            for one in found:
                if isinstance(one, Transcript):
                    plan_import(kind, one, lambda _: None, NOW, "a file")
    except Exception as error:  # noqa: BLE001 - any is a fault of ours
        return f"{seed.id}, change {number}: {type(error).__name__}: {error}"
    return ""
