"""The name of a repository for facts: of its origin, else its folder, else what its project says."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.values.facts import domain_name, is_domain, origin_name
from core.services.settings.project import repository_domain


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://host.example/group/Tides.git", "tides"),
        ("git@host.example:group/tides.git", "tides"),
        ("host:tides", "tides"),
        ("ssh://git@host:22/~me/My Tides/", "my-tides"),
        ("C:\\work\\tides.git", "tides"),
        ("../global.git", "global-repository"),
        ("file:///..", ""),
        ("", ""),
    ],
)
def test_the_last_part_of_an_address_is_the_domain(address: str, name: str) -> None:
    assert domain_name(origin_name(address)) == name
    assert not name or is_domain(name)


def test_a_repository_goes_by_its_origin_from_any_folder_in_it(tmp_path: Path) -> None:
    git = tmp_path / "Here" / ".git"
    git.mkdir(parents=True)
    inner = tmp_path / "Here" / "inner"
    inner.mkdir()
    assert repository_domain(inner) == "here"

    (git / "config").write_text(
        '[remote "fork"]\n\turl = a/fork.git\n[remote "origin"]\n\turl = a/Tides.git\n'
    )

    assert repository_domain(inner) == "tides"
    assert repository_domain(tmp_path) == ""


def test_a_worktree_goes_by_the_repository_that_it_belongs_to(tmp_path: Path) -> None:
    own = tmp_path / "main" / ".git" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (tmp_path / "main" / ".git" / "config").write_text('[remote "origin"]\n\turl = a/tides.git\n')
    tree = tmp_path / "w"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")

    assert repository_domain(tree) == "tides"
