"""`manual-slop index`: check, build and a new note."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.front.cli.conftest import World


@pytest.fixture
def notes(world: World) -> Path:
    world.config.write_text(
        '[retrieval]\nenabled = true\nroots = ["notes"]\ncorpora = ["knowledge", "discussions", "notes"]\n'
    )
    folder = world.project / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# First\n")
    return folder


def test_check_ends_with_1_until_build_has_mended_it(world: World, notes: Path) -> None:
    before = world.run("index", "check")
    assert (before.code, before.err) == (1, "")
    assert f"missing:  {notes / 'index.md'}" in before.out
    assert world.run("index", "build").code == 0
    after = world.run("index", "check")
    assert (after.code, after.out) == (0, "1 index file up to date, 0 outdated, 0 orphaned.\n")
    (notes / "a.md").write_text("# Other\n")
    stale = world.run("index", "check", "--json")
    assert stale.code == 1
    assert stale.json["stale"] == [str(notes / "index.md")]


def test_an_index_whose_folder_is_enabled_no_more_is_named_and_removed(world: World, notes: Path) -> None:
    world.run("index", "build")
    world.config.write_text("[retrieval]\nenabled = false\n")
    found = world.run("index", "check")
    assert found.code == 1
    assert f"orphan:  {notes / 'index.md'}" in found.out
    assert world.run("index", "build", "--json").json["removed"] == [str(notes / "index.md")]
    assert world.run("index", "check").code == 0


@pytest.mark.parametrize("broken", ["[retrieval\n", '[retrieval]\nenabled = "yes"\n'])
def test_while_settings_are_at_fault_nothing_is_taken_for_an_orphan(
    world: World, notes: Path, broken: str
) -> None:
    world.run("index", "build")
    world.config.write_text(broken)
    found = world.run("index", "build")
    assert (notes / "index.md").exists()
    assert "warning" in found.err


def test_while_the_project_is_not_trusted_nothing_is_taken_for_an_orphan(world: World, notes: Path) -> None:
    world.run("index", "build")
    world.config.write_text("")
    (world.project / "manual_slop.toml").write_text('[retrieval]\nenabled = true\nroots = ["notes"]\n')
    found = world.run("index", "build")
    assert (notes / "index.md").exists()
    assert "is not trusted" in found.err


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("enabled = false", "Search is off in this project. Set `enabled = true`"),
        ("enabled = true", "Name the folders of your notes in `roots` under `[retrieval]`"),
        (
            'enabled = true\nroots = ["notes"]\ncorpora = ["knowledge"]',
            "`[retrieval] corpora` does not name `notes`",
        ),
    ],
)
@pytest.mark.parametrize("action", ["check", "build"])
def test_where_no_notes_are_searched_it_says_why_nothing_is_stale(
    world: World, notes: Path, action: str, settings: str, said: str
) -> None:
    world.config.write_text(f"[retrieval]\n{settings}\n")
    found = world.run("index", action)

    assert found.code == 0
    assert f"note: search leaves your notes out, so the notes have no index: {said}" in found.err


def test_a_hand_written_index_is_named_and_is_in_order(world: World, notes: Path) -> None:
    (notes / "index.md").write_text("# Mine\n")
    found = world.run("index", "check")
    assert found.code == 0
    assert f"yours:  this program did not write {notes / 'index.md'}" in found.out


def test_a_root_outside_is_said(world: World, notes: Path, tmp_path: Path) -> None:
    world.config.write_text(f'[retrieval]\nenabled = true\nroots = ["{tmp_path}"]\n')
    assert "it is outside the project" in world.run("index", "check").err


def test_a_new_note_has_front_matter_and_is_listed_at_once(world: World, notes: Path) -> None:
    made = world.run("index", "new", "notes/deep/my-new_idea")
    path = notes / "deep" / "my-new_idea.md"
    assert (made.code, made.out) == (0, f"{path}\n")
    text = path.read_text()
    assert text.startswith('---\ntitle: "My new idea"\ntags: []\ndate: ')
    assert text.endswith("# My new idea\n\n")
    assert "[My new idea](my-new_idea.md)" in (notes / "deep" / "index.md").read_text()
    assert world.run("index", "check").code == 0


def test_a_new_note_overwrites_nothing(world: World, notes: Path) -> None:
    again = world.run("index", "new", "notes/a.md")
    assert again.code == 1
    assert "a file or folder with this name already exists" in again.err
    assert (notes / "a.md").read_text() == "# First\n"
    assert world.run("index", "new", "notes/").code == 2


def test_a_new_note_that_no_index_lists_is_said(world: World, notes: Path) -> None:
    made = world.run("index", "new", "elsewhere.txt")
    assert made.code == 0
    assert "no index lists this file" in made.err
    assert (world.project / "elsewhere.txt").exists()
