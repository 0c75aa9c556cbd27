"""Notes bound to files: they follow renames and saves, and are never attached to another file by themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.values.knowledge import Category, NewItem, NoteFile, NoteStatus
from core.knowledge.apply_log import plan_append
from core.knowledge.categories import note_name
from core.knowledge.file_writer import ensure_lines
from core.knowledge.merges import Known
from core.knowledge.note_files import (
    attach_notes,
    content_hash,
    file_id_for_path,
    keep_seen,
    move_notes,
    parse_notes,
    read_notes,
    read_seen,
    settle,
)


def annotate(home: Path, file: Path, text: str = "mind the gap") -> None:
    item = NewItem(Category.FILES, text, name=str(file))
    for plan in plan_append([item], Known(), read_notes(home)).files:
        ensure_lines(paths.knowledge_dir(home) / plan.name, plan.name, plan.lines, plan.head)


def only(home: Path) -> NoteFile:
    (note,) = read_notes(home)
    return note


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "src" / "code.py"
    path.parent.mkdir()
    path.write_text("print()\n", encoding="utf-8")
    return path


def save_by_rename(path: Path, text: str) -> None:
    """As most editors do. The old file lives on under another name, so that its inode is not used again."""
    path.rename(path.with_name(f"{path.name}~"))
    path.write_text(text, encoding="utf-8")


def test_a_note_lies_under_the_files_id_with_its_path_and_hash(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    annotate(tmp_path, code, "and the other gap")

    status = code.stat()
    name = f"files/{status.st_dev}:{status.st_ino}.md"
    lines = (tmp_path / "knowledge" / name).read_text("utf-8").split("\n")
    assert lines[0] == f"# {code}"
    assert lines[1].startswith("<!-- sha256: ")
    assert lines[3:] == ["- mind the gap", "- and the other gap", ""]
    assert (only(tmp_path).status, only(tmp_path).path) == (NoteStatus.ATTACHED, str(code))


def test_a_note_on_a_file_that_is_not_there_becomes_a_fact(tmp_path: Path) -> None:
    plan = plan_append([NewItem(Category.FILES, "gone", name="/no/such\n# x")], Known(), ())

    assert [(p.name, p.lines[0].text) for p in plan.files] == [("facts.md", "- /no/such # x: gone")]
    assert plan.counts["files"] == 1


@pytest.mark.parametrize("name", ["", "relative.py", "../up.py", "/nul\0l", "x" * 5_000])
def test_a_hostile_path_becomes_a_fact(tmp_path: Path, name: str) -> None:
    plan = plan_append([NewItem(Category.FILES, "note", name=name)], Known(), ())

    assert [p.name for p in plan.files] == ["facts.md"]


def test_a_save_by_rename_moves_the_notes_to_the_new_id(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    before = only(tmp_path).file_id
    save_by_rename(code, "changed\n")

    assert only(tmp_path).status is NoteStatus.MOVED
    assert len(move_notes(tmp_path, read_notes(tmp_path))) == 1

    after = only(tmp_path)
    assert (after.status, after.path, after.file_id) == (
        NoteStatus.ATTACHED,
        str(code),
        file_id_for_path(code),
    )
    assert after.file_id != before
    assert [item.text for item in after.items] == ["mind the gap"]


def test_a_rename_is_seen_by_inode_and_content_and_the_heading_follows(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    there = code.with_name("renamed.py")
    code.rename(there)

    note = only(tmp_path)
    assert (note.status, note.path, note.heading) == (NoteStatus.RENAMED, str(there), str(code))
    move_notes(tmp_path, [note])

    assert (only(tmp_path).status, only(tmp_path).heading) == (NoteStatus.ATTACHED, str(there))


def test_a_file_that_was_saved_by_rename_is_known_again_after_a_rename(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    save_by_rename(code, "changed\n")
    move_notes(tmp_path, read_notes(tmp_path))
    there = code.with_name("renamed.py")
    code.rename(there)

    assert (only(tmp_path).status, only(tmp_path).path) == (NoteStatus.RENAMED, str(there))


def test_a_rename_into_another_folder_is_found_among_the_files_in_use(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    there = tmp_path / "elsewhere.py"
    code.rename(there)

    assert only(tmp_path).status is NoteStatus.ORPHANED
    assert read_notes(tmp_path, [str(there)])[0].path == str(there)


def test_a_reused_inode_with_other_content_only_makes_a_proposal(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    there = code.with_name("other.py")
    code.rename(there)
    there.write_text("something else\n", encoding="utf-8")

    note = only(tmp_path)

    assert (note.status, note.path, note.proposal) == (NoteStatus.ORPHANED, "", str(there))
    assert move_notes(tmp_path, [note]) == ()
    assert only(tmp_path).heading == str(code)


def test_a_rename_after_an_edit_that_was_seen_is_followed(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    code.write_text("edited in place\n", encoding="utf-8")
    keep_seen(tmp_path, read_notes(tmp_path), content_hash)
    there = code.with_name("renamed.py")
    code.rename(there)

    assert (only(tmp_path).status, only(tmp_path).path) == (NoteStatus.RENAMED, str(there))


def test_notes_without_a_hash_beside_them_follow_a_file_that_was_seen(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    (notes,) = (tmp_path / "knowledge" / "files").glob("*.md")
    notes.write_text(f"# {code}\n\n- mind the gap\n", encoding="utf-8")
    keep_seen(tmp_path, read_notes(tmp_path), content_hash)
    there = code.with_name("renamed.py")
    code.rename(there)

    assert (only(tmp_path).status, only(tmp_path).path) == (NoteStatus.RENAMED, str(there))


def test_what_is_seen_is_written_once_and_forgotten_with_its_notes(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    hashed: list[str] = []

    def hash_of(path: str) -> str:
        hashed.append(path)
        return content_hash(path)

    for _ in range(3):
        keep_seen(tmp_path, read_notes(tmp_path), hash_of)
    assert hashed == [str(code)]
    seen = tmp_path / "knowledge" / ".seen.json"
    for damaged in (b"{", b"[]", b'{"1:2": {"path": 3}}', b"\xff"):
        seen.write_bytes(damaged)
        assert read_seen(tmp_path) == {}
        assert only(tmp_path).status is NoteStatus.ATTACHED
    keep_seen(tmp_path, read_notes(tmp_path), hash_of)
    keep_seen(tmp_path, (), hash_of)
    assert seen.read_bytes() == b"{}\n"


def test_a_person_attaches_orphans(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    code.unlink()
    other = tmp_path / "other.py"
    other.write_text("new\n", encoding="utf-8")

    attach_notes(tmp_path, only(tmp_path), str(other))

    assert (only(tmp_path).status, only(tmp_path).path) == (NoteStatus.ATTACHED, str(other))
    with pytest.raises(StorageError, match="There is no file"):
        attach_notes(tmp_path, only(tmp_path), "/no/such")


def test_a_name_that_other_notes_hold_is_not_taken_from_them(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    save_by_rename(code, "changed\n")
    taken = tmp_path / "knowledge" / note_name(file_id_for_path(code) or "")
    taken.write_text("# /of/another\n\n- theirs\n", encoding="utf-8")

    move_notes(tmp_path, read_notes(tmp_path))

    assert taken.read_text("utf-8") == "# /of/another\n\n- theirs\n"
    notes = {note.heading: note for note in read_notes(tmp_path)}
    assert notes[str(code)].path == str(code)
    plan = plan_append([NewItem(Category.FILES, "more", name=str(code))], Known(), notes.values())
    assert plan.files[0].name == note_name(notes[str(code)].file_id)


def test_orphans_whose_inode_another_file_has_now_get_none_of_its_notes(tmp_path: Path, code: Path) -> None:
    orphan = NoteFile(file_id_for_path(code) or "", "/gone", status=NoteStatus.ORPHANED)

    plan = plan_append([NewItem(Category.FILES, "new", name=str(code))], Known(), [orphan])

    assert [p.name for p in plan.files] == ["facts.md"]


def test_a_persons_prose_in_notes_stays_when_they_move(tmp_path: Path, code: Path) -> None:
    annotate(tmp_path, code)
    path = tmp_path / "knowledge" / note_name(only(tmp_path).file_id)
    path.write_bytes(path.read_bytes() + b"\r\nprose \xff\r\n## mine\r\n- more\r\n")
    code.rename(code.with_name("renamed.py"))

    move_notes(tmp_path, read_notes(tmp_path))

    assert path.read_bytes().endswith(b"- mind the gap\n\r\nprose \xff\r\n## mine\r\n- more\r\n")
    assert path.read_bytes().startswith(f"# {code.with_name('renamed.py')}\n".encode())


def test_the_cases_of_the_specification() -> None:
    note = NoteFile("1:2", "/a", sha256="s")

    assert settle(note, "1:2").status is NoteStatus.ATTACHED
    assert settle(note, "1:3").status is NoteStatus.MOVED
    assert settle(note, None, "/b", "s").path == "/b"
    assert settle(note, None, "/b", "t").status is NoteStatus.ORPHANED
    assert settle(note, None).proposal == ""
    assert settle(NoteFile("1:2", "/a"), None, "/b", "").status is NoteStatus.ORPHANED


def test_notes_without_heading_or_hash_are_read(tmp_path: Path) -> None:
    note = parse_notes("files/1:2.md", b"\xef\xbb\xbf- one\n")

    assert (note.heading, note.sha256, [i.text for i in note.items]) == ("", "", ["one"])
    assert settle(note, None).status is NoteStatus.ORPHANED


def test_the_id_is_that_of_the_file_system(code: Path) -> None:
    status = os.stat(code)

    assert file_id_for_path(str(code)) == f"{status.st_dev}:{status.st_ino}"
    assert file_id_for_path("/no/such") is None
    assert file_id_for_path("/nul\0l") is None
