"""A reply that was paid for is on disk before anything else happens to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import StorageError
from core.knowledge.harvest_replies import KeptReplies, kept_conversations
from tests.core.store.faults import FullDisk

SHA = "a" * 64


def test_a_kept_reply_is_found_for_the_same_prompt_and_model_only(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path, SHA)
    kept.keep("prompt \ud800", "p", "m", "reply \ud800 ü")

    again = KeptReplies(tmp_path, SHA)
    assert again.find("prompt \ud800", "p", "m") == "reply \ud800 ü"
    assert again.find("prompt", "p", "m") is None
    assert again.find("prompt \ud800", "p", "other") is None
    assert KeptReplies(tmp_path, "b" * 64).find("prompt \ud800", "p", "m") is None


def test_a_reply_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="full"):
        KeptReplies(tmp_path, SHA, disk=FullDisk(10)).keep("p", "p", "m", "reply")

    assert KeptReplies(tmp_path, SHA).find("p", "p", "m") is None


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"v": 2, "text": "x"}', b'{"v": 1, "text": 3}', b"\xff", b"[" * 99999]
)
def test_a_damaged_reply_counts_as_none(tmp_path: Path, damage: bytes) -> None:
    kept = KeptReplies(tmp_path, SHA)
    kept.keep("p", "p", "m", "reply")
    next((tmp_path / ".replies" / SHA).glob("*.json")).write_bytes(damage)

    assert kept.find("p", "p", "m") is None


def test_replies_are_forgotten_by_conversation_or_one_by_one(tmp_path: Path) -> None:
    kept, other = KeptReplies(tmp_path, SHA), KeptReplies(tmp_path, "b" * 64)
    for one in (kept, other):
        one.keep("first", "p", "m", "1")
        one.keep("second", "p", "m", "2")

    kept.drop("first", "p", "m")
    assert (kept.find("first", "p", "m"), kept.find("second", "p", "m")) == (None, "2")
    assert kept_conversations(tmp_path) == (SHA, "b" * 64)
    kept.drop_all()
    assert kept_conversations(tmp_path) == ("b" * 64,)
    other.drop_all()
    assert not (tmp_path / ".replies").exists()
    other.drop_all()
