"""A conversation of the agent forgotten over HTTP, with all that it left: tools, child, journal, signal, index, harvest."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from core.agent.agent_messages import StopAutonomy
from core.agent.agent_pages import asked_calls
from core.front.hooks.table import OPERATIONS
from core.kernel import paths
from core.kernel.values.updates import is_busy
from core.retrieval.retrieval_messages import UpdateIndex
from core.services.settings.settings_messages import TrustProject
from tests.core.app.forgetting.day import WORD, traces
from tests.core.front.hooks.conftest import AS_PERSON, World
from tests.core.knowledge.harvest.harvests import reply
from tests.vendors.compatible_server import Said

SETTINGS = """
[ai_settings.knowledge]
live_days = 0
[retrieval]
enabled = true
"""


def asks(*calls: tuple[str, dict[str, Any]]) -> Said:
    """A reply that asks for tools."""
    given = tuple((name, json.dumps(arguments)) for name, arguments in calls)
    return Said(f"I look for {WORD}.", calls=given, finish="tool_calls")


def yes_until_over(world: World, chosen: str) -> None:
    """Say yes to whatever is asked until the turn is over."""
    while True:
        state = world.until(lambda s: not is_busy(s, chosen) or bool(asked_calls(s, chosen)))
        if not is_busy(state, chosen):
            return
        for call in asked_calls(state, chosen):
            assert call.approval is not None
            body = {"question_id": call.approval.id, "answer": "yes"}
            world.client.post(f"/api/discussions/{chosen}/approvals/{call.id}", body, **AS_PERSON)


def worked(world: World) -> str:
    """A turn with tools and a child of its own, and one that a signal woke. Returns the discussion."""
    world.controller.send(TrustProject(is_trusted=True))
    world.until(lambda s: s.config.project.is_trusted)
    chosen = world.discussion(f"The {WORD} gate")
    world.client.put(f"/api/discussions/{chosen}/tools", {"has_tools": True}, **AS_PERSON)
    world.server.replies.extend(
        [
            asks(
                ("write_file", {"path": "gate.txt", "text": f"{WORD}\n"}),
                ("journal", {"text": f"The {WORD} gate opens late.", "title": WORD}),
                ("bash", {"command": f"echo {WORD} | tee $TMPDIR/{WORD}; echo {WORD}"}),
                ("delegate", {"task": f"Find the {WORD} gate."}),
            ),
            Said(f"The {WORD} gate is north."),
            Said(f"The {WORD} gate opens at the third bell."),
        ]
    )
    world.client.post(f"/api/discussions/{chosen}/messages", {"text": f"When does the {WORD} gate open?"})
    world.until(lambda s: is_busy(s, chosen))
    yes_until_over(world, chosen)
    assert any(row.meta.delegated_by for row in world.state.discussions.summaries.values())
    world.server.replies.extend(
        [asks(("yield_to_user", {"why": f"The {WORD} bell rang."})), Said(f"{WORD}.")]
    )
    world.client.put("/api/autonomy", {"discussion_id": chosen}, **AS_PERSON)
    world.client.post("/api/signals", {"text": f"The {WORD} bell rings.", "sender": "harbour"})
    world.until(lambda s: s.attention.autonomy is not None and s.attention.autonomy.turns > 0)
    world.until(lambda s: not is_busy(s, chosen))
    world.controller.send(StopAutonomy())
    world.until(lambda s: s.attention.autonomy is None)
    return chosen


def told(world: World) -> list[str]:
    """Answers of the Hook API in which the word stands."""
    found = []
    for operation in OPERATIONS:
        if operation.method == "GET" and "{" not in operation.path and not operation.path.endswith(".png"):
            query = f"?q={WORD}" if operation.path == "/api/search" else ""
            answer = world.client.http.get(operation.path + query)
            text = answer.text.replace(f'"query":"{WORD}"', "")
            if WORD in text.lower():
                found.append(operation.path)
    return found


def read(world: World, chosen: str) -> None:
    """A preview of the harvest over the conversation, in a program that does not show it."""
    world.stop()
    world.start()
    world.discussion("Keys")
    quote = {"statement": f"The {WORD} gate opens late.", "detail": "", "quote": f"{WORD} gate"}
    world.server.replies.append(Said(reply(f"A {WORD} fact.", decisions=[quote])))
    world.client.post("/api/harvest/look", {"wait": True})
    asked = {"wait": True, "paths": [str(paths.log_file(world.home, chosen))]}
    answer = world.client.post("/api/harvest/preview", asked)
    assert len(answer.json()["preview"]["items"]["rows"]) == 2, answer.text


@pytest.mark.parametrize("harvest", ["none", "looked", "previewed", "applied"])
def test_no_word_of_an_agents_conversation_stays_anywhere(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harvest: str
) -> None:
    folders = tmp_path / "temporary"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    world.config.write_text(world.config.read_text(encoding="utf-8") + SETTINGS, encoding="utf-8")
    world.start()
    chosen = worked(world)
    assert list(folders.glob(f"*/{WORD}"))
    before = world.until(lambda s: s.retrieval.progress is None).retrieval.report
    world.controller.send(UpdateIndex())
    world.until(lambda s: s.retrieval.report is not before and s.retrieval.progress is None)
    if harvest == "looked":
        world.client.post("/api/harvest/look", {"wait": True})
    elif harvest != "none":
        read(world, chosen)
    if harvest == "applied":
        world.client.post("/api/harvest/apply", {"wait": True, "items": "all"})
        assert "knowledge/facts.md" in traces(world.home)
    assert "/api/search" in told(world)

    world.client.post(f"/api/discussions/{chosen}/forget", {"is_confirmed": True}, **AS_PERSON)

    receipt = world.client.get("/api/forgetting").json()["receipt"]
    assert [row for row in receipt["places"] if row["problem"]] == []
    assert traces(world.home) == []
    assert told(world) == []
    assert list(folders.rglob(f"*{WORD}*")) == []
