"""A limit and a model whose price nobody knows, over HTTP: refused each time, sent with the approval token."""

from __future__ import annotations

from core.agent.agent_pages import asked_calls
from core.kernel.values.updates import is_busy
from core.services.settings.settings_messages import TrustProject
from tests.core.front.hooks.conftest import AS_PERSON, World
from tests.core.front.hooks.harvest_world import knowledge, old_discussion
from tests.vendors.compatible_server import MODEL, Said


def test_a_send_that_a_limit_cannot_hold_is_refused_unless_a_person_says_so(world: World) -> None:
    with world.config.open("a", encoding="utf-8") as config:
        config.write("[ai_settings.caching]\nday_limit_usd = 0.001\n")
    world.start()
    chosen = world.discussion()
    path = f"/api/discussions/{chosen}/messages"

    for _ in range(2):
        refused = world.client.post(path, {"text": "When?", "wait": True})
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (409, "spend_limit")
        assert "is unknown, so the program cannot enforce the limit of $0.001 for today" in error["message"]
        assert "Give the price in your models.toml" in error["remedy"]
    assert world.texts(chosen) == []

    past = {"text": "When?", "wait": True, "over_limit": True}
    assert world.client.post(path, past).status_code == 403
    assert world.client.post(path, past, **AS_PERSON).status_code == 200
    assert world.client.post("/api/ui", {"panel": "settings", "action": "update_prices"}).status_code == 403


def test_each_request_of_a_task_is_asked_about_and_a_persons_token_alone_answers(world: World) -> None:
    with world.config.open("a", encoding="utf-8") as config:
        config.write("[ai_settings.caching]\nday_limit_usd = 0.001\n")
    world.start()
    world.controller.send(TrustProject(is_trusted=True))
    world.until(lambda s: s.config.project.is_trusted)
    chosen = world.discussion()
    world.client.put(f"/api/discussions/{chosen}/tools", {"has_tools": True}, **AS_PERSON)
    given = Said("I give it away.", calls=(("delegate", '{"task":"Find it."}'),), finish="tool_calls")
    world.server.replies += [given, Said("At nine.")]
    world.client.post(
        f"/api/discussions/{chosen}/messages", {"text": "When?", "over_limit": True}, **AS_PERSON
    )
    world.until(lambda s: bool(asked_calls(s, chosen)))

    (call,) = world.client.get(f"/api/discussions/{chosen}/messages").json()["turn"]["calls"]
    question = call["question"]
    assert f"The price of {MODEL!r} is unknown" in question["reasons"][0]
    path, body = f"/api/discussions/{chosen}/approvals/{call['call_id']}", {"question_id": question["id"]}
    assert world.client.post(path, {**body, "answer": "yes"}).status_code == 403
    assert len(world.server.bodies) == 1
    assert world.client.post(path, {**body, "answer": "yes"}, **AS_PERSON).status_code == 200
    world.until(lambda s: not is_busy(s, chosen))
    assert len(world.server.bodies) == 2, (
        "the yes was for the task's request, and not for its parent's next one"
    )
    assert "At nine." in str(world.client.get(f"/api/discussions/{chosen}/messages").json()["messages"][-1])


def test_no_door_lets_a_call_through_that_a_limit_cannot_hold_and_each_says_why(world: World) -> None:
    knowledge(world, facts="- Tides turn.\n- The tides turn.\n")
    world.start()
    old_discussion(world, "tides")
    chosen, client = world.discussion(), world.client
    for text in ("When?", "And why?"):
        client.post(f"/api/discussions/{chosen}/messages", {"text": text, "wait": True})
    *_, asked, said = (
        row["id"] for row in client.get(f"/api/discussions/{chosen}/messages").json()["messages"]
    )
    limit = {
        "panel": "settings",
        "action": "change_setting",
        "key": "ai_settings.caching.day_limit_usd",
        "value": 0.001,
    }
    client.post("/api/ui", limit)
    world.until(lambda state: state.config.settings.caching.day_limit_usd == 0.001)
    calls = len(world.server.bodies)
    one = f"/api/discussions/{chosen}"
    model = {"provider": "local", "model": MODEL}
    doors = {
        f"{one}/messages": {"text": "And then?", "wait": True},
        f"{one}/compare": {"text": "And then?", "models": [model, {**model, "model": "other"}]},
        "/api/harvest/preview": {"wait": True},
        "/api/knowledge/merge": {"category": "facts", "wait": True},
    }
    acts = [
        {"panel": "composer", "action": "send_prompt", "text": "And then?"},
        {"panel": "conversation", "action": "regenerate_reply", "message_id": said},
        {"panel": "conversation", "action": "resend_message", "message_id": asked, "text": "Other?"},
    ]
    client.post("/api/harvest/look", {"wait": True})

    answers = [client.post(path, body, **who) for path, body in doors.items() for who in ({}, AS_PERSON)]
    answers += [
        client.post("/api/ui", {**act, "discussion_id": chosen}, **who)
        for act in acts
        for who in ({}, AS_PERSON)
    ]
    answers.append(client.put("/api/autonomy", {"discussion_id": chosen}, **AS_PERSON))

    for answer in answers:
        assert answer.status_code == 409, answer.text
        assert "is unknown, so the program cannot enforce the limit of $0.001 for today." in answer.text
        assert "price in your models.toml" in answer.text, answer.request.url
    compact = {"panel": "conversation", "action": "compact_discussion", "discussion_id": chosen}
    client.post("/api/ui", compact)
    world.until(
        lambda state: any("there is no summary. The price of" in one.text for one in state.program.notices)
    )
    assert len(world.server.bodies) == calls
