"""meta.toml and the draft: what a person set survives other programs, broken files and full disks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.errors import StorageError
from core.kernel.values.discussion import DiscussionMeta, Draft
from core.kernel.values.messages import AttachmentPart
from core.talk.discussion.discussion_meta import read_draft, read_meta, write_draft, write_meta
from tests.core.kernel.faults import FullDisk, made, names
from tests.core.records import ID, NOW, meta, texts, times

FULL = DiscussionMeta(
    ID,
    "näme",
    NOW,
    "openai",
    "gpt",
    "high",
    "preset",
    "persona",
    "system",
    True,
    True,
    False,
    "parent",
    "msg",
    1.5,
    3,
    "/projects/tides",
)


def test_a_meta_is_read_as_it_was_written(tmp_path: Path) -> None:
    made(tmp_path)
    write_meta(tmp_path, FULL)

    assert read_meta(tmp_path, ID).meta == FULL
    assert read_meta(tmp_path, ID).problem == ""


def test_a_folder_with_a_zero_character_is_named_and_stands_for_none(tmp_path: Path) -> None:
    directory = made(tmp_path)
    write_meta(tmp_path, replace(FULL, folder="FOLDER"))
    path = directory / "meta.toml"
    path.write_text(path.read_text("utf-8").replace("FOLDER", "/projects\\u0000/tides"), "utf-8")
    read = read_meta(tmp_path, ID)

    assert read.meta == replace(FULL, folder="")
    assert read.problem == "meta.toml has no usable 'folder'; the default counts"


def test_the_keys_are_those_of_the_specification(tmp_path: Path) -> None:
    directory = made(tmp_path)
    write_meta(tmp_path, FULL)
    keys = {
        line.partition(" = ")[0]
        for line in (directory / "meta.toml").read_text(encoding="utf-8").splitlines()
    }

    assert keys == {
        "name", "created", "folder", "provider", "model", "effort", "preset", "persona", "system_preset", "pinned",
        "archived", "caching_enabled", "parent", "branch_point", "spend_limit_usd", "cache_epoch",
    }  # fmt: skip


@given(texts, texts, times, st.none() | st.floats(0, 1e6), st.booleans())
def test_any_name_and_limit_survive(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    model: str,
    at: datetime,
    limit: float | None,
    pinned: bool,
) -> None:
    home = tmp_path_factory.mktemp("home")
    made(home)
    wanted = replace(FULL, name=name, model=model, created_at=at, spend_limit_usd=limit, pinned=pinned)
    write_meta(home, wanted)

    assert read_meta(home, ID).meta == wanted


def test_keys_of_a_later_version_survive_a_rewrite(tmp_path: Path) -> None:
    path = made(tmp_path) / "meta.toml"
    path.write_text(path.read_text() + 'colour = "blue"\n\n[later]\ndeep = [1, 2]\n')
    write_meta(tmp_path, replace(FULL, name="new"))
    write_meta(tmp_path, replace(FULL, spend_limit_usd=None, cache_epoch=0))

    text = path.read_text(encoding="utf-8")
    assert 'colour = "blue"' in text
    assert "[later]" in text
    assert "spend_limit_usd" not in text
    assert "cache_epoch" not in text


@pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b"= = =", b"a" * 100, b"[" * 5_000])
def test_a_broken_meta_gives_defaults_and_a_reason_and_is_kept_beside_when_rewritten(
    tmp_path: Path, content: bytes
) -> None:
    directory = made(tmp_path)
    (directory / "meta.toml").write_bytes(content)

    found = read_meta(tmp_path, ID)
    assert "meta.toml" in found.problem
    assert "the discussion has lost its name and model" in found.problem
    assert (found.meta.id, found.meta.name, found.meta.caching_enabled) == (ID, ID, True)
    assert found.meta.created_at == NOW

    write_meta(tmp_path, replace(found.meta, name="again"))
    assert read_meta(tmp_path, ID).meta.name == "again"
    assert (directory / "meta.toml.broken").read_bytes() == content


@pytest.mark.parametrize("key", ["spend_limit_usd", "temperature", "max_output_tokens"])
def test_a_figure_of_more_digits_than_any_is_named_and_the_rest_counts(tmp_path: Path, key: str) -> None:
    """It stopped the list of all discussions: such a number is whole, and no number with a point can hold it."""
    directory = made(tmp_path)
    (directory / "meta.toml").write_text(f'name = "kept"\n{key} = 1{"0" * 400}\n')

    found = read_meta(tmp_path, ID)

    assert found.meta.name == "kept"
    assert repr(key) in found.problem


def test_a_missing_meta_takes_its_time_from_the_id(tmp_path: Path) -> None:
    directory = made(tmp_path)
    (directory / "meta.toml").unlink()

    assert read_meta(tmp_path, ID).meta.created_at == NOW
    assert "missing" in read_meta(tmp_path, ID).problem
    (directory.parent / "notes").mkdir()
    assert read_meta(tmp_path, "notes").meta.created_at == datetime(1970, 1, 1, tzinfo=UTC)


def test_one_wrong_key_costs_that_key_alone(tmp_path: Path) -> None:
    path = made(tmp_path) / "meta.toml"
    path.write_text('name = 5\nmodel = "m"\npinned = "yes"\ncreated = 2026-01-02\nspend_limit_usd = -1\n')

    found = read_meta(tmp_path, ID)

    assert found.meta == DiscussionMeta(ID, ID, NOW, "", "m")
    assert (
        found.problem
        == "meta.toml has no usable 'name', 'pinned', 'created', 'spend_limit_usd'; the default counts"
    )


def test_a_time_without_a_zone_is_taken_as_utc(tmp_path: Path) -> None:
    path = made(tmp_path) / "meta.toml"
    path.write_text('name = "n"\ncreated = 2026-11-20T07:30:00\n')

    assert read_meta(tmp_path, ID).meta.created_at == NOW


def test_a_full_disk_keeps_the_old_meta_and_draft(tmp_path: Path) -> None:
    directory = made(tmp_path)
    write_draft(tmp_path, ID, Draft("old words"))

    with pytest.raises(StorageError, match="the disk is full"):
        write_meta(tmp_path, FULL, disk=FullDisk(20))
    with pytest.raises(StorageError, match="the disk is full"):
        write_draft(tmp_path, ID, Draft("new words"), disk=FullDisk(4))

    assert read_meta(tmp_path, ID).meta == meta()
    assert read_draft(tmp_path, ID) == Draft("old words")
    assert names(directory) == {"meta.toml", "draft.txt"}


PIECE = AttachmentPart("ab" * 32, "image/png", "näme.png", 12)


@given(texts)
def test_a_draft_is_read_as_it_was_left(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    home = tmp_path_factory.mktemp("home")
    made(home)
    write_draft(home, ID, Draft(text, (PIECE,)))

    assert read_draft(home, ID) == Draft(text, (PIECE,))


def test_an_empty_draft_leaves_no_file(tmp_path: Path) -> None:
    directory = made(tmp_path)
    write_draft(tmp_path, ID, Draft("words", (PIECE,)))
    assert names(directory) == {"meta.toml", "draft.txt", "draft.attachments.json"}

    write_draft(tmp_path, ID, Draft())
    assert names(directory) == {"meta.toml"}
    assert read_draft(tmp_path, ID) == Draft()


@pytest.mark.parametrize("junk", [b"", b"{", b"5", b"[5]", b'[{"sha256":1}]', b"[" * 100_000, b'{"a":1}'])
def test_a_broken_list_of_attachments_costs_no_words(tmp_path: Path, junk: bytes) -> None:
    directory = made(tmp_path)
    (directory / "draft.txt").write_bytes(b"words \xff")
    (directory / "draft.attachments.json").write_bytes(junk)

    assert read_draft(tmp_path, ID) == Draft("words \ufffd")


def test_a_task_is_told_apart_from_a_branch_again_after_a_restart(tmp_path: Path) -> None:
    made(tmp_path)
    task = DiscussionMeta(ID, "Task", NOW, "openai", "gpt", parent_id="parent", delegated_by="call_1")
    write_meta(tmp_path, task)
    assert read_meta(tmp_path, ID).meta == task

    write_meta(tmp_path, replace(task, delegated_by=""))
    assert read_meta(tmp_path, ID).meta.delegated_by == ""
