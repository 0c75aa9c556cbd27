"""Prompt files: the person's own first, the project's when trusted, ours last."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from core.settings.prompts import MAX_PROMPT_BYTES, prompt_file, prompt_names, read_prompts


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    home, root = tmp_path / "home", tmp_path / "project"
    (home / "knowledge/prompts").mkdir(parents=True)
    (root / "prompts").mkdir(parents=True)
    return home, root


def test_our_prompts_are_short_and_hold_nothing_that_changes(places: tuple[Path, Path]) -> None:
    prompts = read_prompts(*places, is_trusted=True)

    assert {"role.md", "role-open.md"} <= set(prompts)
    assert set(prompts) == set(prompt_names())
    for name, text in prompts.items():
        assert text == resources.files("prompts").joinpath(name).read_text(encoding="utf-8")
        assert 100 < len(text) < 2_000
        assert "\r" not in text


def test_the_persons_file_counts_before_the_projects(places: tuple[Path, Path]) -> None:
    home, root = places
    (root / "prompts/role.md").write_text("project's")
    assert read_prompts(home, root, is_trusted=True)["role.md"] == "project's"
    (home / "knowledge/prompts/role.md").write_text("mine")

    assert read_prompts(home, root, is_trusted=True)["role.md"] == "mine"
    assert prompt_file("role.md", home, root, is_trusted=True) == home / "knowledge/prompts/role.md"


def test_a_project_that_is_not_trusted_brings_no_prompts(places: tuple[Path, Path]) -> None:
    home, root = places
    (root / "prompts/role.md").write_text("project's")

    assert read_prompts(home, root, is_trusted=False)["role.md"] != "project's"


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (MAX_PROMPT_BYTES + 1)])
def test_a_file_that_is_no_prompt_is_passed_over(places: tuple[Path, Path], data: bytes) -> None:
    home, root = places
    (home / "knowledge/prompts/role.md").write_bytes(data)
    (home / "knowledge/prompts/role-open.md").mkdir()
    (root / "prompts/role.md").write_text("project's")

    assert read_prompts(home, root, is_trusted=True)["role.md"] == "project's"
    assert len(read_prompts(home, root, is_trusted=True)["role-open.md"]) > 100


def test_line_ends_are_folded(places: tuple[Path, Path]) -> None:
    home, root = places
    (home / "knowledge/prompts/role.md").write_bytes(b"\xef\xbb\xbfa\r\nb")

    assert read_prompts(home, root, is_trusted=True)["role.md"] == "a\nb"
