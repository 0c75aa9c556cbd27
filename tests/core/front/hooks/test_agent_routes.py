"""Turns with tools over HTTP: every program sees what runs and what is asked; a person's token alone answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.agent.agent_pages import asked_calls
from core.app.app_messages import PERSON_ONLY
from core.front.hooks.program import action_name
from core.kernel.values.updates import is_busy
from core.services.settings.settings_messages import TrustProject
from tests.core.front.hooks.conftest import AS_PERSON, World, events
from tests.vendors.compatible_server import Said


def writing(name: str) -> Said:
    """A reply that asks to write a file."""
    call = ("write_file", json.dumps({"path": name, "text": "x = 1\n"}))
    return Said("I write.", calls=(call,), finish="tool_calls")


def asked(world: World) -> tuple[str, str, Any]:
    """A discussion whose model asks to write a file: its id, the call's, and the question as it is told."""
    world.controller.send(TrustProject(is_trusted=True))
    world.until(lambda s: s.config.project.is_trusted)
    chosen = world.discussion()
    given = world.client.put(f"/api/discussions/{chosen}/tools", {"has_tools": True}, **AS_PERSON)
    assert given.json() == {
        "discussion_id": chosen,
        "has_tools": True,
        "mode": "ask",
        "warm_loss": "",
    }
    world.server.replies.extend((writing("new.py"), Said("Written.")))
    world.client.post(f"/api/discussions/{chosen}/messages", {"text": "Write."})
    world.until(lambda s: bool(asked_calls(s, chosen)))
    turn = world.client.get(f"/api/discussions/{chosen}/messages").json()["turn"]
    assert world.client.get("/api/status").json()["turns"] == [turn]
    (call,) = turn["calls"]
    assert (call["name"], call["state"]) == ("write_file", "asking")
    return chosen, call["call_id"], call["question"]


def test_a_question_is_read_by_all_and_answered_with_a_persons_token_alone(running: World) -> None:
    chosen, call_id, question = asked(running)
    assert "new.py" in question["title"]
    assert "+x = 1" in question["hunks"][0]["text"]
    path, body = (
        f"/api/discussions/{chosen}/approvals/{call_id}",
        {"question_id": question["id"], "answer": "yes"},
    )

    refused = running.client.post(path, body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "needs_person")
    assert running.client.put(f"/api/discussions/{chosen}/tools", {"has_tools": False}).status_code == 403
    assert running.client.post(path, {**body, "question_id": "x"}, **AS_PERSON).status_code == 409
    assert asked_calls(running.state, chosen)
    assert not (running.project / "new.py").exists()

    assert running.client.post(path, body, **AS_PERSON).status_code == 200
    running.until(lambda s: not is_busy(s, chosen))
    assert (running.project / "new.py").read_text(encoding="utf-8") == "x = 1\n"
    assert running.texts(chosen)[-1] == "Written."
    told = running.client.get(f"/api/discussions/{chosen}/messages").json()["messages"]
    assert [result["ended"] for one in told for result in one.get("tool_results", ())] == ["done"]
    row = next(
        row for row in running.client.get("/api/discussions").json()["discussions"] if row["id"] == chosen
    )
    assert (row["has_tools"], row["mode"]) == (True, "ask")


def test_a_stream_tells_each_reply_of_a_turn_whole_and_what_is_asked(running: World) -> None:
    chosen, call_id, question = asked(running)
    body = {"question_id": question["id"], "answer": "no", "words": "Not now."}
    running.client.post(f"/api/discussions/{chosen}/approvals/{call_id}", body, **AS_PERSON)
    running.until(lambda s: not is_busy(s, chosen))
    running.server.replies.extend(
        (
            Said("I look.", calls=(("read_file", '{"path": "tides.py"}'),), finish="tool_calls"),
            Said("I have looked around."),
        )
    )

    answer = running.client.post(
        f"/api/discussions/{chosen}/messages", {"text": "Look."}, Accept="text/event-stream"
    )

    told = events(answer.text)
    texts = [""]
    for name, data in told:
        if name == "reply":
            texts.append("")
        texts[-1] += data["text"] if name == "text" else ""
    assert texts == ["I look.", "I have looked around."]
    assert told[-1][0] == "done"


@pytest.mark.parametrize("wait", [False, True])
def test_a_turn_that_ends_at_the_limit_between_two_requests_is_not_told_as_done(
    world: World, *, wait: bool
) -> None:
    """Its first request's words were given as the whole answer."""
    with world.config.open("a", encoding="utf-8") as config:
        config.write("spend_limit_usd = 0\n")
    world.start()
    world.controller.send(TrustProject(is_trusted=True))
    world.until(lambda s: s.config.project.is_trusted)
    chosen = world.discussion()
    world.client.put(f"/api/discussions/{chosen}/tools", {"has_tools": True}, **AS_PERSON)
    world.server.replies.append(
        Said("I look.", calls=(("read_file", '{"path": "tides.py"}'),), finish="tool_calls")
    )

    body = {"text": "Look.", "over_limit": True, "wait": wait}
    asks = AS_PERSON if wait else {**AS_PERSON, "Accept": "text/event-stream"}
    answer = world.client.post(f"/api/discussions/{chosen}/messages", body, **asks)

    error = answer.json()["error"] if wait else events(answer.text)[-1][1]
    assert (error["code"], "$0.00 for this discussion" in error["message"]) == ("spend_limit", True)
    assert len(world.server.bodies) == 1


def test_a_stream_tells_which_calls_failed_or_were_refused_by_a_policy(running: World) -> None:
    chosen, call_id, question = asked(running)
    body = {"question_id": question["id"], "answer": "no", "words": "Not now."}
    running.client.post(f"/api/discussions/{chosen}/approvals/{call_id}", body, **AS_PERSON)
    running.until(lambda s: not is_busy(s, chosen))
    running.server.replies.extend(
        (Said("I look.", calls=(("read_file", '{"path": "gone.py"}'),), finish="tool_calls"), Said("Gone."))
    )

    answer = running.client.post(
        f"/api/discussions/{chosen}/messages", {"text": "Look."}, Accept="text/event-stream"
    )

    (failed,) = (data for name, data in events(answer.text) if name == "failed_call")
    assert (failed["name"], failed["end"]) == ("read_file", "failed")
    assert "gone.py" in failed["words"]


def test_no_panel_takes_what_a_person_alone_says_nor_a_change_of_policies(running: World) -> None:
    acts: list[dict[str, Any]] = [
        {"panel": panel, "action": action_name(kind), "is_trusted": True, "discussion_id": "d"}
        for kind in PERSON_ONLY
        for panel in ("agent", "settings")
    ]
    for key, value in (
        ("tools.edits", "allow"),
        ("tools.folders./.edits", "allow"),
        ("tools.max_rounds", 900),
    ):
        acts.append({"panel": "settings", "action": "change_setting", "key": key, "value": value})
    for act in acts:
        for headers in ({}, AS_PERSON):
            refused = running.client.post("/api/ui", act, **headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "needs_person"), act
    assert not running.state.config.project.is_trusted
    assert "tools" not in running.config.read_text(encoding="utf-8")
