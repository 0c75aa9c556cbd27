"""Rows of the benchmarks: made in one place, by one rule of what keeps to its bar."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.bench.__main__ import main, row

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
