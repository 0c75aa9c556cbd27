"""The whole program without a window: what is recalled for a message, shown, sent, and left in its place while that is warm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app.execution import act
from core.retrieval.retrieval_messages import UpdateIndex
from core.talk.discussion.discussion_messages import SetDraft
from tests.core.app.programs import until
from tests.core.app.test_whole import World, ask
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import VLLM, CompatibleServer

ITEM = "- The checkpoint interval of the tide model is thirty seconds. [from: notes, 2026-06-01]\n"
QUESTION = "Which checkpoint interval did we choose?"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        with (tmp_path / "config.toml").open("a", encoding="utf-8") as config:
            config.write(
                '[retrieval]\nenabled = true\nambient = true\ncorpora = ["knowledge", "discussions"]\n'
            )
        known = world.home / "knowledge"
        known.mkdir(parents=True)
        (known / "facts.md").write_text(ITEM, encoding="utf-8")
        yield world
        world.stop()


@pytest.mark.slow
def test_what_was_shown_is_sent_behind_the_words_and_stays_there_with_the_next_turn(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    act(controller, UpdateIndex(), timeout_s=PATIENCE_S)
    controller.send(SetDraft(chosen, QUESTION))
    state = until(
        controller,
        lambda s: chosen in s.context.reports and bool(s.context.reports[chosen].recalled.passages),
    )
    shown = state.context.reports[chosen].recalled

    ask(controller, chosen, QUESTION)
    (sent,) = until(controller, lambda s: bool(s.context.sent_recall)).context.sent_recall
    assert (sent.discussion_id, sent.words, sent.passages) == (chosen, QUESTION, shown.passages)
    ask(controller, chosen, "Thanks.")

    first, second = (body["messages"][-1]["content"] for body in world.server.bodies)
    assert first.index(QUESTION) < first.index("{rag-context}")
    assert shown.text.strip() in first
    assert (
        world.server.bodies[1]["messages"][: len(world.server.bodies[0]["messages"])]
        == world.server.bodies[0]["messages"]
    )
    assert "rag-context" not in second
    assert "Thanks." in second
