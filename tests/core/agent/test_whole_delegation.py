"""Delegation through the whole program: a real home, a real SDK against a server over loopback, real files, a kill."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.kernel.values.agent import CallState, Mode
from core.kernel.values.messages import Role, Status
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import ReadDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.command_forks import FORKS
from tests.core.agent.test_whole_tools import calls, is_over, results, with_tools
from tests.core.app.programs import until
from tests.core.app.test_whole import World
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said
from tests.vendors.loopback import Gate, HoldAfter, Rewrite


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        yield world
        world.stop()


def children(state: AppState, parent: str) -> list[str]:
    return [
        name
        for name, row in state.discussions.summaries.items()
        if row.meta.delegated_by and row.meta.parent_id == parent
    ]


def send(world: World, controller: AppController, *replies: Said, mode: Mode = Mode.ASK) -> str:
    """Send to a discussion with tools; the replies come in this order."""
    chosen = with_tools(world, controller, mode)
    world.server.replies.extend(replies)
    controller.send(SendPrompt(chosen, "When does it turn?"))
    return chosen


def offered(body: dict[str, object]) -> set[str]:
    tools = body["tools"]
    assert isinstance(tools, list)
    return {tool["function"]["name"] for tool in tools}


def test_a_child_reads_and_its_last_words_are_the_result_of_its_parents_call(world: World) -> None:
    controller = world.start()
    chosen = send(
        world,
        controller,
        calls(("delegate", {"task": "Find the hours of a turn.", "files": ["tides.py"]})),
        calls(("read_file", {"path": "tides.py"})),
        Said("Six: `tides.py`, line 2."),
        Said("It turns every six hours."),
    )
    state = until(controller, lambda s: is_over(s, chosen))
    (child,) = children(state, chosen)
    said = state.discussions.open[chosen].messages

    assert said[-1].text == "It turns every six hours."
    (told,) = results(said)
    assert told == f'<delegated discussion="{child}">\nSix: `tides.py`, line 2.\n</delegated>\n'
    first, task, again, last = world.server.bodies
    assert offered(first) - offered(task) == {
        "delegate", "yield_to_user", "journal", "write_file", "edit_file", "bash", "bash_output", "bash_kill",
    }  # fmt: skip
    assert offered(task) == offered(again) < offered(last)
    words = task["messages"][-1]["content"]
    assert ".\n\n<task>\nFind the hours of a turn.\n</task>\n\nFiles to begin with:\n- tides.py\n" in words
    assert "When does it turn?" not in str(task["messages"]), "nothing of the parent's talk goes along"
    assert state.discussions.selected_id == chosen
    assert not state.agent.delegations
    child_said = state.discussions.open[child].messages
    assert [one.role for one in child_said] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    meta = tomllib.loads((world.home / "discussions" / child / "meta.toml").read_text(encoding="utf-8"))
    (call,) = state.agent.pages[chosen].activity
    assert (meta["parent"], meta["delegated_by"], call.state) == (chosen, call.id, CallState.DONE)
    assert "Find the hours" not in str(state.discussions.prompt_history)


KILLED = """
import sys, threading
from pathlib import Path
from core.agent.agent_messages import SetTools
from core.app.controller import AppController
from core.app.execution import act
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.services.settings.settings_messages import TrustProject
from core.talk.turn.turn_messages import SendPrompt

home, project = map(Path, sys.argv[1:])
controller = AppController(LocalOutside(OutsideOptions(home=home, start=project, watches=False)))
controller.start()
controller.wait_for(lambda s: bool(s.config.providers) and not s.program.is_loading, 30)
act(controller, TrustProject(is_trusted=True))
controller.send(CreateDiscussion())
state = controller.wait_for(lambda s: bool(s.discussions.open), 30)
chosen = state.discussions.selected_id
act(controller, SetTools(chosen, has_tools=True))
controller.send(SendPrompt(chosen, "go"))

def is_asked_again(s):
    return any(call.is_round for name, call in s.turns.calls.items() if name != chosen)

state = controller.wait_for(is_asked_again, 30)
print(chosen, *state.agent.delegations, flush=True)
threading.Event().wait()
"""


@pytest.mark.slow
def test_a_kill_interrupts_the_parents_call_and_leaves_the_childs_log_whole(world: World) -> None:
    world.server.replies.extend(
        [
            calls(("delegate", {"task": "Find the hours."})),
            calls(("read_file", {"path": "tides.py"})),
            Said("Never heard."),
        ]
    )
    gate = Gate()
    world.server.faults.extend([Rewrite(bytes), Rewrite(bytes), HoldAfter(0, gate)])
    program = FORKS.program(KILLED, world.home, world.project)
    chosen, child = program.line().split()
    program.kill()
    program.communicate()
    gate.open()

    controller = world.start()
    for one in (chosen, child):
        controller.send(ReadDiscussion(one))
    state = until(controller, lambda s: {chosen, child} <= set(s.discussions.open))
    said = state.discussions.open[child].messages
    assert [one.role for one in said[:3]] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert "return 6" in results(said)[0]
    (told,) = results(state.discussions.open[chosen].messages)
    assert told.startswith("interrupted: the program ended while this ran")
    assert not state.agent.delegations
    assert not state.discussions.open[chosen].left_calls


def test_an_end_of_the_program_interrupts_the_child_and_the_call_that_waits_for_it(world: World) -> None:
    gate = Gate()
    world.server.faults.extend([Rewrite(bytes), HoldAfter(40, gate)])
    controller = world.start()
    chosen = send(
        world, controller, calls(("delegate", {"task": "Find the hours."})), Said("It turns " * 200)
    )
    state = until(controller, lambda s: any(call.text for n, call in s.turns.calls.items() if n != chosen))
    (child,) = children(state, chosen)
    controller.stop()
    gate.open()

    again = world.start()
    for one in (chosen, child):
        again.send(ReadDiscussion(one))
    state = until(again, lambda s: {chosen, child} <= set(s.discussions.open))
    (told,) = results(state.discussions.open[chosen].messages)
    assert told.startswith("interrupted: the program ended")
    assert state.discussions.open[child].messages[-1].status is Status.INTERRUPTED
