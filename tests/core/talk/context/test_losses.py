"""What a preset's globs lost when they began to follow `.gitignore` is said once, with the numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import FileItem, ItemFiles
from core.kernel.values.settings import FileLimits
from core.kernel.values.state import AppState
from core.talk.context.context_messages import FilesRead, GlobLoss
from core.talk.context.context_step import files_read
from core.talk.context.context_worker import LossesSaid
from core.talk.context.file_reader import read_items

LIMITS = FileLimits(max_glob_files=5)
GLOB = FileItem("**/*.py")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("a.py", "build/b.py", "build/c.py", "docs/d.md", "out/e.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / ".gitignore").write_text("build/\nout/\n")
    return root


def lost(root: Path, *items: FileItem, said: LossesSaid | None = None) -> tuple[GlobLoss, ...]:
    said = said or LossesSaid(root.parent / "cache" / "said")
    return said.fresh(str(root), read_items(str(root), items, LIMITS), LIMITS, ())


def test_a_loss_is_counted_and_said_once_also_after_a_restart(root: Path) -> None:
    said = LossesSaid(root.parent / "cache" / "said")

    assert lost(root, GLOB, FileItem("a.py"), said=said) == (GlobLoss("**/*.py", 2),)
    assert lost(root, GLOB, said=said) == ()
    assert lost(root, GLOB) == ()
    assert lost(root, GLOB, FileItem("**/*.md")) == (GlobLoss("**/*.md", 1),)


def test_a_glob_that_lost_no_file_is_not_spoken_of(root: Path) -> None:
    """Folders were left out, but nothing in them would have been taken."""
    assert lost(root, FileItem("**/*.zig"), replace(GLOB, include_ignored=True), FileItem("docs/*")) == ()


def test_more_files_than_a_glob_may_find_are_said_as_such(root: Path) -> None:
    for number in range(10):
        (root / f"build/n{number}.py").write_text("")

    assert lost(root, GLOB) == (GlobLoss("**/*.py", 4, is_more=True),)


def test_where_nothing_can_be_kept_it_is_said_once_a_run(root: Path) -> None:
    said = LossesSaid(root / "a.py" / "said")

    assert [len(lost(root, GLOB, said=said)) for _ in range(2)] == [1, 0]


def test_the_notice_names_the_globs_the_files_and_the_remedy() -> None:
    losses = (GlobLoss("**/*.py", 1_200), GlobLoss("*.md", 3, is_more=True))

    state, _ = files_read(AppState(), FilesRead("core", (), losses))

    notice = state.program.notices[-1]
    assert "'core' sends fewer files" in notice.text
    assert "1,200 files of '**/*.py', more than 3 files of '*.md'" in notice.detail
    assert "include_ignored = true" in notice.detail
    assert files_read(state, FilesRead("core", ()))[0].program.notices == state.program.notices


def test_rules_that_are_not_followed_are_said_when_that_becomes_so() -> None:
    items = (ItemFiles(GLOB, (), rules_passed_over=1_200),)

    state, _ = files_read(AppState(), FilesRead("core", items))
    again, _ = files_read(state, FilesRead("core", (*items, ItemFiles(FileItem("a.py"), ()))))

    notice = state.program.notices[-1]
    assert (
        "'core' may send files that .gitignore excludes. The program does not understand 1,200 of the rules"
        in notice.text
    )
    assert again.program.notices == state.program.notices
