"""Checks of a room that `make check` runs."""

from __future__ import annotations

from pathlib import Path

from scripts.check_room import checks_of, folders_of


def test_a_room_is_found_by_its_name_and_its_tests_run_without_the_slow_ones(tmp_path: Path) -> None:
    for folder in ("core/talk/turn", "panels/turn", "core/other", "tests/core/talk/turn"):
        (tmp_path / folder).mkdir(parents=True)

    folders = folders_of("turn", tmp_path)
    *others, tests = checks_of(folders, tmp_path)

    assert folders == [Path("core/talk/turn"), Path("panels/turn")]
    assert tests[-1] == "tests/core/talk/turn"
    assert "not slow" in tests[tests.index("-m") + 1]
    assert [tool for tool, *_ in others] == ["ruff", "lint-imports", "mypy"]
    assert folders_of("nowhere", tmp_path) == []
    assert all(tool != "pytest" for tool, *_ in checks_of([Path("core/other")], tmp_path))
