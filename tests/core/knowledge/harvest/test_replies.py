"""A reply that was paid for is on disk before anything else happens to it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from core.kernel.errors import StorageError
from core.knowledge.harvest.replies import KeptReplies, kept_conversations
from tests.core.kernel.faults import FullDisk, ReadOnlyDisk
from tests.core.knowledge.homes import FaultyDisk

SHA = "a" * 64


def keep(kept: KeptReplies, prompt: str, text: str) -> None:
    with kept.place(prompt, "p", "m") as place:
        place.keep(text)


def left_whole(kept: KeptReplies, prompt: str, text: str) -> None:
    """A reply whose program ended just before it got its name."""
    keep(kept, prompt, text)
    path = next(kept._folder.glob("*.json"))
    path.rename(path.with_name(f".{path.name}.0123abcd.tmp"))


def test_a_kept_reply_is_found_for_the_same_prompt_and_model_only(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path, SHA)
    keep(kept, "prompt \ud800", "reply \ud800 ü")

    again = KeptReplies(tmp_path, SHA)
    assert again.find("prompt \ud800", "p", "m") == "reply \ud800 ü"
    assert again.find("prompt", "p", "m") is None
    assert again.find("prompt \ud800", "p", "other") is None
    assert KeptReplies(tmp_path, "b" * 64).find("prompt \ud800", "p", "m") is None


def test_a_reply_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="full"):
        keep(KeptReplies(tmp_path, SHA, disk=FullDisk(10)), "p", "reply")

    assert KeptReplies(tmp_path, SHA).find("p", "p", "m") is None


@pytest.mark.parametrize("call", [0, 1, 2, 3], ids=["write", "fsync", "rename", "fsync of the folder"])
def test_what_failed_once_is_tried_again_for_it_was_paid_for(tmp_path: Path, call: int) -> None:
    disk = FaultyDisk()
    with KeptReplies(tmp_path, SHA, disk=disk).place("p", "p", "m") as place:
        disk.at, disk.fault = disk.calls + call, errno.EIO
        place.keep("reply")

    assert KeptReplies(tmp_path, SHA).find("p", "p", "m") == "reply"


def test_without_a_place_for_the_reply_nobody_is_asked(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="read-only"),
        KeptReplies(tmp_path, SHA, disk=ReadOnlyDisk()).place("p", "p", "m"),
    ):
        pytest.fail("it was asked")


def test_a_reply_that_never_came_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), KeptReplies(tmp_path, SHA).place("p", "p", "m"):
        _ = 1 / 0

    assert list((tmp_path / ".replies" / SHA).iterdir()) == []


def test_a_reply_that_lacks_only_its_name_is_found_and_forgotten_like_any_other(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path, SHA)
    left_whole(kept, "p", "reply")

    assert kept.find("p", "p", "m") == "reply"
    kept.drop("p", "p", "m")
    assert kept.find("p", "p", "m") is None


def test_half_a_reply_is_none(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path, SHA)
    left_whole(kept, "p", "reply")
    path = next(kept._folder.iterdir())
    path.write_bytes(path.read_bytes()[:-3])

    assert kept.find("p", "p", "m") is None


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"v": 2, "text": "x"}', b'{"v": 1, "text": 3}', b"\xff", b"[" * 99999]
)
def test_a_damaged_reply_counts_as_none(tmp_path: Path, damage: bytes) -> None:
    kept = KeptReplies(tmp_path, SHA)
    keep(kept, "p", "reply")
    next((tmp_path / ".replies" / SHA).glob("*.json")).write_bytes(damage)

    assert kept.find("p", "p", "m") is None


def test_replies_are_forgotten_by_conversation_or_one_by_one(tmp_path: Path) -> None:
    kept, other = KeptReplies(tmp_path, SHA), KeptReplies(tmp_path, "b" * 64)
    for one in (kept, other):
        keep(one, "first", "1")
        keep(one, "second", "2")

    kept.drop("first", "p", "m")
    assert (kept.find("first", "p", "m"), kept.find("second", "p", "m")) == (None, "2")
    assert kept_conversations(tmp_path) == (SHA, "b" * 64)
    kept.drop_all()
    assert kept_conversations(tmp_path) == ("b" * 64,)
    other.drop_all()
    assert not (tmp_path / ".replies").exists()
    other.drop_all()
