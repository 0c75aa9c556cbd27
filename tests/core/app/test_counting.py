"""Counts from the real worker process, and what stands in when it is gone."""

from __future__ import annotations

import pytest

from core.app.counting import Counting, _batches
from core.app.crunch import Crunch

pytestmark = pytest.mark.usefixtures("own_worker_process")


def test_counts_come_from_the_process_and_are_remembered() -> None:
    counting = Counting()
    try:
        counting.count({"a": "hello world", "b": ""})
        assert counting.known() == {"a": 2, "b": 0}
    finally:
        counting.close()


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
    assert [record.levelname for record in caplog.records if "estimated" in record.message] == ["DEBUG"]


def test_large_texts_are_counted_in_batches_and_none_is_lost() -> None:
    texts = {str(number): "x" * 700_000 for number in range(7)}
    batches = _batches(texts)
    assert len(batches) == 3
    assert {name for batch in batches for name in batch} == set(texts)
    assert _batches({}) == []
