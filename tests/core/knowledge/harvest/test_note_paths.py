"""Notes on files find the files that they mean, by the folders that the conversation was about."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.values.harvest import HarvestItem, HarvestPreview, ProposedItem
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category
from core.knowledge.harvest.preview import edited
from core.knowledge.harvest.transcript_sources import (
    found_path,
    with_found_paths,
    working_folder,
    working_folders,
)
from core.knowledge.note_files import file_id_for_path, read_notes
from tests.core.knowledge.harvest.harvests import Harvest, Model, add_discussion, item_lines

THERE = {"/talks/a/src/b.py", "/project/src/b.py", "/project/c.py"}


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("src/b.py", "/talks/a/src/b.py"),
        ("./src/b.py", "/talks/a/src/b.py"),
        ("c.py", "/project/c.py"),
        ("gone.py", "gone.py"),
        ("~/notes.md", "/home/person/notes.md"),
        ("/srv/x.py", "/srv/x.py"),
        ("C:\\work\\x.py", "C:\\work\\x.py"),
        ("../a/src/b.py", "../a/src/b.py"),
        ("", ""),
    ],
)
def test_a_path_is_looked_for_where_the_conversation_worked_then_in_the_project(
    named: str, meant: str
) -> None:
    assert found_path(named, ("/talks/a", "/project"), "/home/person", THERE.__contains__) == meant


def test_the_folder_is_what_the_conversation_says_then_where_it_lies_then_the_project() -> None:
    told = b'{"type":"summary"}\n{"type":"user","cwd":"/talks/a","message":{"content":"x"}}\n'
    assert working_folder(TranscriptKind.CLAUDE_CODE, told) == "/talks/a"
    assert working_folder(TranscriptKind.CLAUDE_CODE, b'{"cwd":5}\n[]\nnot json\n') == ""
    assert working_folder(TranscriptKind.DISCUSSION, told) == ""

    path = Path("/p/.specstory/history/one.md")
    assert working_folders(path, "/talks/a", "/project") == ("/talks/a", "/p", "/project")
    assert working_folders(Path("/x/one.jsonl"), "", "") == ()


@pytest.mark.parametrize("is_its_own", [True, False])
def test_a_note_on_a_relative_path_goes_to_its_file_and_one_on_no_file_becomes_a_fact(
    tmp_path: Path, *, is_its_own: bool
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "b.py").write_text("x = 1\n", encoding="utf-8")
    add_discussion(home, "Tides", "Why?", folder=str(project) if is_its_own else "")
    answer = json.dumps(
        {"files": [{"path": "src/b.py", "note": "Holds one."}, {"path": "src/gone.py", "note": "Was slow."}]}
    )

    harvest = Harvest(home, Model({"Why?": answer}), root="" if is_its_own else str(project))
    report = harvest.apply()

    (note,) = read_notes(home)
    assert note.file_id == file_id_for_path(project / "src" / "b.py")
    assert [item.text for item in note.items] == ["Holds one."]
    facts = (paths.knowledge_dir(home) / "facts.md").read_text("utf-8")
    assert "- src/gone.py: Was slow. [from: " in facts
    assert len(item_lines(home)) == 2
    assert dict(report.items)["files"] == 2


@pytest.mark.parametrize("is_linked", [True, False])
def test_a_file_outside_of_what_the_conversation_was_about_is_never_looked_at(
    tmp_path: Path, *, is_linked: bool
) -> None:
    home, project, secret = tmp_path / "home", tmp_path / "project", tmp_path / "secret.key"
    project.mkdir()
    secret.write_text("hidden\n")
    (project / "link").symlink_to(secret)
    named = str(project / "link" if is_linked else secret)
    add_discussion(home, "Tides", "Why?", folder=str(project))
    answer = json.dumps({"files": [{"path": named, "note": "Look."}]})
    Harvest(home, Model({"Why?": answer})).apply()

    assert read_notes(home) == ()
    digest = hashlib.sha256(secret.read_bytes()).hexdigest()
    texts = [path.read_text("utf-8") for path in paths.knowledge_dir(home).rglob("*.md")]
    assert any(f"- {named}: Look. [from: " in text for text in texts)
    assert not any(digest in text for text in texts)


def test_a_folder_that_holds_the_persons_own_one_makes_nothing_inside_and_a_path_they_type_counts() -> None:
    note = HarvestItem(Category.FILES, "/home/person/.ssh/id", "A key.")
    for folder in ("/", "/home", "/home/person"):
        (found,) = with_found_paths([note], [folder], "/home/person")
        assert found.is_outside
    (inside,) = with_found_paths([note], ["/home/person/.ssh"], "/home/person")
    assert not inside.is_outside

    proposed = ProposedItem("p", replace(note, is_outside=True), "s", "/a", "0")
    typed = edited(HarvestPreview(items=(proposed,)), "p", "/home/person/work/x.py", "A key.")
    worded = edited(HarvestPreview(items=(proposed,)), "p", note.head, "Another word.")
    assert [one.items[0].item.is_outside for one in (typed, worded)] == [False, True]


@pytest.mark.parametrize("cwd", ["/talks/\0a", "/talks/\ud800", 5, ["/talks"]])
def test_a_folder_that_no_path_can_name_is_none(cwd: object) -> None:
    row = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "cwd": cwd,
        "message": {"role": "user", "content": "Hi"},
    }

    assert working_folder(TranscriptKind.CLAUDE_CODE, json.dumps(row).encode()) == ""
