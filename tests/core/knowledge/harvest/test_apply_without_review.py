"""A harvest that nobody reviews: what it is told, what it replaces, what it says that it left out, and what counts as one talk."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.imports.import_run import ImportRequest, run_import
from core.kernel import paths
from core.kernel.values.facts import ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, NewItem
from core.knowledge import edits
from core.knowledge.evidence_rows import item_hash
from core.knowledge.fact_store import FactReader
from core.knowledge.harvest.harvest_report import report_text
from core.knowledge.memory_log import add_events
from tests.core.knowledge.harvest.harvests import (
    NOW,
    OLD,
    Harvest,
    Model,
    add_discussion,
    age,
    item_lines,
    reply,
)

MOON = "Tides follow the moon."


def test_a_run_that_nobody_reviews_is_told_what_is_known_and_replaces_it(tmp_path: Path) -> None:
    add_discussion(tmp_path, "One", "Which database?", "SQLite is the database of the ledger.")
    Harvest(tmp_path, Model({"Which database?": reply("SQLite is the database of the ledger.")})).apply()
    add_discussion(tmp_path, "Two", "Not SQLite any more: Postgres is the database of the ledger.")

    def answer() -> None:
        found = re.search(r"^(k[0-9a-f]{8}): SQLite", model.prompts[-1], re.MULTILINE)
        row = {
            "statement": "Postgres is the database",
            "reason": "It grew.",
            "replaces": found[1] if found else "",
        }
        model.answers["Not SQLite"] = json.dumps({"facts": [row]})

    model = Model(on_asked=answer)
    Harvest(tmp_path, model).apply(seed="t")

    old, new = item_lines(tmp_path)
    assert old.startswith("- ~~SQLite is the database of the ledger.~~ (replaced ")
    assert new.startswith("- Postgres is the database")
    assert [fact.stale for fact in FactReader(tmp_path).facts()] == [True, False]


def test_a_run_that_nobody_reviews_replaces_no_more_than_may_go_unasked(tmp_path: Path) -> None:
    known = [f"The gauge number {n} of the harbour is new." for n in range(5)]
    add_discussion(tmp_path, "One", "Which gauges?", "Five.")
    Harvest(tmp_path, Model({"Which gauges?": reply(*known)})).apply()
    add_discussion(tmp_path, "Two", "All is old: " + " ".join(known))

    def answer() -> None:
        names = re.findall(r"^(k[0-9a-f]{8}): ", model.prompts[-1], re.MULTILINE)
        rows = [{"statement": f"Old: {n}", "reason": "So.", "replaces": one} for n, one in enumerate(names)]
        model.answers["All is old"] = json.dumps({"facts": rows})

    model = Model(on_asked=answer)
    report = Harvest(tmp_path, model).apply(seed="t")

    assert sum(line.startswith("- ~~") for line in item_lines(tmp_path)) == 3
    assert report.beside == 2
    assert ": removing so many needs your approval: 2\n" in report_text(report)


def test_conversations_of_one_run_follow_each_other_for_the_decay_of_facts(tmp_path: Path) -> None:
    for number in range(4):
        add_discussion(tmp_path, f"Talk {number}", f"Word {number}!")
    Harvest(tmp_path, Model({f"Word {n}!": reply(f"Thing {n} is so.") for n in range(4)})).apply()

    facts = FactReader(tmp_path).facts()
    assert sorted(fact.harvests_since_confirmed for fact in facts) == [0, 1, 2, 3]


def test_a_report_says_what_was_left_out_and_names_no_digest_that_is_not_there(tmp_path: Path) -> None:
    add_discussion(tmp_path, "One", "Tides?")
    answer = json.dumps({"facts": [{"nonsense": 1}], "decisions": "x"})
    empty = Harvest(tmp_path, Model({"Tides?": answer})).apply()
    assert "malformed: 1\n" in report_text(empty)
    assert "digest: none" in report_text(empty)

    name = item_hash(Category.FACTS, "The tide turns twice.")
    add_events(tmp_path, [ItemEvent(ItemEventKind.FORGOTTEN, "2026-11-20T12:00:00Z", name)])
    edits.add_item(tmp_path, NewItem(Category.FACTS, "The server listens on port 7731."))
    add_discussion(tmp_path, "Two", "Moon?")
    found = reply("The tide turns twice.", "The server LISTENS on port 7731!")
    again = Harvest(tmp_path, Model({"Moon?": found})).apply(seed="t")
    assert "because you forgot them: 1\n" in report_text(again)
    assert "because knowledge has exactly that already: 1\n" in report_text(again)
    assert len(item_lines(tmp_path)) == 1


@pytest.mark.parametrize("imports_first", [True, False])
def test_a_talk_that_is_read_in_two_ways_confirms_once(tmp_path: Path, *, imports_first: bool) -> None:
    home, folder = tmp_path / "home", tmp_path / "elsewhere"
    source = folder / ".aider.chat.history.md"
    folder.mkdir()
    source.write_text("# aider chat started at 2025-10-20 21:49:17\n\n#### Why?\n\nThe moon.\n")
    age(folder, OLD)
    model = Model({"Why?": reply(MOON)})

    def read_file() -> None:
        Harvest(home, model, sources=(folder,)).apply(seed="file")

    def read_import() -> None:
        run_import(ImportRequest(home, (str(source),), NOW, "anthropic", "claude", is_dry=False))
        for path in paths.discussions_dir(home).iterdir():
            age(path, OLD)
        Harvest(home, model).apply(seed="import")

    for read in (read_import, read_file) if imports_first else (read_file, read_import):
        read()
    (fact,) = FactReader(home).facts()
    assert (len(model.prompts), fact.source_count, fact.confidence) == (2, 1, 0.7)
    add_discussion(home, "Other", "Why?", "Because of the moon.")
    Harvest(home, model).apply(seed="other")
    assert FactReader(home).facts()[0].source_count == 2
