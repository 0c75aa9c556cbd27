"""Autonomy over HTTP: read by all, started by a person's token alone, stopped by all."""

from __future__ import annotations

from tests.core.front.hooks.conftest import AS_PERSON, World


def test_autonomy_is_read_and_stopped_by_all_and_started_by_a_person_alone(running: World) -> None:
    chosen = running.discussion()
    client = running.client
    assert client.get("/api/autonomy").status_code == 404
    body = {"discussion_id": chosen}
    refused = client.put("/api/autonomy", body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "needs_person")
    by_panel = {"panel": "autonomy", "action": "start_autonomy", **body}
    assert client.post("/api/ui", by_panel).status_code == 403
    assert client.post("/api/ui", {"panel": "autonomy", "action": "note_activity"}).status_code == 404
    assert running.state.attention.autonomy is None
    assert client.put("/api/autonomy", {"discussion_id": "nowhere"}, **AS_PERSON).status_code == 404

    assert client.put("/api/autonomy", body, **AS_PERSON).json() == body
    running.until(lambda s: s.attention.autonomy is not None)
    told = client.get("/api/autonomy").json()
    assert (told["is_on"], told["discussion_id"], told["state"]) == (True, chosen, "engaged")
    assert (told["interval_s"], told["max_turns"], told["stopped"]) == (5, 20, "")
    assert told["notes"]["rows"][0]["text"] == "Autonomy starts."

    assert client.post("/api/ui", {"panel": "autonomy", "action": "stop_autonomy"}).status_code == 202
    running.until(lambda s: s.attention.autonomy is None)
    assert client.get("/api/autonomy").json()["is_on"] is False


def test_what_stands_against_a_start_is_a_conflict_and_a_discussion_that_is_not_open_is_read(
    running: World,
) -> None:
    first, second = running.discussion(), running.discussion()
    client = running.client
    assert client.put("/api/autonomy", {"discussion_id": first}, **AS_PERSON).status_code == 200

    refused = client.put("/api/autonomy", {"discussion_id": second}, **AS_PERSON)

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_now")
    assert "Stop that discussion first:" in refused.json()["error"]["message"]
    running.stop()
    running.start()
    assert first not in running.state.discussions.open
    assert running.client.put("/api/autonomy", {"discussion_id": first}, **AS_PERSON).status_code == 200
