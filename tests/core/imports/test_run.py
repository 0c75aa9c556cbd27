"""Imports end to end: twice adds nothing, branches are discussions, growth is added, a person's words stay."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.imports import import_sources
from core.imports.import_plan import Held, record_id
from core.imports.import_run import ImportRequest, Packed, pack, run_import, unpack
from core.kernel.values.imports import ImportReport, Transcript, TranscriptKind
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MarkRecord, MessageRecord
from core.talk.discussion import log, trash
from core.talk.discussion.discussion_meta import read_meta
from core.talk.transcripts.transcript_reader import paths, read_transcripts, seen_last

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
SHARED = Path(__file__).parents[3].parent / "shared" / "data" / "transcripts"


def talk(*said: tuple[str, str, str], current: str = "", key: str = "c1") -> dict[str, Any]:
    """A conversation of ChatGPT. `said`: id, parent, text; those with an even place are the person's."""
    mapping: dict[str, Any] = {"root": {"parent": None, "message": None}}
    for name, parent, text in said:
        role = "user" if name.startswith("u") else "tool" if name.startswith("t") else "assistant"
        content = {"content_type": "text", "parts": [text]}
        mapping[name] = {
            "parent": parent or "root",
            "message": {"author": {"role": role}, "create_time": 1.7e9, "content": content},
        }
    return {
        "id": key,
        "title": "Tides",
        "create_time": 1.7e9,
        "mapping": mapping,
        "current_node": current or said[-1][0],
    }


FIRST = (("u1", "", "Which datum?"), ("a1", "u1", "Mean sea level."), ("a2", "u1", "Chart datum."))


def imported(
    home: Path, *given: object, dry: bool = False, now: datetime = NOW, without: frozenset[str] = frozenset()
) -> ImportReport:
    paths = []
    for number, one in enumerate(given):
        path = home.parent / f"export-{number}.json"
        path.write_text(json.dumps(one))
        paths.append(str(path))
    return run_import(
        ImportRequest(home, tuple(paths), now, "anthropic", "claude", is_dry=dry, without=without)
    )


def ids(home: Path) -> list[str]:
    folder = home / "discussions"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def words(home: Path, discussion_id: str) -> list[str]:
    records = log.read(home, discussion_id).records
    return [
        part.text
        for one in records
        if isinstance(one, MessageRecord)
        for part in one.parts
        if isinstance(part, TextPart)
    ]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_of_two_conversations_with_one_id_each_can_be_left_out_alone(home: Path) -> None:
    other = (("u1", "", "Which moon?"), ("a1", "u1", "The full one."))
    rows = imported(home, talk(*FIRST), talk(*other), dry=True).rows
    for number in (0, 1):
        without = frozenset({rows[number].discussion_id})
        report = imported(home / f"home-{number}", talk(*FIRST), talk(*other), without=without)
        assert [bool(row.why) for row in report.rows] == [number == 0, number == 1]
        (made, *_) = ids(home / f"home-{number}")
        assert ("Which moon?" in words(home / f"home-{number}", made)) == (number == 0)


def test_a_dry_run_tells_what_an_import_does_and_writes_nothing(home: Path) -> None:
    seen = imported(home, [talk(*FIRST)], dry=True)

    assert (seen.made, seen.new_messages, seen.rows[0].branches) == (2, 3, 1)
    assert list(home.iterdir()) == []
    done = imported(home, [talk(*FIRST)])
    assert (done.made, done.new_messages) == (seen.made, seen.new_messages)


def test_an_edited_tree_becomes_a_discussion_and_its_branch(home: Path) -> None:
    report = imported(home, [talk(*FIRST)])

    main = report.rows[0].discussion_id
    (branch,) = set(ids(home)) - {main}
    assert words(home, main) == ["Which datum?", "Chart datum."]
    assert words(home, branch) == ["Which datum?", "Mean sea level."]
    meta = read_meta(home, branch).meta
    first = log.read(home, main).records[0]
    assert (meta.parent_id, meta.branch_message_id) == (main, first.id)
    assert read_meta(home, main).meta.created_at == datetime.fromtimestamp(1.7e9, UTC)


def test_of_what_is_left_out_no_branch_is_made(home: Path) -> None:
    shown = {"conversationId": "l1", "endpoint": "openAI", "title": "Tide"}
    rows = ("u1", "", "Which datum?"), ("a1", "u1", "Not now."), ("a2", "u1", "Chart datum.")
    told = [
        {"messageId": key, "parentMessageId": parent, "isCreatedByUser": not parent, "text": text}
        for key, parent, text in rows
    ]
    told[1]["error"] = True
    report = imported(home, {**shown, "messages": told})
    assert (report.made, report.rows[0].branches) == (1, 0)
    assert words(home, report.rows[0].discussion_id) == ["Which datum?", "Chart datum."]


