"""Prompt files: the person's own first, the project's when trusted, ours last."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from core.kernel.errors import ConfigError
from core.services.settings.prompts import (
    MAX_PROMPT_BYTES,
    make_own_prompt,
    own_prompt,
    own_prompt_path,
    project_prompts,
    prompt_file,
    prompt_names,
    prompt_sources,
    read_prompts,
    remove_prompt,
    write_prompt,
)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    home, root = tmp_path / "home", tmp_path / "project"
    (home / "knowledge/prompts").mkdir(parents=True)
    (root / "prompts").mkdir(parents=True)
    return home, root


def test_our_prompts_are_short_and_hold_nothing_that_changes(places: tuple[Path, Path]) -> None:
    prompts = read_prompts(places[0], {})

    assert {"role.md", "role-open.md"} <= set(prompts)
    assert set(prompts) == set(prompt_names())
    for name, text in prompts.items():
        assert text == resources.files("prompts").joinpath(name).read_text(encoding="utf-8")
        assert 100 < len(text) < 2_000
        assert "\r" not in text


def test_the_persons_file_counts_before_the_projects(places: tuple[Path, Path]) -> None:
    home, root = places
    (root / "prompts/role.md").write_text("project's")
    assert read_prompts(home, project_prompts(root))["role.md"] == "project's"
    (home / "knowledge/prompts/role.md").write_text("mine")

    assert read_prompts(home, project_prompts(root))["role.md"] == "mine"
    assert prompt_file("role.md", home, root, {"role.md"}) == home / "knowledge/prompts/role.md"


def test_a_projects_prompt_that_does_not_count_is_not_read(places: tuple[Path, Path]) -> None:
    home, root = places
    (root / "prompts/role.md").write_text("project's")

    assert read_prompts(home, {})["role.md"] != "project's"
    assert prompt_file("role.md", home, root, ()) != root / "prompts/role.md"
    assert prompt_file("role.md", home, root, {"role.md"}) == root / "prompts/role.md"


def test_a_projects_prompt_that_says_what_the_shipped_one_says_is_none(places: tuple[Path, Path]) -> None:
    home, root = places
    shipped = read_prompts(home, {})
    (root / "prompts/role.md").write_bytes(shipped["role.md"].replace("\n", "\r\n").encode())
    (root / "prompts/role-open.md").write_text("ours")
    (root / "prompts/other.md").write_text("no prompt of the program")

    assert project_prompts(root) == {"role-open.md": "ours"}


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (MAX_PROMPT_BYTES + 1)])
def test_a_file_that_is_no_prompt_is_passed_over(places: tuple[Path, Path], data: bytes) -> None:
    home, root = places
    (home / "knowledge/prompts/role.md").write_bytes(data)
    (home / "knowledge/prompts/role-open.md").mkdir()
    (root / "prompts/role.md").write_text("project's")

    assert read_prompts(home, project_prompts(root))["role.md"] == "project's"
    assert len(read_prompts(home, project_prompts(root))["role-open.md"]) > 100


def test_line_ends_are_folded(places: tuple[Path, Path]) -> None:
    home, root = places
    (home / "knowledge/prompts/role.md").write_bytes(b"\xef\xbb\xbfa\r\nb")

    assert read_prompts(home, project_prompts(root))["role.md"] == "a\nb"


def test_the_persons_own_text_is_written_counts_and_is_taken_back(tmp_path: Path) -> None:
    shipped = read_prompts(tmp_path, {})["role.md"]

    write_prompt(tmp_path, "role.md", "Mine.", shipped)
    own = str(tmp_path / "knowledge" / "prompts" / "role.md")
    assert read_prompts(tmp_path, {})["role.md"] == "Mine."
    assert prompt_sources(tmp_path, tmp_path, {})["role.md"] == own

    remove_prompt(tmp_path, "role.md", "Mine.")
    assert read_prompts(tmp_path, {})["role.md"] == shipped
    assert set(prompt_sources(tmp_path, tmp_path, {}).values()) == {""}


def test_what_an_editor_saved_meanwhile_is_neither_written_over_nor_removed(tmp_path: Path) -> None:
    write_prompt(tmp_path, "role.md", "Edited outside.")

    with pytest.raises(ConfigError, match="The prompt's file has changed meanwhile"):
        write_prompt(tmp_path, "role.md", "Mine.", "What I saw.")
    with pytest.raises(ConfigError, match="The prompt's file has changed meanwhile"):
        remove_prompt(tmp_path, "role.md", "What I saw.")

    assert own_prompt(tmp_path, "role.md") == "Edited outside."


def test_a_prompt_that_nothing_would_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at most 200,000 bytes"):
        write_prompt(tmp_path, "role.md", "x" * 200_001)
    with pytest.raises(ConfigError, match="no prompt"):
        write_prompt(tmp_path, "../x.md", "x")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (MAX_PROMPT_BYTES + 1)])
def test_what_cannot_be_read_in_place_of_a_prompt_is_not_written_over(tmp_path: Path, data: bytes) -> None:
    """Settings show the shipped text there, and saving that would lose what the person wrote."""
    path = own_prompt_path(tmp_path, "role.md")
    path.parent.mkdir(parents=True)
    path.write_bytes(data)

    for change in (
        lambda: write_prompt(tmp_path, "role.md", "Mine.", "Shipped."),
        lambda: write_prompt(tmp_path, "role.md", "Mine."),
        lambda: remove_prompt(tmp_path, "role.md"),
        lambda: make_own_prompt(tmp_path, "role.md", {}),
    ):
        with pytest.raises(ConfigError, match="The program cannot read your prompt file as a prompt"):
            change()

    assert path.read_bytes() == data


def test_a_copy_of_ones_own_is_what_counts_now_and_is_made_once(tmp_path: Path) -> None:
    path = make_own_prompt(tmp_path, "role.md", {"role.md": "The project's."})
    assert path.read_text() == "The project's."

    assert make_own_prompt(tmp_path, "role.md", {}) == path
    assert path.read_text() == "The project's."
