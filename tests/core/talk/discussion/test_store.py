"""A discussion appears whole, loads with its repairs, and branches without touching its parent."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.values.discussion import Draft
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import EditRecord, MessageRecord
from core.talk.discussion import attachments, discussion_store, log
from core.talk.discussion.discussion_meta import read_meta, write_draft
from tests.core.kernel.faults import DyingDisk, FullDisk, ReadOnlyDisk, StuckDisk, made, names
from tests.core.records import ID, NOW, delete, edit, meta, reply, restore, used, user

OTHER = "20261120-080000-bbbbbb"


def tree(directory: Path) -> dict[str, str]:
    """Every file below a directory, locks aside, by the hash of its content."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith("lock")
    }


def test_a_new_discussion_is_there_and_empty(tmp_path: Path) -> None:
    directory = made(tmp_path)
    found = discussion_store.load(tmp_path, ID, NOW)

    assert found.meta == meta()
    assert (found.discussion.entries, found.discussion.repaired) == ((), ())
    assert names(directory) == {"meta.toml"}


def test_everything_comes_back_after_a_restart(tmp_path: Path) -> None:
    made(tmp_path, [user("a"), reply("b"), used("u", "b")])
    write_draft(tmp_path, ID, Draft("half a thought"))

    found = discussion_store.load(tmp_path, ID, NOW).discussion

    assert [m.text for m in found.messages] == ["hello", "hi"]
    assert found.messages[1].usage is not None
    assert found.draft == Draft("half a thought")
    assert found.record_count == 3


@pytest.mark.parametrize(
    "disk", [FullDisk(0), FullDisk(100), FullDisk(300), ReadOnlyDisk(), StuckDisk(), DyingDisk(2)]
)
def test_a_discussion_that_cannot_be_made_leaves_nothing(tmp_path: Path, disk: FullDisk) -> None:
    (tmp_path / "discussions").mkdir()
    with pytest.raises(StorageError):
        discussion_store.create(tmp_path, meta(), [user("a", "x" * 300)], disk=disk)

    assert list((tmp_path / "discussions").iterdir()) == []


def test_an_id_is_never_taken_twice(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    before = tree(directory)

    with pytest.raises(StorageError, match="a file or folder with this name already exists"):
        discussion_store.create(tmp_path, meta(name="another"), [user("b")])

    assert tree(directory) == before
    assert names(directory.parent) == {ID}


def test_a_discussion_is_taken_back_whole_and_never_one_that_holds_words(tmp_path: Path) -> None:
    made(tmp_path)
    attachments.save(tmp_path, ID, b"tides", "tides.txt")
    discussion_store.discard(tmp_path, ID)
    assert list(paths.discussions_dir(tmp_path).iterdir()) == []

    made(tmp_path, [user("a")])
    with pytest.raises(StorageError, match="The discussion stays, because it has messages"):
        discussion_store.discard(tmp_path, ID)
    paths.log_file(tmp_path, ID).unlink()
    write_draft(tmp_path, ID, Draft("half a thought"))
    with pytest.raises(StorageError, match="The discussion stays, because it has messages"):
        discussion_store.discard(tmp_path, ID)
    assert discussion_store.load(tmp_path, ID, NOW).discussion.draft == Draft("half a thought")


def test_a_discussion_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="The program could not open the discussion"):
        discussion_store.load(tmp_path, ID, NOW)


def test_a_branch_copies_up_to_the_message_and_leaves_the_parent_alone(tmp_path: Path) -> None:
    directory = made(tmp_path)
    part = attachments.save(tmp_path, ID, b"a picture of words", "pic.txt")
    log.append(tmp_path, ID, [MessageRecord("a", NOW, Role.USER, (TextPart("see"), part))])
    log.append(tmp_path, ID, [reply("b"), user("c"), edit("e", "b", "better")])
    before = tree(directory)

    fork = replace(meta(OTHER, "Fork"), parent_id=ID, branch_message_id="b")
    discussion_store.branch(tmp_path, ID, "b", fork)

    assert tree(directory) == before
    assert read_meta(tmp_path, OTHER).meta == fork
    assert [m.text for m in discussion_store.load(tmp_path, OTHER, NOW).discussion.messages] == [
        "see",
        "better",
    ]
    log.append(tmp_path, OTHER, [user("d")])
    assert tree(directory) == before


def test_a_branch_keeps_its_attachments_when_the_parent_goes(tmp_path: Path) -> None:
    made(tmp_path)
    part = attachments.save(tmp_path, ID, b"kept", "kept.txt")
    gone = attachments.save(tmp_path, ID, b"only later", "later.txt")
    log.append(
        tmp_path, ID, [MessageRecord("a", NOW, Role.USER, (part,)), EditRecord("e", NOW, "z", (gone,))]
    )
    discussion_store.branch(tmp_path, ID, "a", meta(OTHER))
    shutil.rmtree(tmp_path / "discussions" / ID)

    assert attachments.load(tmp_path, OTHER, part) == b"kept"
    assert len(list(paths.attachments_dir(tmp_path, OTHER).iterdir())) == 1


def test_a_branch_whose_attachment_is_lost_is_made_all_the_same(tmp_path: Path) -> None:
    made(tmp_path)
    part = attachments.save(tmp_path, ID, b"lost", "lost.txt")
    log.append(tmp_path, ID, [MessageRecord("a", NOW, Role.USER, (part, TextPart("words")))])
    shutil.rmtree(paths.attachments_dir(tmp_path, ID))

    discussion_store.branch(tmp_path, ID, "a", meta(OTHER))

    assert [m.text for m in discussion_store.load(tmp_path, OTHER, NOW).discussion.messages] == ["words"]