def test_helpers_of_a_saved_session_make_no_discussions(home: Path, tmp_path: Path) -> None:
    heads = ("User", "Agent"), ("Agent - sidechain", "Agent"), ("Agent - sidechain", "User")
    turns = [
        f"_**{head} (2026-03-06 20:09:5{n}Z)**_\n\nWord {n}.\n\n---\n"
        for n, head in enumerate(sum(heads, ()))
    ]
    path = tmp_path / "session.md"
    path.write_text("<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n" + "\n".join(turns))
    report = run_import(ImportRequest(home, (str(path),), NOW, "p", "m", is_dry=False))
    assert (report.made, report.rows[0].branches, report.new_messages) == (1, 0, 4)
    assert words(home, report.rows[0].discussion_id) == [f"Word {n}." for n in (0, 1, 3, 5)]
    (found,) = read_transcripts(TranscriptKind.SPECSTORY, path.read_bytes())
    assert isinstance(found, Transcript)
    assert [one.id for one in seen_last(found)] == ["#1", "#2", "#4", "#6"]
    assert [[one.id for one in path] for path in paths(found).paths[1:]] == [["#3", "#5"]]


def test_an_import_writes_messages_and_marks_alone(home: Path) -> None:
    said = (("u1", "", "Run it"), ("a1", "u1", "ok"), ("t1", "a1", "rm -rf /"), ("a2", "t1", "Done"))
    imported(home, [talk(*said)])

    (one,) = ids(home)
    records = log.read(home, one).records
    assert {type(record) for record in records} == {MessageRecord, MarkRecord}
    assert [r.role for r in records if isinstance(r, MessageRecord)] == [Role.USER, *[Role.ASSISTANT] * 3]
    assert "[tool result]" in words(home, one)[2]
    assert sorted(path.name for path in (home / "discussions" / one).iterdir() if path.name != ".lock") == [
        "log.jsonl",
        "meta.toml",
    ]


def test_importing_twice_adds_nothing_also_when_another_branch_was_seen_last(home: Path) -> None:
    imported(home, [talk(*FIRST)])
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.name != ".lock"}

    again = imported(home, [talk(*FIRST)], [talk(*FIRST, current="a1")])

    assert (again.made, again.grown, again.new_count) == (0, 0, 0)
    assert {
        path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.name != ".lock"
    } == before
    assert {row.why for row in again.rows} == {"the whole conversation is already here"}


def test_a_source_that_grew_adds_its_new_part(home: Path) -> None:
    imported(home, [talk(*FIRST)])
    report = imported(home, [talk(*FIRST, ("u2", "a2", "And the moon?"), ("a3", "u2", "It pulls."))])

    assert (report.made, report.grown, report.new_messages) == (0, 1, 2)
    assert words(home, report.rows[0].discussion_id) == [
        "Which datum?",
        "Chart datum.",
        "And the moon?",
        "It pulls.",
    ]
    assert (
        imported(home, [talk(*FIRST, ("u2", "a2", "And the moon?"), ("a3", "u2", "It pulls."))]).new_count
        == 0
    )


def test_where_a_person_went_on_the_new_part_becomes_a_branch(home: Path) -> None:
    main = imported(home, [talk(*FIRST)]).rows[0].discussion_id
    log.append(home, main, [MessageRecord("mine", NOW, Role.USER, (TextPart("My own words"),))])

    report = imported(home, [talk(*FIRST, ("u2", "a2", "And the moon?"))])

    assert (report.made, report.grown) == (1, 0)
    assert words(home, main) == ["Which datum?", "Chart datum.", "My own words"]
    (new,) = [one for one in ids(home) if "And the moon?" in words(home, one)]
    assert words(home, new) == ["Which datum?", "Chart datum.", "And the moon?"]
    assert read_meta(home, new).meta.parent_id == main
    assert imported(home, [talk(*FIRST, ("u2", "a2", "And the moon?"))]).new_count == 0


def test_a_discussion_in_the_trash_is_not_made_again(home: Path) -> None:
    report = imported(home, [talk(FIRST[0], FIRST[2])])
    trash.delete(home, report.rows[0].discussion_id, NOW, "deleted by you")

    again = imported(home, [talk(FIRST[0], FIRST[2])])

    assert (again.made, again.rows[0].why) == (0, "the discussion of this conversation is in the trash")


