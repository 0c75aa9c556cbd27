"""What programs have written last while they run: logs beside databases, branches of sessions, and replies in pieces."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from core.imports.import_sources import mark_of
from core.kernel.values.imports import Transcript
from core.kernel.values.messages import AttachmentPart, TextPart, ToolCallPart, ToolResultPart
from core.talk.transcripts.databases import read_llm, read_opencode, with_log
from core.talk.transcripts.transcript_reader import paths
from tests.core.imports.brought import USE, Brought, T, a, brought, cc, check, cx, lines, ri, u
from tests.core.imports.test_memory import imported

LAYOUT = """CREATE TABLE `session` (id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER);
CREATE TABLE `message` (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE `part` (id TEXT, message_id TEXT, data TEXT);
INSERT INTO session VALUES ('ses_1', NULL, '/srv', 'Tides', 1793000000000);"""


def says(base: sqlite3.Connection, number: int, role: str, text: str) -> None:
    base.execute(
        "INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (f"m{number}", number, json.dumps({"role": role}))
    )
    part = json.dumps({"type": "text", "text": text})
    base.execute("INSERT INTO part VALUES (?, ?, ?)", (f"p{number}", f"m{number}", part))
    base.commit()


def running(path: Path) -> sqlite3.Connection:
    """A database that its program has open, with all that was written in the log beside it."""
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA wal_autocheckpoint = 0")
    base.executescript(LAYOUT)
    says(base, 1, "user", "When?")
    return base


def test_what_stands_in_the_log_alone_is_taken_and_what_comes_later_adds_its_part(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    place = tmp_path / "opencode.db"
    with closing(running(place)) as program:
        assert imported(place).new_messages == 1
        before = mark_of([str(place)])
        says(program, 2, "assistant", "At noon.")

        assert mark_of([str(place)]) != before
        again = imported(place)
        assert (again.grown, again.new_messages) == (1, 1)
        program.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert imported(place).new_messages == 0


def test_a_log_and_its_file_are_what_the_program_sees_at_each_of_its_writes(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    with closing(running(place)) as program:
        for number in range(2, 40):
            says(program, number, "user", "word " * number * 20)
            if number % 9 == 0:
                program.execute("PRAGMA wal_checkpoint(RESTART)")
            log = Path(f"{place}-wal").read_bytes()
            assert with_log(place.read_bytes(), log)[100:] == program.serialize()[100:]


def test_of_a_write_that_is_under_way_nothing_counts(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    with closing(running(place)) as program:
        before, whole = program.serialize(), Path(f"{place}-wal").read_bytes()
        says(program, 2, "user", "word " * 2_000)
        log = Path(f"{place}-wal").read_bytes()
        for end in range(len(whole), len(log), 997):
            assert with_log(place.read_bytes(), log[:end])[100:] == before[100:]
        broken = bytearray(log)
        broken[-9] ^= 1
        assert with_log(place.read_bytes(), bytes(broken))[100:] == before[100:]


@pytest.mark.parametrize("log", [b"", b"words", b"\x37\x7f\x06\x82" + bytes(60)])
def test_what_is_no_log_changes_nothing(log: bytes) -> None:
    assert with_log(b"SQLite format 3\0" + bytes(512), log) == b"SQLite format 3\0" + bytes(512)


def test_threads_of_zed_are_read_and_one_that_is_cut_off_is_named(tmp_path: Path) -> None:
    thread = {
        "version": "0.3.0",
        "title": "Tides",
        "messages": [
            {"User": {"id": "1", "content": [{"Text": "When?"}]}},
            {"Agent": {"content": [{"Text": "At noon."}], "tool_results": {}}},
        ],
        "model": {"provider": "anthropic", "model": "claude-opus-4-8"},
    }
    packed = zstd.compress(json.dumps(thread).encode())
    (tmp_path / "home").mkdir()
    place = tmp_path / "threads.db"
    with closing(sqlite3.connect(place)) as base:
        base.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, "
            "data_type TEXT NOT NULL, data BLOB NOT NULL)"
        )
        for key, data in (("t1", packed), ("t2", packed[:-9])):
            base.execute("INSERT INTO threads VALUES (?, 'Tides', ?, 'zstd', ?)", (key, T % 1, data))
        base.commit()

    report = imported(place)

    assert (report.made, report.new_messages) == (1, 2)
    assert ["the thread ends in the middle" in one.why for one in report.faults] == [True]


OF_GOOSE = """CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, created_at TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER,
    metadata_json TEXT);
