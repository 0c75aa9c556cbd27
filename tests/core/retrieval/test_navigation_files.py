"""Index files on disk: stale, orphaned, a person's own; written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from core.kernel.disk import Disk
from core.kernel.values.retrieval import Corpus, SearchPlaces
from core.retrieval.front_matter import FieldNames
from core.retrieval.navigation import MARKER
from core.retrieval.navigation_files import Survey, mend, survey
from core.retrieval.sources import find_sources

FIELDS = FieldNames()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "project" / "notes"
    (root / "ops").mkdir(parents=True)
    (root / "a.md").write_text("# First\n\n**Tags:** one\n\nSome words.\n")
    (root / "ops" / "b.md").write_text("---\ntitle: Second\n---\n")
    return root


def looked(*roots: Path, around: tuple[Path, ...] = ()) -> Survey:
    places = SearchPlaces(tuple(map(str, roots)), "", (Corpus.NOTES,))
    return survey(places, Path("/nowhere"), FIELDS, map(str, around))


def names(paths: object, root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in paths]  # type: ignore[attr-defined]


def test_build_writes_what_is_missing_and_then_all_is_in_order(notes: Path) -> None:
    before = looked(notes)
    assert names(before.stale, notes) == ["index.md", "ops/index.md"]
    assert not before.is_in_order
    assert names(mend(before).written, notes) == ["index.md", "ops/index.md"]
    after = looked(notes)
    assert after.is_in_order
    assert names(after.fresh, notes) == ["index.md", "ops/index.md"]
    assert mend(after).written == ()


@pytest.mark.parametrize("change", ["added", "edited", "renamed", "removed"])
def test_a_note_that_is_changed_in_any_way_makes_its_folders_index_stale(notes: Path, change: str) -> None:
    mend(looked(notes))
    note = notes / "ops" / "b.md"
    match change:
        case "added":
            (notes / "ops" / "c.md").write_text("# Third\n")
        case "edited":
            note.write_text("---\ntitle: Other\n---\n")
        case "renamed":
            note.rename(notes / "ops" / "d.md")
        case _:
            (notes / "ops" / "c.md").write_text("# Third\n")
            mend(looked(notes))
            note.unlink()
    assert "ops/index.md" in names(looked(notes).stale, notes)
    mend(looked(notes))
    assert looked(notes).is_in_order


def test_freshness_is_that_of_the_content_whatever_the_time_of_change_says(notes: Path) -> None:
    mend(looked(notes))
    note = notes / "a.md"
    status = note.stat()
    note.write_text(note.read_text().replace("First", "Fifth"))
    os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert names(looked(notes).stale, notes) == ["index.md"]
    mend(looked(notes))
    os.utime(note)
    assert looked(notes).is_in_order, "the time alone makes nothing stale"


def test_a_generated_file_that_was_tampered_with_is_stale_and_other_line_ends_are_not(notes: Path) -> None:
    mend(looked(notes))
    index = notes / "index.md"
    index.write_bytes(index.read_bytes().replace(b"\n", b"\r\n"))
    assert looked(notes).is_in_order
    index.write_bytes(index.read_bytes() + b"more\n")
    assert names(looked(notes).stale, notes) == ["index.md"]


def test_a_note_without_a_word_is_listed_by_its_name(notes: Path) -> None:
    (notes / "to-do.md").touch()
    mend(looked(notes))
    assert "- [to-do](to-do.md)\n" in (notes / "index.md").read_text()


def test_an_empty_folder_loses_its_index(notes: Path) -> None:
    mend(looked(notes))
    (notes / "ops" / "b.md").unlink()
    found = looked(notes)
    assert names(found.orphans, notes) == ["ops/index.md"]
    assert not found.is_in_order
    assert names(mend(found).removed, notes) == ["ops/index.md"]
    assert os.listdir(notes / "ops") == []
    assert looked(notes).is_in_order


def test_a_root_that_is_empty_or_enabled_no_more_leaves_orphans(notes: Path) -> None:
    mend(looked(notes))
    project = notes.parent
    assert names(looked(around=(project,)).orphans, notes) == ["index.md", "ops/index.md"]
    assert names(looked(notes / "ops", around=(project,)).orphans, notes) == ["index.md"]
    mend(looked(around=(project,)))
    assert sorted(os.listdir(notes)) == ["a.md", "ops"]


def test_index_files_of_a_project_inside_are_its_own_affair(notes: Path) -> None:
    mend(looked(notes))
    (notes / "manual_slop.toml").write_text("")
    assert looked(around=(notes.parent,)).orphans == ()


def test_a_page_that_is_needed_no_more_is_an_orphan(notes: Path) -> None:
    for number in range(150):
        (notes / "ops" / f"n{number}.md").write_text(
            f"# {'nml'[number % 3]}{number} a title of some length\n\nA sentence that says a thing about it.\n"
        )
    mend(looked(notes))
    assert (notes / "ops" / "index.1.md").exists()
    for number in range(150):
        (notes / "ops" / f"n{number}.md").unlink()
    assert "ops/index.1.md" in names(looked(notes).orphans, notes)
    mend(looked(notes))
    assert sorted(os.listdir(notes / "ops")) == ["b.md", "index.md"]


def test_a_hand_written_index_is_never_overwritten_or_removed_and_said(notes: Path) -> None:
    own = notes / "ops" / "index.md"
    own.write_text("# My order of things\n")
    mend(looked(notes))
    found = looked(notes)
    assert own.read_text() == "# My order of things\n"
    assert names(found.own, notes) == ["ops/index.md"]
    assert found.is_in_order
    listed = (notes / "index.md").read_text()
    assert "(ops/index.md): 2 notes" in listed, "its parent lists the folder"


def test_one_that_is_written_between_looking_and_mending_is_left_alone(notes: Path) -> None:
    found = looked(notes)
    (notes / "index.md").write_text("mine\n")
    assert names(mend(found).written, notes) == ["ops/index.md"]
    assert (notes / "index.md").read_text() == "mine\n"


def test_a_link_in_the_place_of_an_index_is_not_followed(notes: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.md"
    target.write_bytes(MARKER + b", sha256:0 of what it lists -->\n")
    (notes / "index.md").symlink_to(target)
    found = looked(notes)
    mend(found)
    assert names(found.own, notes) == ["index.md"]
    assert target.read_bytes().startswith(MARKER)
    assert target.read_bytes().count(b"\n") == 1


def test_generated_files_list_nobody_and_enter_no_index(notes: Path) -> None:
    mend(looked(notes))
    places = SearchPlaces((str(notes),), str(notes.parent), (Corpus.NOTES, Corpus.PROJECT))
    of_the_project = SearchPlaces((), str(notes.parent), (Corpus.PROJECT,))
    for asked, corpus in ((places, Corpus.NOTES), (of_the_project, Corpus.PROJECT)):
        for found in find_sources(Path("/nowhere"), asked, corpus):
            assert not [one.key.path for one in found.files if one.path.name == "index.md"]
            assert len(found.files) == 2
    (notes / "ops" / "index.md").write_text("# Mine\n")
    (found,) = find_sources(Path("/nowhere"), places, Corpus.NOTES)
    assert [one.key.path for one in found.files] == ["a.md", "ops/b.md", "ops/index.md"]


def test_a_root_inside_another_is_listed_once(notes: Path) -> None:
    mend(looked(notes, notes / "ops"))
    assert looked(notes).is_in_order
    assert looked(notes / "ops", notes).is_in_order


def test_who_may_read_the_folder_may_read_its_index(notes: Path) -> None:
    notes.chmod(0o750)
    (notes / "ops").chmod(0o700)
    mend(looked(notes))
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (notes / "index.md", notes / "ops" / "index.md")]
    assert modes == [0o640, 0o600]


class FullDisk(Disk):
    def write(self, fd: int, data: bytes | memoryview) -> int:
        raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_the_old_index_and_is_said(notes: Path) -> None:
    mend(looked(notes))
    before = (notes / "index.md").read_bytes()
    (notes / "a.md").write_text("# Other\n")
    done = mend(looked(notes), disk=FullDisk())
    assert [(os.path.basename(path), "the disk is full" in why) for path, why in done.problems] == [
        ("index.md", True)
    ]
    assert (notes / "index.md").read_bytes() == before
    assert sorted(os.listdir(notes)) == ["a.md", "index.md", "ops"]


def test_notes_that_are_no_text_are_listed_by_name_and_secrets_are_not(notes: Path) -> None:
    (notes / "binary.md").write_bytes(b"\0\1\2" * 100)
    (notes / "key.md").write_text("# Key\n\nWe use sk-ant-api03-" + "Ab3dEf6hIj" * 9 + "xyzAA here.\n")
    mend(looked(notes))
    listed = (notes / "index.md").read_text()
    assert "- [binary](binary.md)\n" in listed
    assert "[Key](key.md): We use" in listed
    assert "Ab3dEf6hIj" not in listed


def test_a_name_that_is_no_text_is_listed_by_its_bytes(notes: Path) -> None:
    with open(os.fsencode(notes) + b"/\xff\xfe.md", "wb") as file:
        file.write(b"# Odd\n")
    mend(looked(notes))
    assert "- [Odd](%FF%FE.md)\n" in (notes / "index.md").read_text()
    assert looked(notes).is_in_order
