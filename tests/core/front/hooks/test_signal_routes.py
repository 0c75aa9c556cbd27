"""Signals over HTTP against the real program."""

from __future__ import annotations

from core.kernel.values.signals import SignalSource
from tests.core.front.hooks.conftest import World


def test_a_program_hands_a_signal_in_and_begins_nothing(running: World) -> None:
    said = running.client.post("/api/signals", {"text": "Build 41 is green.", "sender": "ci"})
    assert (said.status_code, said.json()) == (202, {"waiting": 1, "dropped": 0})
    (first,) = running.client.get("/api/signals").json()["waiting"]["rows"]
    assert (first["source"], first["sender"], first["text"]) == (SignalSource.API, "ci", "Build 41 is green.")
    away = {"panel": "signals", "action": "put_signals_away", "signal_id": first["id"]}
    assert running.client.post("/api/ui", away).status_code == 202
    running.until(lambda s: [one.id for one in s.signals.seen] == [first["id"]])
    assert running.client.get("/api/signals").json()["waiting"]["total"] == 0
    assert running.client.get("/api/status").json()["turns"] == []


def test_what_is_no_signal_is_refused(running: World) -> None:
    for body in ({"text": ""}, {"text": " \n"}, {}, {"text": "x", "source": "inbox"}, {"text": "x" * 20_001}):
        assert running.client.post("/api/signals", body).status_code == 422
    nowhere = {"text": "x", "discussion_id": "none"}
    assert running.client.post("/api/signals", nowhere).status_code == 404
    assert running.client.get("/api/signals").json()["waiting"]["total"] == 0
