"""Counts from the real worker process, and what stands in when it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.app.crunch import MOST_KEPT, CountFile, Counting, Crunch, _batches

pytestmark = pytest.mark.usefixtures("own_worker_process")


def test_counts_come_from_the_process_and_are_remembered() -> None:
    counting = Counting()
    try:
        counting.count({"a": "hello world", "b": ""})
        assert counting.known() == {"a": 2, "b": 0}
    finally:
        counting.close()


def test_what_is_known_is_not_asked_for_again() -> None:
    counting = Counting()
    counting.count({"a": "hello world"})
    known = counting.known()
    counting.close()

    counting.count({"a": "hello world"})

    assert counting.known() is known


def test_an_outline_comes_from_the_process() -> None:
    counting = Counting()
    try:
        (symbol,) = counting.outline("a.py", "def tide():\n    return 1\n")
        assert symbol.name == "tide"
    finally:
        counting.close()


def test_estimates_stand_in_when_the_process_cannot_be_used(caplog: pytest.LogCaptureFixture) -> None:
    crunch = Crunch()
    crunch.close()
    counting = Counting(crunch)

    with caplog.at_level("DEBUG"):
        counting.count({"a": "x" * 400})

    assert 50 < counting.known()["a"] < 400
    assert counting.outline("a.py", "def f(): ...") == ()
    assert [record.levelname for record in caplog.records if "only estimates tokens" in record.message] == [
        "DEBUG"
    ]


def test_large_texts_are_counted_in_batches_and_none_is_lost() -> None:
    texts = {str(number): "x" * 700_000 for number in range(7)}
    batches = _batches(texts)
    assert len(batches) == 3
    assert {name for batch in batches for name in batch} == set(texts)
    assert _batches({}) == []


def test_counts_outlive_a_restart_and_a_line_that_a_kill_cut_off(tmp_path: Path) -> None:
    file, first, torn, later = tmp_path / "counts", "a" * 64, "b" * 64, "c" * 64
    CountFile(file).add({first: 7, "no hash": 1})
    with file.open("ab") as cut:
        cut.write(f"{torn} 1".encode())

    assert CountFile(file).load() == {first: 7}
    CountFile(file).add({later: 9})

    assert CountFile(file).load()[later] == 9
    assert b"no hash" not in file.read_bytes()
    closed = Crunch()
    closed.close()
    counting = Counting(closed, file)
    assert counting.known()[first] == 7
    counting.count({"d" * 64: "an estimate is not kept"})
    assert "d" * 64 not in CountFile(file).load()
    file.unlink()
    assert CountFile(file).load() == {}


def test_the_newest_counts_are_kept_and_the_file_is_cut_to_them(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    CountFile(file).add({f"{number:064x}": number for number in range(2 * MOST_KEPT + 1)})
    size = file.stat().st_size

    kept = CountFile(file).load()

    assert (len(kept), max(kept.values())) == (MOST_KEPT, 2 * MOST_KEPT)
    assert file.stat().st_size < size * 0.51
