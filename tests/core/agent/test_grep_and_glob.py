"""`grep` and `glob`: what is found, what is left out and said, and that neither hangs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core.agent.tools.search_files import MAX_CHARS, MAX_MATCHES, MAX_NAMES
from tests.core.agent.desks import Desk
from tests.patience import ends


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    for name, text in {
        "src/a.py": "import os\n\ndef run() -> None:\n    pass\n",
        "src/deep/b.py": "def walk() -> None: ...\r\n",
        "notes.md": "# Notes\nrun it\n",
        "build/out.py": "def built(): ...\n",
        ".gitignore": "build/\n",
        "node_modules/x.py": "def hidden(): ...\n",
    }.items():
        (desk.root / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.root / name).write_bytes(text.encode())
    (desk.root / "blob.py").write_bytes(b"def \0binary")
    return desk


def test_lines_are_found_under_the_name_of_their_file(desk: Desk) -> None:
    assert desk.use("grep", pattern=r"^def \w+").text == (
        '<matches pattern="^def \\\\w+" files="2">\n'
        "src/a.py\n     3: def run() -> None:\n\n"
        "src/deep/b.py\n     1: def walk() -> None: ...\n"
        "</matches>\n"
        "1 file or folder is left out by .gitignore.\n"
    )


def test_a_search_is_narrowed_by_folder_file_case_and_name(desk: Desk) -> None:
    assert "a.py" not in desk.use("grep", pattern="def", path="src/deep").text
    assert "notes.md" not in desk.use("grep", pattern="run", files="*.py").text
    assert "Nothing found" in desk.use("grep", pattern="NOTES").text
    assert "# Notes" in desk.use("grep", pattern="NOTES", ignore_case=True).text
    assert "\nsrc/a.py\n</matches>" in desk.use("grep", pattern="os", names_only=True).text
    assert "built" in desk.use("grep", pattern="def", with_ignored=True).text
    assert "run it" in desk.use("grep", pattern="run", path="notes.md").text


def test_lines_around_are_shown_once(desk: Desk) -> None:
    (desk.root / "list.txt").write_text("".join(f"{number}\n" for number in range(1, 21)))

    text = desk.use("grep", pattern="^(4|6|15)$", path="list.txt", context=2).text
    rows = [line for line in text.split("\n") if line.startswith("   ")]
    assert [row.split()[0].rstrip(":-") for row in rows] == [
        *"2345678",
        "",
        *map(str, range(13, 18)),
    ]


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)[^a]", "(x+x+)+y", "a{0,900}a{0,1}b"]
)
def test_an_expression_that_would_explode_ends(desk: Desk, pattern: str) -> None:
    """Of the engine that backtracks each would take for ever; how long it takes is a row of `tests.bench.sound_growth`."""
    (desk.root / "trap.txt").write_text("a" * 200_000 + "\n")

    assert not ends(lambda: desk.use("grep", pattern=pattern, path="trap.txt")).is_error


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(x)\1", "((a{1000}){1000}){1000}", "[z-a]"])
def test_an_expression_that_is_none_is_said(desk: Desk, pattern: str) -> None:
    assert "RE2" in desk.use("grep", pattern=pattern).text


def test_results_are_bounded_and_say_so(desk: Desk) -> None:
    (desk.root / "many.txt").write_text("hit\n" * 10_000)
    (desk.root / "wide.txt").write_text(("y" * 500_000 + "needle" + "y" * 500_000 + "\n") * 3)

    many = desk.use("grep", pattern="hit").text
    assert many.count(": hit\n") == MAX_MATCHES
    assert "There is more" in many
    wide = desk.use("grep", pattern="needle").text
    assert wide.count("needle") == 4
    assert len(wide) < 3_000
    assert len(desk.use("grep", pattern="[hy]").text) < MAX_CHARS + 1_000


def test_a_cancelled_search_stops(desk: Desk) -> None:
    desk.cancel()
    assert "Stopped" in desk.use("grep", pattern="def").text


def test_a_link_is_found_where_it_leads_and_never_outside(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "c.py").write_text("def secret(): ...\n")
    (desk.root / "src" / "link.py").symlink_to(tmp_path / "elsewhere" / "c.py")
    (desk.root / "src" / "again.py").symlink_to("a.py")
    (desk.root / "way").symlink_to(tmp_path / "elsewhere")

    text = desk.use("grep", pattern="def").text
    assert "secret" not in text
    assert text.count("def run") == 1


def test_names_are_found_by_pattern(desk: Desk) -> None:
    def names(**arguments: Any) -> list[str]:
        return desk.use("glob", **arguments).text.partition("</files>")[0].split("\n")[1:-1]

    assert names(pattern="*.py") == ["blob.py", "src/a.py", "src/deep/b.py"]
    assert names(pattern="src/*.py") == ["src/a.py"]
    assert names(pattern="*.py", folder="src/deep") == ["src/deep/b.py"]
    assert names(pattern="notes.md", folder="") == ["notes.md"]
    assert names(pattern="src/a.py") == ["src/a.py"]
    assert "build/out.py" in names(pattern="*.py", with_ignored=True)


def test_what_is_left_out_of_names_is_said(desk: Desk) -> None:
    for number in range(MAX_NAMES + 3):
        (desk.root / f"{number:04}.dat").touch()

    assert "3 more" in desk.use("glob", pattern="*.dat").text
    assert "left out by .gitignore" in desk.use("glob", pattern="**/*.py").text
    assert "Nothing found" in desk.use("glob", pattern="*.nothing").text


@pytest.mark.parametrize("pattern", ["../*", "src/../../*", "/etc/*", "*/../../*", "x\0*"])
def test_no_pattern_leads_outside(desk: Desk, pattern: str) -> None:
    assert desk.use("glob", pattern=pattern).is_error
    assert desk.use("grep", pattern=".", files=pattern).is_error


def test_a_folder_linked_to_the_outside_gives_no_names(desk: Desk, tmp_path: Path) -> None:
    os.symlink(tmp_path / "home", desk.root / "way")
    (desk.home / "hook_token").touch()

    assert "hook_token" not in desk.use("glob", pattern="**/*").text
    assert desk.use("glob", pattern="way/*").is_error
    assert desk.use("glob", pattern="*", folder="way").is_error
