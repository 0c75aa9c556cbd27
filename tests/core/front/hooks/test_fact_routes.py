"""Structured facts over HTTP: files that are saved reach the answers by themselves, an edit reaches its file."""

from __future__ import annotations

from typing import Any

import pytest

from core.knowledge.facts.yaml_forms import item_text
from core.knowledge.knowledge_messages import RestoreFact
from tests.core.front.hooks.conftest import AS_PERSON, World
from tests.core.knowledge.facts.fact_homes import HEAD, made_fact

URL = "/api/knowledge/facts"


@pytest.fixture
def known(world: World) -> World:
    folder = world.home / "knowledge" / "repos"
    folder.mkdir(parents=True)
    items = item_text(made_fact(1, tags=("ci",))) + item_text(made_fact(2, "Mud."))
    (folder / "tides.yaml").write_text(HEAD + items)
    world.start()
    world.until(lambda s: len(s.knowledge.facts.facts) == 2)
    return world


def _facts(known: World, query: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = known.client.get(URL + query).json()["facts"]["rows"]
    return rows


def test_facts_are_synced_at_the_start_and_looked_up(known: World) -> None:
    assert [one["id"] for one in _facts(known)] == ["tides:fact:001", "tides:fact:002"]
    assert [one["fact"] for one in _facts(known, "?tag=ci&domain=tides&category=fact")] == [
        "The moon makes tides."
    ]
    assert _facts(known, "?domain=moon") == []
    assert (known.home / "knowledge" / "index.json").is_file()


def test_what_is_wrong_in_a_file_is_said_with_its_line_in_answers_and_as_a_notice(known: World) -> None:
    path = known.home / "knowledge" / "repos" / "tides.yaml"
    path.write_text(path.read_text().replace("confidence: 0.70", "confidence: 7", 1))
    assert known.client.post(f"{URL}/sync").json()["facts"]["rows"][0]["held"]
    state = known.until(lambda s: any(one.id == "knowledge-files" for one in s.program.notices))
    assert "repos/tides.yaml:14: confidence is 7" in str(state.program.notices)

    problems = known.client.get(URL).json()["problems"]["rows"]
    assert [(one["file"], one["line"]) for one in problems] == [("repos/tides.yaml", 14)]


def test_an_edit_in_the_window_is_written_into_the_file_then_synced(known: World) -> None:
    edit = {"panel": "knowledge", "action": "edit_fact", "fact_id": "tides:fact:002", "was": "Mud.", "text": "Sand.",
            "confidence": 0.9, "tags": ["sea"]}  # fmt: skip
    assert known.client.post("/api/ui", edit).status_code == 202
    known.until(lambda s: s.knowledge.facts.facts[1].text == "Sand.")

    text = (known.home / "knowledge" / "repos" / "tides.yaml").read_text()
    assert text == HEAD + item_text(made_fact(1, tags=("ci",))) + text[text.index("- id: tides:fact:002") :]
    assert '  fact: "Sand."\n' in text
    assert [(one["fact"], one["confidence"], one["tags"]) for one in _facts(known)][1] == (
        "Sand.",
        0.9,
        ["sea"],
    )


def test_a_sync_can_be_asked_for(known: World) -> None:
    answer = known.client.post(f"{URL}/sync")

    assert answer.status_code == 200
    assert answer.json()["facts"]["total"] == 2


def test_a_fact_is_deleted_and_put_back_by_what_the_notice_offers(known: World) -> None:
    before = (known.home / "knowledge" / "repos" / "tides.yaml").read_text()
    ask = {"panel": "knowledge", "action": "delete_fact", "fact_id": "tides:fact:002", "was": "Mud."}
    assert known.client.post("/api/ui", ask).status_code == 202
    state = known.until(lambda s: len(s.knowledge.facts.facts) == 1)
    assert [one["id"] for one in _facts(known)] == ["tides:fact:001"]

    (undo,) = [one.action for one in state.program.notices if one.id == "fact-deleted"]
    assert isinstance(undo, RestoreFact)
    back = {"panel": "knowledge", "action": "restore_fact", "fact_id": undo.fact_id, "file": undo.file}
    assert known.client.post("/api/ui", {**back, "item": undo.item, "at": undo.at}).status_code == 202
    known.until(lambda s: len(s.knowledge.facts.facts) == 2)
    assert (known.home / "knowledge" / "repos" / "tides.yaml").read_text() == before


def test_a_fact_tells_why_it_is_known(known: World) -> None:
    answer = known.client.post(f"{URL}/why", {"fact_id": "tides:fact:002"})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["fact"], answer.json()["text"], answer.json()["evidence"]) == (
        "tides:fact:002",
        "Mud.",
        [],
    )
    assert known.client.post(f"{URL}/why", {"fact_id": "tides:fact:404"}).status_code == 404


def test_an_import_leaves_out_what_a_dry_run_listed_and_the_caller_names(known: World) -> None:
    export = known.home.parent / "export.md"
    export.write_text("## User\n\nWhy?\n\n## Assistant\n\nSo.\n")
    asked = {"paths": [str(export)], "wait": True}
    (row,) = known.client.post("/api/imports", asked, **AS_PERSON).json()["report"]["rows"]["rows"]
    asked |= {"dry_run": False, "without": [row["discussion_id"]]}
    assert known.client.post("/api/imports", asked, **AS_PERSON).json()["report"]["discussions_made"] == 0
