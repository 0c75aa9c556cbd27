"""Over HTTP against the real program: a harvested item's quote and turn, an edit, what a request held, and undo."""

from __future__ import annotations

import json
from typing import Any

from tests.core.front.hooks.conftest import AS_PERSON, World
from tests.core.front.hooks.harvest_world import asked, old_discussion, proposing, text_of
from tests.vendors.compatible_server import Said


def place_of(world: World, text: str) -> dict[str, Any]:
    """Where an item stands, once the program has read it."""
    world.until(lambda s: any(item.text == text for file in s.knowledge.categories for item in file.items))
    files = world.client.get("/api/knowledge").json()["categories"]
    (item,) = [one for file in files for one in file["items"] if one["text"] == text]
    return {name: item[name] for name in ("file", "first_line", "text")}


def why(world: World, text: str) -> dict[str, Any]:
    answer = world.client.post("/api/knowledge/why", place_of(world, text))
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_an_item_tells_its_quote_its_edits_and_the_requests_it_entered(world: World) -> None:
    old = old_discussion(world, "tides")
    world.start()
    shown = world.discussion("shown")
    rows = [
        {"statement": "Tides are known.", "detail": "", "message": "m2", "quote": "All of  tides"},
        {"statement": "Junk.", "detail": "", "message": "m1", "quote": "never said"},
    ]
    world.server.replies.append(Said(json.dumps({"facts": rows}), piece_chars=400))
    asked(world, "preview")
    found = world.client.get("/api/harvest").json()["preview"]
    assert found["unfound_quotes"] == 1
    assert [row["quote"] for row in found["items"]["rows"]] == ["All of tides", ""]
    (junk,) = [row["id"] for row in found["items"]["rows"] if row["head"] == "Junk."]
    world.client.post(
        "/api/ui",
        {"panel": "harvest", "action": "tick_harvest_items", "item_ids": [junk], "is_ticked": False},
    )
    asked(world, "apply")

    told = why(world, "Tides are known.")
    (evidence,) = told["evidence"]
    assert (evidence["discussion"], evidence["place"], evidence["is_there"]) == (old, "trash", True)
    assert (evidence["quote"], evidence["role"]) == ("All of tides", "assistant")
    assert [row["kind"] for row in told["events"]["rows"]] == ["proposed", "accepted"]

    world.client.post(f"/api/discussions/{shown}/messages", {"text": "When?", "wait": True})
    world.client.post(f"/api/discussions/{shown}/messages", {"text": "And then?", "wait": True})
    (seen,) = world.client.get(f"/api/knowledge/seen?discussion_id={shown}").json()["seen"]["rows"]
    assert [item["text"] for item in seen["items"]] == ["Tides are known."]

    words = {**place_of(world, "Tides are known."), "first_line": 3}
    edit = {"panel": "knowledge", "action": "edit_knowledge_item", "text": "Tides are well known."}
    answer = world.client.post("/api/ui", {**edit, "item": words})
    assert answer.status_code == 202, answer.text
    world.until(lambda s: any(i.text == edit["text"] for f in s.knowledge.categories for i in f.items))
    told = why(world, "Tides are well known.")
    assert [one["quote"] for one in told["evidence"]] == ["All of tides"]
    assert told["events"]["rows"][-1]["kind"] == "edited"
    assert told["injected"]["total"] == 1

    asked(world, "undo")
    assert [one["quote"] for one in why(world, "Tides are well known.")["evidence"]] == ["All of tides"]
    assert text_of(world, "evidence.jsonl").count("\n") == 1
    assert '"undone"' in text_of(world, "events.jsonl")


def test_what_is_not_there_is_refused(running: World) -> None:
    nowhere = {"file": "facts.md", "first_line": 3, "text": "Nothing."}
    assert running.client.post("/api/knowledge/why", nowhere).status_code == 404
    assert running.client.get("/api/knowledge/seen?discussion_id=none").status_code == 404
    assert running.client.get("/api/knowledge/seen").json() == {"seen": {"total": 0, "rows": []}}


def test_an_undo_that_takes_out_much_needs_a_yes_to_its_list(world: World) -> None:
    old_discussion(world, "tides")
    world.start()
    world.discussion("shown")
    world.server.replies.append(proposing(*(f"Fact {n}." for n in range(5))))
    asked(world, "preview")
    asked(world, "apply", {"items": "all"})

    refused = asked(world, "undo", status=409)
    assert (refused["error"]["code"], "5 of 5 facts" in refused["error"]["message"]) == ("needs_yes", True)
    question = world.client.get("/api/harvest").json()["question"]
    assert [row["text"] for row in question["items"]["rows"]] == [f"Fact {n}." for n in range(5)]
    assert "Fact 4." in text_of(world, "facts.md")

    assert asked(world, "undo", {"is_agreed": True}, status=403)["error"]["code"] == "needs_person"
    found = asked(world, "undo", {"is_agreed": True}, 200, **AS_PERSON)
    assert (found["undone"]["removed"], found["question"]) == (5, None)
    assert "Fact 4." not in text_of(world, "facts.md")
