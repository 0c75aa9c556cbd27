"""The whole program without a window: a server refuses a request as too long, and the conversation goes on."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.agent.compaction_messages import CompactDiscussion
from core.agent.context_window import restore_from_log
from core.agent.journal_text import new_entry, written
from core.app.execution import act
from core.base.paths import JOURNAL_FILE
from core.discussion import log
from core.discussion.cuts import sent_view
from core.values.records import UsageRecord
from tests.core.app.programs import until
from tests.core.app.test_whole import World, ask, texts
from tests.core.records import NOW
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said

SMALL = dataclasses.replace(VLLM, window=2_300)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(SMALL) as server:
        world = World(tmp_path, server)
        yield world
        world.stop()


def messages(body: dict[str, object]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(json.dumps(body["messages"]))
    return found


def test_an_overflow_is_summarised_and_sent_again_and_a_restart_sends_the_same_bytes(world: World) -> None:
    said = [
        Said("First. " * 60),
        Said("Second. " * 60),
        Said("They asked about tides."),
        Said("Third."),
        Said("Fourth."),
    ]
    world.server.replies.extend(said)
    first = world.start()
    chosen = world.discussion(first)
    for word in ("alpha", "beta"):
        ask(first, chosen, f"{word} " * 500)
    state = ask(first, chosen, "gamma " * 500)

    state = until(first, lambda s: texts(s, chosen)[-1:] == ["Third."] and chosen not in s.turns.calls)
    assert len(texts(state, chosen)) == 6  # the log has lost nothing
    *_, summary, sent = world.server.bodies
    assert "alpha alpha" in messages(summary)[-1]["content"]
    told = messages(sent)
    assert "They asked about tides." in json.dumps(told)
    assert "alpha " * 30 not in json.dumps(told)
    view = sent_view(state.discussions.open[chosen])
    records = log.read(world.home, chosen).records
    assert [one.kind for one in records if isinstance(one, UsageRecord)].count("compaction") == 1
    first.stop()

    second = world.start()
    until(second, lambda s: chosen in s.discussions.open)
    assert restore_from_log(log.read(world.home, chosen).records) == view
    ask(second, chosen, "delta")
    again = messages(world.server.bodies[-1])
    assert again[: len(told) - 1] == told[:-1]


def test_a_journal_stands_in_for_what_left_and_nothing_is_asked(world: World) -> None:
    world.server.replies.extend([Said("First."), Said("Second."), Said("Third.")])
    seconds = itertools.count()
    world.clock = lambda: NOW + timedelta(seconds=next(seconds))
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, f"A name of one line {'and more ' * 10}, then alpha")
    state = ask(controller, chosen, "beta")
    entry = new_entry(
        state.discussions.open[chosen].messages[-1].at, "Tides", "They turn every six hours.", chosen
    )
    (world.home / JOURNAL_FILE).write_text(f"# By hand\n\n{written(entry)}", encoding="utf-8")

    act(controller, CompactDiscussion(chosen))
    ask(controller, chosen, "gamma")

    assert len(world.server.bodies) == 3
    told = json.dumps(messages(world.server.bodies[-1]), ensure_ascii=False)
    assert "They turn every six hours." in told
    assert "alpha" not in told
    assert "beta" in told
