"""Rows of the benchmarks: made in one place, by one rule of what keeps to its bar."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.bench.__main__ import SUITES, Row, main, row, run_suite

FOLDER = Path(__file__).parent


def test_a_row_keeps_to_its_bar_on_both_sides() -> None:
    assert (row("n", 2, "ms", 2)["holds"], row("n", 2.1, "ms", 2)["holds"]) == (True, False)
    assert (row("n", 1, "ms", least=2)["holds"], row("n", 1, "ms", 3, least=1)["holds"]) == (False, True)
    assert not row("n", 1, "ms", 3, holds=False)["holds"]
    assert row("n", 9, "ms")["holds"], "without a bar it is only reported"
    bars = [
        row("n", 1, "ms", most, least=least)["bar"]
        for most, least in ((3, None), (None, 1), (3, 1), (None, None))
    ]
    assert bars == ["at most 3", "at least 1", "1 to 3", ""]


def test_no_benchmark_makes_rows_of_its_own() -> None:
    makers = [
        path.name
        for path in sorted(FOLDER.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Row"
    ]
    assert makers == ["__main__.py"]


def test_asked_for_help_it_names_the_suites_and_runs_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    said = capsys.readouterr()
    assert "retrieval" in said.out
    assert "running" not in said.err


def test_a_row_is_written_before_the_next_one_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A suite that fails, or is ended, keeps what it measured."""

    def rows() -> Iterator[Row]:
        yield row("first", 1, "ms")
        raise RuntimeError

    module = ModuleType("measured_by_this_test")
    vars(module)["rows"] = rows
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(SUITES, "own", (module.__name__,))
    monkeypatch.setattr("tests.bench.__main__.OUT", tmp_path)
    with pytest.raises(RuntimeError):
        run_suite("own")

    assert [one["name"] for one in json.loads((tmp_path / "own.json").read_text())] == ["first"]
