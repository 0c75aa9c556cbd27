"""`knowledge validate`, `sync` and `facts`, and the shim of the first: what they print and how they end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core.front.cli import main
from core.knowledge.facts.yaml_forms import item_text
from scripts.validate_knowledge import run
from tests.core.knowledge.facts.fact_homes import HEAD, made_fact


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "knowledge" / "repos"
    folder.mkdir(parents=True)
    items = item_text(made_fact(1, tags=("ci",), related=("tides:fact:009",))) + item_text(
        made_fact(2, "Mud.")
    )
    (folder / "tides.yaml").write_text(HEAD + items)
    return tmp_path


def test_facts_that_keep_to_the_rules_end_well_a_warning_among_them(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--home", str(home), "knowledge", "validate"]) == 0

    said = "repos/tides.yaml:10: warning: the field `related` names tides:fact:009, which does not exist\n"
    told = capsys.readouterr()
    assert told.out == "", "a warning is no error"
    assert told.err.startswith(said)
    assert f"Every fact in {home / 'knowledge'} is valid." in told.err
    assert not (home / "knowledge" / "index.json").exists(), "it writes nothing"


def test_what_is_wrong_is_printed_with_file_and_line_and_ends_with_1(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "knowledge" / "repos" / "tides.yaml"
    path.write_text(path.read_text().replace('"Mud."', "[a, *b]"))

    assert run(["--home", str(home), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert [(one["file"], one["line"]) for one in found["problems"] if not one["is_warning"]] == [
        ("repos/tides.yaml", 18)
    ]
    assert main(["--home", str(home), "knowledge", "validate"]) == 1
    assert (
        "repos/tides.yaml:18: the program does not read an alias (*b); write the value itself\n"
        in capsys.readouterr().out
    )


def test_a_sync_then_a_look_up(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "knowledge", "sync"]) == 0
    assert capsys.readouterr().out == "2 facts in the index, 2 changed\n"
    assert main(["--home", str(home), "knowledge", "sync"]) == 0
    assert capsys.readouterr().out == "2 facts in the index, 0 changed\n"

    assert (
        main(["--home", str(home), "knowledge", "facts", "--domain", "tides", "--tag", "ci", "--json"]) == 0
    )
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["id"], found["fact"], found["stale"]) == ("tides:fact:001", "The moon makes tides.", False)
    assert main(["--home", str(home), "knowledge", "facts", "--category", "pitfall"]) == 1


@pytest.mark.parametrize("action", ["sync", "digest"])
def test_a_category_file_that_an_editor_saved_is_in_the_digest_after(home: Path, action: str) -> None:
    knowledge = home / "knowledge"
    (knowledge / "facts.md").write_text("- Pumps are on deck five.\n")
    assert main(["--home", str(home), "knowledge", "digest", "--regenerate"]) == 0
    saved = (knowledge / "digest.md").stat().st_mtime + 5
    (knowledge / "facts.md").write_text("- Pumps are on deck seven.\n")
    os.utime(knowledge / "facts.md", (saved, saved))

    assert main(["--home", str(home), "knowledge", action]) == 0

    assert "deck seven" in (knowledge / "digest.md").read_text()
    (knowledge / "digest.md").unlink()
    assert main(["--home", str(home), "knowledge", action]) == 0
    assert not (knowledge / "digest.md").exists(), "deleted is off, and stays off"
