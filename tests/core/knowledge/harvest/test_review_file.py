"""The file of a review that was begun: whole or not there, passed over where nobody can read it."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.disk import Disk
from core.kernel.errors import StorageError
from core.kernel.values.harvest import HarvestItem, ReviewChoice
from core.kernel.values.knowledge import Category
from core.knowledge.harvest.replies import keep_review, load_review, review_file

REVIEW = {
    "a-0/1": ReviewChoice(False),
    "a-1/1": ReviewChoice(True, HarvestItem(Category.FACTS, "Ebbe 🌊", "Und Flut")),
}


class FullDisk(Disk):
    def write(self, fd: int, data: bytes | memoryview) -> int:
        raise OSError(errno.ENOSPC, "no space")


def test_it_is_kept_replaced_and_gone_with_the_last_choice(tmp_path: Path) -> None:
    keep_review(tmp_path, REVIEW)
    assert load_review(tmp_path) == REVIEW
    keep_review(tmp_path, {"a-0/1": ReviewChoice(False)})
    assert load_review(tmp_path) == {"a-0/1": ReviewChoice(False)}

    keep_review(tmp_path, {})
    keep_review(tmp_path, {})

    assert load_review(tmp_path) == {}
    assert list(paths.knowledge_dir(tmp_path).iterdir()) == []


def test_nothing_to_keep_makes_nothing(tmp_path: Path) -> None:
    keep_review(tmp_path, {})

    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_one_before(tmp_path: Path) -> None:
    keep_review(tmp_path, REVIEW)

    with pytest.raises(StorageError, match="the disk is full"):
        keep_review(tmp_path, {"b-0/1": ReviewChoice(False)}, disk=FullDisk())

    assert load_review(tmp_path) == REVIEW
    assert list(paths.knowledge_dir(tmp_path).iterdir()) == [review_file(tmp_path)]


@pytest.mark.parametrize("data", [b"", b'{"v":1,"choi', b"\xff\xfe", b'{"v":9}', b"\x00" * 9])
def test_what_nobody_can_read_is_passed_over_with_a_line_in_the_log(
    tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    review_file(tmp_path).parent.mkdir()
    review_file(tmp_path).write_bytes(data)

    with caplog.at_level(logging.WARNING):
        assert load_review(tmp_path) == {}

    assert str(review_file(tmp_path)) in caplog.text


def test_a_folder_of_its_name_is_passed_over_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    review_file(tmp_path).mkdir(parents=True)

    assert load_review(tmp_path) == {}
    assert "passed over" in caplog.text
