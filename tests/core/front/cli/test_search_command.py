"""`search` says which files it passed over, and searches the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.kernel import paths
from core.retrieval import sources
from tests.core.front.cli.conftest import World
from tests.core.retrieval.test_navigation_worker import WordModel


@pytest.mark.slow
def test_a_log_of_a_gigabyte_and_other_files_that_are_not_searched_are_said(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("core.app.outside.LocalEmbedder", WordModel)
    monkeypatch.setattr(sources, "MAX_NOTE_BYTES", 200)
    known = world.home / "knowledge"
    (known / "files").mkdir(parents=True)
    (known / "facts.md").write_text("- The sluice opens at noon.\n")
    for name in ("a", "b", "c"):
        (known / "files" / f"{name}.md").write_text("- A long note.\n" * 100)
    log = paths.log_file(world.home, "20261101-000000-aaaaaa")
    log.parent.mkdir(parents=True)
    log.touch()
    os.truncate(log, 10**9)
    with world.config.open("a") as config:
        config.write('[retrieval]\nenabled = true\ncorpora = ["discussions", "knowledge"]\n')

    ran = world.run("search", "sluice")

    assert ran.code == 0
    assert "sluice opens at noon" in ran.out
    assert (
        "not searched, or only in part: 20261101-000000-aaaaaa (the file has 1,000,000,000 bytes), files/a.md (the file has"
        in ran.err
    )
    assert ran.err.rstrip().endswith("and 1 more")


def test_a_hit_is_named_by_the_path_that_opens_its_file(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note was named from its folder, a file of the project from the project: one of the two opened nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("core.app.outside.LocalEmbedder", WordModel)
    for folder in ("notes", "papers"):
        (world.project / folder).mkdir()
        (world.project / folder / "tide.md").write_text(
            f"# Tide\n\nThe sluice of the {folder} opens at noon.\n"
        )
    with world.config.open("a") as config:
        config.write('[retrieval]\nenabled = true\nroots = ["notes", "papers"]\ncorpora = ["notes"]\n')

    ran = world.run("search", "sluice")

    assert ran.code == 0
    assert "notes/tide.md:1-3" in ran.out
    assert "papers/tide.md:1-3" in ran.out
