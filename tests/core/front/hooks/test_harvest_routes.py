"""The harvest over HTTP against the real program: look, preview, choose, apply, undo, cancel, and every refusal."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import (
    Artifact,
    ArtifactClass,
    ArtifactFacts,
    HarvestItem,
    HarvestLook,
    HarvestPhase,
    HarvestPreview,
    HarvestState,
    ProposedItem,
)
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, LedgerStatus
from tests.core.front.hooks.conftest import AS_PERSON, WAIT_S, World
from tests.core.front.hooks.harvest_world import OLD, asked, knowledge, old_discussion, proposing, text_of
from tests.vendors.loopback import Gate, Silent


@pytest.fixture
def tides(world: World) -> World:
    """A program on two old conversations, in which the model finds two things and one; another is shown."""
    old_discussion(world, "tides")
    old_discussion(world, "moon", minute=1)
    world.start()
    world.discussion("shown")
    world.server.replies.extend(
        [proposing("High tide is late.", "Low tide is early."), proposing("It is far.")]
    )
    return world


def _ids(found: dict[str, Any]) -> dict[str, str]:
    return {row["head"]: row["id"] for row in found["preview"]["items"]["rows"]}


def _names(world: World) -> list[str]:
    return sorted(row["name"] for row in world.client.get("/api/discussions").json()["discussions"])


def test_before_anything_there_is_nothing_and_that_is_said(running: World) -> None:
    found = running.client.get("/api/harvest").json()

    assert (found["phase"], found["looked_at"], found["preview"], found["report"]) == (
        "idle",
        None,
        None,
        None,
    )
    assert found["artifacts"] == {
        "total": 0, "rows": [], "classes": {"live": 0, "user-kept": 0, "prune": 0, "keep": 0, "harvest": 0},
    }  # fmt: skip
    assert found["estimate"]["cost_usd_est"] is None


def test_a_look_tells_every_conversation_with_its_class_and_changes_nothing(tides: World) -> None:
    found = asked(tides, "look")

    assert found["artifacts"]["classes"] == {"live": 1, "user-kept": 0, "prune": 0, "keep": 0, "harvest": 2}
    rows = {row["title"]: row for row in found["artifacts"]["rows"]}
    assert (rows["shown"]["class"], rows["shown"]["id"]) == ("live", tides.state.discussions.selected_id)
    assert rows["tides"]["class"] == "harvest"
    assert rows["tides"]["path"] == str(tides.home / "discussions" / rows["tides"]["id"] / "log.jsonl")
    assert found["estimate"]["candidate_bytes"] == sum(
        row["size_bytes"] for row in rows.values() if row["class"] == "harvest"
    )
    assert found["looked_at"]
    assert tides.server.bodies == []
    assert not (tides.home / "knowledge" / "facts.md").exists()


def test_a_preview_is_chosen_from_applied_and_taken_back(tides: World) -> None:
    previewed = asked(tides, "preview")
    ids = _ids(previewed)
    assert set(ids) == {"High tide is late.", "Low tide is early.", "It is far."}
    assert (previewed["phase"], previewed["preview"]["conversations"], previewed["use"]["calls"]) == (
        "idle",
        2,
        2,
    )
    assert text_of(tides, "facts.md") == "", "nothing is written before a person said so"

    applied = asked(tides, "apply", {"items": [ids["Low tide is early."], ids["It is far."]]})

    facts = text_of(tides, "facts.md")
    assert "Low tide is early." in facts
    assert "It is far." in facts
    assert "High tide" not in facts
    assert (applied["preview"], applied["report"]["items"]["facts"], applied["report"]["failures"]["total"]) == (
        None, 2, 0,
    )  # fmt: skip
    assert applied["report"]["reclaimed"]["total"] == 2
    assert applied["ledger"]["statuses"] == {"harvested": 2}
    assert [row["reclaimed"] for row in applied["applies"]["rows"]] == [2]
    assert _names(tides) == ["shown"]
    tides.until(
        lambda s: "Low tide is early." in s.knowledge.digest
    )  # knowledge is read again behind the apply
    assert "Low tide is early." in tides.client.get("/api/knowledge").json()["digest"]["text"]

    undone = asked(tides, "undo")

    assert (undone["undone"]["removed"], undone["undone"]["restored"]["total"]) == (2, 2)
    assert undone["applies"]["rows"][0]["undone_at"]
    assert "tide" not in text_of(tides, "facts.md")
    tides.until(lambda s: len(s.discussions.summaries) == 3)
    assert _names(tides) == ["moon", "shown", "tides"]


def test_all_takes_every_item_and_none_takes_none(tides: World) -> None:
    ids = _ids(asked(tides, "preview"))
    tick = {
        "panel": "harvest",
        "action": "tick_harvest_items",
        "item_ids": list(ids.values()),
        "is_ticked": False,
    }
    assert tides.client.post("/api/ui", tick).status_code == 202
    found = tides.client.get("/api/harvest").json()["preview"]["items"]
    assert (found["total"], found["ticked"]) == (3, 0)

    applied = asked(tides, "apply", {"items": "all"})

    assert applied["report"]["items"]["facts"] == 3


def test_only_the_conversations_that_are_named_are_read(tides: World) -> None:
    (moon,) = [row["path"] for row in asked(tides, "look")["artifacts"]["rows"] if row["title"] == "moon"]

    found = asked(tides, "preview", {"paths": [moon]})

    assert {row["artifact_path"] for row in found["preview"]["items"]["rows"]} == {moon}
    assert len(tides.server.bodies) == 1


def test_a_proposal_is_edited_moved_and_forgotten_as_in_the_window(tides: World) -> None:
    ids = _ids(asked(tides, "preview"))
    ui = {"panel": "harvest"}
    chosen = ids["It is far."]
    for body in (
        {"action": "edit_harvest_item", "item_id": chosen, "head": "It is 384,400 km away.", "body": "mean"},
        {"action": "move_harvest_item", "item_id": chosen, "category": "decisions"},
    ):
        assert tides.client.post("/api/ui", {**ui, **body}).status_code == 202
    rows = {row["id"]: row for row in tides.client.get("/api/harvest").json()["preview"]["items"]["rows"]}
    assert (rows[chosen]["category"], rows[chosen]["head"], rows[chosen]["body"], rows[chosen]["is_edited"]) == (
        "decisions", "It is 384,400 km away.", "mean", True,
    )  # fmt: skip

    discard = {**ui, "action": "discard_preview"}
    assert tides.client.post("/api/ui", discard).status_code == 403, (
        "words that were written into it would go"
    )
    assert tides.client.post("/api/ui", discard, **AS_PERSON).status_code == 202
    tides.until(lambda s: s.harvest.preview is None)  # 202: accepted, and done a moment later
    assert tides.client.get("/api/harvest").json()["preview"] is None
    assert len(_ids(asked(tides, "preview"))) == 3
    assert len(tides.server.bodies) == 2, "what was paid for is not paid for again"


def test_without_a_preview_what_is_named_goes_unharvested(tides: World) -> None:
    paths = {row["title"]: row["path"] for row in asked(tides, "look")["artifacts"]["rows"]}

    applied = asked(tides, "apply", {"paths": [paths["moon"]]})

    assert tides.server.bodies == []
    assert applied["ledger"]["statuses"] == {"deleted-unharvested": 1}
    assert _names(tides) == ["shown", "tides"]


def test_a_run_is_answered_when_it_began_and_can_be_cancelled(tides: World) -> None:
    tides.server.faults.append(Silent(gate := Gate()))
    client = tides.client

    begun = client.post("/api/harvest/preview")
    assert (begun.status_code, begun.json()["phase"]) == (202, "previewing")
    assert gate.reached.wait(WAIT_S)
    busy = [client.post(f"/api/harvest/{name}") for name in ("look", "preview", "apply", "undo")]
    assert [(one.status_code, one.json()["error"]["code"]) for one in busy] == [(409, "busy")] * 4
    assert client.get("/api/harvest").json()["progress"]["total"] == 2

    stopped = asked(tides, "cancel")

    assert (stopped["phase"], stopped["is_cancelling"]) == ("idle", False)
    assert stopped["problem"]
    again = client.post("/api/harvest/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "nothing_runs")
    assert text_of(tides, "facts.md") == ""


def test_of_two_that_come_at_once_one_is_told_that_the_other_runs(tides: World) -> None:
    tides.server.faults.append(Silent(gate := Gate()))
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(tides.client.post("/api/harvest/preview").status_code))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [202, 409, 409, 409]
    gate.open()
    tides.until(lambda s: not s.harvest.is_busy)


REFUSED: tuple[tuple[str, dict[str, Any], int, str], ...] = (
    ("preview", {"paths": ["/etc/passwd"]}, 404, "not_found"),
    ("preview", {"paths": ["../../etc/passwd"]}, 404, "not_found"),
    ("preview", {"paths": ["HOME/discussions/../config.toml"]}, 404, "not_found"),
    ("preview", {"paths": ["HOME/discussions"]}, 404, "not_found"),
    ("preview", {"paths": [""]}, 422, "wrong_body"),
    ("preview", {"paths": "all"}, 422, "wrong_body"),
    ("preview", {"paths": [1]}, 422, "wrong_body"),
    ("preview", {"wait": 1}, 422, "wrong_body"),
    ("preview", {"provider": "openai"}, 422, "wrong_body"),
    ("apply", {"paths": ["/etc/passwd"]}, 404, "not_found"),
    ("apply", {"paths": ["HOME/knowledge/facts.md"]}, 404, "not_found"),
    ("apply", {"items": "all"}, 409, "no_preview"),
    ("apply", {"items": ["x"]}, 409, "no_preview"),
    ("apply", {"items": "everything"}, 422, "wrong_body"),
    ("apply", {"items": {}}, 422, "wrong_body"),
    ("apply", {}, 409, "nothing_to_do"),
    ("undo", {}, 409, "nothing_to_do"),
    ("undo", {"apply_id": "../../x"}, 404, "not_found"),
    ("undo", {"apply_id": 7}, 422, "wrong_body"),
    ("cancel", {}, 409, "nothing_runs"),
)


def test_what_cannot_be_done_is_refused_and_does_nothing(tides: World) -> None:
    for action, given, status, code in REFUSED:
        paths = given.get("paths")
        here = [str(one).replace("HOME", str(tides.home)) if one != 1 else one for one in paths or ()]
        body = {**given, "paths": here} if isinstance(paths, list) else given

        refused = tides.client.post(f"/api/harvest/{action}", body)

        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), (action, body)

    assert tides.server.bodies == []
    assert not list((tides.home / "trash").glob("*"))
    assert text_of(tides, "facts.md") == ""
    assert len(tides.state.discussions.summaries) == 3


def test_what_a_preview_does_not_hold_is_refused_and_nothing_is_ticked_or_applied(tides: World) -> None:
    previewed = asked(tides, "preview")["preview"]
    paths = [row["artifact_path"] for row in previewed["items"]["rows"]]

    for body, status in (({"items": ["none"]}, 404), ({"paths": paths}, 409), ({"items": "some"}, 422)):
        assert tides.client.post("/api/harvest/apply", body).status_code == status
    ui = {"panel": "harvest", "item_id": "none"}
    assert tides.client.post("/api/ui", {**ui, "action": "edit_harvest_item", "head": "x"}).status_code == 404
    assert (
        tides.client.post("/api/ui", {**ui, "action": "move_harvest_item", "category": "facts"}).status_code
        == 404
    )
    ghost = {"panel": "harvest", "action": "tick_harvest_items", "item_ids": ["none"], "is_ticked": False}
    assert tides.client.post("/api/ui", ghost).status_code == 404

    assert tides.client.get("/api/harvest").json()["preview"] == previewed
    assert text_of(tides, "facts.md") == ""


def test_a_conversation_of_another_class_is_no_candidate(tides: World) -> None:
    rows = asked(tides, "look")["artifacts"]["rows"]
    (live,) = [row["path"] for row in rows if row["class"] == "live"]

    for action in ("preview", "apply"):
        refused = tides.client.post(f"/api/harvest/{action}", {"paths": [live]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_candidate")
        assert "live" in refused.json()["error"]["message"]
    for action in ("preview_harvest", "apply_harvest"):
        body = {"panel": "harvest", "action": action, "paths": [live]}
        assert tides.client.post("/api/ui", body).status_code == 409


def test_nothing_to_harvest_is_said(running: World) -> None:
    refused = running.client.post("/api/harvest/preview")

    assert (refused.status_code, refused.json()["error"]) == (
        409,
        {"code": "nothing_to_do", "message": "There is nothing to harvest.", "remedy": ""},
    )


def test_a_days_limit_stops_the_preview_with_its_reason(tides: World) -> None:
    from core.services.settings.settings_messages import ChangeSetting

    tides.controller.send(ChangeSetting("ai_settings.caching.day_limit_usd", 0.01))
    tides.until(lambda s: s.config.settings.caching.day_limit_usd == 0.01)
    tides.given(lambda s: replace(s, spending=replace(s.spending, spent_today_usd=1.0)))

    refused = tides.client.post("/api/harvest/preview")

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_now")
    assert tides.server.bodies == []


def test_a_home_that_cannot_be_written_is_looked_at_and_no_more(tides: World) -> None:
    tides.read_only()

    for action in ("preview", "apply", "undo"):
        refused = tides.client.post(f"/api/harvest/{action}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "read_only")
    assert asked(tides, "look")["artifacts"]["total"] == 3


def test_a_ledger_that_does_not_parse_ends_a_run_with_its_name(tides: World) -> None:
    knowledge(tides)
    (tides.home / "knowledge" / "ledger.json").write_text('{"entries": {\n', encoding="utf-8")

    for action in ("look", "preview", "apply"):
        refused = tides.client.post(f"/api/harvest/{action}", {"wait": True})
        assert (refused.status_code, refused.json()["error"]["code"]) == (500, "failed"), action
        assert "ledger.json" in str(refused.json())
    assert text_of(tides, "ledger.json") == '{"entries": {\n'


def test_a_conversation_that_the_model_fails_on_is_kept_and_said(world: World) -> None:
    from tests.vendors.compatible_server import Said

    old_discussion(world, "tides")
    world.start()
    world.discussion("shown")
    world.server.replies.extend([Said("no json"), Said("none either")])

    found = asked(world, "preview")["preview"]

    (failure,) = found["failures"]["rows"]
    assert failure["reason"].startswith("harvest output invalid after 2 attempts")
    assert (found["items"]["total"], len(world.state.discussions.summaries)) == (0, 2)


def test_the_end_of_the_program_lets_go_of_a_run_that_is_waited_for(tides: World) -> None:
    tides.server.faults.append(Silent(gate := Gate()))
    answers: list[int] = []
    waiting = threading.Thread(
        target=lambda: answers.append(tides.client.post("/api/harvest/preview", {"wait": True}).status_code)
    )
    waiting.start()
    assert gate.reached.wait(WAIT_S)

    tides.hooks.stop()
    waiting.join(WAIT_S)

    assert answers == [503]
    gate.open()


MANY = 100_000


def _huge() -> HarvestState:
    """A harvest of which every list has a hundred thousand rows."""
    facts = ArtifactFacts("", "/p", "n", TranscriptKind.SPECSTORY, 7, OLD)
    item = HarvestItem(Category.FACTS, "A fact that is as long as facts are.", "with its reason")
    items = tuple(ProposedItem(f"i{n}", item, "n", "/p", "0" * 64) for n in range(MANY))
    entry = HarvestLedgerEntry("0" * 64, "/p", LedgerStatus.HARVESTED, "2026-11-20T00:00:00.000000Z")
    look = HarvestLook((Artifact(facts, ArtifactClass.HARVEST),) * MANY, ledger=(entry,) * MANY)
    return HarvestState(HarvestPhase.IDLE, look=look, preview=HarvestPreview(items=items))


def test_a_hundred_thousand_rows_are_told_in_parts(running: World) -> None:
    huge = _huge()
    running.given(lambda s: replace(s, harvest=huge))

    answer = running.client.get("/api/harvest")
    last = running.client.get(f"/api/harvest?limit=5000&offset={MANY - 1}").json()

    assert len(answer.content) < 300_000
    found = answer.json()
    assert found["artifacts"]["classes"]["harvest"] == found["artifacts"]["total"] == MANY
    assert found["ledger"]["statuses"] == {"harvested": MANY}
    assert (found["preview"]["items"]["total"], found["preview"]["items"]["ticked"]) == (MANY, MANY)
    assert len(found["preview"]["items"]["rows"]) == len(found["ledger"]["rows"]) == 200
    assert [row["id"] for row in last["preview"]["items"]["rows"]] == [f"i{MANY - 1}"]
    assert running.client.get("/api/harvest?limit=0").status_code == 422
    assert running.client.get("/api/harvest?file=facts.md").status_code == 422