INSERT INTO sessions VALUES ('20261001_1', 'Pump', '', '/srv', '2026-10-01 08:00:00'), ('20261001_2', '', '', '/srv', NULL);
INSERT INTO messages VALUES
    (1, '20261001_1', 'user', '[{"type": "text", "text": "Fix the pump."}]', 1793000000, NULL),
    (2, '20261001_1', 'assistant', '[{"type": "toolRequest", "id": "t", "toolCall": {"status": "success", "value":
        {"name": "shell", "arguments": {"command": "ls"}}}}]', 1793000001, '{"userVisible": true}'),
    (3, '20261001_1', 'user', '[{"type": "toolResponse", "id": "t", "toolResult": {"status": "success", "value":
        [{"type": "text", "text": "pump.py"}]}}]', 1793000002, NULL),
    (4, '20261001_1', 'assistant', '[{"type": "text", "text": "Fixed."}]', 1793000003, NULL),
    (5, '20261001_1', 'user', '[{"type": "text", "text": "A summary."}]', 1793000004, '{"userVisible": false}');"""


def test_sessions_of_goose_are_read_from_its_database(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    place = tmp_path / "sessions.db"
    with closing(sqlite3.connect(place)) as base:
        base.executescript(OF_GOOSE)

    report = imported(place)

    assert (report.made, report.new_messages, report.faults) == (1, 4, ())


def test_a_session_of_goose_that_its_agent_began_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    place = tmp_path / "sessions.db"
    with closing(sqlite3.connect(place)) as base:
        base.executescript(OF_GOOSE)
        base.executescript("ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user';")
        base.executescript("UPDATE messages SET session_id = '20261001_2' WHERE id = 1;")
        base.executescript("UPDATE sessions SET session_type = 'sub_agent' WHERE id = '20261001_2';")

    report = imported(place)

    assert (report.made, report.count, report.new_messages) == (1, 2, 3)
    assert [bool(row.why) for row in report.rows] == [False, True]


def test_a_broken_row_of_a_database_costs_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    goose, opencode = tmp_path / "sessions.db", tmp_path / "opencode.db"
    with closing(sqlite3.connect(goose)) as base:
        base.executescript(OF_GOOSE)
        base.execute("UPDATE messages SET content_json = '[{' WHERE id = 4")
        base.execute(
            "INSERT INTO messages SELECT 6, '20261001_2', role, content_json, 6, NULL FROM messages WHERE id = 1"
        )
        base.commit()
    with closing(running(opencode)) as base:
        says(base, 2, "assistant", "At noon.")
        base.execute("UPDATE part SET data = '{' WHERE id = 'p1'")
        base.commit()
        reports = imported(goose), imported(opencode)

    assert [(one.made, one.new_messages) for one in reports] == [(2, 4), (1, 1)]
    assert [
        (fault.place.endswith(place), "skipped" in fault.why)
        for one, place in zip(reports, ("'4'", "'m1'"), strict=True)
        for fault in one.faults
    ] == [(True, True)] * 2


@pytest.mark.parametrize("name", ['"responses"', "[responses]", "`responses`", "responses"])
def test_a_database_is_known_however_a_copy_of_it_is_quoted(name: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    place = tmp_path / "logs.db"
    with closing(sqlite3.connect(place)) as base:
        base.executescript(
            f"""create table conversations(id text primary key, name text, model text);
            create table {name}(id text primary key, model text, prompt text, system text, response text,
                conversation_id text, datetime_utc text);
            create table tool_calls(id integer, response_id text, name text, arguments text, tool_call_id text);
            create table tool_results(id integer, response_id text, name text, output text, tool_call_id text);
            insert into responses values('r1', 'm', 'When?', null, '', 'c', '2026-10-01T08:00:00'),
                ('r2', 'm', '', null, 'At noon.', 'c', '2026-10-01T08:01:00');
            insert into tool_calls values(1, 'r1', 'tides', '{{}}', 'k');
            insert into tool_results values(1, 'r2', 'tides', 'high at 12', 'k');"""
        )

    assert (imported(place).made, imported(place).new_messages) == (1, 0)
    (made,) = (tmp_path / "home" / "discussions").iterdir()
    told = (made / "log.jsonl").read_text()
    assert told.index("When?") < told.index("tides") < told.index("high at 12") < told.index("At noon.")


NOTE = "This session is being continued from a previous conversation that ran out of context."


def _branch_of_compacted() -> tuple[str, str]:
    """A session that was compacted, and a branch of it, as Claude Code 2.1 writes them: rows from the compaction on."""
    note: dict[str, Any] = {"isCompactSummary": True}
    summary = u(
        "This session is being continued from a previous conversation that ran out of context.", **note
    )
    trunk = [
        u("When?", uuid="q1", parentUuid=None),
        a("At noon.", uuid="a1", parentUuid="q1"),
        {
            "type": "system",
            "subtype": "compact_boundary",
            "uuid": "b",
            "parentUuid": None,
            "logicalParentUuid": "a1",
        },
        {**summary, "uuid": "s", "parentUuid": "b"},
        u("And ebb?", uuid="q2", parentUuid="s"),
        a("At six.", uuid="a2", parentUuid="q2"),
    ]
    first = "97f2b291-b7b7-4eb1-9fb7-99f7bb84a8a0"
    kept = [{**row, "forkedFrom": {"sessionId": first, "messageUuid": row["uuid"]}} for row in trunk[2:]]
    title = {
        "type": "custom-title",
        "customTitle": f"{NOTE} The summary be (Branch)",
    }
    own = [u("On the branch?", uuid="q3", parentUuid="a2"), a("Yes.", uuid="a3", parentUuid="q3")]
    later = [u("On the trunk?", uuid="q4", parentUuid="a2"), a("Yes, too.", uuid="a4", parentUuid="q4")]
    branch = cc(*kept, *own, sid="branch") + lines({**title, "sessionId": "branch"})
    return cc(*trunk, *later, sid=first), branch


@pytest.mark.parametrize(
    "name", ["00000000-0000-0000-0000-000000000000", "ffffffff-0000-0000-0000-000000000000"]
)
def test_a_branch_of_a_compacted_session_is_a_branch_of_its_discussion(name: str, tmp_path: Path) -> None:
    trunk, branch = _branch_of_compacted()
    files = {"p/97f2b291-b7b7-4eb1-9fb7-99f7bb84a8a0.jsonl": trunk, f"p/{name}.jsonl": branch}
    before = ["u: When?", "a: At noon.", "u: And ebb?", "a: At six."]
    case = Brought(
        id="branch",
        files=files,
        talks=2,
        title="When?",
        said=[[*before, "u: On the trunk?", "a: Yes, too."], [*before, "u: On the branch?", "a: Yes."]],
    )
    check(case, tmp_path)


def test_a_reply_that_is_written_as_it_grows_is_said_once(tmp_path: Path) -> None:
    """Each row of a reply may hold all of it so far (getagentseal/codeburn#201, serpro69/capy#37)."""
    rows = [a("Look", mid="m1"), a("Looking now.", mid="m1"), a("Looking now.", USE, mid="m1")]
    case = Brought(id="grows", files={"s.jsonl": cc(u("Look."), *rows, a("Done.", mid="m2"))}, roles="uaaa")
    ((_, messages),) = brought(case, tmp_path)
    assert sum("Looking" in str(one.parts) for one in messages) == 1


def test_the_sum_that_a_model_made_of_a_rollout_is_no_reply(tmp_path: Path) -> None:
    def said(role: str, text: str) -> dict[str, Any]:
        kind = "input_text" if role == "user" else "output_text"
        return ri(type="message", role=role, content=[{"type": kind, "text": text}])

    compacted = {"type": "compacted", "payload": {"message": "Here is the summary:\nTides were spoken of."}}
    rows = [
        said("user", "When?"),
        said("assistant", "At noon."),
        said("assistant", "Tides were spoken of."),
        compacted,
    ]
    head = {"type": "session_meta", "payload": {"id": "c1", "timestamp": T % 0, "cwd": "/srv"}}
    case = Brought(
        id="sum",
        files={"rollout-1.jsonl": cx(head, *rows, said("user", "And ebb?"))},
        said=[["u: When?", "a: At noon.", "u: And ebb?"]],
    )
    check(case, tmp_path)


def test_what_llm_keeps_in_fragments_and_pieces_is_whole(tmp_path: Path) -> None:
    """Rows as `llm` 0.36 wrote them: a prompt behind a fragment, a call and its answer, a picture."""
    (tmp_path / "home").mkdir()
    place = tmp_path / "logs.db"
    prompt = {"text_ref": [{"fragment": 1}, {"literal": "\nWith a fragment"}]}
    call = {"name": "now", "arguments": {"zone": "UTC"}, "tool_call_id": "c1"}
    rows: list[tuple[str, str | None, str, list[tuple[str, str | None, str | None, Any]]]] = [
        (
            "m1",
            None,
            "user",
            [("text", None, None, prompt), ("attachment", None, None, {"attachment": {"id": "a"}})],
        ),
        ("m2", "m1", "assistant", [("text", None, "I look.", None), ("tool_call", "now", None, call)]),
        ("m3", "m2", "tool", [("tool_result", "now", None, {**call, "output": "noon"})]),
        ("m4", "m3", "assistant", [("text", None, "At noon.", None)]),
    ]
    with closing(sqlite3.connect(place)) as base:
        base.executescript(
            "CREATE TABLE conversations (id TEXT, name TEXT, model TEXT); CREATE TABLE responses (id TEXT, model TEXT, prompt TEXT, "
            "system TEXT, response TEXT, conversation_id TEXT, datetime_utc TEXT);"
            "CREATE TABLE threads (id TEXT, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);"
            "CREATE TABLE turns (tip_message_hash TEXT, model TEXT); CREATE TABLE messages (hash TEXT, parent_hash TEXT, role TEXT);"
            "CREATE TABLE parts (message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);"
            "CREATE TABLE fragments (id INTEGER, content TEXT); INSERT INTO fragments VALUES (1, 'The tide table');"
            "CREATE TABLE attachments (id TEXT, path TEXT, url TEXT, type TEXT); INSERT INTO attachments VALUES ('a', 'pic.png', NULL, 'x');"
            "INSERT INTO threads VALUES ('t', 'Tides', 'm4', '2026-11-30 18:42:50'); INSERT INTO turns VALUES ('m4', 'loop');"
        )
        for key, parent, role, parts in rows:
            base.execute("INSERT INTO messages VALUES (?, ?, ?)", (key, parent, role))
            for number, (kind, tool, text, payload) in enumerate(parts):
                told = json.dumps(payload) if payload else None
                base.execute(
                    "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?)", (key, number, kind, tool, text, told)
                )
        base.commit()
    (talk,) = read_llm(place.read_bytes())

    assert isinstance(talk, Transcript)
    assert [one.role for one in talk.messages] == ["user", "assistant", "assistant", "assistant"]
    asked, called, answered, _ = (one.parts for one in talk.messages)
    assert asked[0] == TextPart("The tide table\nWith a fragment")
    assert [part.name for part in asked if isinstance(part, AttachmentPart)] == ["pic.png"]
    assert called[1] == ToolCallPart(call_id="c1", name="now", arguments_json='{"zone": "UTC"}')
    assert answered == (ToolResultPart(call_id="c1", text="noon"),)


def test_a_fork_of_opencode_is_another_way_on_and_a_like_named_session_is_not(tmp_path: Path) -> None:
    place = tmp_path / "opencode.db"
    talks = {
        ("s1", "Tides"): ("When?", "At noon.", "And the ebb?"),
        ("s2", "Tides (fork #1)"): ("When?", "At noon.", "And the moon?"),
        ("s3", "Tides (fork #2)"): ("When?", "At noon.", "And the ebb?", "Later."),
        ("s4", "Tides (fork #3)"): ("Why?",),
    }
    with closing(sqlite3.connect(place)) as base:
        base.executescript(LAYOUT.partition("INSERT")[0])
        for number, ((key, title), texts) in enumerate(talks.items()):
            base.execute("INSERT INTO session VALUES (?, NULL, '/srv', ?, ?)", (key, title, number))
            for at, text in enumerate(texts, 1793000000001):
                role = "user" if text.endswith("?") else "assistant"
                told = json.dumps({"role": role, "time": {"created": at}})
                base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (f"{key}-{at}", key, at, told))
                part = json.dumps({"type": "text", "text": text})
                base.execute("INSERT INTO part VALUES (?, ?, ?)", (f"{key}-{at}", f"{key}-{at}", part))
        base.commit()
    found = [one for one in read_opencode(place.read_bytes()) if isinstance(one, Transcript)]

    assert [(one.title, len(one.messages)) for one in found] == [("Tides", 5), ("Tides (fork #3)", 1)]
    said = {one.id: (one.parent[:2], one.parts[0]) for one in found[0].messages}
    assert [(key[:2], *told) for key, told in said.items()][3:] == [
        ("s2", "s1", TextPart("And the moon?")),
        ("s3", "s1", TextPart("Later.")),
    ]
    assert found[0].current.startswith("s3")


