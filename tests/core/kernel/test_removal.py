"""A folder that commands wrote in goes whole: what they left in it keeps no program from ending, or from starting."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from core.kernel.disk import remove_whole


def _deep(folder: Path, depth: int) -> None:
    """Folders in folders, deeper than a path is long."""
    before = Path.cwd()
    os.chdir(folder)
    for _ in range(depth):
        os.mkdir("a folder with a long name")
        os.chdir("a folder with a long name")
    Path("words").write_text("of a conversation")
    os.chdir(before)


def test_a_tree_goes_however_deep_and_closed_and_what_its_links_point_to_stays(tmp_path: Path) -> None:
    top, other = tmp_path / "scratch", tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("stays")
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "link").symlink_to(other)
    (top / "a" / "b" / "link").symlink_to(other / "file")
    os.mkfifo(top / "a" / "pipe")
    _deep(top, sys.getrecursionlimit() + 200)
    for closed in (top / "a" / "b", top / "a"):
        closed.chmod(0)

    remove_whole(top)

    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert (other / "file").read_text() == "stays"


def test_what_cannot_go_is_told_and_the_rest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "scratch"
    (top / "folder").mkdir(parents=True)
    for name in ("kept", "gone", "folder/gone"):
        (top / name).write_text("")
    unlink = os.unlink

    def refusing(path: str) -> None:
        if path.endswith("kept"):
            raise PermissionError(1, "not yours", path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", refusing)
    with pytest.raises(PermissionError, match="not yours"):
        remove_whole(top)

    assert [path.name for path in top.rglob("*")] == ["kept"]
