"""`import --follow`: a yes to one place, its list, and its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.front.cli.conftest import World


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path / "claude" / "projects"


def test_a_place_is_followed_after_a_yes_listed_and_left(world: World, place: Path) -> None:
    assert (
        world.run("import", "--follow").out
        == "The program imports from no other program or folder by itself.\n"
    )
    followed = world.run("import", "--follow", "claude-code", given=b"y\n", types=True)
    assert (followed.code, str(place) in world.config.read_text()) == (0, True)
    assert f"Claude Code: {place} (not there yet)" in followed.out + followed.err

    listed = world.run("import", "--follow", "--json").json
    assert listed == [{"name": "claude-code", "path": str(place)}]
    assert f"claude-code  {place}" in world.run("import", "--follow").out
    assert world.run("import", "--follow", "claude-code").code == 0  # it is: nothing is asked

    assert (
        world.run("import", "--unfollow", "claude-code").out
        == f"The program no longer imports from {place} by itself.\n"
    )
    assert str(place) not in world.config.read_text()
    assert world.run("import", "--unfollow", "claude-code").code == 2


def test_a_no_and_nobody_to_ask_change_nothing(world: World, place: Path) -> None:
    assert world.run("import", "--follow", "claude-code", given=b"n\n", types=True).code == 1
    unasked = world.run("import", "--follow", "claude-code")
    assert (unasked.code, "needs your confirmation" in unasked.err) == (2, True)
    assert str(place) not in world.config.read_text()


def test_a_folder_that_is_named_and_a_yes_beforehand(world: World) -> None:
    assert world.run("import", "--follow", str(world.project), "--yes").code == 0
    assert world.run("import", "--follow", "--json").json == [{"name": "", "path": str(world.project)}]


@pytest.mark.parametrize(
    "words",
    [("--follow", "cursr"), ("--follow", "claude-code", "--dry-run"), (), ("--unfollow", "nothing")],
)
def test_what_cannot_be_meant_is_named(world: World, words: tuple[str, ...]) -> None:
    ended = world.run("import", *words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err
