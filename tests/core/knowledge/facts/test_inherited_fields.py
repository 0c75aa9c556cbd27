"""Items that leave `domain` and `category` to the front matter of their file: read, judged, changed, put back."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from core.kernel import paths
from core.kernel.values.facts import FactCategory
from core.knowledge.edits import delete_fact, edit_fact, restore_fact
from core.knowledge.fact_store import sync_facts
from core.knowledge.facts.fact_checks import place_of
from core.knowledge.facts.fact_file import loose_items, parse_file
from core.knowledge.facts.fact_files import read_table, write_table
from core.knowledge.facts.fact_sync import validate
from tests.core.knowledge.facts.fact_homes import DAY, FactHome

DATA = Path(__file__).parents[3] / "data" / "facts"
ITEM = '- id: tides:pitfall:001\n  fact: "Mud holds boots."\n  confidence: 0.8 # seen\n'
HEAD = "---\ndomain: tides\ncategory: pitfall\n---\n\n# Pitfalls\n\n"


@pytest.fixture
def home(tmp_path: Path) -> FactHome:
    return FactHome(tmp_path)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A home with the files as people write them."""
    shutil.copytree(DATA, paths.knowledge_dir(tmp_path))
    return tmp_path


def _rows(home: Path) -> dict[str, dict[str, object]]:
    whole = json.loads((paths.knowledge_dir(home) / "index.json").read_bytes())
    return {row["id"]: row for row in whole["facts"]}


def test_files_whose_items_name_neither_enter_the_index_and_keep_every_byte(written: Path) -> None:
    before = {path: path.read_bytes() for path in written.rglob("*.yaml")}

    assert [one.text for one in validate(written) if not one.is_warning] == []
    assert sync_facts(written, DAY).total == 3
    again = sync_facts(written, DAY + timedelta(days=1))

    rows = _rows(written)
    assert {key: (row["domain"], row["category"]) for key, row in rows.items()} == {
        "global:tool-quirk:001": ("global", "tool-quirk"),
        "global:tool-quirk:002": ("global", "tool-quirk"),
        "harbour-map:pitfall:001": ("harbour-map", "pitfall"),
    }
    assert [row["source_count"] for row in rows.values()] == [17, 1, 1]
    assert again.changed == 0
    assert {path: path.read_bytes() for path in written.rglob("*.yaml")} == before


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("domain: harbour-map", "domain is 'harbour-map', but this file holds 'global'"),
        ("category: pitfall", "category is 'pitfall', but this file holds 'tool-quirk'"),
    ],
)
def test_an_item_that_says_otherwise_is_named_with_its_line_and_stays_out(
    written: Path, line: str, said: str
) -> None:
    path = paths.knowledge_dir(written) / "global" / "tool-quirks.yaml"
    text = path.read_text().replace("  confidence: 0.9\n", f"  confidence: 0.9\n  {line}\n")
    path.write_text(text)
    at = text[: text.index(line)].count("\n") + 1

    report = sync_facts(written, DAY)

    assert f"global/tool-quirks.yaml:{at}: {said}" in [one.sentence for one in report.problems]
    assert sorted(_rows(written)) == ["global:tool-quirk:001", "harbour-map:pitfall:001"]


def test_a_file_of_all_categories_lets_an_item_name_its_own(home: FactHome) -> None:
    other = '- id: tides:question:001\n  fact: "Why tides?"\n  category: question\n  confidence: 0.5\n'
    home.write(ITEM, other, head=HEAD)

    assert home.sync().problems == ()
    assert [fact.category for fact in home.index.values()] == [FactCategory.PITFALL, FactCategory.QUESTION]


@pytest.mark.parametrize(
    ("category", "said"),
    [
        ("", "category is missing in this fact and in the front matter: write it in one of them"),
        (
            "category: mud\n",
            "category is 'mud'; it must be one of fact, pitfall, pattern, tool-quirk, question",
        ),
    ],
)
def test_a_front_matter_that_gives_none_leaves_the_item_out(home: FactHome, category: str, said: str) -> None:
    home.write(ITEM, head=HEAD.replace("category: pitfall\n", category))

    assert [one.text for one in home.sync().problems] == [said]
    assert home.index == {}


