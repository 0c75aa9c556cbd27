"""An autonomous discussion through the whole program: a real home, a server over loopback, a clock of the test's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.agent.agent_messages import StartAutonomy, StopAutonomy
from core.app.controller import AppController
from core.app.execution import act
from core.kernel.values.agent import Attention, Autonomy
from core.kernel.values.messages import Role
from core.kernel.values.state import AppState
from core.kernel.values.updates import Tick
from core.signals.signals_messages import PostSignal
from core.talk.discussion.discussion_messages import ReadDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.command_forks import FORKS
from tests.core.agent.test_whole_tools import calls, is_over, with_tools
from tests.core.app.programs import until
from tests.core.app.test_whole import World
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said
from tests.vendors.loopback import Gate, HoldAfter

YIELD = calls(("yield_to_user", {"why": "Nothing is left."}))


class Clock:
    """A clock that goes on when it is told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        world.clock = Clock()
        yield world
        world.stop()


def later(world: World, controller: AppController, seconds: float) -> None:
    """Let time pass for the program."""
    assert isinstance(world.clock, Clock)
    world.clock.later(seconds)
    controller.emit(Tick())


def own(state: AppState) -> Autonomy:
    assert state.attention.autonomy is not None
    return state.attention.autonomy


def waits_in(state: AppState, attention: Attention) -> bool:
    """True once a turn is over, and the next one is waited for."""
    loop = state.attention.autonomy
    return loop is not None and loop.state is attention and not loop.message_id and loop.next_at is not None


@pytest.mark.slow
def test_it_goes_on_by_itself_hands_over_rests_and_is_woken_by_the_person(world: World) -> None:
    clock = world.clock
    assert isinstance(clock, Clock)
    controller = world.start()
    chosen = with_tools(world, controller)
    world.server.replies.extend([Said("Ready."), calls(("glob", {"pattern": "*"})), Said("I looked."), YIELD])
    controller.send(SendPrompt(chosen, "Watch the tides."))
    until(controller, lambda s: is_over(s, chosen))

    act(controller, StartAutonomy(chosen))
    later(world, controller, 5)
    state = until(controller, lambda s: waits_in(s, Attention.WORKING))
    assert own(state).turns == 1
    later(world, controller, 3)
    state = until(controller, lambda s: waits_in(s, Attention.RESTING))
    assert own(state).next_at == clock.now + timedelta(seconds=300)

    said = [one for one in state.discussions.open[chosen].messages if one.role is Role.USER]
    assert [one.is_autonomous for one in said] == [False, True, True]
    sent = world.server.bodies[1]["messages"]
    assert sent[-1]["role"] == "user"
    assert "This is the program, not the person" in json.dumps(sent[-1])

    world.server.replies.append(Said("At your service."))
    controller.send(SendPrompt(chosen, "And now?"))
    state = until(controller, lambda s: waits_in(s, Attention.FORAGING))
    assert (own(state).turns, own(state).errors) == (0, 0)

    act(controller, StopAutonomy())
    controller.stop()
    second = world.start()
    state = until(second, lambda s: chosen in s.discussions.open)
    assert state.attention.autonomy is None
    assert [
        one.is_autonomous for one in state.discussions.open[chosen].messages if one.role is Role.USER
    ] == [False, True, True, False]


KILLED = """
import sys, threading
from pathlib import Path
from core.app.controller import AppController
from core.app.execution import act
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.agent.agent_messages import StartAutonomy
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.signals.signals_messages import PostSignal

home, project = map(Path, sys.argv[1:])
controller = AppController(LocalOutside(OutsideOptions(home=home, start=project, watches=False)))
controller.start()
controller.wait_for(lambda s: bool(s.config.providers) and not s.program.is_loading, 30)
controller.send(CreateDiscussion())
state = controller.wait_for(lambda s: bool(s.discussions.open), 30)
chosen = state.discussions.selected_id
act(controller, StartAutonomy(chosen))
act(controller, PostSignal("The tide turned.", "a gauge"))
controller.wait_for(lambda s: any(call.text for call in s.turns.calls.values()), 30)
print(chosen, flush=True)
threading.Event().wait()
"""


@pytest.mark.slow
def test_a_kill_within_a_turn_of_its_own_ends_autonomy_and_keeps_what_was_said(world: World) -> None:
    gate = Gate()
    world.server.replies.append(Said("I watch the gauge. " * 200))
    world.server.faults.append(HoldAfter(40, gate))
    program = FORKS.program(KILLED, world.home, world.project)
    chosen = program.line()
    program.kill()
    program.communicate()
    gate.open()

    controller = world.start()
    controller.send(ReadDiscussion(chosen))
    state = until(controller, lambda s: chosen in s.discussions.open)
    (words, *_) = state.discussions.open[chosen].messages
    assert (words.role, words.is_autonomous) == (Role.USER, True)
    assert "The tide turned." in words.text
    assert state.attention.autonomy is None
    for _ in range(3):
        later(world, controller, 86_400)
    act(controller, PostSignal("And it turned again.", "a gauge"))
    state = controller.snapshot()
    assert (state.attention.autonomy, dict(state.turns.calls)) == (None, {})
    assert len(world.server.bodies) == 1, "nothing goes on by itself"
