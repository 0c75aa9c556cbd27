"""Names that other programs obey are held while a command runs, and given back as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agent import guarded_files
from core.agent.guarded_files import GuardedPlaces


def shown(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_names_are_held_until_the_last_command_ends(tmp_path: Path) -> None:
    places, root = GuardedPlaces(), str(tmp_path)
    first, second = places.hold(root), places.hold(root)
    names = [".claude", ".envrc", ".git", ".mcp.json", ".vscode", "AGENTS.md", "CLAUDE.md", "POC.md"]
    assert shown(tmp_path) == names
    assert sorted(first.guarded) == sorted(second.guarded) == [str(tmp_path / name) for name in names]
    assert places.release(root, first) == ()
    assert shown(tmp_path) == names
    assert places.release(root, second) == ()
    assert shown(tmp_path) == []


def test_beside_what_runs_on_nothing_is_made_and_what_comes_to_be_is_known(tmp_path: Path) -> None:
    (tmp_path / ".envrc").write_text("x")
    places, root = GuardedPlaces(), str(tmp_path)
    held = places.look(root)
    assert shown(tmp_path) == [".envrc"]
    assert str(tmp_path / ".envrc") in held.guarded
    command = places.hold(root)
    assert places.came_to_be(root, held) == ()
    places.release(root, command)
    (tmp_path / "CLAUDE.md").write_text("Obey.")
    assert places.came_to_be(root, held) == (str(tmp_path / "CLAUDE.md"),)


def test_what_the_person_put_in_meanwhile_stays(tmp_path: Path) -> None:
    places, root = GuardedPlaces(), str(tmp_path)
    held = places.hold(root)
    (tmp_path / ".vscode" / "tasks.json").write_text("{}")
    (tmp_path / "CLAUDE.md").rmdir()
    (tmp_path / "CLAUDE.md").write_text("mine")
    places.release(root, held)
    assert shown(tmp_path) == [".vscode", "CLAUDE.md"]


def test_a_repository_keeps_its_settings_hooks_and_those_of_its_modules(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    for folder in (git, git / "modules" / "m", tmp_path / "sub" / ".git"):
        folder.mkdir(parents=True)
        (folder / "HEAD").write_text("ref: x\n")
        (folder / "config").write_text("[core]\n")
    (tmp_path / "sub" / "claude.md").write_text("x")
    (tmp_path / "AGENTS.md").symlink_to(tmp_path / "elsewhere")
    places = GuardedPlaces()
    held = places.hold(str(tmp_path))
    guarded = {str(Path(path).relative_to(tmp_path)) for path in held.guarded}
    assert {".git/config", ".git/hooks", ".git/commondir", ".git/config.worktree"} <= guarded
    assert {".git/modules/m/config", "sub/.git/config", "sub/claude.md"} <= guarded
    assert ".git" not in guarded
    assert held.open_links == (str(tmp_path / "AGENTS.md"),)
    assert (git / "commondir").read_text() == ".\n"
    places.release(str(tmp_path), held)
    assert shown(git) == ["HEAD", "config", "modules"]


def test_a_link_to_another_repository_is_not_entered(tmp_path: Path) -> None:
    root, other = tmp_path / "project", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git").symlink_to(other)
    places = GuardedPlaces()
    held = places.hold(str(root))
    assert shown(other) == ["HEAD"]
    assert held.open_links == (str(root / ".git"),)
    places.release(str(root), held)


def test_what_comes_to_be_deeper_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    places = GuardedPlaces()
    held = places.hold(str(tmp_path))
    (tmp_path / "sub" / ".ENVRC").write_text("x")
    assert places.release(str(tmp_path), held) == (str(tmp_path / "sub" / ".ENVRC"),)
    monkeypatch.setattr(guarded_files, "MOST_LOOKED_AT", 1)
    assert places.hold(str(tmp_path)).guarded != ()


def test_a_repository_without_a_folder_of_git_keeps_its_settings_and_a_new_one_is_named(
    tmp_path: Path,
) -> None:
    """Git takes any folder for one, and runs what its settings name, where a person or their prompt asks for its state."""
    for folder in ("old.git/objects", "old.git/hooks", "src"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("HEAD", "config"):
        (tmp_path / "old.git" / name).write_text("x")
    places = GuardedPlaces()
    held = places.hold(str(tmp_path))
    (tmp_path / "src" / "objects").mkdir()
    for name in ("HEAD", "config"):
        (tmp_path / "src" / name).write_text("x")

    assert {str(tmp_path / "old.git" / name) for name in ("config", "hooks")} <= {*held.guarded}
    assert places.release(str(tmp_path), held) == (str(tmp_path / "src" / "config"),)


def test_what_a_kill_left_goes_behind_the_next_command(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: x\n")
    GuardedPlaces().hold(str(tmp_path))
    places = GuardedPlaces()
    places.release(str(tmp_path), places.hold(str(tmp_path)))
    assert shown(tmp_path) == [".claude", ".git", ".vscode"]
    assert shown(git) == ["HEAD", "hooks"]
