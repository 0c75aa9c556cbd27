"""Undo of a turn's edits: what was there before comes back, what somebody changed since is left and named."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.agent import kept_bytes
from core.agent.hunks import with_changes
from core.agent.tools import edit_file
from core.app.forgetting.forgetting_places import Folder, place_of
from core.kernel.errors import StorageError
from core.kernel.values.agent import FileChange
from tests.core.agent.desks import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    (desk.root / "a.txt").write_bytes(b"one\r\ntwo\r\n\xc3\xa9")
    (desk.root / "b.txt").write_text("b\n")
    return desk


def edit(desk: Desk, name: str, old: str, new: str) -> FileChange:
    desk.use("read_file", path=name)
    return desk.use("edit_file", path=name, old_text=old, new_text=new).changes[0]


def edits(desk: Desk) -> Path:
    return desk.home / "discussions" / desk.discussion_id / kept_bytes.EDITS_DIR / desk.turn_id


def undo(desk: Desk, *changes: FileChange) -> kept_bytes.Restored:
    return kept_bytes.restore(desk.home, desk.discussion_id, desk.turn_id, changes, desk.places)


def test_every_file_of_a_turn_is_as_it_was(desk: Desk) -> None:
    before = {name: (desk.root / name).read_bytes() for name in ("a.txt", "b.txt")}
    (desk.root / "b.txt").chmod(0o755)
    changes = (
        edit(desk, "a.txt", "one", "1"),
        edit(desk, "b.txt", "b", "B"),
        edit(desk, "a.txt", "two", "2"),
        desk.use("write_file", path="new/c.txt", text="c").changes[0],
    )

    undone = undo(desk, *changes)
    assert undone.left == ()
    assert set(undone.restored) == {str(desk.root / name) for name in ("a.txt", "b.txt", "new/c.txt")}
    assert {name: (desk.root / name).read_bytes() for name in before} == before
    assert (desk.root / "b.txt").stat().st_mode & 0o777 == 0o755
    assert not (desk.root / "new" / "c.txt").exists()


def test_what_was_changed_since_is_left_and_named(desk: Desk) -> None:
    changes = (edit(desk, "a.txt", "one", "1"), edit(desk, "b.txt", "b", "B"))
    (desk.root / "a.txt").write_text("mine")

    undone = undo(desk, *changes)
    assert undone.restored == (str(desk.root / "b.txt"),)
    assert [said for said in undone.left if "a.txt" in said]
    assert (desk.root / "a.txt").read_text() == "mine"


def test_a_second_undo_and_one_without_kept_bytes_change_nothing(desk: Desk) -> None:
    change = edit(desk, "b.txt", "b", "B")
    undo(desk, change)
    assert undo(desk, change).restored == ()
    again = edit(desk, "b.txt", "b", "B")
    desk.turn_id = "m2"
    assert "its earlier content is no longer kept" in undo(desk, again).left[0]
    assert (desk.root / "b.txt").read_text() == "B\n"


def test_kept_bytes_that_somebody_changed_are_not_put_back(desk: Desk) -> None:
    change = edit(desk, "b.txt", "b", "B")
    kept = next(one for one in edits(desk).iterdir() if one.name != kept_bytes.NOTES_FILE)
    kept.write_bytes(kept.read_bytes() + b"poison")

    assert "its earlier content is no longer kept" in undo(desk, change).left[0]
    assert (desk.root / "b.txt").read_text() == "B\n"


def test_a_path_that_leads_elsewhere_by_now_is_left(desk: Desk, tmp_path: Path) -> None:
    change = desk.use("write_file", path="sub/x.txt", text="x").changes[0]
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.txt").write_text("x")
    (desk.root / "sub").rename(desk.root / "old")
    (desk.root / "sub").symlink_to(tmp_path / "outside")

    assert undo(desk, change).restored == ()
    assert (tmp_path / "outside" / "x.txt").exists()


def test_what_is_kept_is_forgotten_with_its_conversation(desk: Desk) -> None:
    edit(desk, "b.txt", "b", "B")
    files = [path for path in desk.home.rglob("*") if path.is_file()]

    assert len(files) == 2
    for file in files:
        place = place_of(Folder.HOME, file.relative_to(desk.home).as_posix())
        assert place is not None
        assert place.id == "discussions"
        assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_kept_is_not_written(desk: Desk) -> None:
    (desk.home / "discussions").write_text("in the way")
    desk.use("read_file", path="b.txt")

    with pytest.raises(StorageError):
        desk.use("edit_file", path="b.txt", old_text="b", new_text="B")
    assert (desk.root / "b.txt").read_text() == "b\n"
    with pytest.raises(StorageError):
        kept_bytes.keep_before(desk.home, "d2", FileChange("/a", "../x", "", ""), b"")
    assert sorted(os.listdir(desk.root)) == ["a.txt", "b.txt"]


def test_the_writes_of_a_turn_to_one_file_are_one_change_and_what_is_undone_says_so(desk: Desk) -> None:
    made = edit(desk, "a.txt", "one", "1"), edit(desk, "a.txt", "two", "2")
    edit(desk, "b.txt", "b", "B")
    a, b = kept_bytes.kept_changes(desk.home, desk.discussion_id)
    assert (a.before_sha256, a.after_sha256) == (made[0].before_sha256, made[1].after_sha256)
    assert (a.added, a.removed, b.turn_id) == (2, 2, "m1")
    assert "+1" in a.difference
    assert "+2" in a.difference
    assert a == with_changes((), made)[0], "as a program tells it that made them"

    undo(desk, a)
    a, b = kept_bytes.kept_changes(desk.home, desk.discussion_id)
    assert (a.is_undone, b.is_undone) == (True, False)
    edit(desk, "a.txt", "one", "eins")
    assert not kept_bytes.kept_changes(desk.home, desk.discussion_id)[0].is_undone


@pytest.mark.parametrize("is_written", [True, False])
def test_a_program_that_ended_in_a_write_has_it_listed_and_undone_written_or_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    before = (desk.root / "a.txt").read_bytes()
    edit(desk, "a.txt", "one", "1")

    class KilledError(Exception):
        pass

    def killed(*_: object, **__: object) -> None:
        raise KilledError

    if is_written:
        monkeypatch.setattr(desk, "note_written", killed)
    else:
        monkeypatch.setattr(edit_file, "write_guarded", killed)
    with pytest.raises(KilledError):
        edit(desk, "a.txt", "two", "2")
    with (edits(desk) / kept_bytes.NOTES_FILE).open("ab") as notes:
        notes.write(b'{"step":"ma')

    (a,) = kept_bytes.kept_changes(desk.home, desk.discussion_id)
    assert undo(desk, a) == kept_bytes.Restored((a.path,))
    assert (desk.root / "a.txt").read_bytes() == before
    assert kept_bytes.kept_changes(desk.home, desk.discussion_id)[0].is_undone


def test_a_write_that_failed_is_not_told_as_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    first = edit(desk, "a.txt", "one", "1")
    monkeypatch.setattr(edit_file, "write_guarded", lambda *_: "No space.")
    desk.use("edit_file", path="a.txt", old_text="two", new_text="2")
    desk.use("write_file", path="new.txt", text="n")

    assert kept_bytes.kept_changes(desk.home, desk.discussion_id) == (first,)


def test_folders_that_a_turn_made_go_with_their_last_file_and_others_stay(desk: Desk) -> None:
    (desk.root / "there").mkdir()
    changes = [
        desk.use("write_file", path=path, text="c").changes[0]
        for path in ("new/deep/c.txt", "new/d.txt", "there/e.txt", "used/f.txt")
    ]
    (desk.root / "used" / "mine.txt").write_text("mine")

    undo(desk, *changes)
    left = sorted(path.relative_to(desk.root).as_posix() for path in desk.root.rglob("*"))
    assert left == ["a.txt", "b.txt", "there", "used", "used/mine.txt"]


@pytest.mark.parametrize("notes", [0, 1, 2, 3])
def test_an_undo_that_the_program_ended_in_is_gone_on_with(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, notes: int
) -> None:
    before = (desk.root / "a.txt").read_bytes()
    changes = (
        edit(desk, "a.txt", "one", "1"),
        *(desk.use("write_file", path=path, text="c").changes[0] for path in ("new/c.txt", "new/d.txt")),
    )
    noted = kept_bytes.note_change
    told: list[object] = []

    def killed(*about: Any) -> None:
        if len(told) == notes:
            raise KeyboardInterrupt
        told.append(about)
        noted(*about)

    monkeypatch.setattr(kept_bytes, "note_change", killed)
    with suppress(KeyboardInterrupt):
        undo(desk, *changes)
    monkeypatch.setattr(kept_bytes, "note_change", noted)
    open_changes = [
        one for one in kept_bytes.kept_changes(desk.home, desk.discussion_id) if not one.is_undone
    ]

    assert undo(desk, *open_changes).left == ()
    assert (desk.root / "a.txt").read_bytes() == before
    assert sorted(os.listdir(desk.root)) == ["a.txt", "b.txt"]
    assert all(one.is_undone for one in kept_bytes.kept_changes(desk.home, desk.discussion_id))