def test_a_branch_begins_with_what_was_said_to_its_point_and_its_attachments(tmp_path: Path) -> None:
    made(tmp_path, [user("a", "one"), reply("b")])
    part = attachments.save(tmp_path, ID, b"a picture of words", "pic.txt")
    log.append(tmp_path, ID, [MessageRecord("d", NOW, Role.USER, (TextPart("two"), part))])

    discussion_store.branch(tmp_path, ID, "d", meta(OTHER))

    assert [m.text for m in discussion_store.load(tmp_path, OTHER, NOW).discussion.messages] == [
        "one",
        "hi",
        "two",
    ]
    assert attachments.load(tmp_path, OTHER, part) == b"a picture of words"


def test_a_branch_from_an_unknown_message_is_refused(tmp_path: Path) -> None:
    made(tmp_path, [user("a")])
    with pytest.raises(StorageError, match="has no message 'zz'"):
        discussion_store.branch(tmp_path, ID, "zz", meta(OTHER))
    assert names(tmp_path / "discussions") == {ID}


def test_loading_says_what_it_repaired(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    with (directory / "log.jsonl").open("ab") as stream:
        stream.write(b'{"v":1,"type":"song"}\n{"v":1,"ty')

    repaired = discussion_store.load(tmp_path, ID, NOW).discussion.repaired

    assert "The last record of the log is cut off; 10 bytes of the record" in repaired[0]
    assert "The program skipped line 2 of the log" in repaired[1]


def test_a_read_only_home_is_read_without_a_trace(tmp_path: Path) -> None:
    directory = made(tmp_path, [user("a")])
    before = sorted(path.name for path in directory.iterdir())

    found = discussion_store.load(tmp_path, ID, NOW + timedelta(days=1), disk=ReadOnlyDisk())

    assert [m.text for m in found.discussion.messages] == ["hello"]
    assert sorted(p.name for p in directory.iterdir() if p.name != ".lock") == before


class LogMachine(RuleBasedStateMachine):
    """Whatever a person does, in any order with restarts between, what they see is what a plain list would hold."""

    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.ids = [ID]
        self.model: dict[str, list[tuple[str, str, bool]]] = {ID: []}
        self.count = 0
        discussion_store.create(self.home, meta(ID))

    def teardown(self) -> None:
        if hasattr(self, "home"):
            shutil.rmtree(self.home)

    def fresh(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def place(self, data: st.DataObject) -> tuple[str, int] | None:
        filled = [i for i in self.ids if self.model[i]]
        if not filled:
            return None
        chosen = data.draw(st.sampled_from(filled))
        return chosen, data.draw(st.integers(0, len(self.model[chosen]) - 1))

    @rule(data=st.data(), text=st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
    def say(self, data: st.DataObject, text: str) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        message = user(self.fresh(), text)
        log.append(self.home, chosen, [message])
        self.model[chosen].append((message.id, text, False))

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        if (place := self.place(data)) is not None:
            chosen, at = place
            target, _, is_deleted = self.model[chosen][at]
            log.append(self.home, chosen, [edit(self.fresh(), target, f"edited {self.count}")])
            self.model[chosen][at] = (target, f"edited {self.count}", is_deleted)

    @rule(data=st.data(), is_deleted=st.booleans())
    def delete_or_restore(self, data: st.DataObject, is_deleted: bool) -> None:
        if (place := self.place(data)) is not None:
            chosen, at = place
            target, text, _ = self.model[chosen][at]
            record = delete(self.fresh(), target) if is_deleted else restore(self.fresh(), target)
            log.append(self.home, chosen, [record])
            self.model[chosen][at] = (target, text, is_deleted)

    @rule(data=st.data())
    def branch(self, data: st.DataObject) -> None:
        if len(self.ids) < 4 and (place := self.place(data)) is not None:
            chosen, at = place
            new = f"20261120-08000{len(self.ids)}-bbbbbb"
            discussion_store.branch(self.home, chosen, self.model[chosen][at][0], meta(new))
            self.ids.append(new)
            self.model[new] = self.model[chosen][: at + 1]

    @rule(data=st.data(), junk=st.binary(min_size=1, max_size=20))
    def crash(self, data: st.DataObject, junk: bytes) -> None:
        """A write that was torn: bytes that are no record stand at the end."""
        chosen = data.draw(st.sampled_from(self.ids))
        with paths.log_file(self.home, chosen).open("ab") as stream:
            stream.write(b'{"v":1,' + junk.replace(b"\n", b"?"))

    @rule(data=st.data())
    def fill_the_disk(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        with pytest.raises(StorageError):
            log.append(self.home, chosen, [user("never")], disk=FullDisk(data.draw(st.integers(0, 60))))

    @invariant()
    def a_restart_shows_what_was_said(self) -> None:
        if not hasattr(self, "home"):
            return
        for discussion_id in self.ids:
            shown = discussion_store.load(self.home, discussion_id, NOW).discussion.messages
            assert [(m.id, m.text) for m in shown] == [
                (i, t) for i, t, d in self.model[discussion_id] if not d
            ]


test_log_operations = LogMachine.TestCase
