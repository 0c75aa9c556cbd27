"""The whole program without a window: a server refuses a request as too long, and the conversation goes on."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.agent.agent_messages import CompactDiscussion
from core.agent.cut_plan import restore_from_log
from core.agent.journal_text import new_entry, written
from core.app.execution import act
from core.kernel.paths import JOURNAL_FILE
from core.kernel.values.messages import Mark
from core.kernel.values.records import UsageRecord
from core.kernel.values.usage import UsageKind
from core.services.settings.settings_messages import RefreshModels
from core.talk.discussion import log
from core.talk.discussion.cuts import sent_view
from core.talk.turn.turn_messages import SendPrompt
from tests.core.app.programs import until
from tests.core.app.test_whole import World, ask, texts
from tests.core.records import NOW
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said

SMALL = dataclasses.replace(VLLM, window=2_300)
TOLD = dataclasses.replace(SMALL, listing={**VLLM.listing, "max_model_len": 2_300})
"""It says how small its window is."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(getattr(request, "param", SMALL)) as server:
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
    marks = [one for one in state.discussions.open[chosen].entries if isinstance(one, Mark)]
    assert [one.kind for one in marks] == ["cut"]
    assert "maximum context length is 2300 tokens" in marks[0].text, "it says why"
    records = log.read(world.home, chosen).records
    assert [one.kind for one in records if isinstance(one, UsageRecord)].count(UsageKind.COMPACTION) == 1
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


@pytest.mark.parametrize("world", [TOLD], indirect=True)
def test_a_window_that_is_known_is_never_overrun_and_one_too_small_is_said_with_sizes(world: World) -> None:
    replies = [Said("First. " * 60), Said("Second. " * 60), Said("They asked about tides."), Said("Third.")]
    world.server.replies.extend(replies)
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "alpha " * 500)
    controller.send(
        RefreshModels("local")
    )  # the client is loaded by now, which may take longer than it may answer
    until(controller, lambda s: bool(s.config.models.get("local")))
    ask(controller, chosen, "beta " * 500)
    state = ask(controller, chosen, "gamma " * 500)

    assert texts(state, chosen)[-1] == "Third."
    assert len(world.server.bodies) == 4
    assert not any(
        isinstance(one, Mark) and one.kind == "overflow" for one in state.discussions.open[chosen].entries
    )

    cut, view = state.discussions.open[chosen].cut, sent_view(state.discussions.open[chosen])
    state = ask(controller, chosen, "omega " * 3_000)
    opened = state.discussions.open[chosen]
    assert opened.failure is not None
    assert "Instructions, files and your message take" in opened.failure.remedy
    assert opened.cut == cut, "the talk stays: without it the message is as much too long"
    assert sent_view(opened)[: len(view)] == view
    assert len(world.server.bodies) == 4, "and no summary of it is paid for"

    other = world.discussion(controller)
    state = ask(controller, other, "delta " * 3_000)
    failure = state.discussions.open[other].failure
    assert failure is not None
    assert "2,0" in failure.what
    assert (
        "Nothing was sent. The program cannot compact any further. Instructions, files and your message take "
        in failure.remedy
    )
    assert len(world.server.bodies) == 4  # nothing was sent
    marks = [one.kind for one in state.discussions.open[other].entries if isinstance(one, Mark)]
    assert marks == ["failed"], "one is enough"


@pytest.mark.parametrize("world", [dataclasses.replace(SMALL, listing={})], indirect=True)
def test_a_message_too_long_for_a_window_that_nobody_knows_is_refused_with_sizes_and_one_mark(
    world: World,
) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    controller.send(SendPrompt(chosen, "delta " * 3_000))
    state = until(controller, lambda s: s.discussions.open[chosen].failure is not None and not s.turns.calls)
    opened = state.discussions.open[chosen]

    assert opened.failure is not None
    assert "2300 tokens" in opened.failure.what
    assert (
        "larger window. The program cannot compact any further. Instructions, files and your message take "
        in opened.failure.remedy
    )
    assert "the window has" not in opened.failure.remedy, "nobody knows it"
    assert [one.kind for one in opened.entries if isinstance(one, Mark)] == ["failed"]
