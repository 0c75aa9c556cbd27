"""A repair keeps every byte of a broken file, and all that can be read counts again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.errors import StorageError
from core.talk.discussion import discussion_store, log
from core.talk.discussion.discussion_meta import MetaRead, read_meta, write_meta
from core.talk.discussion.repairs import mend_log, mend_meta
from tests.core.kernel.faults import FullDisk
from tests.core.records import ID, meta, reply, user

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    discussion_store.create(tmp_path, meta(ID, "A talk"), [user("a", "one"), reply("b", "two")])
    return tmp_path


def _break(home: Path, old: str, new: str) -> bytes:
    path = paths.meta_file(home, ID)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path.read_bytes()


def test_lines_that_can_be_read_count_again_and_the_old_file_is_kept(home: Path) -> None:
    before = read_meta(home, ID).meta
    broken = _break(home, "caching_enabled = true", 'caching_enabled = = \nmine = "kept"')
    assert read_meta(home, ID).problem

    kept = mend_meta(home, ID, NOW)

    read = read_meta(home, ID)
    assert (read.meta, read.problem) == (before, "")
    assert kept is not None
    assert kept.read_bytes() == broken
    assert 'mine = "kept"' in paths.meta_file(home, ID).read_text()
    assert mend_meta(home, ID, NOW) not in (None, kept), "a second copy takes no other's name"


def test_a_model_that_is_lost_is_that_of_the_last_call(home: Path) -> None:
    log.append(home, ID, [replace(reply("c", "three"), provider="p-2", model="m-2")])
    for text in (None, b"\xff\xfe broken = = "):
        path = paths.meta_file(home, ID)
        path.unlink()
        if text is not None:
            path.write_bytes(text)
        mend_meta(home, ID, NOW)

        read = read_meta(home, ID)
        assert (read.meta.provider, read.meta.model, read.problem) == ("p-2", "m-2", "")
        assert read.meta.created_at.year == 2026


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_all_counts_again_of_a_file_that_an_editor_saved_in_another_form(home: Path, encoding: str) -> None:
    before = read_meta(home, ID).meta
    path = paths.meta_file(home, ID)
    path.write_bytes(path.read_text().replace("\n", "\r\n").encode(encoding))
    assert read_meta(home, ID).problem

    mend_meta(home, ID, NOW)

    assert read_meta(home, ID) == MetaRead(before)


def test_a_name_with_other_ends_of_lines_in_it_counts_again(home: Path) -> None:
    write_meta(home, replace(read_meta(home, ID).meta, name="one\u2028two\x85three"))
    _break(home, "caching_enabled = true", "caching_enabled = =")

    mend_meta(home, ID, NOW)

    assert read_meta(home, ID).meta.name == "one\u2028two\x85three"


def test_an_empty_file_is_named_and_repaired(home: Path) -> None:
    path = paths.meta_file(home, ID)
    path.write_bytes(b"")
    assert "is empty" in read_meta(home, ID).problem

    mend_meta(home, ID, NOW)

    assert read_meta(home, ID).problem == ""


def test_a_cut_off_record_moves_to_a_file_of_its_own(home: Path) -> None:
    path = paths.log_file(home, ID)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type":"message","parts":[{"text":"my wor')

    kept = mend_log(home, ID, NOW)

    assert path.read_bytes() == whole
    assert kept is not None
    assert kept.read_bytes().endswith(b"my wor")
    assert log.torn_end(home, ID) == ""
    assert mend_log(home, ID, NOW) is None
    assert path.read_bytes() == whole


def test_a_whole_record_without_its_line_end_stays(home: Path) -> None:
    path = paths.log_file(home, ID)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])

    assert mend_log(home, ID, NOW) is None
    assert path.read_bytes() == whole


@given(cut=st.integers(min_value=0, max_value=400), rest=st.binary(max_size=20))
def test_no_byte_is_lost_wherever_a_log_was_cut(
    tmp_path_factory: pytest.TempPathFactory, cut: int, rest: bytes
) -> None:
    home = tmp_path_factory.mktemp("cut")
    discussion_store.create(home, meta(ID, "A talk"), [user("a", "one"), reply("b", "two")])
    path = paths.log_file(home, ID)
    path.write_bytes(broken := path.read_bytes()[:cut] + rest)

    kept = mend_log(home, ID, NOW)

    after = path.read_bytes() + (kept.read_bytes() if kept is not None else b"")
    assert after in (broken, broken + b"\n")
    assert log.torn_end(home, ID) == ""


def test_a_full_disk_leaves_the_log_as_it_was(home: Path) -> None:
    path = paths.log_file(home, ID)
    path.write_bytes(broken := path.read_bytes() + b'{"type":"mess')

    with pytest.raises(StorageError):
        mend_log(home, ID, NOW, disk=FullDisk(0))
    assert path.read_bytes() == broken