def test_ids_with_path_characters_name_no_file(home: Path) -> None:
    odd = talk(("u../../x", "", "Hi"), ("a/../..", "u../../x", "Hello"), key="../../../etc/passwd")
    report = imported(home, [odd])

    assert ids(home) == [report.rows[0].discussion_id]
    assert "/" not in report.rows[0].discussion_id
    assert sorted(path.name for path in home.parent.iterdir()) == ["export-0.json", "home"]


def packed(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return path


def test_an_archive_is_read_as_its_files_are(home: Path, tmp_path: Path) -> None:
    data = json.dumps([talk(*FIRST)]).encode()
    path = packed(tmp_path / "export.zip", conversations__json=data, chat__html=b"<p>", user__json=b"{}")
    report = run_import(ImportRequest(home, (str(path),), NOW, "p", "m", is_dry=False))

    assert (report.made, report.other_names, report.faults) == (2, ("chat.html", "user.json"), ())
    assert imported(home, [talk(*FIRST)]).new_count == 0


def test_a_bomb_is_not_unpacked(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed(tmp_path / "bomb.zip", conversations__json=b"[" + b" " * 20_000_000 + b"]")
    report = run_import(ImportRequest(home, (str(bomb),), NOW, "p", "m", is_dry=False))
    assert "times its size" in report.faults[0].why

    monkeypatch.setattr(import_sources, "MAX_ARCHIVE_BYTES", 1_000)
    large = packed(tmp_path / "large.zip", conversations__json=json.dumps([talk(*FIRST)] * 9).encode())
    report = run_import(ImportRequest(home, (str(large),), NOW, "p", "m", is_dry=False))
    assert "unpacks to" in report.faults[0].why
    assert ids(home) == []


def test_a_damaged_archive_and_a_missing_file_are_sentences(home: Path, tmp_path: Path) -> None:
    path = packed(tmp_path / "export.zip", conversations__json=json.dumps([talk(*FIRST)]).encode())
    data = bytearray(path.read_bytes())
    data[60:80] = bytes(20)
    path.write_bytes(data)
    report = run_import(
        ImportRequest(home, (str(path), str(tmp_path / "none.json")), NOW, "p", "m", is_dry=False)
    )

    assert len(report.faults) == 2
    assert all(one.why and one.remedy for one in report.faults)
    assert ids(home) == []


def test_of_a_truncated_export_the_whole_conversations_are_imported(home: Path, tmp_path: Path) -> None:
    whole = json.dumps([talk(*FIRST), talk(*FIRST, key="c2")])
    path = tmp_path / "cut.json"
    path.write_text(whole[:-90])
    report = run_import(ImportRequest(home, (str(path),), NOW, "p", "m", is_dry=False))

    assert (report.count, report.made) == (1, 2)
    assert "after conversation 1" in report.faults[0].place


def test_a_pipe_is_imported_as_a_file(home: Path) -> None:
    pipe = io.BytesIO(json.dumps([talk(*FIRST)]).encode())
    report = run_import(ImportRequest(home, ("-",), NOW, "p", "m", is_dry=False), pipe=pipe)

    assert report.made == 2
    assert imported(home, [talk(*FIRST)]).new_count == 0


def test_real_transcripts_are_imported_and_a_second_time_add_nothing(home: Path) -> None:
    if not SHARED.is_dir():
        print("no transcripts beside this checkout: only the small ones above were imported")
        return
    request = ImportRequest(home, (str(SHARED),), NOW, "p", "m", is_dry=False)
    first = run_import(request)
    assert first.faults == ()
    branches = sum(row.branches for row in first.rows)
    assert first.made == first.count + branches == len(ids(home))
    assert first.count >= 15
    again = run_import(request)
    assert (again.made, again.grown, again.new_count) == (0, 0, 0)


def test_a_discussion_of_this_run_is_held_in_few_bytes_and_comes_back_whole() -> None:
    ids = tuple(record_id(TranscriptKind.CODEX, "t", str(number)) for number in range(1_000))
    held = Held(discussion_id="d", message_ids=ids, words=tuple(hash(one) for one in ids))
    small = pack(held)

    assert isinstance(small, Packed)
    assert unpack("d", small) == held
    assert (sys.getsizeof(small.ids) + sys.getsizeof(small.words)) / 1_000 < 21
    for other in ("20261122-143134-jqkuie", f"imported-{'x' * 24}", f"imported-{'0' * 22}  "):
        own = Held(discussion_id="d", message_ids=(*ids[:2], other), words=(1, 2, 3))
        assert pack(own) is own
