"""Where identity files may stand, in which order, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.kernel.values.curation import NamedText
from core.services.settings.project import (
    MAX_CONTEXT_FILE_BYTES,
    find_identity,
    identity_paths,
    repository_root,
)
from core.talk.context.file_layers import MANIFEST, identity_for, memory_for


def _write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _found(root: Path, start: Path, *homes: Path) -> list[str]:
    texts, faults = find_identity(identity_paths(root, start, homes), ())
    assert faults == ()
    return [text.name for text in texts]


def test_the_home_comes_first_then_the_repository_down_to_the_working_directory(tmp_path: Path) -> None:
    home, repo = tmp_path / "home", tmp_path / "repo"
    root, start = repo / "app", repo / "app" / "src"
    (repo / ".git" / "objects").mkdir(parents=True)
    for folder, name in ((start, "POC.md"), (root, "CLAUDE.md"), (repo, "AGENTS.md"), (home, "CLAUDE.md")):
        _write(folder / name, folder.name)
    _write(tmp_path / "CLAUDE.md", "above the repository")

    assert _found(root, start, home) == ["home:CLAUDE.md", "../AGENTS.md", "CLAUDE.md", "src/POC.md"]


def test_without_a_repository_the_walk_ends_at_the_projects_root(tmp_path: Path) -> None:
    _write(tmp_path / "CLAUDE.md")
    _write(tmp_path / "p" / "a" / "CLAUDE.md")
    _write(tmp_path / "p" / "CLAUDE.md", "y")

    assert _found(tmp_path / "p", tmp_path / "p" / "a") == ["CLAUDE.md", "a/CLAUDE.md"]


def test_a_worktree_whose_git_is_a_file_is_a_repository(tmp_path: Path) -> None:
    _write(tmp_path / ".git", "gitdir: elsewhere")

    assert repository_root(tmp_path / "a" / "b", tmp_path / "a") == tmp_path
    assert repository_root(Path(tmp_path.anchor), tmp_path) == tmp_path


def test_the_family_decides_between_the_files_of_each_folder(tmp_path: Path) -> None:
    for name in ("CLAUDE.md", "AGENTS.md", "POC.md"):
        _write(tmp_path / name, name)
    _write(tmp_path / "sub" / "AGENTS.md", "sub")
    texts, _ = find_identity(identity_paths(tmp_path, tmp_path / "sub", ()), ())

    assert [text.name for text in identity_for("claude", texts)] == ["CLAUDE.md", "sub/AGENTS.md"]
    assert [text.name for text in identity_for("gpt", texts)] == ["POC.md", "sub/AGENTS.md"]


def test_links_between_the_files_give_one_text(tmp_path: Path) -> None:
    _write(tmp_path / "AGENTS.md", "rules")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    texts, faults = find_identity(identity_paths(tmp_path, tmp_path, ()), ())

    assert ([text.text for text in texts], faults) == (["rules"], ())


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    _write(tmp_path / "CLAUDE.md", " \n")

    assert _found(tmp_path, tmp_path) == []


def test_text_is_cleaned_where_it_enters(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"\xef\xbb\xbfa\r\nb\x00")
    texts, _ = find_identity(identity_paths(tmp_path, tmp_path, ()), ())

    assert texts == (NamedText("CLAUDE.md", "a\nb", str(tmp_path / "CLAUDE.md")),)


def test_what_cannot_be_read_is_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"\xff\xfe")
    (tmp_path / "POC.md" / "inside").mkdir(parents=True)
    _write(tmp_path / "AGENTS.md", "good")
    _write(tmp_path / "sub" / "CLAUDE.md", "x" * (MAX_CONTEXT_FILE_BYTES + 1))
    (tmp_path / "sub" / "AGENTS.md").symlink_to("nowhere.md")
    os.mkfifo(tmp_path / "sub" / "POC.md")
    texts, faults = find_identity(identity_paths(tmp_path, tmp_path / "sub", ()), ())

    assert [text.text for text in texts] == ["good"]
    assert {
        Path(fault.path).relative_to(tmp_path).as_posix(): fault.reason.split(";")[0] for fault in faults
    } == {
        "CLAUDE.md": "CLAUDE.md is not UTF-8 and is left out",
        "POC.md": "POC.md is not a file",
        "sub/CLAUDE.md": f"sub/CLAUDE.md is over {MAX_CONTEXT_FILE_BYTES:,} bytes and is left out",
        "sub/AGENTS.md": "sub/AGENTS.md does not exist",
        "sub/POC.md": "sub/POC.md is not a file",
    }


def test_a_folder_that_holds_a_name_while_a_command_runs_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "p"
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    _write(tmp_path / "AGENTS.md", "of the repository")
    root.mkdir()
    before = find_identity(identity_paths(root, root, ()), ())
    for name in (".git", "CLAUDE.md", "POC.md"):
        (root / name).mkdir()

    assert find_identity(identity_paths(root, root, ()), ()) == before
    assert [text.text for text in before[0]] == ["of the repository"]


def test_a_link_out_of_the_repository_needs_an_allowed_root(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    outside = _write(tmp_path / "dotfiles" / "CLAUDE.md", "mine")
    (root / "CLAUDE.md").symlink_to(outside)
    places = identity_paths(root, root, ())

    assert find_identity(places, ())[0] == ()
    assert "is outside the project" in find_identity(places, ())[1][0].reason
    assert [text.text for text in find_identity(places, (outside.parent,))[0]] == ["mine"]


@pytest.mark.parametrize("has_file", [True, False])
def test_a_stranger_s_folder_in_a_repository_reaches_for_nothing_of_it(
    tmp_path: Path, *, has_file: bool
) -> None:
    """A home under git, and a download unpacked in it: the link led to a private key, which was sent."""
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    _write(tmp_path / ".ssh" / "id_rsa", "PRIVATE")
    _write(tmp_path / "CLAUDE.md", "mine")
    evil = tmp_path / "downloads" / "evil"
    evil.mkdir(parents=True)
    (evil / "AGENTS.md").symlink_to("../../.ssh/id_rsa")
    (evil / "POC.md").symlink_to("../../.ssh")
    root = evil if has_file else tmp_path

    texts, faults = find_identity(identity_paths(root, evil, ()), ())

    assert [text.text for text in texts] == ["mine"]
    assert [Path(fault.path).name for fault in faults] == ["AGENTS.md", "POC.md"]
    assert all("is outside the project" in fault.reason for fault in faults)


def test_a_link_to_another_identity_file_is_one_text_and_no_fault(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    _write(tmp_path / "AGENTS.md", "all")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "CLAUDE.md").symlink_to("../AGENTS.md")
    (tmp_path / "sub" / "AGENTS.md").symlink_to("../AGENTS.md")

    assert _found(tmp_path, tmp_path / "sub") == ["AGENTS.md"]


def test_memory_files_stand_whole_within_their_budget_and_a_manifest_tells_of_all() -> None:
    found = (
        NamedText("home:memory/a.md", "Intro\n## First heading\n" + "a" * 400),
        NamedText("home:memory/b.md", "b" * 4_000),
        NamedText("notes/c.md", "# Third"),
    )

    *whole, manifest = memory_for(found, budget=200)

    assert whole == [found[0], found[2]]
    assert manifest.name == MANIFEST
    assert manifest.text == (
        "- home:memory/a.md, “First heading”, 423 bytes: in full above\n"
        "- home:memory/b.md, 4,000 bytes: not here, the budget of memory files is used up\n"
        "- notes/c.md, “Third”, 7 bytes: in full above\n"
    )
    assert memory_for(()) == ()
