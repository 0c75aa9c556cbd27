"""A comparison over HTTP, against the real program: all models at once, each with its own end."""

from __future__ import annotations

from typing import Any

from tests.core.front.hooks.conftest import World
from tests.vendors.compatible_server import MODEL, Said
from tests.vendors.loopback import Gate, HoldAfter

WITH = {"provider": "local", "model": MODEL}
WITHOUT = {**WITH, "has_memory": False}


def compare(world: World, chosen: str, *models: dict[str, Any], **fields: Any) -> Any:
    return world.client.post(f"/api/discussions/{chosen}/compare", {"models": list(models), **fields})


def test_each_model_answers_and_the_reply_that_is_kept_stands(running: World) -> None:
    chosen = running.discussion()
    running.server.replies.extend((Said("One."), Said("Two.")))

    answer = compare(running, chosen, WITH, WITHOUT, text="Why?", wait=True)

    assert answer.status_code == 200
    told = answer.json()
    assert told["is_over"]
    assert [(one["has_memory"], one["problem"]) for one in told["replies"]] == [(True, ""), (False, "")]
    assert {one["reply"]["text"] for one in told["replies"]} == {"One.", "Two."}
    assert all(one["reply"]["usage"]["output_tokens"] for one in told["replies"])
    other = told["replies"][1]["reply"]
    running.client.post(f"/api/discussions/{chosen}/messages/{other['id']}/choose")
    assert running.texts(chosen) == ["Why?", other["text"]]
    assert running.client.get(f"/api/discussions/{chosen}/compare").json()["replies"] == told["replies"]


def test_all_are_asked_at_once_and_one_that_is_silent_holds_up_no_other(running: World) -> None:
    chosen = running.discussion()
    running.server.faults.append(HoldAfter(0, gate := Gate()))

    answer = compare(running, chosen, WITH, WITHOUT, text="Why?")

    assert (answer.status_code, answer.json()["is_over"]) == (202, False)
    path = f"/api/discussions/{chosen}/compare"
    running.until(lambda s: sum(bool(one.reply_id) for one in _columns(s, chosen)) == 1)
    told = running.client.get(path).json()
    assert sorted(one["is_over"] for one in told["replies"]) == [False, True]
    gate.open()
    running.until(lambda s: all(one.is_over for one in _columns(s, chosen)))
    assert running.client.get(path).json()["is_over"]


def test_what_cannot_be_compared_is_refused_with_why(running: World) -> None:
    chosen = running.discussion()

    answer = compare(running, chosen, WITH, text="Why?")

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_compared")
    assert "2 to 4" in answer.json()["error"]["message"]
    assert compare(running, chosen, text="Why?").status_code == 422
    assert running.texts(chosen) == []


def _columns(state: Any, chosen: str) -> Any:
    comparison = state.discussions.open[chosen].comparison
    return () if comparison is None else comparison.replies
