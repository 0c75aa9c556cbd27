"""A limit and a model whose price nobody knows, over HTTP: refused each time, sent with the token of approvals."""

from __future__ import annotations

from tests.core.front.hooks.conftest import AS_PERSON, World


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
        assert "Give the model's price in your models.toml" in error["remedy"]
    assert world.texts(chosen) == []

    past = {"text": "When?", "wait": True, "over_limit": True}
    assert world.client.post(path, past).status_code == 403
    assert world.client.post(path, past, **AS_PERSON).status_code == 200
    assert world.client.post("/api/ui", {"panel": "settings", "action": "update_prices"}).status_code == 403
