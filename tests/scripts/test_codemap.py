"""The codemap lists every module by folder with the first line of its docstring."""

from __future__ import annotations

from pathlib import Path

from scripts import codemap


def test_modules_are_listed_by_folder_with_their_first_line(tmp_path: Path) -> None:
    for name, text in {
        "core/__init__.py": '"""The core."""',
        "core/a.py": '"""Does a.\n\nMore."""',
        "core/kernel/values/__init__.py": "",
        "core/kernel/values/v.py": '"""Holds v."""',
        "core/z.py": '"""Does z."""',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert codemap.render(tmp_path) == (
        "**core/** The core.\n\n- `a`: Does a.\n- `z`: Does z.\n\n**core/kernel/values/**\n\n- `v`: Holds v."
    )


def test_the_page_begins_with_what_it_is_and_holds_the_map(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text('"""Does a."""')
    page = codemap.page(tmp_path)
    assert page.startswith("# Codemap\n")
    assert page.endswith(codemap.render(tmp_path) + "\n")
