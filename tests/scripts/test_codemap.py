"""The codemap lists every module by folder with the first line of its docstring."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import codemap


def test_modules_are_listed_by_folder_with_their_first_line(tmp_path: Path) -> None:
    for name, text in {
        "core/__init__.py": '"""The core."""',
        "core/a.py": '"""Does a.\n\nMore."""',
        "core/values/__init__.py": "",
        "core/values/v.py": '"""Holds v."""',
        "core/z.py": '"""Does z."""',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert codemap.render(tmp_path) == (
        "**core/** The core.\n\n- `a`: Does a.\n- `z`: Does z.\n\n**core/values/**\n\n- `v`: Holds v."
    )


def test_only_what_stands_between_the_markers_is_replaced() -> None:
    before = f"# A\n{codemap.START}\nold\n{codemap.END}\n## B\n"
    once = codemap.replaced(before, "new")
    assert once == f"# A\n{codemap.START}\n\nnew\n\n{codemap.END}\n## B\n"
    assert codemap.replaced(once, "new") == once


def test_a_missing_marker_is_an_error() -> None:
    with pytest.raises(ValueError, match="lacks"):
        codemap.replaced("# A\n", "new")
