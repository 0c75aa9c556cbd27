"""Merges and drafts over HTTP against the real program: proposed, chosen, written, taken back, and every refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.front.hooks.conftest import AS_PERSON, World
from tests.core.front.hooks.harvest_world import asked, knowledge, text_of
from tests.vendors.compatible_server import Said

FACTS = "# Facts\n\n" + "".join(
    f"- The tide of pier {number} turns twice a day. [from: {number}, 2026-01-01]\n"
    f"- Each day the tide of pier {number} turns twice. [from: {number}{number}, 2026-01-02]\n"
    for number in range(1, 4)
)
REPLY = json.dumps(
    {
        "merges": [
            {
                "reason": "The same.",
                "items": [f"m{2 * n - 1}", f"m{2 * n}"],
                "text": f"Pier {n}: tide twice a day.",
            }
            for n in range(1, 4)
        ]
    }
)


@pytest.fixture
def tides(world: World) -> World:
    knowledge(world, facts=FACTS, playbooks="# Playbooks\n\n- **Ship**: Push.\n")
    world.start()
    world.discussion("shown")
    return world


def sent(world: World, path: str, body: dict[str, Any], status: int = 200, **headers: str) -> dict[str, Any]:
    answer = world.client.post(f"/api/knowledge/{path}", {"wait": True, **body}, **headers)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_merge_is_proposed_chosen_asked_about_written_and_undone(tides: World) -> None:
    tides.server.replies.append(Said(REPLY, piece_chars=400))

    proposed = sent(tides, "merge", {"category": "facts"})["merge"]

    assert (proposed["read"], proposed["total"], len(proposed["groups"])) == (6, 6, 3)
    assert text_of(tides, "facts.md") == FACTS
    ids = [group["id"] for group in proposed["groups"]]
    refused = sent(tides, "merge/apply", {"groups": "all"}, 409)
    assert refused["error"]["code"] == "needs_yes"
    question = tides.client.get("/api/harvest").json()["question"]
    assert (question["is_merge"], question["items"]["total"]) == (True, 6)
    assert text_of(tides, "facts.md") == FACTS

    done = sent(tides, "merge/apply", {"groups": ids[:2], "is_agreed": True}, 200, **AS_PERSON)

    assert (done["merged"]["items"], done["merged"]["merged"], done["merge"]) == (4, 2, None)
    text = text_of(tides, "facts.md")
    assert "- Pier 1: tide twice a day. [from: 1, 2026-01-01] [from: 11, 2026-01-02]\n" in text
    assert "- The tide of pier 3 turns twice a day." in text
    asked(tides, "undo", {"apply_id": done["merged"]["apply_id"]})
    assert text_of(tides, "facts.md") == FACTS


def test_what_is_not_there_is_refused(tides: World) -> None:
    assert sent(tides, "merge/apply", {}, 409)["error"]["code"] == "no_merge"
    assert sent(tides, "merge", {"category": "decisions"}, 409)["error"]["code"] == "nothing_to_do"
    tides.server.replies.append(Said(REPLY, piece_chars=400))
    sent(tides, "merge", {"category": "facts"})
    assert sent(tides, "merge/apply", {"groups": ["none"]}, 404)
    place = {"file": "playbooks.md", "first_line": 3, "text": "other"}
    assert sent(tides, "graduate", {"item": place}, 404)


def test_a_playbook_becomes_a_draft(tides: World) -> None:
    (file,) = tides.client.get("/api/knowledge?file=playbooks.md").json()["categories"]
    (item,) = file["items"]
    place = {name: item[name] for name in ("file", "first_line", "text")}

    made = sent(tides, "graduate", {"item": place, "kind": "tool"})["drafted"]

    assert made["becomes"] == "ship.sh"
    assert "# 1. Push." in text_of(tides, "drafts/ship.sh.draft")
    assert tides.client.get("/api/knowledge/merge").json()["drafted"] == made
