"""Versions of a reply over HTTP, against the real program: listed, chosen, and the bytes that go out then."""

from __future__ import annotations

import json
from typing import Any

from tests.core.front.hooks.conftest import World
from tests.vendors.compatible_server import Said


def sent(world: World) -> bytes:
    """The last request's messages as they stood on the wire."""
    return json.dumps(world.server.bodies[-1]["messages"], ensure_ascii=False).encode()


def act(world: World, action: str, chosen: str, said: str, **fields: Any) -> None:
    """Do what a button of the conversation does, and wait for the reply."""
    world.server.replies.append(Said(said))
    count = len(world.server.bodies)
    body = {"panel": "conversation", "action": action, "discussion_id": chosen, **fields}
    assert world.client.post("/api/ui", body).status_code == 202
    world.until(lambda s: len(world.server.bodies) > count and not s.turns.calls)


def ask(world: World, chosen: str, text: str, said: str) -> None:
    world.server.replies.append(Said(said))
    body = {"text": text, "wait": True}
    assert world.client.post(f"/api/discussions/{chosen}/messages", body).json()["reply"]["text"] == said


def test_versions_are_listed_and_chosen_and_paging_back_sends_the_same_bytes(running: World) -> None:
    chosen, client = running.discussion(), running.client
    ask(running, chosen, "When?", "Every six hours.")
    act(running, "regenerate_reply", chosen, "Twice a day.")
    said = client.get(f"/api/discussions/{chosen}/messages").json()["messages"]
    assert [m["text"] for m in said] == ["When?", "Twice a day."]
    first, second = said[1]["version_of"], said[1]["id"]
    ask(running, chosen, "Why?", "The moon.")
    before = sent(running)

    path = f"/api/discussions/{chosen}/messages"
    listed = client.get(f"{path}/{first}/versions").json()
    assert (listed["chosen_id"], [m["text"] for m in listed["versions"]]) == (
        second,
        ["Every six hours.", "Twice a day."],
    )
    paged = client.post(f"{path}/{first}/choose").json()
    assert paged["chosen_id"] == first
    assert running.texts(chosen) == ["When?", "Every six hours.", "Why?", "The moon."]
    act(running, "regenerate_reply", chosen, "The moon and the sun.")
    other = sent(running)
    assert b"Every six hours." in other
    assert b"Twice a day." not in other
    same = before.index(b"Twice a day.")
    assert other[:same] == before[:same]

    assert client.post(f"{path}/{second}/choose").json()["chosen_id"] == second
    act(running, "regenerate_reply", chosen, "Both.")
    assert sent(running) == before

    log = (running.home / "discussions" / chosen / "log.jsonl").read_text(encoding="utf-8")
    assert log.count('"type":"choose"') == 2
    usage = running.state.discussions.open[chosen].usage
    assert usage.output_tokens is not None
    assert log.count('"type":"usage"') == 5


def test_a_reply_of_one_version_says_so_and_what_is_none_is_not_found(running: World) -> None:
    chosen, client = running.discussion(), running.client
    ask(running, chosen, "When?", "Every six hours.")
    path = f"/api/discussions/{chosen}/messages"
    prompt, reply = (m["id"] for m in client.get(path).json()["messages"])

    assert len(client.get(f"{path}/{reply}/versions").json()["versions"]) == 1
    assert client.post(f"{path}/{reply}/choose").json()["chosen_id"] == reply
    for nothing in (prompt, "none-such"):
        assert client.get(f"{path}/{nothing}/versions").status_code == 404
        assert client.post(f"{path}/{nothing}/choose").status_code == 404


def test_an_earlier_reply_and_a_message_with_other_words_are_versions(running: World) -> None:
    chosen = running.discussion()
    ask(running, chosen, "When?", "Every six hours.")
    ask(running, chosen, "Why?", "The moon.")
    ids = [m.id for m in running.state.discussions.open[chosen].messages]

    act(running, "resend_message", chosen, "The sun.", message_id=ids[2], text="Why so?")
    assert running.texts(chosen) == ["When?", "Every six hours.", "Why so?", "The sun."]
    act(running, "regenerate_reply", chosen, "Twice a day.", message_id=ids[1])

    assert running.state.discussions.selected_id == chosen
    assert running.texts(chosen) == ["When?", "Twice a day."]
    known = running.state.discussions.open[chosen].versions[ids[0]]
    assert known.number == 2