def test_an_edit_changes_the_words_alone(tmp_path: Path, home: FactHome) -> None:
    home.write(ITEM, head=HEAD)
    home.sync()

    edit_fact(tmp_path, "tides:pitfall:001", "Mud holds boots.", "Mud holds oars.", 0.8, ())

    assert home.file.read_text() == HEAD + ITEM.replace("boots", "oars")
    assert home.index["tides:pitfall:001"].text == "Mud holds oars."


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_deleted_item_comes_back_as_it_was_or_with_its_category_in_a_new_file(
    tmp_path: Path, home: FactHome, *, is_gone: bool
) -> None:
    home.write(ITEM, head=HEAD)
    home.sync()
    deleted = delete_fact(tmp_path, "tides:pitfall:001", "Mud holds boots.")
    assert home.file.read_text() == HEAD
    if is_gone:
        home.file.unlink()

    restore_fact(tmp_path, deleted)

    told = "  category: pitfall\n" if is_gone else ""
    assert ITEM + told in home.file.read_text()
    assert home.index["tides:pitfall:001"].category is FactCategory.PITFALL


def test_what_forgetting_looks_for_is_found_under_a_broken_front_matter_too() -> None:
    place = place_of("global/pitfalls.yaml")
    assert place is not None
    item = ITEM.replace("tides", "global")

    for head in ("", "---\ndomain: [global\n---\n", "---\ndomain: global\ncategory: pitfall\n---\n"):
        assert [fact.text for fact in loose_items(place, (head + item).encode()).facts] == [
            "Mud holds boots."
        ]
    assert parse_file(place, item.encode()).is_broken


def test_an_index_of_older_rules_is_judged_anew_and_keeps_its_time(tmp_path: Path, home: FactHome) -> None:
    """Files that an older program refused enter without being touched; rows that it wrote get their new fields."""
    home.write(ITEM, head=HEAD)
    home.sync()
    index = tmp_path / "knowledge" / "index.json"
    now = index.read_bytes()
    index.write_bytes(now.replace(b'"source_count":1,', b""))
    table = read_table(tmp_path)
    assert table is not None
    older = home.index["tides:pitfall:001"]
    sha256 = hashlib.sha256(index.read_bytes()).hexdigest()
    write_table(tmp_path, msgspec.structs.replace(table, index_sha256=sha256, rules=0))

    report = home.sync(DAY + timedelta(days=1))

    assert index.read_bytes() == now
    assert report.changed == 0
    assert home.index["tides:pitfall:001"] == older
    assert home.news == [one for one in home.news if one.kind.value == "added by hand"]


def test_a_row_of_the_index_that_somebody_broke_is_passed_over_and_said(home: FactHome) -> None:
    home.write(ITEM, head=HEAD)
    home.sync()
    index = home.directory / "index.json"
    index.write_bytes(index.read_bytes().replace(b'"confidence":0.8', b'"confidence":"sure"'))

    report = home.sync()

    assert [one.is_warning for one in report.problems] == [True]
    assert home.index["tides:pitfall:001"].confidence == 0.8


@pytest.mark.parametrize("above", ["", "facts:\n"])
def test_an_item_that_is_indented_is_named_and_passed_over_by_nobody_silently(above: str) -> None:
    place = place_of("repos/tides.yaml")
    assert place is not None
    indented = "".join(f"  {line}\n" for line in ITEM.splitlines())

    read = parse_file(place, f"{HEAD}{above}{indented}".encode())

    assert not read.facts
    assert [(one.line, one.text) for one in read.problems] == [
        (
            8 + bool(above),
            "this item is indented, and nobody reads it; put its `- id:` at the start of the line",
        )
    ]
    assert parse_file(place, f"{HEAD}```\n{indented}```\n".encode()).problems == ()
