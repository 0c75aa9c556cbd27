"""The sync: files and index in step, hand edits kept byte for byte, what breaks held, numbers never given twice."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel import paths
from core.knowledge.facts.fact_files import read_table
from core.knowledge.facts.fact_index import FactNewsKind, Past, next_id
from core.knowledge.facts.fact_merge import confirmed, decayed
from core.knowledge.facts.fact_sync import validate
from core.knowledge.facts.yaml_forms import item_text
from tests.core.knowledge.facts.fact_homes import DAY, HEAD, FactHome, made_fact

ONE, TWO = item_text(made_fact(1)), item_text(made_fact(2, "The sun has a share."))
MINE = "- {id: tides:fact:003, fact: by hand, category: fact, domain: tides, confidence: 1, mine: 7} # keep\n"


@pytest.fixture
def home(tmp_path: Path) -> FactHome:
    made = FactHome(tmp_path)
    made.write(ONE, TWO, "\nProse – kept.\n\n", MINE)
    made.sync()
    made.news.clear()
    return made


def test_the_index_holds_every_fact_sorted_with_its_count(home: FactHome) -> None:
    data = json.loads((home.directory / "index.json").read_bytes())

    assert list(data) == ["version", "last_updated", "total_facts", "facts"]
    assert (data["version"], data["total_facts"]) == (1, 3)
    assert [row["id"] for row in data["facts"]] == ["tides:fact:001", "tides:fact:002", "tides:fact:003"]
    assert "mine" not in data["facts"][2]
    assert data["facts"][0]["effective_confidence"] == 0.7


def test_the_second_sync_changes_no_byte_on_a_later_day_neither(home: FactHome) -> None:
    before = home.bytes()

    assert home.sync(DAY + timedelta(days=3)).changed == 0

    assert home.bytes() == before


def test_the_derived_table_may_go_and_nothing_changes(home: FactHome) -> None:
    before = home.bytes()
    paths.facts_file(home.home).unlink()

    home.sync()

    assert home.bytes() == before


def test_deleting_the_index_gives_the_same_index_and_is_no_news(home: FactHome) -> None:
    before = home.index
    (home.directory / "index.json").unlink()

    home.sync()

    assert home.index == before
    assert home.news == []


def test_an_edit_reaches_the_index_and_no_byte_of_the_file_changes(home: FactHome) -> None:
    home.edit("The sun has a share.", "The sun has half a share.")
    written = home.file.read_bytes()

    report = home.sync()

    assert (report.changed, report.written) == (1, ())
    assert home.index["tides:fact:002"].text == "The sun has half a share."
    assert home.file.read_bytes() == written
    assert [(one.kind, one.fact_id) for one in home.news] == [(FactNewsKind.EDITED, "tides:fact:002")]


def test_what_the_index_alone_changed_is_written_into_its_item_and_nowhere_else(home: FactHome) -> None:
    home.edit('"fact":"by hand"', '"fact":"by another"', path=home.directory / "index.json")

    report = home.sync()

    assert report.written == ("repos/tides.yaml",)
    text = home.file.read_text(encoding="utf-8")
    assert text.startswith(HEAD + ONE + TWO + "\nProse – kept.\n\n- id: tides:fact:003\n")
    assert 'fact: "by another"' in text
    assert "mine: 7" in text
    before = home.bytes()
    home.sync()
    assert home.bytes() == before


def test_where_both_changed_the_file_wins_and_the_other_is_told(home: FactHome) -> None:
    home.edit('"fact":"by hand"', '"fact":"by another"', path=home.directory / "index.json")
    home.edit("fact: by hand", "fact: by me")

    home.sync()

    assert home.index["tides:fact:003"].text == "by me"
    assert [(one.kind, one.text) for one in home.news] == [(FactNewsKind.OVERRULED, "by another")]


def test_a_fact_that_is_new_in_the_index_gets_an_item(home: FactHome) -> None:
    index = home.directory / "index.json"
    row = '{"id":"tides:pitfall:001","fact":"Mud.","category":"pitfall","domain":"tides","confidence":0.5}'
    home.edit('"facts":[\n', f'"facts":[\n{row},\n', path=index)

    home.sync()

    assert home.file.read_text(encoding="utf-8").endswith(
        f"\n## Pitfalls\n\n{item_text(home.index['tides:pitfall:001'])}"
    )


def test_a_deleted_item_leaves_the_index_and_its_number_is_not_given_again(home: FactHome) -> None:
    home.edit(MINE, "")

    home.sync()

    assert sorted(home.index) == ["tides:fact:001", "tides:fact:002"]
    assert [one.kind for one in home.news] == [FactNewsKind.REMOVED]
    table = read_table(home.home)
    assert table is not None
    assert next_id(table.highest, "tides:fact") == "tides:fact:004"


def test_numbers_that_people_gave_are_told_so_that_no_deletion_loses_them(home: FactHome) -> None:
    home.edit("tides:fact:003", "tides:fact:0712".replace("0712", "712"))

    home.sync()

    assert ("tides:fact:712", FactNewsKind.ADDED) in [(one.fact_id, one.kind) for one in home.news]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("---\ndomain", "--\ndomain", 1),
        ("domain: tides\nversion", "domain: moon\nversion", 2),
        ("version: 1", "version: 2", 3),
        ("version: 1\n---\n", "version: 1\n", 1),
        ("version: 1", "version: &a 1", 3),
    ],
)
def test_a_broken_front_matter_holds_the_files_last_good_facts(
    home: FactHome, old: str, new: str, line: int
) -> None:
    before = home.index
    home.edit(old, new)

    report = home.sync()

    assert home.index == {key: replace(fact, held=True) for key, fact in before.items()}
    assert [(one.file, one.line) for one in report.problems] == [("repos/tides.yaml", line)]
    home.edit(new, old)
    home.sync()
    assert home.index == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("confidence: 1,", "confidence: 7,"),
        ("fact: by hand,", "fact: [by hand,"),
        ("confidence: 1,", "confidence: &a 1,"),
        ("confidence: 1,", "confidence: !!float 1,"),
        ("domain: tides, confidence: 1", "domain: moon, confidence: 1"),
        ("fact: by hand", "fact: '" + "x" * 281 + "'"),
    ],
)
def test_a_broken_item_keeps_what_it_said_last_and_is_named_with_its_line(
    home: FactHome, old: str, new: str
) -> None:
    home.edit(old, new)

    report = home.sync()

    assert home.index["tides:fact:003"] == replace(home.index["tides:fact:003"], text="by hand", held=True)
    assert {one.line for one in report.problems} == {23}
    assert not home.index["tides:fact:001"].held


def test_an_item_that_hides_its_id_costs_nothing_that_was_known(home: FactHome) -> None:
    home.edit("id: tides:fact:003,", "")

    home.sync()

    assert home.index["tides:fact:003"].held


def test_two_facts_with_one_id_are_both_named_and_neither_enters(tmp_path: Path) -> None:
    home = FactHome(tmp_path)
    home.write(ONE, TWO, item_text(made_fact(1, "Another.")))

    report = home.sync()

    assert sorted(home.index) == ["tides:fact:002"]
    assert len(report.problems) == 1
    assert (
        report.problems[0].text == "the id tides:fact:001 is also at line 10; the index leaves both facts out"
    )


def test_a_repository_and_an_agent_of_one_name_share_no_id(home: FactHome) -> None:
    (home.directory / "agents").mkdir()
    (home.directory / "agents" / "tides.yaml").write_text(
        HEAD + item_text(made_fact(2, "The agent's.")), encoding="utf-8"
    )

    home.sync()

    assert home.index["tides:fact:002"].held
    assert [one.file for one in home.sync().problems] == ["agents/tides.yaml", "repos/tides.yaml"]
    assert [one.file for one in validate(home.home)] == ["agents/tides.yaml", "repos/tides.yaml"]


def test_what_expired_is_stale_the_day_after_and_stays_in_the_file(tmp_path: Path) -> None:
    home = FactHome(tmp_path)
    home.write(item_text(made_fact(expires="2026-11-23")))
    home.sync(DAY)
    written = home.file.read_bytes()
    assert not home.index["tides:fact:001"].stale

    home.sync(DAY + timedelta(days=1))

    assert home.index["tides:fact:001"].stale
    assert home.file.read_bytes() == written


def test_decay_counts_harvests_of_the_domain_and_needs_no_index_to_be_rebuilt(tmp_path: Path) -> None:
    home = FactHome(tmp_path)
    home.write(
        item_text(made_fact(1, last_confirmed="2026-10-01")),
        item_text(made_fact(2, last_confirmed="2026-11-01")),
    )
    times = tuple(f"2026-10-{n % 28 + 1:02d}T10:00:00.{n:06d}+00:00" for n in range(65))
    home.past.past = Past(harvests={"tides": tuple(sorted(times))}, all_harvests=times)
    home.sync()

    first, second = home.index["tides:fact:001"], home.index["tides:fact:002"]
    assert (first.confidence, first.effective_confidence, first.harvests_since_confirmed) == (0.7, 0.57, 62)
    assert (second.effective_confidence, second.harvests_since_confirmed) == (0.7, 0)
    before = home.index
    (home.directory / "index.json").unlink()
    paths.facts_file(home.home).unlink()
    home.sync()
    assert home.index == before


def test_a_harvest_is_counted_at_the_next_sync_without_a_changed_file(home: FactHome) -> None:
    home.past.past = Past(
        told={"tides:fact:001": "2026-11-01T00"}, harvests={"tides": ("2026-11-02T00",) * 30}
    )
    home.past.mark = "another"

    home.sync()

    assert home.index["tides:fact:001"].effective_confidence == 0.63


def test_last_updated_changes_only_when_a_fact_did(home: FactHome) -> None:
    def updated() -> str:
        said: str = json.loads((home.directory / "index.json").read_bytes())["last_updated"]
        return said

    first = updated()
    home.edit("Prose – kept.", "Other prose.")
    home.sync(DAY + timedelta(hours=1))
    assert updated() == first
    home.edit("by hand", "by me")
    home.sync(DAY + timedelta(hours=2))
    assert updated() == "2026-11-23T14:00:00Z"


def test_an_index_that_is_no_json_is_made_anew_and_said(home: FactHome) -> None:
    before = home.index
    (home.directory / "index.json").write_text('{"facts": [')

    report = home.sync()

    assert home.index == before
    assert [one.file for one in report.problems] == ["index.json"]
    assert home.sync().problems == report.problems or home.sync().problems == ()


def test_schema_is_written_once_and_a_persons_edits_stay(home: FactHome) -> None:
    schema = home.directory / "SCHEMA.md"
    assert schema.read_text().startswith("# Structured facts")
    schema.write_text("mine")
    home.edit("by hand", "by me")

    home.sync()

    assert schema.read_text() == "mine"


def test_a_file_that_cannot_be_read_holds_its_facts(home: FactHome) -> None:
    home.file.unlink()
    home.file.mkdir()

    report = home.sync()

    assert all(fact.held for fact in home.index.values())
    assert [(one.file, one.line) for one in report.problems] == [("repos/tides.yaml", 1)]


@pytest.mark.parametrize("value", [0.0, 0.3, 0.7, 0.755, 0.9, 0.97, 0.98, 0.99, 1.0])
def test_confidence_grows_in_two_decimals_never_past_one_and_never_down(value: float) -> None:
    grown = confirmed(value)

    assert value <= grown <= 1
    assert grown == value or grown == round(grown, 2)
    assert decayed(value, 29) == value
    assert decayed(value, 60) == pytest.approx(value * 0.81, abs=0.005)


def test_confidence_is_exact_where_floats_are_not() -> None:
    assert [confirmed(0.7), confirmed(0.76), confirmed(0.9)] == [0.76, 0.81, 0.92]
    assert [decayed(0.7, 30), decayed(0.9, 90)] == [0.63, 0.66]
