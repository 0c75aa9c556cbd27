"""Globs: what they match, where they stop."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.kernel.values.curation import FileItem, FileProblemKind
from core.kernel.values.settings import FileLimits
from core.talk.context.file_reader import read_item
from core.talk.context.globs import expand, glob_base

FILES = (
    "a.py",
    "b.txt",
    ".env",
    "src/a.py",
    "src/deep/er/b.py",
    "src/deep/x.md",
    ".git/config.py",
    "node_modules/p/i.py",
    "src/__pycache__/c.py",
    "src/.hidden/d.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in FILES:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    return tmp_path


def found(root: Path, pattern: str, limit: int = 100) -> list[str]:
    result = read_item(str(root), FileItem(pattern), FileLimits(max_glob_files=limit))
    return [file.path for file in result.files]


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("*.py", ["a.py"]),
        ("**/*.py", ["a.py", "src/a.py", "src/deep/er/b.py"]),
        ("src/**", ["src/a.py", "src/deep/er/b.py", "src/deep/x.md"]),
        ("src/*/x.md", ["src/deep/x.md"]),
        ("src/**/er/*", ["src/deep/er/b.py"]),
        ("**/src/**/*.py", ["src/a.py", "src/deep/er/b.py"]),
        ("[ab].*", ["a.py", "b.txt"]),
        ("?.txt", ["b.txt"]),
        (".*", [".env"]),
        ("node_modules/**/*.py", ["node_modules/p/i.py"]),
        ("src/.hidden/*.py", ["src/.hidden/d.py"]),
        ("**/__pycache__/*.py", ["src/__pycache__/c.py"]),
        ("./src/*.py", ["src/a.py"]),
        ("src/../*.py", ["a.py"]),
    ],
)
def test_patterns(root: Path, pattern: str, wanted: list[str]) -> None:
    assert found(root, pattern) == wanted


def test_an_absolute_pattern_inside_the_project_is_shown_relative(root: Path) -> None:
    assert found(root, f"{root}/src/*.py") == ["src/a.py"]


def test_no_match_says_what_is_left_out(root: Path) -> None:
    problem = read_item(str(root), FileItem("**/*.zig"), FileLimits()).problem

    assert problem is not None
    assert problem.kind is FileProblemKind.EMPTY_GLOB
    assert "node_modules" in problem.detail


def test_a_glob_outside_the_project_is_refused(root: Path) -> None:
    problem = read_item(str(root / "src"), FileItem("../*.py"), FileLimits()).problem

    assert problem is not None
    assert problem.kind is FileProblemKind.OUTSIDE


def test_links_are_judged_and_never_followed_into_folders(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "secret.py").write_text("secret")
    (root / "out.py").symlink_to(other / "secret.py")
    (root / "folder").symlink_to(other)
    (root / "cycle").symlink_to(root)
    result = read_item(str(root), FileItem("**/*.py"), FileLimits())

    assert [file.path for file in result.files] == ["a.py", "out.py", "src/a.py", "src/deep/er/b.py"]
    assert [file.text for file in result.files if file.path == "out.py"] == [""]


def test_one_too_many_gives_none_and_says_the_limit(root: Path) -> None:
    assert len(found(root, "**/*.py", limit=3)) == 3
    result = read_item(str(root), FileItem("**/*.py"), FileLimits(max_glob_files=2))

    assert result.files == ()
    assert result.problem is not None
    assert result.problem.kind is FileProblemKind.TOO_MANY
    assert "over 2 files match" in result.problem.detail


def test_a_hundred_thousand_files_stop_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk ends with the first file past the limit: it does not look at the rest."""
    source = tmp_path / "one"
    source.write_text("x")
    for number in range(3_000):
        os.link(source, tmp_path / f"f{number}.py")
    base, parts = glob_base(f"{tmp_path}/*.py")
    walked = expand(base, parts, limit=2_000)

    assert walked.is_too_many
    assert walked.visited < 2_010


def test_a_pattern_is_split_where_its_wildcards_begin() -> None:
    assert glob_base("/p/src/*/a.py") == ("/p/src", ("*", "a.py"))
    assert glob_base("/*") == ("/", ("*",))


def test_what_is_no_file_is_not_found(root: Path) -> None:
    os.mkfifo(root / "pipe.py")
    (root / "to_pipe.py").symlink_to(root / "pipe.py")
    (root / "to_null.py").symlink_to("/dev/null")
    (root / "to_nothing.py").symlink_to(root / "gone.py")

    assert {"pipe.py", "to_pipe.py", "to_null.py"}.isdisjoint(found(root, "**/*.py"))
    problem = read_item(str(root), FileItem("to_nothing.py"), FileLimits()).files[0].problem
    assert problem is not None
