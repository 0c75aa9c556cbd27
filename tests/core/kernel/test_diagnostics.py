"""The diagnostic log keeps faults and no secrets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.kernel.diagnostics import start_log


@pytest.fixture(autouse=True)
def _own_handlers() -> Iterator[None]:
    root = logging.getLogger()
    before = list(root.handlers)
    yield
    for handler in list(root.handlers):
        if handler not in before:
            root.removeHandler(handler)
            handler.close()


def test_a_fault_is_kept_with_its_traceback_and_without_keys(tmp_path: Path) -> None:
    file = start_log(tmp_path)
    try:
        int("the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz was refused")
    except ValueError:
        logging.getLogger("core.test").exception("call failed")

    assert file is not None
    text = file.read_text(encoding="utf-8")
    assert "call failed" in text
    assert "ValueError" in text
    assert "abcdefghijklmnop" not in text


def test_a_folder_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    assert start_log(blocked / "logs") is None