def test_a_turn_taken_back_in_opencodes_database_is_a_way_beside_the_talk_also_where_it_was_forked(
    tmp_path: Path,
) -> None:
    """Shape of a session that OpenCode 1.18.33 wrote: forked, and later a turn of the first one was taken back."""
    place = tmp_path / "opencode.db"
    talks = {
        ("s1", "Tides", 90, "s1-3"): ("When?", "At noon.", "And the ebb?", "Later."),
        ("s2", "Tides (fork #1)", 50, None): ("When?", "At noon.", "And the moon?"),
    }
    with closing(sqlite3.connect(place)) as base:
        base.executescript(LAYOUT.partition("INSERT")[0])
        base.execute("ALTER TABLE session ADD COLUMN revert TEXT")
        base.execute("ALTER TABLE session ADD COLUMN time_updated INTEGER")
        for (key, title, written, undone), texts in talks.items():
            told = None if undone is None else json.dumps({"messageID": undone, "snapshot": "x"})
            created = 1793000000000 + int(key[1])
            base.execute(
                "INSERT INTO session VALUES (?, NULL, '/srv', ?, ?, ?, ?)",
                (key, title, created, told, created + written),
            )
            for at, text in enumerate(texts, 1):
                about = json.dumps({"role": "user" if at % 2 else "assistant", "time": {"created": at}})
                base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (f"{key}-{at}", key, at, about))
                part = json.dumps({"type": "text", "text": text})
                base.execute("INSERT INTO part VALUES (?, ?, ?)", (f"{key}-{at}", f"{key}-{at}", part))
        base.commit()
    (talk,) = (one for one in read_opencode(place.read_bytes()) if isinstance(one, Transcript))

    assert talk.current == "s1-2"
    ways = [
        [part.text for one in way for part in one.parts if isinstance(part, TextPart)]
        for way in paths(talk).paths
    ]
    assert ways[0] == ["When?", "At noon."]
    assert sorted(ways[1:]) == [
        ["When?", "At noon.", "And the ebb?", "Later."],
        ["When?", "At noon.", "And the moon?"],
    ]
